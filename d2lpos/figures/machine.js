// The machine that reads: two small models beside each other, the surprise of each at every character, and where their heads look.
// What it shows is computed here, by the models. On the site their files come when the figure does, or when one is chosen; a cell brings those that it names.

export const WINDOW = 32; // characters that a point of the line is the mean of
const SLICE = 10, FULL = 5, LEFT = 30, HIGH = 150, TOP = 84; // ms between two breaths; nats of the darkest ink; px around the lines
export const MODELS = {
  none: 'none', sinusoidal: 'sinusoidal', learned: 'learned', rope: 'RoPE', 'rope linear': 'RoPE, interpolated', 'rope ntk': 'RoPE, NTK', t5: 'T5', alibi: 'ALiBi' };
const HUES = { none: 'var(--enc-none,#6f7378)', sinusoidal: 'var(--enc-sinusoidal,#0072b2)', learned: 'var(--enc-learned,#c98500)',
  rope: 'var(--enc-rope,#d55e00)', t5: 'var(--enc-relative,#009e73)', alibi: 'var(--enc-alibi,#cc79a7)' };
const SHADES = [[.004, .2], [.01, .35], [.03, .55], [.1, .8], [.3, 1]]; // from a weight on, how dark
export const CLOCKS = { runs: 'runs', stands: 'stands still', double: 'runs at double pace', shuffled: 'is shuffled' };

/** An order of n things, drawn from a seed. */
const drawn = (n, seed) => { const next = random(seed); return Array.from({ length: n }, (_, i) => [next(), i]).sort(([a], [b]) => a - b).map(([, i]) => i); };
/** The text with its words in another order; the space between them stays. */
export const shuffled = (text, seed = 7) => {
  const parts = text.split(/(\s+)/), order = drawn((parts.length + 1) / 2, seed);
  return parts.map((part, i) => i % 2 ? part : parts[2 * order[i / 2]]).join('');
};
/** The position that each of n characters is told. Shuffled ones stay among as many as the models were trained on. */
export const positions = (n, clock, start, block) => Array.from({ length: n }, (_, i) => clock !== 'shuffled' ? i * ({ stands: 0, double: 2 }[clock] ?? 1)
  : i % block ? [] : drawn(min(block, n - i), i / block).map(j => i + j)).flat().map(p => start + p);
/** The mean of the numbers among values[from … to − 1]; NaN where there is none. */
export const mean = (values, from, to) => { let t = 0, n = 0; for (let i = max(0, from); i < to; i++) if (values[i] === values[i]) { t += values[i]; n++; } return t / n; };
const about = nats => Number(Math.exp(nats).toPrecision(nats < 2.3 ? 1 : 2));
/** A mean surprise in words: as hard as to guess among so many characters alike. */
export const among = nats => nats < .4 ? 'nearly sure' : `guesses among about ${about(nats)} characters`;
const nats = v => v === v ? num(v, 2) : '–';
const mark = c => c === '\n' ? 'line end' : c === ' ' ? 'space' : /\w/.test(c) ? c : `“${c}”`;
/** What became of the surprise of a model. */
export const noticed = (name, was, now) => abs(now - was) < .005 ? `${name} does not notice` : `${name} is ${now > was ? 'more' : 'less'} surprised, ${nats(now)} instead of ${nats(was)} nats`;

/** The text grows past the length of training. */
export const TOUR = { part: [[0, .25], [.1, .25], [.9, 1]] };

