// The slopes of ALiBi: how far back each head looks, and what toll a word pays there that matches the query.
// Pure math first (tested in node), drawing after.

export const MOST = 16, RULES = ['released', 'paper'], LENGTH = 512, SHARE = .01; // heads; rules of slopes; tokens; the weight that counts as some

const ladder = n => Array.from({ length: n }, (_, h) => 2 ** (-8 * (h + 1) / n));
/** The slope of each head, as d2lpos.bias.slopes gives them. */
export function slopes(heads, rule) {
  const below = 2 ** Math.floor(Math.log2(heads));
  return rule === 'paper' ? ladder(heads) : [...ladder(below), ...ladder(2 * below).filter((_, h) => h % 2 === 0).slice(0, heads - below)];
}
/** Tokens of a text, for a place of the slider. */
export const tokens = place => Math.round(2 ** (place / 4));
/** The share of a head's weight on the key `back` tokens ago, whose score is higher by `match` than those of the others, which are equal. */
export const share = (m, back, match) => {
  const it = Math.exp(match - m * back), others = Math.expm1(-m * LENGTH) / Math.expm1(-m) - Math.exp(-m * back);
  return it / (it + others);
};

/** A slope as one reads it: a fraction where it is one, else two digits. */
export const slopeName = m => Number.isInteger(1 / m) ? '1/' + 1 / m : String(Number(m.toPrecision(2)));
/** Who sees the word that matches, in words. */
export function seen(all, back, match) {
  const shares = all.map(m => share(m, back, match)), some = shares.filter(v => v >= SHARE).length, best = shares.indexOf(max(...shares));
  return `${some === all.length ? 'Every head gives' : some > 1 ? `${some} of ${all.length} heads give` : some ? 'One head gives' : 'No head gives'} it at least 1 % of the weight${some > 1 ? `, head ${best + 1} the most: ${num(100 * shares[best])} %` : ''}.`;
}
/** How the slopes of the two rules differ, in words. */
export function remark(heads, rule) {
  const below = 2 ** Math.floor(Math.log2(heads));
  return heads === below ? `With ${heads} ${heads > 1 ? 'heads' : 'head'} both rules agree.`
    : rule === 'paper' ? 'The paper’s slopes fall evenly from head to head.' : `The released slopes are those of ${below} heads, and some of those of ${2 * below}.`;
}

/** A word that matches goes farther and farther back, and head after head loses it. */
export const TOUR = { back: [[0, 8], [.1, 8], [.7, 34]] };

const LEFT = 58, SKY = 12, FOOT = 76; // px: room around the rows of the heads
const LOOK = `:host{--c:var(--enc-alibi,#cc79a7)}.ctl input[type=range]{width:110px;margin:0 8px}
.over{overflow:clip}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.flag{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .flag{stroke:currentColor;stroke-width:2}
.weight{fill:var(--c);fill-opacity:.55;stroke:var(--c);stroke-width:1.5}.word,.whole{stroke:currentColor;stroke-width:11}.whole{stroke-opacity:.14}.guide{stroke:currentColor;stroke-opacity:.5;stroke-dasharray:3 3}.remark{margin:0}`;

