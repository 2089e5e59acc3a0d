// Five models of a novel, read at the training length and at two, four and eight times as much: the first of them changes.
// Python has the means of the records; here they are ranked and placed. Pure math first (tested in node), drawing after.

export const LENGTHS = [64, 128, 256, 512];
const TIMES = ['as in training', 'twice the training length', 'four times the training length', 'eight times the training length'], PLACES = ['first', 'second', 'third', 'fourth', 'last'];

/** The models at one length, the lowest loss first. */
export const ranked = (losses, at) => Object.keys(losses).sort((a, b) => losses[a][at] - losses[b][at]);
/** Who is first at a length, and where the winner of training is now, in words. */
export function verdict(losses, at) {
  const order = ranked(losses, at), [winner, next] = ranked(losses, 0);
  return `, ${TIMES[at]}: ${order[0]} is first${at && winner !== order[0] ? `. ${winner}, the winner at ${LENGTHS[0]}, is ${PLACES[order.indexOf(winner)]} of the five.` : `, and ${next} second.`}`;
}

/** The text gets longer. */
export const TOUR = { at: [[0, 0], [.15, 0], [.85, LENGTHS.length - 1]] };

const ROW = 36, TOP = 26, LOW = 1.2, HIGH = 4.5; // px; px above the rows; nats at the ends of a row
const LOOK = `${GUESS}.asks button{margin-right:4px}.asks .play{min-width:0}:host,.none{--c:var(--enc-none,#6f7378)}.RoPE{--c:var(--enc-rope,#d55e00)}.T5{--c:var(--enc-relative,#009e73)}:is(.KERPLE,.ALiBi){--c:var(--enc-alibi,#cc79a7)}
.dot{fill:var(--c)}.was{fill:var(--paper,#fffefb);stroke:var(--c);stroke-width:2}.trail{stroke:var(--c);stroke-width:5;stroke-opacity:.4}.band{fill:currentColor;fill-opacity:.08}
.over input{top:0;height:44px;cursor:grab;touch-action:pan-y}.over ::-webkit-slider-thumb{width:44px;height:44px}.over ::-moz-range-thumb{width:44px;height:44px;border:0}
.hand{stroke:var(--paper,#fffefb);stroke-width:3}.over input:focus-visible~svg .hand{stroke:currentColor;stroke-width:8;stroke-opacity:.5}.paper{display:none}@media print{.live,.says{display:none}.paper{display:block}}`;

/** The rows at one length: a ring at the loss of training, a dot at the loss now, and the way between. */
function board(losses, label) {
  const band = s('rect.band', { rx: 6, height: ROW - 4 }), title = [text(0, 14, '← better', 'mute'), text(0, 14, 'loss, nats a character', 'end.mute')];
  const rows = Object.keys(losses).map(name => ({ name: text(46, 0, name, 'b'), first: text(8, 0, 'first', 'mute'), rule: s('line.thin'), trail: s('line.trail'), was: s('circle.was', { r: 5 }), dot: s('circle.dot', { r: 8 }), loss: text(0, 0, '', 'end') }));
  const svg = s('svg', { role: 'img', 'aria-label': label }, band, ...title, ...rows.map((o, i) => s('g.' + Object.keys(losses)[i], {}, ...Object.values(o)))), middle = i => TOP + ROW * (i + .5);
  let w, X;
  return { svg,
    place(across) {
      w = across; X = v => 112 + (v - LOW) / (HIGH - LOW) * (w - 176);
      set(svg, { viewBox: `0 0 ${w} ${TOP + ROW * rows.length + 4}` }).style.height = TOP + ROW * rows.length + 4 + 'px';
      set(band, { width: w }); set(title[0], { x: X(LOW) }); set(title[1], { x: w - 8 });
      rows.forEach((o, i) => { for (const e of [o.name, o.first, o.loss]) set(e, { y: middle(i) + 5 }); set(o.loss, { x: w - 8 }); seg(o.rule, [X(LOW), middle(i)], [X(HIGH), middle(i)]); });
    },
    draw({ first, ...shown }) {
      rows.forEach((o, i) => { const start = X(Object.values(losses)[i][0]), x = X(shown[i]); set(o.was, { cx: start, cy: middle(i) }); set(o.dot, { cx: x, cy: middle(i) }); seg(o.trail, [start, middle(i)], [x, middle(i)]); });
      set(band, { y: TOP + ROW * first + 2 });
    },
    write(at) {
      const [best] = ranked(losses, at);
      Object.entries(losses).forEach(([name, all], i) => { rows[i].first.style.visibility = name === best ? '' : 'hidden'; rows[i].loss.textContent = num(all[at], 3); set(rows[i].loss, { class: name === best ? 'end b' : 'end' }); });
    } };
}

