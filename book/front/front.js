// The first screen: two words change places and nothing happens. Then attention is told where each word stands, and the same swap changes everything.

export const WORDS = ['the', 'fox', 'jumps', 'over', 'the', 'dog'], START = [0, 1, 2, 3, 4, 5], SWAPPED = [0, 5, 2, 3, 4, 1];
const FOX = 1, JUMPS = 2, DOG = 5, D = 8, { abs, cos, sin, max, min, PI } = Math;

// Five features of a word: animal, fox rather than dog, action, relation, article. By hand, not trained.
const THE = [0, 0, 0, .1, 1];
export const EMBED = [THE, [1, .9, .1, 0, 0], [.1, 0, 1, .2, 0], [0, 0, .3, 1, .1], THE, [1, -.9, .1, 0, 0]];
const NONE = Array(D).fill(0);
/** The head: features × 8 for queries, keys and values. An action asks for an animal, best one place to its left: the key of an animal is turned by one place in the first pair, and by a quarter turn in the second. */
export const HEAD = {
  query: [NONE, NONE, [2.1, 0, 1.8, 0, 1.6, 0, 1, 0], NONE, NONE],
  key: [[1.1, 1.72, 0, 1.75, 1, 0, .6, 0], NONE, [0, 0, 0, 0, .7, 0, .3, 0], [0, 0, 0, 0, .8, .2, .5, 0], [0, 0, 0, 0, -.5, .2, -.2, 0]],
  value: [[.5, -.85, .45, -.4, .35, .8, -.75, .3], [.65, .1, -.7, .7, -.75, -.25, .3, .7], [.3, -.2, .6, -.4, .3, -.5, -.3, .1], [.4, -.5, .3, -.3, .5, .2, -.6, .5], [.1, .2, .3, -.2, -.2, .1, .2, -.1]],
};
const RATES = [0, 1, 2, 3].map(i => 100 ** (-i / 4)); // RoPE with base 100, since the sentence is short
const dot = (a, b) => a.reduce((t, v, i) => t + v * b[i], 0);
const through = (x, table) => NONE.map((_, j) => x.reduce((t, v, f) => t + v * table[f][j], 0));
const turn = (v, p) => v.map((a, j) => { const t = p * RATES[j >> 1]; return j % 2 ? v[j - 1] * sin(t) + a * cos(t) : a * cos(t) - v[j + 1] * sin(t); });
/** order[place] is a word. The attention weights of jumps (by word), and the vector that they mix: softmax(q·k/√8) v. */
export function attend(order, told) {
  const place = order.indexOf(JUMPS), at = (v, p) => told ? turn(v, p) : v, q = at(through(EMBED[JUMPS], HEAD.query), place);
  const scores = order.map((w, p) => dot(q, at(through(EMBED[w], HEAD.key), p)) / Math.sqrt(D)), top = max(...scores);
  const e = scores.map(s => Math.exp(s - top)), sum = e.reduce((a, b) => a + b), weights = [];
  order.forEach((w, p) => { weights[w] = e[p] / sum; });
  const values = order.map(w => through(EMBED[w], HEAD.value));
  return { weights, vector: NONE.map((_, j) => values.reduce((t, v, p) => t + e[p] / sum * v[j], 0)) };
}
export const change = (a, b) => max(...a.map((v, i) => abs(v - b[i])));
export const sentence = order => order.map(w => WORDS[w]).join(' ');
/** A word at another place. */
export const put = (order, word, to) => { const rest = order.filter(w => w !== word); rest.splice(to, 0, word); return rest; };
/** What the line says when a hand moves the words; no more than the weights can. */
export function verdict(order, told) {
  const same = sentence(order) === sentence(START);
  if (!told) return same ? 'Move a word. What will “jumps” notice?' : SAYS.nothing;
  const { weights, vector } = attend(order, true), most = weights.indexOf(max(...weights)), who = most === JUMPS ? 'itself' : `the ${WORDS[most]}`;
  return same || change(vector, attend(START, true).vector) >= .005 ? `${same ? 'Told where each word stands, “jumps”' : 'It notices: now “jumps”'} listens most to ${who}.` : 'For “jumps” hardly anything changes.';
}
/** The lines of the film, and what stands there without scripts, under reduced motion and on paper. */
export const SAYS = { ask: 'Fox and dog change places. What will “jumps” notice?', nothing: 'Nothing. To “jumps” it is the same sentence.',
  tell: 'Now tell it where each word stands …', again: '… and make the same swap again.', notices: 'It notices: now “jumps” listens most to the dog.' };
