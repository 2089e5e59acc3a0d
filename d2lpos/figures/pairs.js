// The pairs of a trained model: by how much its loss rises when one of them stands still in all layers.
// Pure math first (tested in node), drawing after.

export const PAIRS = 32, NONE = PAIRS; // the place on the slider where no pair stands still

/** Radians per token of pair i. */
export const radians = i => 100000 ** (-i / PAIRS);
/** The same in degrees, as one reads it. */
export const angle = i => {
  const degrees = radians(i) * 180 / Math.PI;
  return degrees < .1 ? 'less than 0.1°' : `${num(degrees, degrees < 10 ? 1 : 0)}°`;
};
/** A change of the loss as one reads it. */
export const grown = by => (by >= .0005 ? '+' : '') + num(by, 3);
/** What the loss does, in words. */
export const verdict = (from, by) => abs(by) < .005 ? `stays at ${num(from, 2)}` : `${by > 0 ? 'rises' : 'falls'} from ${num(from, 2)} to ${num(from + by, 2)}`;

/** One pair after the other, from the slowest to the fastest. */
export const TOUR = { at: [[0, NONE], [.05, NONE], [.85, 0]] };

const TOP = 22, TALL = 120, FOOT = TOP + TALL, HANDS = FOOT + 42, TRACK = HANDS + 26, END = TRACK + 34; // px from above
const LOOK = `${GUESS}:host{--c:var(--enc-rope,#d55e00)}.over{overflow:clip}.over input{top:0;height:${END}px;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:${END}px}.over ::-moz-range-thumb{width:44px;height:${END}px;border:0}
.bar{fill:var(--c);fill-opacity:.6}.even{fill-opacity:.5}.hand{stroke:currentColor;stroke-opacity:.6;stroke-width:2;stroke-linecap:round}.bar.on{fill-opacity:1}.hand.on{stroke:var(--c);stroke-opacity:1;stroke-width:5}
.track{stroke:currentColor;stroke-opacity:.5;stroke-width:4;stroke-linecap:round}.knob{stroke:var(--paper,#fffefb);stroke-width:3}.rim{fill:none;stroke:currentColor;stroke-width:1.5}.over input:focus-visible~svg .rim{stroke-width:3}
.text{font-size:17px;min-height:2.8em;margin:0 0 4px}.wide .text{min-height:1.4em}.text b{border-bottom:3px solid transparent}.text .other{border-color:var(--c)}@media screen{.was{display:none}}@media print{.touch{display:none}}`;

