// Shuffle the words: rows, columns and outputs of attention move with them, and nothing else changes.
// Pure math first (tested in node), drawing after.

export const WORDS = ['the', 'fox', 'jumps', 'over', 'the', 'dog'], START = [0, 1, 2, 3, 4, 5];
const KIND = [0, 1, 2, 3, 0, 4]; // both “the” are one word
const DIM = 8; // features of a word; an output has half as many

// One seeded stream fills the embeddings of the five different words, then the three projections. The seed was chosen
// for attention that is neither flat nor all on one word.
const draw = random(94970);
const table = (rows, columns, size) => Array.from({ length: rows }, () => Array.from({ length: columns }, () => size * (2 * draw() - 1)));
export const LAYER = { words: table(5, DIM, 1.5), query: table(DIM, DIM, .6), key: table(DIM, DIM, .6), value: table(DIM, DIM / 2, .45) };

const times = (a, b) => a.map(row => b[0].map((_, j) => row.reduce((t, v, i) => t + v * b[i][j], 0)));
const dot = (a, b) => a.reduce((t, v, i) => t + v * b[i], 0);
const softmax = a => { const top = max(...a), e = a.map(v => Math.exp(v - top)), t = e.reduce((x, y) => x + y); return e.map(v => v / t); };
/** Attention of the rows of x to one another: weights, and the outputs that they mix. */
export function attention(x, causal) {
  const q = times(x, LAYER.query), k = times(x, LAYER.key);
  const weights = q.map((a, i) => softmax(k.map((b, j) => causal && j > i ? -Infinity : dot(a, b) / Math.sqrt(DIM))));
  return { weights, outputs: times(weights, times(x, LAYER.value)) };
}
/** order[place] is a word; the inverse tells the place of each word. */
export const inverse = order => order.map((_, word) => order.indexOf(word));
/** The layer on the words in this order. weights[a][b] (word a looks at word b) and outputs[a] follow the words, not the places. */
export function layer(order, { positions, causal }) {
  const x = order.map((w, p) => { const e = encode(p, DIM); return LAYER.words[KIND[w]].map((v, j) => v + (positions ? e[j] : 0)); });
  const y = attention(x, causal), place = inverse(order), outputs = place.map(p => y.outputs[p]);
  return { weights: place.map(p => place.map(r => y.weights[p][r])), outputs, mean: times([START.map(() => 1 / START.length)], outputs)[0] };
}
/** Take a word out and put it in again at another place. */
export const put = (order, word, to) => { const rest = order.filter(w => w !== word); rest.splice(to, 0, word); return rest; };
/** The largest difference between the numbers of two vectors. */
export const change = (a, b) => max(...a.map((v, i) => abs(v - b[i])));

/** The layer on this order and on the original one: by how much each output and their mean differ, and a verdict. */
export function compare(order, how) {
  const now = layer(order, how), was = layer(START, how), by = START.map(w => change(now.outputs[w], was.outputs[w]));
  const most = max(...by), mean = change(now.mean, was.mean), sentence = order.map(w => WORDS[w]).join(' ');
  const kept = max(most, mean) < .005, first = WORDS[by.indexOf(most)], same = sentence === WORDS.join(' ');
  const telling = [how.positions && 'positions', how.causal && 'mask'].filter(Boolean).join(' and ');
  const verdict = order.every((w, p) => w === p)
    ? `The original order. The two rows “the” are ${change(now.outputs[0], now.outputs[4]) < .005 ? 'alike' : 'no longer alike'}.`
    : same ? `The two “the” have changed places: the same sentence again, ${kept ? 'and no number has noticed' : 'in which each has the other’s output'}.`
    : kept ? 'Another order, and every word has kept its output: same bars, other row.'
    : `Outputs have changed, most for “${first}”: ${telling === 'mask' ? 'the mask tells' : telling + ' tell'} the layer where a word stands.`;
  return { now, was, by, most, mean, sentence, verdict };
}

/** Words change places; what that changes, the boxes decide. */
export const TOUR = {
  order: [[0, START], [.08, [0, 2, 3, 4, 1, 5]], [.26, [5, 0, 2, 3, 4, 1]], [.44, [5, 2, 0, 3, 4, 1]]] };