export const STILL = 'Swap fox and dog, and nothing changes for “jumps”.', TOLD = 'Tell it where each word stands, and the same swap matters: now it listens most to the dog.';
/** ms, then what happens: an order, whether it is told, what the line says. */
export const FILM = [[1200, { order: SWAPPED }], [1800, { say: 'nothing' }], [2800, { order: START }], [3700, { told: true, say: 'tell' }], [5300, { say: 'again' }], [5600, { order: SWAPPED }], [6250, { say: 'notices' }], [6700, {}]];

// The drawing, in pixels, for a width of 848 at most: a wider one is this one, larger.
export function sizes(W) {
  const wide = W >= 600, gap = wide ? 10 : 4, tile = (W - 5 * gap) / 6, high = wide ? 64 : 52, arcs = wide ? W < 800 ? 128 : 144 : 88, ground = wide ? 28 : 22, beam = (wide ? 30 : 18) + ground;
  const cell = wide ? min(56, W * .066) : (W - 98) / 8, bars = wide ? 104 : 78, top = arcs + high + beam, cap = wide ? 34 : 30;
  return { W, wide, gap, tile, high, arcs, beam, cell, bars, top, cap, H: top + cap + bars + 12, zero: top + cap + bars / 2, step: tile + gap, flow: tile * (wide ? .3 : .4), base: wide ? 34 : 22, nest: wide ? 10 : 6, ground };
}
const f = v => +v.toFixed(1);
/** Ribbons that never cross. Where each leaves jumps, the nearest words outside, as parts of the flow from the tile's middle; and how many ribbons, of which weight, it passes above. */
export function nest(order, weights) {
  const place = order.indexOf(JUMPS), port = [], rank = [], under = [], sides = [order.slice(0, place).reverse(), order.slice(place + 1)];
  let x = -.5;
  for (const w of [...sides[0], JUMPS, ...sides[1].toReversed()]) { port[w] = x + weights[w] / 2; x += weights[w]; }
  for (const side of [...sides, [JUMPS]]) side.reduce((t, w, i) => { rank[w] = i; under[w] = t + weights[w] / 2; return t + weights[w]; }, 0);
  return [...port, ...rank, ...under];
}
/** The state as numbers that glide: places, ports, weights, vector, that of the first sentence, told. */
export function numbers(order, told) {
  const now = attend(order, told), was = attend(START, told);
  const [port, up] = [nest(order, now.weights)].flatMap(n => [n.slice(0, 6), n.slice(6)]);
  return [...START.map(w => order.indexOf(w)), ...port, ...now.weights, ...now.vector, ...was.vector, +told, ...up];
}
/** Attributes of each moving part. `lift` is how far each word is above its line. */
export function parts(n, lift, S) {
  const x = w => n[w] * S.step + S.tile / 2, y = w => S.arcs - lift[w], me = x(JUMPS), yj = y(JUMPS), v1 = 8 * S.cell;
  const arcs = START.map(w => {
    const wide = max(n[12 + w] * S.flow, 1.2), from = me + n[6 + w] * S.flow;
    if (w === JUMPS) return { d: `M${f(from)} ${f(yj + 9)}v-${S.wide ? 14 : 11}`, 'stroke-width': f(wide) };
    const to = x(w), up = (S.base + S.nest * n[35 + w] + S.flow * n[41 + w]) / .75;
    return { d: `M${f(from)} ${f(yj)}C${f(from)} ${f(yj - up)} ${f(to)} ${f(y(w) - up)} ${f(to)} ${f(y(w))}`, 'stroke-width': f(wide) };
  });
  const l = me - S.tile / 2, r = me + S.tile / 2, a = yj + S.high - 3, b = S.top, m = (a + b) / 2;
  const bar = (v, w) => { const high = abs(v) * S.bars / 2; return { y: f(v > 0 ? S.zero - high : S.zero), height: f(max(high, .5)), width: f(w) }; };
  return {
    arcs, words: START.map(w => ({ transform: `translate(${f(x(w))} ${f(y(w))})` })),
    places: START.map((_, i) => ({ opacity: f(max(0, min(1, n[34] * 2.6 - i * .32))), transform: `translate(${f(i * S.step + S.tile / 2)} ${f(S.arcs + S.high + S.ground / 2 + 2)})` })),
    beam: { d: `M${f(l)} ${f(a)}C${f(l)} ${f(m)} 0 ${f(m)} 0 ${b}V${S.H - 4}q0 4 4 4H${f(v1 - 4)}q4 0 4 -4V${b}C${f(v1)} ${f(m)} ${f(r)} ${f(m)} ${f(r)} ${f(a)}Z` },
    bars: n.slice(18, 26).map(v => bar(v, S.cell * .5)), ghosts: n.slice(26, 34).map(v => bar(v, S.cell * .5 + 6)),
  };
}
const write = at => Object.entries(at).map(([k, v]) => ` ${k}="${v}"`).join('');
/** The picture as text: what stands in the page without script, and what the script then moves. */
export function picture(W, order = START, told = false, moves = false) {
  const S = sizes(W), n = numbers(order, told), p = parts(n, START.map(() => 0), S), v1 = 8 * S.cell, x = v1 + (S.wide ? 36 : 16), half = S.tile / 2;
  const column = (j, at, k) => `<rect class="${k}"${write({ x: f((j + .5) * S.cell - at.width / 2), ...at })} rx="1.5"/>`;
  const most = change(n.slice(18, 26), n.slice(26, 34)).toFixed(2), line = S.top + (S.wide ? 25 : 20), inset = S.wide ? 14 : 9;
  return `<g class="arcs" fill="none">${p.arcs.map((a, w) => `<path class="k-${WORDS[w]}"${write(a)}/>`).join('')}</g>
<path class="beam"${write(p.beam)}/>
<text class="cap" x="${inset}" y="${line}">the new <tspan class="em">jumps</tspan>: ${S.wide ? 'all words, mixed by their %' : W < 345 ? 'a mix of all' : 'all words, mixed by %'}</text>
<path class="zero" d="M${inset} ${S.zero}H${f(v1 - inset)}"/>${p.bars.map((b, j) => column(j, b, 'bar')).join('')}<g class="ghosts" opacity="${told ? 1 : 0}">${p.ghosts.map((b, j) => column(j, b, 'ghost')).join('')}</g>
<text class="cap" x="${f(x)}" y="${line}">changed by</text><text class="most" x="${f(x)}" y="${S.top + (S.wide ? 72 : 54)}">${most}</text><text class="cap dash" x="${f(x)}" y="${S.top + (S.wide ? 98 : 76)}" opacity="${told ? 1 : 0}">dashed: before</text>
<g class="places">${p.places.map((at, i) => `<g${write(at)}><circle r="${S.wide ? 11 : 9.5}"/><text y="${S.wide ? 5 : 4.5}">${i}</text></g>`).join('')}</g>
<g class="words">${WORDS.map((t, w) => `<g class="word k-${t}"${write(p.words[w])}><rect class="tile" x="${f(-half)}" width="${f(S.tile)}" height="${S.high}" rx="4"/><text class="name" y="${S.wide ? 32 : 24}">${t}</text><text class="share" y="${S.wide ? 52 : 42}">${Math.round(100 * n[12 + w])} %</text></g>`).join('')}</g>`;
}

