// The table of symptoms: show the rows that fit the answers. The address says what was answered, so that it can be
// linked: symptoms.html#show=in-a-batch+at-once
{
const form = document.querySelector("form.filter"), rows = [...document.querySelectorAll("table.symptoms tbody tr")];
const radios = [...form.querySelectorAll("input")], symptoms = rows.filter(row => row.querySelector("a"));
const fold = form.querySelector("button");  // in sight on phones alone
const slug = text => text.replaceAll(" ", "-");
const words = row => row.lastElementChild.textContent.replace(/^(?!.*half).*/, "$&, any precision")
  .replace(/^(?!.*, an error).*/, "$&, silent");  // "perhaps an error" is both
const chosen = () => radios.filter(radio => radio.checked && radio.value).map(radio => radio.value);

function show() {
  const asked = chosen();
  for (const row of symptoms) row.hidden = !asked.every(answer => words(row).includes(answer));
  let above = null;  // the row that names a group, in sight while one of its own is
  for (const row of rows) {
    if (!symptoms.includes(row)) (above = row).hidden = true;
    else if (!row.hidden) above.hidden = false;
  }
  const left = symptoms.filter(row => !row.hidden).length;
  form.querySelector("output").value = asked.length ? `${left} of ${symptoms.length} symptoms` : `${left} symptoms`;
  form.classList.toggle("chosen", asked.length);
}

function read() {
  const named = location.hash.match(/^#show=(.+)/)?.[1].split("+");
  if (!named && location.hash !== "#symptoms") return;  // a place on the page
  form.reset();
  for (const radio of radios) radio.checked ||= named?.includes(slug(radio.value));
  fold.ariaExpanded = chosen().length > 0 || fold.ariaExpanded;
  show();
  form.scrollIntoView();
}

fold.addEventListener("click", () => fold.ariaExpanded = fold.ariaExpanded !== "true");
form.addEventListener("change", () => {
  history.replaceState(null, "", chosen().length ? `#show=${chosen().map(slug).join("+")}` : "#symptoms");
  show();
});
addEventListener("hashchange", read);
read();
}
