// A stack of four layers reads longer texts than it was trained on: which layer could still give a needle
// at the far end weight, and what trained stacks found. Pure math first (tested in node), drawing after.

export const FARTHEST = 256, TRAINED = 32, SIGHT = 16, NATS = 7, SORTS = ['full', 'window', 'none']; // tokens; by what the needle leads

/** By what a layer that sees n tokens multiplies its logits. */
export const sharpness = (n, sharper) => sharper ? max(1, Math.log(n) / Math.log(TRAINED)) : 1;
/** The weight on a needle at the far end of n tokens, whose score leads all others, which are equal; null where theory does not say. */
export function weight(kind, n, sharper) {
  if (kind === 'full' && n > TRAINED) return null;
  if (kind === 'window' && n > SIGHT) return 0;
  return 1 / (1 + (n - 1) * Math.exp(-NATS * (kind === 'window' ? 1 : sharpness(n, sharper))));
}
/** How many tokens back the last token has heard of, after each layer: windows add up. */
export function reaches(layers, n) {
  let far = 0;
  return layers.map(kind => far = kind === 'window' ? min(n - 1, far + SIGHT - 1) : n - 1);
}
/** The largest weight that theory knows of, the layers that have it, and those of which it says nothing. */
export function could(layers, n, sharper) {
  const all = layers.map(kind => weight(kind, n, sharper)), most = max(...all), where = v => [...all.keys()].filter(i => all[i] === v);
  return { most, whose: most ? where(most) : [], unknown: where(null) };
}
const differ = (a, b) => a.filter((kind, i) => kind !== b[i]).length;
/** The stack on record that differs in no layer, if there is one. */
export const recorded = (data, layers) => data.stacks.find(one => !differ(one.layers, layers));
/** The stacks on record that differ in the fewest layers. */
export const nearest = (data, layers) => data.stacks.filter(one => differ(one.layers, layers) === min(...data.stacks.map(o => differ(o.layers, layers))));
/** The place of the recorded length that a length is nearest to, by ratio. */
export const beside = (lengths, n) => lengths.reduce((best, length, i) => abs(Math.log(length / n)) < abs(Math.log(lengths[best] / n)) ? i : best, 0);
export const average = values => values.reduce((sum, v) => sum + v, 0) / values.length;
/** A stack as one says it: "3 window, 1 none". */
export const stackName = layers => {
  const runs = [];
  for (const kind of layers) if (runs.at(-1)?.[1] === kind) runs.at(-1)[0]++; else runs.push([1, kind]);
  return runs.map(run => run.join(' ')).join(', ');
};
/** A share as one reads it. */
export const inPercent = v => v > .995 && v < 1 ? '> 99 %' : num(100 * v) + ' %';
const several = (which, one, more) => which.length > 1 ? `Layers ${new Intl.ListFormat('en').format(which.map(i => `${i + 1}`))} ${more} ` : which.length ? `Layer ${which[0] + 1} ${one} ` : '';
/** What theory says, in words. */
export function theory(layers, n, sharper) {
  const { most, whose, unknown } = could(layers, n, sharper), can = several(whose, 'could', 'could each'), dark = several(unknown, 'meets', 'meet');
  return (can && can + `give the needle ${inPercent(most)} of its weight. `) + (dark && dark + 'angles that training never showed: theory does not say. ')
    + (can || dark ? '' : `No layer sees the needle. Windows pass things on, at most ${reaches(layers, FARTHEST).at(-1)} tokens far. `);
}
/** What training made of it, in words. */
export function record(data, layers, n, sharper) {
  const one = recorded(data, layers), at = beside(data.lengths, n), seen = one?.found[sharper ? 'sharper' : 'as trained'][at], found = seen && average(seen) / 1000;
  if (!one) return `Nobody has trained this one; nearest: ${nearest(data, layers).map(o => stackName(o.layers)).join('; ')}.`;
  return `${could(layers, n, sharper).most > found + .1 ? 'Yet ' : ''}${seen.length} trained model${seen.length > 1 ? 's' : ''} found ${inPercent(found)} of needles that stand anywhere in ${data.lengths[at]} tokens.`;
}

