// The dial: RoPE turns a query hand and a key hand, and their score sees only n − m.
// Pure math first (tested in node), drawing after.

const TAU = 2 * Math.PI;
export const MAX = 32; // last position

/** Radians per token of 2-D pair i in a head of d units. */
export const theta = (i, d = 64, base = 10000) => base ** (-2 * i / d);
export const rotate = ([x, y], a) => [x * cos(a) - y * sin(a), x * sin(a) + y * cos(a)];
/** Rotate q by mθ and k by nθ, then take the dot product. */
export const score = (m, n, th, q = [1, 0], k = [1, 0]) => {
  const [a, b] = rotate(q, m * th), [c, d] = rotate(k, n * th);
  return a * c + b * d;
};
/** The same angle in (−π, π]: as seen on the dial. */
export const wrap = a => a - TAU * Math.ceil((a - TAU / 2) / TAU);
/** Move one token; when locked the other follows and both stop at the wall. */
export function move(s, who, to, locked, top = MAX) {
  if (!locked) return { ...s, [who]: max(0, min(top, to)) };
  const by = max(-min(s.m, s.n), min(top - max(s.m, s.n), to - s[who]));
  return { m: s.m + by, n: s.n + by };
}

/** Both tokens move together, and the score stays; then the query moves alone. */
export const TOUR = { m: [[0, 14], [.06, 14], [.34, 32], [.6, 8], [.7, 8], [1, 18]], n: [[0, 6], [.06, 6], [.34, 24], [.6, 0]], lock: [[0, true], [.65, false]] };

const PAIRS = [[0, 'fast'], [8, 'middle'], [16, 'slow']];
const R = 100, CY = 130; // R px = score 1, on the dial AND in the strip: equal bars
const deg = a => a * 360 / TAU;

const LOOK = `:host{--c:var(--enc-rope,#d55e00)}svg{stroke-width:2}text{text-anchor:middle}.row text{text-anchor:end}
.dash{stroke:currentColor;stroke-width:1;stroke-dasharray:3 4}
.hand,.bar,.curve,.disc{stroke:var(--c);fill:none}.curve{stroke-width:1.5}.hand{stroke-width:3;stroke-linecap:round}
.bar{stroke-opacity:.4;stroke-width:11}.row .bar{stroke-width:7}.wedge{fill:var(--c);opacity:.18}
.dot,.q .disc{fill:var(--c)}.q text{fill:#000}.q,.k{font-weight:600}.ring{fill:none}#m:focus-visible~svg .q .ring,#n:focus-visible~svg .k .ring{stroke:currentColor}
.over svg{height:106px}.over input{left:-2px;width:calc(100% + 4px);height:44px;cursor:grab;touch-action:pan-y}#n{top:63px}
.over ::-webkit-slider-thumb{width:44px;height:44px}.over ::-moz-range-thumb{width:44px;height:44px;border:0}
.parts{display:flex;flex-wrap:wrap;gap:4px 24px}.parts>svg{flex:1 1 264px;min-width:0;height:280px}.parts>:is(.out,fieldset){flex:1 1 100%;min-width:0}
.wide .parts{display:grid;grid-template-columns:1.15fr 1.15fr 1fr}.wide fieldset{grid-area:1/3/3}.wide .out{grid-column:1/3}
.out{grid-template-columns:1fr 1fr 1fr 2fr 1.4fr;gap:8px;max-width:560px}legend{padding:0 0 4px}
.row{gap:0 12px}.row div{flex:0 0 170px}.row svg{flex:1 1 280px;min-width:0;height:52px}`;

const polar = (cx, cy, r, a) => [cx + r * cos(a), cy - r * sin(a)]; // anticlockwise
// Shape, not hue, tells the tokens apart: q is a disc, k a ring, everywhere.
const token = c => s('g.' + c, {}, s('circle.disc', { r: 12 }), s('circle.ring', { r: 17 }), s('text', { y: 4.5 }, c));
function scene(spec, label) { // 'name:tag.class …' in painting order
  const p = {};
  for (const w of spec.split(' ')) { const [name, tag] = w.split(':'); p[name] = tag[1] || tag === 'g' ? s(tag) : token(tag); }
  p.svg = s('svg', label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true }, ...Object.values(p));
  return p;
}
const STRIP = 'axis:g curve:polyline.curve bar:line.bar dot:circle.dot t:text';
function hands(p, o, r, a, b) { seg(p.q, o, polar(...o, r, a)); seg(p.k, o, polar(...o, r, b)); }

