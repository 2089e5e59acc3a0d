// The ledger of claims: show those that match the form. The address says what is chosen, so that it can be linked:
// ledger.html#false, ledger.html#false+uva
const form = document.querySelector("form.filter"), claims = [...document.querySelectorAll("li[data-verdict]")];
const choice = () => [form.verdict.value, form.source.value].filter(Boolean);

function show() {
  for (const claim of claims) {
    const traits = [claim.dataset.verdict, ...claim.dataset.source.split(" ")];
    claim.hidden = !choice().every(trait => traits.includes(trait));
  }
  const left = claims.filter(claim => !claim.hidden).length;
  form.querySelector("output").value = choice().length ? `${left} of ${claims.length} claims` : `${left} claims`;
  form.classList.toggle("chosen", choice().length);
}

function read() {
  const named = location.hash.slice(1).split("+");
  form.reset();
  for (const radio of form.verdict) radio.checked ||= named.includes(radio.id);
  for (const option of form.source) option.selected ||= named.includes(option.id);
  show();
  // A place on the page has moved where a form that hid claims shows them again.
  (choice().length ? form : document.getElementById(decodeURIComponent(location.hash.slice(1))))?.scrollIntoView();
}

form.addEventListener("change", () => {
  history.replaceState(null, "", "#" + (choice().join("+") || "all"));
  show();
});
addEventListener("hashchange", read);
read();
