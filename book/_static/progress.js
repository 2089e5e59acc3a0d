// The page of a reader's progress: in the list of all sections and exercises, what was read and passed is marked and
// counted; receipts add to it; and it can be saved, printed and emptied.
const progress = {
  kinds: ["read", "passed", "place", "predictions", "mistakes", "reviews"],

  // The receipts that a text shows, as a check prints them or as a reader types them.
  receipts(text) {
    const printed = [...text.matchAll(/Receipt:\s*(\w+)/g)].map(found => found[1]);
    return [...new Set((printed.length ? printed : text.split(/[\s,;]+/)).map(word => word.toUpperCase()).filter(Boolean))];
  },

  // The text below the cells of a notebook, without the book's own solutions; null where it is no notebook.
  printed(notebook) {
    if (!Array.isArray(notebook?.cells)) return null;
    const mine = notebook.cells.filter(cell => !cell?.metadata?.tags?.includes?.("solution"));
    const outputs = mine.flatMap(cell => Array.isArray(cell?.outputs) ? cell.outputs : []);
    return outputs.flatMap(output => [output?.text, output?.data?.["text/plain"]]).flat().filter(part => typeof part === "string").join("\n");
  },

  // What was saved, by kind; null where it is something else.
  saved(data) {
    const kept = data?.d2lpos, plain = value => value?.constructor === Object;
    return plain(kept) && progress.kinds.every(kind => !(kind in kept) || plain(kept[kind])) ? kept : null;
  },
};
if (typeof module === "object") module.exports = progress;
else {
  const parts = [...document.querySelectorAll("details.part")], today = new Date().toISOString().slice(0, 10);
  const exercises = new Map([...document.querySelectorAll("[data-receipt]")].map(entry => [entry.dataset.receipt, entry]));
  const named = receipt => exercises.get(receipt).textContent.trim().match(/^Exercise \w+\.\d+/)[0];
  const bar = make("div", {className: "ask standing"}), tail = make("div", {className: "ask standing"});
  parts[0].before(bar);
  parts.at(-1).after(tail);

  const boxes = [...document.querySelectorAll(".sections > li")].map(entry => {
    const link = entry.querySelector("a"), box = make("input", {type: "checkbox", ariaLabel: `I have read: ${link.textContent}`});
    box.addEventListener("change", () => { memory.write("read", reading.key(link.href), box.checked ? today : undefined); fill(); });
    entry.prepend(box);
    return [box, reading.key(link.href)];
  });
  const marks = new Map([...exercises].map(([receipt, entry]) => [receipt, entry.appendChild(make("span", {className: "passed"}))]));
  const counts = parts.map(part => part.querySelector("summary").appendChild(make("small", {className: "count"})));

  const told = make("p", {className: "told", role: "status"}), trouble = make("p", {className: "trouble", role: "alert"});
  const text = make("textarea", {rows: 2, ariaLabel: "Receipts, or what your checks printed"});
  const file = make("input", {type: "file", accept: ".ipynb,.json", multiple: true});
  const form = make("form", {noValidate: true}, make("fieldset", {}, make("legend", {}, "Show what you have solved"),
    make("p", {}, `Paste what your checks printed, or type a receipt, such as ${[...exercises.keys()][0]}.`), text,
    make("p", {className: "buttons"}, make("button", {}, "Add")),
    make("label", {className: "file"}, make("span", {}, "Or choose notebooks that you have worked in. They are read here, and stay where they are."), file)));
  const answer = make("p", {className: "answer", role: "status"});

  const add = receipts => {
    const known = receipts.filter(receipt => exercises.has(receipt)), before = memory.all("passed");
    const added = known.filter(receipt => !(receipt in before)), others = receipts.filter(receipt => !exercises.has(receipt));
    for (const receipt of added) memory.write("passed", receipt, today);
    const old = known.length - added.length;
    return [added.length ? `Added: ${added.map(named).join(", ")}.` : "", old ? `${old} ${old > 1 ? "were" : "was"} there already.` : "",
      ...others.slice(0, 3).map(word => `“${word.slice(0, 40)}” is no receipt of this book.`), others.length > 3 ? `Nor are ${others.length - 3} others.` : ""];
  };
  form.addEventListener("submit", event => {
    event.preventDefault();
    const receipts = progress.receipts(text.value), said = receipts.length ? add(receipts) : ["Paste or type a receipt first. It has six letters and digits."];
    if (receipts.length && receipts.every(receipt => exercises.has(receipt))) text.value = "";
    answer.textContent = said.filter(Boolean).join(" ");
    fill();
  });
  file.addEventListener("change", async () => {
    const said = [];
    for (const one of file.files) {
      let data = null;
      try { data = JSON.parse(await one.text()); } catch {}
      const printed = progress.printed(data), kept = progress.saved(data);
      if (kept) {
        for (const kind of Object.keys(kept).filter(kind => progress.kinds.includes(kind)))
          for (const [id, value] of Object.entries(kept[kind])) if (!(id in memory.all(kind))) memory.write(kind, id, value);
        said.push(`“${one.name}” is added to what was here.`);
      } else if (printed === null) said.push(`“${one.name}” is no notebook.`);
      else if (!/Receipt:/.test(printed)) said.push(`“${one.name}” shows no exercise that passed. Run its checks, and save it.`);
      else said.push(...add(progress.receipts(printed)));
    }
    file.value = "";
    answer.textContent = said.filter(Boolean).join(" ");
    fill();
  });

  const print = make("button", {type: "button", className: "skip"}, "Print"), save = make("button", {type: "button", className: "skip"}, "Save to a file");
  const empty = make("button", {type: "button", className: "skip"}, "Empty this page"), buttons = make("p", {className: "buttons"}, print, save, empty);
  print.addEventListener("click", () => window.print());
  save.addEventListener("click", () => {
    const kept = Object.fromEntries(progress.kinds.map(kind => [kind, memory.all(kind)]));
    const url = URL.createObjectURL(new Blob([JSON.stringify({d2lpos: kept}, null, 1)], {type: "application/json"}));
    make("a", {href: url, download: `where-i-stand-${today}.json`}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  empty.addEventListener("click", () => ask.sure(buttons, "Empty this page?", "This forgets which sections you have read and which exercises you have passed. Your predictions and reviews stay.",
    "Empty it", "Keep it", () => { for (const kind of ["read", "passed", "place"]) memory.forget(kind); fill(); }, () => { tail.prepend(buttons); empty.focus(); }));
  tail.append(buttons, make("p", {className: "when"}, "Some browsers empty what a page keeps when you have not come for a week. A file stays, and the box above takes it back."));

  const fill = () => {
    const read = memory.all("read"), passed = memory.all("passed"), last = reading.last();
    for (const [box, key] of boxes) box.checked = key in read;
    for (const [receipt, mark] of marks) mark.textContent = receipt in passed ? " passed" : "", mark.parentElement.classList.toggle("done", receipt in passed);
    const some = (done, all, what) => `${done} of ${all} ${what}${all === 1 ? "" : "s"}`;
    parts.forEach((part, at) => {
      const sections = [...part.querySelectorAll("[type=checkbox]")], all = part.querySelectorAll("[data-receipt]").length;
      counts[at].textContent = some(sections.filter(box => box.checked).length, sections.length, "section") + (all ? `, ${some(part.querySelectorAll(".done").length, all, "exercise")}` : "");
      part.classList.toggle("whole", sections.every(box => box.checked) && part.querySelectorAll(".done").length === all);
    });
    const done = boxes.filter(([box]) => box.checked).length, due = review.due(memory.all("reviews"), review.today()).ids.length;
    const made = Object.keys(memory.all("predictions")).length, count = (number, one, many) => `${number || "no"} ${number === 1 ? one : many}`;
    const solved = [...exercises.keys()].filter(one => one in passed).length;
    told.replaceChildren(`You have read ${some(done, boxes.length, "section")} and passed ${some(solved, exercises.size, "exercise")}. You have made `,
      make("a", {href: "predicted.html"}, count(made, "prediction", "predictions")), ", and ", make("a", {href: "review.html"}, count(due, "question", "questions")), due === 1 ? " is due." : " are due.");
    trouble.textContent = memory.trouble;
    const on = last ? [make("p", {className: "buttons"}, make("a", {className: "on", href: reading.address(last.key)}, `Go on with ${last.page}${last.section && `, ${last.section}`}`))] : [];
    bar.replaceChildren(told, ...on, ...[trouble].filter(box => box.textContent), form, answer);
    empty.hidden = !done && !Object.keys(passed).length;
    save.hidden = progress.kinds.every(kind => !Object.keys(memory.all(kind)).length);
  };
  fill();
  const last = reading.last(), here = last && boxes.find(([, key]) => key.split("#")[0] === last.key.split("#")[0]);
  (here ? here[0].closest("details") : parts[1]).open = true;
}
