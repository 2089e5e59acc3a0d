// Shuffle the words: rows, columns and outputs of attention move with them, and nothing else changes.
// Pure math first (tested in node), drawing after.

export const WORDS = ['the', 'fox', 'jumps', 'over', 'the', 'dog'], START = [0, 1, 2, 3, 4, 5];
const KIND = [0, 1, 2, 3, 0, 4]; // both “the” are one word
const DIM = 8; // features of a word; an output has half as many

// A small layer with fixed weights: one seeded stream fills the embeddings of the five different words, then the
// projections to queries, keys and values. The seed was chosen for weights that are neither flat nor all on one word.
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
export const move = (order, word, to) => { const rest = order.filter(w => w !== word); rest.splice(to, 0, word); return rest; };
/** The largest difference between the numbers of two vectors. */
export const change = (a, b) => max(...a.map((v, i) => abs(v - b[i])));

export const LOW = -1.4, HIGH = 1; // every output lies between
const FOX = 1, DOG = 5, TOP = 76, LEFT = 46;
const LOOK = `:host{--none:var(--enc-none,#6f7378);--sin:var(--enc-sinusoidal,#0072b2)}
.two{display:flex;flex-wrap:wrap;gap:12px 24px;--c:var(--none)}.two.on{--c:var(--sin)}
.over{flex:1.35 1 290px;min-width:0}.two>svg{flex:1 1 230px;min-width:0}
.over input{height:44px;top:33px;pointer-events:none;touch-action:pan-y;background:none}
.over ::-webkit-slider-thumb{width:44px;height:44px;pointer-events:auto;cursor:grab}.over ::-moz-range-thumb{width:44px;height:44px;border:0;pointer-events:auto;cursor:grab}
.weight,.bar{fill:var(--c);transition:fill .2s}.wave{fill:var(--sin)}
.ghost{fill:none;stroke:currentColor;stroke-width:1.25}
.pill{fill:currentColor;fill-opacity:.1}.held .pill{fill-opacity:.22}.grip{stroke:currentColor;stroke-opacity:.45;stroke-width:1.5}
.band{fill:currentColor;fill-opacity:.07}.mask{fill:currentColor;fill-opacity:.1}
.mask,.mask+text,.band{opacity:0;transition:opacity .2s}.show{opacity:1!important}
.out{grid-template-columns:repeat(2,minmax(0,240px))}.verdict{min-height:2.8em;margin:0}
${START.map(w => `.i${w}:focus-visible~svg .w${w} .pill`)}{stroke:currentColor;stroke-width:2.5}
@media(prefers-reduced-motion){*{transition:none!important}}`;

