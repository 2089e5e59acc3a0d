// One patch of a picture looks at all others, and content says nothing: what can a head draw whose pairs turn by row or by
// column, and one whose pairs turn by both? Python fitted both. Pure math first (tested in node), drawing after.

export const FITTED = 8, PAIRS = 16, BASE = 10, HEADINGS = { axial: 2, mixed: 4 }; // patches a side; of a head; directions in which pairs turn
export const AIMS = { row: 'the same row', right: 'the patch to the right', diagonal: 'a diagonal line', ring: 'a ring' };
export const VIEWS = { '8 × 8': '8 × 8', counted: '16 × 16, counted', 'to scale': '16 × 16, to scale' };

/** Radians per row and per column of each pair: in each direction the same frequencies, from 1 down. */
export const rates = kind => Array.from({ length: PAIRS }, (_, i) => {
  const many = PAIRS / HEADINGS[kind], turn = Math.floor(i / many) * Math.PI / HEADINGS[kind], rate = BASE ** -(i % many / many);
  return [rate * cos(turn), rate * sin(turn)];
});
export const side = view => view === '8 × 8' ? FITTED : 2 * FITTED;
/** Where line i stands, in lines of the grid that was fitted: counted, or to scale, so that the picture keeps its size. */
export const stands = (view, i) => view === 'to scale' ? FITTED / 2 * ((2 * i + 1) / side(view) - 1) : i;
/** Whether an offset from query to key is in the target, half a step to each side of it included. */
export const aimed = (aim, down, right) => ({ row: abs(down), right: max(abs(down), abs(right - 1)), diagonal: abs(down - right), ring: abs(Math.hypot(down, right) - 3) })[aim] <= .5;
/** Of each patch, line by line, how far it is from the query. */
export const offsets = (view, row, column) => Array.from({ length: side(view) ** 2 }, (_, i) =>
  [[Math.floor(i / side(view)), row], [i % side(view), column]].map(([key, query]) => stands(view, key) - stands(view, query)));
/** The attention that each patch gets of the query. */
export function weights(kind, [a, b], view, row, column) {
  const speeds = rates(kind), scores = offsets(view, row, column).map(([down, right]) => speeds.reduce((sum, [r, c], i) => {
    const turn = down * r + right * c;
    return sum + a[i] * cos(turn) + b[i] * sin(turn);
  }, 0)), most = max(...scores), powers = scores.map(v => Math.exp(v - most)), all = powers.reduce((sum, v) => sum + v, 0);
  return powers.map(v => v / all);
}
/** Which patches are the target. */
export const target = (aim, view, row, column) => offsets(view, row, column).map(([down, right]) => aimed(aim, down, right));
/** The weight on the target; null where none of it is in the picture. */
export const hit = (values, aims) => aims.includes(true) ? values.reduce((sum, v, i) => sum + (aims[i] && v), 0) : null;
/** The shares of rows, and of columns. */
export function margins(values) {
  const n = Math.sqrt(values.length), sums = [Array(n).fill(0), Array(n).fill(0)];
  values.forEach((v, i) => { sums[0][Math.floor(i / n)] += v; sums[1][i % n] += v; });
  return sums;
}
/** A share as one reads it: it is never all, and never nothing. */
export const parts = v => v === null ? '–' : v < .005 ? '< 1 %' : v > .995 ? '> 99 %' : num(100 * v) + ' %';
/** What one sees, in words; even is the share of patches that are the target, left what the fits leave of its variance. */
export function said(aim, view, even, left) {
  const why = { row: 'Rows alone decide, and both draw the line.', right: 'One row and one column meet in one patch, and both draw it.' }[aim]
    ?? `Axial weights are a row’s share times a column’s, the bars, and no such product is ${AIMS[aim]}.`;
  return why + (even ? ` An even share would be ${parts(even)}.` : ' From here the target is out of the picture.')
    + ` Fitted on 8 × 8 patches, axial leaves ${parts(left.axial)} of the target’s variance, mixed ${parts(left.mixed)}${left.sum < .5 ? '' : `, and a free choice of all shares of rows and columns ${parts(left.sum)}`}.`
    + { '8 × 8': '', counted: ' Positions are counted in patches: the pattern covers half as much of the picture, and steps above 7 were never fitted.',
      'to scale': ' Coordinates run from −1 to 1 in any grid: the pattern keeps its size, and halves of a step were never fitted.' }[view];
}

/** A query goes along; the target becomes a line that only one can draw; and the picture is cut finer. */
export const TOUR = { aim: [[0, 'row'], [.22, 'diagonal']], view: [[0, '8 × 8'], [.62, 'counted'], [.78, 'to scale'], [.94, '8 × 8']], row: [[0, 2], [.2, 5], [.3, 5], [.58, 3]], column: [[0, 3], [.3, 5], [.58, 3]] };

