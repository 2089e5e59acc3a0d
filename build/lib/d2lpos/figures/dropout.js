// Where the dropout falls: token + position, and what survives of each.
// Pure math first (tested in node), drawing after.

export const D = 24, P0 = 8, OFFSETS = 32; // units, position of the first token, largest offset

export const PLACES = { none: 'no dropout', sum: 'sum', token: 'token', position: 'position', independent: 'independent', 'whole position': 'whole position' };
/** Multipliers of the token units and of the position units: 0, or 1/(1−r) for a survivor.
 *  `u` holds one uniform number per unit; every placement reads the same coins. Independent masks take
 *  those of the position from `v`. */
export function masks(place, r, u, v) {
  const coin = x => (x < r ? 0 : 1 / (1 - r)), ones = u.map(() => 1), units = u.map(coin), whole = u.map(() => coin(u[0]));
  return { token: ['sum', 'token', 'independent'].includes(place) ? units : ones,
    position: { sum: units, position: units, independent: v.map(coin), 'whole position': whole }[place] ?? ones };
}
/** PE(a)·PE(b) with multipliers on both sides. */
export const kernel = (a, b, ma, mb) => {
  const x = encode(a, D), y = encode(b, D);
  return x.reduce((t, v, j) => t + v * (ma ? ma[j] : 1) * y[j] * (mb ? mb[j] : 1), 0);
};
/** Mean and sd of PE(a)·PE(b) over independent masks (a ≠ b). A unit survives on both sides
 *  with probability (1−r)², so its product has variance (1/(1−r)² − 1)(xy)²; whole vectors share one coin. */
export function stats(place, r, a, b) {
  const x = encode(a, D), y = encode(b, D), mean = kernel(a, b), f = 1 / (1 - r) ** 2 - 1;
  const sd = place === 'whole position' ? abs(mean) * Math.sqrt(f)
    : place === 'none' || place === 'token' ? 0 : Math.sqrt(f * x.reduce((t, v, j) => t + (v * y[j]) ** 2, 0));
  return { mean, sd, snr: sd ? abs(mean) / sd : Infinity };
}

const LOOK = `:host{--c:var(--enc-sinusoidal,#0072b2)}
.ctl input[type=range]{width:150px;margin:0 8px}legend{padding:0 0 2px}.question{margin:4px 0;font-weight:600}
.parts{display:flex;flex-wrap:wrap;gap:4px 28px}.parts>*{flex:1 1 100%;min-width:0}.wide .parts>*{flex:1 1 0}.wide .row{min-height:52px}.wide .row svg{height:38px}
.row{gap:2px 10px}.row div{flex:0 0 200px}.row span{flex:1 1 200px;display:flex;gap:10px;align-items:center;min-width:0}
.row svg{flex:1;min-width:0;height:30px}.row small{flex:0 0 106px;line-height:15px;white-space:pre}
.cell{fill:none;stroke:currentColor;stroke-opacity:.25;vector-effect:non-scaling-stroke}
.token{fill:currentColor;fill-opacity:.5}.position{fill:var(--c)}.dot{fill-opacity:.75}
.over{margin-top:6px}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.knob{fill:currentColor}.grip{fill:none;stroke-width:2}.over input:focus-visible~svg .grip{stroke:currentColor}
.band{fill:var(--c);fill-opacity:.22}.mean{fill:none;stroke:var(--c);stroke-width:2.5}
.out{grid-template-columns:repeat(4,minmax(58px,130px))}
.band,.mean,.dot,rect{transition:.2s}`;

/** The placements one after the other, at one rate. */
export const TOUR = { place: Object.keys(PLACES).map((place, i) => [.16 * i, place]) };

const AIR = 66, MANY = 400; // px right of the hill; draws of the average

