// A question above a figure, which is sent before the figure's own source. Any answer plays the figure's story, and then the
// question says what was said and what is so.

const GUESS = `.asks legend{padding:0;min-height:2.8em}.wide .asks legend{min-height:1.4em}.asks button{float:none;margin-right:8px}[aria-pressed=true]{background:color-mix(in srgb,currentColor 14%,transparent)}.right{box-shadow:inset 0 0 0 1.5px}`;

const guess = ({ ask, answers, right, so }) => button => {
  const legend = h('legend', { 'aria-live': 'polite' }, h('b', {}, 'Predict first. '), ask);
  const chips = answers.map((answer, i) => Object.assign(h('button', { type: 'button' }, answer), { onclick() {
    chips.forEach((chip, j) => set(chip, { 'aria-pressed': i === j, class: j === right ? 'right' : '' }));
    legend.replaceChildren(h('b', {}, 'You said '), `${answer}. `, h('b', {}, i === right ? 'Yes: ' : `It is ${answers[right]}: `), so);
    button.hidden = false; button.click();
  } }));
  button.hidden = true;
  return h('fieldset.head.asks', {}, legend, ...chips, still() ? '' : button);
};