export const LOW = -1.4, HIGH = 1; // every output lies between
const FOX = 1, DOG = 5, TOP = 76, LEFT = 54, NUMBERS = 48; // px: the words, the names of the rows, the column of changes
const LOOK = `.k1{fill:var(--fox,#6b7500)}.k5{fill:var(--dog,#6a45b5)}:host{--none:var(--enc-none,#6f7378);--sin:var(--enc-sinusoidal,#0072b2)}
.two{display:flex;flex-wrap:wrap;gap:12px 24px;--c:var(--none)}.two.on{--c:var(--sin)}
.over{flex:1.35 1 290px;min-width:0}.wide .over{flex:0 0 334px}.two>svg{flex:1 1 230px;min-width:0}
.over input{height:44px;top:33px;pointer-events:none;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:44px;pointer-events:auto;cursor:grab}
.over ::-moz-range-thumb{width:44px;height:44px;border:0;pointer-events:auto;cursor:grab}
.weight,.bar{fill:var(--c);transition:fill .2s}.wave{fill:var(--sin)}.ghost{fill:none;stroke:currentColor;stroke-width:1.25}
.pill{fill:currentColor;fill-opacity:.1}.held .pill{fill-opacity:.22}.grip{stroke:currentColor;stroke-opacity:.45;stroke-width:1.5}
.band{fill:currentColor;fill-opacity:.07}.mask{fill:currentColor;fill-opacity:.1}
.band,.mask,.mask+text,.gaps{opacity:0;transition:opacity .2s}.show{opacity:1!important}
.out{grid-template-columns:repeat(2,minmax(0,240px))}.verdict{min-height:2.8em;margin:0}
${START.map(w => `.i${w}:focus-visible~svg .w${w} .pill`)}{stroke:currentColor;stroke-width:2.5}`;

