// A story: a drawing whose parts know what they are at each step, and a line that goes from step to step, by itself and by hand.
// Python draws it whole, in its last step. Pure math first (tested in node), drawing after.

const NUMBER = /-?\d+(?:\.\d+)?/g;
/** What a part is at `at`, 1.5 being half way from the second step to the third: numbers glide, and those inside of words too where the words are the same. What differs otherwise changes half way. */
export function between(values, at) {
  const i = min(Math.floor(at), values.length - 1), from = values[i], to = values[i + 1] ?? from, part = from === to ? 0 : at - i, smooth = part * part * (3 - 2 * part);
  const mix = (a, b) => +(+a + (b - a) * smooth).toFixed(2), goals = `${to}`.match(NUMBER) ?? [];
  if (`${from}`.replace(NUMBER, '') !== `${to}`.replace(NUMBER, '')) return part < .5 ? from : to;
  return `${from}`.replace(NUMBER, number => mix(number, goals.shift()));
}
/** Where a story is after some seconds: it rests at each step, then glides to the next. */
export const clock = (seconds, last, [rest, glide]) => {
  const step = min(last, Math.floor(seconds / (rest + glide)));
  return min(last, step + max(0, seconds - step * (rest + glide) - rest) / glide);
};

const LOOK = `:host{display:block;font:15px/1.4 var(--sans,sans-serif);font-variant-numeric:tabular-nums;text-align:left}
.fig{max-width:min(100%,var(--most));margin:auto}svg{display:block;width:100%;height:auto;overflow:visible;fill:currentColor}
.bar{display:flex;align-items:center;gap:8px;margin-top:6px}.bar input{flex:1;min-width:60px;height:44px;margin:0;appearance:none;background:none;color:inherit;cursor:pointer}
::-webkit-slider-runnable-track{height:2px;background:currentColor}::-moz-range-track{height:2px;background:currentColor}
::-webkit-slider-thumb{appearance:none;width:20px;height:20px;margin-top:-9px;border-radius:50%;background:currentColor}::-moz-range-thumb{width:20px;height:20px;border:0;border-radius:50%;background:currentColor}
button{font:inherit;color:inherit;background:none;border:1px solid;border-radius:6px;min-width:44px;height:36px;padding:0 8px;cursor:pointer;position:relative}
button::after{content:"";position:absolute;inset:-5px -2px}.play{min-width:60px}:is(button,input):focus-visible{outline:2px solid;outline-offset:2px}
.says{font-size:16px;min-height:2.8em;margin:2px 0 0;text-wrap:pretty}.says b{margin-right:.5em}.sr{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
@media print{.bar,.says b{display:none}.fig{max-width:calc(var(--most)/1.5)}.says{min-height:0}}`;

export function render(host, { says, rhythm, play }) {
  const root = host.attachShadow({ mode: 'open' }), sheet = new CSSStyleSheet(), last = says.length - 1;
  sheet.replaceSync(LOOK);
  const svg = host.querySelector('svg').cloneNode(true), parts = [...svg.querySelectorAll('[data-steps]')].map(e => [e, JSON.parse(e.dataset.steps)]);
  const key = (name, sign) => h('button', { type: 'button', 'aria-label': name }, sign), back = key('one step back', '◂'), on = key('one step on', '▸');
  const button = h('button.play', { type: 'button' }, 'Play'), slider = h('input', { type: 'range', max: last, step: .01, 'aria-label': 'step' });
  const words = h('p.says'), live = h('div.sr', { role: 'status', id: 'told' });
  const fig = h('div.fig', { role: 'group', 'aria-label': 'Story in steps', 'aria-describedby': 'told' }, svg, h('div.bar', {}, still() ? '' : button, back, on, slider), words, live);
  fig.style.setProperty('--most', `${1.5 * svg.viewBox.baseVal.width}px`);
  for (const name of ['style', 'width', 'height']) svg.removeAttribute(name);
  root.adoptedStyleSheets = [sheet]; root.append(fig);

  // A film behind a prediction waits until the answer is open.
  const answer = host.closest('.told')?.previousElementSibling.querySelector('details'), waits = Boolean(play && answer && !answer.open);
  let at = play && !still() ? 0 : last, aim = null, raf = 0, told; // aim: the step that a hand asked for, until the story is there
  function show(to) {
    at = to;
    if (at === aim) aim = null;
    for (const [part, steps] of parts) for (const name in steps)
      if (name === 'text') part.textContent = steps.text[min(Math.round(at), steps.text.length - 1)]; else part.setAttribute(name, between(steps[name], at));
    const now = Math.round(at);
    slider.value = at; slider.setAttribute('aria-valuetext', `${now + 1} of ${last + 1}`);
    words.replaceChildren(h('b', {}, `${now + 1}/${last + 1}`), says[now]);
    clearTimeout(told); told = setTimeout(() => { if (!raf) live.textContent = says[now]; }, 400);
  }
  const view = new IntersectionObserver(seen => {
    const { intersectionRatio: part, intersectionRect: { height } } = seen.at(-1);
    if (part > .49 || height > .7 * innerHeight) begin();
  }, { threshold: [.2, .3, .4, .5] });
  const stop = () => {
    view.disconnect(); cancelAnimationFrame(raf); raf = 0; button.textContent = 'Play'; document.removeEventListener('visibilitychange', stop);
  };
  /** Move to `end`; `place` tells where the story is after some seconds. */
  function run(end, place) {
    stop();
    const begun = performance.now(), frame = now => {
      raf = requestAnimationFrame(frame);
      const to = fig.isConnected ? place(max(0, now - begun) / 1000) : end;
      if (to === end) stop();
      show(to);
    };
    raf = requestAnimationFrame(frame); document.addEventListener('visibilitychange', stop);
  }
  function begin() { aim = null; run(last, seconds => clock(seconds, last, rhythm)); button.textContent = 'Stop'; }
  function go(by) {
    const from = at, here = aim ?? at, to = aim = max(0, min(last, by < 0 ? Math.ceil(here) - 1 : Math.floor(here) + 1));
    if (still()) { stop(); show(to); } else run(to, seconds => seconds > .4 ? to : from + (to - from) * seconds / .4);
  }
  button.onclick = () => { if (button.textContent === 'Stop') stop(); else begin(); };
  back.onclick = () => go(-1); on.onclick = () => go(1);
  slider.oninput = () => { aim = null; stop(); show(+slider.value); };
  slider.onkeydown = e => { // a drag is finer than a key
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key];
    if (by) { e.preventDefault(); go(by); }
  };
  if (waits && !still()) answer.addEventListener('toggle', () => view.observe(fig), { once: true });
  for (const touch of ['pointerdown', 'keydown', 'focusin']) fig.addEventListener(touch, e => { if (e.target !== button) stop(); }, true);
  addEventListener('beforeprint', () => { stop(); show(last); });
  show(at);
  if (play && !waits && !still()) view.observe(fig);
}
