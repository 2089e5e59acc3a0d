// "Your model": a configuration comes in, by name, file, text or link, and what reader.js reads of it is shown. What comes
// in is shown as text alone.
"use strict";

/** The tables, which come packed. */
async function yourModelUnpacked() {
  const bytes = Uint8Array.from(atob(yourModelTables), character => character.charCodeAt());
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

yourModelUnpacked().then(tables => {
const r = reader(tables), answers = readerAnswers(r), facts = yourModelFacts(answers), {shown: asJson} = readerWords;
const {releases, programs} = tables, {identity, isCalled, lookUp} = readerNames(tables);
const figures = yourModelFigures, {make, num, axis} = figures;
const LEAST = 64, MOST = 2 ** 24, LARGEST = tables.keys.files.largest, LINK = 4096;
const REMEDIES = {released: "As released", linear: "Interpolation", ntk: "NTK", yarn: "YaRN", llama3: "Llama 3"};
const PROGRAMS = {transformers: "transformers 5", transformers4: "transformers 4", vllm: "vLLM", sglang: "SGLang", "llama.cpp": "llama.cpp", mlx: "mlx-lm", ollama: "Ollama"};
const FIRST = "Qwen3 8B";
const STRANGE = {position_embedding_type: "spiral", rope_wobble: 0.3, attention_sphere: true};
const IN_DEPTH = "../chapters/in-depth/", CHAPTERS = "../chapters/";
const RULES = {linear: "interpolation", yarn: "YaRN", llama3: "Llama 3’s rule", longrope: "LongRoPE’s lists", dynamic_ntk: "dynamic NTK", ntk: "NTK"};

const page = document.querySelector(".yours"), out = page.querySelector(".out"), field = page.querySelector(".what");
const still = matchMedia("(prefers-reduced-motion:reduce)");
const state = {tab: "vllm", bytes: 2};
let model = null, drawn = null, frame = 0;

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

/** Show a release; `typed` is a name that it has not itself. */
function named(release, typed = null) {
  open(release.config, {release, name: release.name, typed});
  field.value = release.name;
  address(`#model=${slug(release.name)}`);
  press(release.name);
}

/** Take a name, or the text of a file. */
function take(text, name) {
  text = text.trim();
  if (!text) return;
  if (!name && !/^[[{"]/.test(text)) return search(text);
  press(null);
  if (name || text.length > 200 || !text.startsWith('"')) field.value = "";
  address();
  let values;
  try {
    values = r.parse(text, name ?? "this text");
  } catch (error) {
    const end = error.code === "json" ? broke(text) : 0, linked = name === "this link";
    if (linked && error.code === "json") return refuse("This link was cut off: copy the whole link.");
    return refuse(end ? `It breaks off in line ${end}: copy the whole file.` : sentence(error.message), end ? "" : make("p", {}, "The file to take is config.json, in the folder of the model itself. On its page at Hugging Face it stands under “Files and versions”."));
  }
  const known = alike(values);
  open(values, {release: known[0] ?? null, same: known});
}

function search(text) {
  const [release, near] = lookUp(text);
  if (release) return named(release, isCalled(release, text) ? null : text);
  press(null);
  const unknown = `I know no release named “${cut(text)}”.`;
  if (!near.length) return refuse(`${unknown} Paste its config.json, or drop the file here.`);
  const which = near.length === 1 ? "Do you mean this one?" : "Which of these do you mean?";
  instead(make("p", {class: "lead", role: "status"}, `${unknown} ${which}`), make("div", {class: "near"}, near.map(({name}) => make("button", {type: "button", "data-k": name}, name))));
}

/** The line in which a text of JSON breaks off; 0 where it is broken elsewhere, so that no end makes it whole. */
function broke(text) {
  const closers = [];
  for (const [sign] of text.replace(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)/gs, "").matchAll(/[[\]{}]/g)) {
    if (sign === "{" || sign === "[") closers.unshift(sign === "{" ? "}" : "]");
    else closers.shift();
  }
  const whole = end => {
    try {
      return Boolean(JSON.parse(text + end + closers.join("")));
    } catch {
      return false;
    }
  };
  return text[0] === "{" && ["", "0", '"', ":0", '":0', '"":0'].some(whole) ? text.split("\n").length : 0;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The releases of which a configuration has all keys. */
function matches(values) {
  const own = values.text_config ?? values, names = [values.model_type, own.model_type];
  return releases.filter(({config}) => {
    const {model_type: family, ...keys} = config.text_config ?? config;
    return [config.model_type, family].some(name => names.includes(name)) && Object.entries(keys).every(([key, value]) => same(value, own[key]));
  });
}

/** Those releases; none where they were trained on texts of other lengths. */
function alike(values) {
  const found = matches(values);
  const told = found.filter(one => one.trained || one.stretch);
  return told.every(one => same([one.trained, one.stretch], [told[0].trained, told[0].stretch])) ? [...told, ...found.filter(one => !told.includes(one))] : [];
}

/** A sentence of the reader's, which begins with a family or a word: with the model for its family, and a full stop. */
function sentence(text) {
  const family = model?.reading.family, own = family && text.startsWith(`${family} `);
  const begun = own ? (model.name ?? "This model") + text.slice(family.length) : /^[a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return begun.replace(/[^.?!]$/, "$&.");
}

function open(values, {release = null, name = null, same = [], ignore = [], typed = null}) {
  const known = release ?? {}, tokens = release?.stretch?.to ?? release?.trained?.at(-1) ?? 2048;
  let reading;
  try {
    reading = r.read(values, ignore);
  } catch (error) {
    return unread(error, values, {release, name, same, ignore, typed});
  }
  const training = facts.training(reading, known), groups = facts.groups(reading);
  model = {values: r.without(values, ignore), release, name, same, ignore, typed, reading, training, groups, readings: new Map()};
  const longer = (training.own || training.length >= 1e5 ? 1 : 4) * (training.length ?? 2048);
  model.first = [release?.stretch?.to ?? longer, training.length, training.length / 4].find(length => length && length <= MOST && readable(length)) ?? tokens;
  Object.assign(state, {tokens: model.first, remedy: "released", group: 0});
  drawn = null;
  model.remedies = model.groups.length && model.groups[0].place !== null ? Object.keys(REMEDIES).filter(remedy => remedy === "released" || knows(remedy)) : ["released"];
  show();
  draw(true);
}

function readable(tokens) {
  try {
    return Boolean(read(tokens));
  } catch {
    return false;
  }
}

/** Whether the model's code knows a rule, and it comes in the place of the model's own. */
function knows(remedy) {
  const [one] = model.groups, tokens = 2 * model.training.from;
  if (bounded(one)) return false;
  try {
    const {reading: was, training: {from}} = model, now = read(tokens, remedy), of = reading => facts.frequencies(reading, one, from);
    const {rule, base} = answers.layersOf(now)[one.place].encoding;
    return of(now).omega.length === of(was).omega.length && (remedy === "ntk" ? !rule && base > one.base : rule?.kind === remedy && same(of(now).plain, of(was).plain));
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
    make("p", {}, "Each could change where this model’s words stand, and a guess would be wrong in silence. If you know that none does, pass them over."),
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
  const key = `${tokens} ${remedy}`, [group] = model.groups;
  if (remedy === "released") return model.reading;
  if (!model.readings.has(key)) {
    if (model.readings.size > 200) model.readings.clear();
    const {encoding} = answers.layersOf(model.reading)[group.place];
    model.readings.set(key, r.read(facts.restretched(model.values, remedy, tokens, model.training, encoding)));
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
  if (release.report) found.push(link(release.report, "its report on the length of its training"));
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
    if (turning !== encoding.dim) said.push(`turns ${turning} of ${encoding.dim}${across ? `, i with i + ${encoding.rotary / 2}` : ""}`);
    if (encoding.rule) said.push(RULES[encoding.rule.kind] ?? encoding.rule.kind);
  } else if (encoding?.kind === "ALiBi") said.push("a penalty that grows with distance");
  else if (encoding) said.push("a number for each bucket of distances");
  else if (!model.reading.input) said.push("no positions");
  if (layer.keys && layer.compressed) said.push(`of those at most ${num(layer.keys)} that an indexer chooses`);
  if (layer.sinks) said.push("learned sinks");
  if (layer.temperature) said.push("queries grow with their position");
  return said.join(", ");
}

/** A value of a file as words. */
const inWords = value => Array.isArray(value) ? value.map(inWords).join(" ") : value && typeof value === "object" ? Object.entries(value).map(([key, one]) => `${key.replaceAll("_", " ")} ${inWords(one)}`).join(" and ") : typeof value === "number" && Math.abs(value) >= 1 ? value.toLocaleString("en-US") : String(value);

function origin() {
  const {release, name, same, ignore, typed, reading} = model, parts = [], names = same.slice(0, 3).map(one => one.name);
  if (typed) parts.push(`You asked for “${cut(typed)}”. Shown is ${identity(release)}, whose positions its copies in other formats, and as a rule its other trainings, share. `);
  if (release && !name) parts.push(`All position keys are those of ${names.join(" and ")}`, release.trained ? `, so the lengths of ${same.length > 1 ? `${release.name}’s` : "its"} training are taken for this file’s. ` : ". ");
  const taken = Object.entries(reading.defaults).map(([key, value]) => `${key} = ${inWords(value)}`).join(", ");
  if (taken && !name) parts.push(`Not in the file, so taken from its class: ${taken.length > 200 ? `${taken.slice(0, 200)}…` : taken}. `);
  if (ignore.length) parts.push(`Passed over, as you asked: ${ignore.join(", ")}. `);
  if (reading.encoder) parts.push("Shown below is its decoder. ");
  return p("origin", parts, make("button", {type: "button", class: "share"}, "Link to this"));
}

function lead() {
  const begins = model.name ?? `The model (${model.reading.family})`, said = answers.sentence(model.reading, model.training.trained, model.name, state.tokens);
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
function choice(kind, data, label, choices, tabs = false) {
  const role = tabs ? "tab" : "radio";
  return make("div", {class: kind, role: tabs ? "tablist" : "radiogroup", "aria-label": label}, choices.map(([value, text]) => make("button", {type: "button", role, [`data-${data}`]: value, id: tabs ? `tab-${slug(value)}` : null, "aria-controls": tabs ? "pane" : null}, text)));
}

const NAMED = {full: "full layer", window: "window", chunk: "layer with chunk", none: "layer"};

function groupNames() {
  const names = model.groups.map(one => plural(one.layers, NAMED[one.sort] ?? "layer"));
  return names.map((name, i) => names.indexOf(name) === names.lastIndexOf(name) && new Set(model.groups.map(one => one.sort)).size === names.length ? name : `${name}, base ${num(model.groups[i].base)}`);
}

function show() {
  const {groups, remedies, reading} = model, parts = [lead(), strip(), origin()];
  if (reading.pictures) {
    parts.push(p("says", "It reads pictures, whose tokens are counted by their size: there is no length to choose."));
    return out.replaceChildren(...parts.filter(Boolean));
  }
  parts.push(make("div", {class: "at"},
    make("h2", {}, make("label", {}, "At ", make("input", {class: "n", inputmode: "numeric", "aria-label": "Length in tokens", size: 9}), " tokens")), make("small", {class: "asked", role: "status"}),
    make("div", {class: "stops", role: "group", "aria-label": "Lengths"}, stops().map(([value, word]) => make("button", {type: "button", "data-n": value}, `${num(value)} `, make("small", {}, word))))));
  const segs = [];
  if (remedies.length > 1) segs.push(choice("seg remedy", "r", "How the hands are set", remedies.map(key => [key, REMEDIES[key]])));
  if (groups.length > 1) segs.push(choice("seg group", "g", "Whose hands", groupNames().map((name, i) => [i, name])));
  parts.push(make("div", {class: "hands"}, make("p", {class: "says", role: "status"}), make("p", {class: "cost"}), segs.length ? make("div", {class: "segs"}, segs) : "",
    make("svg", {class: "plot", role: "group", "aria-label": "The length that is known and the length chosen, on one axis"}), make("p", {class: "legend"})));
  parts.push(make("div", {class: "pair"},
    make("section", {class: "mem"}, make("h3", {}, "Memory ", make("small", {}, "keys and values, one text")), make("div", {class: "m"})),
    make("section", {class: "set"}, make("h3", {}, "Settings to paste"), choice("tabs", "t", "Program", Object.entries(PROGRAMS), true), make("div", {class: "pane", id: "pane", role: "tabpanel"}))));
  parts.push(look(), sources());
  out.replaceChildren(...parts.filter(Boolean));
}

/** The traps of this very configuration, and what the book measured of its kind. */
function look() {
  const {reading, training} = model, items = [], add = (said, ...links) => items.push(make("li", {}, said, " ", links));
  const {original, allowed: longest} = reading.lengths;
  if (model.groups.length && !training.own && training.trained && longest > training.trained)
    add([strong(`The file says ${num(longest)}, the training was ${num(training.trained)}.`), ` A stretch begins from ${num(training.trained)}.`], section("10-longer: A recipe"));
  if (training.own && original && training.trained > original && training.trained < longest)
    add([strong(`The file allows ${num(longest)}; training ended at ${num(training.trained)}.`)], section("10-longer: A recipe"));
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

/** Verdict, its price, the legend, and the picture that goes with them. */
function verdict() {
  const {reading, training} = model, {tokens} = state, table = reading.lengths.rows;
  const biased = reading.kinds.map(layer => layer.encoding).find(encoding => ["ALiBi", "T5Bias", "DeBERTa"].includes(encoding?.kind));
  if (table) return {says: tokens > table ? [strong(`The table ends after ${num(table)} tokens`, "new"), `: the next one has no row, and the code fails.`] : [strong("Every token has its row.")],
    cost: ["A row that training never or seldom reached says little, too: ", link(`${CHAPTERS}03-learned.html#which-rows-are-trained`, "which rows are trained"), "."],
    legend: [make("span", {}, "position in tokens"), key("within", "has a row"), tokens > table ? key("new", "has none") : ""], picture: (on, about) => figures.rows(on, about, table)};
  if (biased?.kind === "ALiBi") {
    const slopes = answers.slopes(biased), far = facts.reach(Math.min(...slopes));
    return {says: tokens > far ? ["Between equal scores, ", strong(`the first ${num(tokens - far)} tokens`, "new"), " are as good as gone."] : [strong(`The farthest head still sees all ${num(tokens)} tokens.`)],
      cost: [`No head then gives a thousandth of its weight beyond ${num(far)} tokens back: longer is not farther.`],
      legend: [make("span", {}, "distance in tokens"), key("around", "end of a head"), tokens > far ? key("new", "beyond every head") : ""], picture: (on, about) => figures.slopes(on, about, slopes, facts.reach), low: 1, high: 2e6};
  }
  if (biased) {
    const starts = facts.buckets(biased), last = starts.at(-1);
    return {says: tokens > last ? [strong(`From ${num(last)} tokens on, all distances are one to it.`)] : [strong("It tells all of these distances apart"), ", the far ones roughly."],
      cost: ["No length fails; beyond the last mark it knows only that a word is far away."],
      legend: [make("span", {}, "distance in tokens"), key("around", "a number of its own"), key("one", "one number for all")], picture: (on, about) => figures.buckets(on, about, starts), low: 1, high: 2e6};
  }
  if (model.groups.length) return turning();
  const blind = "Nothing tells its attention where words stand; what order it knows comes from the mask and from layers that read in order.";
  const cost = reading.kinds.some(layer => layer.attends) ? blind : "It has no attention: its layers read the text in order, and no length ends that.";
  return {...alone(strong("No angle and no row ends.")), cost: [cost]};
}

/** A verdict without more to draw than the lengths. */
const alone = said => ({says: [said], cost: [], legend: [make("span", {}, "length in tokens")], picture: figures.plain});

function turning() {
  const {tokens, remedy} = state, {training, reading} = model, one = group(), own = bounded(one), all = pairs(tokens, remedy), n = all.length;
  const base = remedy === "released" ? all : pairs(tokens, "released"), count = test => all.filter(test).length;
  const fresh = count(pair => pair.is === "new"), around = count(pair => pair.is === "around");
  const excess = Math.max(0, ...all.filter(pair => pair.is === "new").map(pair => Math.min(1, pair.at) - pair.seen));
  const ratio = all.map((pair, i) => pair.now / base[i].now), slowed = ratio.filter(x => x > 1.001).length, faster = ratio.filter(x => x < .999).length;
  const most = Math.max(...ratio), fast = Math.max(...ratio.map(x => 1 / x)), kept = n - slowed;
  const clock = one.place === null, told = !training.word.startsWith("its ");
  const beyond = {trained: "meet angles that they never saw", released: "go beyond the angles of its release", "its file allows": "go beyond what its file allows", "its class takes": "go beyond what its class takes"}[training.word];
  const within = {trained: "came around in training", released: "come around within the released length", "its file allows": "come around within that length", "its class takes": "come around within that length"}[training.word];
  let says;
  if (own) says = [strong("No new angle, at any length:"), ` these layers never look farther than ${num(one.reach)}.`];
  else if (!training.length) says = [strong("On how long texts it was trained is not known"), ", so nobody can say which angles are new."];
  else if (fresh) says = [strong(`${fresh} of ${n} hands ${beyond}`, "new"), excess >= .005 ? `, by up to ${excess.toFixed(2)} of a turn.` : ", by less than a hundredth of a turn."];
  else says = [strong(told ? "No hand meets a new angle." : `No hand goes beyond what ${training.word}.`)];
  const lost = link(`${IN_DEPTH}04b-stretching.html#what-came-out`, "You lose"), hand = link(clock ? `${CHAPTERS}02-sinusoidal.html` : `${CHAPTERS}04-rope.html#turn-do-not-add`, "hand");
  let cost;
  if (faster) cost = [lost, ` the stretch that it was ${training.word === "trained" ? "trained" : "released"} with: ${faster} of ${n} turn up to ${+fast.toFixed(1)} times faster${slowed ? `, ${slowed} slower` : ""}.`];
  else if (remedy === "released" || !slowed) {
    const stands = clock ? 0 : answers.inForce(answers.layersOf(reading)[one.place].encoding)[0].filter(speed => !speed).length;
    cost = ["A ", hand, ` is a pair of features that turns at its own pace; ${around} of ${n} ${within}.`, stands ? ` ${stands} more stand still.` : ""];
  } else if (all[0].now > base[0].now * 1.001) cost = [lost, `: all ${n} turn ${+most.toFixed(1)} times slower, even the fastest, so neighbors look more alike.`];
  else cost = [lost, `: ${slowed} of ${n} turn up to ${+most.toFixed(1)} times slower, in short texts too; ${kept > 1 ? `the ${kept} fastest keep their pace` : "only the fastest keeps its pace"}.`];
  if (remedy === "yarn" && slowed) {
    const factor = reading => answers.inForce(answers.layersOf(reading)[one.place].encoding, tokens)[1];
    const now = factor(read(tokens, "yarn")), was = factor(reading);
    if (Math.abs(now / was - 1) > .001) cost.push(` Scores grow ${times((now / was) ** 2)}.`);
  }
  const moved = all.some(pair => Math.abs(pair.now / pair.was - 1) > .001);
  const how = remedy === "released" || !slowed && !faster ? "as released" : `${REMEDIES[remedy]} ${times(Math.max(1, tokens / training.from))}`;
  const legend = [make("span", {}, `tokens for one turn${moved ? `: as first trained above, ${how} below` : ""}`), key("around", told ? "came around" : "comes around"), all.some(pair => pair.is === "within") ? key("within", told ? "seen far enough" : "within that length") : "", fresh ? key("new", told ? "new angles" : "beyond that length") : ""];
  return {says, cost, legend, pairs: all, picture: (on, about, wavelengths) => figures.hands(on, about, all, wavelengths)};
}

const width = () => Math.round(page.getBoundingClientRect().width);
let on = axis(100, 4, 2e8);

function paint(shown, wavelengths) {
  const wide = width();
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
function mark(data, value, is = "checked") {
  for (const button of out.querySelectorAll(`[role][data-${data}]`)) {
    const on = button.dataset[data] === String(value);
    button.setAttribute(`aria-${is}`, on);
    button.tabIndex = on ? 0 : -1;
  }
}

function draw(jump = false) {
  if (!model || model.reading.pictures) return;
  const {tokens} = state, input = find(".n");
  if (document.activeElement !== input || jump) input.value = num(tokens);
  input.style.width = `${Math.max(4, num(tokens).length) * .56 + .7}em`;
  for (const button of out.querySelectorAll("[data-n]")) button.setAttribute("aria-pressed", +button.dataset.n === tokens);
  mark("r", state.remedy);
  mark("g", state.group);
  mark("t", state.tab, "selected");
  const said = lead();  // a window hides something only from texts that are longer
  if (said.textContent !== find(".lead").textContent) {
    find(".lead").replaceWith(said);
    find(".layers").replaceWith(strip());
  }
  let shown;
  try {
    shown = verdict();
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
  settings();
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
      limited ? make("li", {}, make("i", {class: "ghost"}), "if all were full ", strong(size(full))) : ""),
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
    if (sign === " " && !depth && shell && /^ --?[a-z]/.test(text.slice(i))) made += " \\\n  ";
    else if (sign === " " && depth && text[i - 1] === "," && /["']/.test(text[i + 1])) made += within();
    else made += sign;
    if (sign === "{" && !/^["'][^"']*["']: \{/.test(text.slice(i + 1))) made += within();
  }
  return made;
}

function settings() {
  const {release, training, reading, name} = model, {tokens, remedy, tab} = state, pane = find(".pane");
  pane.setAttribute("aria-labelledby", `tab-${slug(tab)}`);
  const why = (kind, ...said) => p(`why ${kind}`, ...said);
  const block = (said, notes = []) => {
    const text = name && tab !== "llama.cpp" ? said.replace(/\bMODEL\b/, identity(release)) : said;
    const [line, remark] = text.split("  # "), {name: version, source} = programs[tab];
    const told = [...(remark ? [`${remark}.`] : []), ...notes].map(note => ` ${note}`);
    return [
      make("div", {class: "code"}, make("pre", {tabindex: 0}, broken(line, tab)), make("button", {type: "button", class: "copy"}, "Copy")),
      p("because", "For ", link(source, version), ".", told),
    ];
  };
  let made;
  try {
    made = answers.settings(reading, tokens, tab, training.trained, remedy === "released" ? null : remedy);
  } catch (error) {
    const {cap} = error.fields ?? {}, fields = {why: error.message, tokens: cap}, {cap: line = ""} = programs[tab];
    const said = why(error.code === "settings_nothing" ? "own" : "stop", sentence(cap ? readerWords.fill(tables.settings.cap, fields) : error.message));
    return pane.replaceChildren(said, ...(cap && line ? block(readerWords.fill(line, fields)) : []));
  }
  const {stretch} = release ?? {}, makers = stretch && tokens > stretch.from && tokens <= stretch.to && ["released", stretch.rule].includes(remedy), factor = times(tokens / (training.trained ?? training.from));
  const use = p("do", make("button", {type: "button", "data-r": "yarn", class: "go"}, `Use YaRN ${factor}`), makers ? make("span", {}, "as its makers say") : make("span", {}, "not released by its makers, as far as we know"));
  if (!made.edits.length) return pane.replaceChildren(why("ok", made.line.replace(/^# /, "")), ...(makers ? [use] : []));
  if (made.edits.length === 1) return pane.replaceChildren(why("ok", "Only the allowed length must grow."), ...block(made.line, made.notes));
  if (remedy === "released") return pane.replaceChildren(why("stop", `As released it ends at ${num(reading.lengths.allowed ?? training.length)}.`), use);
  pane.replaceChildren(why(makers ? "ok" : "own", makers ? link(stretch.source, "As its makers say.") : release && name ? "Not released by its makers, as far as we know." : "Whether its makers tried this stretch, its file does not say."),
    ...block(made.line, made.notes));
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

/** A link that holds those keys of a configuration without which its reading, or the releases that it matches, would be others. */
function shared() {
  const end = `&n=${state.tokens}&remedy=${state.remedy}`;
  if (model.name) return `#model=${slug(model.name)}${end}`;
  const known = new Set(matches(model.values).flatMap(({config}) => Object.keys(config.text_config ?? config)));
  const whole = structuredClone(model.values), text = values => JSON.stringify(values);
  const of = values => {
    try {
      return JSON.stringify(r.read(values, model.ignore));
    } catch (error) {
      return error.message;
    }
  };
  const wanted = of(whole), nested = whole.text_config && typeof whole.text_config === "object" ? whole.text_config : null;
  for (const values of [nested, whole]) for (const name of Object.keys(values ?? {})) {
    if (name === "model_type" || values[name] === nested || known.has(name) && values === (nested ?? whole)) continue;
    const value = values[name];
    delete values[name];
    if (of(whole) !== wanted) values[name] = value;
  }
  const bytes = new TextEncoder().encode(text(whole));
  return `#config=${btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}${end}`;
}

async function share(button) {
  const hash = shared();
  if (hash.length > LINK) return button.replaceWith(make("span", {}, `Its position keys take ${(hash.length / 1000).toFixed(1)} kB; a link may hold 4.`));
  address(hash);
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "It is in the address now";
  }
}

function follow() {
  const [, said, tokens, remedy] = location.hash.slice(1).match(/^(.*?)(?:&n=([^&]*))?(?:&remedy=([^&]*))?$/s), hash = location.hash, [, name] = said.match(/^model=(.*)$/s) ?? [], [, packed] = said.match(/^config=(.*)$/s) ?? [];
  if (packed !== undefined) {
    if (said.length > LINK) return refuse("This link holds more than 4 kB: no configuration of this page.");
    let text;
    try {
      const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), char => char.charCodeAt(0));
      text = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
    } catch {
      return refuse("This link was cut off: copy the whole link.");
    }
    take(text, "this link");
    address(hash);
    return asFar(tokens, remedy);
  }
  const release = releases.find(one => slug(one.name) === name);
  if (release) {
    choose(release.name);
    if (tokens || remedy) address(hash);
    return asFar(tokens, remedy);
  }
  if (name) {
    let plain = name;
    try { plain = decodeURIComponent(name.replaceAll("+", " ")); } catch {}
    return search(plain);
  }
  choose(FIRST, false);
}

/** The length and the remedy of a link. */
function asFar(tokens, remedy) {
  if (!model || model.reading.pictures) return;
  if (model.remedies.includes(remedy)) state.remedy = remedy;
  if (/^\d+$/.test(tokens ?? "") && +tokens >= LEAST && +tokens <= MOST) state.tokens = +tokens;
  draw(true);
  if (tokens !== undefined && +tokens !== state.tokens || remedy !== undefined && remedy !== state.remedy) find(".asked").textContent = "The length or the rule of this link does not fit this model.";
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
  state.tokens = within(tokens);
  draw(true);
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
  if (given.size > LARGEST) return refuse(`${given.name} has ${(given.size / 2 ** 20).toFixed(1)} MB: a config.json has at most ${LARGEST >> 20}.`);
  try {
    take(r.textOfBytes(await given.arrayBuffer(), given.name) || " {", given.name);
  } catch (error) {
    refuse(sentence(error.message));
  }
}

page.querySelector("datalist").replaceChildren(...releases.map(({name}) => make("option", {value: name})));
page.addEventListener("click", event => event.target.dataset.k && choose(event.target.dataset.k));
const asked = () => field.value !== model?.name && take(field.value);  // Enter tells of a change and of a form
page.querySelector(".given").addEventListener("submit", event => { event.preventDefault(); asked(); });
field.addEventListener("change", asked);
field.addEventListener("input", event => event.inputType !== "insertText" && releases.some(one => one.name === field.value) && take(field.value));  // one of the list
field.addEventListener("focus", () => field.select());
field.addEventListener("paste", event => {
  const text = event.clipboardData.getData("text");
  if (!/[[{]/.test(text)) return;
  event.preventDefault();
  take(text, "this text");
});
page.querySelector(".file input").addEventListener("change", event => {
  if (event.target.files[0]) file(event.target.files[0]);
  event.target.value = "";  // so that the same file can be opened again
});
for (const name of ["dragover", "dragleave", "drop"]) page.addEventListener(name, event => {
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
  if (target.classList.contains("n") && pressed === "Enter") return target.blur();
  const choices = target.closest("[role=radiogroup],[role=tablist]"), forward = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[pressed];
  if (!choices || !forward) return;
  event.preventDefault();
  const buttons = [...choices.querySelectorAll("button")];
  buttons[(buttons.indexOf(target) + forward + buttons.length) % buttons.length].click();
});
out.addEventListener("change", event => {
  if (!event.target.classList.contains("n")) return;
  const said = event.target.value, tokens = facts.tokens(said), short = /[km]\s*$/i.test(said);
  if (tokens >= LEAST && tokens <= MOST) set(tokens);
  else draw(true);
  find(".asked").textContent = tokens === null ? `“${said.slice(0, 20)}” is no number of tokens, so it stays: write 131,072, 128k or 1M.` : tokens < LEAST || tokens > MOST ? `This page goes from ${num(LEAST)} to ${num(MOST)}, so it stays.` : short ? "k is 1,024 here, and M 1,048,576." : "";
});
/** What a choice sets, by its data. */
const CHOICES = {r: remedy => ({remedy, group: 0}), g: group => ({group: +group}), t: tab => ({tab}), b: bytes => ({bytes: +bytes})};
out.addEventListener("click", async event => {
  const button = event.target.closest("button");
  if (!button || button.dataset.k) return;
  const {n} = button.dataset, data = Object.keys(CHOICES).find(one => one in button.dataset), value = button.dataset[data];
  if (n) set(+n);
  else if (data) {
    Object.assign(state, CHOICES[data](value));
    draw(data !== "r");
    find(`[role][data-${data}="${value}"]`)?.focus({preventScroll: true});
  } else if (button.classList.contains("share")) share(button);
  else if (button.classList.contains("copy")) {
    try {
      await navigator.clipboard.writeText(find(".pane pre").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(find(".pane pre"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1200);
  }
});
addEventListener("hashchange", follow);
new ResizeObserver(() => model && draw(true)).observe(page);
follow();
}, () => document.querySelector(".yours .out").append("This browser is too old for this page. The command below says the same."));