export function render(host, { length, play }, losses) {
  let at = LENGTHS.indexOf(length), w, X;
  const last = LENGTHS.length - 1, goal = (n = at) => ({ ...Object.values(losses).map(all => all[n]), first: Object.keys(losses).indexOf(ranked(losses, n)[0]) });
  const live = board(losses, 'The loss of each model'), paper = [0, last].map(n => ({ n, title: h('p.paper.b', {}, `${LENGTHS[n]} characters, ${TIMES[n]}`), ...board(losses, `The loss of each model at ${LENGTHS[n]} characters`) }));
  const hand = h('input', { type: 'range', max: last, 'aria-label': 'length of the text' }), axis = s('g'), disc = s('circle.hand', { r: 14, cy: 22 }), ruler = s('svg', { 'aria-hidden': 'true' }, axis, disc), says = h('p.says'), { live: spoken, speak } = voice();
  const shown = { ...goal(), at }, ease = easing(shown, () => ({ ...goal(), at }), draw);
  live.svg.classList.add('live'); for (const o of paper) o.svg.classList.add('paper');

  function layout() {
    w = min(1100, width(host)); X = n => 24 + n / last * (w - 48);
    for (const o of [live, ...paper]) o.place(w);
    for (const o of paper) o.draw(goal(o.n));
    set(ruler, { viewBox: `0 0 ${w} 82` }).style.height = '82px';
    hand.style.left = '2px'; hand.style.width = w - 4 + 'px';
    axis.replaceChildren(rule([X(0), 22], [X(last), 22]), ...LENGTHS.flatMap((n, i) => [rule([X(i), 17], [X(i), 27]), text(X(i), 56, n)]), text(0, 74, 'training', 'mute'), text(w, 74, 'characters of text', 'end.mute'));
    draw();
  }
  function draw() { live.draw(shown); set(disc, { cx: X(shown.at) }); }
  function update() {
    hand.value = at; set(hand, { 'aria-valuetext': `${LENGTHS[at]} characters, ${TIMES[at]}` });
    live.write(at);
    says.replaceChildren(h('b', {}, LENGTHS[at]), ' characters' + verdict(losses, at));
    speak(`${says.textContent} Losses from the lowest on: ${ranked(losses, at).map(name => `${name} ${num(losses[name][at], 3)}`).join(', ')}.`); // which an eye reads in the rows
    ease();
  }
  hand.oninput = () => { at = +hand.value; update(); };
  for (const o of paper) o.write(o.n);
  const [winner, best] = [0, last].map(n => ranked(losses, n)[0]), names = Object.keys(losses), loss = name => num(losses[name][last], 3);
  const asks = guess({ ask: `At ${LENGTHS[0]} characters ${winner} is first. Which model is first at ${LENGTHS[last]}?`, answers: names, right: names.indexOf(best), so: `its loss is ${loss(best)}, and the loss of ${winner} is ${loss(winner)}.` });
  mount(host, 'Five models and a text that gets longer', LOOK, play ? 'make the text longer.' : asks,
    [live.svg, ...paper.flatMap(o => [o.title, o.svg]), h('div.over.live', {}, hand, ruler), says, spoken], layout, { play, tour: TOUR, show: state => { at = Math.round(state.at); update(); } });
  layout(); update();
}
