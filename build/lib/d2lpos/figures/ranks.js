// A text in eight chunks on four processors: who counts positions, and who has to wait?
// Pure math first (tested in node), drawing after.

export const CHUNKS = 8, SIZE = 16, SPEED = 10000 ** (-6 / 16); // tokens of a chunk; radians a token of the pair on the clocks
export const DEALS = { 'plain quarters': [0, 1, 2, 3, 4, 5, 6, 7], zigzag: [0, 7, 1, 6, 2, 5, 3, 4], 'dealt in turn': [0, 4, 1, 5, 2, 6, 3, 7] };
export const COUNTERS = { text: 'the text', row: 'the row', each: 'each processor' };
const eight = [...Array(CHUNKS).keys()], four = [0, 1, 2, 3];
const deals = rest => rest.length ? rest.flatMap((a, i) => rest.slice(i + 1).flatMap(b => deals(rest.filter(c => c !== a && c !== b)).map(more => [a, b, ...more]))) : [[]];
/** All ways to deal eight chunks to four processors, two each, the earlier one first; in the order of the table. */
export const WAYS = deals(eight);
const ENTRY = new Map(WAYS.map((order, i) => [order.join(''), i]));
/** Two chunks change places, and each processor keeps the earlier one first. */
export function exchange(order, a, b) {
  const now = order.map(c => c === a ? b : c === b ? a : c);
  return now.map((c, i) => (i % 2 ? max : min)(c, now[i ^ 1]));
}
/** The position that the first token of each chunk is given. */
export const starts = (order, rule) => eight.map(c => SIZE * (rule === 'text' ? c : rule === 'row' ? order.indexOf(c) : order.indexOf(c) % 2));
/** For each pair of chunks, a query's and a key's, none after it, whether offsets are wrong. Within a chunk they are not. */
export function astray(order, rule) {
  const at = starts(order, rule);
  return eight.flatMap(q => eight.slice(0, q + 1).map(k => at[q] - at[k] !== SIZE * (q - k)));
}
/** The share of pairs, a query and a key before it, whose offset is wrong. */
export const wrong = (order, rule) => astray(order, rule).filter(off => off).length * SIZE / ((CHUNKS * SIZE - 1) * CHUNKS / 2);
/** The pairs that each processor computes under the causal mask: those of the queries that it holds. */
export const work = order => four.map(p => [0, 1].reduce((sum, i) => sum + SIZE ** 2 * order[2 * p + i] + SIZE * (SIZE + 1) / 2, 0));
/** The losses on record, a byte for each way to deal, read once. */
export const opened = data => ({ ...data, row: atob(data.row) });
/** The loss on record, in nats a character. */
export const loss = ({ right, least, row, each }, order, rule) => (rule === 'text' ? right
  : rule === 'row' ? least + row.charCodeAt(ENTRY.get(order.join(''))) : each[eight.filter(c => order.indexOf(c) % 2 < 1).join('')]) / 100;
export const LOWEST = 1, HIGHEST = 3.5, BIN = .05; // nats
/** How many ways to deal have their loss in each bin. */
export function tally(data, rule) {
  const bins = Array(Math.round((HIGHEST - LOWEST) / BIN)).fill(0);
  for (const order of WAYS) bins[Math.floor((loss(data, order, rule) - LOWEST) / BIN + 1e-9)]++;
  return bins;
}

/** The chunks change hands: work levels out, and who counts along the row is wrong, as is who counts for itself alone. The text is right. */
export const TOUR = { order: [[0, DEALS['plain quarters']], [.2, DEALS.zigzag]], rule: [[0, 'row'], [.5, 'each'], [.75, 'text']] };