export function render(host, options) {
  let { place, rate, offset, seed } = options, many = false, raf = 0;
  let rnd = random(seed), N = 0, alive, sum;
  const draw1 = () => Array.from({ length: D }, rnd);

  const slide = h('input', { type: 'range', min: 0, max: .5, step: .05, value: rate, 'aria-label': 'dropout rate r' }), rateOut = h('output');
  const again = h('button', { type: 'button' }, 'Resample'), avg = h('input', { type: 'checkbox' }), legend = h('legend');
  const rows = Object.entries(PLACES).map(([id, name]) => {
    const svg = s('svg', { 'aria-hidden': true, viewBox: `0 0 ${D * 12} 30`, preserveAspectRatio: 'none' }), cells = [];
    for (let j = 0; j < D; j++) for (const [y, c] of [[.5, 'token'], [15.5, 'position']]) {
      const x = j * 12 + 1, full = s('rect.' + c, { x, width: 10 });
      svg.append(s('rect.cell', { x, y, width: 10, height: 13.5 }), full); cells.push({ full, y, j, c });
    }
    const radio = h('input', { type: 'radio', name: 'place', value: id }), note = h('small');
    return { id, cells, radio, note, row: h('label.row', {}, h('div', {}, radio, name), h('span', {}, svg, note)) };
  });
  const cursor = h('input', { type: 'range', min: 1, max: OFFSETS, value: offset, 'aria-label': 'offset between the two positions' });
  const K = { grid: s('g'), band: s('path.band'), mean: s('path.mean'), dots: s('g'), at: s('line.thin'),
    grip: s('rect.grip', { y: 22, width: 18, rx: 4 }), knob: s('circle.knob', { r: 7 }), err: s('line.mean'),
    mid: text(0, 0, 'mean', ''), lo: text(0, 0, '± 1 sd', ''), key: text(0, 14, '', 'end') };
  const svg = s('svg', { role: 'img', 'aria-label': 'Similarity against offset: mean and one-sd band' }, ...Object.values(K));
  for (let d = 1; d <= OFFSETS; d++) K.dots.append(s('circle.dot', { r: 2.5 }));
  const { out, live, tell } = readout('offset Δ', 'signal (mean)', 'noise (1 sd)', 'SNR (ratio)');

  let w = 330, foot = 206, X = () => 0; const Y = v => foot - (v + 10) / 42 * (foot - 22); // kernel value −10..32
  function layout() {
    w = width(svg); foot = svg.closest('.wide') ? 316 : 206; X = d => 38 + (d - 1) / (OFFSETS - 1) * (w - 38 - AIR);
    set(svg, { viewBox: `0 0 ${w} ${foot + 30}` }).style.height = foot + 30 + 'px'; set(K.grip, { height: foot - 22 }); set(K.knob, { cy: foot });
    cursor.style.left = X(1) - 22 + 'px'; cursor.style.width = X(OFFSETS) - X(1) + 44 + 'px';
    K.grid.replaceChildren(...[-10, 0, 10, 20, 30].flatMap(v => [rule([X(1), Y(v)], [X(OFFSETS), Y(v)]), text(32, Y(v) + 4, num(v), 'end.mute')]),
      ...[1, 8, 16, 24, 32].map(d => text(X(d), foot + 16, d, 'mid.mute')), text((X(8) + X(16)) / 2, foot + 28, 'offset Δ', 'mid.mute'), text(X(1), 14, `similarity PE(${P0})·PE(${P0}+Δ)`, 'mute'));
    show();
  }
  function sample() { // position 8 has the mask of the grid, each partner its own
    const coins = draw1(), others = draw1(), first = {}; N++;
    for (const r of rows) { const m = first[r.id] = masks(r.id, rate, coins, others);
      for (const k in m) m[k].forEach((v, j) => { alive[r.id][k][j] += v > 0; }); }
    for (let d = 1; d <= OFFSETS; d++) { const v = draw1();
      for (const { id } of rows) sum[id][d] += kernel(P0, P0 + d, first[id].position, masks(id, rate, v, v).position); }
  }
  function reset() {
    N = 0; alive = {}; sum = {};
    for (const { id } of rows) { alive[id] = { token: Array(D).fill(0), position: Array(D).fill(0) }; sum[id] = Array(OFFSETS + 1).fill(0); }
    sample(); if (many && !raf) raf = requestAnimationFrame(grow);
    show();
  }
  function grow() { // averaging is seen to happen, slowly at first
    raf = 0; if (!many) return;
    const k = still() ? MANY : max(1, N >> 4);
    for (let i = 0; i < k && N < MANY; i++) sample();
    show(); if (N < MANY) raf = requestAnimationFrame(grow);
  }
  function show() {
    rateOut.textContent = (+rate).toFixed(2); slide.value = rate; cursor.value = offset;
    for (const r of rows) {
      const a = alive[r.id]; r.radio.checked = r.id === place;
      for (const c of r.cells) { const f = a[c.c][c.j] / N; set(c.full, { height: 13.5 * f, y: c.y + 13.5 * (1 - f) }); }
      const total = k => a[k].reduce((x, y) => x + y) / N, fmt = k => many ? num(100 * total(k) / D) + ' %' : `${total(k)} of ${D}`;
      r.note.textContent = `token ${fmt('token')}\nposition ${fmt('position')}`;
    }
    const up = [], down = [], mid = [];
    for (let d = 1; d <= OFFSETS; d++) {
      const q = stats(place, rate, P0, P0 + d), x = X(d).toFixed(1);
      up.push(x + ' ' + Y(q.mean + q.sd)); down.unshift(x + ' ' + Y(q.mean - q.sd)); mid.push(x + ' ' + Y(q.mean));
      set(K.dots.children[d - 1], { cx: x, cy: Y(sum[place][d] / N) });
    }
    set(K.band, { d: 'M' + [...up, ...down].join('L') }); set(K.mean, { d: 'M' + mid.join('L') });
    const q = stats(place, rate, P0, P0 + offset), x = X(offset);
    seg(K.at, [x, 22], [x, foot]); set(K.grip, { x: x - 9 }); seg(K.err, [x, Y(q.mean - q.sd)], [x, Y(q.mean + q.sd)]); set(K.knob, { cx: x });
    const e = stats(place, rate, P0, P0 + OFFSETS), y = Y(e.mean) + 4;
    set(K.mid, { x: w - AIR + 8, y }); set(K.lo, { x: w - AIR + 8, y: max(y + 15, Y(e.mean - e.sd) + 4), opacity: e.sd ? 1 : 0 });
    set(K.key, { x: w - 2 }).textContent = many ? `• average of ${N} draws` : '• this draw';
    legend.textContent = many ? `${D} units: filled height is the share of ${N} draws survived` : `${D} units: hollow = 0, the rest of that row × ${num(1 / (1 - rate), 2)}`;
    tell([offset, num(q.mean, 1), num(q.sd, 1), q.sd ? num(q.snr, 1) : 'no noise'], `${PLACES[place]}, rate ${rate}: `);
  }
  slide.oninput = () => { rate = +slide.value; rnd = random(seed); reset(); }; // same coins
  again.onclick = () => { seed++; rnd = random(seed); reset(); };
  avg.onchange = () => { many = avg.checked; reset(); };
  cursor.oninput = () => { offset = +cursor.value; show(); };
  for (const r of rows) r.radio.onchange = () => { place = r.id; show(); };
  reset();
  mount(host, 'Dropout placement', LOOK,
    'pick “position”, then “whole position”: the line stays, and the noise nearly triples.',
    [h('p.question', {}, 'One rate, five places for dropout: which blurs most where a word stands?'), h('div.parts', {}, h('fieldset', {}, legend, ...rows.map(r => r.row)), h('div.over', {}, cursor, svg)), out,
      fold('Other coins', h('div.ctl', {}, h('label', {}, 'rate r', slide, rateOut), again, h('label', {}, avg, 'average of many'))), live], layout,
    { play: options.play, tour: TOUR, show: state => { ({ place } = state); show(); } });
  layout();
}
