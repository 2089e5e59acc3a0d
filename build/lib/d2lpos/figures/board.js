// The board of a trained model: what was measured when a pair of a layer stands still, or more of them.
// Pure math first (tested in node), drawing after.

export const LAYERS = 30, PAIRS = 32, READ = 512, FLOOR = 20; // tokens; ten-thousandths of a nat, below which nothing is drawn

const WHOLE = 2 * Math.PI;
/** Radians per token of pair i. */
export const radians = i => 100000 ** (-i / PAIRS);
/** Tokens in which pair i gets around once. */
export const lap = i => WHOLE / radians(i);
/** The same as the reader reads it. */
export const lapName = i => Number(lap(i).toPrecision(2)).toLocaleString('en') + ' tokens';
/** The first pair that does not get around once in the text that was read. */
export const SLOW = [...Array(PAIRS).keys()].find(i => lap(i) > READ);
/** What is on record of a choice: by how much loss and weights change, and which way the sentence goes on. LAYERS and PAIRS stand for all. */
export function found(data, { layer, pair, held }) {
  if (!held) return [data.base.map(() => 0), 0];
  return [data, data.sentence].map(d => layer < LAYERS ? pair < PAIRS ? d.cells[layer][pair] : d.rows[layer] : pair < PAIRS ? d.columns[pair] : d.none);
}
/** Whether the clocks of pair i stand still. */
const stopped = ({ pair, held }, i) => held && (pair === PAIRS || pair === i);
/** What stands still, in words. */
export const named = ({ layer, pair, held }) => !held ? 'nothing' : layer === LAYERS && pair === PAIRS ? 'everything' : `${layerName(layer)}, ${pairName(pair)}`;
const layerName = n => n < LAYERS ? 'layer ' + n : 'all layers', pairName = n => n < PAIRS ? 'pair ' + n : 'all pairs';
/** A change of the loss as one reads it. */
export const grown = v => (v >= 5 ? '+' : '') + num(v / 1e4, 3);
/** How dark a change is, by decades from FLOOR; a dash, where the loss falls, is thin and so darker. */
export const darkness = (v, top) => {
  const part = max(0, min(1, Math.log(abs(v) / FLOOR) / Math.log(top / FLOOR)));
  return abs(v) < FLOOR ? 0 : v < 0 ? .2 + .8 * part : .1 + .9 * part ** 1.2;
};
/** Where a change stands on the legend, in decades. */
export const decade = v => Math.sign(v) * (abs(v) < FLOOR ? abs(v) / FLOOR / 4 : .25 + Math.log10(abs(v) / FLOOR));
/** The fastest pair stands still in all layers, then slower ones; then the fastest in the layer of each head. */
export const TOUR = {
  pair: [[0, 0], [.22, 0], [.4, 31], [.42, 31], [.44, 0]],
  layer: [[0, LAYERS], [.42, LAYERS], [.44, 1], [.54, 1], [.58, 2], [.66, 2], [.71, 11], [.79, 11], [.84, 16]],
  held: [[0, false], [.07, true]], token: [[0, 0], [1, 60]],
};

const DECK = 44, BAR = 24, FEET = 78; // px: the clocks above the board, a row of bars, the legend below
const GAP = .35, WIDE = PAIRS + 1 + GAP, TALL = LAYERS + 1 + GAP; // cells: before those of all, and across the board
const LOOK = `:host{--c:var(--enc-rope,#d55e00)}.over{overflow:clip}.over input{top:0;height:${DECK}px;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:${DECK}px}.over ::-moz-range-thumb{width:44px;height:${DECK}px;border:0}
.over .list{top:${DECK}px;left:0;width:100%;pointer-events:none}.list~svg{cursor:pointer}
.more,.now{fill:var(--c)}.ground{fill-opacity:.06}.was{fill-opacity:.25}
.bar,.ring,.edge,.rim,.hand{stroke:currentColor}.bar,.ring{stroke-width:2}.ring,.rim{fill:none}.edge{stroke-opacity:.6;stroke-dasharray:3 3}
input:focus-visible~svg .ground{stroke:currentColor}.list:focus~svg .ground{stroke:var(--c)}
.rim{stroke-opacity:.4}.hand{stroke-width:1.5}.held .rim{stroke-opacity:1}.held .hand{stroke:var(--c);stroke-width:3}
.side{display:flex;flex-wrap:wrap;place-content:start;gap:0 28px}.side>*{flex:1 1 290px;min-width:0;margin-top:6px}.wide .parts{display:grid;grid-template-columns:1.5fr 1fr;gap:0 36px}.ctl{gap:0 6px}.ctl span{white-space:nowrap}.ctl b{display:inline-block;min-width:74px;font-weight:400;text-align:center}.ctl button{min-width:34px}
.out{grid-template-columns:1.3fr 1fr}.said div{border-left:4px solid color-mix(in srgb,currentColor 25%,transparent);padding:0 0 0 8px;margin:6px 0;min-height:42px}.said .other{border-color:var(--c)}
@media print{.side{display:grid;grid-template-columns:1fr 1fr}.side>:first-child{display:contents}.side .out{grid-area:1/1/2/3;grid-template-columns:1.6fr 1.4fr 1.5fr 1fr}}`;