const CELL = 16, MOST = work(eight)[3]; // pairs of the last two chunks
const LOOK = `:host{--c:var(--enc-rope,#d55e00)}.over{overflow:clip}
.over input{left:0;width:100%;height:var(--h);pointer-events:none;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:var(--w);height:var(--h);pointer-events:auto;cursor:grab}
.over ::-moz-range-thumb{width:var(--w);height:var(--h);border:0;pointer-events:auto;cursor:grab}
.mono{font-family:var(--mono,monospace)}.name{font-weight:600}
.home,.rim{fill:none;stroke:currentColor;stroke-opacity:.45}.card{fill:currentColor;fill-opacity:.07}.held .card{fill-opacity:.2}
.true{stroke:currentColor;stroke-opacity:.6;stroke-width:1.5}.hand{stroke:currentColor;stroke-width:2.5}.slice{fill:none}
.bad .slice{fill:var(--c);fill-opacity:.4}.bad .hand{stroke:var(--c)}.bad .rim{stroke:var(--c);stroke-opacity:1;stroke-width:2.5;filter:drop-shadow(0 0 5px var(--c))}
.hill,.work{fill-opacity:.3}.even,.right{stroke:currentColor;stroke-dasharray:3 3}.now{stroke:currentColor;stroke-width:2.5}
.ctl{gap:0 10px}.pair{display:flex;flex-wrap:wrap;gap:4px 20px}.pair>svg{flex:none;width:${8 * CELL + 52}px}.pair>:last-child{flex:1 1 140px;margin:0;align-content:start}.ctl .ctl{margin-right:24px}.foot small{margin-top:4px}.foot{gap:10px 32px;margin-top:14px}.cell{fill-opacity:.5}.off{fill:var(--c)}[aria-pressed=true]{background:color-mix(in srgb,currentColor 14%,transparent)}
.out{grid-template-columns:1fr 1fr;align-items:start}
${eight.map(c => `.i${c}:focus-visible~svg .c${c} .card`)}{stroke:currentColor;stroke-width:2.5}`;

