// The recorded studies: a row for each model, a dot for each seed, the mean with its 95 % interval, at the length that one drags to.
// Python computes every number that is shown; here they are only ranked and placed. Pure math first (tested in node), drawing after.

/** A number of the records, which travel in thousandths. */
export const shows = v => num(v / 1000, 3);
/** What is known of a cell [mean, low, high, ...seeds]: mean, interval and seeds, as the reader sees them. */
export const told = ([mean, low, high, ...seeds]) => mean === undefined ? ['–', 'not measured', '0']
  : [shows(mean), low === null ? '–' : `${shows(low)} to ${shows(high)}`, `${seeds.length}`];
/** The places of cells from top to bottom: as they come, or the best mean first; cells without one are last. */
export const ranked = (cells, sort, value) => {
  const sign = value === 'accuracy' ? -1 : 1, key = ([mean]) => mean === undefined ? Infinity : sort ? sign * mean : 0;
  return cells.map((_, i) => i).sort((i, j) => key(cells[i]) - key(cells[j]) || i - j);
};
/** From the lowest to the highest number of all cells, with some air. An interval may pass what is possible, the axis does not. */
export function extent(cells, value) {
  const top = value === 'accuracy' ? 1000 : Infinity, all = cells.flat().filter(v => v !== null).map(v => max(0, min(top, v)));
  const low = min(...all), high = max(...all), air = max(10, .04 * (high - low));
  return [low - air, high + air];
}
/** Round numbers inside an extent, with what is written beside them; at most as many as there are steps, and one more. */
export function ticks([low, high], steps) {
  const least = (high - low) / steps, ten = 10 ** Math.floor(Math.log10(least)), step = [1, 2, 5, 10].map(m => m * ten).find(v => v >= least), first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step).map(v => [v, num(v / 1000, max(0, 3 - Math.floor(Math.log10(step))))]);
}

/** From the shortest text to the longest. */
export const TOUR = { at: [[0, 0], [.14, 0], [.86, 1]] };

const FOOT = 40, SKY = 44, TOP = 20, EDGE = 44; // px: room for labels around the curves and the rows
const LOOK = `:host,.none{--c:var(--enc-none,#6f7378)}.sinusoidal{--c:var(--enc-sinusoidal,#0072b2)}.learned{--c:var(--enc-learned,#c98500)}
.rope{--c:var(--enc-rope,#d55e00)}.relative{--c:var(--enc-relative,#009e73)}.alibi{--c:var(--enc-alibi,#cc79a7)}
select{font:inherit;color:inherit;background:none;border:1px solid;border-radius:6px;padding:4px;margin-left:6px;min-width:0}.ctl label{min-width:0}option{color:CanvasText;background:Canvas}
.wide .parts{display:grid;grid-template:1fr auto/1fr 1.2fr;gap:0 28px}.wide .rows{grid-area:1/2/3}.wide .out{grid-template-columns:1fr 2fr 1fr}.wide .out>:first-child{grid-column:1/-1}.folds{display:flex;flex-wrap:wrap;gap:0 28px}.folds>*{min-width:0}
.over{overflow:clip}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}.over .list{left:0;width:100%;pointer-events:none}.list~svg{cursor:pointer}
.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.flag{fill:currentColor;fill-opacity:.12}.band{fill:currentColor;fill-opacity:.08}.over input:focus-visible~svg :is(.flag,.band){stroke:currentColor;stroke-width:2}
.edge{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}.chance{stroke:currentColor;stroke-opacity:.6;stroke-dasharray:4 4}
.curve{fill:none;stroke:var(--c);stroke-width:1.5;stroke-opacity:.45;stroke-linejoin:round}.curve.now{stroke-width:4;stroke-opacity:1}
.seed{fill:var(--c);fill-opacity:.8}.span{fill:var(--c);fill-opacity:.3}.mean{stroke:currentColor;stroke-width:2}.now{font-weight:600}
.question{margin:4px 0;font-weight:600}.out{grid-template-columns:1.7fr .7fr 1.2fr .5fr;max-width:620px}@media(max-width:500px){.out{grid-template-columns:62px 150px 1fr}.out>:first-child{grid-column:1/-1}}
table{border-collapse:collapse;width:100%;margin:0 0 8px}caption{text-align:left;padding:0 0 6px}:is(td,th){padding:3px 8px 3px 0;text-align:right;border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)}th:first-child{text-align:left}td,th[scope=row]{font-weight:400}`;

