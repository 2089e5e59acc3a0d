// The slopes of ALiBi: how far back each head looks, and what toll a word pays there that matches the query.
// Pure math first (tested in node), drawing after.

export const MOST = 16, RULES = ['released', 'paper']; // heads; rules of slopes
export const FEW = 8, MANY = 48, SHARE = .01; // ends of the length, in quarters of a doubling; the weight that a window neglects

const ladder = n => Array.from({ length: n }, (_, h) => 2 ** (-8 * (h + 1) / n));
/** The slope of each head, as d2lpos.bias.slopes gives them. */
export function slopes(heads, rule) {
  const below = 2 ** Math.floor(Math.log2(heads));
  return rule === 'paper' ? ladder(heads) : [...ladder(below), ...ladder(2 * below).filter((_, h) => h % 2 === 0).slice(0, heads - below)];
}
/** Tokens of a text, for a place of the slider. */
export const tokens = place => Math.round(2 ** (place / 4));
/** The share of a head's weight on all but the w nearest of T keys with equal scores. */
export const beyond = (w, m, T) => (Math.exp(-m * w) - Math.exp(-m * T)) / -Math.expm1(-m * T);
/** The fewest nearest keys that hold all but SHARE of the weight. */
export const sees = (m, T) => max(1, min(T, Math.ceil(-Math.log(SHARE * -Math.expm1(-m * T) + Math.exp(-m * T)) / m - 1e-9)));

/** The share of a head's weight on the key `back` tokens ago, whose score is higher by `match` than those of the others, which are equal. */
export const share = (m, back, match, T) => {
  const it = Math.exp(match - m * back), others = Math.expm1(-m * T) / Math.expm1(-m) - Math.exp(-m * back);
  return it / (it + others);
};

/** A slope as one reads it: a fraction where it is one, else two digits. */
export const slopeName = m => Number.isInteger(1 / m) ? '1/' + 1 / m : String(Number(m.toPrecision(2)));
/** A share of the weight, as one reads it. */
export const percent = v => v < .0005 ? '0 %' : v < SHARE ? '< 1 %' : num(100 * v) + ' %';
/** Who sees the word that matches, in words. */
export function seen(all, back, match, T) {
  const shares = all.map(m => share(m, back, match, T)), blind = shares.filter(v => v < SHARE).length, best = shares.indexOf(max(...shares));
  return `${blind === all.length ? 'No head gives' : blind ? `${all.length - blind} of ${all.length} heads give` : 'Every head gives'} the word ${back} back 1 % of its weight or more`
    + (blind === all.length ? '.' : `; head ${best + 1}, with a toll of ${num(all[best] * back, 1)} on it, gives ${num(100 * shares[best])} %.`);
}
/** What the slopes have in common, in words. */
export function remark(heads, rule, T) {
  const all = slopes(heads, rule), same = slopes(heads, 'paper').every((m, h) => m === slopes(heads, 'released')[h]);
  const whole = all.filter(m => -Math.log(SHARE) / m >= T).length, below = 2 ** Math.floor(Math.log2(heads));
  const cut = whole === heads ? 'the window of every head' : whole > 1 ? `the windows of ${whole} of ${heads} heads` : whole ? 'the window of one head' : 'no window';
  return `The text cuts ${cut} short. ` + (same ? `With ${heads} ${heads > 1 ? 'heads' : 'head'} both rules agree.`
    : rule === 'paper' ? 'The paper’s slopes fall evenly from head to head.' : `The released ones are those of ${below} heads, and some of those of ${2 * below}.`);
}

/** A word that matches goes farther and farther back, and head after head loses it; a better match pays the toll. */
export const TOUR = { back: [[0, FEW], [.06, FEW], [.5, 36], [.82, 36], [1, 24]], match: [[0, 6], [.54, 6], [.72, 12], [.84, 12], [1, 6]] };