export function render(host, options, data) {
  let layer = options.layer ?? LAYERS, pair = options.pair ?? PAIRS, held = layer < LAYERS || pair < PAIRS || options.still === 'all', hover = null, token = 60;
  const all = [data.none, ...data.columns, ...data.rows, ...data.cells.flat()].map(([v]) => v), top = max(...all), least = min(...all);
  const { base, heads, sentence, passages } = data, ids = [...Array(PAIRS).keys()];
  const pairs = h('input', { type: 'range', max: PAIRS, 'aria-label': 'pair' }), layers = h('input.list', { type: 'range', max: LAYERS, 'aria-label': 'layer', 'aria-orientation': 'vertical' });
  const free = h('input', { type: 'checkbox' }), names = [h('b'), h('b')];
  const { out, live, tell } = readout('stands still', 'once around in', 'loss, nats a token', 'rise');
  const now = h('b'), here = h('div', {}, h('small', {}, 'with this part still'), now);

  const unit = (v, x, y) => abs(v) < FLOOR ? [] : s(v < 0 ? 'rect.less' : 'rect.more', { ...v < 0 ? { x: x + .2, y: y + .36, width: .6, height: .28 } : { x, y, width: .93, height: .92 }, 'fill-opacity': darkness(v, top).toFixed(2) });
  const ground = (x, y, width, height) => s('rect.ground', { x, y, width, height }), right = PAIRS + GAP, low = LAYERS + GAP;
  const board = s('g', {}, ground(0, 0, PAIRS, LAYERS), ground(right, 0, 1, LAYERS), ground(0, low, PAIRS, 1), ground(right, low, 1, 1),
    ...data.cells.flatMap((row, y) => row.flatMap(([v], x) => unit(v, x, y))), ...data.rows.flatMap(([v], y) => unit(v, right, y)),
    ...data.columns.flatMap(([v], x) => unit(v, x, low)), unit(data.none[0], right, low));
  const dials = ids.map(() => ({ rim: s('circle.rim'), hand: s('line.hand') })), clocks = dials.map(o => s('g', {}, o.rim, o.hand));
  const fixed = s('g'), titles = s('g'), ring = s('rect.ring', { rx: 2 }), needle = s('path');
  const svg = s('svg', { role: 'img', 'aria-label': 'By how much the loss rises, for each layer and pair' }, board, fixed, ...clocks, ring, needle);
  const over = h('div.over', {}, pairs, layers, svg);
  const three = () => ({ was: s('rect.was', { height: 12 }), now: s('rect.now', { height: 12 }), bar: s('line.bar') }), loss = three();
  const bars = heads.map(([n, head]) => ({ ...three(), name: text(0, 0, `layer ${n}, head ${head}`, ''), number: text(0, 0, '', 'end') }));
  const chart = s('svg', { role: 'img', 'aria-label': 'The loss, and the weights of four heads, before and after' }, titles, ...Object.values(loss), ...bars.flatMap(Object.values));

  const said = (n, sign = '↵') => sentence.goes[n].trim().replace(/\n/g, sign), weights = change => change.map((by, i) => num((base[i + 1] + by) / 1000, 2)), choice = () => hover ?? { layer, pair, held };
  const goal = () => {
    const c = choice(), [[rise, ...change]] = found(data, c);
    return { rise: rise / 1e4, at: decade(rise), ...Object.fromEntries(change.map((by, i) => ['v' + i, (base[i + 1] + by) / 1000])),
      ...Object.fromEntries(ids.map(i => ['a' + i, stopped(c, i) ? Math.round(shown['a' + i] / WHOLE) * WHOLE : token * radians(i)])) };
  };
  const shown = Object.fromEntries(ids.map(i => ['a' + i, 0]));
  Object.assign(shown, goal());
  const ease = easing(shown, goal, paint);
  let X, Y, D, left, size, high, foot, radius, L0, L1;
  function layout() {
    const wide = svg.closest('.wide'), w = width(svg), v = width(chart);
    high = matchMedia('print').matches ? 8 : wide ? 12 : w < 500 ? 10 : 11; left = wide ? 45 : 36; size = (w - left - 1) / WIDE; foot = DECK + TALL * high; radius = min(8, size * .44);
    X = n => left + size * n; Y = n => DECK + high * n;
    D = n => left + (w - left - 12) * (n - decade(least)) / (decade(top) - decade(least)) + 4;
    set(svg, { viewBox: `0 0 ${w} ${foot + FEET}` }); svg.style.height = foot + FEET + 'px'; set(board, { transform: `translate(${left} ${DECK}) scale(${size} ${high})` });
    layers.style.height = TALL * high + 'px'; pairs.style.left = X(.5) - 22 + 'px'; pairs.style.width = PAIRS * size + 44 + 'px';
    const P = v => D(decade(v)), slow = X(SLOW), step = (decade(top) - decade(FLOOR)) / 48;
    dials.forEach((o, i) => set(o.rim, { cx: X(i) + size / 2, cy: DECK - 14, r: radius }));
    fixed.replaceChildren(text(left, 13, '≥ 1 turn', 'a.mute'), text(w, 13, '< 1 turn in 512 tokens', 'end.mute'), seg(s('line.edge'), [slow, 2], [slow, foot]),
      text(0, DECK - 9, 'layer', 'a.mute'), text(0, foot + 16, 'pair', 'a.mute'),
      text(left - 6, foot, 'all', 'end.mute'), ...[0, 8, 16, 24].map(n => text(left - 6, Y(n) + high - 1, n, 'end.mute')), ...[0, 8, 16, 24].map(n => text(X(n) + size / 2, foot + 16, n, 'mid.mute')), text(w, foot + 16, 'all', 'end.mute'),
      text(0, foot + 38, 'rise of the loss, in nats (dash: it falls)', 'a.mute'),
      ...Array.from({ length: 48 }, (_, i) => FLOOR * 10 ** (i * step)).map(v => s('rect.more', { x: P(v), y: foot + 50, width: D(step) - D(0), height: 11, 'shape-rendering': 'crispEdges', 'fill-opacity': darkness(v, top) })),
      ...[-200, -100, -50, -20].filter(v => v >= least).map(v => s('rect.less', { x: P(v) - 5, y: foot + 54, width: 10, height: 3, 'fill-opacity': darkness(v, top) })),
      ...[-100, 0, 100, 1000, 10000].filter(v => v >= least && v <= top).flatMap(v => [rule([P(v), foot + 61], [P(v), foot + 65]), text(P(v), foot + 77, num(v / 1e4, v % 1e4 ? v % 1e3 ? 2 : 1 : 0), 'mid.mute')]));
    set(chart, { viewBox: `0 0 ${v} ${BAR * 7}` }); chart.style.height = BAR * 7 + 'px';
    const label = max(...bars.map(o => o.name.getComputedTextLength())) + 10;
    L0 = n => n * v / ((base[0] + top) / 1e4); L1 = n => label + n * (v - label - (wide ? 106 : 92));
    titles.replaceChildren(text(L0(base[0] / 1e4) + 1, 15, `${num(base[0] / 1e4, 2)} as trained`, 'end.mute'), text(0, BAR * 2 + 18, 'weight on the previous token, four heads', 'a.mute'));
    paint();
  }
  function paint() {
    const { pair, layer } = choice(), one = pair < PAIRS, level = layer < LAYERS; // a ring jumps, as numbers do
    set(ring, { x: X(one && pair), y: Y(level && layer), width: size * (one || WIDE), height: high * (level || TALL) });
    set(needle, { d: `M${D(shown.at)} ${foot + 50}l-5 -7h10Z` });
    dials.forEach((o, i) => {
      const cx = X(i) + size / 2, a = shown['a' + i];
      seg(o.hand, [cx, DECK - 14], [cx + radius * cos(a), DECK - 14 - radius * sin(a)]);
    });
    const from = base[0] / 1e4, to = from + shown.rise;
    set(loss.was, { y: BAR, width: L0(min(from, to)) }); set(loss.now, { x: L0(from), y: BAR, width: max(0, L0(to - from)) }); seg(loss.bar, [L0(from), BAR - 3], [L0(from), BAR + 15]);
    bars.forEach((o, i) => {
      const y = BAR * (3 + i) + 5, was = base[i + 1] / 1000;
      set(o.name, { y: y + 11 }); set(o.number, { x: width(chart), y: y + 11 });
      set(o.was, { x: L1(0), y, width: L1(1) - L1(0) }); set(o.now, { x: L1(0), y, width: max(0, L1(shown['v' + i]) - L1(0)) }); seg(o.bar, [L1(was), y - 3], [L1(was), y + 15]);
    });
  }
  function update() {
    const c = choice(), [[rise, ...change], goes] = found(data, c), one = c.pair < PAIRS;
    pairs.value = pair; layers.value = LAYERS - layer; free.checked = !held; // the arrow that points up goes up
    [[layers, layerName(layer)], [pairs, pairName(pair)]].forEach(([e, name], i) => { e.setAttribute('aria-valuetext', name); names[i].textContent = name; });
    ring.style.opacity = c.held ? 1 : .3; here.style.visibility = c.held ? '' : 'hidden'; token++;
    clocks.forEach((e, i) => e.classList.toggle('held', stopped(c, i)));
    const before = weights(heads.map(() => 0)), after = weights(change);
    bars.forEach((o, i) => { o.number.textContent = before[i] === after[i] ? after[i] : `${before[i]} → ${after[i]}`; });
    now.textContent = said(goes); here.classList.toggle('other', goes > 0);
    tell([named(c), c.held && one ? lapName(c.pair) : '–', num((base[0] + rise) / 1e4, 2), c.held ? grown(rise) : '–'],
      `“${sentence.begins}” goes on “${said(goes, ' ')}”; four heads give the previous token ${after.join(', ')}; `);
    ease();
  }
  const hold = () => { pair = +pairs.value; layer = LAYERS - layers.value; held = true; update(); };
  const step = (input, by) => { input.value = +input.value + by; hold(); };
  const arrows = { ArrowUp: [layers, 1], ArrowDown: [layers, -1], ArrowLeft: [pairs, -1], ArrowRight: [pairs, 1] };
  const [up, down, back, on] = Object.values(arrows).map((move, i) => Object.assign(h('button', { type: 'button', 'aria-label': ['layer above', 'layer below', 'faster pair', 'slower pair'][i] }, '↑↓←→'[i]), { onclick: () => step(...move) }));
  over.onkeydown = e => {
    if (!(e.key in arrows) || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault(); arrows[e.key][0].focus(); step(...arrows[e.key]);
  };
  pairs.oninput = layers.oninput = hold;
  free.onchange = () => { held = !free.checked; update(); };
  const under = e => { // beside the board, a number stands for all of its row or column
    const at = svg.getBoundingClientRect(), k = at.width / width(svg); // the scale of a slide
    const x = (e.clientX - at.left) / k - left, y = ((e.clientY - at.top) / k - DECK) / high | 0;
    return y > TALL + 2 ? null : { pair: x < 0 ? PAIRS : min(PAIRS, x / size | 0), layer: min(LAYERS, y), held: true };
  };
  svg.onpointermove = e => {
    if (e.pointerType !== 'mouse' || svg.closest('.plays')) return;
    const at = under(e);
    if (at?.pair !== hover?.pair || at?.layer !== hover?.layer) { hover = at; update(); }
  };
  svg.onpointerleave = () => { hover = null; update(); };
  svg.onclick = e => { const at = under(e); if (at) { ({ layer, pair, held } = at); hover = null; update(); } };
  mount(host, 'A trained model’s clocks', LOOK, 'stop a clock of this model: tap a cell, or drag along the clocks. Which ones does it need?',
    [h('div.parts', {}, h('div', {}, over, h('div.ctl', {}, h('span', {}, up, names[0], down), h('span', {}, back, names[1], on), h('label', {}, free, 'let all turn'))),
      h('div.side', {}, h('div', {}, out, chart), h('div.said', {}, h('small', {}, sentence.begins + ' …'), h('div', {}, h('small', {}, 'as trained'), h('b', {}, said(0))), here, h('small', {}, `over ${passages} passage${passages > 1 ? 's' : ''} of Persuasion, ${READ} tokens`)))), live], layout,
    { play: options.play, tour: TOUR, show: state => { pair = Math.round(state.pair); layer = Math.round(state.layer); ({ held, token } = state); hover = null; update(); } });
  layout(); update();
}
