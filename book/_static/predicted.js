// The page of all predictions: what this reader answered beside what the book says, counted, to print and to empty.
{
  const places = [...document.querySelectorAll(".prediction")], kind = "predictions";
  const bar = make("div", {className: "ask kept"});
  document.querySelector(".predictions").closest("section").before(bar);

  // "surprised", "half" or "said"; of a sentence only the reader can say, so "" until then.
  const felt = (question, {missed, felt}) => question.kind === "sentence" ? felt ?? "" : missed === null ? "said" : "surprised";
  const words = {surprised: "Surprised", half: "Half", said: "As you said", "": "Not compared yet"};

  const show = place => {
    const entry = place.closest("li"), question = ask.read(place), now = memory.all(kind)[question.id], kept = now?.first ?? now;
    entry.querySelector(".asked")?.remove();
    let parts = null, how;
    try {
      if (kept) {
        const form = ask.kinds[question.kind](question), hint = kept.missed === null ? [] : question.hint(form.miss(kept.value));
        how = felt(question, kept);
        parts = [make("p", {className: `felt felt-${how}`}, words[how]), make("div", {className: "both"},
          make("div", {className: "said"}, make("b", {}, form.title ?? "You said"), make("div", {}, ...form.says(kept.value))),
          form.answer ? make("div", {className: "meant"}, make("b", {}, "The book says"), make("div", {}, ...form.answer())) : ""),
          hint.length ? make("div", {className: "overlooked"}, ...hint) : ""];
      }
    } catch {}  // an answer to an older form of the question
    entry.classList.toggle("answered", Boolean(parts));
    if (parts) entry.append(make("div", {className: "ask asked"}, ...parts));
    return parts ? how : null;
  };

  const fill = () => {
    const found = places.map(show).filter(how => how !== null), judged = found.filter(Boolean).length;
    const surprised = found.filter(how => how === "surprised").length, all = `${found.length} of ${places.length}`;
    const told = !found.length ? `You have made none of the ${places.length} predictions yet.`
      : `You have made ${all} predictions. ` + (judged ? `You were surprised in ${surprised} of ${judged}.` : "None of them is compared yet.") + (judged && judged < found.length ? ` For ${found.length - judged} only you can say.` : "");
    const print = make("button", {type: "button"}, "Print"), empty = make("button", {type: "button", className: "skip"}, "Empty this page");
    print.addEventListener("click", () => window.print());
    empty.addEventListener("click", () => confirm(found.length));
    bar.replaceChildren(make("p", {className: "told", role: "status"}, told), memory.trouble ? make("p", {className: "trouble"}, memory.trouble) : "",
      found.length ? make("p", {className: "buttons"}, print, empty) : "");
  };

  const confirm = count => ask.sure(bar.querySelector(".buttons"), "Empty this page?",
    count > 1 ? `This forgets your ${count} predictions. They are kept nowhere else.` : "This forgets your prediction. It is kept nowhere else.",
    "Empty it", "Keep my answers", () => memory.forget(kind), () => {
      fill();
      const told = bar.querySelector(".told");
      told.tabIndex = -1;
      (bar.querySelector(".skip") ?? told).focus();
    });

  fill();
}
