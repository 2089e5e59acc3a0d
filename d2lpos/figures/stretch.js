// Stretching RoPE: which angles of a longer text training has never shown, and how far each rule shrinks a step.
// Pure math first (tested in node), drawing after.

export const TRAINED = 64, LONGEST = 512, RULES = { // by the name that Python gives them
  'as trained': 'as trained', linear: 'linear', ntk: 'NTK', 'dynamic ntk': 'dynamic NTK', yarn: 'YaRN', llama3: 'Llama 3',
};
const DIALS = 8, BASE = 10000, ROUND = 2 * Math.PI, FACTOR = LONGEST / TRAINED;
const clip = v => max(0, min(1, v));

/** Radians per token of pair i, in a head of 16 features, as it was trained. */
export const omega = i => BASE ** (-i / DIALS);
/** By what a rule divides the frequency of pair i; only the dynamic one asks for the length of the text. */
export function divisor(rule, i, length) {
  const turns = TRAINED * omega(i) / ROUND, index = n => DIALS * Math.log(TRAINED / ROUND / n) / Math.log(BASE);
  const lo = max(0, Math.floor(index(32))), part = { yarn: clip((i - lo) / (Math.ceil(index(1)) - lo)), llama3: clip((4 - turns) / 3) }[rule];
  return part !== undefined ? 1 / (1 - part + part / FACTOR)
    : { 'as trained': 1, linear: FACTOR, ntk: FACTOR ** (i / (DIALS - 1)), 'dynamic ntk': (length / TRAINED) ** (i / (DIALS - 1)) }[rule];
}
/** Whether pair i went all the way around in training, so that no angle is new to it. */
export const closed = i => TRAINED * omega(i) >= ROUND;
/** The angle of pair i across the whole text, over that across the texts of training. */
export const past = (rule, i, length) => length / TRAINED / divisor(rule, i, length);
/** The pairs that come to angles which training has not shown. */
export const unseen = (rule, length) => [...Array(DIALS).keys()].filter(i => !closed(i) && past(rule, i, length) > 1 + 1e-9);
/** How far past training the furthest of them goes; 1 where there is none. */
export const furthest = (rule, length) => max(1, ...unseen(rule, length).map(i => past(rule, i, length)));
/** The step of the closed pairs from token to token, over that of training; of all these, the smallest. */
export const step = (rule, length) => min(...[...Array(DIALS).keys()].filter(closed).map(i => 1 / divisor(rule, i, length)));
/** What is wrong, in words. */
export function trouble(rule, length) {
  const which = unseen(rule, length), fast = step(rule, length);
  const open = !which.length ? 'All pairs stay on the arcs that training has shown.'
    : `${which.length > 1 ? 'Pairs' : 'Pair'} ${new Intl.ListFormat('en').format(which.map(String))} ${which.length > 1 ? 'come' : 'comes'} to angles that training never showed.`;
  return `${open} ${fast > .995 ? 'The fast pairs step as they did.' : `The steps of the fast pairs shrink, to as little as ${num(100 * fast)} %.`}`;
}

/** The text grows, and new angles appear; a rule takes them away for a while. */
export const TOUR = { length: [[0, 64], [.06, 64], [.5, 512]], rule: [[0, 'as trained'], [.58, 'linear'], [.8, 'as trained']] };

const LINE = 40; // px: the ruler of lengths
const LOOK = `:host{--c:var(--enc-rope,#d55e00)}.over svg{height:64px}.over input{top:0;height:64px;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:64px}.over ::-moz-range-thumb{width:44px;height:64px;border:0}
.pill{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .pill{stroke:currentColor;stroke-width:2}
.was,.seen,.new{fill:none;stroke:currentColor;stroke-width:7}.was,.seen{stroke-opacity:.55}.new{stroke:var(--c)}
.text{stroke:var(--c);stroke-width:5}.last{fill:currentColor}.now,.then{stroke:currentColor;stroke-width:2}.then{stroke-width:1;stroke-dasharray:3 3;stroke-opacity:.75}
.slice{fill:currentColor;fill-opacity:.18}.out{grid-template-columns:repeat(4,1fr);max-width:560px}.said{min-height:2.8em;margin:0}@media(max-width:500px){.said{min-height:5.6em}}`;

const spot = (cx, cy, r, a) => [cx + r * cos(a), cy - r * sin(a)]; // anticlockwise
const round = v => v.toFixed(2);
function arc(cx, cy, r, a, b) { // from a to b, in radians; a whole turn is two arcs
  const to = c => `A${r} ${r} 0 0 0 ${spot(cx, cy, r, c).map(round)}`;
  const stops = Array.from({ length: 4 }, (_, j) => a + (b - a) * (j + 1) / 4);
  return `M${spot(cx, cy, r, a).map(round)}${stops.map(to).join('')}`;
}