export function render(host, options, studies) {
  let { study, value, split, length } = options, data, at, order, domain, marks, picked, hover = null;
  const asked = h('select'), measure = h('select'), fill = (e, names) => e.replaceChildren(...names.map(([key, name]) => h('option', { value: key }, name)));
  const other = h('input', { type: 'checkbox' }), another = h('label', {}, other, 'another novel'), sort = h('input', { type: 'checkbox' });
  const hand = h('input', { type: 'range', min: 0, 'aria-label': 'length' }), list = h('input.list', { type: 'range', min: 0, 'aria-label': 'model', 'aria-orientation': 'vertical' }), question = h('p.question'), table = h('table');
  const { out, live, tell } = readout('model', 'mean', '95 % interval', 'seeds');

  const sky = s('g'), curves = s('g'), edge = s('line.edge'), flag = s('g', {}, s('rect.flag', { x: -52, y: 1, width: 104, height: 27, rx: 5 }), text(0, 19));
  const plot = s('svg', { role: 'img', 'aria-label': 'The mean of each model over the length' }, sky, curves, edge, flag), above = h('div.over', {}, hand, plot);
  const band = s('rect.band', { rx: 5 }), ground = s('g'), rows = s('g');
  const forest = s('svg', { role: 'img', 'aria-label': 'Of each model, the seeds, and the mean with its interval' }, band, ground, rows), below = h('div.over.rows', {}, list, forest);

  const cells = i => data.cells[split][value][i], cell = i => cells(i)[at];
  const part = v => (max(domain[0], min(domain[1], v)) - domain[0]) / (domain[1] - domain[0]) * 1000; // places ease in thousandths of an axis
  const goal = () => Object.fromEntries([['at', at], ...marks.flatMap((_, i) => [
    ['y' + i, ROW * order.indexOf(i)], ['ink' + i, +(cell(i).length > 0)], ...cell(i).map((v, k) => [`v${i} ${k}`, part(v ?? cell(i)[0])]),
    ...cells(i).flatMap(([mean], l) => mean === undefined ? [] : [[`c${i} ${l}`, part(mean)]])])]);
  const shown = {}, ease = easing(shown, goal, paint);
  let w, X, U, Y, ROW = 26, TALL = 130; // px: a row, and the curves

  function build() { // what depends on the study
    data = studies[study];
    at = max(0, length === null ? data.lengths.length - 1 : data.lengths.indexOf(length));
    value ??= data.value; split = split in data.cells ? split : 'test'; picked = hover = null;
    const most = max(...Object.values(data.cells).flatMap(Object.values).flat(2).map(cell => cell.length)) - 3;
    marks = data.rows.map(([name, family]) => {
      const o = { name: text(6, 0, name, ''), span: s('rect.span', { height: 16, rx: 2 }), mean: s('line.mean'), number: text(0, 0, '', 'end'), seeds: Array.from({ length: most }, () => s('circle.seed', { r: 3.5 })) };
      return { ...o, row: s('g.' + family, {}, o.name, o.span, ...o.seeds, o.mean, o.number), curve: s('path.curve.' + family) };
    });
    rows.replaceChildren(...marks.map(o => o.row)); curves.replaceChildren(...marks.map(o => o.curve));
    fill(measure, Object.entries(data.values));
    set(hand, { max: data.lengths.length - 1 }); set(list, { max: marks.length - 1 });
    above.style.display = data.lengths.length > 1 ? '' : 'none'; below.style.gridArea = data.lengths.length > 1 ? '' : '2/1/3/3';
    another.style.display = 'unseen' in data.cells ? '' : 'none';
    question.textContent = data.question;
    for (const k in shown) delete shown[k];
    scale();
  }
  function scale() { // what depends on the measure
    domain = extent(Object.values(data.cells).flatMap(split => split[value].flat()), value);
    update(); layout();
  }
  function layout() { // what depends on width
    const wide = forest.closest('.wide') && data.lengths.length > 1;
    w = width(forest); ROW = wide && marks.length > 12 ? 22 : 26; TALL = wide ? max(130, TOP + marks.length * ROW - SKY - 116) : 130;
    const left = max(...marks.map(o => o.name.getComputedTextLength())) + 16, foot = TOP + marks.length * ROW, last = data.lengths.length - 1, v = width(plot);
    X = p => left + (w - left - EDGE - 12) * p / 1000; U = l => EDGE + 30 + (v - EDGE - 82) * l / max(1, last); Y = p => SKY + TALL * (1 - p / 1000);
    for (const [svg, across, high] of [[plot, v, SKY + TALL], [forest, w, foot]]) { set(svg, { viewBox: `0 0 ${across} ${high + FOOT}` }); svg.style.height = high + FOOT + 'px'; }
    hand.style.left = U(0) - 22 + 'px'; hand.style.width = U(last) - U(0) + 44 + 'px';
    const across = ticks(domain, max(4, (w - left) / 60)), up = ticks(domain, 5), chance = value === 'accuracy' && data.chance > max(0, domain[0]) ? [X(part(data.chance))] : [];
    ground.replaceChildren(...across.flatMap(([v, t]) => [rule([X(part(v)), TOP], [X(part(v)), foot]), text(X(part(v)), foot + 17, t, 'mid.mute')]), text(X(500), foot + 36, data.values[value] + (last ? '' : ` at length ${data.trained}`), 'mid.mute'),
      ...chance.flatMap(x => [seg(s('line.chance'), [x, TOP], [x, foot]), text(x, TOP - 6, 'chance', 'mid.mute')]));
    sky.replaceChildren(...up.flatMap(([v, t]) => [rule([EDGE, Y(part(v))], [width(plot), Y(part(v))]), text(EDGE - 8, Y(part(v)) + 4, t, 'end.mute')]),
      ...data.lengths.map((n, l) => text(U(l), SKY + TALL + 18, n, 'mid.mute')), text(U(data.lengths.indexOf(data.trained)), SKY + TALL + 35, 'training', 'mid.mute'));
    set(band, { width: w, height: ROW });
    Object.assign(shown, Object.fromEntries(marks.map((_, i) => ['y' + i, ROW * order.indexOf(i)])));
    paint();
  }
  function paint() {
    marks.forEach((o, i) => {
      const y = TOP + ROW / 2 + shown['y' + i], x = k => X(shown[`v${i} ${k}`] ?? 0);
      set(o.name, { y: y + 4.5 }); set(o.number, { x: w - 6, y: y + 4.5 });
      for (const e of [o.span, o.mean, ...o.seeds]) e.style.opacity = shown['ink' + i];
      for (const e of o.seeds.slice(max(0, cell(i).length - 3))) e.style.opacity = 0;
      set(o.span, { x: x(1), y: y - 8, width: x(2) - x(1) }); seg(o.mean, [x(0), y - 8], [x(0), y + 8]);
      o.seeds.forEach((e, k) => set(e, { cx: x(k + 3), cy: y }));
      set(o.curve, { d: 'M' + cells(i).flatMap(([mean], l) => mean === undefined ? [] : `${U(l).toFixed(1)} ${Y(shown[`c${i} ${l}`]).toFixed(1)}`).join('L') });
    });
    set(band, { y: TOP + shown['y' + (hover ?? picked)] }); seg(edge, [U(shown.at), 28], [U(shown.at), SKY + TALL]); set(flag, { transform: `translate(${max(53, min(width(plot) - 53, U(shown.at)))} 0)` });
  }
  function update() {
    const tokens = data.lengths[at], what = `${data.values[value]} at length ${tokens}`;
    order = ranked(marks.map((_, i) => cell(i)), sort.checked, value);
    picked ??= order.findLast(i => cell(i).length); // who fell the furthest
    const now = hover ?? picked;
    asked.value = study; measure.value = value; other.checked = split === 'unseen';
    hand.value = at; hand.setAttribute('aria-valuetext', `${tokens} tokens`); flag.lastChild.textContent = `${tokens} tokens`;
    list.value = marks.length - 1 - order.indexOf(picked); list.setAttribute('aria-valuetext', data.rows[picked][0]); // the arrow that points up goes up
    marks.forEach((o, i) => { o.number.textContent = told(cell(i))[0]; for (const e of [o.name, o.number, o.curve]) e.classList.toggle('now', i === now); });
    curves.append(marks[now].curve); // on top
    table.replaceChildren(h('caption', {}, what), h('tr', {}, ...['model', 'mean', '95 % interval', 'seeds'].map(t => h('th', { scope: 'col' }, t))),
      ...order.map(i => h('tr', {}, h('th', { scope: 'row' }, data.rows[i][0]), ...told(cell(i)).map(t => h('td', {}, t)))));
    tell([data.rows[now][0], ...told(cell(now))], what + ': ');
    for (const [k, v] of Object.entries(goal())) shown[k] ??= v;
    ease();
  }
  sort.checked = true;
  fill(asked, Object.keys(studies).map(name => [name, name]));
  asked.onchange = () => { study = asked.value; value = length = null; build(); };
  measure.onchange = () => { value = measure.value; scale(); };
  other.onchange = () => { split = other.checked ? 'unseen' : 'test'; update(); };
  sort.onchange = update;
  hand.oninput = () => { at = +hand.value; update(); };
  list.oninput = () => { picked = order[marks.length - 1 - list.value]; update(); };
  const under = e => {
    const at = forest.getBoundingClientRect(), scale = at.width / width(forest); // of a slide
    return order[Math.floor(((e.clientY - at.top) / scale - TOP) / ROW)] ?? null;
  };
  forest.onpointermove = e => { if (hover !== under(e)) { hover = under(e); update(); } };
  forest.onclick = e => { picked = under(e) ?? picked; update(); };
  forest.onpointerleave = () => { hover = null; update(); };
  mount(host, 'The recorded studies', LOOK, 'drag the length back to that of training and forth again: who keeps their place? Tap or point at a row for its numbers.',
    [question, h('div.parts', {}, above, out, below), h('div.folds', {}, fold('Ask another study', h('div.ctl', {}, h('label', {}, 'study', asked), h('label', {}, 'measure', measure)), h('div.ctl', {}, another, h('label', {}, sort, 'best first'))), fold('Show as table', table)), live], () => marks && layout(),
    { play: options.play, tour: TOUR, show: state => { if (!marks) build(); at = Math.round(state.at * (data.lengths.length - 1)); update(); } });
  build();
}
