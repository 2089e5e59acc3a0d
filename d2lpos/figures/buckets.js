// Which offsets share a number: T5's buckets and Shaw's clip, with the bias matrix that comes of it.
// Pure math first (tested in node), drawing after.

export const TEXT = 128, COUNTS = [8, 16, 32, 64]; // tokens of the text; numbers of buckets
export const KINDS = { both: 'T5, two sides', causal: 'T5, causal', shaw: 'Shaw' };

/** The bucket of an offset (key minus query), as d2lpos.bias.bucket gives it. */
export function bucket(offset, count, far, both) {
  if (both) return bucket(-abs(offset), count / 2, far, false) + (offset > 0 ? count / 2 : 0);
  const distance = max(0, -offset), exact = count / 2;
  return distance < exact ? distance : min(count - 1, exact + Math.floor(Math.log2(distance / exact) / Math.log2(far / exact) * exact));
}
/** The row of an offset in Shaw's table. */
export const row = (offset, clip) => max(-clip, min(clip, offset)) + clip;
/** Where an offset is looked up. */
export const place = (o, offset) => o.kind === 'shaw' ? row(offset, o.clip) : bucket(offset, o.buckets, o.far, o.kind === 'both');
/** How many places the table has. */
export const size = o => o.kind === 'shaw' ? 2 * o.clip + 1 : o.buckets;
/** Every place that a text of TEXT tokens uses: its first and last offset, and whether training has used it, too. */
export function places(o) {
  const found = {};
  for (let d = 1 - TEXT; d <= (o.kind === 'causal' ? 0 : TEXT - 1); d++) {
    const it = found[place(o, d)] ??= { number: place(o, d), first: d, last: d, seen: false };
    it.last = d; it.seen ||= abs(d) < o.length;
  }
  return Object.values(found);
}
/** How dark a place is drawn: the nearer, the darker. */
export const shade = (o, p) => {
  const near = q => max(0, q.first, -q.last), steps = [...new Set(places(o).map(near))].sort((a, b) => a - b);
  return .92 - .82 * steps.indexOf(near(p)) / (steps.length - 1);
};
/** Two lines of equal offset, cut off by a square of side n, and what is between them. */
export function band(a, b, n) {
  const ends = c => c >= 0 ? [[c, 0], [n, n - c]] : [[0, -c], [n + c, n]];
  const [p, q] = ends(max(-n, a)), [r, s] = ends(min(n, b)), across = a < 0 && b > 0;
  return [p, q, ...(across ? [[n, n]] : []), s, r, ...(across ? [[0, 0]] : [])];
}
const far = d => d < 0 ? `${-d} to the left` : d > 0 ? `${d} to the right` : 'the word itself';
/** What the pointer shows, and what training left out, in words. */
export function explain(o, offset) {
  const all = places(o), it = all.find(p => p.number === place(o, offset)), fresh = all.filter(p => !p.seen).length;
  const thing = o.kind === 'shaw' ? 'vector' : 'bucket', what = o.kind === 'shaw' ? 'row' : 'bucket';
  const who = it.first === it.last ? `Only ${far(it.first)} uses ${what} ${it.number}.`
    : `${it.last - it.first + 1} offsets share ${what} ${it.number}${it.seen ? '' : ', and training used none of them'}.`;
  return `${who} ${fresh ? `A text of ${TEXT} tokens uses ${fresh} ${thing}${fresh > 1 ? 's' : ''} that training never touched.` : `Training has touched all that a text of ${TEXT} tokens uses.`}`;
}

/** Farther and farther back, and the buckets grow; then texts of training half as long leave some of them untouched. */
export const TOUR = { offset: [[0, 0], [.06, 0], [.58, -TEXT + 1], [1, -70]], length: [[0, TEXT], [.66, TEXT], [.9, 32]] };

