// The second screen: a small Transformer guesses each character of the reader's own sentence. The sentence stays; what changes is
// whether the model is told where each character stands, and how far into a text the sentence is pushed.
// Before it come the book's reader (LONGEST, reader) and PAGE, the passage of the machine that reads: write.mjs puts them there.

export const TRAINED = 128, MOST = 120; // characters of a text in training; of a sentence here
const STEP = 16, LEAST = 12, FULL = 5; // characters between two stops of the handle; below which counts say nothing; nats of the darkest ink
export const OWN = 'The dog ran onto the field in the second half, and was by far our best player that day.';

/** How many characters of the page may stand before a sentence of n: to the end of a word, about STEP apart, as far as the model reads. */
export function stops(n) {
  const all = [0];
  for (let at = STEP; at + LEAST + n <= LONGEST; at += STEP) {
    const end = PAGE.indexOf(' ', at - 1) + 1;
    if (end + n <= LONGEST && end > all.at(-1)) all.push(end);
  }
  return all;
}
/** The surprise at each character of a sentence, and whether the model's first guess was right. The first character is not counted, since nothing stands before it at the start. */
export function* judge(model, before, words, told) {
  const tokens = model.tokens(PAGE.slice(0, before) + words), letters = model.card.vocabulary, judged = [];
  for (const done of model.read(tokens, tokens.map((_, i) => told ? i : 0))) {
    for (let i = before + judged.length; i < done; i++) {
      const loss = i > before ? model.loss[i] : NaN;
      judged.push({ loss, right: loss === loss && model.top(i, 1)[0][0] === letters[tokens[i]] });
    }
    yield judged;
  }
  return judged;
}
export const count = judged => ({ right: judged.filter(c => c.right).length, of: judged.filter(c => c.loss === c.loss).length });
/** How red a character is, in percent. */
export const shade = loss => loss > 0 ? Math.round(64 * min(1, max(0, loss - .7) / FULL)) : 0;
/** One sentence that is true of what is shown: the counts of now, and of the same sentence at the start of a text, told its positions. */
export function result({ told, before, n, now, base }) {
  if (base.of < LEAST) return n > 2 * base.of + 4 ? 'It does not know most of these characters.' : 'Write a little more, because so few characters tell nothing.';
  const right = `${now.right} of ${now.of} right`, beside = now.right < base.right ? `, not ${base.right}` : now.right === base.right ? ', as before' : told ? `, up from ${base.right}` : `, and ${base.right} when told`;
  if (!told) return before ? `Told one position for all, pushed ${before} characters on: ${right}${beside}.` : `Told that all stand in one place, it guesses ${right}${beside}.`;
  if (before) return `Pushed ${before} characters on, ${before + n <= TRAINED ? 'within' : before < TRAINED ? 'partly past' : 'past'} its training: ${right}${beside}.`;
  return `It guesses ${base.right < .3 * base.of ? 'only ' : ''}${base.right} of ${base.of < n - 1 ? `the ${base.of} characters that it knows` : `${base.of} characters`} before it sees them.`;
}
/** The sentence with its ink, as HTML. */
export const inked = (words, judged) => words.split('').map((c, i) => {
  const red = shade(judged[i].loss), letter = c === '&' ? '&amp;' : c === '<' ? '&lt;' : c;
  return red ? `<i style="--red:${red}%">${letter}</i>` : letter;
}).join('');

