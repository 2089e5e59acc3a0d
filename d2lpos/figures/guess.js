// A question above a figure, which is sent before the figure's own source. Until there is a guess no control moves, and a hand that
// tries one is told why. Any guess plays the figure's story, and then the question says what was said and what is so.

const GUESS = `.asks legend{padding:0;min-height:2.8em}.wide .asks legend{min-height:1.4em}.asks button{float:none;min-width:44px;min-height:44px;margin:4px 8px 4px 0}.asks button::after{inset:0}.due button:not(.play){box-shadow:0 0 0 2px}.fig :disabled{pointer-events:none}label:has(:disabled){opacity:.6}:disabled~svg :is(.hand,.knob){fill:color-mix(in srgb,currentColor 50%,var(--paper,#fffefb))}[aria-pressed=true]{background:color-mix(in srgb,currentColor 14%,transparent)}.right{box-shadow:inset 0 0 0 1.5px}`;

const guess = ({ ask, answers, right, so }) => button => {
  const lead = h('b', {}, 'Predict first. '), legend = h('legend', { 'aria-live': 'polite' }, lead, ask);
  const chips = answers.map((answer, i) => Object.assign(h('button', { type: 'button' }, answer), { onclick() {
    chips.forEach((chip, j) => set(chip, { 'aria-pressed': i === j, class: j === right ? 'right' : '' }));
    legend.replaceChildren(h('b', {}, 'You said '), `${answer}. `, h('b', {}, i === right ? 'Yes: ' : `It is ${answers[right]}: `), so);
    wait(false); button.click();
  } }));
  const box = h('fieldset.head.asks', {}, legend, ...chips, still() ? '' : button);
  const wait = on => { button.hidden = on; box.classList.remove('due'); box.parentNode.querySelectorAll('input').forEach(e => { e.disabled = on; }); };
  const remind = e => { if (button.hidden && !box.contains(e.target)) { lead.textContent = 'Guess first. '; box.classList.add('due'); } };
  queueMicrotask(() => { wait(true); box.parentNode.addEventListener('pointerdown', remind); }); // once it stands in its figure
  return box;
};
