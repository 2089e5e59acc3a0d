// The odometer that becomes clocks: digits jump where hands glide, and hands see of two positions only how far they are apart.
// Pure math first (tested in node), drawing after.

export const COUNT = 6, END = 2 ** COUNT; // digits, and clocks; the odometer is back at 0 after END − 1
export const BASES = [8, 64, 1000, 10000, 100000]; // 64 makes each clock half as fast as the one before, as the digits are

/** Digits of a whole position, the fastest first. */
export const digits = p => Array.from({ length: COUNT }, (_, i) => p >> i & 1);
/** How many digits flip from p to p + 1. */
export const flips = p => digits(p ^ p + 1).reduce((n, v) => n + v);
/** Radians per position of clock i: sinusoidal positions with two units a clock. */
export const speed = (i, base) => base ** (-i / COUNT);
/** The code of x, two numbers from −1 to 1 a row: digit (both alike) where `mix` of the row is 0, shadows of its hand (sin, cos) where it is 1. */
export const code = (x, written, mix, base) => encode(x, 2 * COUNT, base).map((v, j) => {
  const m = mix[j >> 1];
  return m * v + (1 - m) * (2 * written[j >> 1] - 1);
});
/** Similarity of the code of p to that of q, from −1 to 1. A digit counts 1 where it agrees and −1 where it differs, a hand the cosine of the angle between the two. */
export const similar = (p, q, written, other, mix, base) => mix.reduce((t, m, i) =>
  t + m * cos((q - p) * speed(i, base)) + (1 - m) * (1 - 2 * abs(written[i] - other[i])), 0) / COUNT;
/** The same for whole codes, as the reader reads it. */
export const likeness = (clocks, p, q, base) => similar(p, q, digits(p), digits(q), Array(COUNT).fill(+clocks), base);

/** Degrees by which each hand turns from one position to the next, to two digits. */
export const turns = base => Array.from({ length: COUNT }, (_, i) => Number((speed(i, base) * 180 / Math.PI).toPrecision(2)));
const HOW_MANY = ['one digit flips.', ...['two digits', 'three digits', 'four digits', 'five digits', 'all six digits'].map(n => n + ' flip at once')];
/** What one step changes, in words. */
export function verdict(clocks, p, base) {
  if (clocks) return `One step turns the hands by ${new Intl.ListFormat('en').format(turns(base).map(a => a + '°'))}, wherever p is. So the hill moves along with p and keeps its shape.`;
  const n = flips(p), then = n < 2 ? '' : n < COUNT ? '.' : p === END - 1 ? ': the odometer is back at 0.' : ': no code is less like that of 31 than its neighbor’s.';
  return `From ${p} to ${p + 1} ${HOW_MANY[n - 1]}${then}`;
}

/** The hill goes along with p, there and back, and keeps its shape. */
export const TOUR = { p: [[0, 6], [.06, 6], [.56, 54], [.62, 54], [1, 24]] };

const ROW = 38, HEAD = 42, LANES = 132, HILL = 346, UNIT = 48, FOOT = 416; // px: height of a row, top and left end of the waves, zero and one of the similarity, end
const LOOK = `:host{--c:var(--enc-sinusoidal,#0072b2)}.over:not(.on){--c:var(--enc-none,#6f7378)}
.ctl input[type=range]{width:84px;margin:0 8px}.off{opacity:.4;cursor:default}
.over{overflow:clip;--high:${FOOT}px}.over svg{height:var(--high)}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:var(--high)}.over ::-moz-range-thumb{width:44px;height:var(--high);border:0}
.pill{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .pill{stroke:currentColor;stroke-width:2}
.grip,.at{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}.at{stroke-width:1}
.face,.cell{fill:none;stroke:currentColor;stroke-opacity:.45}.cell{stroke-opacity:.3}.full,.dot,.area{fill:var(--c)}.digit{font-weight:600}
.wave,.hand,.hill,.shadow{fill:none;stroke:var(--c);stroke-width:1.75}.sine{stroke-dasharray:4 3}
.hand{stroke-width:3;stroke-linecap:round}.shadow{stroke-width:3}.hill{stroke-width:2.5}.area{fill-opacity:.14}
.out{grid-template-columns:2fr 4fr 4fr;max-width:460px}.verdict{min-height:2.8em;margin:0}@media(max-width:500px){.verdict{min-height:4.2em}}
.over *{transition:fill .3s,stroke .3s}.near{fill:currentColor}.far{fill:none;stroke:currentColor;stroke-width:2}`;
/** What a hand holds: the pill at the end of the line through p. */
const handle = wide => s('g', {}, s('rect.pill', { x: -wide / 2, y: 1, width: wide, height: 29, rx: 5 }), text(0, 18), seg(s('line.grip'), [-7, 25], [7, 25]));

