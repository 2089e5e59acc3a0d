// The cliff: a table of trained rows ends, and each way to read on past its last row pays for it in its own coin.
// Pure math first (tested in node), drawing after.

export const ROWS = 8, FEATURES = 6, LONG = 16; // of the table; of the text
export const REMEDIES = ['error', 'last row', 'wrapped', 'stretched', 'blocks'];
const entry = random(11);
/** The table, numbers from 0 to 1: as random as before training. */
export const TABLE = Array.from({ length: ROWS }, () => Array.from({ length: FEATURES }, entry));

/** The row of position p; between two whole numbers a mix, null where there is none. */
export function rowAt(p, remedy) {
  if (remedy === 'stretched') return p * (ROWS - 1) / (LONG - 1);
  if (p < ROWS) return p;
  return remedy === 'error' ? null : remedy === 'last row' ? ROWS - 1 : p % ROWS;
}
/** The vector that a row, or a mix of two, adds to its token. */
export const vectorAt = row => {
  const i = min(Math.floor(row), ROWS - 2);
  return TABLE[i].map((v, j) => v + (row - i) * (TABLE[i + 1][j] - v));
};
/** The other positions of the text that get the same vector. */
export const twins = (p, remedy) => {
  const row = rowAt(p, remedy);
  return row === null ? [] : [...Array(LONG).keys()].filter(q => q !== p && rowAt(q, remedy) === row);
};
/** What position p gets, and what that costs, in words. */
export function price(p, remedy) {
  const row = rowAt(p, remedy), same = twins(p, remedy), block = p - p % ROWS;
  if (row === null) return `asks for row ${p}, and the table ends at row ${ROWS - 1}: an error.`;
  if (remedy === 'stretched') return `gets ${Number.isInteger(row) ? 'row' : 'a mix of two rows at'} ${Number.isInteger(row) ? row : row.toFixed(2)}. Each position has a vector of its own, but steps are ${num((ROWS - 1) / (LONG - 1), 2)} times as long as the table’s.`;
  if (remedy === 'blocks') return `gets row ${row} and sees positions ${block} to ${block + ROWS - 1}, nothing of the rest of the text.`;
  return `gets row ${row}${same.length ? `, as ${same.length > 1 ? 'do positions' : 'does position'} ${same.length > 2 ? `${same[0]} to ${same.at(-1)}` : same.join(' and ')}: without a mask, nothing tells their tokens apart.` : ', which no other position has.'}`;
}

/** A walk along the text, over the edge of the table. */
export const TOUR = { p: [[0, 3], [.1, 3], [.7, 11]] };

const EDGE = 48, SIDE = 12, TALL = FEATURES * SIDE, GROUND = 26, LANE = 148, END = 282; // px
const LOOK = `:host{--c:var(--enc-learned,#c98500)}
.over{overflow:clip}.over svg{height:${END}px}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:${END}px}.over ::-moz-range-thumb{width:44px;height:${END}px;border:0}
.cell{fill:var(--c)}.frame{fill:none;stroke:currentColor;stroke-opacity:.3}.none{stroke-dasharray:2 3}
.link{stroke:var(--c);stroke-linecap:round}.wall{stroke:currentColor;stroke-width:2.5}.edge{stroke:currentColor;stroke-width:1.5;stroke-dasharray:5 4}
.chosen{fill:none;stroke:currentColor;stroke-width:2}.twin{fill:currentColor}
.pill{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .pill{stroke:currentColor;stroke-width:2}
.grip{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}fieldset label{flex:1 0 28%}.wide fieldset label{flex:none}`;

