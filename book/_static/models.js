// What models use: find families by their words, and sort them. The address says what is looked for, so that it can be
// linked: models.html#find=yarn
{
const form = document.querySelector("form.filter"), body = document.querySelector("table.models > tbody");
const rows = [...body.rows], heads = [...document.querySelectorAll("table.models th[data-by]")];
const plain = text => text.toLowerCase().replace(/[-_,*]/g, "");
const words = new Map(rows.map(row => [row, plain([...row.cells].map(cell => `${cell.dataset.is ?? ""} ${cell.textContent}`).join(" "))]));

function show() {
  const asked = plain(form.find.value).split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !asked.every(word => words.get(row).includes(word));
  const left = rows.filter(row => !row.hidden).length;
  form.querySelector("output").value = asked.length ? `${left} of ${rows.length} families` : `${rows.length} families`;
  form.classList.toggle("chosen", asked.length);
}

// What a cell is sorted by; null, which comes last either way, where it says nothing.
const KEYS = {
  word: text => text.toLowerCase() || null,
  number: text => text && Math.max(...text.replaceAll(",", "").match(/\d+/g)) || null,
  share: text => { const [part, whole] = text.match(/\d+/g) ?? []; return whole ? part / whole : text ? 1 : null; },
};

function sort(head) {
  const down = head.getAttribute("aria-sort") === "ascending", at = head.cellIndex;
  const key = row => KEYS[head.dataset.by](row.cells[at].textContent.trim());
  const keys = new Map(rows.map(row => [row, key(row)]));
  rows.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    return x === y ? 0 : x === null ? 1 : y === null ? -1 : (x < y ? -1 : 1) * (down ? -1 : 1);
  });
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows);
}

function find(asked) {
  form.find.value = asked;
  show();
  history.replaceState(null, "", asked ? "#find=" + encodeURIComponent(asked).replaceAll("%20", "+") : location.pathname);
}

function read() {
  const named = decodeURIComponent(location.hash.replaceAll("+", " ")).match(/^#find=(.*)/);
  if (named) find(named[1]);
}

for (const head of heads) {
  const button = Object.assign(document.createElement("button"), {type: "button", textContent: head.textContent, onclick: () => sort(head)});
  head.replaceChildren(button);
}
form.addEventListener("input", show);
form.addEventListener("change", () => find(form.find.value.trim()));
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("click", event => {
  if (!("find" in event.target.dataset)) return;
  find(event.target.dataset.find);
  if (!form.find.value) form.find.focus();  // the button that was pressed is gone
});
addEventListener("hashchange", read);
read();
}
