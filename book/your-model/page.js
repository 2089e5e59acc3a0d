// "Your model": a configuration comes in, by name, file, text or link, and what reader.js reads of it is shown. What comes
// in is shown as text alone.
"use strict";

/** The tables, which come packed. */
async function yourModelUnpacked() {
  const packed = atob(yourModelTables), bytes = new Uint8Array(packed.length).map((_, i) => packed.charCodeAt(i));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

yourModelUnpacked().then(tables => {
const r = reader(tables), answers = readerAnswers(r), verdicts = readerVerdict(r, answers), facts = yourModelFacts(answers), {shown: asJson} = readerWords;
const {releases, programs, commands} = tables, {alike, identity, isCalled, loaded, lookUp, sized} = readerNames(tables);
const figures = yourModelFigures, {make, num, axis} = figures;
const LEAST = 64, MOST = 2 ** 24, LARGEST = tables.keys.files.largest, LINK = 4096;
const REMEDIES = {released: "As released", linear: "Interpolation", ntk: "NTK", yarn: "YaRN", llama3: "Llama 3"};
const FIRST = "Qwen3 8B";
const STRANGE = {position_embedding_type: "spiral", rope_wobble: 0.3, attention_sphere: true};
const KINDS = {yes: "Yes", setting: "With a setting", perhaps: "Perhaps", no: "No", unknown: "Not known"};  // of verdicts
const COMMAND = /^(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*\/)?(?:vllm|sglang|python[\d.]*|llama-(?:server|cli)(?:\.exe)?|ollama|docker)\s/;
const IN_DEPTH = "../chapters/in-depth/", CHAPTERS = "../chapters/";
const RULES = {linear: "interpolation", yarn: "YaRN", llama3: "Llama 3’s rule", longrope: "LongRoPE’s lists", dynamic_ntk: "dynamic NTK", ntk: "NTK"};

const page = document.querySelector(".yours"), out = page.querySelector(".out"), field = page.querySelector(".what");
const length = page.querySelector(".n"), program = page.querySelector("select"), asked = page.querySelector(".asked");
const still = matchMedia("(prefers-reduced-motion:reduce)");
const state = {tab: "vllm", bytes: 2, wish: null, mine: {requests: "1"}};
const width = () => Math.round(page.getBoundingClientRect().width);
let wide = width();  // before anything is changed: to measure later, the browser would lay the page out once more
let model = null, drawn = null, frame = 0, turn = 0, more = null, last = null;

const find = (selector, within = out) => within.querySelector(selector);
const fill = (selector, ...parts) => find(selector).replaceChildren(...parts.flat(Infinity).filter(part => part !== null && part !== ""));
const link = (href, ...text) => make("a", {href}, ...text);
const strong = (text, kind) => make("b", {class: kind}, text);
const p = (kind, ...said) => make("p", {class: kind}, ...said);
const slug = name => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/-$/, "");
const times = factor => `×${+factor.toFixed(2)}`;
const cut = text => text.length > 60 ? `${text.slice(0, 60)}…` : text;
const plural = (n, word) => `${num(n)} ${word}${n === 1 ? "" : "s"}`;

function size(bytes) {
  const [unit, name] = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "bytes"]].find(([unit]) => bytes >= unit) ?? [1, "bytes"];
  return `${(bytes / unit).toFixed(unit > 1 && bytes < (unit === 2 ** 30 ? 100 : 10) * unit ? 1 : 0)} ${name}`;
}

/** "04b-stretching: Five ways to stretch", as the reader names a section: its address, and its words. */
function section(named) {
  const [, stem, heading] = named.match(/^([\w-]+): (.*)$/), [, number, letter] = stem.match(/^(\d\d)([a-z]?)-/) ?? [];
  const anchor = heading.toLowerCase().replace(/[^\w\s-]/g, "").replace(/\s/g, "-");
  const folder = !number ? "" : letter ? IN_DEPTH : CHAPTERS;
  return link(`${folder}${stem}.html#${anchor}`, number ? `chapter ${+number}${letter.toUpperCase()}` : stem);
}

/** Another address of this very page; without one, the page's own. */
const address = (hash = location.pathname + location.search) => history.replaceState(null, "", hash);

// What comes in

/** Show something else than a model. */
function instead(...parts) {
  model = null;
  cancelAnimationFrame(frame);
  out.replaceChildren(...parts);
}
const refuse = (sentence, ...more) => instead(make("div", {class: "no"}, make("p", {class: "lead", role: "alert"}, sentence), ...more));

/** Work that is waited for, and then what to show of it, unless something else was asked for since. */
async function later(work) {
  const own = now();
  page.setAttribute("aria-busy", "true");
  const shown = await work().catch(error => () => refuse(error instanceof r.Refused ? sentence(error.message) : "A part of this page did not load. Load the page again."));
  if (own !== turn) return;
  now();
  shown();
}
function now() {
  page.removeAttribute("aria-busy");
  return ++turn;
}

/** What reads files, follows commands and counts the cost of a card: a script of its own, loaded when it is needed. */
function further() {
  const src = `${document.documentElement.dataset.content_root}_static/your-model-more.js`;
  more ??= new Promise((onload, onerror) => document.head.append(Object.assign(document.createElement("script"), {src, onload, onerror})))
    .then(() => ({...readerFiles(r, answers), ...readerCommands(r, answers), ...readerCard(r, answers)}));
  more.catch(() => more = null);
  return more;
}

/** Show a release; `typed` is a name that it has not itself. */
function named(release, typed = null) {
  now();
  open(release.config, {release, name: release.name, typed});
  field.value = release.name;
  address(`#model=${slug(release.name)}`);
  press(release.name);
}