export function render(host, options) {
  let { p, remedy } = options;
  const all = [...Array(LONG).keys()], list = (n, each) => Array.from({ length: n }, (_, i) => each(i));
  const radios = REMEDIES.map(value => Object.assign(h('input', { type: 'radio', name: 'remedy' }), { value }));
  const hand = h('input', { type: 'range', min: 0, max: LONG - 1, 'aria-label': 'position p' }), { says, live, tell } = sentence();

  const ground = s('g'), walls = s('g'), links = [s('line.link'), s('line.link')], chosen = s('rect.chosen', { y: LANE - 2, height: TALL + 4 });
  const columns = all.map(() => ({ cells: list(FEATURES, () => s('rect.cell', { height: SIDE })), frame: s('rect.frame', { y: LANE, height: TALL }), twin: s('circle.twin', { r: 3.5, cy: LANE + TALL + 9 }) }));
  const flag = s('g', {}, s('rect.pill', { x: -34, y: 249, width: 68, height: 29, rx: 5 }), text(0, 266), seg(s('line.grip'), [-7, 273], [7, 273]));
  const svg = s('svg', { role: 'img', 'aria-label': 'The rows of the table, and below it the vector of each position of the text' },
    ground, ...links, ...columns.flatMap(c => [...c.cells, c.frame, c.twin]), walls, chosen, flag);

  const goal = () => {
    const to = { p };
    for (const q of all) {
      const row = rowAt(q, remedy);
      to['row' + q] = row ?? shown['row' + q] ?? ROWS - 1;
      to['ink' + q] = row === null ? 0 : remedy === 'blocks' && Math.floor(q / ROWS) !== Math.floor(p / ROWS) ? .25 : 1;
    }
    return to;
  };
  const shown = {};
  Object.assign(shown, goal());
  const ease = easing(shown, goal, paint);

  let w, pitch, side;
  const X = q => EDGE + (q + .5) * pitch;
  function layout() { // what depends on width
    w = width(svg); pitch = (w - EDGE - 8) / LONG; side = pitch - 3;
    set(svg, { viewBox: `0 0 ${w} ${END}` });
    for (const c of columns) for (const e of [...c.cells, c.frame]) set(e, { width: side });
    for (const c of columns) set(c.twin, { cx: X(columns.indexOf(c)) });
    set(chosen, { width: side + 4 });
    hand.style.left = X(0) - 22 + 'px'; hand.style.width = X(LONG - 1) - X(0) + 44 + 'px';
    const border = EDGE + ROWS * pitch;
    ground.replaceChildren(...TABLE.flatMap((row, i) => row.map((v, j) => { const e = s('rect.cell', { x: X(i) - side / 2, y: GROUND + j * SIDE, width: side, height: SIDE }); e.style.opacity = v; return e; })),
      ...all.map(q => s(q < ROWS ? 'rect.frame' : 'rect.frame.none', { x: X(q) - side / 2, y: GROUND, width: side, height: TALL })),
      text(0, GROUND + TALL / 2 + 5, 'table', ''), text(0, LANE + TALL / 2 + 5, 'text', ''), text(border + 8, GROUND - 9, 'no more rows', ''), seg(s('line.edge'), [border, GROUND - 20], [border, LANE + TALL + 6]),
      ...[0, ROWS - 1].map(q => text(X(q), GROUND - 9, q, 'mid.mute')));
    place(); paint();
  }
  function place() {
    walls.replaceChildren(...remedy === 'blocks' ? [seg(s('line.wall'), [EDGE + ROWS * pitch, LANE - 8], [EDGE + ROWS * pitch, LANE + TALL + 8])] : []);
  }
  function paint() {
    columns.forEach((c, q) => {
      const x = X(q) - side / 2, vector = vectorAt(shown['row' + q]);
      c.cells.forEach((e, j) => { set(e, { x, y: LANE + j * SIDE }).style.opacity = shown['ink' + q] * vector[j]; });
      set(c.frame, { x }); c.frame.classList.toggle('none', rowAt(q, remedy) === null);
    });
    const at = X(shown.p), row = shown['row' + p], low = min(Math.floor(row), ROWS - 2);
    links.forEach((e, i) => {
      const share = i ? row - low : 1 - row + low;
      seg(e, [X(low + i), GROUND + TALL + 3], [at, LANE - 4]);
      e.style.strokeWidth = 4 * share; e.style.opacity = +(share > 0 && rowAt(p, remedy) !== null);
    });
    set(chosen, { x: at - side / 2 - 2 });
    set(flag, { transform: `translate(${min(w - 35, at)} 0)` });
  }
  function update() {
    const same = twins(p, remedy);
    for (const e of radios) e.checked = e.value === remedy;
    hand.value = p; flag.children[1].textContent = `p = ${p}`;
    columns.forEach((c, q) => { c.twin.style.opacity = +same.includes(q); });
    tell('Position ', h('b', {}, p), ' ', price(p, remedy));
    ease();
  }
  hand.oninput = () => { p = +hand.value; update(); };
  for (const e of radios) e.onchange = () => { remedy = e.value; place(); update(); };
  mount(host, 'The cliff at the end of a learned table', LOOK, 'drag p past the end of the table.',
    [h('div.over', {}, hand, svg), says, fold('Other ways past the last row', h('fieldset.ctl', { 'aria-label': 'past the last row' }, ...radios.map(e => h('label', {}, e, e.value)))), live], layout,
    { play: options.play, tour: TOUR, show: state => { p = Math.round(state.p); update(); } });
  layout(); update();
}