const HEAD = 24, BARS = 20, TICKS = 26, UNDER = 20, RIM = 5; // px around a picture
const LOOK = `:host{--c:var(--enc-rope,#d55e00)}.pair{display:flex;gap:12px;max-width:760px}.pair>*{flex:1;min-width:0}.pair svg{cursor:pointer;touch-action:pan-y}.over{overflow:clip}.over input{pointer-events:none;height:44px}
.cell{fill:var(--c);shape-rendering:crispEdges}.bar{fill:currentColor;fill-opacity:.45}.frame,.aim{fill:none;stroke:currentColor;stroke-opacity:.4}.aim{stroke-opacity:.75}.query{fill:none;stroke:currentColor;stroke-width:2.5}.over:has(:focus-visible) .halo{fill:none;stroke:currentColor;stroke-width:2}.halo{fill:none}
.name{font-weight:600}.out{grid-template-columns:1.4fr 1fr 1fr}.out b{white-space:nowrap}.said{min-height:7em;margin:0}.wide .parts{display:grid;grid-template:auto auto 1fr/280px 1fr;gap:0 28px}.wide .pair{grid-area:1/2/4}.wide .ctl{display:block}.wide .ctl+.ctl{border-top:1px solid color-mix(in srgb,currentColor 25%,transparent)}.wide .out{grid-template-columns:1fr 1fr}.wide .out>:first-child{grid-column:1/-1}.wide .tells{grid-area:4/1/5/3}.wide .said{min-height:4.2em}.said+small{margin-top:8px}
@media(max-width:500px){.out{grid-template-columns:1fr 1fr}.out>:first-child{grid-column:1/-1}.ctl{gap:0 4px}.ctl label{margin-right:2px}.ctl input{margin-right:4px}}@media print{.ctl{display:none}}`;

