// A sentence with a gate at each word: how far the words before it stand on the ruler that the gates make,
// and what weight each gets. Pure math first (tested in node), drawing after.

export const SENTENCE = 'The cat sat on a mat . My dog ate its hat'.split(' '), MIDST = SENTENCE.indexOf('.');
const NOUNS = ['cat', 'mat', 'dog', 'hat'], EQUAL = Math.exp(-.5);
/** The gates of each preset, by the name that Python gives it. */
export const PRESETS = { equal: SENTENCE.map(() => EQUAL), stop: SENTENCE.map(word => word === '.' ? .02 : .9), nouns: SENTENCE.map(word => NOUNS.includes(word) ? Math.exp(-1) : 1) };

/** How far each word stands from the query, up to which the words are seen: the sum of −ln gate over all words after it. */
export function distances(gates, query) {
  const far = Array(query + 1).fill(0);
  for (let j = query - 1; j >= 0; j--) far[j] = far[j + 1] - Math.log(gates[j + 1]);
  return far;
}
/** The softmax of the bias alone, which is minus the distance. */
export function shares(far) {
  const e = far.map(d => Math.exp(-d)), sum = e.reduce((a, b) => a + b);
  return e.map(v => v / sum);
}
const steps = (gates, query) => gates.slice(1, query + 1).map(g => 0 - Math.log(g));
/** The slope with which ALiBi has the same ruler; null where no slope does. */
export const alibi = (gates, query) => { const all = steps(gates, query); return all.length && max(...all) < Infinity && max(...all) - min(...all) < 1e-9 ? all[0] : null; };
/** Whether the gates are those of a preset. */
export const isPreset = (gates, name) => gates.every((g, i) => abs(g - PRESETS[name][i]) < 1e-9);
/** A share of the weight, as one reads it. */
export const inShare = v => v && v < .01 ? '< 1 %' : num(100 * v) + ' %';
/** What a ruler is like, in words. */
export function tellRuler(gates, query) {
  const slope = alibi(gates, query), all = steps(gates, query);
  if (!query) return 'Nothing comes before the first word: no gate counts.';
  if (slope === 0) return 'All gates that count are 1: no word is farther than another. ALiBi’s slope would be 0.';
  if (slope) return `All gates that count are equal: this is the ruler of ALiBi with slope ${num(slope, 2)}, and its line runs through all words.`;
  if (max(...all) === Infinity) return 'A gate of 0 forgets all that came before its word.';
  return `No slope of ALiBi fits: these steps go from ${num(min(...all), 2)} to ${num(max(...all), 2)}, and the line takes their mean.`;
}

/** The gate at the full stop is pulled down; then the other gates open; then nouns alone count; and all is as it was. */
export const TOUR = { preset: [[0, 'equal'], [.4, 'stop'], [.62, 'nouns'], [.86, 'equal']], stop: [[0, EQUAL], [.08, EQUAL], [.32, .02], [.5, .02], [.6, EQUAL]] };
export const gatesOf = ({ preset, stop }) => PRESETS[preset].map((g, i) => preset === 'equal' && i === MIDST ? stop : g);

const ACROSS = SENTENCE.length, ABOVE = 41, GRIP = 16, MARKS = [...Array(9).keys()]; // px: above the words; a slider's thumb; of the ruler
const LOOK = `:host{--c:var(--enc-alibi,#cc79a7)}.over{overflow:clip}.over input{touch-action:pan-y}.over .query{cursor:ew-resize}.over :is(.look,.gate){writing-mode:vertical-lr;cursor:pointer}.over .gate{direction:rtl;opacity:1;background:none;touch-action:none;cursor:ns-resize}
.over ::-webkit-slider-thumb{width:44px;height:44px}.over ::-moz-range-thumb{width:44px;height:44px;border:0}.over :is(.look,.gate)::-webkit-slider-thumb{width:100%;height:${GRIP}px;background:none}.over :is(.look,.gate)::-moz-range-thumb{width:100%;height:${GRIP}px;background:none}.over :is(.look,.gate)::-moz-range-track{background:none}
.thread,.stair,.axis{fill:none;stroke:currentColor;stroke-opacity:.3}.stair{stroke-width:4;stroke-opacity:.45}.axis{stroke-opacity:.75}.tick{stroke:currentColor;stroke-width:1.5}.reach{stroke:currentColor;stroke-width:5}.now .thread{stroke-opacity:1}
.line{fill:none;stroke:var(--c);stroke-width:2.5}.track{fill:none;stroke:currentColor;stroke-opacity:.4}.open{fill-opacity:.25}.cap{stroke:currentColor;stroke-width:4}.bar{fill-opacity:.45}.now .bar{fill-opacity:1}.ring{fill:none;stroke:currentColor;stroke-width:1.5}.now :is(.stands,.share){font-weight:700}
.pill{fill:currentColor;fill-opacity:.12}.over .query:focus-visible~svg .pill,.over .look:focus-visible~svg :is(.ring,.now circle,.now .bar){stroke:currentColor;stroke-width:3}fieldset.ctl{display:contents}.out{grid-template-columns:repeat(4,auto);max-width:480px}.said{min-height:2.8em;margin:0}@media(max-width:500px){.said{min-height:4.2em}}`;
const called = word => word === '.' ? 'the full stop' : word;

