// A sentence with a gate at its full stop: how far the words before it stand on the ruler that the gates make, and what weight they get.
// Pure math first (tested in node), drawing after.

export const SENTENCE = 'The cat sat on a mat . My dog ate its hat'.split(' '), STOP = SENTENCE.indexOf('.'), GATE = .9;
const QUERY = SENTENCE.length - 1, LEAST = .02;

/** The gate of each word, where only the full stop's is not GATE. */
export const gatesOf = stop => SENTENCE.map((_, i) => i === STOP ? stop : GATE);
/** How far each word stands from the last one: the sum of −ln gate over all words after it. */
export function distances(gates) {
  const far = gates.map(() => 0);
  for (let j = far.length - 2; j >= 0; j--) far[j] = far[j + 1] - Math.log(gates[j + 1]);
  return far;
}
/** The softmax of the bias alone, which is minus the distance. */
export function shares(far) {
  const e = far.map(d => Math.exp(-d)), sum = e.reduce((a, b) => a + b);
  return e.map(v => v / sum);
}
/** What a gate at the full stop does, in words. */
export function verdict(stop) {
  const moved = num(Math.log(GATE / stop), 1), part = num(100 * shares(distances(gatesOf(stop))).slice(0, STOP).reduce((a, b) => a + b));
  return Math.abs(Math.log(GATE / stop)) < .05 ? `all words take about the same step, and the six words before it get ${part} % of the weight.`
    : `every word before it stands ${moved.replace('−', '')} ${stop < GATE ? 'farther away' : 'nearer'} than at first, no word after it has moved, and the six words before it get ${part} % of the weight.`;
}

/** The gate closes, and opens again. */
export const TOUR = { stop: [[0, GATE], [.1, GATE], [.45, LEAST], [.75, LEAST], [1, GATE]] };

const LINE = 88, LOOK = `:host{--c:var(--enc-alibi,#cc79a7)}.thread{fill:none;stroke:currentColor;stroke-opacity:.45;stroke-width:1.5}circle{fill-opacity:.85;stroke:var(--paper,#fffefb)}.before .thread,.brace{stroke:var(--c);stroke-opacity:1;fill:none}.before circle{fill:var(--c)}.brace{stroke-width:2}
.post{fill:none;stroke:currentColor;stroke-width:1.5}.pull{display:flex;align-items:center;gap:12px;min-height:44px}.pull input{flex:1;min-width:60px;height:44px}@media print{.pull{display:none}}`;

export function render(host, options) {
  let stop = options.gate;
  const shown = { stop }, ease = easing(shown, () => ({ stop }), draw);
  const hand = h('input', { type: 'range', min: 100 * LEAST, max: 100, 'aria-label': 'gate at the full stop' }), { says, live, tell } = sentence();
  const axis = s('g'), brace = s('path.brace'), much = text(0, LINE - 42, '', 'mid.b'), post = s('rect.post', { width: 18, height: 40, rx: 2 }), door = s('rect', { width: 18, rx: 2 }), gate = text(0, 0, '', 'mid.b');
  const columns = SENTENCE.map((word, i) => ({ thread: s('path.thread'), dot: s('circle', { r: 4 }), word: text(0, 0, word, i === QUERY ? 'mid.b' : 'mid') }));
  const svg = s('svg', { role: 'img', 'aria-label': 'The words of a sentence, and threads from each to its place on the ruler above' },
    text(0, 14, 'distance from “hat”', 'mute'), axis, ...columns.map((o, i) => s(i < STOP ? 'g.before' : 'g', {}, ...Object.values(o))), brace, much, post, door, gate);
  let w, C, X, low;

  function layout() {
    w = width(svg); low = LINE + 150; C = i => 14 + (i + .5) * (w - 28) / SENTENCE.length; X = d => C(QUERY) - d * (C(QUERY) - 14) / 5.2;
    set(svg, { viewBox: `0 0 ${w} ${low + 34}` }).style.height = low + 34 + 'px';
    axis.replaceChildren(rule([X(5.2), LINE], [X(0), LINE]), ...[0, 1, 2, 3, 4, 5].flatMap(n => [rule([X(n), LINE - 5], [X(n), LINE + 5]), text(X(n), LINE - 12, n, 'mid.mute')]));
    columns.forEach((o, i) => set(o.word, { x: C(i), y: low }));
    for (const e of [post, door]) set(e, { x: C(STOP) - 9, y: low - 64 });
    set(gate, { x: C(STOP), y: low + 28 });
    draw();
  }
  function draw() {
    const far = distances(gatesOf(shown.stop)), [first, last] = [X(far[0]), X(far[STOP - 1])];
    columns.forEach((o, i) => {
      const x = X(far[i]);
      set(o.dot, { cx: x, cy: LINE }); set(o.thread, { d: `M${x} ${LINE}C${x} ${LINE + 46} ${C(i)} ${LINE + 34} ${C(i)} ${low - 60}V${low - 16}` });
    });
    set(brace, { d: `M${first} ${LINE - 28}v-6H${last}v6` }); set(much, { x: max(64, min(w - 64, (first + last) / 2)) });
    set(door, { height: 40 * (1 - shown.stop) }); // a closed gate is dark
  }
  function update() {
    const part = shares(distances(gatesOf(stop))).slice(0, STOP).reduce((a, b) => a + b);
    gate.textContent = `gate ${num(stop, 2)}`; much.textContent = `${num(100 * part)} % of the weight`;
    tell('Gate ', h('b', {}, num(stop, 2)), ` at the full stop: ${verdict(stop)}`);
    hand.value = 100 * stop; set(hand, { 'aria-valuetext': num(stop, 2) });
    ease();
  }
  hand.oninput = () => { stop = hand.value / 100; update(); };
  mount(host, 'A sentence on its own ruler', LOOK, 'close the gate at the full stop.', [svg, h('label.pull', {}, 'closed', hand, 'open'), says, live], layout,
    { play: options.play, tour: TOUR, show: state => { stop = state.stop; update(); } });
  layout(); update();
}