const LOOK = `.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:20px 36px;margin:6px 0;padding-bottom:8px}.panel{min-width:0}
.name{display:flex;flex-wrap:wrap;align-items:center;gap:0 10px;padding-bottom:6px;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 30%,transparent)}.mean{flex:1 1 112px;min-height:44px}.name select{flex:1 1 92px;min-width:0;font-weight:650;font-size:17px}@media(max-width:500px){.name select{flex:1 1 80%}.fig:not(.points) .heads{display:none}.text{max-height:90px;overflow:auto}textarea{outline-offset:-2px!important}.fig{display:flex;flex-direction:column}.verdict{order:1;font-size:16px!important}}.name svg{width:30px;height:12px;flex:none}
select{font:inherit;color:inherit;background:none;border:0;height:44px;max-width:100%}option{color:#000;background:#fff}option:disabled{color:#767676}.ctl{--c:${HUES.none}}
.text{margin:10px 0 6px}.sheet{position:relative}.ink,textarea{font:17px/1.75 var(--serif,Georgia),serif;font-kerning:none;font-variant-ligatures:none;letter-spacing:0;white-space:pre-wrap;overflow-wrap:break-word;box-sizing:border-box;width:100%;margin:0;padding:0;border:0}
.ink{min-height:3.5em}.ink i{font-style:normal;transition:background-color .25s;border-radius:1px}.ink i.un{opacity:.68}.ink i.at{outline:2px solid;outline-offset:1px}.ink .bound{position:relative}.ink .bound::before{content:"";position:absolute;inset:-.15em auto -.15em -1px;border-left:2px dashed}.ink .bound::after{content:attr(data-at);position:absolute;left:4px;bottom:calc(100% - 3px);font:12px/1 var(--sans,sans-serif)}
textarea{position:absolute;inset:0;height:100%;resize:none;overflow:hidden;background:none;color:inherit;-webkit-text-fill-color:transparent;caret-color:currentColor;outline-offset:6px}
textarea:focus-visible{outline:2px solid}::selection{background:color-mix(in srgb,currentColor 25%,transparent)}
.mean b{font-size:18px}.told{min-height:2.8em;margin:4px 0}.heads path{fill:currentColor}
.line+text{paint-order:stroke;stroke:var(--paper,#fffefb);stroke-width:4px}.line{fill:none;stroke:var(--c);stroke-width:2.25;stroke-linejoin:round}.edge{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}.limit{stroke:currentColor;stroke-dasharray:4 4;stroke-opacity:.7}.flag{fill:currentColor;fill-opacity:.12}
.over{overflow:clip}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.over input:focus-visible~svg .flag{stroke:currentColor;stroke-width:2}.start{width:110px;margin:0 8px}.verdict{font:18px/1.45 var(--serif,Georgia),serif;min-height:2.9em;max-width:46em;margin:4px 0 6px}slot{display:none}.brief :is(.name~*,.mean,.guess,.line+text){display:none}.brief .two{grid-template-columns:1fr 1fr}.brief .name{flex-wrap:nowrap}
@media print{.fig:not(.read){display:none}.fig:not(.read)~slot{display:block}}`;