export function render(host, options) {
  let gates = [...PRESETS[options.gates]], { query, word } = options;
  const slider = (name, label, last) => h('input.' + name, { type: 'range', max: last, 'aria-label': label });
  const radios = Object.entries({ equal: 'all equal', stop: 'forget at the full stop', nouns: 'count only nouns' }).map(([key, label]) => { const input = h('input', { type: 'radio', name: 'gates' }); return { key, input, label: h('label', {}, input, label) }; });
  const together = h('input', { type: 'checkbox' }), look = slider('look', 'word to look at', ACROSS - 1), asks = slider('query', 'query', ACROSS - 1), pulls = SENTENCE.map(w => slider('gate', `gate of ${called(w)}`, 100));
  const { out, live, tell } = readout('word', 'distance', 'weight', 'ALiBi with slope'), words = h('p.said');

  const fixed = s('g'), from = text(0, 14, '', ''), legend = s('g', {}, s('line.line', { y1: 9, y2: 9 }), text(0, 14, '', 'end')), marks = MARKS.map(n => ({ at: s('line.thin'), n: text(0, 0, n, 'mid.mute') }));
  const axis = s('line.axis'), reach = s('line.reach'), stair = s('path.stair'), line = s('line.line.alibi'), curve = s('path.line'), ring = s('circle.ring', { r: 7 }), pill = s('rect.pill', { rx: 5, height: 28 });
  const columns = SENTENCE.map(w => {
    const placed = { thread: s('path.thread'), tick: s('line.tick'), dot: s('circle', { r: 4 }), stands: text(0, 0, w, 'stands') }, gate = { track: s('rect.track'), open: s('rect.open'), cap: s('line.cap'), g: text(0, 0, '') };
    const column = { ...placed, ...gate, name: text(0, 0, w), bar: s('rect.bar'), w: text(0, 0, '', 'mid.share') };
    column.placed = s('g', {}, ...Object.values(placed)); column.lever = s('g', {}, ...Object.values(gate));
    return { ...column, all: s('g', {}, column.placed, column.lever, column.name, column.bar, column.w) };
  });
  const svg = s('svg', { role: 'img', 'aria-label': 'The sentence with its gates, the ruler above it, and the weights below' },
    fixed, ...marks.flatMap(Object.values), axis, stair, line, pill, ...columns.map(o => o.all), reach, ring, curve, from, legend);
  const over = h('div.over', {}, look, asks, ...pulls, svg);

  let w, pitch, left, half, PULL, BARS, Y, base;
  const C = i => left + (i + .5) * pitch, end = () => (C(query) - 10) / 2 / pitch; // how far the ruler goes
  const mean = () => query ? min(9, distances(gates, query)[0] / query) : 0;
  const goal = () => {
    const far = distances(gates, query), weights = shares(far);
    return { q: query, m: mean(), ...Object.fromEntries(SENTENCE.flatMap((_, i) => [['d' + i, min(far[i] ?? 0, end())], ['w' + i, weights[i] ?? 0], ['g' + i, gates[i]]])) };
  };
  const shown = {}, ease = easing(shown, goal, paint);
  function layout() { // what depends on width
    const wide = svg.closest('.wide'), title = wide ? 0 : 22, row = wide ? 15 : 16, foot = ABOVE + ACROSS * row + 8;
    w = width(svg); left = wide ? 90 : 2; pitch = (w - left - 22) / ACROSS; half = min(18, pitch / 2 - 2); PULL = wide ? 54 : 90; BARS = wide ? 60 : 72;
    Y = i => ABOVE + (i + .5) * row;
    const name = foot + 44, g = name + 26 + title, shut = g + 8 + PULL, floor = shut + 24 + BARS;
    base = { foot, name, shut, floor };
    set(svg, { viewBox: `0 0 ${w} ${base.floor}` }).style.height = base.floor + 'px';
    const put = (e, ...box) => ['left', 'top', 'width', 'height'].forEach((side, i) => { e.style[side] = box[i] + 'px'; });
    put(look, 0, Y(0) - GRIP / 2, w, (ACROSS - 1) * row + GRIP); put(asks, C(0) - 22, name - 26, (ACROSS - 1) * pitch + 44, 44);
    columns.forEach((o, i) => {
      put(pulls[i], C(i) - pitch / 2 + 1, shut - PULL - GRIP / 2, pitch - 2, PULL + GRIP);
      set(o.name, { x: C(i), y: name }); set(o.g, { x: C(i), y: g }); set(o.w, { x: C(i) });
      for (const e of [o.track, o.open, o.bar]) set(e, { x: C(i) - half, width: 2 * half });
      set(o.track, { y: shut - PULL, height: PULL });
    });
    fixed.replaceChildren(text(0, wide ? shut - PULL / 2 : g - 22, 'gate', 'mute'), text(0, wide ? floor - BARS / 2 : shut + 24, 'weight, %', 'mute'));
    set(legend.lastChild, { x: w }); set(axis, { x1: 0, y1: foot, y2: foot });
    Object.assign(shown, goal()); paint(); tellAll();
  }
  function paint() {
    const { foot, name, shut, floor } = base, zero = left + (shown.q + .5) * pitch, X = d => zero - 2 * pitch * d, at = i => X(shown['d' + i]);
    marks.forEach(({ at, n }, i) => { seg(at, [X(i), ABOVE - 4], [X(i), foot]); set(n, { x: X(i), y: 34 }); for (const e of [at, n]) e.style.display = X(i) < 5 ? 'none' : ''; });
    set(axis, { x2: zero }); set(pill, { x: zero - half - 5, y: name - 19, width: 2 * half + 10 });
    let steps = '';
    columns.forEach((o, i) => {
      const x = at(i), y = Y(i), up = PULL * shown['g' + i], high = BARS * shown['w' + i];
      if (i <= query) steps += (i ? 'V' + y : `M${x} ${y}`) + 'H' + x;
      set(o.thread, { d: `M${x} ${y}V${foot}L${C(i)} ${name - 20}` }); seg(o.tick, [x, foot - 6], [x, foot + 1]); set(o.dot, { cx: x, cy: y }); set(o.stands, { x: x + 8, y: y - 2 });
      set(o.open, { y: shut - up, height: up }); seg(o.cap, [C(i) - half, shut - up], [C(i) + half, shut - up]); set(o.bar, { y: floor - high, height: high }); set(o.w, { y: floor - high - 6 });
    });
    set(stair, { d: steps }); seg(reach, [at(word), foot], [zero, foot]); set(ring, { cx: at(word), cy: Y(word) });
    const past = SENTENCE.slice(0, query + 1).map((_, i) => Math.exp(-shown.m * (query - i))), sum = past.reduce((a, b) => a + b);
    seg(line, [zero, Y(query)], [zero - 2 * pitch * shown.m * query, Y(0)]); set(curve, { d: 'M' + past.map((v, i) => `${C(i)} ${floor - BARS * v / sum}`).join('L') });
  }
  function tellAll() {
    const far = distances(gates, query), weights = shares(far), slope = alibi(gates, query), m = far[0] / query, hide = (e, off) => { e.style.display = off ? 'none' : ''; };
    radios.forEach(r => { r.input.checked = isPreset(gates, r.key); });
    columns.forEach((o, i) => {
      const short = num(gates[i], 2).replace(/\.?0+$/, '');
      o.all.setAttribute('class', i === word ? 'now' : ''); hide(o.placed, i > query); o.lever.style.opacity = i && i <= query ? 1 : .4; o.name.style.opacity = i > query ? .4 : 1;
      o.stands.textContent = (far[i] > end() + 1e-9 ? '‹ ' : '') + SENTENCE[i]; o.g.textContent = pitch < 34 ? short.replace('0.', '.') : short; o.w.textContent = i > query ? '' : num(100 * weights[i]);
      pulls[i].value = 100 * gates[i]; pulls[i].setAttribute('aria-valuetext', num(gates[i], 2));
    });
    for (const e of [line, legend]) hide(e, !(m < Infinity)); hide(curve, slope === null);
    from.textContent = `distance from “${SENTENCE[query]}”` + (w > 480 ? ', the query: −Σ ln gate' : ''); legend.lastChild.textContent = `ALiBi, slope ${num(m, 2)}`; const to = w - legend.lastChild.getComputedTextLength() - 6; set(legend.firstChild, { x1: to - 20, x2: to });
    look.value = word; asks.value = query; look.setAttribute('aria-valuetext', called(SENTENCE[word])); asks.setAttribute('aria-valuetext', called(SENTENCE[query]));
    words.textContent = tellRuler(gates, query);
    tell([SENTENCE[word], far[word] < Infinity ? num(far[word], 2) : '∞', inShare(weights[word]), slope === null ? 'none' : num(slope, 2)], words.textContent + ' ');
  }
  function update() { word = min(word, query); tellAll(); ease(); }
  radios.forEach(r => { r.input.onchange = () => { gates = [...PRESETS[r.key]]; update(); }; });
  pulls.forEach((e, i) => { e.oninput = () => { const g = e.value / 100; gates = gates.map((old, j) => together.checked || j === i ? g : old); update(); }; });
  look.oninput = () => { word = +look.value; update(); };
  asks.oninput = () => { query = +asks.value; update(); };
  mount(host, 'A gate at each word', LOOK, 'pull a gate down, so that its word keeps less of what came before: earlier words move away.',
    [h('div.ctl', {}, h('fieldset.ctl', { 'aria-label': 'gates' }, ...radios.map(r => r.label)), h('label', {}, together, 'pull all together')), over, h('div.foot', {}, out, words), live], layout,
    { play: options.play, tour: TOUR, show: state => { gates = gatesOf(state); update(); } });
  layout(); update();
}
