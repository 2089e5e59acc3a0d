// When a question of a chapter comes back: after 1, 3, 7 and 21 days. A right answer takes it one step on if its days were
// over, a wrong one back to the first step. The page of reviews begins with those that were wrong, and then with those
// whose days are over.
const review = {
  days: [1, 3, 7, 21],

  // What to remember of a question, from what was remembered before and what is said now: {value, missed, on}.
  after(before, said) {
    const early = before && this.left(before, said.on) > 0, right = said.missed === null;
    const step = !right ? 0 : early ? before.step : Math.min((before?.step ?? 0) + 1, this.days.length - 1);
    const count = {asked: (before?.asked ?? 0) + 1, right: (before?.right ?? 0) + right};
    return {...said, on: right && early ? before.on : said.on, step, ...count};
  },

  // In how many days it comes back; 0 or less where its days are over.
  left(entry, today) {
    return this.days[entry.step] - Math.round((Date.parse(today) - Date.parse(entry.on)) / 864e5);
  },

  // The ids that are due, first those that were wrong and among equals the longest unseen, and the days until the next.
  due(entries, today) {
    const left = id => this.left(entries[id], today), wrong = id => entries[id].missed !== null;
    const ids = Object.keys(entries).sort((a, b) => wrong(b) - wrong(a) || entries[a].on.localeCompare(entries[b].on));
    const later = ids.filter(id => !wrong(id) && left(id) > 0);
    return {ids: ids.filter(id => !later.includes(id)), wrong: ids.filter(wrong).length, next: Math.min(...later.map(left))};
  },

  // Whether a question is asked anew where it was answered before: where it comes back, and where its days are over.
  asks(place, before) {
    return Boolean(place.closest(".again")) || this.left(before, this.today()) <= 0;
  },

  says(entry) {
    return `${entry.missed === null ? "Right." : "Not right."} It comes back ${this.when(this.left(entry, this.today()))}.`;
  },

  // Of a question that is asked anew.
  before(entry) {
    return this.left(entry, this.today()) > 0 ? this.says(entry) : `${entry.missed === null ? "Right" : "Not right"} the last time.`;
  },

  when: days => days <= 1 ? "tomorrow" : `in ${days} days`,

  today: () => new Date().toISOString().slice(0, 10),

  // Puts what is due at the head of the page that asks all.
  sort(place, boxes) {
    const entries = memory.all("reviews"), {ids, wrong, next} = this.due(entries, this.today());
    const found = ids.filter(id => boxes.has(id)), answered = Object.keys(entries).filter(id => boxes.has(id)).length;
    const due = `Due today: ${found.length}${wrong ? `, of which ${wrong} ${wrong > 1 ? "were" : "was"} wrong the last time` : ""}.`;
    const none = `Nothing is due. The next question comes back ${this.when(next)}.`;
    if (answered) place.querySelector("p:last-child").textContent = `${found.length ? due : none} Answered so far: ${answered} of ${boxes.size}.`;
    place.append(...found.map(id => boxes.get(id)));
    place.hidden = false;
  },
};
if (typeof module === "object") module.exports = review;
else for (const place of document.querySelectorAll("[data-due]")) {
  const boxes = [...document.querySelectorAll(".again .ask")];
  review.sort(place, new Map(boxes.map(box => [JSON.parse(box.dataset.ask).id, box.parentElement])));
}