const HANDS = Array(4).fill('window'), last = kind => [kind, kind, kind, 'none'];
/** The text grows past all windows. Then one layer loses its window and its position; and others, for a while, their windows. */
export const TOUR = { length: [[0, TRAINED], [.07, TRAINED], [.4, FARTHEST]], layers: [[0, HANDS], [.5, last('window')], [.72, last('full')], [.9, last('window')]] };

const KEY = 'solid: what the last token sees; pale: what it has heard of through layers above; stripes: angles never trained', RULER = 44, START = 20; // px: of the text's end; for a bar
const LOOK = `:host{--c:var(--enc-rope,#d55e00);--n:var(--enc-none,#6f7378)}.line{display:flex;flex-wrap:wrap;gap:0 16px}.line>*{flex:1 1 304px;min-width:0}.line>:last-child{flex:99 1 320px}
.layer{display:flex;gap:0 12px}.layer>*{display:flex;align-items:center;min-height:44px}.layer b{flex:1;justify-content:end;margin-left:-12px;white-space:nowrap}.layer+svg{align-self:center}.wide .sets{display:grid;grid-template-columns:1fr 1.5fr;align-content:start}
.over{overflow:clip}.over input{top:0;height:${RULER}px;cursor:ew-resize;touch-action:pan-y}.over ::-webkit-slider-thumb{width:44px;height:${RULER}px}.over ::-moz-range-thumb{width:44px;height:${RULER}px;border:0}
.pill{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .pill{stroke:currentColor;stroke-width:2}
.sight,.heard,.fresh{stroke:var(--c);stroke-width:15}.heard{stroke-opacity:.22}.fresh{stroke-dasharray:2 5}.none .sight{stroke:var(--n)}.paper,.whole{fill:none;stroke:currentColor;stroke-opacity:.5}.dark .whole{stroke-dasharray:3 3}
.until{stroke:currentColor;stroke-opacity:.5;stroke-dasharray:3 3}.mean,.other,.dot{fill:none;stroke:currentColor}.mean{stroke-width:2.5}.other{stroke-dasharray:5 4}.dot{stroke-width:1.5;transition:cy .3s}.mean,.other{transition:d .3s}.thin{stroke-opacity:.45}.dot.now{fill:currentColor}.guess{stroke:currentColor;stroke-dasharray:1 4}
.out{grid-template-columns:repeat(4,auto)}.foot>.out{flex-basis:430px}.out b{white-space:nowrap}.said{min-height:4.2em;margin:0}@media(max-width:500px){.out{grid-template-columns:1fr 1fr}.said{min-height:7em}}@media print{.layer label:not(:has(:checked)){display:none}.line>.ctl{display:block!important}.line>.ctl *{display:none}}`;

