// The cliff: a table of trained rows ends, and each way to read on past its last row pays for it in its own coin.
// Pure math first (tested in node), drawing after.

export const ROWS = 8, FEATURES = 6, LONGEST = 32; // of the table; of the longest text
export const REMEDIES = ['error', 'last row', 'wrapped', 'stretched', 'blocks'];
const entry = random(11);
/** The table, numbers from 0 to 1: as random as before training. */
export const TABLE = Array.from({ length: ROWS }, () => Array.from({ length: FEATURES }, entry));

/** The row of position p in a text of `long` tokens; between two whole numbers a mix, null where there is none. */
export function rowAt(p, long, remedy) {
  if (long <= ROWS) return p;
  if (remedy === 'stretched') return p * (ROWS - 1) / (long - 1);
  if (p < ROWS) return p;
  return remedy === 'error' ? null : remedy === 'last row' ? ROWS - 1 : p % ROWS;
}
/** The vector that a row, or a mix of two, adds to its token. */
export const vectorAt = row => {
  const i = min(Math.floor(row), ROWS - 2);
  return TABLE[i].map((v, j) => v + (row - i) * (TABLE[i + 1][j] - v));
};
/** The other positions of the text that get the same vector. */
export const twins = (p, long, remedy) => {
  const row = rowAt(p, long, remedy);
  return row === null ? [] : [...Array(long).keys()].filter(q => q !== p && rowAt(q, long, remedy) === row);
};
/** How far the vector of p is from its left neighbor's; null where p has no row, or no left neighbor that it can see. */
export function gapTo(p, long, remedy) {
  const [left, row] = [p - 1, p].map(q => rowAt(q, long, remedy));
  if (!p || row === null || remedy === 'blocks' && p % ROWS === 0) return null;
  const a = vectorAt(left);
  return Math.hypot(...vectorAt(row).map((v, j) => v - a[j]));
}
/** 7, 8, 9, 10 as “7 to 10”, and others as a list. */
export const listed = all => {
  const [first, last] = [all[0], all.at(-1)];
  if (all.length > 2 && last - first === all.length - 1) return `${first} to ${last}`;
  return all.length ? all.join(', ') : 'none';
};
/** What the remedy pays, in words. */
export function price(p, long, remedy) {
  if (long <= ROWS) return 'The text fits: each position has a row of its own.';
  if (remedy === 'error') return `Positions ${ROWS} to ${long - 1} have no row: the text is refused.`;
  if (remedy === 'stretched') return `Every position has its own mix of rows, but steps inside one stretch are ${((ROWS - 1) / (long - 1)).toFixed(2)} times as long as the table’s.`;
  const same = [...twins(p, long, remedy), p].sort((a, b) => a - b), block = p - p % ROWS;
  if (remedy === 'blocks') return `Position ${p} sees positions ${block} to ${min(long, block + ROWS) - 1}, and nothing of the rest of the text.`;
  return same.length > 1 ? `Positions ${listed(same)} get one and the same vector: without a mask, nothing tells their tokens apart.`
    : `Position ${p} is alone with its row; others are not.`;
}

/** A walk over the edge of the table, past which there is nothing; then each remedy. */
export const TOUR = { p: [[0, 3], [.05, 3], [.3, 11]], remedy: [[0, 'error'], [.4, 'last row'], [.55, 'stretched'], [.7, 'blocks'], [.85, 'wrapped']] };

const EDGE = 64, SIDE = 9, GROUND = 24, LANE = 124, MARKS = 190, BASE = 346, TALL = 52, END_Y = 366; // px
const LOOK_CELLS = FEATURES * SIDE;
const LOOK = `:host{--c:var(--enc-learned,#c98500)}
.over{overflow:clip}.over svg{height:${END_Y}px}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:${END_Y}px}.over ::-moz-range-thumb{width:44px;height:${END_Y}px;border:0}
.ctl input[type=range]{width:104px;margin:0 8px}fieldset{margin-right:12px}
.cell,.bar{fill:var(--c)}.frame{fill:none;stroke:currentColor;stroke-opacity:.3}.none{stroke-dasharray:2 3}
.link{stroke:var(--c);stroke-linecap:round}.wall{stroke:currentColor;stroke-width:2.5}.edge{stroke:currentColor;stroke-width:1.5;stroke-dasharray:5 4}
.missing{fill:none;stroke:currentColor;stroke-opacity:.35;stroke-dasharray:2 3}.chosen{fill:none;stroke:currentColor;stroke-width:2}.twin{fill:currentColor}
.pill{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .pill{stroke:currentColor;stroke-width:2}
.grip{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}
.out{grid-template-columns:1fr 1fr 2.2fr 1.8fr;max-width:560px}.verdict{min-height:2.8em;margin:0}@media(max-width:500px){.verdict{min-height:4.2em}}`;

