// "Your model": its pictures, on one axis from a token to millions. A picture is a list of SVG elements and a height; no
// text is ever read as markup.
"use strict";
const yourModelFigures = (() => {
const TAU = 2 * Math.PI, SVG = new Set(["svg", "g", "path", "line", "circle", "rect", "text", "title"]);
const num = n => readerWords.grouped(String(Math.round(n)));  // toLocaleString would load the browser's languages
const px = n => n.toFixed(1);
const short = n => n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}k` : String(n);

/** An element with attributes and children; texts become text. */
function make(tag, attributes = {}, ...children) {
  const made = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== ""));
  return made;
}

function axis(width, low, high) {
  const x = value => Math.log(Math.max(value, low) / low) / Math.log(high / low) * width;
  return {width, low, high, x, small: width < 560, value: at => low * (high / low) ** (at / width)};
}

function sector(x, y, r, a, b) {
  if (b - a >= .9999) return `M${px(x)} ${px(y - r)}a${r} ${r} 0 1 1 0 ${2 * r}a${r} ${r} 0 1 1 0 ${-2 * r}Z`;
  const point = t => `${px(x + r * Math.sin(TAU * t))} ${px(y - r * Math.cos(TAU * t))}`;
  return `M${px(x)} ${px(y)}L${point(a)}A${r} ${r} 0 ${b - a > .5 ? 1 : 0} 1 ${point(b)}Z`;
}

/** What all pictures share: the axis, the known length, the length chosen with its handle, and what is drawn between. */
function framed(on, height, {tokens, known, word, also, least, most}, ...parts) {
  const {width, x, small} = on, foot = height - 24, here = x(tokens), made = [];
  const text = (attributes, said) => make("text", attributes, said);
  if (known && tokens > known) made.push(make("rect", {class: "never", x: px(x(known)), y: 32, width: px(here - x(known)), height: px(foot - 32)}));
  made.push(make("line", {class: "axis", x1: 0, x2: width, y1: foot, y2: foot}));
  for (let e = Math.ceil(Math.log10(on.low) + .01); 10 ** e <= on.high; e++) {
    const at = x(10 ** e);
    made.push(make("line", {class: "axis", x1: px(at), x2: px(at), y1: foot, y2: foot + 5}));
    if (!small || e % 2) made.push(text({class: "tk", x: px(Math.min(at, width - 12)), y: foot + 18}, short(10 ** e)));
  }
  if (also && also < known) made.push(make("line", {class: "L", x1: px(x(also)), x2: px(x(also)), y1: 32, y2: foot + 5}));
  if (known) made.push(make("line", {class: word.startsWith("its ") ? "L half" : "L", x1: px(x(known)), x2: px(x(known)), y1: 32, y2: foot + 5}));
  made.push(make("line", {class: "N", x1: px(here), x2: px(here), y1: 24, y2: foot + 5}), ...parts);
  if (known) {
    // on the side where no line runs through it
    const said = `${word} ${num(known)}`, at = x(known), wide = said.length * 6.6 + 10, lines = also && also < known ? [here, x(also)] : [here];
    const free = (from, to) => from >= 0 && to <= width && !lines.some(line => line > from && line < to);
    const before = free(at - wide, at), clear = before || free(at, at + wide), left = clear ? before : at > wide;
    made.push(text({class: clear ? "cap L" : "cap L over", "text-anchor": left ? "end" : "start", x: px(at + (left ? -6 : 6)), y: 41}, said));
  }
  const wide = num(tokens).length * 7.6 + 36, pill = Math.min(width - wide / 2, Math.max(wide / 2, here));
  if (also && also < known && x(also) < pill - wide / 2) made.push(text({class: "cap L", "text-anchor": "end", x: px(x(also) - 6), y: 22}, `trained ${num(also)}`));
  made.push(make("g", {class: "grip", role: "slider", tabindex: 0, "aria-label": "Length", "aria-valuemin": least, "aria-valuemax": most, "aria-valuenow": tokens, "aria-valuetext": `${num(tokens)} tokens`},
    make("rect", {class: "hit", x: px(pill - wide / 2 - 6), y: -9, width: px(wide + 12), height: 44}),
    make("rect", {class: "hit", x: px(here - 12), y: 26, width: 24, height: px(foot - 26)}),
    make("rect", {class: "pill", x: px(pill - wide / 2), y: 0, width: px(wide), height: 26, rx: 4}),
    text({x: px(pill), y: 18}, `‹ ${num(tokens)} ›`)));
  return made;
}

/** Hands: a line from each wavelength as first trained to the one in force, and eight dials. `drawn` has the wavelengths to
 * draw, which are on their way while a remedy changes. */
function hands(on, about, pairs, drawn) {
  const {x, small} = on, r = small ? 12 : 18, dial = 48 + r, y1 = dial + r + 10, y2 = y1 + 14, y3 = y2 + (small ? 36 : 40), y4 = y3 + 16, parts = [];
  pairs.forEach((pair, i) => {
    const a = px(x(pair.was)), b = px(x(drawn[i])), turn = (y2 + y3) / 2;
    parts.push(make("path", {class: `h ${pair.is}`, d: `M${a} ${y1}V${y2}C${a} ${turn} ${b} ${turn} ${b} ${y3}V${y4}`}));
    if (pair.is === "new") parts.push(make("circle", {class: "dot", cx: b, cy: y4, r: 2.6}));
  });
  const shown = Math.min(8, pairs.length), dials = [...Array(shown).keys()].map(j => Math.round(j * (pairs.length - 1) / Math.max(1, shown - 1)));
  let last = -Infinity;
  for (const i of dials) {
    const pair = pairs[i], cx = x(drawn[i]), seen = Math.min(1, pair.seen), at = Math.min(1, pair.at);
    if (cx - last < 2 * r + 2) continue;  // dials would lie on each other
    last = cx;
    parts.push(make("g", {class: `dial ${pair.is}`},
      make("title", {}, `hand ${i + 1} of ${pairs.length}: one turn in ${num(pair.now)} tokens; ${seen >= 1 ? "the whole circle" : `${Math.round(seen * 100)} % of the circle`} is known`),
      make("circle", {class: "face", cx: px(cx), cy: dial, r}), make("path", {class: "seen", d: sector(cx, dial, r, 0, seen)}),
      pair.is === "new" && at > seen ? make("path", {class: "fresh", d: sector(cx, dial, r, seen, at)}) : "",
      make("line", {class: "hand", x1: px(cx), y1: dial, x2: px(cx + r * .82 * Math.sin(TAU * pair.at)), y2: px(dial - r * .82 * Math.cos(TAU * pair.at))})));
  }
  return {height: y4 + 32, children: framed(on, y4 + 32, about, ...parts)};
}

/** Penalties: the weight of some heads by distance, and where each ends. */
function slopes(on, about, given, reach) {
  const {x, small, value} = on, top = small ? 62 : 58, low = 136, y3 = 160, y4 = 176, parts = [], steep = [...given].sort((a, b) => b - a);
  const every = Math.max(1, Math.round(steep.length / 8)), last = reach(steep.at(-1));
  steep.forEach((slope, i) => {
    const end = x(reach(slope));
    parts.push(make("path", {class: "h around", d: `M${px(end)} ${y3}V${y4}`}));
    if (i % every !== every - 1) return;
    let d = "";
    for (let at = 0; at <= end + 4; at += 4) d += `${d ? "L" : "M"}${at} ${px(low - (low - top) * Math.exp(-slope * value(at)))}`;
    parts.push(make("path", {class: "curve", d}));
  });
  if (about.tokens > last) parts.push(make("rect", {class: "fresh", x: px(x(last) + 2), y: y3, width: px(Math.max(0, x(about.tokens) - x(last) - 2)), height: y4 - y3}));
  parts.push(make("text", {class: "cap", x: 0, y: 41 + (small ? 14 : 0)}, small ? "weight" : "weight by distance, some of the heads"),
    make("text", {class: "cap", x: 0, y: y3 - 6}, small ? "a thousandth" : "each head’s end: where its weight falls to a thousandth"));
  return {height: y4 + 32, children: framed(on, y4 + 32, about, ...parts)};
}

/** A mark where each of some lengths begins, and bars of a kind from one length to another, as rows of a table or what one number holds. */
function bands(on, about, caption, starts, bars) {
  const x = value => value === Infinity ? on.width : on.x(value), parts = [make("text", {class: "cap", x: 0, y: 58}, caption)];
  for (const start of starts) parts.push(make("path", {class: "h around", d: `M${px(x(start))} 66V92`}));
  for (const [kind, from, to] of bars) if (to > from) parts.push(make("rect", {class: kind, x: px(x(from)), y: 64, width: px(x(to) - x(from)), height: 30}));
  return {height: 134, children: framed(on, 134, about, ...parts)};
}

/** Nothing to draw but the lengths. */
const plain = (on, about) => ({height: 84, children: framed(on, 84, about)});

return {axis, bands, hands, make, num, plain, slopes};
})();
