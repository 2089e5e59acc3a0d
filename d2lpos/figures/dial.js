// The dial: RoPE turns a query hand and a key hand, and their score sees only n − m.
// Pure math first (tested in node), drawing after.

const TAU = 2 * Math.PI, PAIR = 8; // of a head of 64 units: 0.1 radians a position
export const MAX = 31; // last position: no angle between the hands reaches half a turn

/** Radians per token of 2-D pair i in a head of d units. */
export const theta = (i, d = 64, base = 10000) => base ** (-2 * i / d);
export const rotate = ([x, y], a) => [x * cos(a) - y * sin(a), x * sin(a) + y * cos(a)];
/** Rotate q by mθ and k by nθ, then take the dot product. */
export const score = (m, n, th, q = [1, 0], k = [1, 0]) => {
  const [a, b] = rotate(q, m * th), [c, d] = rotate(k, n * th);
  return a * c + b * d;
};
/** The query takes the key along, and both stop at the wall; the key moves alone. */
export function move({ m, n }, who, to, top = MAX) {
  if (who === 'n') return { m, n: max(0, min(top, to)) };
  const by = max(-min(m, n), min(top - max(m, n), to - m));
  return { m: m + by, n: n + by };
}

/** Both tokens move together, and back. */
export const TOUR = { m: [[0, 14], [.1, 14], [.5, 24], [.6, 24], [1, 14]], n: [[0, 6], [.1, 6], [.5, 16], [.6, 16], [1, 6]] };

const OMEGA = theta(PAIR), LINE = 46; // px from above
const degrees = a => `${num(a * 360 / TAU)}°`;

const LOOK = `:host{--c:var(--enc-rope,#d55e00)}svg{stroke-width:2}.over input{left:-6px;top:24px;width:calc(100% + 12px);height:44px;pointer-events:none}
.over ::-webkit-slider-thumb{width:44px;height:44px;pointer-events:auto;cursor:grab}.over ::-moz-range-thumb{width:44px;height:44px;border:0;pointer-events:auto;cursor:grab}
.hand,.disc,.arc{stroke:var(--c);fill:none;stroke-width:2.5}.q .disc,.tip{fill:var(--c)}.k .disc{fill:var(--paper,#fffefb)}.q text{fill:#000}.q,.k{font-weight:600}
.gap{stroke-width:6}.query{stroke-width:4}.bar{stroke:var(--c);stroke-opacity:.4;stroke-width:12}.wedge{fill:var(--c);opacity:.18}.drop{stroke:currentColor;stroke-width:1;stroke-dasharray:3 4}
#m:focus-visible~svg .line .q .disc,#n:focus-visible~svg .line .k .disc{stroke:currentColor;stroke-width:4}`;

// Shape, not hue, tells the tokens apart: q is a disc, k a ring, everywhere.
const token = name => s('g.' + name, {}, s('circle.disc', { r: 15 }), text(0, 5, name));

