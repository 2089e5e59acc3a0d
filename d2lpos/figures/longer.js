// A text grows past the length of training: what a layer of each of three kinds still sees of it, and what weight a needle at its far end gets.
// Pure math first (tested in node), drawing after.

export const TRAINED = 32, FARTHEST = 256, SIGHT = 16, LEAD = 5; // tokens; nats by which the needle leads all other scores
export const KINDS = { full: 'RoPE, the whole text', window: `window: RoPE, the last ${SIGHT} tokens`, none: 'no position, the whole text' };

/** The weight on a needle at the far end of n tokens, where all other scores are equal; null where theory does not say. */
export function weight(kind, n) {
  if (kind === 'full' && n > TRAINED) return null;
  if (kind === 'window' && n > SIGHT) return 0;
  return 1 / (1 + (n - 1) * Math.exp(-LEAD));
}
const percent = n => `${num(100 * weight('none', n))}\xa0%`;
/** What happens to the three among n tokens, in words. */
export const verdict = n => n === TRAINED ? `, as in training: with RoPE or without position the needle gets ${percent(n)} of the weight, and the window misses it.`
  : `: RoPE meets new angles, the window misses the needle, and without position its weight falls from ${percent(TRAINED)} to ${percent(n)}.`;

/** The text grows. */
export const TOUR = { length: [[0, TRAINED], [.1, TRAINED], [.85, FARTHEST]] };

const RULER = 50, ROW = 62, START = 24, END = RULER + 3 * ROW; // px: of the text's end, of a layer, of the needle, of all
const LOOK = `:host{--c:var(--enc-rope,#d55e00);--n:var(--enc-none,#6f7378)}.over{overflow:clip}.over input{top:0;height:${END}px;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:${END}px}.over ::-moz-range-thumb{width:44px;height:${END}px;border:0}
.pill{fill:var(--paper,#fffefb);stroke:currentColor;stroke-width:1.5}.over input:focus-visible~svg .pill{stroke-width:4}
.ahead{fill-opacity:.05}.unseen{fill-opacity:.1}.sight,.fresh{stroke:var(--c);stroke-width:16}.fresh{stroke-dasharray:2 5}.none .sight{stroke:var(--n)}.whole{fill:none;stroke:currentColor;stroke-opacity:.6}.unknown .whole{stroke-dasharray:3 3}.mark{stroke:currentColor;stroke-width:2}`;

export function render(host, options) {
  const paper = matchMedia('print'), kinds = Object.keys(KINDS), { says, live, tell } = sentence();
  let length = options.length, w, X;
  const now = () => paper.matches && length === TRAINED ? FARTHEST : length; // paper shows how it ends
  const goal = () => ({ length: now() }), shown = goal(), ease = easing(shown, goal, draw);
  const hand = h('input', { type: 'range', min: TRAINED, max: FARTHEST, 'aria-label': 'length of the text' });
  const line = s('line.thin'), needle = s('path', { d: `M${START} 16l6 12l-6 12l-6 -12Z` }), pill = s('g', {}, s('rect.pill', { x: 1, y: 15, width: 88, height: 26, rx: 6 }), text(45, 33, ''));
  const rows = kinds.map((kind, i) => {
    const y = RULER + ROW * i, o = { name: text(START + 10, y + 24, KINDS[kind], ''), ahead: s('rect.ahead', { x: START, y: y + 32, height: 16 }), unseen: s('rect.unseen', { x: START, y: y + 32, height: 16 }), fresh: s('line.fresh'), sight: s('line.sight'), gets: s('rect', { x: 1, width: 12 }), whole: s('rect.whole', { x: 1, y: y + 8, width: 12, height: 44 }), mark: s('line.mark') };
    return { ...o, y, kind, g: s('g.' + kind, {}, ...Object.values(o)) };
  });
  const svg = s('svg', { role: 'img', 'aria-label': 'What the last token sees in three kinds of layers, and the weight of the needle' }, text(0, 10, 'needle', ''), text(0, END + 14, '↑ the needle’s weight', 'mute'), text(START + 120, END + 14, '↑ what the last token sees', 'mute'), line, ...rows.map(o => o.g), needle, pill);

  function layout() {
    w = width(svg); X = n => START + n / FARTHEST * (w - START - 92);
    set(svg, { viewBox: `0 0 ${w} ${END + 18}` }).style.height = END + 18 + 'px';
    hand.style.left = X(TRAINED) + 'px'; hand.style.width = X(FARTHEST) - X(TRAINED) + 44 + 'px';
    for (const { ahead } of rows) set(ahead, { width: X(FARTHEST) - START });
    update(); draw();
  }
  function draw() {
    const n = shown.length, at = X(n);
    seg(line, [START, 28], [at, 28]); set(pill, { transform: `translate(${at} 0)` });
    for (const { kind, y, unseen, fresh, sight, gets, mark } of rows) {
      const share = weight(kind, n), near = kind === 'none' ? n : min(n, kind === 'full' ? TRAINED : SIGHT), bar = v => y + 52 - 44 * v;
      set(unseen, { width: at - START }); seg(sight, [X(n - near), y + 40], [at, y + 40]); seg(fresh, [START, y + 40], [kind === 'full' ? X(n - near) : START, y + 40]);
      set(gets, { y: bar(share), height: 44 * share }); seg(mark, [-2, bar(weight(kind, TRAINED))], [16, bar(weight(kind, TRAINED))]);
    }
  }
  function update() {
    const n = now();
    rows.forEach(({ kind, g }) => g.classList.toggle('unknown', weight(kind, n) === null));
    hand.value = length; set(hand, { 'aria-valuetext': `${length} tokens` }); pill.lastChild.textContent = `${n} tokens`;
    tell(h('b', {}, n), ` tokens${verdict(n)}`);
    ease();
  }
  hand.oninput = () => { length = +hand.value; update(); };
  paper.onchange = () => { update(); draw(); };
  mount(host, 'A text longer than those of training', LOOK, 'drag the end of the text away from the needle. Which layer still sees it?', [h('div.over', {}, hand, svg), says, live], layout,
    { play: options.play, tour: TOUR, show: state => { length = Math.round(state.length); update(); } });
  layout(); update();
}
