// Move a word: without positions the outputs of attention move along with the words, and nothing else changes.
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
/** What attention computes for each row of x. */
export function attention(x, causal) {
  const q = times(x, LAYER.query), k = times(x, LAYER.key);
  return times(q.map((a, i) => softmax(k.map((b, j) => causal && j > i ? -Infinity : dot(a, b) / Math.sqrt(DIM)))), times(x, LAYER.value));
}
/** order[place] is a word; the inverse tells the place of each word. */
export const inverse = order => order.map((_, word) => order.indexOf(word));
/** The outputs of the layer for the words in this order; they follow the words, not the places. */
export function layer(order, { positions, causal }) {
  const outputs = attention(order.map((w, p) => { const e = encode(p, DIM); return LAYER.words[KIND[w]].map((v, j) => v + (positions ? e[j] : 0)); }), causal);
  return inverse(order).map(p => outputs[p]);
}
/** Take a word out and put it in again at another place. */
export const put = (order, word, to) => { const rest = order.filter(w => w !== word); rest.splice(to, 0, word); return rest; };
/** The largest difference between the numbers of two vectors. */
export const change = (a, b) => max(...a.map((v, i) => abs(v - b[i])));

/** The layer on this order and on the original one: the largest difference between a word's outputs, and a verdict. */
export function compare(order, how) {
  const now = layer(order, how), was = layer(START, how), by = START.map(w => change(now[w], was[w])), most = max(...by);
  const sentence = order.map(w => WORDS[w]).join(' '), kept = most < .005, first = WORDS[by.indexOf(most)], same = sentence === WORDS.join(' ');
  const telling = [how.positions && 'positions', how.causal && 'mask'].filter(Boolean).join(' and ');
  const verdict = order.every((w, p) => w === p)
    ? `The original order. The bars of the two “the” are ${change(now[0], now[4]) < .005 ? 'alike' : 'not alike'}.`
    : same ? `The two “the” have changed places: the same sentence again, ${kept ? 'and no number has noticed' : 'in which each has the other’s bars'}.`
    : kept ? 'Another order, and every word has kept its bars.'
    : `Bars have changed, most for “${first}”: ${telling === 'mask' ? 'the mask tells' : telling + ' tell'} the layer where a word stands.`;
  return { now, was, most, sentence, verdict };
}

/** One word after the other goes to another place; what that changes, the boxes decide. */
export const TOUR = {
  order: [[0, START], [.08, [0, 2, 3, 4, 1, 5]], [.36, [5, 0, 2, 3, 4, 1]], [.64, [5, 2, 0, 3, 4, 1]]] };

export const LOW = -1.4, HIGH = 1; // every output lies between
const TOP = 42, ZERO = 160, UNIT = 72, LIFT = 36; // px: words, the line that bars stand on, a bar of 1, a word in hand
const LOOK = `.k1{fill:var(--fox,#6b7500)}.k5{fill:var(--dog,#6a45b5)}:host{--c:var(--enc-none,#6f7378);--sin:var(--enc-sinusoidal,#0072b2)}
.over input{height:44px;top:${TOP - 5}px;pointer-events:none;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:44px;pointer-events:auto;cursor:grab}
.over ::-moz-range-thumb{width:44px;height:44px;border:0;pointer-events:auto;cursor:grab}
.bar{fill:var(--c);transition:fill .2s}.on .bar{fill:var(--sin)}.ghost{fill:none;stroke:currentColor;stroke-width:1.25}
.pill{fill:var(--paper,#fffefb)}.pill+rect{fill:currentColor;fill-opacity:.1}.grip{stroke:currentColor;stroke-opacity:.45;stroke-width:1.5}
${START.map(w => `.i${w}:focus-visible~svg .w${w} .pill`)}{stroke:currentColor;stroke-width:2.5}`;