export function render(host, options, { begins, goes, loss, rises }) {
  const ids = [...rises.keys()], measured = new Set(), paper = matchMedia('print'), most = max(...rises), mean = rises.reduce((a, b) => a + b) / PAIRS;
  let at = options.pair ?? NONE, w, pitch;
  if (at < NONE) measured.add(at);
  // Paper cannot be touched, so it shows what the slider would have brought to light.
  const here = () => paper.matches && at === NONE ? 0 : at, known = i => paper.matches || measured.has(i);
  const goal = () => Object.fromEntries(ids.flatMap(i => [['bar' + i, known(i) ? 100 * rises[i] : 0], ['lean' + i, i === here() ? 0 : radians(i)]]).concat([['knob', at]]));
  const shown = goal(), ease = easing(shown, goal, draw), { says, live, tell } = sentence();
  const hand = h('input', { type: 'range', max: NONE, 'aria-label': 'pair that stands still' }), goesOn = h('b');
  const evens = ids.map(() => s('rect.even')), bars = ids.map(() => s('rect')), hands = ids.map(() => s('line')), now = text(0, 0, '', 'mid.b');
  const axis = rule([0, 0], [0, 0]), keys = ['bar: rise of the loss, nats a token', 'gray: the mean of all 32'].map((t, i) => text(0, FOOT - 58 + 18 * i, t, 'end.mute'));
  const fastest = text(0, END - 4, 'fastest', ''), none = text(0, END - 4, 'none', 'end.touch'), name = text(0, END - 4, 'the pair that stands still', 'mid.mute.touch');
  const track = s('line.track.touch'), knob = s('g', {}, s('circle.knob.touch', { r: 13 }), s('circle.rim.touch', { r: 15 }));
  const svg = s('svg', { role: 'img', 'aria-label': 'What the loss rises by when one pair stands still, and the angle by which a token turns each pair' },
    axis, ...evens, ...bars, ...hands, ...keys, now, track, knob, fastest, name, none);
  const clean = t => t.trim().replace(/\n+/g, ' ¶ '), C = i => 17 + i * pitch, Y = rise => FOOT - rise / most * TALL;

  function layout() {
    w = width(svg); pitch = (w - 34) / NONE;
    set(svg, { viewBox: `0 0 ${w} ${END}` }).style.height = END + 'px';
    seg(axis, [0, FOOT], [C(PAIRS - .5), FOOT]); seg(track, [C(0), TRACK], [C(NONE), TRACK]);
    hand.style.left = C(0) - 22 + 'px'; hand.style.width = C(NONE) - C(0) + 44 + 'px';
    ids.forEach(i => { for (const e of [evens[i], bars[i]]) set(e, { x: C(i) - .38 * pitch, width: .76 * pitch }); });
    for (const e of evens) set(e, { y: Y(mean), height: FOOT - Y(mean) });
    for (const e of [...keys, none]) set(e, { x: w }); set(name, { x: w / 2 });
    update(); draw();
  }
  function draw() {
    const long = w < 600 ? 20 : 26;
    ids.forEach(i => {
      const y = Y(shown['bar' + i] / 100), lean = shown['lean' + i];
      set(bars[i], { y: min(y, FOOT), height: known(i) ? max(.75, abs(FOOT - y)) : 0 });
      seg(hands[i], [C(i), HANDS], [C(i) + long * sin(lean), HANDS - long * cos(lean)]);
    });
    set(knob, { transform: `translate(${C(shown.knob)} ${TRACK})` });
  }
  function update() {
    const i = here(), one = i < NONE, words = goes[one ? i + 1 : 0];
    [bars, hands].forEach((all, kind) => all.forEach((e, j) => e.setAttribute('class', (kind ? 'hand' : 'bar') + (j === i ? ' on' : ''))));
    say(now, max(26, min(w - 26, C(i))), Y(max(mean, one ? rises[i] : 0)) - 6, one ? grown(rises[i]) : '');
    goesOn.textContent = clean(words); goesOn.classList.toggle('other', words !== goes[0]);
    hand.value = at; set(hand, { 'aria-valuetext': one ? `pair ${i}, ${angle(i)} a token` + (words === goes[0] ? '' : `; the text goes on “${goesOn.textContent}”`) : 'none' });
    if (one) tell(h('b', {}, `Pair ${i}`), ` stands still (it turns by ${angle(i)} a token), and the loss ${verdict(loss, rises[i])} nats a token.`);
    else tell(h('b', {}, 'No pair'), ` stands still, and the loss is ${num(loss, 2)} nats a token.`);
    ease();
  }
  function go(to) { // a hand that moves fast passes over pairs, which count as tried
    for (; at !== to; measured.add(min(at, PAIRS - 1))) at += Math.sign(to - at);
    update();
  }
  hand.oninput = () => go(+hand.value);
  paper.onchange = () => { update(); draw(); };
  const asks = guess({ ask: 'One of 32 pairs stands still in all layers of SmolLM2. Which kind is missed most?', answers: ['fast', 'medium', 'slow'], right: 0,
    so: `pair 0, the fastest, costs ${num(rises[0], 3)} nats, and any other at most ${num(max(...rises.slice(1)), 3)}.` });
  mount(host, 'The pairs of a trained model', LOOK, options.play ? 'stop one pair after the other.' : asks,
    [h('p.text', {}, begins, ' … ', h('span.was', {}, clean(goes[0]), ' (as trained) … '), goesOn), h('div.over', {}, hand, svg), says, live], layout,
    { play: options.play, tour: TOUR, show: state => { const to = Math.round(state.at); if (to === NONE) { at = NONE; measured.clear(); } go(to); } });
  layout(); update();
}