/** Take a name, a command, or the text of a file. */
function take(text, name) {
  text = text.trim().replace(/^\$\s+/, "");
  if (!text) return;
  if (COMMAND.test(text)) {
    field.value = last = text.replace(/\s*\\\n\s*/g, " ");
    return command(text);
  }
  if (!name && !/^[[{"]/.test(text)) return search(text);
  if (name || text.length > 200 || !text.startsWith('"')) field.value = "";
  return come(new TextEncoder().encode(text), name ?? "this text");
}

/** Take the bytes of a file, or a File. */
const come = (data, name) => later(async () => {
  const {load, open: opened} = await further();
  press(null);
  address();
  try {
    const [values, notes] = data instanceof File ? await opened(data) : load(data, name);
    return () => open(values, {release: alike(values), notes});
  } catch (error) {
    if (error.code !== "json") throw error;
    const end = broke(r.textOfBytes(data instanceof File ? await data.arrayBuffer() : data).trim());
    if (name === "this link") return () => refuse("This link was cut off. Copy the whole link.");
    return () => refuse(end ? `The text breaks off in line ${end}. Copy the whole file.` : sentence(error.message), end ? "" : make("p", {}, "Take the file config.json from the folder of the model. On the model’s page at Hugging Face it is under “Files and versions”."));
  }
});

/** Show what a command does to the release that it names, or else to the file at hand. */
const command = text => later(async () => {
  const {ran} = await further(), words = text.split(/[\s=]+/).map(word => word.replace(/^["']|["']$/g, "").replace(/^.*\/(?=[^/]*\.gguf$)/i, ""));
  const typed = words.find(word => lookUp(word)[0]), own = typed && lookUp(typed)[0], file = model?.file, known = own ?? (file ? model.release : null);
  press(null);
  address();
  const values = own?.config ?? file, done = ran(text, values ?? releases[0].config), {flags} = commands[done.program];
  if (!values) return () => refuse("This command names no release that is known here. Open its model’s config.json first, and then paste the command again.");
  const at = words.findIndex(word => flags[word.replaceAll("_", "-")] === "length");
  state.tab = done.program;
  state.wish = done.length;
  if (!done.config && at >= 0) try { state.wish = verdicts.written(words[at + 1]).tokens; } catch {}
  return () => open(done.config ?? values, {release: known, name: own?.name, typed: own && !isCalled(own, typed) ? typed : null, file: own ? null : file, ran: done});
});

function search(text) {
  now();
  const [release, near] = lookUp(text);
  if (release) return named(release, isCalled(release, text) ? null : text);
  press(null);
  const unknown = `I know no release named “${cut(text)}”.`;
  if (!near.length) return refuse(`${unknown} Paste its config.json, or drop the file here.`);
  const which = near.length === 1 ? "Do you mean this one?" : "Which of these do you mean?";
  instead(make("p", {class: "lead", role: "status"}, `${unknown} ${which}`), make("div", {class: "near"}, near.map(({name}) => make("button", {type: "button", "data-k": name}, name))));
}

/** The line in which a text of JSON breaks off, where brackets are open; 0 where it is broken elsewhere. */
function broke(text) {
  const bare = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)/gs, ""), count = signs => bare.split(signs).length;
  return text[0] === "{" && count(/[[{]/) > count(/[\]}]/) ? text.split("\n").length : 0;
}

/** A sentence of the reader's, which begins with a family or a word: with the model for its family, and a full stop. */
function sentence(text) {
  const family = model?.reading.family, own = family && text.startsWith(`${family} `);
  const begun = own ? (model.name ?? "This model") + text.slice(family.length) : /^[a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return begun.replace(/[^.?!]$/, "$&.");
}

function open(values, {release = null, name = null, ignore = [], typed = null, notes = [], file = name ? null : values, ran = null}) {
  const known = release ?? {}, tokens = release?.stretch?.to ?? release?.trained?.at(-1) ?? 2048;
  let reading;
  try {
    reading = r.read(values, ignore);
  } catch (error) {
    return unread(error, values, {release, name, ignore, typed, notes, file, ran});
  }
  const training = facts.training(reading, known), groups = facts.groups(reading);
  model = {values, release, name, ignore, typed, notes, file, ran, reading, training, groups, readings: new Map()};
  const longer = (training.own || training.length >= 1e5 ? 1 : 4) * (training.length ?? 2048);
  model.first = [release?.stretch?.to ?? longer, training.length, training.length / 4].find(length => length && length <= Math.min(MOST, reading.lengths.until ?? MOST)) ?? tokens;
  Object.assign(state, {tokens: within(state.wish ?? model.first), remedy: "released", group: 0});
  drawn = null;
  model.remedies = model.groups.length && model.groups[0].place !== null ? Object.keys(REMEDIES).filter(remedy => remedy === "released" || knows(remedy)) : ["released"];
  show();
  draw(true);
}

/** Whether edits of a rule are known, beside the length. */
function knows(remedy) {
  const {reading, training: {from}, groups: [one]} = model;
  try {
    return !bounded(one) && answers.edits(reading, 2 * from, remedy, from).length > 1;
  } catch {
    return false;
  }
}

function unread(error, values, asked) {
  if (!error.code.startsWith("strange_keys") || !error.fields.keys) return refuse(sentence(error.message), ways());
  const keys = Object.entries(error.fields.keys), cell = text => make("td", {}, make("code", {}, text));
  const rows = keys.map(([key, value]) => make("tr", {}, cell(key), cell(asJson(value))));
  const pass = make("button", {type: "button"}, keys.length === 1 ? "Read it without this key" : "Read it without these keys");
  pass.addEventListener("click", () => open(values, {...asked, ignore: [...asked.ignore, ...keys.map(([key]) => key)]}));
  refuse(`I do not know ${keys.length === 1 ? "this key" : `these ${keys.length} keys`} of the file, so I say nothing about its positions.`,
    make("table", {}, make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "key"), make("th", {scope: "col"}, "value"))), make("tbody", {}, rows)),
    make("p", {}, "Such a key could change positions, and nobody would notice a wrong guess. If you know that this model’s positions do not depend on it, read the file without it."),
    p("do", pass), ways());
}

const ways = () => p("ways", link("models.html#how-they-were-read", "Which families are read"), link(page.dataset.report, "Report this file"));

function press(name) {
  for (const button of page.querySelectorAll(".chips button")) button.setAttribute("aria-pressed", button.dataset.k === name);
}

// Readings

/** The reading under a remedy for texts of some length; throws what the reader throws. */
function read(tokens, remedy = "released") {
  answers.checkUntil(model.reading, tokens);
  const key = `${tokens} ${remedy}`;
  if (remedy === "released") return model.reading;
  if (!model.readings.has(key)) {
    if (model.readings.size > 200) model.readings.clear();
    model.readings.set(key, r.read(answers.apply(model.values, answers.edits(model.reading, tokens, remedy, model.training.from)), model.ignore));
  }
  return model.readings.get(key);
}

const group = () => model.groups[state.group];
/** Whether layers look no farther than what is known, whatever the length. */
const bounded = one => one.reach <= (model.training.length ?? 0);
const pairs = (tokens, remedy) => facts.hands(group(), model.training, model.reading, read(tokens, remedy), tokens);

// What stays while the length moves

/** What a layer sees in a text of the length at hand, in the words of the sentence. */
const sees = layer => answers.sees(answers.sight(model.reading, layer, answers.longestOf(model.reading, state.tokens))).replace(/,$/, "");

/** What so many layers of a sort see. */
function seen(layers, all) {
  const n = layers.length, sort = facts.sort(layers[0], model.reading, state.tokens);
  if (sort === "recurrence") return `${n} without attention`;
  if (sort === "picture") return `${n} look${n === 1 ? "s" : ""} at a picture`;
  const sights = new Set(layers.map(sees));
  const what = sights.size > 1 ? {window: "windows", chunk: "chunks"}[sort] ?? "chosen tokens" : [...sights][0].replace(/^its own/, n === 1 ? "its own" : "their own");
  return `${all && n > 1 ? "all " : ""}${n} see${n === 1 ? "s" : ""} ${what}${sort === "none" ? ", without positions" : ""}`;
}

const SORTS = ["full", "none", "window", "chunk", "indexer", "recurrence", "picture"];

function strip() {
  const layers = answers.layersOf(model.reading), sorts = layers.map(layer => facts.sort(layer, model.reading, state.tokens)), n = sorts.length;
  const words = SORTS.filter(sort => sorts.includes(sort)).map(sort => {
    const own = layers.filter((_, i) => sorts[i] === sort);
    return [sort, seen(own, own.length === n)];
  });
  const bars = make("div", {class: words.length > 1 ? "bars" : "bars alike", tabindex: 0, role: "slider", "aria-valuemin": 1, "aria-valuemax": n, "aria-valuenow": 1, "aria-valuetext": "layer 1", "aria-label": `${n} layers: ${words.map(([, said]) => said).join(", ")}`, style: `--n:${n}`}, sorts.map(sort => make("i", {class: sort})));
  const said = p("cap", make("span", {class: "first"}, "layer 1"), words.map(([sort, text]) => make("span", {class: "k"}, make("i", {class: sort}), text)), make("span", {class: "last"}, `layer ${n}`));
  return make("div", {class: "layers"}, bars, said);
}

/** Where the facts of a release stand. */
function sources() {
  const {release, name} = model;
  if (!release || !name) return "";
  const found = [link(release.source, "its config.json")];
  if (release.report) found.push(link(release.report, "its report on the length of the texts in training"));
  if (release.stretch) found.push(link(release.stretch.source, "its makers on longer texts"));
  return p("origin", "Sources: ", found.flatMap((one, i) => [i ? "; " : "", one]), ".");
}

/** What one layer does, in a line. */
function told(layer) {
  if (!layer.attends) return "a recurrence or a convolution, which reads in order";
  if (layer.crosses) return "attends to a picture";
  const {encoding} = layer, said = [];
  said.push(`sees ${sees(layer)}`);
  if (answers.turns(layer)) {
    said.push(`base ${num(encoding.base)}`);
    const turning = 2 * answers.inForce(encoding)[0].filter(Boolean).length, across = encoding.layout === "half" && turning < encoding.rotary;
    if (turning !== encoding.dim) said.push(`turns ${turning} of ${encoding.dim}${across ? `, i with i + ${encoding.rotary / 2} and exponents over ${encoding.rotary}` : ""}`);
    if (encoding.rule) said.push(RULES[encoding.rule.kind] ?? encoding.rule.kind);
  } else if (encoding?.kind === "ALiBi") said.push("a penalty that grows with distance");
  else if (encoding) said.push("a number for each bucket of distances");
  else if (!model.reading.input) said.push("no positions");
  if (layer.keys && layer.compressed) said.push(`of these tokens at most ${num(layer.keys)}, which an indexer chooses`);
  if (layer.sinks) said.push("learned sinks");
  if (layer.temperature) said.push("queries times a number that grows with their position");
  return said.join(", ");
}

/** A value of a file as words. */
const inWords = value => Array.isArray(value) ? value.map(inWords).join(" ") : value && typeof value === "object" ? Object.entries(value).map(([key, one]) => `${key.replaceAll("_", " ")} ${inWords(one)}`).join(" and ") : typeof value === "number" && Math.abs(value) >= 1 ? value.toLocaleString("en-US") : String(value);

function origin() {
  const {release, name, ignore, typed, reading} = model, parts = model.notes.map(note => `${note} `);
  if (typed) parts.push(`You asked for “${cut(typed)}”. The page shows ${identity(release)}. Its copies in other formats have the same positions, and so have most models that were trained further from it. `);
  if (release && !name) parts.push(`${readerWords.fill(tables.words.files.like, release)} `);
  const taken = Object.entries(reading.defaults).map(([key, value]) => `${key} = ${inWords(value)}`).join(", ");
  if (taken && !name) parts.push(`Not in the file, so taken from its class: ${taken.length > 200 ? `${taken.slice(0, 200)}…` : taken}. `);
  if (ignore.length) parts.push(`Ignored, as you asked: ${ignore.join(", ")}. `);
  if (reading.encoder) parts.push("The page shows its decoder below. ");
  return parts.length ? p("origin", parts) : "";
}

function lead() {
  const begins = called(), said = answers.sentence(model.reading, model.training.trained, model.name, state.tokens);
  return p("lead", said.startsWith(begins) ? [strong(begins), said.slice(begins.length)] : said);
}

function stops() {
  const {stages, length, word, from} = model.training, {rows, allowed, by_class} = model.reading.lengths, longest = rows ?? allowed, found = new Map();
  if (!length) return [];
  if (from && from < length) found.set(from, model.release?.trained?.includes(from) ? "first" : "original");
  const {trained} = model.training;
  if (trained && trained < length && !found.has(trained)) found.set(trained, "trained");
  const by = by_class ? "class" : "file";
  found.set(length, word === "trained" || word === "released" ? word : by);
  if (longest && !found.has(longest)) found.set(longest, rows ? "table" : by);
  const goal = model.release?.stretch?.to ?? 4 * length;
  if (goal <= MOST && !found.has(goal)) found.set(goal, times(goal / (model.release?.stretch ? from : length)));
  return [...found].filter(([value]) => value >= LEAST).sort((a, b) => a[0] - b[0]).slice(0, 4);
}

/** A row of buttons of which one is on: `data` names what they set, `choices` are values and words. */
function choice(kind, data, label, choices) {
  return make("div", {class: kind, role: "radiogroup", "aria-label": label}, choices.map(([value, text]) => make("button", {type: "button", role: "radio", [`data-${data}`]: value}, text)));
}

const NAMED = {full: "full layer", window: "window", chunk: "layer with chunk", none: "layer"};

function groupNames() {
  const names = model.groups.map(one => plural(one.layers, NAMED[one.sort] ?? "layer"));
  return names.map((name, i) => names.indexOf(name) === names.lastIndexOf(name) && new Set(model.groups.map(one => one.sort)).size === names.length ? name : `${name}, base ${num(model.groups[i].base)}`);
}

const called = () => model.name ?? `The model (${model.reading.family})`;

function show() {
  const {groups, remedies, reading} = model, about = [lead(), strip(), origin()];
  if (reading.pictures) {
    about.push(p("says", "It reads pictures, and their size decides how many tokens they have, so there is no length to choose."));
    return out.replaceChildren(...about.filter(Boolean));
  }
  const segs = [];
  if (remedies.length > 1) segs.push(choice("seg remedy", "r", "How the hands are set", remedies.map(key => [key, REMEDIES[key]])));
  if (groups.length > 1) segs.push(choice("seg group", "g", "Whose hands", groupNames().map((name, i) => [i, name])));
  const share = model.name && !model.ran ? p("do", make("button", {type: "button", class: "share"}, "Link to this")) : "";
  out.replaceChildren(...[
    make("section", {class: "answer"}, make("h2", {}), done(), make("p", {role: "status"}), make("div", {class: "pane"}), share),
    ...about,
    make("div", {class: "at"}, make("h3", {}, "What this length needs"),
      make("div", {class: "stops", role: "group", "aria-label": "Lengths"}, stops().map(([value, word]) => make("button", {type: "button", "data-n": value}, `${num(value)} `, make("small", {}, word))))),
    make("div", {class: "hands"}, make("p", {class: "says"}), make("p", {class: "cost"}), segs.length ? make("div", {class: "segs"}, segs) : "",
      make("svg", {class: "plot", role: "group", "aria-label": "The length that is known and the length chosen, on one axis"}), make("p", {class: "legend"})),
    make("div", {class: "pair"},
      make("section", {class: "mem"}, make("h3", {}, "Memory ", make("small", {}, "keys and values, one text")), make("div", {class: "m"})),
      mine()),
    look(), sources(),
  ].filter(Boolean));
}

/** What a command does, where one was given. */
function done() {
  const {ran} = model, {commands: said} = tables.words;
  if (!ran) return "";
  const does = readerWords.fill(said.does, {program: programs[ran.program].name}), takes = ran.length ? [readerWords.fill(said.takes, ran)] : [];
  return make("div", {class: "ran"}, p(ran.config ? "why ok" : "why stop", does), make("ul", {}, [...ran.notes, ...takes].map(note => make("li", {}, note))));
}

const AMOUNTS = {requests: "texts at once", card: "GiB of the card", bits: "bits a weight", weights: "GiB of weights"};

/** What the model costs on a card, folded until somebody asks. */
function mine() {
  const fields = Object.entries(AMOUNTS).map(([name, text]) => make("label", {}, make("input", {"data-a": name, inputmode: "decimal", size: 5, autocomplete: "off", value: state.mine[name], placeholder: {bits: "as its file", weights: "counted"}[name]}), text));
  const made = make("details", {class: "mine", open: state.open ? "" : null}, make("summary", {}, "On my card"), make("div", {class: "amounts"}, fields), make("div", {class: "costs", role: "status"}));
  made.addEventListener("toggle", () => { state.open = made.open; costs(); });
  return make("section", {}, made);
}

async function costs() {
  if (!state.open) return;
  const {card, cardLines} = await further(), amounts = Object.entries(state.mine).filter(([, text]) => text.trim());
  if (!find(".costs")) return;
  try {
    const asked = Object.fromEntries(amounts.map(([name, text]) => [name, /^[\d.]+$/.test(text.trim()) ? +text : text]));
    const tab = state.tab === "transformers4" ? "transformers" : tables.card.programs[state.tab] ? state.tab : "vllm";
    const {name, typed, release, values} = model, whole = name ? sized(values, release, typed ?? name) : values;
    const made = card(model.reading, whole, {...asked, tokens: state.tokens, cache_bits: 8 * state.bytes, program: tab});
    if (name && !release.sizes && made.weights === null) made.why = tables.card.words.unlisted;
    const [head, ...lines] = cardLines(made).split("\n").map(line => line.trim());
    fill(".costs", p("because", head), make("ul", {}, lines.slice(0, -1).map(line => make("li", {}, line))), p("because", lines.at(-1)));
  } catch (error) {
    fill(".costs", p("why stop", sentence(error.message)));
  }
}

/** The traps of this very configuration, and what the book measured of its kind. */
function look() {
  const {reading, training} = model, items = [], add = (said, ...links) => items.push(make("li", {}, said, " ", links));
  const {original, allowed: longest} = reading.lengths;
  if (model.groups.length && !training.own && training.trained && longest > training.trained)
    add([strong(`The file allows ${num(longest)} tokens, and the texts in training had at most ${num(training.trained)}.`), ` So a stretch begins from ${num(training.trained)}.`], section("10-longer: A recipe"));
  if (training.own && original && training.trained > original && training.trained < longest)
    add([strong(`The file allows ${num(longest)} tokens, but the texts in training had at most ${num(training.trained)}.`)], section("10-longer: A recipe"));
  for (const [said, where] of answers.traps(reading).map(answers.inWords)) {
    const [, first, rest] = said.match(/^(.*?[.:;])(?= |$)(.*)$/s) ?? [null, said, ""];
    add([strong(first), rest], section(where));
  }
  const measured = [];
  if (model.groups.length) measured.push(["10-longer: On a real model", "a real model past its training"], ["04b-stretching: What came out", "what a stretch costs"]);
  const kinds = new Set(reading.kinds.map(layer => layer.encoding?.kind));
  if (kinds.has("ALiBi")) measured.push(["06-alibi: How far a head sees", "how far a head sees"], ["06b-long-texts: ", "long texts"]);
  if (reading.input?.kind === "Learned") measured.push(["03-learned: The remedies, measured", "what helps a table"]);
  if (kinds.has("T5Bias")) measured.push(["05-relative: Buckets that training never touched", "buckets that training never touched"]);
  if (reading.kinds.some(layer => facts.sort(layer, reading) === "none")) measured.push(["10-longer: Layers without a clock", "layers without a clock"]);
  if (measured.length) add([strong("What we measured: ")], measured.flatMap(([where, text], i) => {
    const to = section(where).getAttribute("href").replace(/#$/, "");
    return [i ? ", " : "", link(to, text)];
  }), ".");
  return items.length ? make("section", {class: "look"}, make("h3", {}, "Look out"), make("ul", {}, items)) : "";
}

// What moves with the length

const key = (kind, text) => make("span", {class: "k"}, make("i", {class: `l ${kind}`}), text);

/** The answer of the command, its kind as a word before it. */
function verdict() {
  const judged = verdicts.verdict(model.reading, state.tokens, model.release), said = verdicts.inWords(judged), word = KINDS[judged.kind];
  find(".answer > [role=status]").className = `judged is-${judged.kind}`;
  fill(".answer h2", called(), make("small", {}, ` at ${plural(state.tokens, "token")}`));
  const past = `${tables.verdict.past} ${word}:`, begun = said.startsWith(past) ? `, but not as released:${said.slice(past.length)}` : `. ${said}`;
  fill(".judged", strong(word), said.startsWith(`${word}:`) ? said.slice(word.length) : begun);
  return judged;
}

/** Why, its price, the legend, and the picture that goes with them. */
function reason() {
  const {reading, training} = model, {tokens} = state, table = reading.lengths.rows;
  const biased = reading.kinds.map(layer => layer.encoding).find(encoding => ["ALiBi", "T5Bias", "DeBERTa"].includes(encoding?.kind));
  if (table) return {says: tokens > table ? [strong(`The table ends after ${num(table)} tokens`, "new"), `, so the next token has no row, and the code fails.`] : [strong("Every token has its row.")],
    cost: ["If training never or seldom reached a row, this row is of little use, too: ", link(`${CHAPTERS}03-learned.html#which-rows-are-trained`, "which rows are trained"), "."],
    legend: [make("span", {}, "position in tokens"), key("within", "has a row"), tokens > table ? key("new", "has none") : ""], picture: (on, about) => figures.bands(on, about, "rows of the table", [], [["rows", 0, table], ["fresh", table, tokens]])};
  if (biased?.kind === "ALiBi") {
    const slopes = answers.slopes(biased), far = facts.reach(Math.min(...slopes));
    return {says: tokens > far ? ["If all scores are equal, ", strong(`the first ${num(tokens - far)} tokens`, "new"), " get almost no weight."] : [strong(`The head that sees farthest still sees all ${num(tokens)} tokens.`)],
      cost: [`With equal scores no head gives more than a thousandth of its weight to tokens more than ${num(far)} back, so no head sees farther in a longer text.`],
      legend: [make("span", {}, "distance in tokens"), key("around", "end of a head"), tokens > far ? key("new", "beyond every head") : ""], picture: (on, about) => figures.slopes(on, about, slopes, facts.reach), low: 1, high: 2e6};
  }
  if (biased) {
    const starts = facts.buckets(biased), last = starts.at(-1);
    return {says: tokens > last ? [strong(`From ${num(last)} tokens on, all distances have the same number.`)] : [strong("It tells all of these distances apart"), ", but far distances only roughly."],
      cost: ["No length makes it fail. Beyond the last mark, its scores show only that a word is far away."],
      legend: [make("span", {}, "distance in tokens"), key("around", "a number of its own"), key("one", "one number for all")], picture: (on, about) => figures.bands(on, about, "a mark where a number of its own begins", starts, [["one", last, Infinity]]), low: 1, high: 2e6};
  }
  if (model.groups.length) return turning();
  const blind = "Its attention is given no positions. The model knows the order of words only from the mask and from layers that read in order.";
  const cost = reading.kinds.some(layer => layer.attends) ? blind : "It has no attention. Its layers read the text in order, however long it is.";
  return {...alone(strong("It has no angles and no rows that could end.")), cost: [cost]};
}

/** A reason without more to draw than the lengths. */
const alone = said => ({says: [said], cost: [], legend: [make("span", {}, "length in tokens")], picture: figures.plain});

function turning() {
  const {tokens, remedy} = state, {training, reading} = model, one = group(), own = bounded(one), all = pairs(tokens, remedy), n = all.length;
  const base = remedy === "released" ? all : pairs(tokens, "released"), count = test => all.filter(test).length;
  const fresh = count(pair => pair.is === "new"), around = count(pair => pair.is === "around");
  const excess = Math.max(0, ...all.filter(pair => pair.is === "new").map(pair => Math.min(1, pair.at) - pair.seen));
  const ratio = all.map((pair, i) => pair.now / base[i].now), slowed = ratio.filter(x => x > 1.001).length;
  const most = Math.max(...ratio), kept = n - slowed;
  const clock = one.place === null, told = !training.word.startsWith("its ");
  const beyond = {trained: "turn past the angles of training", released: "turn past the angles of the released length", "its file allows": "turn past the angles of the length that its file allows", "its class takes": "turn past the angles of the length that its class takes"}[training.word];
  const within = {trained: "made a whole turn in training", released: "make a whole turn within the released length", "its file allows": "make a whole turn within that length", "its class takes": "make a whole turn within that length"}[training.word];
  let says;
  if (own) says = [strong("No new angle, at any length:"), ` these layers never look farther back than ${num(one.reach)} tokens.`];
  else if (!training.length) says = [strong("It is not known how long the texts in training were"), ", so we cannot say which angles are new."];
  else if (fresh) says = [strong(`${fresh} of ${n} hands ${beyond}`, "new"), excess >= .005 ? `, by up to ${excess.toFixed(2)} of a turn.` : ", by less than a hundredth of a turn."];
  else says = [strong(told ? "No hand meets a new angle." : `No hand turns past the angles of the length that ${training.word}.`)];
  const lost = link(`${IN_DEPTH}04b-stretching.html#what-came-out`, "What you lose"), hand = link(clock ? `${CHAPTERS}02-sinusoidal.html` : `${CHAPTERS}04-rope.html#turn-do-not-add`, "hand");
  let cost;
  if (remedy === "released" || !slowed) {
    const stands = clock ? 0 : answers.inForce(answers.layersOf(reading)[one.place].encoding)[0].filter(speed => !speed).length;
    cost = ["A ", hand, ` is a pair of features that turns at its own pace. Of ${n} hands, ${around} ${within}.`, stands ? ` ${stands} more do not turn.` : ""];
  } else if (all[0].now > base[0].now * 1.001) cost = [lost, `: all ${n} hands turn ${+most.toFixed(1)} times slower, even the fastest, so neighboring positions look more alike.`];
  else cost = [lost, `: ${slowed} of ${n} hands turn up to ${+most.toFixed(1)} times slower, in short texts too. ${kept > 1 ? `The ${kept} fastest keep` : "Only the fastest keeps"} the old pace.`];
  if (remedy === "yarn" && slowed) {
    const factor = reading => answers.inForce(answers.layersOf(reading)[one.place].encoding, tokens)[1];
    const now = factor(read(tokens, "yarn")), was = factor(reading);
    if (Math.abs(now / was - 1) > .001) cost.push(` Scores are multiplied by ${+((now / was) ** 2).toFixed(2)}.`);
  }
  const moved = all.some(pair => Math.abs(pair.now / pair.was - 1) > .001);
  const how = remedy === "released" || !slowed ? "as released" : `${REMEDIES[remedy]} ${times(Math.max(1, tokens / training.from))}`;
  const legend = [make("span", {}, `tokens for one turn${moved ? ` (above: as first trained, below: ${how})` : ""}`), key("around", told ? "made a whole turn" : "makes a whole turn"), all.some(pair => pair.is === "within") ? key("within", told ? "no new angle" : "within that length") : "", fresh ? key("new", told ? "new angles" : "beyond that length") : ""];
  return {says, cost, legend, pairs: all, picture: (on, about, wavelengths) => figures.hands(on, about, all, wavelengths)};
}

let on = axis(100, 4, 2e8);

function paint(shown, wavelengths) {
  if (wide < 100) return;
  on = axis(wide, shown.low ?? 4, shown.high ?? 2e8);
  const {length, word} = model.training, about = {tokens: state.tokens, known: length, word, also: model.training.trained, least: LEAST, most: MOST};
  const {height, children} = shown.picture(on, about, wavelengths), plot = find(".plot"), held = document.activeElement?.classList.contains("grip");
  plot.setAttribute("viewBox", `0 0 ${wide} ${height}`);
  plot.setAttribute("width", wide);
  plot.setAttribute("height", height);
  plot.replaceChildren(...children.filter(Boolean));
  if (held) find(".grip").focus({preventScroll: true});
}

/** Of a row of buttons mark the one that is on. */
function mark(data, value) {
  for (const button of out.querySelectorAll(`[role][data-${data}]`)) {
    const on = button.dataset[data] === String(value);
    button.setAttribute("aria-checked", on);
    button.tabIndex = on ? 0 : -1;
  }
}

function draw(jump = false, renews = jump) {  // what somebody types in the field of the length stays while the page's size changes
  if (!model || model.reading.pictures) return;
  const {tokens} = state;
  if (!length.hasAttribute("aria-invalid") && (document.activeElement !== length || renews)) length.value = num(tokens);
  program.value = state.tab;
  for (const button of out.querySelectorAll("[data-n]")) button.setAttribute("aria-pressed", +button.dataset.n === tokens);
  mark("r", state.remedy);
  mark("g", state.group);
  const said = lead();  // a window hides something only from texts that are longer
  if (said.textContent !== find(".lead").textContent) {
    find(".lead").replaceWith(said);
    find(".layers").replaceWith(strip());
  }
  let shown;
  try {
    shown = reason();
  } catch (error) {
    shown = alone(strong(sentence(error.message), "new"));
  }
  fill(".says", shown.says);
  fill(".cost", shown.cost);
  fill(".legend", shown.legend);
  cancelAnimationFrame(frame);
  const to = shown.pairs?.map(pair => pair.now);
  if (to && drawn?.length === to.length && !jump && !still.matches) {
    const from = drawn.map(Math.log), ends = to.map(Math.log), begun = performance.now();
    const step = now => {
      const part = Math.min(1, Math.max(0, (now - begun) / 380)), eased = 1 - (1 - part) ** 3;
      drawn = from.map((value, i) => Math.exp(value + (ends[i] - value) * eased));
      paint(shown, drawn);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  } else {
    drawn = to ?? null;
    paint(shown, to);
  }
  memory();
  settings(verdict());
  costs();
}

const KEPT = {full: "full layer", window: "window", chunk: "chunk", indexer: "indexer"};

function memory() {
  const {reading} = model, {tokens, bytes} = state;
  let now, one;
  try {
    answers.checkUntil(reading, tokens);
    now = answers.memory(reading, tokens, bytes);
    one = Object.fromEntries(Object.entries(answers.memory(reading, tokens, bytes, 1, true)).map(([kind, size]) => [kind, size / tokens]));
  } catch (error) {
    return fill(".m", p("why stop", "Not known."), p("because", sentence(error.message)));
  }
  const kinds = Object.keys(KEPT).filter(kind => now[kind]), all = kinds.reduce((sum, kind) => sum + now[kind], 0);
  if (!reading.causal && !reading.encoder) return fill(".m", p("because", "An encoder keeps no keys and values."));
  if (!kinds.length) return fill(".m", p("big", "0"), p("because", "No layer keeps keys and values of the text."));
  const full = kinds.reduce((sum, kind) => sum + one[kind] * tokens, 0), limited = full > all * 1.001;
  const keeping = answers.layersOf(reading).filter(layer => layer.attends && !layer.crosses);
  const layers = kind => keeping.filter(layer => kind === "indexer" ? layer.indexer : answers.limitOf(reading, layer, tokens)[0] === kind).length;
  const stopped = kind => (kind === "window" || kind === "chunk") && now[kind] < one[kind] * tokens;
  fill(".m", p("big", size(all)),
    make("div", {class: limited ? "bar part" : "bar", "aria-hidden": "true"}, kinds.map(kind => make("i", {class: kind, style: `width:${100 * now[kind] / full}%`}))),
    make("ul", {}, kinds.map(kind => make("li", {}, make("i", {class: kind}), `${plural(layers(kind), KEPT[kind])} `, stopped(kind) ? make("em", {}, "stopped growing") : "", strong(limited || kinds.length > 1 ? size(now[kind]) : `${size(one[kind])} a token`))),
      limited ? make("li", {}, make("i", {class: "ghost"}), "if all were full layers ", strong(size(full))) : ""),
    reading.encoder ? p("because", "Keys and values of the encoder’s text, which cross-attention reads, are left out.") : "",
    choice("seg bits", "b", "Size of a number", [[2, "16 bits"], [1, "8 bits"]]));
  mark("b", bytes);
}

/** Settings of the reader, one key a line: what was a blank between them is a line's end now. */
function broken(text, program) {
  let depth = 0, made = "";
  const shell = !program.startsWith("transformers"), within = () => `\n${(shell ? "  " : "    ").repeat(depth)}`;
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (sign === "{") depth++;
    if (sign === "}") depth--;
    if (sign === " " && !depth && shell && /^ --?[a-z]/.test(text.slice(i)) && !made.endsWith("python")) made += " \\\n  ";
    else if (sign === " " && depth && text[i - 1] === "," && /["']/.test(text[i + 1])) made += within();
    else made += sign;
    if (sign === "{" && !/^["'][^"']*["']: \{/.test(text.slice(i + 1))) made += within();
  }
  return made;
}

/** The line of the program at hand: that of the verdict as released, that of the remedy otherwise. */
function settings({cap, rule: judged = null}) {
  const {release, training, reading, name, typed, ran} = model, {tokens, remedy, tab} = state, pane = find(".pane"), {name: version, source} = programs[tab];
  const why = (kind, ...said) => p(`why ${kind}`, ...said), capped = tokens => readerWords.fill(programs[tab].cap, {tokens});
  const block = (said, notes = []) => {
    const own = name && loaded(release, typed ?? name);  // no line loads another training
    const text = own && tab !== "llama.cpp" ? said.replace(/\bMODEL\b/, own) : said;
    const [line, remark] = text.split("  # ");
    const told = [...(remark ? [`${remark}.`] : []), ...notes].map(note => [" ", note]);
    return [
      make("div", {class: "code"}, make("pre", {tabindex: 0}, broken(line, tab)), make("button", {type: "button", class: "copy"}, "Copy")),
      p("because", "For ", link(source, version), ".", told),
    ];
  };
  if (ran?.config) return pane.replaceChildren();
  if (cap && remedy === "released") return pane.replaceChildren(...block(capped(cap)));
  const rule = remedy === "released" ? judged : remedy;
  let made;
  try {
    made = answers.settings(reading, tokens, tab, training.trained, rule);
  } catch (error) {
    const {cap} = error.fields ?? {}, fields = {why: error.message, tokens: cap};
    const said = why(error.code === "settings_nothing" ? "own" : "stop", sentence(cap ? readerWords.fill(tables.settings.cap, fields) : error.message));
    return pane.replaceChildren(said, ...(cap ? block(capped(cap)) : []));
  }
  if (!made.edits.length) return pane.replaceChildren(why("ok", made.line.replace(/^# /, "")), ...block(capped(tokens)));
  if (made.edits.length === 1) return pane.replaceChildren(why("ok", "Only the length that the file allows must be raised."), ...block(made.line, made.notes));
  const {stretch} = release ?? {}, makers = stretch && tokens > stretch.from && tokens <= verdicts.factorAndReach(stretch)[1] && stretch.rule === rule;
  const untested = `${REMEDIES[rule]} ${times(tokens / (training.trained ?? training.from))}: no test of it by its makers is known here, and short texts may get worse.`;
  pane.replaceChildren(...(makers || rule === judged ? [] : [why("own", untested)]), ...block(made.line, [...made.notes, ...(makers ? [link(stretch.source, "As its makers say.")] : [])]));
}

let at = 0;
/** Show what one layer does; −1 for none. */
function layer(place) {
  const bars = find(".bars"), {reading} = model ?? {};
  if (!bars || !model) return;
  for (const bar of bars.children) bar.classList.remove("on");
  const said = find(".layers .first"), shown = place >= 0 && place < reading.layers.length;
  said.classList.toggle("on", shown);
  if (!shown) return said.replaceChildren("layer 1");
  at = place;
  bars.children[place].classList.add("on");
  said.replaceChildren(strong(`layer ${place + 1}`), ` ${told(answers.layersOf(reading)[place])}`);
  bars.setAttribute("aria-valuenow", place + 1);
  bars.setAttribute("aria-valuetext", said.textContent);
}

/** A link has the name of a release, the length and the program, and never a file. */
function shared() {
  return `#model=${slug(model.name)}&n=${state.tokens}&program=${state.tab}${state.remedy === "released" ? "" : `&remedy=${state.remedy}`}`;
}

/** Copy a text, and let the button say so, or where the text stands otherwise. */
async function copy(text, button, otherwise) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = otherwise;
  }
}

async function follow() {
  const {hash} = location, [, said, rest] = hash.slice(1).match(/^(.*?)((?:&(?:n|program|remedy)=[^&]*)*)$/s), asked = Object.fromEntries(new URLSearchParams(rest));
  const [, name] = said.match(/^model=(.*)$/s) ?? [], [, packed] = said.match(/^config=(.*)$/s) ?? [];  // of earlier links
  if (programs[asked.program]) state.tab = asked.program;
  if (packed !== undefined) {
    if (said.length > LINK) return refuse("This link has more than 4 kB, so it is not a configuration from this page.");
    let text;
    try {
      const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), char => char.charCodeAt(0));
      text = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
    } catch {
      return refuse("This link was cut off. Copy the whole link.");
    }
    await take(text, "this link");
    address(hash);
    return asFar(asked);
  }
  const release = releases.find(one => slug(one.name) === name);
  if (release) {
    choose(release.name);
    if (rest) address(hash);
    return asFar(asked);
  }
  if (name) {
    let plain = name;
    try { plain = decodeURIComponent(name.replaceAll("+", " ")); } catch {}
    return search(plain);
  }
  choose(FIRST, false);
}

/** The length and the remedy of a link. */
function asFar({n, remedy}) {
  if (!model || model.reading.pictures) return;
  if (model.remedies.includes(remedy)) state.remedy = remedy;
  if (/^\d+$/.test(n ?? "") && +n === within(+n)) state.wish = state.tokens = +n;
  draw(true);
  if (n !== undefined && +n !== state.tokens || remedy !== undefined && remedy !== state.remedy) asked.textContent = "The length or the rule of this link does not fit this model.";
}

function choose(name, told = true) {
  if (name === "refused") {
    field.value = "";
    address();
    open({...releases.find(one => one.name === FIRST).config, ...STRANGE}, {});
  } else {
    const before = location.href;
    named(releases.find(one => one.name === name));
    if (!told) address(before);
  }
  press(name);
}

// Hands on

const eighth = value => 2 ** (Math.floor(Math.log2(value)) - 3);  // steps: 131,072, 147,456, …
const within = value => Math.min(MOST, Math.max(LEAST, value));
function nice(value) {
  const near = [model.training.length, model.reading.lengths.allowed, model.reading.lengths.rows].find(known => known && Math.abs(Math.log(value / known)) < .04);
  return near ?? Math.round(within(value) / eighth(within(value))) * eighth(within(value));
}
function set(tokens) {
  state.wish = state.tokens = within(tokens);
  length.removeAttribute("aria-invalid");
  asked.textContent = "";
  if (model) draw(true);
}
/** The length that somebody writes. One that cannot be stays as it is, and why stands beside it. */
function wish() {
  if (length.value === num(state.tokens)) return;
  try {
    const {tokens, told = ""} = verdicts.written(length.value);
    if (tokens !== within(tokens)) throw Error(`On this page a text has from ${num(LEAST)} to ${num(MOST)} tokens.`);
    set(tokens);
    asked.textContent = told;
  } catch (error) {
    length.setAttribute("aria-invalid", "true");
    asked.textContent = sentence(error.message);
  }
}
/** The next step in a direction. */
function step(way) {
  const by = eighth(way < 0 ? state.tokens - 1 : state.tokens);
  return (way > 0 ? Math.floor(state.tokens / by) + 1 : Math.ceil(state.tokens / by) - 1) * by;
}

let held = false;
function drag(event) {
  if (!held) return;
  const box = find(".plot").getBoundingClientRect(), tokens = nice(on.value((event.clientX - box.left) / box.width * on.width));
  if (tokens !== state.tokens) set(tokens);
}

async function file(given) {
  const head = new TextDecoder().decode(await given.slice(0, 4).arrayBuffer());
  if (head !== "GGUF" && given.size > LARGEST) return refuse(`${given.name} has ${(given.size / 2 ** 20).toFixed(1)} MB, but a config.json has at most ${LARGEST >> 20} MB.`);
  field.value = "";
  return come(given, given.name);
}

program.replaceChildren(...Object.entries(programs).map(([value, {name}]) => make("option", {value}, name)));
program.addEventListener("change", () => {
  state.tab = program.value;
  draw();
});
page.querySelector("datalist").replaceChildren(...releases.map(({name}) => make("option", {value: name})));
page.addEventListener("click", event => event.target.dataset.k && choose(event.target.dataset.k));
const ask = () => ![model?.name, last].includes(field.value) && take(last = field.value);  // Enter tells of a change and of a form
page.querySelector(".given").addEventListener("submit", event => {
  event.preventDefault();
  ask();
  wish();
});
field.addEventListener("change", ask);
length.addEventListener("change", wish);
field.addEventListener("input", () => last = null);
field.addEventListener("input", event => event.inputType !== "insertText" && releases.some(one => one.name === field.value) && take(field.value));  // one of the list
field.addEventListener("focus", () => field.select());
field.addEventListener("paste", event => {
  const text = event.clipboardData.getData("text");
  if (!/[[{]/.test(text) && !COMMAND.test(text.trim())) return;
  event.preventDefault();
  take(text, "this text");
});
page.querySelector(".file input").addEventListener("change", event => {
  if (event.target.files[0]) file(event.target.files[0]);
  event.target.value = "";  // so that the same file can be opened again
});
for (const name of ["dragover", "dragleave", "drop"]) document.addEventListener(name, event => {
  if (![...event.dataTransfer.types].some(type => type === "Files" || type === "text/plain")) return;
  event.preventDefault();
  page.classList.toggle("over", name === "dragover");
  if (name !== "drop") return;
  const [given] = event.dataTransfer.files;
  if (given) file(given);
  else take(event.dataTransfer.getData("text"));
});

const bar = target => target.parentNode?.classList?.contains("bars") ? [...target.parentNode.children].indexOf(target) : null;
out.addEventListener("pointerover", event => bar(event.target) !== null && layer(bar(event.target)));
out.addEventListener("pointerout", event => bar(event.target) !== null && event.pointerType === "mouse" && layer(-1));
out.addEventListener("focusin", event => event.target.classList.contains("bars") && layer(at = 0));
out.addEventListener("focusout", event => event.target.classList.contains("bars") && layer(-1));
out.addEventListener("pointerdown", event => {
  const grip = event.target.closest(".grip");
  if (!event.target.closest(".plot") || event.pointerType !== "mouse" && !grip) return;
  held = true;
  find(".plot").setPointerCapture(event.pointerId);
  event.preventDefault();
  drag(event);
  find(".grip").focus({preventScroll: true});
});
out.addEventListener("pointermove", drag);
for (const name of ["pointerup", "pointercancel"]) out.addEventListener(name, () => held = false);
out.addEventListener("keydown", event => {
  const {target, key: pressed} = event, way = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[pressed];
  if (target.classList.contains("grip")) {
    const to = way ? step(way) : {PageUp: nice(state.tokens * 2), PageDown: nice(state.tokens / 2), Home: LEAST, End: MOST}[pressed];
    if (to === undefined) return;
    event.preventDefault();
    return set(to);
  }
  if (target.classList.contains("bars")) {
    const n = model.reading.layers.length, to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: n - 1}[pressed];
    if (to === undefined) return;
    event.preventDefault();
    return layer((to + n) % n);
  }
  const choices = target.closest("[role=radiogroup]"), forward = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[pressed];
  if (!choices || !forward) return;
  event.preventDefault();
  const buttons = [...choices.querySelectorAll("button")];
  buttons[(buttons.indexOf(target) + forward + buttons.length) % buttons.length].click();
});
out.addEventListener("input", event => {
  if (!event.target.dataset.a) return;
  state.mine[event.target.dataset.a] = event.target.value;
  costs();
});
/** What a choice sets, by its data. */
const CHOICES = {r: remedy => ({remedy, group: 0}), g: group => ({group: +group}), b: bytes => ({bytes: +bytes})};
out.addEventListener("click", async event => {
  const button = event.target.closest("button");
  if (!button || button.dataset.k) return;
  const {n} = button.dataset, data = Object.keys(CHOICES).find(one => one in button.dataset), value = button.dataset[data];
  if (n) set(+n);
  else if (data) {
    Object.assign(state, CHOICES[data](value));
    draw(data !== "r");
    find(`[role][data-${data}="${value}"]`)?.focus({preventScroll: true});
  } else if (button.classList.contains("share")) {
    address(shared());
    copy(location.href, button, "It is in the address now");
  } else if (button.classList.contains("copy")) {
    getSelection().selectAllChildren(find(".pane pre"));
    await copy(find(".pane pre").textContent, button, "Selected");
    setTimeout(() => { button.textContent = "Copy"; }, 1200);
  }
});
addEventListener("hashchange", () => location.hash.includes("=") && follow());  // others are places of the page
// Its height is that of what it shows, and no news.
new ResizeObserver(() => { if (wide !== (wide = width()) && model) draw(true, false); }).observe(page);
setTimeout(follow);
}, () => document.querySelector(".yours .out").append("This browser is too old for this page. The command below gives the same answers."));