const TOP = 34, FOOT = 40, LEFT = 46, SKY = 22; // px: flag and axis of the plot; corner of the matrix
const LOOK = `:host{--c:var(--enc-relative,#009e73)}.ctl input[type=range]{width:96px;margin:0 8px}.ctl output{min-width:2em}
.pair{display:flex;flex-wrap:wrap;gap:8px 24px}.pair>*{flex:1 1 260px;min-width:0}.wide .pair>:last-child{flex:0 0 372px}
.over{overflow:clip}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.flag{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .flag{stroke:currentColor;stroke-width:2}
.seen{stroke:var(--c);stroke-width:4}.fresh{stroke:currentColor;stroke-width:1.5;stroke-dasharray:3 2}.here{stroke:currentColor;stroke-width:6}
.cursor{stroke:currentColor;stroke-opacity:.6}.band{fill:var(--c)}.band.fresh{fill:none}.ring{fill:none;stroke:currentColor;stroke-width:2}.frame{fill:none;stroke:currentColor;stroke-opacity:.4}
.out{grid-template-columns:1fr 1fr 1.3fr 1fr;max-width:560px}.said{min-height:2.8em;margin:0}@media(max-width:500px){.said{min-height:5.6em}.out{grid-template-columns:1fr 1.6fr}}`;

