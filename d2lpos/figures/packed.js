// Two texts in one row: how much of its attention the second one gives to the first, by how positions count and who is hidden.
// Pure words first (tested in node), drawing after.

/** The positions of the first and of the last character of both texts. */
export function ends({ first, second }, way) {
  const start = way === 'count on' ? first.length : 0;
  return [0, first.length - 1, start, start + second.length - 1];
}
const NAMES = { 'count on': 'Positions count on', 'begin again': 'Positions begin again', 'mask by text': 'A mask by text' };
/** What the model does then, in words: before its number, the number, and after it. */
export function verdict({ even, ways }, way) {
  const { share, losses: [loss, other] } = ways[way], said = [loss, other].map(v => num(v, 2));
  return [`${NAMES[way]}: `, `${num(100 * share)} %`, ' of the second text’s attention goes to the first'
    + { 'count on': '', 'begin again': `, and even weights would give it ${num(100 * even)} %`, 'mask by text': '' }[way]
    + `. The loss is ${said[0]} nats a character${said[0] === said[1] ? ', whichever text comes first' : `, and ${said[1]} after another first text`}.`];
}

/** From counting on to beginning again. */
export const TOUR = { way: [[0, 'count on'], [.15, 'begin again']] };

const LINE = 24, HIGH = 20, LOOK = `${GUESS}:host{--c:var(--enc-rope,#d55e00)}.mono{font-family:var(--mono,monospace)}.shade{fill:var(--c)}.whole,.part{fill:none}.whole{stroke:currentColor;stroke-opacity:.1}.part{stroke:var(--c);stroke-opacity:.7}
.wall{stroke:currentColor;stroke-width:5}.ctl{margin-top:6px}.says{min-height:5.6em}.paper{display:none}.paper p{margin-top:6px}@media print{.live{display:none}.paper{display:block;break-inside:avoid;margin-bottom:12px}}`;