export function render(host, options) {
  let how = options.rule, { length } = options;
  const pairs = [...Array(DIALS).keys()], slider = h('input', { type: 'range', min: TRAINED, max: LONGEST, 'aria-label': 'length of the text' });
  const radios = Object.fromEntries(Object.keys(RULES).map(k => [k, h('input', { type: 'radio', name: 'rule' })]));
  const { out, live, tell } = readout('length of the text', 'pairs with new angles', 'furthest, training = 1', 'steps of fast pairs');
  const words = h('p.said');

  const K = { axis: s('g'), text: s('line.text'), was: s('line.was'),
    flag: s('g', {}, s('rect.pill', { x: -34, y: 1, width: 68, height: 28, rx: 5 }), text(0, 20, '')) };
  const ruler = s('svg', { 'aria-hidden': true }, ...Object.values(K));
  const dials = pairs.map(i => ({ face: s('path.thin'), seen: s('path.seen'), fresh: s('path.new'), slice: s('path.slice'), then: s('line.then'),
    zero: s('line.thin'), now: s('line.now'), last: s('circle.last', { r: 3.5 }), name: text(0, 0, `pair ${i}`), by: text(0, 0, '') }));
  const svg = s('svg', { role: 'img', 'aria-label': 'Eight dials with the angles of training and of the text' }, ...dials.flatMap(Object.values));

  const goal = () => ({ length, ...pairs.map(i => Math.log(divisor(how, i, length))) });
  const shown = goal(), ease = easing(shown, goal, paint);
  let w, X, radius;

  function layout() { // what depends on width
    w = width(svg); X = n => 8 + n / LONGEST * (width(ruler) - 16 - 34);
    set(ruler, { viewBox: `0 0 ${width(ruler)} 64` });
    slider.style.left = X(TRAINED) - 22 + 'px'; slider.style.width = X(LONGEST) - X(TRAINED) + 44 + 'px';
    K.axis.replaceChildren(rule([X(0), LINE], [X(LONGEST), LINE]), ...[64, 128, 256, 512].flatMap(n => [rule([X(n), LINE - 5], [X(n), LINE + 5]), text(X(n), 60, n, 'mid.mute')]));
    seg(K.was, [X(0), LINE], [X(TRAINED), LINE]);
    const across = w < 600 ? 4 : DIALS, cell = w / across;
    radius = min(60, cell / 2 - 8);
    const tall = 2 * radius + 58;
    svg.style.height = tall * DIALS / across + 'px';
    set(svg, { viewBox: `0 0 ${w} ${tall * DIALS / across}` });
    dials.forEach((o, i) => {
      o.x = (i % across + .5) * cell; o.y = Math.floor(i / across) * tall + radius + 26;
      set(o.name, { x: o.x, y: o.y - radius - 10 }); set(o.by, { x: o.x, y: o.y + radius + 20 });
      seg(o.zero, [o.x, o.y], [o.x + radius - 5, o.y]); seg(o.then, [o.x, o.y], spot(o.x, o.y, radius - 5, omega(i)));
      const shownUpTo = min(ROUND, TRAINED * omega(i));
      set(o.seen, { d: arc(o.x, o.y, radius, 0, shownUpTo) }); set(o.face, { d: arc(o.x, o.y, radius, shownUpTo, ROUND) });
    });
    paint();
  }
  function paint() {
    const n = shown.length, at = X(n);
    set(K.flag, { transform: `translate(${max(35, min(width(ruler) - 35, at))} 0)` }); seg(K.text, [X(TRAINED), LINE], [at, LINE]);
    dials.forEach((o, i) => {
      const { x, y } = o, by = Math.exp(shown[i]), now = omega(i) / by, end = n * now, start = TRAINED * omega(i);
      set(o.fresh, { d: closed(i) || end <= start * (1 + 1e-6) ? '' : arc(x, y, radius, start, min(ROUND, end)) });
      const [cx, cy] = spot(x, y, radius, end); set(o.last, { cx, cy });
      seg(o.now, [x, y], spot(x, y, radius - 5, now));
      set(o.slice, { d: `M${x} ${y}L${arc(x, y, radius - 5, 0, now).slice(1)}Z` });
    });
  }
  function update() {
    for (const k in radios) radios[k].checked = k === how;
    slider.value = length; K.flag.lastChild.textContent = length + ' long';
    dials.forEach((o, i) => { const by = divisor(how, i, length); o.by.textContent = abs(by - 1) < .005 ? 'as it was' : '÷ ' + num(by, 2); });
    words.textContent = trouble(how, length);
    tell([length, `${unseen(how, length).length} of ${DIALS}`, num(furthest(how, length), 1) + ' ×', num(100 * step(how, length)) + ' %'], words.textContent + ' ');
    ease();
  }
  slider.oninput = () => { length = +slider.value; update(); };
  for (const k in radios) radios[k].onchange = () => { how = k; update(); };
  mount(host, 'Angles seen and unseen', LOOK,
    'drag the length: color marks angles that training never showed.',
    [h('div.over', {}, slider, ruler), h('fieldset.ctl', { 'aria-label': 'scaling rule' }, ...Object.entries(RULES).map(([k, label]) => h('label', {}, radios[k], label))), svg, h('div.foot', {}, out, words), live], layout,
    { play: options.play, tour: TOUR, show: state => { length = Math.round(state.length); how = state.rule; update(); } });
  layout(); update();
}
