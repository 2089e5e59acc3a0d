// The slopes of ALiBi: how far back each head looks, as the number of heads, the rule and the length of the text change.
// Pure math first (tested in node), drawing after.

export const MOST = 16, RULES = ['released', 'paper']; // heads; rules of slopes
export const FEW = 8, MANY = 48, SHARE = .01; // ends of the slider, in quarters of a doubling; the weight that a window neglects

const ladder = n => Array.from({ length: n }, (_, h) => 2 ** (-8 * (h + 1) / n));
/** The slope of each head, as d2lpos.alibi.slopes gives them. */
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

/** A slope as one reads it: a fraction where it is one, else two digits. */
export const slopeName = m => Number.isInteger(1 / m) ? '1/' + 1 / m : String(Number(m.toPrecision(2)));
/** What the slopes have in common, in words. */
export function remark(heads, rule, T) {
  const all = slopes(heads, rule), same = slopes(heads, 'paper').every((m, h) => m === slopes(heads, 'released')[h]);
  const whole = all.filter(m => -Math.log(SHARE) / m >= T).length, below = 2 ** Math.floor(Math.log2(heads));
  const cut = whole === heads ? 'the window of every head' : whole > 1 ? `the windows of ${whole} of ${heads} heads` : whole ? 'the window of one head' : 'no window';
  return `The text cuts ${cut} short. ` + (same ? `With ${heads} ${heads > 1 ? 'heads' : 'head'} both rules agree.`
    : rule === 'paper' ? 'The paper’s slopes fall evenly from head to head.' : `The released ones are those of ${below} heads, and some of those of ${2 * below}.`);
}

const BAND = 28, SKY = 40, LEFT = 58; // px: height of a head's row, top and left end of the rows
const LOOK = `:host{--c:var(--enc-alibi,#cc79a7)}.ctl input[type=range]{width:110px;margin:0 8px}
.over{overflow:clip}.over input{top:0;height:100%;cursor:ew-resize;touch-action:pan-y}
.over ::-webkit-slider-thumb{width:44px;height:100%;min-height:44px}.over ::-moz-range-thumb{width:44px;height:100%;border:0}
.flag{fill:currentColor;fill-opacity:.12}.over input:focus-visible~svg .flag{stroke:currentColor;stroke-width:2}
.edge{stroke:currentColor;stroke-opacity:.5;stroke-width:1.5}.weight{fill:var(--c);fill-opacity:.55;stroke:var(--c);stroke-width:1.5}
.end-of-window{stroke:currentColor;stroke-width:2}.out{grid-template-columns:1fr 1.6fr 1.6fr;max-width:480px}.remark{min-height:2.8em;margin:0}@media(max-width:500px){.remark{min-height:5.6em}}`;

export function render(host, options) {
  let { heads, rule: law } = options, place = Math.round(4 * Math.log2(options.length));
  const hand = h('input', { type: 'range', min: FEW, max: MANY, 'aria-label': 'length of the text' });
  const count = h('input', { type: 'range', min: 1, max: MOST, 'aria-label': 'heads' }), countOut = h('output');
  const radios = Object.fromEntries(RULES.map(r => [r, h('input', { type: 'radio', name: 'rule' })]));
  const { out, live, tell } = readout('length', 'head 1 looks back', 'last head looks back'), words = h('p.remark');
  const fixed = s('g'), edge = s('line.edge'), flag = s('g', {}, s('rect.flag', { x: -52, y: 1, width: 104, height: 27, rx: 5 }), text(0, 19));
  const rows = Array.from({ length: MOST }, () => ({ name: text(0, 0, '', ''), area: s('path.weight'), tick: s('line.end-of-window'), many: text(0, 0, '', '') }));
  const svg = s('svg', { role: 'img', 'aria-label': 'The weight of each key, for each head, over the keys counted back from the query' },
    fixed, ...rows.flatMap(Object.values), edge, flag);
  const over = h('div.over', {}, hand, svg);

  const goal = () => ({ place, ...Object.fromEntries(slopes(heads, law).map((m, i) => ['m' + i, Math.log2(m)])) });
  const shown = goal(), ease = easing(shown, goal, paint);
  let w, X, H;
  function layout() {
    w = width(svg); H = SKY + heads * BAND + 40;
    X = n => LEFT + (w - LEFT - 46) * Math.log2(n) / (MANY / 4);
    set(svg, { viewBox: `0 0 ${w} ${H}` }); svg.style.height = H + 'px';
    hand.style.left = X(tokens(FEW)) - 22 + 'px'; hand.style.width = X(tokens(MANY)) - X(tokens(FEW)) + 44 + 'px';
    const foot = SKY + heads * BAND;
    fixed.replaceChildren(text(0, 32, 'slope', 'mute'), ...[1, 8, 64, 512, 4096].flatMap(n => [rule([X(n), SKY - 4], [X(n), foot]), text(X(n), foot + 18, n, 'mid.mute')]),
      text((X(1) + X(4096)) / 2, foot + 36, 'keys counted back from the query', 'mid.mute'));
    paint();
  }
  function paint() {
    const T = 2 ** (shown.place / 4), at = X(T), samples = Array.from({ length: 97 }, (_, j) => 2 ** (j / 96 * Math.log2(T)));
    rows.forEach((o, i) => {
      for (const e of Object.values(o)) e.style.display = i < heads ? '' : 'none';
      if (i >= heads) return;
      const m = 2 ** (shown['m' + i] ?? 0), y = SKY + (i + 1) * BAND - 5, exact = slopes(heads, law)[i], end = sees(exact, tokens(place));
      say(o.name, 0, y - 2, slopeName(exact));
      set(o.area, { d: `M${X(1).toFixed(1)} ${y}` + samples.map(n => `L${X(n).toFixed(1)} ${(y - 20 * Math.exp(-m * (n - 1))).toFixed(1)}`).join('') + `V${y}Z` });
      seg(o.tick, [X(end), y - 21], [X(end), y + 2]); say(o.many, 6 + (at - X(end) < 31 ? at : X(end)), y - 7, end); // clear of the line at the end of the text
    });
    seg(edge, [at, 28], [at, SKY + heads * BAND]);
    set(flag, { transform: `translate(${max(54, min(w - 53, at))} 0)` });
  }
  function update(resized) {
    const all = slopes(heads, law), T = tokens(place);
    hand.value = place; hand.setAttribute('aria-valuetext', `${T} tokens`);
    count.value = heads; countOut.textContent = heads;
    for (const r of RULES) radios[r].checked = r === law;
    flag.children[1].textContent = `${T} tokens`;
    words.textContent = remark(heads, law, T);
    tell([T, `${sees(all[0], T)} keys`, `${sees(all.at(-1), T)} keys`], words.textContent + ' ');
    for (const k in shown) if (!(k in goal())) delete shown[k];
    for (const [k, v] of Object.entries(goal())) shown[k] ??= v;
    if (resized) layout();
    ease();
  }
  hand.oninput = () => { place = +hand.value; update(); };
  count.oninput = () => { heads = +count.value; update(true); };
  for (const r of RULES) radios[r].onchange = () => { law = r; update(); };
  mount(host, 'The slopes of ALiBi', LOOK,
    'drag the end of the text and see which heads notice. Then take 12 heads, and switch the rule.',
    [h('div.ctl', {}, h('label', {}, 'heads', count, countOut), h('fieldset.ctl', { 'aria-label': 'rule of the slopes' }, ...RULES.map(r => h('label', {}, radios[r], r + ' rule')))), over, out, words, live], layout);
  layout(); update();
}
