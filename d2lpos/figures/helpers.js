// What the hero figures share. Python puts this source before a figure's own, so that each stands alone on its page.

const { abs, cos, max, min, sin } = Math, SECONDS = 5; // of a tour

/** Seeded numbers in [0, 1) (mulberry32), the same on every machine. */
export const random = seed => () => {
  seed = (seed + 0x6D2B79F5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
/** Sinusoidal encoding of position p: sin, cos pairs with rates base^(−2i/d). */
export const encode = (p, d, base = 10000) => Array.from({ length: d }, (_, j) => {
  const a = p * base ** (-2 * (j >> 1) / d);
  return j % 2 ? cos(a) : sin(a);
});
/** A number as the reader sees it: never −0, and with a true minus sign. */
export const num = (v, p = 0) => (abs(v) < .5 * 10 ** -p ? 0 : v).toFixed(p).replace('-', '−');
/** The state of a tour at time t from 0 to 1. It has a track of [time, value] for each part of the state: a number glides to the next, anything else waits for its time. */
export const along = (tour, t) => Object.fromEntries(Object.entries(tour).map(([name, track]) => {
  const i = max(0, track.findLastIndex(([time]) => time <= t)), [from, value] = track[i], [to, next] = track[i + 1] ?? track[i];
  const part = typeof value === 'number' && to > from ? max(0, (t - from) / (to - from)) : 0;
  return [name, part ? value + (next - value) * part * part * (3 - 2 * part) : value];
}));

// Neutrals are currentColor, and the one hue is the page's own: the page's theme decides, not the system's.
const CSS = `:host{display:block;font:15px/1.4 var(--sans,sans-serif);font-variant-numeric:tabular-nums;text-align:left}
.fig{max-width:1100px;margin:auto}.wide{font-size:16px}.wide text{font-size:15px}p{margin:0 0 8px;text-wrap:pretty}
.head{display:flow-root;min-height:44px}.head p{margin:10px 0 4px;text-wrap:balance}.play{float:left;min-width:60px;margin-right:12px}
.foot{display:flex;flex-wrap:wrap;gap:0 32px}.foot>*{flex:1 1 300px;min-width:0}.foot>p{margin:8px 0 0}
svg{display:block;width:100%;overflow:visible;fill:currentColor}text{font-size:13px}
.mid{text-anchor:middle}.end{text-anchor:end}.mute{opacity:.75}
.thin{stroke:currentColor;stroke-opacity:.3;stroke-width:1;fill:none}
label,button{cursor:pointer;position:relative;z-index:1}input{accent-color:var(--c);color:inherit}
:is([type=radio],[type=checkbox]){width:16px;height:16px;margin:0 6px 0 0;vertical-align:-2px}
.ctl{display:flex;flex-wrap:wrap;align-items:center;gap:0 8px}.ctl label{display:flex;align-items:center;min-height:44px;margin-right:8px}.ctl input[type=range]{height:44px}
button{font:inherit;color:inherit;background:none;border:1px solid;border-radius:6px;padding:4px 8px;margin:7px 0}
button::after{content:"";position:absolute;inset:-8px -1px}
:is(button,input):focus-visible{outline:2px solid;outline-offset:2px}
.over{position:relative}.over input{position:absolute;margin:0;opacity:0}.over input,.over ::-webkit-slider-thumb{appearance:none}
fieldset{border:0;margin:0;padding:0}
.row{display:flex;flex-wrap:wrap;align-items:center;min-height:44px;box-sizing:border-box;padding:4px 6px;border-radius:6px}.row:has(:checked){background:color-mix(in srgb,currentColor 8%,transparent)}
small{display:block;font-size:12px;opacity:.8}.wide small{font-size:13px}
summary{cursor:pointer;line-height:44px}:is(summary,select):focus-visible{outline:2px solid;outline-offset:2px}
.b{font-weight:600}.says{font-size:17px;min-height:4.2em;margin:8px 0 0}.wide .says{min-height:2.8em}
.out{display:grid;align-items:end;gap:8px 14px;margin:8px 0}.out b{font-size:18px}
.sr{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
@media(prefers-reduced-motion){*{transition:none!important}}
@media print{.head,.ctl,button,details,input:not([type=range]){display:none!important}}`;

const set = (e, at) => { for (const k in at) e.setAttribute(k, at[k]); return e; };
const make = ns => (spec, at, ...kids) => { // 'tag.class.class'
  const [tag, ...cls] = spec.split('.'), e = set(document.createElementNS('http://www.w3.org/' + ns, tag), at);
  if (cls[0]) e.setAttribute('class', cls.join(' '));
  e.append(...kids); return e;
};
const h = make('1999/xhtml'), s = make('2000/svg');
const text = (x, y, t, cls = 'mid') => s('text.' + cls, { x, y }, t);
const seg = (e, [x1, y1], [x2, y2]) => set(e, { x1, y1, x2, y2 });
const fold = (title, ...kids) => h('details', {}, h('summary', {}, title), ...kids);
const rule = (a, b) => seg(s('line.thin'), a, b);
const say = (e, x, y, t) => { set(e, { x, y }).textContent = t; };
const width = e => e.clientWidth || 330; // a hidden tab measures 0
const still = () => matchMedia('(prefers-reduced-motion)').matches;

/** What a screen reader hears: `speak` waits until the hand has rested and no tour plays. What was said last describes the figure. */
function voice() {
  const live = h('div.sr', { role: 'status', id: 'told' });
  let timer;
  return { live, speak(words) {
    clearTimeout(timer);
    timer = setTimeout(() => { if (!live.closest('.plays')) live.textContent = words; }, 400);
  } };
}
/** A sentence below the figure; `tell` writes its parts at once, and speaks them. */
function sentence() {
  const says = h('p.says'), { live, speak } = voice();
  return { says, live, tell(...parts) { says.replaceChildren(...parts); speak(says.textContent); } };
}
/** Numbers with their captions, in fixed columns; `tell` writes them, and speaks. */
function readout(...captions) {
  const cells = captions.map(t => h('div', {}, h('small', {}, t), h('b'))), out = h('div.out', {}, ...cells), { live, speak } = voice();
  return { out, live, tell(values, lead = '') {
    values.forEach((v, i) => { cells[i].lastChild.textContent = v; });
    speak(lead + captions.map((t, i) => `${t} ${values[i]}`).join(', '));
  } };
}
let pace = 55; // ms in which ink comes most of its way
/** Ease the numbers of `shown` towards those of `goal()`, drawing every frame. Only ink eases, never a number that is read. */
function easing(shown, goal, draw) {
  let raf = 0, last;
  const frame = t => {
    // A frame may be stamped earlier than the event before it.
    const f = still() ? 1 : 1 - Math.exp(-max(0, min(50, t - last)) / pace), to = goal();
    let more = false;
    last = t;
    for (const k in to) {
      shown[k] += (to[k] - shown[k]) * f;
      if (abs(to[k] - shown[k]) < .004) shown[k] = to[k]; else more = true;
    }
    draw();
    raf = more ? requestAnimationFrame(frame) : 0;
  };
  return () => { if (!raf) { last = performance.now(); raf = requestAnimationFrame(frame); } };
}
/** Let a button play a tour; with `play` it plays by itself, too, when half of the figure is first in view, or as much as a small window holds. A hand on the figure takes over. */
function player(fig, button, { play, tour, show }) {
  let raf = 0;
  const view = new IntersectionObserver(seen => {
    const { intersectionRatio: part, intersectionRect: { height } } = seen.at(-1);
    if (part > .49 || height > .7 * innerHeight) start();
  }, { threshold: [.2, .3, .4, .5] });
  const stop = () => {
    view.disconnect(); cancelAnimationFrame(raf); raf = 0; document.removeEventListener('visibilitychange', stop);
    pace = 55; fig.classList.remove('plays'); button.textContent = 'Play';
  };
  function start() {
    stop();
    const begun = performance.now(), frame = now => {
      const t = still() ? 1 : max(0, min(1, (now - begun) / SECONDS / 1000));
      raf = requestAnimationFrame(frame);
      if (fig.isConnected) show(along(tour, t));
      if (t === 1 || !fig.isConnected) stop();
    };
    pace = 150; fig.classList.add('plays'); button.textContent = 'Stop';
    raf = requestAnimationFrame(frame); document.addEventListener('visibilitychange', stop);
  }
  button.onclick = () => raf ? stop() : start();
  for (const touch of ['pointerdown', 'keydown', 'focusin', 'input', 'click']) fig.addEventListener(touch, e => { if (e.target !== button) stop(); }, true);
  if (play) if (still()) show(along(tour, 1)); else view.observe(fig);
}
/** Build the figure in a shadow root, where the page's CSS cannot reach it, lay it out whenever its width changes, and let it tell its story: { play, tour, show }. `trial` says what to try, or makes of the button what stands there. */
function mount(host, label, css, trial, kids, layout, story) {
  // A sheet, since the pages' policy lets no script add a style element.
  const root = host.attachShadow({ mode: 'open' }), sheet = new CSSStyleSheet(), button = h('button.play', { type: 'button' }, 'Play');
  sheet.replaceSync(CSS + css);
  const fig = h('div.fig', { role: 'group', 'aria-label': label }, trial.call ? trial(button) : h('div.head', {}, still() ? '' : button, h('p', {}, h('b', {}, 'Try: '), trial)), ...kids);
  root.adoptedStyleSheets = [sheet]; root.append(fig);
  root.querySelectorAll('.fig,[role=img]').forEach(e => set(e, { 'aria-describedby': 'told' }));
  const fit = () => { fig.classList.toggle('wide', width(host) >= 840); layout(); };
  new ResizeObserver(fit).observe(host); fit();
  player(fig, button, story);
}