export function render(host, options) {
  let { order } = options, held = -1, at = 0, moved = -1, C, left, state;
  const box = checked => Object.assign(h('input', { type: 'checkbox' }), { checked }), positions = box(options.positions), causal = box(options.causal);
  const { says, live, tell } = sentence();

  // The words are transparent native sliders over drawn ones: a word's value is its place.
  const which = w => WORDS[w] + (KIND[w] ? '' : w ? ', the second' : ', the first');
  const inputs = START.map(w => h('input.i' + w, { type: 'range', max: 5, 'aria-label': which(w) })), four = name => Array.from({ length: 4 }, () => s(name));
  const shape = cls => s('rect' + cls, { rx: 5, height: 34, y: TOP }), ground = s('g');
  const words = START.map(w => ({ bars: four('rect.bar'), ghosts: four('rect.ghost'), pill: s('g.w' + w, {}, shape('.pill'), shape(''), text(0, TOP + 18, WORDS[w], 'mid.k' + w), seg(s('line.grip'), [-7, TOP + 27.5], [7, TOP + 27.5])) }));
  const columns = words.map(({ bars, ghosts, pill }) => s('g', {}, ...bars, ...ghosts, pill));
  const svg = s('svg', { role: 'img', 'aria-label': 'The words in their order, and below each the vector that attention computes for it' }, ground, ...columns);

  const compute = () => { state = compare(order, { positions: positions.checked, causal: causal.checked }); };
  // A word that changes its place is lifted over the others until it is there.
  const up = (p, w) => +(w === held || w === moved && abs(shown[w] - p) > .1);
  const goal = () => { const place = inverse(order); return [place.map((p, w) => w === held ? at : p), shown ? place.map(up) : START.map(() => 0), state.now, state.was].flat(2); };
  let shown;
  compute(); shown = goal();
  const ease = easing(shown, goal, paint), X = p => left + (p + .5) * C;

  function layout() { // what depends on width
    const w = width(svg);
    C = min(120, w / 6); left = (w - 6 * C) / 2;
    set(svg, { viewBox: `0 0 ${w} 286` }).style.height = '286px';
    for (const { style } of inputs) { style.left = X(0) - 22 + 'px'; style.width = 5 * C + 44 + 'px'; }
    for (const { pill } of words) for (const e of [...pill.children].slice(0, 2)) set(e, { x: 2 - C / 2, width: C - 4 });
    ground.replaceChildren(rule([left, ZERO], [w - left, ZERO]), ...START.map(p => text(X(p), 282, p ? p : 'place 0', 'mid.mute')));
    paint();
  }
  function paint() {
    const b = min(14, C / 5.5);
    words.forEach(({ bars, ghosts, pill }, w) => {
      set(columns[w], { transform: `translate(${X(shown[w])} 0)` }); set(pill, { transform: `translate(0 ${-LIFT * shown[6 + w]})` });
      [bars, ghosts].forEach((strip, k) => strip.forEach((e, j) => {
        const v = shown[12 + 24 * k + 4 * w + j];
        set(e, { x: (j - 2) * b + 1, width: b - 2, y: ZERO - UNIT * max(v, 0), height: UNIT * abs(v) });
      }));
    });
  }
  function update() {
    const was = inverse(order), active = inputs.findIndex(i => i.matches(':focus'));
    compute();
    const next = p => active < 0 || p > order.indexOf(active) ? svg : inputs[active];
    tell(...order.some((w, p) => w !== p) ? [`${state.verdict} Largest change of a bar: `, h('b', {}, num(state.most, 2)), '.'] : [state.verdict]);
    order.forEach((w, p) => {
      if (w !== held) inputs[w].value = p;
      inputs[w].setAttribute('aria-valuetext', `place ${p}: ${state.sentence}`);
      // Tab order follows the sentence. The focused word is not taken out of the document, or it would be dropped.
      if (held < 0 && w !== active) next(p).before(inputs[w]);
    });
    const far = was.map((p, w) => abs(p - shown[w]));
    if (max(...far) > .9) { moved = far.indexOf(max(...far)); shown[6 + moved] = +!still(); svg.append(columns[moved]); }
    svg.classList.toggle('on', positions.checked);
    ease();
  }
  inputs.forEach((input, w) => {
    // In hand a word follows the pointer; keys move it by whole places.
    input.onpointerdown = () => { held = w; at = order.indexOf(w); input.step = 'any'; svg.append(columns[w]); update(); };
    input.onchange = input.onpointerup = input.onpointercancel = () => { held = -1; input.step = 1; update(); };
    input.oninput = () => { at = +input.value; order = put(order, w, Math.round(at)); update(); };
    input.onfocus = input.onblur = update;
  });
  positions.onchange = causal.onchange = update;
  mount(host, 'Move a word', LOOK, 'drag a word to another place, and compare its bars with the outlines.',
    [h('div.over', {}, ...inputs, svg), says, h('div.ctl', {}, h('label', {}, positions, 'add positions'), h('label', {}, causal, 'causal mask')), live], layout,
    { play: options.play, tour: TOUR, show: state => { ({ order } = state); update(); } });
  layout(); update();
}