export function render(host, options) {
  let { heads, rule: law, match } = options, back = Math.round(4 * Math.log2(options.back));
  const slider = (min, max, label) => h('input', { type: 'range', min, max, 'aria-label': label });
  const word = slider(4, 35, 'place of the word that matches'), score = slider(0, 12, 'its score above the others'), count = slider(1, MOST, 'heads'), scoreOut = h('output'), countOut = h('output');
  const radios = Object.fromEntries(RULES.map(r => [r, h('input', { type: 'radio', name: 'rule' })])), rest = h('p.remark'), { says, live, tell } = sentence();
  const fixed = s('g'), guide = s('line.guide'), flag = s('g', {}, s('rect.flag', { x: -60, y: -18, width: 120, height: 27, rx: 5 }), text(0, 0, ''));
  const rows = Array.from({ length: MOST }, () => ({ name: text(0, 0, '', ''), area: s('path.weight'), whole: s('line.whole'), word: s('line.word') }));
  const svg = s('svg', { role: 'img', 'aria-label': 'The weight of each key, for each head, over the keys counted back from the query' }, fixed, guide, ...rows.flatMap(Object.values), flag);

  const goal = () => ({ back, match, ...Object.fromEntries(slopes(heads, law).map((m, i) => ['m' + i, Math.log2(m)])) });
  const shown = goal(), ease = easing(shown, goal, paint);
  let w, X, BAND, foot;
  function layout() {
    w = width(svg); BAND = svg.closest('.wide') && heads <= 8 ? 34 : 30; foot = SKY + heads * BAND;
    X = n => LEFT + (w - LEFT - 14) * Math.log2(n) / Math.log2(LENGTH);
    set(svg, { viewBox: `0 0 ${w} ${foot + FOOT}` }).style.height = foot + FOOT + 'px';
    word.style.left = X(2) - 22 + 'px'; word.style.width = X(tokens(35)) - X(2) + 44 + 'px';
    fixed.replaceChildren(text(0, foot + 18, 'slope', 'mute'), ...[1, 8, 64, LENGTH].flatMap(n => [rule([X(n), SKY], [X(n), foot]), text(X(n), foot + 18, n, 'mid.mute')]));
    paint();
  }
  function paint() {
    const K = 2 ** (shown.back / 4), x = X(K), samples = Array.from({ length: 97 }, (_, j) => LENGTH ** (j / 96));
    rows.forEach((o, i) => {
      for (const e of Object.values(o)) e.style.display = i < heads ? '' : 'none';
      if (i >= heads) return;
      const m = 2 ** (shown['m' + i] ?? 0), y = SKY + (i + 1) * BAND - 5, unit = BAND - 9;
      say(o.name, 0, y - 2, slopeName(slopes(heads, law)[i]));
      set(o.area, { d: `M${X(1).toFixed(1)} ${y}` + samples.map(n => `L${X(n).toFixed(1)} ${(y - unit * Math.exp(-m * (n - 1))).toFixed(1)}`).join('') + `V${y}Z` });
      seg(o.whole, [x, y], [x, y - unit]); seg(o.word, [x, y], [x, y - unit * share(m, K, shown.match)]);
    });
    seg(guide, [x, SKY], [x, foot + 38]); set(flag, { transform: `translate(${max(61, min(w - 61, x))} ${foot + 56})` });
  }
  function update(resized) {
    const all = slopes(heads, law), far = tokens(back);
    word.value = back; word.setAttribute('aria-valuetext', `${far} back`);
    score.value = match; scoreOut.textContent = match; count.value = heads; countOut.textContent = heads;
    for (const r of RULES) radios[r].checked = r === law;
    flag.lastChild.textContent = `word ${far} back`; rest.textContent = remark(heads, law);
    tell('The word stands ', h('b', {}, far), ` back and scores ${match} above the others. ${seen(all, far, match)}`);
    for (const k in shown) if (!(k in goal())) delete shown[k];
    for (const [k, v] of Object.entries(goal())) shown[k] ??= v;
    if (resized) layout();
    ease();
  }
  word.oninput = () => { back = +word.value; update(); };
  score.oninput = () => { match = +score.value; update(); };
  count.oninput = () => { heads = +count.value; update(true); };
  for (const r of RULES) radios[r].onchange = () => { law = r; update(); };
  mount(host, 'The slopes of ALiBi', LOOK, 'drag the word that matches farther back. Which heads lose it?',
    [h('div.over', {}, word, svg), says, fold('A better match, and other heads', h('div.ctl', {}, h('label', {}, 'its score above the others', score, scoreOut), h('label', {}, 'heads', count, countOut), h('fieldset.ctl', { 'aria-label': 'rule of the slopes' }, ...RULES.map(r => h('label', {}, radios[r], r + ' rule')))), rest), live], layout,
    { play: options.play, tour: TOUR, show: state => { back = Math.round(state.back); update(); } });
  layout(); update();
}