export function render(host, options, file) {
  const data = opened(file), tallies = Object.fromEntries(Object.keys(COUNTERS).map(rule => [rule, tally(data, rule)]));
  let { order, rule: who } = options, held = -1, at = 0, base, C, R, dial, w;
  const inputs = eight.map(c => h('input.i' + c, { type: 'range', max: CHUNKS - 1, 'aria-label': 'chunk ' + c }));
  const deal = Object.keys(DEALS).map(name => Object.assign(h('button', { type: 'button' }, name), { onclick: () => { order = DEALS[name]; update(); } }));
  const count = Object.entries(COUNTERS).map(([key, name]) => { const input = Object.assign(h('input', { type: 'radio', name: 'who' }), { onchange: () => { who = key; update(); } }); return { key, input, label: h('label', {}, input, name) }; });
  const { out, live, tell } = readout('loss, nats a character', 'with right positions', 'wrong offsets', 'most work ÷ fair share');

  const cards = eight.map(c => {
    const o = { card: s('rect.card', { y: 28, rx: 5 }), name: text(0, 46, c, 'mid.name'), lines: s('g'), slice: s('path.slice'), rim: s('circle.rim', { cx: 0 }), mark: s('line.true'), hand: s('line.hand'), used: text(0, 0, ''), not: text(0, 0, '') };
    return { ...o, all: s('g.c' + c, {}, ...Object.values(o)) };
  });
  const fixed = s('g'), loads = four.map(() => ({ bar: s('rect.work', { height: 12 }), even: s('line.even'), told: text(0, 0, '', 'a') }));
  const svg = s('svg', { role: 'img', 'aria-label': 'Chunks of the text on four processors, their clocks, and the work of each processor' }, fixed, ...loads.flatMap(Object.values), ...cards.map(o => o.all));
  const hill = s('path.hill'), axis = s('g'), now = s('line.now'), pin = s('path', { d: 'M0 0l-6 -9h12Z' }), scale = s('svg', { role: 'img', 'aria-label': 'The loss among those of all ways to deal the chunks' }, hill, axis, now, pin);
  const mark = (x, y, off) => set(s('rect'), off ? { x, y, width: CELL - 1, height: CELL - 1, class: 'off' } : { x: x + 5, y: y + 5, width: 6, height: 6, rx: 3, class: 'cell' });
  const pairs = s('g'), matrix = s('svg', { role: 'img', 'aria-label': 'Pairs of chunks whose offsets are wrong' }, pairs, mark(4 * CELL, 0, true), text(5 * CELL + 4, 13, 'wrong offset', 'a'), mark(4 * CELL, 20), text(5 * CELL + 4, 33, 'right', 'a'), text(0, 8 * CELL + 17, 'row: query, column: key', 'a.mute'));
  const over = h('div.over', {}, ...inputs, svg);

  const goal = () => ({ loss: loss(data, order, who), ...Object.fromEntries(eight.flatMap(c => [['s' + c, c === held ? at : order.indexOf(c)], ['a' + c, SPEED * starts(order, who)[c]]])), ...Object.fromEntries(work(order).map((v, p) => ['w' + p, v])) });
  const shown = goal(), ease = easing(shown, goal, paint), mean = work(order).reduce((a, b) => a + b) / 4;
  const X = v => 12 + (v - LOWEST) / (HIGHEST - LOWEST) * (width(scale) - 24), hand = (a, r) => [r * sin(a), dial - r * cos(a)];
  function layout() {
    const wide = svg.closest('.wide'), line = wide ? 18 : 16;
    w = width(svg); C = w / CHUNKS;
    const each = C < 80 ? 4 : 8, inset = C < 60 ? 2 : 5, end = 46 + SIZE / each * line; // characters a line; px
    R = min(C / 2 - 7, wide ? 30 : 22); dial = end + 10 + 1.25 * R;
    const foot = dial + 1.25 * R + 2 * line + 8, high = foot + 66;
    set(svg, { viewBox: `0 0 ${w} ${high}` }); svg.style.height = high + 'px'; over.style.cssText = `--w:${C}px;--h:${foot}px`;
    cards.forEach((o, c) => {
      set(o.card, { x: inset - C / 2, width: C - 2 * inset, height: foot - 32 }); set(o.rim, { cy: dial, r: R });
      o.lines.replaceChildren(...Array.from({ length: SIZE / each }, (_, i) => text(0, 46 + line * (i + 1), data.text.substr(SIZE * c + each * i, each).replaceAll(' ', '\xa0'), 'mid.mono')));
      [o.used, o.not].forEach((e, i) => set(e, { y: dial + 1.25 * R + line * (i + 1) }));
      const [from, to] = [.7, 1.25].map(k => hand(SPEED * SIZE * c, k * R)); seg(o.mark, from, to);
    });
    fixed.replaceChildren(...four.flatMap(p => [s('rect.home', { x: 2 * p * C + 1, y: .5, width: 2 * C - 2, height: foot, rx: 8 }), text(2 * p * C + C, 19, (C < 42 ? 'proc. ' : 'processor ') + p)]), text(0, foot + 24, 'pairs to compute (dashes: equal shares)', 'a.mute'));
    loads.forEach((o, p) => { const x = 2 * p * C + 2, y = foot + 32, even = x + mean / MOST * (2 * C - 6); set(o.bar, { x, y }); seg(o.even, [even, y - 3], [even, y + 15]); set(o.told, { x, y: y + 29 }); });
    const v = width(scale);
    set(scale, { viewBox: `0 0 ${v} 96` }); scale.style.height = '96px'; set(matrix, { viewBox: `0 0 ${8 * CELL + 52} ${8 * CELL + 22}` });
    axis.replaceChildren(text(0, 16, `loss of all ${WAYS.length.toLocaleString('en')} ways to deal, in nats${v > 380 ? ' (dashes: right positions)' : ''}`, 'a.mute'), rule([0, 72], [v, 72]), ...[1, 1.5, 2, 2.5, 3, 3.5].flatMap(n => [rule([X(n), 72], [X(n), 77]), text(X(n), 92, num(n, 1))]), seg(s('line.right'), [X(data.right / 100), 26], [X(data.right / 100), 72]));
    paint(); ways();
  }
  function ways() {
    const all = tallies[who], top = max(...all);
    set(hill, { d: `M${X(LOWEST)} 72` + all.map((n, i) => `V${72 - 40 * n / top}H${X(LOWEST + BIN * (i + 1))}`).join('') + 'V72Z' });
  }
  function paint() {
    cards.forEach((o, c) => {
      const a = shown['a' + c], is = SPEED * SIZE * c, [x, y] = hand(a, R);
      set(o.all, { transform: `translate(${C * (shown['s' + c] + .5)} 0)` }); seg(o.hand, [0, dial], hand(a, .85 * R));
      set(o.slice, { d: `M0 ${dial}L${hand(is, R)}A${R} ${R} 0 ${+(abs(a - is) > Math.PI)} ${+(a > is)} ${x} ${y}Z` });
    });
    loads.forEach((o, p) => set(o.bar, { width: shown['w' + p] / MOST * (2 * C - 6) }));
    seg(now, [X(shown.loss), 30], [X(shown.loss), 72]); set(pin, { transform: `translate(${X(shown.loss)} 34)` });
  }
  function update() {
    const first = starts(order, who), load = work(order), off = astray(order, who);
    inputs.forEach((input, c) => {
      const i = order.indexOf(c), own = data.text.substr(SIZE * c, SIZE), right = first[c] === SIZE * c, o = cards[c];
      if (c !== held) input.value = i;
      input.setAttribute('aria-valuetext', `“${own}”, on processor ${i >> 1} with chunk ${order[i ^ 1]}, counted from ${first[c]}${right ? '' : ', not ' + SIZE * c}`);
      o.all.setAttribute('class', `c${c}${c === held ? ' held' : ''}${right ? '' : ' bad'}`); o.used.textContent = first[c]; o.not.textContent = right ? '' : '≠' + SIZE * c;
    });
    loads.forEach((o, p) => { o.told.textContent = load[p].toLocaleString('en'); });
    pairs.replaceChildren(...off.map((bad, i) => { const q = Math.floor((Math.sqrt(8 * i + 1) - 1) / 2); return mark(CELL * (i - q * (q + 1) / 2), CELL * q, bad); }));
    deal.forEach(e => e.setAttribute('aria-pressed', DEALS[e.textContent].join() === order.join())); count.forEach(o => { o.input.checked = o.key === who; });
    tell([num(loss(data, order, who), 2), num(data.right / 100, 2), num(100 * wrong(order, who)) + ' %', num(max(...load) / mean, 2)], four.map(p => `processor ${p} has chunks ${order[2 * p]} and ${order[2 * p + 1]}`).join(', ') + '; ');
    ways(); ease();
  }
  inputs.forEach((input, c) => {
    // In hand a chunk follows the pointer; keys take it to the next processor.
    input.onpointerdown = () => { held = c; base = order; at = order.indexOf(c); input.step = 'any'; svg.append(cards[c].all); update(); };
    input.onchange = input.onpointerup = input.onpointercancel = () => { held = -1; input.step = 1; update(); };
    input.oninput = () => {
      const i = order.indexOf(c);
      at = +input.value;
      if (held === c) order = exchange(base, c, base[Math.round(at)]);
      else if (at >> 1 !== i >> 1) order = exchange(order, c, order[at]);
      else order = exchange(order, c, order[at + Math.sign(at - i)] ?? c);
      update();
    };
  });
  mount(host, 'A text on four processors', LOOK, 'drag a chunk onto another one, and let someone else count. Can work be shared equally, and the text be read as before?',
    [h('div.ctl', {}, h('div.ctl', {}, ...deal), h('fieldset.ctl', { 'aria-label': 'who counts positions' }, 'who counts:', ...count.map(o => o.label))), over,
      h('div.foot', {}, h('div', {}, scale, h('small', {}, 'Hand: the angle at a chunk’s first token; tick: the right one. The causal mask is always the text’s.')), h('div.pair', {}, matrix, out)), live], layout,
    { play: options.play, tour: TOUR, show: state => { ({ order, rule: who } = state); update(); } });
  layout(); update();
}