export function render(host, options) {
  if (options.plain) return renderRow(host, options); // which is sent with it
  let { p, base } = options, clocks = options.mode === 'clocks';
  const rows = [...Array(COUNT).keys()], radio = () => h('input', { type: 'radio', name: 'mode' });
  const modes = { digits: radio(), clocks: radio() }, hand = h('input', { type: 'range', max: END - 1, 'aria-label': 'position p' });
  const bases = h('input', { type: 'range', max: BASES.length - 1, 'aria-label': 'base' }), baseOut = h('output');
  const baseRow = h('label', {}, 'base', bases, baseOut);
  const { out, live, tell } = readout('position p', 'similarity to p + 1 (dot)', 'similarity to p + 8 (ring)'), words = h('p.verdict');

  const G = { grid: s('g'), period: text(0, 16, '', ''), name: text(105.5, 16), key: s('g', {}, s('path.wave.sine', { d: 'M88 23h15' }), s('path.wave', { d: 'M107 23h15' })), at: s('line.at') };
  const wheels = rows.map(() => ({ period: text(0, 0, '', 'end'), face: s('rect.face', { x: 51, width: 28, height: 28 }),
    zero: text(65, 0, 0, 'mid.digit'), one: text(65, 0, 1, 'mid.digit'), walls: s('path.thin'), hand: s('line.hand'), across: s('line.shadow'), up: s('line.shadow'),
    sin: s('rect.full'), sinCell: s('rect.cell'), cos: s('rect.full'), cosCell: s('rect.cell'),
    sine: s('path.wave.sine'), cosine: s('path.wave'), sineDot: s('circle.dot', { r: 3.5 }), cosineDot: s('circle.dot', { r: 3.5 }) }));
  const H = { area: s('path.area'), hill: s('path.hill'), far: s('circle.far', { r: 5 }), near: s('circle.near', { r: 5 }),
    flag: handle(68) };
  const svg = s('svg', { role: 'img', 'aria-label': 'The code of p on six wheels, and its similarity to the other codes' },
    ...[G, ...wheels, H].flatMap(Object.values));
  const over = h('div.over', {}, hand, svg);

  const goal = () => ({ p, base: Math.log(base), ...digits(Math.round(p)), // and one wheel after the other becomes a clock
    ...Object.fromEntries(rows.map(i => ['mix' + i, i && !still() && abs(shown['mix' + (i - 1)] - clocks) > .15 ? shown['mix' + i] : +clocks])) });
  const shown = {};
  for (const i of rows) shown['mix' + i] = +clocks;
  Object.assign(shown, goal());
  const ease = easing(shown, goal, paint);

  const period = i => { const t = 2 * Math.PI / speed(i, base); return t > 9999 ? num(t / 1000) + 'k' : t.toLocaleString('en', { maximumFractionDigits: +(t < 20) }); };
  const Y = i => HEAD + (i + .5) * ROW, S = v => HILL - UNIT * v;
  // The code of a position stands in the middle of its digits; where they flip, both are drawn.
  const samples = Array.from({ length: 9 * (END + 1) }, (_, j) => { const q = Math.floor(j / 9); return [q - .5 + j % 9 / 8, digits(q)]; });
  let w, X, drawn;
  const path = ys => 'M' + ys.map((y, j) => `${X(samples[j][0]).toFixed(1)} ${y.toFixed(1)}`).join('L');
  function layout() { // what depends on width
    w = width(svg); X = x => LANES + (x + .5) / (END + 1) * (w - LANES - 8);
    set(svg, { viewBox: `0 0 ${w} ${FOOT}` });
    hand.style.left = X(0) - 22 + 'px'; hand.style.width = X(END - 1) - X(0) + 44 + 'px';
    const right = X(END + .5), level = (y, v) => [rule([LANES, y], [right, y]), text(LANES - 8, y + 4, v, 'end.mute')];
    G.grid.replaceChildren(...rows.map(i => rule([LANES, Y(i)], [right, Y(i)])), ...[1, 0, -1].flatMap(v => level(S(v), num(v))),
      ...[0, 16, 32, 48, 64].map(v => text(X(v), FOOT - 4, v, 'mid.mute')), text(LANES - 8, FOOT - 4, 'position', 'end.mute'),
      ...['similarity of', 'each code to', 'that of p'].map((t, i) => text(0, HILL - 12 + 16 * i, t, '')));
    drawn = 0; paint();
  }
  function paint() {
    const { p } = shown, shownBase = Math.exp(shown.base), written = rows.map(i => shown[i]), mix = rows.map(i => shown['mix' + i]);
    if (drawn !== (drawn = [shownBase, ...mix].join())) { // while p moves, the waves stand still
      const codes = samples.map(([x, d]) => code(x, d, mix, shownBase));
      wheels.forEach((o, i) => [o.sine, o.cosine].forEach((e, k) => set(e, { d: path(codes.map(c => Y(i) - 14 * c[2 * i + k])) })));
    }
    const now = code(p, written, mix, shownBase), at = X(p);
    wheels.forEach((o, i) => {
      const y = Y(i), m = mix[i], v = written[i], [sine, cosine] = now.slice(2 * i), a = p * speed(i, shownBase), x1 = 65 + 14 * sin(a), y1 = y - 14 * cos(a);
      say(o.period, 45, y + 4.5, m < .5 ? 2 ** i : period(i)); set(o.face, { y: y - 14, rx: 5 + 9 * m });
      set(o.zero, { y: y + 4.5 - 12 * v }).style.opacity = (1 - v) * (1 - m); set(o.one, { y: y + 16.5 - 12 * v }).style.opacity = v * (1 - m);
      seg(o.hand, [65, y], [x1, y1]); seg(o.across, [65, y + 18], [x1, y + 18]); seg(o.up, [83, y], [83, y1]); // its shadows on floor and wall
      set(o.walls, { d: `M51 ${y + 18}h28M83 ${y - 14}v28` });
      for (const e of [o.walls, o.hand, o.across, o.up, o.cosCell, o.sine, o.sineDot]) e.style.opacity = m;
      for (const e of [o.sin, o.sinCell]) set(e, { x: 88, y: y - 9, width: 35 - 18 * m, height: 18 }); // one cell becomes two
      for (const e of [o.cos, o.cosCell]) set(e, { x: 106, y: y - 9, width: 17, height: 18 });
      o.sin.style.opacity = (1 + sine) / 2; o.cos.style.opacity = m * (1 + cosine) / 2;
      set(o.sineDot, { cx: at, cy: y - 14 * sine }); set(o.cosineDot, { cx: at, cy: y - 14 * cosine });
    });
    const like = (q, d) => S(similar(p, q, written, d, mix, shownBase)), hill = path(samples.map(([x, d]) => like(x, d)));
    set(H.hill, { d: hill }); set(H.area, { d: `${hill}V${S(0)}H${LANES}Z` }); seg(G.at, [at, 30], [at, S(-1)]);
    for (const [e, by] of [[H.near, 1], [H.far, 8]])
      set(e, { cx: X(p + by), cy: like(p + by, digits(Math.round(p) + by)) }).style.opacity = +(p + by <= END);
    G.key.style.opacity = mix[0];
    set(H.flag, { transform: `translate(${max(LANES + 34, min(w - 35, at))} 0)` });
  }
  function update() {
    if (!clocks) p = Math.round(p);
    for (const k in modes) modes[k].checked = clocks === (k === 'clocks');
    over.classList.toggle('on', clocks); baseRow.classList.toggle('off', !clocks);
    hand.step = clocks ? .25 : 1; hand.value = p;
    bases.disabled = !clocks; bases.value = BASES.indexOf(base);
    baseOut.textContent = base.toLocaleString('en'); bases.setAttribute('aria-valuetext', base);
    G.period.textContent = clocks ? 'one turn' : 'flips every'; G.name.textContent = clocks ? 'sin cos' : 'code';
    H.flag.children[1].textContent = `p = ${p}`;
    words.textContent = verdict(clocks, p, base);
    tell([p, ...[1, 8].map(by => num(likeness(clocks, p, p + by, base), 2))], `${words.textContent} `);
    ease();
  }
  hand.oninput = () => { p = +hand.value; update(); };
  bases.oninput = () => { base = BASES[bases.value]; update(); };
  for (const k in modes) modes[k].onchange = () => { clocks = k === 'clocks'; update(); };
  mount(host, 'The odometer that becomes clocks', LOOK,
    'drag p, and the hill comes along and keeps its shape.',
    [h('div.ctl', {}, h('fieldset.ctl', { 'aria-label': 'p is written in' }, ...Object.keys(modes).map(k => h('label', {}, modes[k], k))), baseRow), over, h('div.foot', {}, out, words), live], layout,
    { play: options.play, tour: TOUR, show: state => { p = Math.round(4 * state.p) / 4; clocks = true; update(); } });
  layout(); update();
}
