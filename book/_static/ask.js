// A question that is answered before its own answer shows. Its box holds an `.ask`, with what is asked in `data-ask`, a list
// of options and a list of what wrong answers overlook, and a <details> with the answer, which stays away until then.
const ask = {
  // kind -> the form of a question: {element, value(), says(value), miss(value), answer()?}. `value` is null where nothing is
  // given, and throws an Error whose message is for the reader; `says` shows a value that was kept, and throws where it is
  // none; `miss` is null where the answer is right, and otherwise the key of what it overlooks; `answer` shows what is right,
  // where `says` does not show it as well.
  kinds: {
    choice: question => {
      const labels = question.options.map((option, at) => {
        const input = make("input", {type: "radio", name: question.id, value: at});
        return make("label", {}, input, make("span", {}, ...copies(option)));
      });
      const chosen = () => labels.findIndex(label => label.firstChild.checked);
      return {
        element: make("div", {className: "choices"}, ...labels),
        value: () => chosen() < 0 ? null : chosen(),
        says: value => [...question.options[value].cloneNode(true).childNodes],
        miss: value => value === question.right ? null : String(value),
        answer: () => copies(question.options[question.right]),
      };
    },

    number: question => {
      const {from, to, step, within = 0} = question, unit = question.unit ? (/[°%]/.test(question.unit) ? "" : "\xa0") + question.unit : "";
      const slide = make("input", {type: "range", min: from, max: to, step, value: (from + to) / 2, ariaLabel: "Your number, on a scale"});
      const box = make("input", {type: "text", inputMode: "decimal", size: 6, ariaLabel: "Your number"});
      slide.addEventListener("input", () => { box.value = slide.value; });
      box.addEventListener("input", () => { if (box.value.trim() && !isNaN(ask.number(box.value))) slide.value = ask.number(box.value); });
      return {
        element: make("div", {className: "scale"}, make("span", {}, `${from}${unit}`), slide, make("span", {}, `${to}${unit}`), box),
        value() {
          if (!box.value.trim()) return null;
          const value = ask.number(box.value);
          if (isNaN(value)) throw new Error(`“${box.value.trim()}” is no number.`);
          if (value < from || value > to) throw new Error(`${box.value.trim()} is off the scale, which goes from ${from} to ${to}.`);
          return value;
        },
        says: value => [`${Number(value.toPrecision(6))}${unit}`],
        miss: value => Math.abs(value - question.right) <= within + 1e-9 ? null : value < question.right ? "below" : "above",
        answer: () => [`${question.right}${unit}`],
      };
    },

    sentence: () => {
      const box = make("textarea", {rows: 2, maxLength: 500, ariaLabel: "Your answer, in a sentence"});
      return {element: box, value: () => box.value.trim() || null, says: value => [value.trim()], miss: () => "always"};
    },

    sketch: question => sketch.form(question),
  },

  // "12,5" and "1,000 %" as people write them; NaN where it is no number.
  number(text) {
    const plain = text.trim().replace(/\s*[%°]$/, "").replace(/^[−–]/, "-");
    const whole = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain) ? plain.replaceAll(",", "") : plain.replace(",", ".");
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(whole) ? Number(whole) : NaN;
  },

  // What an element asks, and where it keeps the answer. `hint(key)` are the words on what an answer overlooks.
  read(place) {
    const [options, overlooks] = place.querySelectorAll("ul"), said = JSON.parse(place.dataset.ask);
    const hints = Object.keys(said.overlooks ?? {}), told = [...overlooks?.children ?? []];
    return {...said, options: [...options?.children ?? []], memory: place.dataset.memory ?? "predictions", hint: key => copies(told[hints.indexOf(key)])};
  },

  // Turns an `.ask` into its form, or shows what this reader answered before.
  open(place) {
    const question = ask.read(place), {hint, memory: kind} = question;
    const details = place.parentElement.querySelector("details");
    const shown = make("div", {className: "asked"}), after = make("div", {className: "ask after", hidden: true});
    place.replaceChildren(shown);
    place.hidden = false;
    details.after(after);
    const boxes = kind === "predictions" ? document.querySelectorAll(`.told[data-of="${question.id}"]`) : [];

    // Away are the answer and what the page tells below. A line stands there, which leads back, or skips.
    const cover = covers => {
      details.open = true;
      details.classList.toggle("away", covers);
      for (const told of boxes) {
        told.classList.toggle("shown", !covers);
        told.querySelector(":scope > .waits")?.remove();
        if (!covers) continue;
        const skip = make("button", {type: "button", className: "skip"}, "Show it");
        skip.addEventListener("click", () => { reveal(); told.tabIndex = -1; told.focus({preventScroll: true}); });
        told.prepend(make("div", {className: "ask waits"}, make("p", {}, make("span", {}, "This waits for ", make("a", {href: `#${place.parentElement.id}`}, "your prediction"), "."), skip)));
      }
    };
    // Who skips sees the form still.
    const reveal = () => { shown.querySelector("form").inert = true; cover(false); };

    const put = () => {
      const form = ask.kinds[question.kind](question);
      const trouble = make("p", {className: "trouble", role: "alert"});
      const skip = make("button", {type: "button", className: "skip"}, "Show me the answer");
      const element = make("form", {noValidate: true}, make("fieldset", {}, make("legend", {}, place.dataset.legend ?? "Your prediction"), form.element),
        trouble, make("p", {className: "buttons"}, make("button", {}, "Compare"), skip));
      element.addEventListener("submit", event => {
        event.preventDefault();
        let value;
        try {
          value = form.value();
          if (value === null) throw new Error("Give an answer first, even a guess.");
        } catch (error) {
          trouble.textContent = error.message;
          return (element.querySelector("[type=text], :checked, [role=slider]") ?? element.querySelector("input, textarea")).focus();
        }
        const said = {value, missed: form.miss(value), on: new Date().toISOString().slice(0, 10)}, before = memory.all(kind)[question.id];
        if (kind === "predictions" && before) said.first = before.first ?? before;
        memory.write(kind, question.id, kind === "reviews" ? review.after(before, said) : said);
        compare(form, value, true);
      });
      skip.addEventListener("click", () => { reveal(); details.querySelector("summary").focus(); });
      shown.replaceChildren(element);
      after.replaceChildren();
      after.hidden = true;
      cover(true);
    };

    const compare = (form, value, now) => {
      const missed = form.miss(value), words = missed === null ? [] : hint(missed), anew = make("button", {type: "button", className: "skip"}, "Answer anew");
      anew.addEventListener("click", () => { put(); shown.querySelector("input, textarea, [tabindex]")?.focus(); });
      const both = make("div", {className: "both", tabIndex: -1}, make("div", {className: "said"}, make("b", {}, form.title ?? "You said"), make("div", {}, ...form.says(value))),
        form.answer ? make("div", {className: "meant"}, make("b", {}, "The book says"), make("div", {}, ...form.answer())) : "");
      const judged = question.kind === "sentence";  // by the reader, below the answer
      const trouble = memory.trouble ? make("p", {className: "trouble", role: "status"}, memory.trouble) : "";
      const overlooked = words.length ? make("div", {className: "overlooked"}, judged ? make("b", {}, "Easily missed: ") : "", ...words) : "";
      const when = kind === "reviews" ? make("p", {className: "when"}, review.says(memory.all(kind)[question.id])) : "";
      const all = kind === "predictions" ? make("a", {href: `${document.documentElement.dataset.content_root}book/predicted.html`}, "What I predicted") : "";
      if (now) shown.style.minHeight = `${shown.getBoundingClientRect().height}px`;
      shown.replaceChildren(...[both, judged ? "" : overlooked, when, trouble, make("p", {className: "buttons"}, anew, all)].filter(Boolean));
      after.replaceChildren(...judged ? [overlooked, ask.judge(question)].filter(Boolean) : []);
      after.hidden = !judged;
      cover(false);
      if (now) both.focus();
    };

    put();
    const before = memory.all(kind)[question.id], anew = before && kind === "reviews" && review.asks(place, before);
    if (anew) shown.prepend(make("p", {className: "when"}, review.before(before)));
    try {
      if (before && !anew) compare(ask.kinds[question.kind](question), before.value, false);
    } catch {
      put();  // the question has changed since, and what was kept is no answer to it
    }
  },

  // How close a sentence came: the reader says.
  felt: {said: "As I said", half: "Half", surprised: "I was surprised"},
  judge(question) {
    const kept = memory.all(question.memory)[question.id]?.felt;
    const labels = Object.entries(ask.felt).map(([value, words]) => {
      const input = make("input", {type: "radio", name: `felt ${question.id}`, value, checked: value === kept});
      input.addEventListener("change", () => memory.write(question.memory, question.id, {...memory.all(question.memory)[question.id], felt: value}));
      return make("label", {}, input, make("span", {}, words));
    });
    return make("fieldset", {className: "felt"}, make("legend", {}, "How close were you?"), ...labels);
  },

  // Asks in the place of some buttons before what cannot be undone: `act` on a yes, `back` on all else.
  sure(buttons, title, words, yes, no, act, back) {
    const agree = make("button", {type: "button"}, yes), keep = make("button", {type: "button", className: "skip"}, no);
    const box = make("div", {role: "group", ariaLabel: title}, make("p", {}, words), make("p", {className: "buttons"}, agree, keep));
    const leave = () => { box.remove(); back(); };
    agree.addEventListener("click", () => { act(); leave(); });
    keep.addEventListener("click", leave);
    box.addEventListener("keydown", event => { if (event.key === "Escape") leave(); });
    buttons.replaceWith(box);
    keep.focus();
  },
};

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter(child => child !== ""));
  return element;
}

function copies(element) {
  return [...element?.cloneNode(true).childNodes ?? []];
}

if (typeof module === "object") module.exports = ask;
else for (const place of document.querySelectorAll(".ask")) ask.open(place);