export function render(host, options, fits) {
  let { target: aim, view } = options, row, column, weighs, aims, goals, G, unit, drawn;
  const radios = (name, all, pick) => Object.entries(all).map(([key, words]) => {
    const input = h('input', { type: 'radio', name });
    input.onchange = () => pick(key);
    return { key, input, label: h('label', {}, input, words) };
  });
  const kinds = Object.keys(HEADINGS), asked = radios('aim', AIMS, key => { aim = key; update(); }), cuts = radios('view', VIEWS, key => { cut(key); update(); });
  const hands = ['column', 'row'].map(name => h('input', { type: 'range', min: 0, 'aria-label': name + ' of the query' })), words = h('p.said'), dark = h('small');
  const { out, live, tell } = readout('query', 'axial: on target', 'mixed: on target');
  const pictures = kinds.map(kind => {
    const o = { name: text(8, 14, '', 'name'), ticks: s('g'), bars: s('g'), cells: s('g'), aims: s('g'), frame: s('rect.frame', { x: TICKS + BARS, y: HEAD + BARS }), query: s('circle.query'), halo: s('rect.halo', { rx: 4 }) };
    return { ...o, svg: s('svg', { role: 'img', 'aria-label': `Attention of one patch, ${kind}` }, ...Object.values(o)) };
  });
  const X = i => TICKS + BARS + i * unit, Y = i => HEAD + BARS + i * unit;

  function cut(to) { // the same place of the picture in another grid
    const step = side(to) / side(view), move = v => Math.floor(v * step);
    [row, column] = [move(row), move(column)]; view = to;
  }
  const goal = () => goals, shown = {}, ease = easing(shown, goal, paint);
  function build() { // what depends on the grid and on width
    const n = side(view), last = n - 1, ends = view === 'to scale' ? [['−1', 0], ['0', n / 2], ['1', n]] : [['0', .5], [last, last + .5]];
    G = width(pictures[0].svg) - TICKS - BARS - RIM; unit = G / n; drawn = view;
    const high = HEAD + BARS + G + UNDER;
    for (const o of pictures) {
      set(o.svg, { viewBox: `0 0 ${G + TICKS + BARS + RIM} ${high}` }).style.height = high + 'px';
      o.cells.replaceChildren(...Array.from({ length: n * n }, (_, i) => s('rect.cell', { x: X(i % n), y: Y(Math.floor(i / n)), width: unit, height: unit })));
      o.bars.replaceChildren(...Array.from({ length: 2 * n }, () => s('rect.bar')));
      o.ticks.replaceChildren(...ends.flatMap(([t, at]) => [text(X(at), Y(n) + 16, t, 'mid.mute'), text(TICKS - 5, Y(at) + 5, t, 'end.mute')]));
      set(o.frame, { width: G, height: G }); set(o.query, { r: max(3, unit * .28) }); set(o.halo, { width: unit + 6, height: unit + 6 });
    }
    for (const hand of hands) { set(hand, { max: last }).style.left = X(.5) - 22 + 'px'; hand.style.width = last * unit + 44 + 'px'; }
    for (const k in shown) delete shown[k];
  }
  function layout() { build(); update(); }
  function paint() {
    const n = side(view), peak = max(...weighs.flat()), all = pictures.map((_, k) => margins(weighs[k].map((_, i) => shown[`${k} ${i}`] / 100))), longest = max(...all.flat(2));
    pictures.forEach((o, k) => {
      weighs[k].forEach((_, i) => set(o.cells.childNodes[i], { 'fill-opacity': min(1, shown[`${k} ${i}`] / 100 / peak).toFixed(3) }));
      all[k].forEach((shares, axis) => shares.forEach((v, i) => {
        const long = v / longest * (BARS - 4), at = i * unit + 1, wide = max(1, unit - 2);
        set(o.bars.childNodes[axis * n + i], axis ? { x: X(0) + at, y: Y(0) - 2 - long, width: wide, height: long } : { x: X(0) - 2 - long, y: Y(0) + at, width: long, height: wide });
      }));
      set(o.query, { cx: X(shown.x + .5), cy: Y(shown.y + .5) }); set(o.halo, { x: X(shown.x) - 3, y: Y(shown.y) - 3 });
    });
  }
  function update() {
    if (drawn !== view) build();
    const n = side(view), { left } = fits[aim];
    weighs = kinds.map(kind => weights(kind, fits[aim][kind], view, row, column)); aims = target(aim, view, row, column);
    goals = { x: column, y: row, ...Object.fromEntries(weighs.flatMap((values, k) => values.map((v, i) => [`${k} ${i}`, 100 * v]))) };
    for (const k in goals) shown[k] ??= goals[k];
    const got = weighs.map(values => parts(hit(values, aims)));
    pictures.forEach((o, k) => {
      o.name.textContent = kinds[k] + (got[k] === '–' ? '' : `: ${got[k]}${G > 118 ? ' on target' : ''}`);
      set(o.aims, { 'stroke-width': min(1, unit / 12) }).replaceChildren(...aims.flatMap((on, i) => on ? s('rect.aim', { x: X(i % n) + 1.5, y: Y(Math.floor(i / n)) + 1.5, width: unit - 3, height: unit - 3 }) : []));
    });
    for (const { key, input } of asked) input.checked = key === aim;
    for (const { key, input } of cuts) input.checked = key === view;
    [column, row].forEach((v, i) => { hands[i].value = v; hands[i].setAttribute('aria-valuetext', `${['column', 'row'][i]} ${v} of 0 to ${n - 1}`); hands[i].style.top = Y(row + .5) - 22 + 'px'; });
    words.textContent = said(aim, view, aims.filter(Boolean).length / n / n, left).replaceAll(' %', '\xa0%');
    dark.textContent = `ring: the query; outlines: ${AIMS[aim]}; the stronger the color, the more weight, at most ${parts(max(...weighs.flat()))} here; bars: shares of rows and of columns`.replaceAll(' %', '\xa0%');
    tell([`row ${row}, column ${column}`, ...got], words.textContent + ' ');
    paint(); ease();
  }
  const go = (r, c) => { const last = side(view) - 1; row = max(0, min(last, r)); column = max(0, min(last, c)); update(); };
  hands[0].oninput = () => go(row, +hands[0].value); hands[1].oninput = () => go(+hands[1].value, column);
  for (const hand of hands) hand.onkeydown = e => {
    const [r, c] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key] ?? [];
    if (r !== undefined) { e.preventDefault(); go(row + r, column + c); }
  };
  for (const { svg } of pictures) {
    const point = e => {
      const { left, top, width: wide } = svg.getBoundingClientRect(), scale = wide / width(svg); // of a slide
      go(...[(e.clientY - top) / scale - Y(0), (e.clientX - left) / scale - X(0)].map(v => Math.floor(v / unit)));
    };
    svg.onpointerdown = e => { svg.setPointerCapture(e.pointerId); point(e); };
    svg.onpointermove = e => { if (svg.hasPointerCapture(e.pointerId)) point(e); };
    svg.onpointerup = () => hands[0].focus({ preventScroll: true });
  }
  const turned = view; [view, row, column] = ['8 × 8', options.row, options.column]; cut(turned);
  const [one, other] = pictures.map(o => o.svg);
  mount(host, 'What a patch of a picture looks at', LOOK, 'drag the ring, and choose a target. Which can both draw?',
    [h('div.parts', {}, h('div', {}, h('fieldset.ctl', { 'aria-label': 'target' }, ...asked.map(o => o.label)), h('fieldset.ctl', { 'aria-label': 'grid' }, ...cuts.map(o => o.label))),
      h('div.pair', {}, h('div.over', {}, ...hands, one), other), out, h('div.tells', {}, words, dark)), live], layout,
    { play: options.play, tour: TOUR, show: state => { aim = state.aim; cut(state.view); const step = side(view) / FITTED; go(step * Math.round(state.row), step * Math.round(state.column)); } });
}
