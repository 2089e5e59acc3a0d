// The plain form of the clocks, for somebody who has met no cosine: the hands of one position and of a few words back, and the hill.
// It is sent before `clocks.js`, whose mathematics it draws.

const BACK = 3, LEFT = 70, TOP = 86, TALL = 90, AXIS = TOP + 1.6 * TALL, HIGH = AXIS + 36; // words; px: left end and top of the hill, its unit, the line below it, end
// The readout is for the ear: its number stands at both pictures.
const PLAIN = `.out{display:none}.words{margin-top:8px}.over{--high:${HIGH}px}.face{stroke-opacity:.6}.ring{fill:none;stroke:var(--c);stroke-width:2}
.first *{fill:none;stroke:currentColor;stroke-opacity:.35;stroke-width:1.5}`;
/** Along the text and back, but not where it began, so that two hills stand apart in the end. */
export const walk = p => {
  const [far, end] = p < END / 2 ? [END - 6, p + 28] : [6, p - 28];
  return { p: [[0, p], [.08, p], [.6, far], [.68, far], [1, end]] };
};

function renderRow(host, { p, base, play }) {
  const first = p, shown = { p }, hand = h('input', { type: 'range', max: END - 1, 'aria-label': 'position in the text' }), { out, live, tell } = readout('position');
  const words = h('p.words', {}, 'From three words back to here, each hand turns by an angle of its own, the same everywhere in the text. So the hill moves along and keeps its shape.');
  const disc = at => s('circle.dot', { r: 4.5, ...at }), ring = at => s('circle.ring', { r: 4, ...at }), key = { cx: 5, cy: 9.5 };
  const around = i => `around in ${Math.round(2 * Math.PI / speed(i, base)).toLocaleString('en')} words`;
  const D = { key: disc(key), name: text(15, 14, '', ''), past: s('g', {}, ring(key), text(15, 14, 'three words back', '')), fast: text(0, 0, around(0), 'mute'), slow: text(0, 0, around(COUNT - 1), 'end.mute') };
  const dials = Array.from({ length: COUNT }, () => ({ face: s('circle.face'), past: s('g', {}, s('path.area'), s('line.wave'), ring()), now: s('line.hand'), disc: disc() }));
  const H = { grid: s('g'), first: s('g.first', {}, s('path'), s('circle', { r: 4 })), name: text(0, TOP - 8, `at position ${first}`), area: s('path.area'), hill: s('path.hill'), at: s('line.at'), disc: disc({ cy: TOP }),
    past: s('g', {}, ring(), text(2, -24, 'three words', 'end'), text(2, -9, 'back', 'end')), flag: handle(96) };
  const draw = (name, ...parts) => s('svg', { role: 'img', 'aria-label': name }, ...parts);
  const top = draw('The hands of six clocks', ...Object.values(D), ...dials.flatMap(Object.values)), chart = draw('How alike the clocks of other positions are', ...Object.values(H));
  const over = h('div.over.on', {}, hand, chart), ease = easing(shown, () => ({ p }), paint);

  let w, X, R;
  const S = (p, q) => TOP + TALL * (1 - likeness(true, p, q, base)), clear = (e, on) => { e.style.opacity = on; };
  const hill = p => 'M' + Array.from({ length: 4 * END - 3 }, (_, j) => `${X(j / 4).toFixed(1)} ${S(p, j / 4).toFixed(1)}`).join('L');
  function layout() { // what depends on width
    w = width(chart); R = min(36, w / 2 / COUNT - 5); X = q => LEFT + q / (END - 1) * (w - LEFT - 12);
    set(chart, { viewBox: `0 0 ${w} ${HIGH}` }); set(top, { viewBox: `0 0 ${w} ${2 * R + 60}` }).style.height = 2 * R + 60 + 'px';
    hand.style.left = X(0) - 22 + 'px'; hand.style.width = X(END - 1) - X(0) + 44 + 'px';
    set(D.past, { transform: `translate(${min(220, w / 2 + 10)} 0)` }); set(D.fast, { y: 2 * R + 44 }); set(D.slow, { x: w, y: 2 * R + 44 });
    H.grid.replaceChildren(text(0, 16, 'How alike are the clocks of other positions?', ''), ...['alike', 'not alike'].flatMap((t, v) => [rule([LEFT, TOP + v * TALL], [w, TOP + v * TALL]), text(LEFT - 6, TOP + v * TALL + 4, t, 'end.mute')]),
      ...[0, 20, 40, 60].map(q => text(X(q), AXIS + 14, q, 'mid.mute')), text((LEFT + w) / 2, AXIS + 32, 'position in the text'));
    const [before, ring] = H.first.children; set(before, { d: hill(first) }); set(ring, { cx: X(first - BACK), cy: S(first, first - BACK) }); clear(ring, +(first >= BACK)); set(H.name, { x: X(first) });
    paint();
  }
  function paint() {
    const { p } = shown, at = X(p), past = X(p - BACK), there = max(0, min(1, p - BACK + 1)), d = hill(p);
    dials.forEach((o, i) => {
      const x = (i + .5) * w / COUNT, y = R + 25, tip = (q, r) => [x + r * sin(q * speed(i, base)), y - r * cos(q * speed(i, base))], [slice, line, end] = o.past.children;
      const [cx, cy] = tip(p, R - 5), [ex, ey] = tip(p - BACK, R - 5), r = R / 2;
      set(o.face, { cx: x, cy: y, r: R }); seg(o.now, [x, y], [cx, cy]); set(o.disc, { cx, cy });
      seg(line, [x, y], tip(p - BACK, R - 9)); set(end, { cx: ex, cy: ey }); clear(o.past, there);
      set(slice, { d: `M${x} ${y}L${tip(p - BACK, r)}A${r} ${r} 0 0 1 ${tip(p, r)}Z` });
    });
    set(H.hill, { d }); set(H.area, { d: `${d}V${TOP + TALL}H${X(0)}Z` }); seg(H.at, [at, 54], [at, AXIS]); set(H.disc, { cx: at });
    clear(set(H.past, { transform: `translate(${past} ${S(p, p - BACK)})` }), there);
    for (const e of [...H.past.children].slice(1)) clear(e, +(past > LEFT + 56)); // left of it there is room
    clear(H.name, +(abs(at - X(first)) > 58)); clear(D.past, there);
    set(H.flag, { transform: `translate(${max(LEFT - 20, min(w - 49, at))} 24)` });
  }
  function update() {
    hand.value = p; for (const [e, t] of [[D.name, 'hands at'], [H.flag.children[1], '']]) e.textContent = `${t} position ${p}`.trim();
    tell([p], `${words.textContent} `); ease();
  }
  hand.oninput = () => { p = +hand.value; update(); };
  mount(host, 'A row of clocks', LOOK + PLAIN, 'drag the position along the text.', [top, over, out, words, live], layout,
    { play, tour: walk(p), show: state => { p = Math.round(state.p); update(); } });
  layout(); update();
}