export function render(host, options) {
  let { order, positions, causal, seed } = options, held = -1, at = 0, lit = -1, C = 44, now, was;
  const rnd = random(seed);
  const bars = () => Array.from({ length: 4 }, () => ({ bar: s('rect.bar'), ghost: s('rect.ghost') }));

  const inputs = START.map(w => h('input.i' + w, { type: 'range', max: 5, 'aria-label': WORDS[w] + (KIND[w] ? '' : w ? ', the second' : ', the first') }));
  const cells = START.map(() => START.map(() => s('rect.weight')));
  const M = { grid: s('g'), row: s('rect.band'), column: s('rect.band'), mask: s('path.mask'), hidden: text(0, 0, 'hidden: words that come later'),
    cells: s('g', {}, ...cells.flat()), names: START.map(w => text(0, 0, WORDS[w], 'end')),
    waves: START.map(() => s('g.wave', {}, ...Array.from({ length: DIM }, () => s('rect')))), added: text(LEFT - 6, 30, 'added', 'end.mute'), places: s('g.mute'),
    words: START.map(w => s('g.w' + w, {}, s('rect.pill', { rx: 5, height: 34, y: 37 }), text(0, 55, WORDS[w]), seg(s('line.grip'), [-7, 64.5], [7, 64.5]))) };
  const O = { grid: s('g'), row: s('rect.band'), rows: [...START, 6].map(() => ({ bars: bars(), name: text(0, 0, '', 'end'), note: text(0, 0, '', 'end') })) };
  const svgM = s('svg', { role: 'img', 'aria-label': 'Attention matrix' }, ...Object.values(M).flat());
  const svgO = s('svg', { role: 'img', 'aria-label': 'Outputs of the words and their mean' }, O.grid, O.row, ...O.rows.flatMap(r => [r.name, r.note, ...r.bars.flatMap(b => [b.bar, b.ghost])]));
  const button = name => h('button', { type: 'button' }, name), box = on => Object.assign(h('input', { type: 'checkbox' }), { checked: on });
  const swap = button('swap fox and dog'), mix = button('shuffle'), reset = button('reset'), pos = box(positions), mask = box(causal);
  const { out, live, tell } = readout('largest change of a word’s output', 'change of the mean'), verdict = h('p.verdict');
  const two = h('div.two', {}, h('div.over', {}, ...inputs, svgM), svgO);

  const compute = () => { const how = { positions: pos.checked, causal: mask.checked }; now = layer(order, how); was = layer(START, how); };
  const goal = () => [...inverse(order).map((p, w) => w === held ? at : p), +pos.checked, ...now.weights.flat(), ...now.outputs.flat(), ...now.mean, ...was.outputs.flat(), ...was.mean];
  compute();
  const shown = goal(), ease = easing(shown, goal, paint);

  function layout() { // what depends on width
    const w = width(svgM), v = width(svgO);
    C = max(36, min(52, (w - LEFT) / 6));
    const beside = abs(svgM.getBoundingClientRect().top - svgO.getBoundingClientRect().top) < 9; // then the matrix names the rows
    const left = beside ? 0 : LEFT, end = LEFT + 6 * C, foot = TOP + 6 * C, X = p => LEFT + (p + .5) * C, H = foot + C + 16;
    for (const [e, x] of [[svgM, w], [svgO, v]]) { set(e, { viewBox: `0 0 ${x} ${H}` }).style.height = H + 'px'; }
    const lines = Array.from({ length: 7 }, (_, i) => i * C);
    M.grid.replaceChildren(...lines.flatMap(d => [rule([LEFT + d, TOP], [LEFT + d, foot]), rule([LEFT, TOP + d], [end, TOP + d])]),
      text(LEFT, foot + 20, 'row: who looks; column: at whom', 'mute'), text(LEFT, foot + 38, 'area of a square: attention weight', 'mute'));
    M.places.replaceChildren(text(LEFT - 6, 30, 'place', 'end'), ...START.map(p => text(X(p), 30, p)));
    set(M.mask, { d: 'M' + [LEFT + C, TOP] + START.slice(1).map(p => `V${TOP + p * C}H${LEFT + (p + 1) * C}`).join('') + `V${TOP}Z` });
    set(M.hidden, { x: LEFT + 3.5 * C, y: TOP + C / 2 + 4.5 });
    for (const i of inputs) { i.style.left = X(0) - 22 + 'px'; i.style.width = 5 * C + 44 + 'px'; }
    for (const { firstChild: pill } of M.words) set(pill, { x: 1 - C / 2, width: C - 2 });
    M.waves.forEach((g, p) => [...g.children].forEach((r, j) => set(r, { x: X(p) - 16 + 4 * j, width: 3 })));
    O.unit = (v - 52 - left) / (HIGH - LOW); O.zero = left + 8 - LOW * O.unit;
    O.rows.forEach((r, w) => { r.name.textContent = w > 5 ? 'mean' : beside ? '' : WORDS[w]; });
    O.grid.replaceChildren(rule([O.zero, TOP], [O.zero, H - 8]), ...lines.map(d => rule([0, TOP + d], [v, TOP + d])), text(0, 14, 'output of each word: four numbers', ''),
      s('rect.ghost', { x: 1, y: 26, width: 22, height: 7 }), text(30, 34, 'the same in the original order', ''), text(v - 1, TOP - 8, 'change', 'end.mute'), text(O.zero, TOP - 8, 0, 'mid.mute'));
    set(O.row, { x: 0, width: v, height: C }); set(M.row, { x: 0, width: end, height: C }); set(M.column, { y: 36, width: C, height: foot - 36 });
    paint();
  }
  function paint() {
    const place = shown.slice(0, 6), X = p => LEFT + (p + .5) * C, Y = p => TOP + (p + .5) * C;
    cells.forEach((row, a) => row.forEach((e, b) => {
      const side = (C - 3) * Math.sqrt(shown[7 + 6 * a + b]);
      set(e, { x: X(place[b]) - side / 2, y: Y(place[a]) - side / 2, width: side, height: side });
    }));
    M.words.forEach((e, w) => { set(e, { transform: `translate(${X(place[w])} 0)` }); say(M.names[w], LEFT - 6, Y(place[w]) + 4.5, WORDS[w]); });
    set(M.places, { transform: `translate(0 ${-18 * shown[6]})` }); M.added.style.opacity = .75 * shown[6];
    M.waves.forEach((g, p) => encode(p, DIM).forEach((v, j) => { const t = 7 * v * shown[6]; set(g.children[j], { y: 26 - max(t, 0), height: abs(t) }); }));
    O.rows.forEach((r, w) => {
      const y = w < 6 ? Y(place[w]) : TOP + 6.5 * C + 8;
      say(r.name, LEFT - 6, y + 4.5, r.name.textContent); set(r.note, { x: width(svgO) - 1, y: y + 4.5 });
      r.bars.forEach(({ bar, ghost }, j) => {
        const k = 43 + 4 * w + j, pitch = C * .2, top = y + (j - 2) * pitch;
        for (const [e, v] of [[bar, shown[k]], [ghost, shown[k + 28]]])
          set(e, { x: O.zero + O.unit * min(v, 0), width: O.unit * abs(v), y: top + 1, height: pitch - 2 });
      });
    });
    if (lit >= 0) { set(M.row, { y: Y(place[lit]) - C / 2 }); set(O.row, { y: Y(place[lit]) - C / 2 }); set(M.column, { x: X(place[lit]) - C / 2 }); }
  }
  function update() {
    compute();
    const place = inverse(order), by = START.map(w => change(now.outputs[w], was.outputs[w])), most = max(...by), mean = change(now.mean, was.mean);
    const sentence = order.map(w => WORDS[w]).join(' '), alike = change(now.outputs[0], now.outputs[4]) < .005, same = sentence === WORDS.join(' ');
    verdict.textContent = most < .005 && mean < .005
      ? place.every((p, w) => p === w) ? `The original order. The two rows “the” are ${alike ? 'alike' : 'no longer alike'}.`
        : same ? 'The two “the” have changed places, and no number has noticed.' : 'Another order, and every word has kept its output: same bars, other row.'
      : same ? 'The two “the” have changed places: the same sentence again, in which each has the other’s output.'
      : `The outputs have changed, most for “${WORDS[by.indexOf(most)]}”: ${!pos.checked ? 'the mask tells' : mask.checked ? 'positions and mask tell' : 'positions tell'} the layer where a word stands.`;
    tell([num(most, 2), num(mean, 2)], `${sentence}. ${verdict.textContent} `);
    O.rows.forEach((r, w) => { r.note.textContent = num(w < 6 ? by[w] : mean, 2); });
    const active = inputs.findIndex(i => i.matches(':focus'));
    order.forEach((w, p) => { // tab order follows the sentence
      if (w !== held) inputs[w].value = p;
      inputs[w].setAttribute('aria-valuetext', `place ${p}: ${sentence}`);
      if (held < 0 && w !== active) (active < 0 || p > place[active] ? svgM : inputs[active]).before(inputs[w]);
    });
    M.words.forEach((e, w) => e.classList.toggle('held', w === held));
    for (const e of [M.row, M.column, O.row]) e.classList.toggle('show', lit >= 0);
    for (const e of [M.mask, M.hidden]) e.classList.toggle('show', mask.checked);
    two.classList.toggle('on', pos.checked);
    ease();
  }
  inputs.forEach((input, w) => {
    const drop = () => { held = -1; input.step = 1; update(); };
    input.onpointerdown = () => { held = lit = w; at = inverse(order)[w]; input.step = 'any'; M.words[w].parentNode.append(M.words[w]); update(); };
    input.oninput = () => { at = +input.value; order = move(order, w, Math.round(at)); update(); };
    input.onchange = input.onpointerup = input.onpointercancel = drop;
    input.onfocus = () => { lit = w; paint(); update(); };
    input.onblur = () => { lit = -1; update(); };
  });
  swap.onclick = () => { order = order.map(w => w === FOX ? DOG : w === DOG ? FOX : w); update(); };
  mix.onclick = () => {
    const before = order.join();
    while (order.join() === before) order = order.map(w => [rnd(), w]).sort(([a], [b]) => a - b).map(([, w]) => w);
    update();
  };
  reset.onclick = () => { order = START; update(); };
  pos.onchange = mask.onchange = update;
  mount(host, 'Shuffle the words', LOOK,
    'drag a word to another place. Its row and its column move with it, its output too, and nothing else changes. Then add positions, or the causal mask, and move it again.',
    [h('div.ctl', {}, h('div.ctl', {}, swap, mix, reset), h('div.ctl', {}, h('label', {}, pos, 'add positions'), h('label', {}, mask, 'causal mask'))), two, out, verdict, live], layout);
  layout(); update();
}