export function render(host, options) {
  let { m, n, pair, lock } = options, st = { m, n };
  const shown = { m, n }, ease = easing(shown, () => st, draw);
  // Number line: transparent native sliders over drawn tokens.
  const input = (id, name) => h('input', { type: 'range', id, max: MAX, 'aria-label': `position ${id} of the ${name}` });
  const inputs = { m: input('m', 'query'), n: input('n', 'key') };
  const L = scene('ticks:g gap:line.hand qs:line.hand ks:line.hand q:q k:k mt:text nt:text dt:text');
  const D = scene('stops:g wedge:path.wedge back:line.thin bar:line.bar drop:line.dash k:line.hand q:line.hand kd:k qd:q at:text bt:text sum:text',
    'Query and key hands');
  const S = Object.assign(scene(STRIP, 'Score against n minus m'), { cy: CY, u: R, r: 6 });
  const rows = PAIRS.map(([i, name]) => {
    const r = scene('face:circle.thin k:line.dash q:line.hand ' + STRIP); set(r.face, { r: 21, cx: 26, cy: 26 });
    Object.assign(r, { th: theta(i), cy: 26, u: 18, r: 4, note: h('small'), radio: h('input', { type: 'radio', name: 'pair' }) });
    r.row = h('label.row', {}, h('div', {}, r.radio, `${name}: ω = ${r.th.toFixed(2)}`, r.note), r.svg);
    return r;
  });
  const box = h('input', { type: 'checkbox' }); box.checked = lock;
  const { out, live, tell } = readout('query m', 'key n', 'n − m', '(n − m)ω', 'score (bar)');

  function plot(p, l, r, ...ys) { // the still part of a strip
    const w = width(p.svg); p.x = d => l + (d + MAX) / 2 / MAX * (w - l - r);
    const ds = Array.from({ length: 513 }, (_, j) => j / 8 - MAX);
    p.axis.replaceChildren(...ys.map(v => rule([p.x(-MAX), p.cy - p.u * v], [p.x(MAX), p.cy - p.u * v])));
    set(p.curve, { points: ds.map(d => [p.x(d), p.cy - p.u * cos(d * p.th)]) });
  }
  function layout() { // what depends on width or pair; text stays 13 px
    for (const { svg } of [L, D, S, ...rows]) set(svg, { viewBox: `0 0 ${width(svg)} ${svg.clientHeight || 280}` });
    const all = [...Array(MAX + 1).keys()], w = width(L.svg), { th } = rows[pair], cx = D.cx = width(D.svg) / 2;
    L.x = p => 20 + p / MAX * (w - 40);
    L.ticks.replaceChildren(rule([20, 52], [w - 20, 52]), text(7, 57, 0, 'mute'), text(w - 10, 57, MAX, 'mute'), ...all.map(p => rule([L.x(p), 47], [L.x(p), p % 8 ? 52 : 57])));
    D.stops.replaceChildren(s('circle.thin', { cx, cy: CY, r: R }), // token p's hand points at tick p
      ...all.map(p => rule(polar(cx, CY, R, p * th), polar(cx, CY, R - 7, p * th))));
    set(D.sum, { x: cx, y: 277 }); S.th = th; plot(S, 36, 12, 1, 0, -1);
    S.axis.append(...[1, 0, -1].map(v => text(14, CY - R * v + 4, num(v), 'mute')), ...[-32, -16, 0, 16, 32].map(v => text(S.x(v), 249, num(v), 'mute')), text(S.x(0), 277, 'n − m, in tokens', 'mute'));
    for (const r of rows) plot(r, 62, 52, 0);
    draw();
  }
  function draw() {
    const { m, n } = shown, { th } = S, { cx } = D, w = width(L.svg), gap = `n − m = ${num(st.n - st.m)}`;
    const x = { m: L.x(m), n: L.x(n) }, P = (r, a) => polar(cx, CY, r, a), at = (e, [x, y]) => set(e, { transform: `translate(${x} ${y})` });
    at(L.q, [x.m, 19]); at(L.k, [x.n, 85]); seg(L.qs, [x.m, 31], [x.m, 52]); seg(L.ks, [x.n, 73], [x.n, 52]); seg(L.gap, [x.m, 52], [x.n, 52]);
    L.gap.style.strokeWidth = box.checked ? 9 : 5;
    for (const [t, c, y] of [[L.mt, 'm', 24], [L.nt, 'n', 90]]) say(t, x[c] + (x[c] > w - 75 ? -44 : 44), y, `${c} = ${st[c]}`);
    say(L.dt, (x.m + x.n) / 2, 44, abs(x.m - x.n) > 100 ? gap : '');
    // Dial: g is the angle from k to q; the score is q's shadow on k's line.
    const a = m * th, b = n * th, g = wrap(a - b), c = cos(g), sg = g < 0 ? -1 : 1, foot = P(R * c, b), o = [cx, CY];
    hands(D, o, R, a, b); seg(D.back, o, P(-R, b)); seg(D.drop, P(R, a), foot); seg(D.bar, o, foot);
    set(D.wedge, { d: `M${o}L${P(34, b)}A34 34 0 0 ${sg > 0 ? 0 : 1} ${P(34, a)}Z` });
    const push = sg * max(0, .27 - abs(g)) / 2; // discs never overlap
    at(D.qd, P(R + 16, a + push)); at(D.kd, P(R + 16, b - push));
    const wide = abs(g) > .6, x0 = R * c / cos(g / 2); // x0: where the drop line would strike the label
    const [ax, ay] = P(!wide ? 30 : abs(x0 - 50) < 17 ? x0 + 20 : 53, b + g / 2 + (wide ? 0 : 3.7));
    say(D.at, ax, ay + 4, num(deg(abs(wrap((st.n - st.m) * th)))) + '°'); // numbers do not ease
    const away = b - sg * TAU / 4, [bx, by] = P(R * c / 2, b), off = 36 * abs(cos(away)) + 8 * abs(sin(away)) + 10;
    say(D.bt, bx + off * cos(away), by - off * sin(away) + 4, 'score ' + num(cos((st.n - st.m) * th), 2));
    for (const p of [S, ...rows]) {
      const v = cos((n - m) * p.th), now = num(cos((st.n - st.m) * p.th), 2), x = p.x(n - m), y = p.cy - p.u * v, w = width(p.svg);
      seg(p.bar, [x, p.cy], [x, y]); set(p.dot, { cx: x, cy: y, r: p.r });
      if (p === S) say(p.t, max(114, min(x, w - 90)), 14, `score ${now} at ${gap}`);
      else { say(p.t, w - 2, 30, now); hands(p, [26, 26], 21, m * p.th, n * p.th); }
    }
  }
  function update() {
    const { th } = S, d = st.n - st.m, full = deg(d * th), seen = deg(wrap(d * th)), t = Math.round((full - seen) / 360);
    tell([st.m, st.n, num(d), num(full, 1) + '°', num(score(st.m, st.n, th), 2)]);
    D.sum.textContent = `${num(d)} × ${th.toFixed(2)} rad = ${t ? num(t) + ' × 360° + ' : ''}${num(seen, 1)}°`;
    for (const k in inputs) inputs[k].value = st[k];
    rows.forEach((r, i) => { r.radio.checked = i === pair; r.note.textContent = `q has turned ${num(st.m * r.th / TAU, 2)} times`; });
    ease();
  }
  for (const k in inputs) inputs[k].oninput = () => { st = move(st, k, +inputs[k].value, box.checked); update(); };
  box.onchange = update;
  rows.forEach((r, i) => { r.radio.onchange = () => { pair = i; layout(); update(); }; });
  mount(host, 'RoPE dial', LOOK,
    'drag q, and the point slides along the curve. Then check “move both together” and drag again: both hands turn, and the score stays.',
    [h('div.over', {}, inputs.m, inputs.n, L.svg), h('div.ctl', {}, h('label', {}, box, 'move both together')),
      h('div.parts', {}, D.svg, S.svg, out,
        h('fieldset', {}, h('legend', {}, 'The same tokens in three pairs (ω in rad per token); pick one'), ...rows.map(r => r.row))), live], layout,
    { play: options.play, tour: TOUR, show: state => { st = { m: Math.round(state.m), n: Math.round(state.n) }; box.checked = state.lock; update(); } });
  layout(); update();
}