// From here on, only in a page.
const ease = t => t < .5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
export function start(root) {
  const all = (e, q) => [...e.querySelectorAll(q)], one = q => root.querySelector(q), still = matchMedia('(prefers-reduced-motion: reduce)');
  const [svg, spare] = all(root, 'svg.stage'), says = one('.says'), live = one('[role=status]'), told = one('[type=checkbox]'), play = one('.play');
  let S, scale = 1, order = START, shown = numbers(START, false), from = shown, goal = shown, lift = START.map(() => 0), low = lift, amp = lift, begun = 0, long = 1;
  let clock = 0, last = 0, raf = 0, held = -1, grip = 0, line = '', tour = [], paused = false, fresh = true, speak = 0, E = {};
  spare.remove(); svg.classList.remove('wide'); svg.setAttribute('role', 'group'); svg.setAttribute('aria-label', 'The words, the attention of jumps, and its vector');

  function layout() {
    const full = svg.clientWidth || 340, W = min(full, 848);
    scale = full / W;
    if (S?.W !== W) draw(W);
    svg.style.height = `${S.H * scale}px`;
  }
  function draw(W) {
    const active = E.words?.indexOf(document.activeElement) ?? -1;
    S = sizes(W); svg.setAttribute('viewBox', `0 0 ${W} ${S.H}`);
    for (const e of [root, svg]) e.classList.toggle('broad', S.wide);
    svg.innerHTML = picture(W, order, told.checked, true);
    E = { arcs: all(svg, '.arcs path'), words: all(svg, '.word'), bars: all(svg, '.bar'), ghosts: all(svg, '.ghost'), beam: [svg.querySelector('.beam')], most: svg.querySelector('.most'), shares: all(svg, '.share'), veil: all(svg, '.ghosts, .dash'), places: all(svg, '.places > g') };
    E.words.forEach((e, w) => {
      const name = WORDS[w] + (w ? w === 4 ? ', the second' : '' : ', the first');
      for (const [k, v] of Object.entries({ tabindex: 0, role: 'slider', 'aria-label': name, 'aria-valuemin': 0, 'aria-valuemax': 5 })) e.setAttribute(k, v);
      e.onkeydown = key => {
        const to = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -9, End: 9 }[key.key];
        if (!to) return;
        key.preventDefault(); stop(); go(put(order, w, max(0, min(5, order.indexOf(w) + to))));
      };
      e.onpointerdown = at => {
        if (at.button) return;
        stop(); held = w; grip = at.clientX - shown[w] * S.step * scale; e.classList.add('held');
        e.before(...E.words.filter(other => other !== e)); // on top of the others, and not taken out itself, which would drop it
        e.setPointerCapture(at.pointerId); run();
      };
      e.onpointermove = at => {
        if (held !== w) return;
        const p = max(-.3, min(5.3, (at.clientX - grip) / S.step / scale)), to = max(0, min(5, Math.round(p)));
        shown[w] = from[w] = p;
        if (order.indexOf(w) !== to) go(put(order, w, to), 300); else run();
      };
      e.onpointerup = e.onpointercancel = () => { if (held !== w) return; held = -1; e.classList.remove('held'); go(order, 220); };
    });
    paint(); update(); if (active >= 0) E.words[active].focus({ preventScroll: true });
    if (held >= 0) { held = -1; go(order, 220); }
  }
  function paint() {
    const p = parts(shown, lift, S);
    for (const k of ['arcs', 'words', 'bars', 'ghosts', 'places']) p[k].forEach((at, i) => { for (const a in at) E[k][i].setAttribute(a, at[a]); });
    E.beam[0].setAttribute('d', p.beam.d);
    root.style.setProperty('--mix', `${f(100 * shown[13] / (shown[13] + shown[17]))}%`); // the vector takes the color of whom jumps listens to
    for (const e of E.veil) e.setAttribute('opacity', shown[34]);
  }
  /** Glide to an order: who goes right passes above, who goes left below. */
  function go(to, ms = 420) {
    const jumped = to.some((w, p) => order[p] !== w);
    order = to; goal = numbers(order, told.checked); from = [...shown]; low = [...lift];
    amp = START.map(w => { const d = goal[w] - from[w]; return w === held || abs(d) < .5 ? 0 : S.high * (.14 * d + Math.sign(d) / 2); });
    long = still.matches ? 1 : jumped && held < 0 && max(...START.map(w => abs(goal[w] - from[w]))) > 1.5 ? ms * 1.35 : ms; begun = clock;
    update(); run();
  }
  function frame(now) {
    const lapse = paused ? 0 : min(50, max(0, now - last));
    last = now; clock += lapse;
    if (tour.length && clock >= tour[0][0]) {
      const [, step] = tour.shift();
      if (step.say) line = SAYS[step.say];
      if (step.told !== undefined) { told.checked = step.told; root.classList.add('flip'); setTimeout(() => root.classList.remove('flip'), 1400); }
      if (step.order || step.told !== undefined) go(step.order ?? order, step.told ? 1100 : 620); else update();
      if (!tour.length) { line = ''; root.classList.add('done'); update(); }
    }
    const t = min(1, (clock - begun) / long), s = ease(t);
    shown = goal.map((v, i) => i === held ? shown[i] : t < 1 ? from[i] + (v - from[i]) * s : v);
    lift = lift.map((v, w) => w === held ? v + (S.high * .14 - v) * .4 : t < 1 ? low[w] * (1 - s) + amp[w] * sin(PI * s) : 0);
    paint();
    if (!tour.length) button();
    raf = !paused && (t < 1 || tour.length) ? requestAnimationFrame(frame) : 0;
  }
  function run() { if (!raf && !paused) { last = performance.now(); raf = requestAnimationFrame(frame); } }
  const button = () => { play.textContent = tour.length ? paused ? 'Play' : 'Pause' : 'Replay'; };
  function stop() { tour = []; line = ''; fresh = paused = false; root.classList.add('done'); button(); }
  function begin() {
    root.classList.remove('done'); line = SAYS.ask; tour = FILM.map(([ms, step]) => [clock + ms, step]); paused = false; button(); update(); run();
  }
  function update() {
    const now = line || verdict(order, told.checked), most = change(goal.slice(18, 26), goal.slice(26, 34)).toFixed(2);
    if (says.textContent !== now) says.textContent = now; E.most.textContent = most;
    E.words.forEach((e, w) => {
      E.shares[w].textContent = `${Math.round(100 * goal[12 + w])} %`;
      e.setAttribute('aria-valuenow', order.indexOf(w));
      e.setAttribute('aria-valuetext', `position ${order.indexOf(w)}: ${sentence(order)}`);
    });
    if (held < 0) { // Tab follows the sentence
      const mid = max(0, order.findIndex(w => E.words[w] === document.activeElement)), row = order.map(w => E.words[w]);
      row[mid].before(...row.slice(0, mid)); row[mid].after(...row.slice(mid + 1));
    }
    clearTimeout(speak);
    const words = `${sentence(order)}. Largest change of the vector of jumps: ${most}. ${now}`;
    speak = setTimeout(() => { if (!tour.length && !fresh && held < 0 && live.textContent !== words) live.textContent = words; }, 600);
  }
  told.onchange = () => { stop(); go(order, 700); };
  one('.swap').onclick = () => { stop(); go(order.map(w => w === FOX ? DOG : w === DOG ? FOX : w)); };
  one('.mix').onclick = () => {
    let to = order;
    stop();
    while (sentence(to) === sentence(order)) to = START.map(w => [Math.random(), w]).sort(([a], [b]) => a - b).map(([, w]) => w);
    go(to);
  };
  play.onclick = () => {
    fresh = false;
    if (tour.length) { paused = !paused; button(); run(); return; }
    told.checked = false; line = SAYS.ask; go(START); begin();
  };
  document.addEventListener('visibilitychange', () => { if (document.hidden && tour.length) { paused = true; button(); } });
  root.classList.add('runs');
  layout(); new ResizeObserver(layout).observe(svg);
  if (still.matches) { order = SWAPPED; shown = goal = from = numbers(order, false); paint(); update(); stop(); says.textContent = STILL; return; }
  const seen = new IntersectionObserver(([{ isIntersecting }]) => { if (isIntersecting) { seen.disconnect(); if (fresh) begin(); } }, { threshold: .5 });
  seen.observe(svg);
}
if (typeof document !== 'undefined') for (const root of document.querySelectorAll('.front')) start(root);