// From here on, only in a page.
const TOP = 14; // px above the plot
export function open(root, folder) {
  const one = q => root.querySelector(q), area = one('textarea'), ink = one('.ink'), told = one('[type=checkbox]'), hand = one('[type=range]');
  const out = one('.result'), live = one('[role=status]'), svg = one('svg.map'), still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const judgments = new Map(), models = {}; // by model, characters before, switch and words; by name
  let words = area.value, stop = 0, farthest = 0, beside = false, touched = false, longer = '', job = 0, W = 0, timer, speak;
  const key = (name, before, on) => `${name} ${before} ${on} ${words}`, places = () => stops(words.length), before = () => places()[stop] ?? 0;
  const rest = () => new Promise(done => setTimeout(done));
  const fetched = name => models[name] ??= new Promise((done, failed) => {
    const onload = () => done(reader(globalThis.d2lposReaders[name]));
    if (globalThis.d2lposReaders?.[name]) onload();
    else document.head.append(Object.assign(document.createElement('script'), { src: `${folder}readers-${name}.js`, onload, onerror() { delete models[name]; failed(Error(name)); } }));
  });

  function paint(judged) {
    const spans = ink.children, cells = svg.querySelectorAll('.bar .cell');
    for (let i = 0; i < words.length; i++) {
      for (const e of [spans[i], cells[i]]) e?.style.setProperty('--red', `${judged[i] ? shade(judged[i].loss) : 0}%`);
    }
  }
  /** New words: the text as spans, and a handle as wide as they are. */
  function set() {
    const whole = (c, i) => /[\uD800-\uDBFF]/.test(c) ? c + words[i + 1] : /[\uDC00-\uDFFF]/.test(c) ? '' : c; // of a pair that is one sign
    ink.replaceChildren(...words.split('').map((c, i) => Object.assign(document.createElement('i'), { textContent: whole(c, i) })), '\u200b'); // a line that ends in nothing has no height
    const all = places();
    stop = min(stop, all.length - 1); farthest = min(farthest, all.length - 1); hand.max = all.at(-1); hand.value = all[stop];
    map();
  }
  const el = (tag, at, text = '') => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const k in at) e.setAttribute(k, at[k]);
    e.textContent = text; return e;
  };
  /** The share of right guesses by how far the sentence was pushed, and below it the sentence as a bar that can be pushed. */
  function map() {
    W = svg.clientWidth || 340;
    const n = words.length, wide = W > 560, H = wide ? 150 : 128, X = v => v / LONGEST * W, Y = share => TOP + (H - TOP) * (1 - share);
    const at = (name, place, on) => { const judged = judgments.get(key(name, place, on)); if (!judged) return; const { right, of } = count(judged); return [X(place + n / 2), Y(of ? right / of : 0)]; };
    const line = name => places().slice(0, farthest + 1).map(place => at(name, place, true)).filter(Boolean);
    const path = points => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
    const rope = line('rope'), alibi = beside ? line('alibi') : [], here = at('rope', before(), told.checked), end = points => max(118, min(W - 34, points.at(-1)[0]));
    const bar = el('g', { class: 'bar', transform: `translate(${X(before())} ${H + 8})` });
    bar.append(el('rect', { class: 'back', width: X(n), height: 28, rx: 4 }), ...words.split('').map((_, i) => el('rect', { class: 'cell', x: X(i), width: X(1) + .3, y: 2, height: 24 })),
      el('rect', { class: 'edge', width: X(n), height: 28, rx: 4 }), el('path', { class: 'grip', d: `M${X(n) / 2 - 4} 9v10m4 -10v10m4 -10v10` }),
      ...touched ? [] : [el('text', { class: 'push', x: X(n) + 10, y: 19 }, wide ? 'push your sentence down the page →' : 'push your sentence →')]);
    svg.setAttribute('viewBox', `0 0 ${W} ${H + 74}`);
    svg.replaceChildren(el('rect', { class: 'known', y: TOP, width: X(TRAINED), height: H - TOP + 58 }),
      ...[0, .25, .5, .75, 1].flatMap(v => [el('path', { class: 'grid', d: `M0 ${Y(v)}H${W}` }), el('text', { x: W, y: Y(v) - 4, 'text-anchor': 'end' }, v === 1 ? '100 of 100 right' : v * 100 || '')]),
      el('path', { class: 'limit', d: `M${X(TRAINED)} ${TOP}V${H + 58}` }), el('text', { x: 6, y: H + 52 }, `${W < 345 ? '' : 'trained '}to ${TRAINED}`), el('text', { x: X(TRAINED) + 6, y: H + 52 }, 'characters it never got to'),
      el('path', { class: 'line rope', d: path(rope) }), el('path', { class: 'line alibi', d: path(alibi) }),
      ...farthest > 7 && rope.length > 3 ? [el('text', { class: 'name rope', x: end(rope), y: H - 5, 'text-anchor': 'end' }, 'this model (RoPE)')] : [],
      ...farthest > 7 && alibi.length > 3 ? [el('text', { class: 'name alibi', x: end(alibi), y: min(...alibi.filter(([x]) => x > end(alibi) - 150).map(p => p[1])) - 9, 'text-anchor': 'end' }, 'told by ALiBi')] : [],
      ...here ? [el('circle', { class: told.checked ? 'dot' : 'dot off', r: 6, cx: here[0], cy: here[1] })] : [], bar);
    hand.style.setProperty('--w', `${X(n)}px`); hand.style.width = `${X(places().at(-1) + n)}px`;
    const judged = judgments.get(key('rope', before(), told.checked));
    if (judged) paint(judged);
  }
  function say(judged) {
    const base = judgments.get(key('rope', 0, true));
    if (!base) return;
    out.textContent = result({ told: told.checked, before: before(), n: words.length, now: count(judged), base: count(base) }) + longer;
    hand.setAttribute('aria-valuetext', `${before()} characters before it. ${out.textContent}`);
    clearTimeout(speak); speak = setTimeout(() => { live.textContent = out.textContent; }, 700);
  }
  /** What a model makes of the sentence at a place, in slices of a few milliseconds; nothing once another job has begun. */
  async function judged(name, place, on, mine, shows) {
    const known = judgments.get(key(name, place, on));
    if (known) return known;
    const model = await fetched(name);
    if (mine !== job) return;
    for (let steps = judge(model, place, words, on), step; ;) {
      const until = performance.now() + 8;
      do step = steps.next(); while (!step.done && performance.now() < until);
      if (step.done) { judgments.set(key(name, place, on), step.value); return step.value; }
      if (shows) paint(step.value);
      await rest();
      if (mine !== job) return;
    }
  }
  /** First what is shown, then the line to its end, then the control's. */
  async function run() {
    const mine = ++job, on = told.checked;
    try {
      if (!await judged('rope', 0, true, mine)) return;
      const here = await judged('rope', before(), on, mine, !still && !on);
      if (!here) return;
      paint(here); say(here); map();
      for (const name of beside ? ['rope', 'alibi'] : ['rope']) for (const place of places()) {
        if (!await judged(name, place, true, mine)) return;
        if (place === places().at(-1)) map();
      }
    } catch { out.textContent = 'The model did not arrive. Reload the page to ask for it again.'; }
  }
  const soon = ms => { clearTimeout(timer); timer = setTimeout(run, ms); };
  told.onchange = run;
  hand.oninput = () => {
    const all = places();
    touched = true; stop = max(0, all.findLastIndex(place => place <= +hand.value + STEP / 2)); farthest = max(farthest, stop);
    beside ||= before() + words.length > TRAINED;
    const known = judgments.get(key('rope', before(), told.checked));
    map();
    if (known) say(known);
    soon(known ? 120 : 0);
  };
  hand.onkeydown = e => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 6, PageDown: -6, Home: -99, End: 99 }[e.key], all = places();
    if (!by) return;
    e.preventDefault(); hand.value = all[max(0, min(all.length - 1, stop + by))]; hand.oninput();
  };
  hand.onpointerdown = () => root.classList.add('held');
  hand.onpointerup = hand.onpointercancel = () => root.classList.remove('held');
  area.oninput = () => {
    const whole = area.value.replace(/\n/g, ' ');
    words = whole.slice(0, MOST).replace(/[\uD800-\uDBFF]$/, ''); longer = whole === words ? '' : ` It reads ${MOST} characters, and the rest is cut off.`;
    if (area.value !== words) {
      const at = area.selectionStart;
      area.value = words; area.setSelectionRange(at, at);
    }
    if (judgments.size > 900) judgments.clear();
    set(); soon(150);
  };
  root.classList.add('runs');
  set(); new ResizeObserver(() => { if (svg.clientWidth !== W) map(); }).observe(svg);
  // The model, 133 kB, waits until the film has its first frames and this is about to come into sight.
  const near = new IntersectionObserver(met => { if (met.some(m => m.isIntersecting)) { near.disconnect(); (globalThis.requestIdleCallback ?? setTimeout)(run, { timeout: 2500 }); } }, { rootMargin: '100px' });
  addEventListener('load', () => near.observe(root));
}