export function render(host, options) {
  let { order } = options, held = -1, at = 0, lit = -1, C = 44, state;
  const rnd = random(options.seed), list = (n, each) => Array.from({ length: n }, (_, i) => each(i));
  const button = name => h('button', { type: 'button' }, name), box = checked => Object.assign(h('input', { type: 'checkbox' }), { checked });
  const swap = button('swap fox and dog'), mix = button('shuffle'), reset = button('reset');
  const positions = box(options.positions), causal = box(options.causal);
  const { out, live, tell } = readout('largest change of a word’s output', 'change of the mean'), verdict = h('p.verdict');

  // The words are transparent native sliders over drawn ones: a word's value is its place.
  const which = w => WORDS[w] + (KIND[w] ? '' : w ? ', the second' : ', the first');
  const inputs = START.map(w => h('input.i' + w, { type: 'range', max: 5, 'aria-label': which(w) }));
  const cells = START.map(() => START.map(() => s('rect.weight')));
  const M = { grid: s('g'), gaps: s('g.gaps'), row: s('rect.band'), column: s('rect.band'),
    mask: s('path.mask'), hidden: text(0, 0, 'hidden: words that come later'), cells: s('g', {}, ...cells.flat()), names: START.map(w => text(0, 0, WORDS[w], 'end.k' + w)), places: s('g.mute'),
    added: text(LEFT - 6, 30, 'added', 'end.mute'),
    waves: START.map(() => s('g.wave', {}, ...list(DIM, () => s('rect', { width: 3 })))),
    words: START.map(w => s('g.w' + w, {}, s('rect.pill', { rx: 5, height: 34, y: 37 }), text(0, 55, WORDS[w], 'mid.k' + w),
      seg(s('line.grip'), [-7, 64.5], [7, 64.5]))) };
  const O = { grid: s('g'), row: s('rect.band'),
    names: list(7, () => text(0, 0, '', 'end')), notes: list(7, () => text(0, 0, '', 'end')), bars: list(28, () => s('rect.bar')), ghosts: list(28, () => s('rect.ghost')) };
  const svg = (name, parts) => s('svg', { role: 'img', 'aria-label': name }, ...Object.values(parts).flat());
  const svgM = svg('Attention matrix', M), svgO = svg('Outputs of the words, and their mean', O);
  const two = h('div.two', {}, h('div.over', {}, ...inputs, svgM), svgO);

  const compute = () => { state = compare(order, { positions: positions.checked, causal: causal.checked }); };
  const goal = () => [inverse(order).map((p, w) => w === held ? at : p), +positions.checked, state.now.weights,
    state.now.outputs, state.now.mean, state.was.outputs, state.was.mean].flat(2);
  compute();
  const shown = goal(), ease = easing(shown, goal, paint);

  const X = p => LEFT + (p + .5) * C, Y = p => TOP + (p + .5) * C;
  function layout() { // what depends on width
    const w = width(svgM), v = width(svgO), [a, b] = [svgM, svgO].map(e => e.getBoundingClientRect().top), beside = abs(a - b) < 9;
    C = max(36, min(svgM.closest('.wide') ? 44 : 52, (w - LEFT) / 6));
    const end = LEFT + 6 * C, foot = TOP + 6 * C, height = foot + C + 16, left = beside ? 0 : LEFT, lines = list(7, i => i * C);
    for (const [e, x] of [[svgM, w], [svgO, v]]) set(e, { viewBox: `0 0 ${x} ${height}` }).style.height = height + 'px';
    for (const { style } of inputs) { style.left = X(0) - 22 + 'px'; style.width = 5 * C + 44 + 'px'; }
    for (const { firstChild: pill } of M.words) set(pill, { x: 1 - C / 2, width: C - 2 });
    const down = (d, from, to) => rule([LEFT + d, from], [LEFT + d, to]), crossed = lines.slice(2, 6);
    M.gaps.replaceChildren(...crossed.map(d => down(d, TOP, TOP + C))); // where words may stand instead
    M.grid.replaceChildren(...lines.flatMap(d => [down(d, crossed.includes(d) ? TOP + C : TOP, foot), rule([LEFT, TOP + d], [end, TOP + d])]),
      text(LEFT, foot + 20, 'row: who looks; column: at whom', 'mute'), text(LEFT, foot + 38, 'area of a square: attention weight', 'mute'));
    M.places.replaceChildren(text(LEFT - 6, 30, 'place', 'end'), ...START.map(p => text(X(p), 30, p)));
    set(M.mask, { d: `M${LEFT + C} ${TOP}` + list(5, () => `v${C}h${C}`).join('') + `V${TOP}Z` });
    set(M.hidden, { x: LEFT + 3.5 * C, y: Y(0) + 4.5 });
    set(M.row, { width: end, height: C }); set(O.row, { width: v, height: C }); set(M.column, { y: 36, width: C, height: foot - 36 });
    O.unit = (v - NUMBERS - left - 4) / (HIGH - LOW); O.zero = left + 4 - LOW * O.unit;
    O.names.forEach((e, w) => { e.textContent = w > 5 ? 'mean' : beside ? '' : WORDS[w]; }); // beside the matrix its names do
    O.grid.replaceChildren(rule([O.zero, TOP], [O.zero, height - 8]), ...lines.map(d => rule([0, TOP + d], [v, TOP + d])),
      text(0, 14, 'output of each word: four numbers', ''), s('rect.ghost', { x: 1, y: 26, width: 22, height: 7 }),
      text(30, 34, 'the same in the original order', ''), text(O.zero, TOP - 8, 0, 'mid.mute'), text(v - 1, TOP - 8, 'change', 'end.mute'));
    paint();
  }
  function paint() {
    const place = shown.slice(0, 6), on = shown[6], [weights, bars, ghosts] = [7, 43, 71].map((k, i, ks) => shown.slice(k, ks[i + 1]));
    cells.forEach((row, a) => row.forEach((e, b) => {
      const side = (C - 3) * Math.sqrt(weights[6 * a + b]);
      set(e, { x: X(place[b]) - side / 2, y: Y(place[a]) - side / 2, width: side, height: side });
    }));
    place.forEach((p, w) => {
      set(M.words[w], { transform: `translate(${X(p)} 0)` }); set(M.names[w], { x: LEFT - 6, y: Y(p) + 4.5 });
      M.words[w].style.opacity = held < 0 || w === held ? 1 : abs(p - place[held]); // passes under the word in hand
    });
    set(M.places, { transform: `translate(0 ${-18 * on})` }); M.added.style.opacity = .75 * on;
    M.waves.forEach((g, p) => encode(p, DIM).forEach((v, j) => {
      set(g.children[j], { x: X(p) - 16 + 4 * j, y: 26 - 7 * on * max(v, 0), height: 7 * on * abs(v) });
    }));
    [...place.map(Y), Y(6) + 8].forEach((y, w) => {
      set(O.names[w], { x: LEFT - 6, y: y + 4.5 }); set(O.notes[w], { x: width(svgO) - 1, y: y + 4.5 });
      for (let k = 4 * w; k < 4 * w + 4; k++) for (const [e, v] of [[O.bars[k], bars[k]], [O.ghosts[k], ghosts[k]]])
        set(e, { x: O.zero + O.unit * min(v, 0), width: O.unit * abs(v), y: y + (k % 4 - 2) * C * .2 + 1, height: C * .2 - 2 });
    });
    if (lit >= 0) { for (const e of [M.row, O.row]) set(e, { y: Y(place[lit]) - C / 2 }); set(M.column, { x: X(place[lit]) - C / 2 }); }
  }
  function update() {
    compute();
    const { by, most, mean, sentence } = state, active = inputs.findIndex(i => i.matches(':focus'));
    lit = held < 0 ? active : held;
    const next = p => active < 0 || p > order.indexOf(active) ? svgM : inputs[active];
    verdict.textContent = state.verdict;
    tell([num(most, 2), num(mean, 2)], `${sentence}. ${state.verdict} `);
    [...by, mean].forEach((v, w) => { O.notes[w].textContent = num(v, 2); });
    order.forEach((w, p) => {
      if (w !== held) inputs[w].value = p;
      inputs[w].setAttribute('aria-valuetext', `place ${p}: ${sentence}`);
      // Tab order follows the sentence. The focused word is not taken out of the document, or it would be dropped.
      if (held < 0 && w !== active) next(p).before(inputs[w]);
    });
    M.words.forEach((e, w) => e.classList.toggle('held', w === held));
    for (const e of [M.row, M.column, O.row]) e.classList.toggle('show', lit >= 0);
    for (const e of [M.mask, M.hidden]) e.classList.toggle('show', causal.checked);
    M.gaps.classList.toggle('show', !causal.checked);
    two.classList.toggle('on', positions.checked);
    ease();
  }
  inputs.forEach((input, w) => {
    // In hand a word follows the pointer; keys move it by whole places.
    input.onpointerdown = () => { held = w; at = order.indexOf(w); input.step = 'any'; svgM.append(M.words[w]); update(); };
    input.onchange = input.onpointerup = input.onpointercancel = () => { held = -1; input.step = 1; update(); };
    input.oninput = () => { at = +input.value; order = put(order, w, Math.round(at)); update(); };
    input.onfocus = input.onblur = update;
  });
  swap.onclick = () => { order = order.map(w => w === FOX ? DOG : w === DOG ? FOX : w); update(); };
  mix.onclick = () => {
    const { sentence } = state;
    for (; state.sentence === sentence; compute()) order = order.map(w => [rnd(), w]).sort(([a], [b]) => a - b).map(([, w]) => w);
    update();
  };
  reset.onclick = () => { order = START; update(); };
  positions.onchange = causal.onchange = update;
  mount(host, 'Shuffle the words', LOOK,
    'drag a word: its row, its column and its output come along. Does a bar change? Then add positions, or take them away, and drag it again.',
    [h('div.ctl', {}, h('div.ctl', {}, swap, mix, reset), h('div.ctl', {}, h('label', {}, positions, 'add positions'), h('label', {}, causal, 'causal mask'))), two, h('div.foot', {}, out, verdict), live], layout,
    { play: options.play, tour: TOUR, show: state => { ({ order } = state); update(); } });
  layout(); update();
}