/** One picture of both texts, and what draws it: `layout` for a width, `write` for what is read, `paint` for what eases. */
function picture(data) {
  const { first, second } = data, top = max(...Object.values(data.ways).flatMap(way => way.shades)), shades = [...first].map(() => s('rect.shade', { height: HIGH }));
  const letters = s('g'), names = s('g'), whole = s('path.whole'), part = s('path.part'), wall = s('line.wall'), share = text(0, 0, '', 'b'), at = [0, 1, 2, 3].map(i => text(0, 0, '', i % 2 ? 'end.mute' : 'mute'));
  const svg = s('svg', { role: 'img', 'aria-label': 'Two texts in one row, and the attention of the second to the first' }, ...shades, whole, part, wall, letters, names, ...at, share);
  let draw, beside;
  /** A text in lines of whole words: where each character is, where the longest line ends, and at which height the last one is. */
  const put = (words, x0, y0, pitch, room) => {
    const lines = [''];
    for (const word of words.match(/\S+\s*/g)) lines[lines.length - 1].length + word.trimEnd().length > room ? lines.push(word) : lines[lines.length - 1] += word;
    const places = lines.flatMap((line, j) => [...line].map((_, i) => [x0 + i * pitch, y0 + j * LINE]));
    letters.append(...lines.map((line, j) => text([...line].map((_, i) => num(x0 + (i + .5) * pitch, 1)).join(' '), y0 + j * LINE, line, 'mid.mono')));
    return { places, end: x0 + pitch * max(...lines.map(line => line.trimEnd().length)), y: y0 + (lines.length - 1) * LINE };
  };
  return { svg,
    layout(w) {
      const pitch = svg.closest('.wide') ? 9.1 : 7.9, room = Math.floor(w / pitch), gap = 3, row = (first.length + second.length + gap) * pitch <= w;
      letters.replaceChildren();
      beside = row;
      let one, two, high;
      if (row) {
        const left = (first.length + gap) * pitch, a = first.length * pitch / 2, b = left + second.length * pitch / 2, y = 138, base = y - 22, thick = 56;
        one = put(first, 0, y, pitch, room); two = put(second, left, y, pitch, room); high = y + 30;
        set(whole, { d: `M${b} ${base}V80Q${b} 32 ${b - 80} 32H${a + 80}Q${a} 32 ${a} 80V${base}`, 'stroke-width': thick });
        draw = t => set(part, { d: whole.getAttribute('d'), 'stroke-width': t * thick });
        seg(wall, [left - gap / 2 * pitch, 4], [left - gap / 2 * pitch, y + 26]); set(share, { x: (left + b) / 2 - 18, y: 86, class: 'mid b' });
        at.forEach((e, i) => set(e, { x: i % 2 ? [one, two][i >> 1].end : left * (i >> 1), y: y + 26 }));
        names.replaceChildren(text(0, y - 24, 'first text', 'mute'), text(two.end, y - 24, 'second text', 'end.mute'));
      } else {
        const thick = min(200, w - 170);
        one = put(first, 0, 40, pitch, room); const from = one.y + 32, to = from + 70;
        two = put(second, 0, to + 44, pitch, room); high = two.y + 28;
        set(whole, { d: `M${thick / 2} ${to}V${from}`, 'stroke-width': thick });
        draw = t => set(part, { d: `M${t * thick / 2} ${to}V${from}`, 'stroke-width': t * thick });
        seg(wall, [0, from + 16], [w, from + 16]); set(share, { x: thick + 10, y: (from + to) / 2 + 5, class: 'b' });
        at.forEach((e, i) => set(e, { x: i % 2 * [one, two][i >> 1].end, y: [one, two][i >> 1].y + 22 }));
        names.replaceChildren(text(0, 16, 'first text', 'mute'), text(0, to + 22, 'second text', 'mute'));
      }
      shades.forEach((e, i) => { const [x, y] = one.places[i]; set(e, { x, y: y - 15, width: pitch + .3 }); });
      set(svg, { viewBox: `0 0 ${w} ${high}` }).style.height = high + 'px';
    },
    write(way) {
      ends(data, way).forEach((v, i) => { at[i].textContent = i % 2 ? v : `positions ${v}`; at[i].classList.toggle('b', i > 1); });
      share.textContent = `${beside ? '←' : '↑'} ${num(100 * data.ways[way].share)} % of its attention`;
    },
    goal: way => ({ share: 100 * data.ways[way].share, wall: way === 'mask by text' ? 100 : 0, ...Object.fromEntries(data.ways[way].shades.map((v, i) => ['s' + i, 70 * v / top])) }),
    paint(shown) {
      shades.forEach((e, i) => set(e, { 'fill-opacity': num(shown['s' + i] / 100, 3) }));
      draw(shown.share / 100); set(wall, { 'stroke-opacity': shown.wall / 100 });
    } };
}

export function render(host, options, data) {
  let { way } = options;
  const live = picture(data), shown = live.goal(way), ease = easing(shown, () => live.goal(way), () => live.paint(shown)), { says, live: voice, tell } = sentence();
  const ways = Object.keys(NAMES).map(name => Object.assign(h('input', { type: 'radio', name: 'way' }), { onchange: () => { way = name; update(); }, value: name }));
  // Paper shows what beginning again changes.
  const still = Object.keys(NAMES).slice(0, 2).map(name => ({ name, ...picture(data) })), sheets = still.map(o => h('div.paper', {}, o.svg, h('p', {}, ...verdict(data, o.name))));
  const stage = h('div', {}, h('div.live', {}, live.svg), ...sheets);
  function layout() {
    for (const o of [live, ...still]) { o.layout(width(stage)); o.write(o.name ?? way); o.paint(o.name ? o.goal(o.name) : shown); }
  }
  function update() {
    for (const input of ways) input.checked = input.value === way;
    const [before, much, after] = verdict(data, way);
    live.write(way); tell(before, h('b', {}, much), after); ease();
  }
  const asks = guess({ ask: 'If positions begin again at 0, how much of its attention does the second text give to the first?', answers: ['less', 'as much', 'more'], right: 2, so: `${num(100 * data.ways['begin again'].share)} %, and not ${num(100 * data.ways['count on'].share)} %.` });
  mount(host, 'Two texts in one row', LOOK, options.play ? 'let positions begin again, and then hide the first text.' : asks,
    [stage, h('fieldset.ctl', { 'aria-label': 'positions and mask' }, ...ways.map(input => h('label', {}, input, input.value))), h('div.live', {}, says), voice], layout,
    { play: options.play, tour: TOUR, show: state => { ({ way } = state); update(); } });
  layout(); update();
}
