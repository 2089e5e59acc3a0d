// "Your model": what the page says of a reading, as pure functions of what reader.js returns. Lengths are in tokens; angles
// are in turns, that is, parts of a full circle.
"use strict";
const yourModelFacts = answers => {
const TAU = 2 * Math.PI;
const STRETCHES = ["linear", "llama3", "longrope", "ntk", "yarn"];  // dynamic NTK leaves short texts as they are
const CLOSE = 1 + 1e-9;

const SORTS = {window: "window", sides: "window", tile: "window", chunk: "chunk", indexer: "indexer"};

/** What a layer sees, and by what: the color and the mark of its bar. */
function sort(layer, reading, tokens = null) {
  if (!layer.attends) return "recurrence";
  if (layer.crosses) return "picture";
  const {kind} = answers.sight(reading, layer, answers.longestOf(reading, tokens));
  return SORTS[kind] ?? (layer.encoding || reading.input ? "full" : "none");
}

/** Layers that turn alike, each group with the first of its layers; sinusoids of the input are a group of their own. */
function groups(reading) {
  const found = new Map();
  reading.layers.forEach((kind, place) => {
    const layer = reading.kinds[kind], turned = layer.encoding;
    if (!answers.turns(layer)) return;
    const reach = layer.compressed ? Infinity : layer.window ?? layer.chunk ?? Infinity;  // compressed keys stand far away
    const key = JSON.stringify([answers.inForce(turned)[0], answers.plain(turned), reach]);
    if (!found.has(key)) found.set(key, {place, sort: sort(layer, reading), reach, base: turned.base, layers: 0});
    found.get(key).layers++;
  });
  if (!found.size && reading.input?.kind === "Sinusoidal") return [{place: null, sort: "full", reach: Infinity, base: reading.input.base, layers: reading.layers.length}];
  return [...found.values()].sort((a, b) => b.reach - a.reach);
}

/** The frequencies of a group, in radians a token: in force, and before any stretch. Pairs that stand still are left out. */
function frequencies(reading, group, tokens) {
  if (group.place === null) {
    const {dim, base, endpoint} = reading.input, half = dim / 2;
    const omega = Array.from({length: half}, (_, i) => base ** (-i / (endpoint ? half - 1 : half)));
    return {omega, plain: omega};
  }
  const {encoding} = answers.layersOf(reading)[group.place], [omega] = answers.inForce(encoding, tokens);
  const turns = (_, i) => omega[i] > 0;
  return {omega: omega.filter(turns), plain: answers.plain(encoding).filter(turns)};
}

/** On how long texts a model was trained: stages, each before (plain) or after its stretch; the length up to which angles
 * are known, and the word for it; and the length that a stretch begins from. `known` has trained and stretch of a release. */
function training(reading, known = {}) {
  const {original, allowed: longest, by_class} = reading.lengths, own = reading.kinds.some(layer => STRETCHES.includes(layer.encoding?.rule?.kind)), told = known.trained ?? [];
  const stages = told.map(length => ({length, plain: own && length <= (original ?? longest - 1)}));
  if (own && original && longest && !told.length) stages.push({length: original, plain: true});
  const most = Math.max(0, ...told);
  let word = "trained";
  if (longest && (own ? longest > most : !told.length)) {
    stages.push({length: longest, plain: false});
    word = own ? "released" : by_class ? "its class takes" : "its file allows";
  }
  const length = Math.max(0, ...stages.map(stage => stage.length)) || null;
  const before = stages.filter(stage => stage.plain).map(stage => stage.length);
  return {stages, length, word, own, trained: most || null, from: known.stretch?.from ?? (before.length ? Math.max(...before) : length)};
}

/** Each pair of a group: wavelengths as first trained and now, the angle that training showed and the one at a length. */
function hands(group, {stages}, reading, now, tokens) {
  const {omega} = frequencies(now, group, tokens), {plain} = frequencies(reading, group, tokens), stays = group.reach;
  const shown = stages.map(stage => ({length: Math.min(stage.length, stays), stage, of: frequencies(reading, group, stage.length)}));
  return omega.map((speed, i) => {
    const seen = Math.max(0, ...shown.map(({length, stage, of}) => length * (stage.plain ? of.plain : of.omega)[i])) / TAU;
    const at = Math.min(tokens, stays) * speed / TAU;
    return {was: TAU / plain[i], now: TAU / speed, seen, at, is: seen >= 1 ? "around" : at <= seen * CLOSE ? "within" : "new"};
  });
}

/** The distance at which a head with this slope gives a thousandth of its weight, between equal scores. */
const reach = slope => Math.log(1000) / slope;

/** The distances at which a bucket begins, and with the last the one from which all are alike. */
function buckets(encoding) {
  const starts = [];
  if (encoding.kind === "T5Bias") {
    const count = encoding.bidirectional ? encoding.buckets / 2 : encoding.buckets, exact = count / 2;
    for (let b = 0; b < count; b++) starts.push(b < exact ? b : Math.ceil(exact * (encoding.max_distance / exact) ** ((b - exact) / (count - exact)) - 1e-9));
  } else {
    const {clip, largest} = encoding, half = clip / 2;
    for (let d = 0; d <= (largest ? half : clip - 1); d++) starts.push(d);
    if (largest) for (let b = 0; b < half - 1; b++) starts.push(Math.floor(half * ((largest - 1) / half) ** (b / (half - 1)) + 1e-9) + 1);
  }
  return [...new Set(starts)];
}

return {buckets, frequencies, groups, hands, reach, sort, training};
};
if (typeof module !== "undefined") module.exports = yourModelFacts;