const LEFT = 58, SKY = 44, RIGHT = 62, FOOT = 76; // px: room around the rows of the heads
const LOOK = `:host{--c:var(--enc-alibi,#cc79a7)}.ctl input[type=range]{width:110px;margin:0 8px}
.over{overflow:clip}.over input{top:0;height:${SKY}px;cursor:ew-resize;touch-action:pan-y}.over .back{top:${SKY}px;height:calc(100% - ${SKY}px)}
.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.flag{fill:currentColor;fill-opacity:.12}.over .end:focus-visible~svg .f1,.over .back:focus-visible~svg .f2{stroke:currentColor;stroke-width:2}
.edge{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}.weight{fill:var(--c);fill-opacity:.55;stroke:var(--c);stroke-width:1.5}.word,.whole{stroke:currentColor;stroke-width:9}.whole{stroke-opacity:.14}.guide{stroke:currentColor;stroke-opacity:.5;stroke-dasharray:3 3}
.end-of-window{stroke:currentColor;stroke-opacity:.6;stroke-width:1.5}.out{grid-template-columns:.7fr 1.3fr 1.3fr 1.2fr;max-width:560px}.said{min-height:2.8em;margin:0}.remark{margin:0}@media(max-width:500px){.said{min-height:4.2em}}`;

export function render(host, options) {
  let { heads, rule: law, match } = options, place = Math.round(4 * Math.log2(options.length)), back = Math.round(4 * Math.log2(options.back));
  const slider = (name, at) => h('input' + name, { type: 'range', ...at });
  const hand = slider('.end', { min: FEW, max: MANY, 'aria-label': 'length of the text' }), word = slider('.back', { min: 4, 'aria-label': 'place of the word that matches' });
  const score = slider('', { min: 0, max: 12, 'aria-label': 'the match scores higher by' }), scoreOut = h('output'), count = slider('', { min: 1, max: MOST, 'aria-label': 'heads' }), countOut = h('output');
  const radios = Object.fromEntries(RULES.map(r => [r, h('input', { type: 'radio', name: 'rule' })]));
  const { out, live, tell } = readout('length', 'head 1 looks back', 'last head looks back', 'word that matches'), words = h('p.said'), rest = h('p.remark');
  const flag = (name, y, wide) => s('g', {}, s('rect.flag.' + name, { x: -wide / 2, y: y - 18, width: wide, height: 27, rx: 5 }), text(0, y));
  const fixed = s('g'), edge = s('line.edge'), guide = s('line.guide'), ends = flag('f1', 19, 104), stands = flag('f2', 0, 120);
  const rows = Array.from({ length: MOST }, () => ({ name: text(0, 0, '', ''), area: s('path.weight'), whole: s('line.whole'), word: s('line.word'), tick: s('line.end-of-window'), gets: text(0, 0, '', 'end') }));
  const svg = s('svg', { role: 'img', 'aria-label': 'The weight of each key, for each head, over the keys counted back from the query' },
    fixed, guide, ...rows.flatMap(Object.values), edge, ends, stands);
  const over = h('div.over', {}, hand, word, svg);

  const goal = () => ({ place, back, match, ...Object.fromEntries(slopes(heads, law).map((m, i) => ['m' + i, Math.log2(m)])) });
  const shown = goal(), ease = easing(shown, goal, paint);
  let w, X, H, BAND, foot;
  function layout() {
    w = width(svg); BAND = svg.closest('.wide') && heads <= 8 ? 30 : 28; foot = SKY + heads * BAND; H = foot + FOOT;
    X = n => LEFT + (w - LEFT - RIGHT) * Math.log2(n) / (MANY / 4);
    set(svg, { viewBox: `0 0 ${w} ${H}` }); svg.style.height = H + 'px';
    for (const [e, low, high] of [[hand, tokens(FEW), tokens(MANY)], [word, 2, tokens(MANY - 1)]]) { e.style.left = X(low) - 22 + 'px'; e.style.width = X(high) - X(low) + 44 + 'px'; }
    fixed.replaceChildren(text(0, 39, 'slope', 'mute'), text(w, 39, 'word’s weight', 'end.mute'), ...[1, 8, 64, 512, 4096].flatMap(n => [rule([X(n), SKY - 4], [X(n), foot]), text(X(n), foot + 18, n, 'mid.mute')]),
      text((X(1) + X(4096)) / 2, foot + 36, 'keys counted back from the query' + (w > 700 ? ' (shade: weights when all are alike; bar: share of the word that matches)' : ''), 'mid.mute'));
    paint();
  }
  function paint() {
    const T = 2 ** (shown.place / 4), K = 2 ** (shown.back / 4), at = X(T), x = X(K), samples = Array.from({ length: 97 }, (_, j) => 2 ** (j / 96 * Math.log2(T)));
    rows.forEach((o, i) => {
      for (const e of Object.values(o)) e.style.display = i < heads ? '' : 'none';
      if (i >= heads) return;
      const m = 2 ** (shown['m' + i] ?? 0), y = SKY + (i + 1) * BAND - 5, unit = BAND - 9, exact = slopes(heads, law)[i], end = sees(exact, tokens(place));
      say(o.name, 0, y - 2, slopeName(exact)); say(o.gets, w, y - 2, percent(share(exact, tokens(back), match, tokens(place))));
      set(o.area, { d: `M${X(1).toFixed(1)} ${y}` + samples.map(n => `L${X(n).toFixed(1)} ${(y - unit * Math.exp(-m * (n - 1))).toFixed(1)}`).join('') + `V${y}Z` });
      seg(o.tick, [X(end), y - 8], [X(end), y + 3]); seg(o.whole, [x, y], [x, y - unit]); seg(o.word, [x, y], [x, y - unit * share(m, K, shown.match, T)]);
    });
    seg(edge, [at, 28], [at, foot]); seg(guide, [x, SKY], [x, foot]);
    set(ends, { transform: `translate(${max(54, min(w - 53, at))} 0)` }); set(stands, { transform: `translate(${max(61, min(w - 61, x))} ${foot + 62})` });
  }
  function update(resized) {
    const all = slopes(heads, law), T = tokens(place);
    back = max(4, min(place - 1, back));
    set(word, { max: MANY - 1 }); word.value = back; word.setAttribute('aria-valuetext', `${tokens(back)} back`);
    hand.value = place; hand.setAttribute('aria-valuetext', `${T} tokens`);
    score.value = match; scoreOut.textContent = match; count.value = heads; countOut.textContent = heads;
    for (const r of RULES) radios[r].checked = r === law;
    ends.lastChild.textContent = `${T} tokens`; stands.lastChild.textContent = `word ${tokens(back)} back`;
    words.textContent = seen(all, tokens(back), match, T); rest.textContent = remark(heads, law, T);
    tell([T, `${sees(all[0], T)} keys`, `${sees(all.at(-1), T)} keys`, `${tokens(back)} back`], words.textContent + ' ');
    for (const k in shown) if (!(k in goal())) delete shown[k];
    for (const [k, v] of Object.entries(goal())) shown[k] ??= v;
    if (resized) layout();
    ease();
  }
  hand.oninput = () => { place = +hand.value; update(); };
  word.oninput = () => { back = +word.value; update(); };
  score.oninput = () => { match = +score.value; update(); };
  count.oninput = () => { heads = +count.value; update(true); };
  for (const r of RULES) radios[r].onchange = () => { law = r; update(); };
  mount(host, 'The slopes of ALiBi', LOOK,
    'drag the word that matches farther back: which heads lose it? Let it match better. Then drag the end of the text.',
    [h('div.ctl', {}, h('label', {}, 'the match scores higher by', score, scoreOut)), over, h('div.foot', {}, out, words),
      fold('Other heads', h('div.ctl', {}, h('label', {}, 'heads', count, countOut), h('fieldset.ctl', { 'aria-label': 'rule of the slopes' }, ...RULES.map(r => h('label', {}, radios[r], r + ' rule')))), rest), live], layout,
    { play: options.play, tour: TOUR, show: state => { back = Math.round(state.back); match = Math.round(state.match); update(); } });
  layout(); update();
}