export function render(host, { passages, trained: T, ...options }) {
  let { length, start, clock, shuffle, brief, words: source } = options, right = brief ? 22 : 78, words = '', fig, seen, told, at = -1, job = 0, solo = 0, deed, warning, state, was, from = start, timer, w, X, Y;
  const OWN = 'your own words', { content_root: root } = document.documentElement.dataset, loaded = new Map(), known = new Map(), alone = new Map(); // known: means, alone: those of the last characters read alone, by settings
  const side = (model, i) => {
    const name = h('select', { 'aria-label': i ? 'second model' : 'first model' }, ...Object.entries(MODELS).map(([key, label]) => h('option', { value: key }, label)));
    const area = h('textarea', { maxlength: LONGEST, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-label': `text, as the ${i ? 'second' : 'first'} model reads it` });
    const cell = () => h('div.mean', {}, h('small'), h('b')), parts = { within: cell(), beyond: cell(), text: h('div.ink', { 'aria-hidden': 'true' }), told: h('p.told') }; parts.box = h('div.text', {}, h('div.sheet', {}, parts.text, area));
    const sample = s('line.line', { x1: 0, y1: 6, x2: 30, y2: 6 }), cells = s('g'), heads = s('svg.heads', { role: 'img', 'aria-label': 'Where the heads look' }, cells);
    name.value = model;
    return { ...parts, name, area, sample, cells, heads, line: s('path.line'), label: text(0, 0, ''), spans: [], losses: [], marked: [], done: 0,
      panel: h('div.panel', {}, h('div.name', {}, s('svg', { viewBox: '0 0 30 12', 'aria-hidden': 'true' }, sample), name, parts.within, parts.beyond), parts.box, parts.told, heads) };
  };
  const sides = [options.left, options.right].map(side), live = h('div.sr', { role: 'status', id: 'told' }), verdict = h('p.verdict'), call = h('code');
  const others = h('p.mute', { hidden: '' }, 'Models that are gray in the menus come when a cell names them, as in ', call, '.');
  const pick = h('select', {}, ...[...Object.keys(passages), OWN].map(name => h('option', {}, name)));
  const clocks = Object.fromEntries(Object.keys(CLOCKS).map(k => [k, h('input', { type: 'radio', name: 'clock' })])), mix = h('input', { type: 'checkbox' });
  const begin = h('input.start', { type: 'range', max: 1000, step: 4 }), beginOut = h('output'), hand = h('input', { type: 'range', min: 8, 'aria-label': 'length of the text' });
  const fixed = s('g'), edge = s('line.edge'), flag = s('g', {}, s('rect.flag', { x: -62, y: 22, width: 124, height: 27, rx: 5 }), text(0, 40, ''));
  const chart = s('svg', { role: 'img', 'aria-label': 'Mean surprise along the text' }, fixed, ...sides.flatMap(o => [o.line, o.label]), edge, flag);
  const key = o => o.name.value.split(' ')[0], label = o => MODELS[o.name.value], read = o => min(length, o.done);
  const settings = first => JSON.stringify([words, length, first, clock, ...sides.map(o => o.name.value)]);

  function ink(o, from = 0, to = words.length) { // behind the characters from … to − 1
    for (let i = from; i < to; i++) {
      const share = i < read(o) && o.losses[i] > 0 ? num(62 * min(1, o.losses[i] / FULL)) : 0;
      o.spans[i].style.backgroundColor = share > 0 ? `color-mix(in srgb,var(--c) ${share}%,transparent)` : '';
      o.spans[i].classList.toggle('un', i >= length);
    }
  }
  /** Of the last characters past training, the one at which the models differ most; in shorter texts the last one. */
  function telling() {
    let found = length - 1, most = 0;
    for (let i = max(T, length - WINDOW); i < length; i++) { const apart = abs(sides[0].losses[i] - sides[1].losses[i]); if (apart > most) { most = apart; found = i; } }
    return found;
  }
  /** Short excerpts show where the reading ends, unless a hand is in them. */
  const follow = () => { for (const o of sides) if (at < 0 && o.spans.length && host.shadowRoot.activeElement !== o.area) o.box.scrollTop = o.spans[max(0, length - 1)].offsetTop - 62; };
  function look() { // where the heads look from one character, and what was expected there
    const i = at < 0 || at >= length ? telling() : at;
    fig?.classList.toggle('points', at >= 0);
    for (const o of sides) {
      const ready = i >= 0 && o.done > i, seen = ready ? o.reader.look(i) : [], loss = o.losses[i], row = 8, x = 52, unit = (width(o.heads) - x) / max(1, length);
      for (const e of o.marked) { e.style.boxShadow = ''; e.classList.remove('at'); }
      o.marked = ready ? [o.spans[i]] : [];
      if (ready && (at >= 0 || i < length - 1)) o.spans[i].classList.add('at');
      const shades = SHADES.map(() => '');
      seen.forEach((weights, k) => weights.forEach((v, j) => {
        const shade = SHADES.findLastIndex(([low]) => v >= low);
        if (shade >= 0) shades[shade] += `M${(x + j * unit).toFixed(1)} ${row * (k + Math.floor(k / o.reader.card.heads))}h${unit.toFixed(2)}v${row - 1}h-${unit.toFixed(2)}z`;
      }));
      if (at >= 0 && ready) for (let j = 0; j < i; j++) {
        const most = max(...seen.map(v => v[j]));
        if (most > .1) { o.spans[j].style.boxShadow = `inset 0 -${num(1 + 4 * most, 1)}px`; o.marked.push(o.spans[j]); }
      }
      const { layers = 3, heads = 3 } = o.reader?.card ?? {}, high = layers * (heads + 1) * row + 14;
      set(o.heads, { viewBox: `0 0 ${width(o.heads)} ${high}` }).style.height = high + 'px';
      o.cells.replaceChildren(...shades.map((d, k) => s('path', { d, opacity: SHADES[k][1] })), ...Array.from({ length: layers }, (_, l) => text(0, row * (l * (heads + 1) + heads / 2) + 5, `layer ${l + 1}`, 'mute')),
        text(0, high - 1, 'where its heads look: more ink, more weight', 'mute'));
      o.told.textContent = ready ? `Character ${i}, ${mark(words[i])}: ${loss === loss ? `${nats(loss)} nats. Expected ${o.reader.top(i, 3).map(([c, p]) => `${mark(c)} ${num(100 * p)} %`).join(', ')}.` : 'nothing is asked here.'}` : '';
    }
  }
  function draw() { // the lines of the mean
    const n = max(64, words.length), below = TOP + HIGH, lines = sides.map(o => Array.from({ length: read(o) + 1 }, (_, i) => i < 9 ? NaN : mean(o.losses, i - WINDOW, i)));
    const top = max(3, ...sides.map(o => { let most = 0; for (let i = 16; i <= o.done; i += 8) most = max(most, mean(o.losses, i - WINDOW, i) || 0); return Math.ceil(most); }));
    const altered = told.some((p, i) => p !== i), ticks = [64, 128, 256, 384, 512].filter(v => v <= n && (n < 200 || v !== 64)), wide = w > 560;
    X = v => LEFT + v / n * (w - LEFT - right); Y = v => TOP + HIGH * (1 - v / top);
    const level = (_, v) => [rule([LEFT, Y(v)], [w - right, Y(v)]), text(LEFT - 8, Y(v) + 4.5, v, 'end.mute'), text(w - right + 8, Y(v) + 4.5, v ? `1 in ${about(v)}` : 'sure', 'guess.mute')];
    fixed.replaceChildren(...Array.from({ length: top + 1 }, level).flat(),
      text(0, 13, wide ? `surprise in nats, mean of the last ${WINDOW} characters` : 'surprise in nats', 'mute'), text(w, 13, 'like a guess', 'end.guess.mute'),
      text(0, below + 18, 'character 0', 'mute'), altered ? text(0, below + 36, `position ${told[0]}`, 'mute') : '',
      ...ticks.flatMap(v => [text(X(v), below + 18, v, 'mid.mute'), altered ? text(X(v), below + 36, told[v] ?? '', 'mid.mute') : '']),
      ...T < n ? [seg(s('line.limit'), [X(T), TOP - 8], [X(T), below]), text(X(T), below + (altered ? 54 : 36), 'from here on longer than in training', X(T) + 215 < w ? 'mute' : 'end.mute')] : []);
    const ends = lines.map((line, k) => {
      const points = line.flatMap((v, i) => v === v ? [[X(i), Y(v)]] : []);
      set(sides[k].line, { d: points.length > 1 ? 'M' + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L') : '' });
      return [points.at(-1) ?? [0, NaN], points];
    });
    const low = +(ends[1][0][1] > ends[0][0][1]), left = X(length) > 170; // the lower line has its name below it
    sides.forEach((o, k) => { // beside its line, above the axis and below the handle
      const [[x, y], points] = ends[k], near = points.filter(p => p[0] > x - (left ? 12 + 8 * label(o).length : 0)).map(p => p[1]);
      set(o.label, { class: left ? 'end' : '', visibility: y ? 'visible' : 'hidden' });
      say(o.label, x + (left ? -7 : 7), max(63, min(below - 6, k === low ? max(...near, 0) + 18 : min(...near, below) - 7)), label(o));
    });
    set(hand, { max: max(9, words.length), 'aria-valuetext': `${length} characters` }).value = length; hand.style.left = X(8) - 22 + 'px'; hand.style.width = X(+hand.max) - X(8) + 44 + 'px';
    const foot = below + (altered ? 60 : 42); set(chart, { viewBox: `0 0 ${w} ${foot}` }).style.height = foot + 'px';
    seg(edge, [X(length), 49], [X(length), below]); set(flag, { transform: `translate(${max(63, min(w - 63, X(length)))} 0)` }).lastChild.textContent = `${length} characters`;
  }
  /** The numbers, and a sentence that says what has changed. */
  function tell() {
    const now = sides.map(o => [[1, min(T, length)], [T, length], [1, length]].map(([from, to]) => o.done < length ? NaN : mean(o.losses, from, to)));
    const write = (cell, ...values) => values.forEach((v, k) => { cell.children[k].textContent = v; });
    sides.forEach((o, k) => {
      write(o.within, length > T ? `the first ${T} characters` : `${length} characters`, `${nats(now[k][0])} nats`);
      write(o.beyond, ...length > T ? ['all that come after', `${nats(now[k][1])} nats`] : ['', '']);
    });
    const names = sides.map(label), all = now.map(v => v[2]), ready = all.every(v => v === v), [{ done, tokens, reader }] = sides, unknown = new Set(words.split('').filter((_, i) => done && tokens[i] === reader.card.unknown));
    if (ready) { if (known.size > 500) known.clear(); known.set(state, all); from = start; }
    const said = !ready ? words.length < 2 ? 'Type a text: a model guesses each character but the first.' : 'The models are reading.'
      : was ? `${deed}: ${names.map((name, k) => noticed(name, was[k], all[k])).join('; ')}.`
      : length > T ? `Past the ${T} characters of training ${names.map((name, k) => `${name} goes from ${nats(now[k][0])} to ${nats(now[k][1])} nats`).join(', and ')}.`
      : `This text is no longer than those of training. ${names.map((name, k) => `${name} ${among(now[k][0])}`).join(', and ')}.`;
    const apart = length > T && alone.get(state), control = ready && apart ? ` The last ${T} characters read alone: ${names.map((name, k) => `${name} ${nats(apart[k])} instead of ${nats(mean(sides[k].losses, length - T + 1, length))} nats`).join(', ')}.` : '';
    verdict.textContent = said + control + (sides.map(key).includes('learned') && max(...told.slice(0, length)) >= T ? ` learned has ${T} rows: later positions get the last one again.` : '') + (unknown.size ? ` The models do not know ${[...unknown].slice(0, 5).join(' ')}: they count no surprise there.` : '') + warning;
    clearTimeout(timer);
    timer = setTimeout(() => { look(); if (ready && length > T && !apart && !brief) isolate(); else if (!live.closest('.plays')) live.textContent = `${verdict.textContent} ${at < 0 ? '' : sides.map((o, k) => `${names[k]}: ${o.told.textContent}`).join(' ')}`; }, 400);
  }
  /** Tell length from text: let the same models read the last characters, as many as in training, with nothing before them. */
  async function isolate() {
    const asked = state, mine = ++solo, found = [], first = length - T;
    for (const o of sides) {
      if (o.twin?.card !== o.reader.card) { const made = reader(await file(key(o))); if (mine !== solo || asked !== state) return; o.twin = made; }
      let until = performance.now() + SLICE;
      for (const _ of o.twin.read(o.tokens.slice(first, first + T), positions(T, clock, start, T), o.name.value.split(' ')[1] ?? 'as trained')) if (performance.now() > until) {
        await new Promise(done => setTimeout(done));
        until = performance.now() + SLICE;
        if (mine !== solo || asked !== state) return;
      }
      found.push(mean(o.twin.loss, 1, T));
    }
    if (alone.size > 500) alone.clear();
    alone.set(asked, found);
    tell();
  }
  const show = () => { for (const o of sides) ink(o); follow(); draw(); if (!fig?.matches('.plays')) look(); tell(); };

  /** Let hands choose what there is: all models on the site; in a notebook those that its cells have brought, in Colab this cell. */
  function offer() {
    const names = Object.keys(HUES), lacks = names.filter(name => root === undefined && !globalThis.d2lposReaders?.[name]);
    for (const o of sides) for (const option of o.name.options) option.disabled = lacks.includes(option.value.split(' ')[0]);
    others.hidden = !lacks.length || lacks.length === names.length; // none are there before the cell is run
    call.textContent = `machine("${lacks[0]}", "${lacks[1] ?? key(sides[0])}")`;
  }
  /** A model's file: there already, as in a notebook that is run, or a file of the site. */
  const file = name => globalThis.d2lposReaders?.[name] ?? loaded.get(name) ?? loaded.set(name, new Promise((done, failed) => {
    const onload = () => done(d2lposReaders[name]);
    if (root === undefined) return failed(Error('Run this cell: the models come with its output.'));
    document.head.append(Object.assign(document.createElement('script'), { src: `${root}_static/readers-${name}.js`, onload,
      onerror() { loaded.delete(name); failed(Error('A model did not arrive. Choose it again to ask for it.')); } }));
  })).get(name);
  async function compute() { // both models in turn, with a breath every few milliseconds
    const mine = ++job, rest = () => new Promise(done => setTimeout(done));
    fig.classList.remove('read'); offer();
    for (const o of sides) o.done = 0;
    try {
      for (const o of sides) {
        const found = await file(key(o));
        await rest();
        if (mine !== job) return;
        if (o.has !== key(o)) { o.reader = reader(found); o.has = key(o); }
        o.losses = o.reader.loss; o.tokens = o.reader.tokens(words);
        o.rows = o.reader.read(o.tokens, told, o.name.value.split(' ')[1] ?? 'as trained');
      }
    } catch (error) { verdict.textContent = error.message; return; }
    for (let busy = [...sides], drawn = performance.now(); busy.length;) {
      const until = performance.now() + SLICE;
      while (busy.length && performance.now() < until) {
        const o = busy.reduce((a, b) => b.done < a.done ? b : a), from = o.done, { value, done } = o.rows.next();
        if (done) busy = busy.filter(b => b !== o); else { o.done = value; ink(o, from, value); }
      }
      if (performance.now() - drawn > 100) { if (sides.every(o => o.done >= length)) show(); else draw(); drawn = performance.now(); }
      await rest();
      if (mine !== job) return;
    }
    fig.classList.add('read'); show();
    if (options.play) play();
  }
  function play() { // the story needs models that have read, and a hand that has touched nothing
    const button = fig.querySelector('.play'), half = new IntersectionObserver(met => {
      if (met.at(-1).intersectionRatio < .4 && met.at(-1).intersectionRect.height < .7 * innerHeight) return;
      half.disconnect();
      if (options.play) if (button) button.click(); else cut(words.length);
      options.play = false;
    }, { threshold: [.2, .3, .4, .5] });
    half.observe(fig);
  }
  const cut = n => { length = min(n, words.length); state = settings(start); was = warning = ''; show(); }; // the text ends elsewhere
  /** Do what a hand asked for; `what` says it, and alone sets it apart from `base`. */
  function act(what, { fresh, base = state } = {}) {
    deed = what; warning = ''; was = what && known.get(base);
    if (fresh) {
      if (length === words.length) length = LONGEST;
      words = shuffle ? shuffled(source) : source; length = min(length, words.length);
      for (const o of sides) {
        o.spans = words.split('').map((c, i) => i === T ? h('i.bound', { 'data-at': T }, c) : h('i', {}, c)); o.marked = [];
        o.text.replaceChildren(...o.spans, '\u200b'); // a line that ends in nothing has no height
        if (o.area.value !== words) o.area.value = words;
        o.area.readOnly = shuffle;
      }
    }
    state = settings(start); told = positions(words.length, clock, start, T);
    for (const o of sides) for (const { style } of [o.panel, o.sample, o.line]) { style.setProperty('--c', HUES[key(o)]); style.strokeDasharray = o === sides[1] ? '7 4' : ''; }
    for (const k in clocks) clocks[k].checked = k === clock;
    begin.value = beginOut.textContent = start; mix.checked = shuffle;
    if (seen) compute(); else show();
  }
  hand.oninput = () => cut(+hand.value);
  begin.oninput = () => { start = +begin.value; act(start !== from && `The text begins at position ${start}, not ${from}`, { base: settings(from) }); };
  for (const k in clocks) clocks[k].onchange = () => { clock = k; act(`The clock ${CLOCKS[k]}`); };
  mix.onchange = () => { shuffle = mix.checked; act(shuffle ? 'The words are shuffled' : 'The words are back in order', { fresh: true }); };
  pick.onchange = () => {
    if (!(source = passages[pick.value] ?? '')) { shuffle = false; sides[0].area.focus(); }
    act('', { fresh: true });
  };
  for (const o of sides) {
    o.name.onchange = () => act('');
    o.name.onfocus = o.name.onpointerdown = offer; // another cell may have run
    o.area.oninput = () => { source = o.area.value; pick.value = OWN; length = LONGEST; at = -1; act('', { fresh: true }); };
    o.area.onpaste = e => {
      const { value, selectionStart: from, selectionEnd: to } = o.area;
      if (value.length - (to - from) + e.clipboardData.getData('text').length <= LONGEST) return;
      setTimeout(() => { warning = ` The models read ${LONGEST} characters and leave out the rest.`; tell(); });
    };
    const turn = i => { if (i !== at && words.length) { at = i; look(); tell(); } };
    o.area.onkeyup = o.area.onclick = () => turn(min(o.area.selectionStart, words.length - 1));
    o.area.onpointermove = e => turn(o.spans.indexOf(host.shadowRoot.elementsFromPoint(e.clientX, e.clientY).find(x => x.localName === 'i')));
    o.area.onpointerleave = () => turn(host.shadowRoot.activeElement === o.area ? min(o.area.selectionStart, words.length - 1) : -1);
  }
  const two = h('div.two', {}, ...sides.map(o => o.panel));
  const more = fold('More', h('div.ctl', {}, h('label', {}, 'start at position', begin, beginOut),
    h('fieldset.ctl', { 'aria-label': 'the clock' }, h('span', {}, 'the clock'), ...Object.keys(CLOCKS).map(k => h('label', {}, clocks[k], CLOCKS[k])))));
  more.open = clock !== 'runs' || start > 0;
  const controls = h('div.ctl', {}, h('label', {}, 'read ', pick), h('label', {}, mix, 'shuffle the words'), more);
  mount(host, 'The machine that reads', LOOK, `drag the end of the text past ${T} characters: who is surprised?`,
    [brief ? two : controls, others, h('div.over', {}, hand, chart), verdict, brief ? '' : two, live], () => { w = width(chart); if (words) { draw(); look(); follow(); } },
    { tour: TOUR, show: ({ part }) => cut(max(8, Math.round(part * words.length))) });
  fig = host.shadowRoot.querySelector('.fig'); fig.classList.toggle('brief', brief); host.shadowRoot.append(h('slot'));
  fig.onpointerdown = fig.onkeydown = () => { options.play = false; };
  pick.value = Object.keys(passages).find(name => passages[name] === source) ?? OWN;
  act('', { fresh: true });
  const view = new IntersectionObserver(met => { if (met.at(-1).isIntersecting) { view.disconnect(); seen = true; compute(); } }, { rootMargin: '200px' });
  view.observe(fig);
}