export function render(host, options) {
  let at = { m: options.m, n: options.n }, polar;
  const shown = { ...at }, ease = easing(shown, () => at, draw);
  const input = (id, label) => h('input', { type: 'range', id, max: MAX, 'aria-label': label });
  const inputs = { m: input('m', 'position m of the query, which takes the key along'), n: input('n', 'position n of the key') };
  const part = { axis: s('g'), gap: s('line.hand.gap'), away: text(0, 20, '', 'mid.b'), line: s('g.line', {}, token('q'), token('k')), face: s('g'), wedge: s('path.wedge'), arc: s('path.arc'), tip: s('path.tip'),
    key: s('line.hand'), query: s('line.hand.query'), bar: s('line.bar'), drop: s('line.drop'), q: token('q'), k: token('k'), angle: text(0, 0, '', 'mid.b'), score: text(0, 0, '', 'mid.b') };
  const svg = s('svg', { role: 'img', 'aria-label': 'Query and key on a line, and their hands on a dial' }, ...Object.values(part)), { says, live, tell } = sentence();
  const place = (e, [x, y]) => set(e, { transform: `translate(${x} ${y})` });
  let X, w, R;

  function layout() {
    w = width(svg); R = w < 600 ? 92 : 104;
    const cx = w / 2, cy = 124 + R;
    X = p => 16 + p / MAX * (w - 32); polar = (r, a) => [cx + r * cos(a), cy - r * sin(a)]; // anticlockwise
    set(svg, { viewBox: `0 0 ${w} ${cy + R + 40}` }).style.height = cy + R + 40 + 'px';
    part.axis.replaceChildren(rule([16, LINE], [w - 16, LINE]), ...[0, 8, 16, 24, MAX].flatMap(p => [rule([X(p), LINE - 5], [X(p), LINE + 5]), text(X(p), 82, p, 'mid.mute')]));
    part.face.replaceChildren(s('circle.thin', { cx, cy, r: R }), rule([cx, cy], [cx + R, cy]));
    draw();
  }
  function draw() {
    const a = shown.m * OMEGA, b = shown.n * OMEGA, g = b - a, side = g > 0 ? 1 : -1, o = polar(0, 0), foot = polar(R * cos(g), b), near = R * .42, end = polar(near, b);
    place(part.line.firstChild, [X(shown.m), LINE]); place(part.line.lastChild, [X(shown.n), LINE]); seg(part.gap, [X(shown.m), LINE], [X(shown.n), LINE]);
    set(part.away, { x: max(44, min(w - 44, (X(shown.m) + X(shown.n)) / 2)) });
    seg(part.query, o, polar(R, a)); seg(part.key, o, polar(R, b)); seg(part.bar, o, foot); seg(part.drop, polar(R, a), foot);
    const arc = `${polar(near, a)}A${near} ${near} 0 0 ${g > 0 ? 0 : 1} ${end}`, long = min(10, abs(g) * near), [ux, uy] = [cos(b + side * TAU / 4), -sin(b + side * TAU / 4)];
    set(part.wedge, { d: `M${o}L${arc}Z` }); set(part.arc, { d: 'M' + arc }); // from q to k, as n − m counts
    set(part.tip, { d: `M${end}L${end[0] - long * (ux - .6 * uy)} ${end[1] - long * (uy + .6 * ux)}L${end[0] - long * (ux + .6 * uy)} ${end[1] - long * (uy - .6 * ux)}Z` });
    const apart = side * max(0, .33 - abs(g)) / 2; // discs never overlap
    place(part.q, polar(R + 19, a - apart)); place(part.k, polar(R + 19, b + apart));
    const [ax, ay] = polar(R * .64, b + side * .46), [sx, sy] = polar(-R * .5, a + g / 2);
    set(part.angle, { x: ax, y: ay + 5 }); set(part.score, { x: sx, y: sy + 5 });
  }
  function update() {
    const { m, n } = at, d = n - m, angle = degrees(d * OMEGA), dot = num(score(m, n, OMEGA), 2);
    part.away.textContent = `n − m = ${num(d)}`; part.angle.textContent = angle; part.score.textContent = `score ${dot}`;
    tell('Query at ', h('b', {}, m), ', key at ', h('b', {}, n), `: n − m = ${num(d)}, so the key’s hand stands at ${num(d)} × 5.73° = ${angle} from the query’s, and the score is `, h('b', {}, dot), '.');
    for (const name in inputs) inputs[name].value = at[name];
    ease();
  }
  for (const name in inputs) inputs[name].oninput = () => { at = move(at, name, +inputs[name].value); update(); };
  mount(host, 'RoPE dial', LOOK, 'drag q, and k comes along. Then drag k, which moves alone.', [h('div.over', {}, inputs.m, inputs.n, svg), says, live], layout,
    { play: options.play, tour: TOUR, show: state => { at = { m: Math.round(state.m), n: Math.round(state.n) }; update(); } });
  layout(); update();
}