export function render(host, options) {
  let { p, length: long, remedy } = options;
  p = min(p, long - 1);
  const all = [...Array(LONGEST).keys()], features = [...Array(FEATURES).keys()];
  const radios = REMEDIES.map(value => Object.assign(h('input', { type: 'radio', name: 'remedy' }), { value }));
  const hand = h('input', { type: 'range', min: 0, 'aria-label': 'position p' });
  const size = h('input', { type: 'range', min: ROWS, max: LONGEST }), sizeOut = h('output');
  const { out, live, tell } = readout('position p', 'row', 'positions with that row', 'distance to its left neighbor'), words = h('p.verdict');

  const grid = s('g'), ground = s('g'), walls = s('g'), links = [s('line.link'), s('line.link')];
  const column = () => ({ cells: features.map(() => s('rect.cell', { height: SIDE })), frame: s('rect.frame', { height: LOOK_CELLS }), bar: s('rect.bar'), twin: s('circle.twin', { r: 3.5, cy: MARKS }) });
  const columns = all.map(column), chosen = s('rect.chosen', { y: LANE - 2, height: LOOK_CELLS + 4 });
  const flag = s('g', {}, s('rect.pill', { x: -34, y: 217, width: 68, height: 29, rx: 5 }), text(0, 234), seg(s('line.grip'), [-7, 241], [7, 241]));
  const svg = s('svg', { role: 'img', 'aria-label': 'The rows of the table, the vector of each position of the text, and its distance to the one before' },
    grid, ground, ...links, ...columns.flatMap(c => [...c.cells, c.frame, c.bar, c.twin]), walls, chosen, flag);
  const over = h('div.over', {}, hand, svg);

  const goal = () => {
    const to = { p, long };
    for (const q of all) {
      const row = q < long ? rowAt(q, long, remedy) : null;
      to['row' + q] = row ?? shown['row' + q] ?? min(q, ROWS - 1);
      to['ink' + q] = row === null ? 0 : remedy === 'blocks' && long > ROWS && Math.floor(q / ROWS) !== Math.floor(p / ROWS) ? .25 : 1;
      to['bar' + q] = q < long ? gapTo(q, long, remedy) ?? 0 : 0;
    }
    return to;
  };
  const shown = {};
  Object.assign(shown, goal());
  const ease = easing(shown, goal, paint);

  let w, pitch;
  const X = q => EDGE + (q + .5) * pitch;
  function layout() { // what depends on width
    w = width(svg); pitch = (w - EDGE - 8) / LONGEST;
    set(svg, { viewBox: `0 0 ${w} ${END_Y}` });
    const side = max(3, pitch - 2), label = (y, ...lines) => lines.map((t, i) => text(0, y + 16 * i, t, ''));
    for (const c of columns) for (const e of [...c.cells, c.frame, c.bar]) set(e, { width: side });
    set(chosen, { width: side + 4 });
    grid.replaceChildren(...label(GROUND + 30, 'table'), ...label(LANE + 30, 'text'), ...label(BASE - 44, 'distance', 'to the left', 'neighbor'),
      ...[0, 8, 16, 24, 31].map(v => text(X(v), MARKS + 20, v, 'mid.mute')), rule([EDGE, BASE], [X(LONGEST - .5), BASE]), ...[[GROUND - 14, LANE + LOOK_CELLS + 8], [BASE - 1.6 * TALL, BASE]].map(([y1, y2]) => seg(s('line.edge'), [EDGE + ROWS * pitch, y1], [EDGE + ROWS * pitch, y2])),
      text(EDGE + ROWS * pitch + 6, GROUND - 8, w < 600 ? 'no more rows' : 'no more rows: none of these was ever trained', ''), ...all.slice(ROWS).map(q => s('rect.missing', { x: X(q) - side / 2, y: GROUND, width: side, height: LOOK_CELLS })),
      ...(pitch < 12 ? [0, ROWS - 1] : all.slice(0, ROWS)).map(v => text(X(v), GROUND - 8, v, 'mid.mute')));
    ground.replaceChildren(...TABLE.flatMap((row, i) => row.map((v, j) => { const e = s('rect.cell', { x: X(i) - side / 2, y: GROUND + j * SIDE, width: side, height: SIDE }); e.style.opacity = v; return e; })),
      ...TABLE.map((_, i) => s('rect.frame', { x: X(i) - side / 2, y: GROUND, width: side, height: LOOK_CELLS })));
    place(); paint();
  }
  function place() { // the slider lies over the text alone
    hand.style.left = X(0) - 22 + 'px'; hand.style.width = X(long - 1) - X(0) + 44 + 'px';
    walls.replaceChildren(...(remedy === 'blocks' ? all.filter(q => q && q % ROWS === 0 && q < long) : []).map(q => seg(s('line.wall'), [EDGE + q * pitch, LANE - 8], [EDGE + q * pitch, LANE + LOOK_CELLS + 8])));
  }
  function paint() {
    const side = max(3, pitch - 2);
    columns.forEach((c, q) => {
      const x = X(q) - side / 2, vector = vectorAt(shown['row' + q]), ink = shown['ink' + q], tall = TALL * shown['bar' + q];
      c.cells.forEach((e, j) => { set(e, { x, y: LANE + j * SIDE }).style.opacity = ink * vector[j]; });
      set(c.frame, { x, y: LANE }).style.opacity = +(q < long);
      c.frame.classList.toggle('none', rowAt(q, long, remedy) === null);
      set(c.bar, { x, y: BASE - tall, height: tall }).style.opacity = q === p ? 1 : .45;
      set(c.twin, { cx: X(q) });
    });
    const at = X(shown.p), row = shown['row' + p], low = min(Math.floor(row), ROWS - 2);
    links.forEach((e, i) => {
      const share = i ? row - low : 1 - row + low;
      seg(e, [X(low + i), GROUND + LOOK_CELLS + 3], [at, LANE - 4]);
      e.style.strokeWidth = 4 * share; e.style.opacity = +(share > 0 && rowAt(p, long, remedy) !== null);
    });
    set(chosen, { x: at - side / 2 - 2 });
    set(flag, { transform: `translate(${max(EDGE + 34, min(w - 35, at))} 0)` });
  }
  function update() {
    const row = rowAt(p, long, remedy), same = twins(p, long, remedy), gap = gapTo(p, long, remedy);
    for (const e of radios) e.checked = e.value === remedy;
    set(hand, { max: long - 1 }); hand.value = p; size.value = long; sizeOut.textContent = long;
    columns.forEach((c, q) => { c.twin.style.opacity = +same.includes(q); });
    flag.children[1].textContent = `p = ${p}`;
    words.textContent = price(p, long, remedy);
    tell([p, row === null ? 'none' : Number.isInteger(row) ? row : row.toFixed(2), row === null ? 'none' : listed([...same, p].sort((a, b) => a - b)), gap === null ? '–' : num(gap, 2)], `${words.textContent} `);
    ease();
  }
  hand.oninput = () => { p = +hand.value; update(); };
  size.oninput = () => { long = +size.value; p = min(p, long - 1); place(); update(); };
  for (const e of radios) e.onchange = () => { remedy = e.value; place(); update(); };
  mount(host, 'The cliff at the end of a learned table', LOOK,
    'drag p along the text; then choose another remedy, drag again, and read what it costs.',
    [h('div.ctl', {}, h('fieldset.ctl', { 'aria-label': 'past the last row' }, ...radios.map(e => h('label', {}, e, e.value))), h('label', {}, 'tokens', size, sizeOut)), over, h('div.foot', {}, out, words), live], layout,
    { play: options.play, tour: TOUR, show: state => { p = min(long - 1, Math.round(state.p)); ({ remedy } = state); place(); update(); } });
  layout(); update();
}