export function render(host, options) {
  const o = { kind: options.kind, buckets: options.buckets, far: options.max_distance, clip: options.clip, length: options.length };
  let { offset } = options;
  const hand = h('input', { type: 'range', min: 1 - TEXT, max: TEXT - 1, 'aria-label': 'offset' });
  const radios = Object.fromEntries(Object.keys(KINDS).map(k => [k, h('input', { type: 'radio', name: 'kind' })]));
  const slider = (label, low, high) => { const input = h('input', { type: 'range', min: low, max: high, 'aria-label': label }), out = h('output'); return { input, out, row: h('label', {}, label, input, out) }; };
  const count = slider('buckets', 0, COUNTS.length - 1), reach = slider('maximum distance', 40, 256), clip = slider('Shaw’s clip', 1, 32), trained = slider('trained on', 8, TEXT);
  const { out, live, tell } = readout('offset', 'looked up at', 'shared by offsets', 'never trained'), words = h('p.said');

  const fixed = s('g'), steps = s('g'), here = s('line.here'), cursor = s('line.cursor');
  const flag = s('g', {}, s('rect.flag', { x: -40, y: 1, width: 80, height: 26, rx: 5 }), text(0, 19));
  const plot = s('svg', { role: 'img', 'aria-label': 'The place in the table over the offset' }, fixed, steps, here, cursor, flag);
  const bands = s('g'), ring = s('path.ring'), line = s('line.cursor'), frame = s('rect.frame'), names = s('g');
  const square = s('svg', { role: 'img', 'aria-label': 'The bias of 128 queries and keys: one band for each place in the table' }, bands, frame, ring, line, names);

  const goal = () => ({ offset }), shown = goal(), ease = easing(shown, goal, paint);
  let w, X, Y, n, HIGH;

  const last = () => o.kind === 'causal' ? 0 : TEXT - 1;
  const path = (a, b) => 'M' + band(a - .5, b + .5, TEXT).map(p => p.map((v, axis) => ((axis ? SKY : LEFT) + v / TEXT * n).toFixed(1))).join('L') + 'Z';
  function layout() {
    HIGH = plot.closest('.wide') ? 340 : 270; w = width(plot); n = min(HIGH - SKY - 2, width(square) - LEFT - 2);
    X = d => 30 + (w - 44) * (d + TEXT - 1) / (last() + TEXT - 1); Y = k => HIGH - FOOT - (HIGH - FOOT - TOP - 6) * k / (size(o) - 1);
    set(plot, { viewBox: `0 0 ${w} ${HIGH}` }); plot.style.height = HIGH + 'px';
    set(square, { viewBox: `0 0 ${width(square)} ${HIGH}` }); square.style.height = HIGH + 'px';
    hand.style.left = X(1 - TEXT) - 22 + 'px'; hand.style.width = X(last()) - X(1 - TEXT) + 44 + 'px';
    const at = o.kind === 'causal' ? [-127, -96, -64, -32, 0] : [-127, -64, 0, 64, 127];
    fixed.replaceChildren(...at.flatMap(d => [rule([X(d), TOP], [X(d), HIGH - FOOT + 4]), text(X(d), HIGH - FOOT + 18, num(d), 'mid.mute')]),
      ...[0, size(o) - 1].map(k => text(22, Y(k) + 4, k, 'end.mute')), text((X(-127) + X(last())) / 2, HIGH - 4, 'offset: key minus query', 'mid.mute'),
      text(X(-127) + 6, o.kind === 'causal' ? HIGH - FOOT - 8 : TOP + 14, o.kind === 'shaw' ? 'row' : 'bucket', 'mute'));
    steps.replaceChildren(...places(o).map(p => seg(s(p.seen ? 'line.seen' : 'line.fresh'), [X(p.first - .5), Y(p.number)], [X(p.last + .5), Y(p.number)])));
    if (o.kind === 'causal' && places(o).some(p => !p.seen)) steps.append(text(X(1 - TEXT) + 4, Y(size(o) - 1) + 28, 'never trained', ''));
    bands.replaceChildren(...places(o).map(p => set(s(p.seen ? 'path.band' : 'path.band.fresh'), { d: path(p.first, p.last), 'fill-opacity': shade(o, p).toFixed(2) })));
    set(frame, { x: LEFT, y: SKY, width: n, height: n });
    names.replaceChildren(text(LEFT + n / 2, 15, 'key', 'mid.mute'), text(LEFT - 6, SKY + n / 2, 'query', 'end.mute'));
    paint();
  }
  function paint() {
    const at = X(shown.offset), p = places(o).find(q => q.number === place(o, offset));
    seg(cursor, [at, 28], [at, HIGH - FOOT]); set(flag, { transform: `translate(${max(42, min(w - 42, at))} 0)` });
    seg(here, [X(p.first - .5), Y(p.number)], [X(p.last + .5), Y(p.number)]); set(ring, { d: path(p.first, p.last) });
    const [a, b] = band(shown.offset, shown.offset, TEXT).map(q => q.map((v, axis) => (axis ? SKY : LEFT) + v / TEXT * n)); seg(line, a, b);
  }
  function update(rebuilt) {
    offset = min(offset, last()); set(hand, { max: last() }); hand.value = offset; hand.setAttribute('aria-valuetext', far(offset));
    for (const k in radios) radios[k].checked = k === o.kind;
    for (const [c, v, t] of [[count, COUNTS.indexOf(o.buckets), o.buckets], [reach, o.far, o.far], [clip, o.clip, o.clip], [trained, o.length, o.length]]) { c.input.value = v; c.out.textContent = t; c.input.setAttribute('aria-valuetext', t); }
    flag.lastChild.textContent = num(offset);
    const p = places(o).find(q => q.number === place(o, offset)), fresh = places(o).filter(q => !q.seen).length;
    words.textContent = explain(o, offset);
    tell([num(offset), p.number, p.first === p.last ? num(p.first) : `${num(p.first)} … ${num(p.last)}`, fresh], words.textContent + ' ');
    if (rebuilt) layout();
    ease();
  }
  hand.oninput = () => { offset = +hand.value; update(); };
  let t5 = o.kind === 'shaw' ? 'causal' : o.kind; // whose slider moves is shown
  count.input.oninput = () => { o.buckets = COUNTS[+count.input.value]; o.kind = t5; update(true); };
  reach.input.oninput = () => { o.far = +reach.input.value; o.kind = t5; update(true); };
  clip.input.oninput = () => { o.clip = +clip.input.value; o.kind = 'shaw'; update(true); };
  trained.input.oninput = () => { o.length = +trained.input.value; update(true); };
  for (const k in radios) radios[k].onchange = () => { o.kind = k; if (k !== 'shaw') t5 = k; update(true); };
  mount(host, 'Offsets and their buckets', LOOK,
    'drag along the offsets: the farther back, the wider the bucket.',
    [h('div.ctl', {}, h('fieldset.ctl', { 'aria-label': 'encoding' }, ...Object.entries(KINDS).map(([k, label]) => h('label', {}, radios[k], label))), trained.row),
      h('div.pair', {}, h('div.over', {}, hand, plot), h('div', {}, square)), h('div.foot', {}, out, words), fold('Other tables', h('div.ctl', {}, ...[count, reach, clip].map(c => c.row))), live], layout,
    { play: options.play, tour: TOUR, show: state => { const moved = o.length !== (o.length = Math.round(state.length)); offset = Math.round(state.offset); update(moved); } });
  layout(); update();
}