export function render(host, options, data) {
  let { layers, sharper, length } = options, w, X, Y, H, middle;
  const { lengths } = data, told = options.record, rows = [...layers.keys()], seeds = [...Array(max(...data.stacks.map(one => one.found.sharper[0].length))).keys()];
  const radio = (name, label) => { const input = h('input', { type: 'radio', name }); return { input, label: h('label', {}, input, label) }; };
  const kinds = rows.map(i => SORTS.map(kind => radio('layer' + i, kind))), sets = data.stacks.map(one => radio('sets', stackName(one.layers)));
  const sharp = h('input', { type: 'checkbox' }), slider = h('input', { type: 'range', min: TRAINED, max: FARTHEST, 'aria-label': 'length of the text' });
  const { out, live, tell } = readout('length of the text', 'a layer could give', ...told ? ['models found', 'seed by seed'] : []), words = h('p.said');

  const until = () => s('line.until'), pin = () => s('path', { d: 'M0 -10l5 10l-5 10l-5 -10Z' });
  const strips = rows.map(i => {
    const o = { paper: s('rect.paper', { height: 16, x: START }), heard: s('line.heard'), sight: s('line.sight'), fresh: s('line.fresh'), until: until(), whole: s('rect.whole', { x: .5, width: 11 }), gets: s('rect', { x: .5, width: 11 }), pin: pin() };
    return { ...o, out: h('b'), svg: s('svg', { role: 'img', 'aria-label': `What the last token sees in layer ${i + 1}` }, ...Object.values(o)) };
  });
  const head = s('svg', { 'aria-hidden': true }, text(0, 18, `weight on a needle that leads by ${NATS} nats`, 'mute'));
  const R = { line: s('line.paper'), until: until(), pin: pin(), pill: s('g', {}, s('rect.pill', { x: -48, y: 1, width: 96, height: 26, rx: 5 }), text(0, 19)) }, ruler = s('svg', { 'aria-hidden': true }, ...Object.values(R));
  const fixed = s('g'), others = data.stacks.map(() => s('path.thin')), other = s('path.other'), line = s('path.mean'), end = until();
  const dots = lengths.map(() => seeds.map(() => s('circle.dot', { r: 4 }))), names = ['as trained', 'sharper'].map(t => text(0, 0, t)), nobody = text(0, 0, 'nobody has trained this one');
  const plot = s('svg', { role: 'img', 'aria-label': 'Share of needles found by trained models, over the length of the text' }, fixed, end, ...others, other, line, ...dots.flat(), ...names, nobody);

  const ways = () => sharper ? ['sharper', 'as trained'] : ['as trained', 'sharper'], cells = way => recorded(data, layers)?.found[way];
  const goal = () => ({ length, ...Object.fromEntries(rows.flatMap(i => [['w' + i, 100 * weight(layers[i], length, sharper)], ['r' + i, reaches(layers, length)[i]]])) });
  const shown = goal(), ease = easing(shown, goal, paint), flat = (e, a, b) => { seg(e, [X(a), middle], [X(max(a, b)), middle]).style.opacity = b - a < .5 ? 0 : 1; };
  const show = (e, on) => { e.style.display = on ? '' : 'none'; }, curve = (e, shares) => shares && set(e, { d: 'M' + shares.map((v, j) => `${X(lengths[j]).toFixed(1)} ${Y(average(v) / 10).toFixed(1)}`).join('L') });

  function layout() {
    const wide = head.closest('.wide'), row = wide ? 44 : 30;
    w = width(head); X = n => START + n / FARTHEST * (w - START - 5); H = wide ? 200 : 180; Y = v => H - 40 - v / 100 * (H - 70); middle = row / 2;
    for (const [e, high] of [[head, 24], ...strips.map(o => [o.svg, row]), [ruler, RULER], [plot, H]]) { set(e, { viewBox: `0 0 ${w} ${high}` }); e.style.height = high + 'px'; }
    slider.style.left = X(TRAINED) - 22 + 'px'; slider.style.width = X(FARTHEST) - X(TRAINED) + 44 + 'px';
    strips.forEach(o => { set(o.pin, { transform: `translate(${START} ${middle})` }); set(o.paper, { y: middle - 8 }); set(o.whole, { y: 2, height: row - 4 }); });
    const left = max(45, X(18)); set(R.pin, { transform: `translate(${START} 34)` }); set(nobody, { x: X(170), y: Y(64) });
    fixed.replaceChildren(text(0, 16, 'share of needles found' + (w > 340 ? ' (dots: seeds; thin: other stacks)' : ''), 'mute'), ...[0, 50, 100].flatMap(v => [rule([left, Y(v)], [w, Y(v)]), text(left - 4, Y(v) + 5, v + (v ? ' %' : ''), 'end.mute')]),
      seg(s('line.guess'), [left, Y(data.guess / 10)], [w, Y(data.guess / 10)]), ...lengths.flatMap(n => [rule([X(n), H - 40], [X(n), H - 35]), text(X(n), H - 21, n, n === FARTHEST ? 'end.mute' : 'mid.mute')]), text((X(TRAINED) + w) / 2, H - 4, 'tokens of the text', 'mid.mute'));
    paint(); tests();
  }
  function paint() {
    const n = shown.length, at = X(n);
    strips.forEach((o, i) => {
      const kind = layers[i], own = kind === 'full' ? min(n, TRAINED) : kind === 'window' ? SIGHT : n, v = (2 * middle - 4) * shown['w' + i] / 100;
      set(o.paper, { width: at - START }); flat(o.heard, max(0, n - 1 - shown['r' + i]), n - own); flat(o.sight, n - own, n);
      flat(o.fresh, 0, kind === 'full' ? n - own : 0); seg(o.until, [at, 0], [at, 2 * middle]); set(o.gets, { y: 2 * middle - 2 - v, height: v });
    });
    set(R.pill, { transform: `translate(${max(START + 56, min(w - 49, at))} 0)` }); seg(R.line, [X(0), 34], [at, 34]); seg(R.until, [at, 28], [at, RULER]); seg(end, [at, 24], [at, H - 40]);
  }
  function tests() { // on record
    const both = ways().map(cells), now = beside(lengths, length), half = v => Y((average(v[2]) + average(v[3])) / 20);
    others.forEach((e, i) => curve(e, data.stacks[i].found[ways()[0]]));
    dots.forEach((some, j) => some.forEach((e, k) => { const v = both[0]?.[j][k]; show(set(e, { cx: X(lengths[j]), cy: Y((v ?? 0) / 10) }), v !== undefined); e.classList.toggle('now', j === now); }));
    curve(line, both[0]); curve(other, both[1]);
    for (const e of [line, other, ...names]) show(e, both[0]);
    show(nobody, !both[0]);
    if (!both[0]) return;
    const y = names.map((_, i) => half(both[sharper ^ i])), alike = abs(y[0] - y[1]) < 9;
    names.forEach((e, i) => set(e, { x: X(192), y: y[i] + (y[i] < 56 || !alike && y[i] > y[1 - i] ? 18 : -8) }));
    names[0].textContent = 'as trained' + (alike ? ' ≈ sharper' : ''); show(names[1], !alike);
  }
  function update() {
    const { most, unknown } = could(layers, length, sharper), one = recorded(data, layers), at = beside(lengths, length), seen = cells(ways()[0])?.[at];
    strips.forEach((o, i) => {
      const v = weight(layers[i], length, sharper);
      o.svg.setAttribute('class', layers[i] + (v === null ? ' dark' : '')); o.out.textContent = v === null ? '?' : inPercent(v); kinds[i].forEach((r, k) => { r.input.checked = SORTS[k] === layers[i]; });
    });
    sets.forEach((r, i) => { r.input.checked = data.stacks[i] === one; });
    slider.value = length; sharp.checked = sharper; R.pill.lastChild.textContent = length + ' tokens';
    words.textContent = (theory(layers, length, sharper) + (told ? record(data, layers, length, sharper) : '')).trim().replaceAll(' %', '\xa0%');
    tell([length, !most && unknown.length ? 'unknown' : inPercent(most), ...told ? [seen ? `${inPercent(average(seen) / 1000)} at ${lengths[at]}` : 'no record', seen ? [...new Set([min, max].map(end => num(end(...seen) / 10)))].join(' … ') + ' %' : '–'] : []], words.textContent + ' ');
    tests(); ease();
  }
  slider.oninput = () => { length = +slider.value; update(); };
  sharp.onchange = () => { sharper = sharp.checked; update(); };
  kinds.forEach((some, i) => some.forEach((r, k) => { r.input.onchange = () => { layers = layers.map((kind, j) => j === i ? SORTS[k] : kind); update(); }; }));
  sets.forEach((r, i) => { r.input.onchange = () => { ({ layers } = data.stacks[i]); update(); }; });
  const side = (...both) => h('div.line', {}, ...both);
  mount(host, 'A stack of layers and a needle', LOOK, 'drag the text longer, and change its layers. Who could still see the needle' + (told ? ', and what did training make of it?' : '?'),
    [side(h('small', {}, 'layer'), head), ...rows.map(i => side(h('fieldset.layer', { 'aria-label': `layer ${i + 1}` }, h('span', {}, i + 1), ...kinds[i].map(r => r.label), strips[i].out), strips[i].svg)),
      side(h('div.ctl', {}, h('label', {}, sharp, 'sharper, the longer the text')), h('div.over', {}, slider, ruler)),
      told ? side(h('div', {}, h('small.ctl', {}, 'trained, on record'), h('fieldset.ctl.sets', { 'aria-label': 'stacks on record' }, ...sets.map(r => r.label)), h('small', {}, KEY + '; dotted: guesses')), plot) : h('small', {}, KEY),
      h('div.foot', {}, out, words), live], layout,
    { play: options.play, tour: TOUR, show: state => { length = Math.round(state.length); ({ layers } = state); update(); } });
  layout(); update();
}
