// Whether a model reads texts of a length, and why; and the length that somebody writes. The twin of d2lpos/config/verdict.py
// and written.py, with the same tables; functions have the names that they have there.
"use strict";
const readerVerdict = ({Refused, tables}, {edits, fresh, reach, stretched, turns, withinWindow}) => {
  const {fill, words} = typeof module === "undefined" ? readerWords : require("./words.js");
  const {verdict: says, programs, refusals, words: {released_without_a_stretch: optional}} = tables;
  const byMakers = ({by}) => by === "training" || by === "context";

  /** What its makers, or else its file or its class, say of length. */
  function makers(reading, release = null) {
    const {trained = [], context = {to: 0}, stretch: user = null, report, source = null} = release ?? {}, {lengths} = reading;
    const longest = Math.max(0, ...trained), allowed = lengths.rows || lengths.allowed || null, own = stretched(reading);
    if (context.to > longest) return {by: "context", length: context.to, source: context.source, own, user};
    if (longest) return {by: "training", length: longest, source: report ?? source, own, user};
    if (!allowed) return {by: "nobody", length: null, source: null, own, user};
    return {by: lengths.by_class ? "class" : "file", length: allowed, source, own, user};
  }

  /** The factor that makers tell for a stretch, and how many tokens that reaches, where each has a position of its own. */
  function factorAndReach({from, to, factor: most = to / from}) {
    return [most, Math.min(to, Math.trunc(most * from))];
  }

  /** Whether the model reads a text of that length, with the reason and its numbers. */
  function verdict(reading, tokens, release = null) {
    const said = makers(reading, release), [code, {by, allows, makers: tested, ...fields}] = answer(reading, tokens, said);
    const kind = Object.keys(says.kinds).find(name => says.kinds[name].includes(code)), made = {kind, code, tokens, fields};
    for (const [name, clause] of Object.entries({by, allows, makers: tested})) if (clause) made[name] = clause;
    if (code.startsWith("own") && words(optional).includes(reading.family)) made.optional = true;
    const {rows, allowed, until} = reading.lengths;
    if (allowed && allowed < tokens && says.without_angles.includes(code)) made.past = true;
    if ("factor" in fields && ["setting", "perhaps"].includes(kind) && code !== "dynamic") made.rule = "yarn";
    const caps = [until, rows || allowed || said.length].filter(Boolean);
    if (caps.length && ["no", "unknown"].includes(kind) && !reading.pictures) made.cap = Math.min(...caps);
    return made;
  }

  /** The code of an answer, and its fields. */
  function answer(reading, tokens, said) {
    const {lengths: {rows, until, by_class, ...lengths}, kinds, pictures} = reading, {by, length} = said, allowed = lengths.allowed ?? 0;
    const claim = {by, length}, known = byMakers(said), turning = kinds.filter(turns);
    if (pictures) return ["picture", {}];
    if (until !== null && tokens > until) return ["until", {until}];
    if (rows !== null && !(known && length < tokens && tokens <= rows)) return [tokens > rows ? "rows" : "rows_within", {rows}];
    if (known && tokens <= length) return allowed && allowed < tokens ? ["grow", {length, allowed, by}] : [by, {length}];
    if (stretched(reading) && allowed) return ofOwn(reading, tokens, known ? claim : null, said.user);
    if (length && !known && tokens <= length) return [by, {length}];
    if (turning.every(withinWindow)) return withoutAngles(reading, claim);
    if (length === null) return ["unknown", {}];
    if (!turning.some(layer => fresh(layer, length, tokens).some(Boolean))) return ["angles", claim];
    return withStretch(reading, tokens, said, tokens <= allowed ? ["beyond", {...claim, allows: by_class ? "class" : "file", allowed}] : null);
  }

  /** Of a file that has a stretch. claim is the length that its makers tell of, which tokens exceed, and user the stretch that
   * they tell to set, which the file may have by now. */
  function ofOwn(reading, tokens, claim, user) {
    const {allowed, original} = reading.lengths, plain = !original || original >= allowed, end = plain ? "_plain" : "";
    const both = plain ? {allowed} : {original, allowed}, rules = reading.kinds.filter(turns).map(({encoding}) => encoding.rule);
    const stretches = rules.filter(Boolean), asTold = stretches.every(({kind, length}) => kind === user?.rule && length === user.from);
    if (user && tokens <= Math.min(allowed, user.to) && asTold) {
      const [{factor}] = stretches;
      if (tokens <= factor * user.from && factor <= factorAndReach(user)[0]) return ["own_told", advice(factor, user)];
    }
    if (tokens <= allowed) return claim ? ["own_untrained", {allowed, ...claim}] : [`own${end}`, both];
    if (tokens <= reach(reading)) return ["reach", {allowed, reach: reach(reading)}];
    const growing = rules.find(rule => rule?.kind === "dynamic_ntk" && tokens <= rule.factor * rule.length);
    return growing ? ["dynamic", {allowed, factor: growing.factor}] : [`second${end}`, both];
  }

  /** Of a model in which no angle is new in a longer text; claim says what is known of its length, and by whom. */
  function withoutAngles({kinds, input}, claim) {
    const turning = kinds.filter(turns), doors = kinds.map(({encoding}) => encoding).filter(Boolean);
    if (turning.length) return ["windows", {...claim, window: Math.max(...turning.map(({window, chunk}) => window || chunk))}];
    if (doors.some(({kind}) => kind === "ALiBi")) return ["slopes", claim];
    if (doors.length) return [doors.every(({kind}) => kind === "TransformerXL") ? "offsets" : "buckets", claim];
    if (input?.kind === "Convolutional") return ["convolution", claim];
    if (!input) return [kinds.some(({attends}) => attends) ? "silent" : "still", claim];
    return claim.length ? ["sinusoids", {length: claim.length}] : ["unknown", {}];
  }

  /** Of a model that YaRN may stretch. beyond is the answer without it, within what the file allows. */
  function withStretch(reading, tokens, {user, length}, beyond) {
    let changes;
    try {
      changes = edits(reading, tokens, "yarn", length);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return beyond ?? ["refused", {why: {code: error.code, fields: error.fields}}];
    }
    const {value: factor} = changes.find(({path}) => path.at(-1) === "factor"), {furthest} = says;
    const within = user && tokens <= factorAndReach(user)[1];
    if (beyond && !within) return beyond;
    if (factor > furthest) return ["too_far", {factor, furthest}];
    if (!user) return ["untested", {factor}];
    return beyond ? ["beyond_with", {...beyond[1], ...advice(factor, user)}] : [within ? "with" : "over", advice(factor, user)];
  }

  /** The fields of an answer that names a factor beside what makers tell. */
  const advice = (factor, user) => ({factor, makers: user.word ?? "told", to: user.to, most: factorAndReach(user)[0]});

  /** The answer in a sentence or two. */
  function inWords({code, fields: own, by, allows, makers: tested, past, optional: later, cap}) {
    const fields = {...own};
    if (by) fields.by = fill(says.by[by], own);
    if (allows) fields.allows = fill(says.by[allows], {length: own.allowed});
    if (tested) fields.makers = fill(says.makers[tested], own);
    if (own.why) fields.why = fill(refusals[own.why.code], own.why.fields);
    const sentences = [past && says.past, fill(says.answers[code], fields), later && says.optional, cap && fill(says.cap, {cap})];
    return sentences.filter(Boolean).join(" ");
  }

  /** The line that caps texts where the answer is no or not known, for each program; empty where there is nothing to cap. */
  function capLines({cap: tokens}) {
    return Object.fromEntries(tokens ? Object.entries(programs).map(([name, {cap}]) => [name, fill(cap, {tokens})]) : []);
  }

  // written.py

  const LARGEST = 2 ** 31 - 1, DIGITS = 30;
  const NUMBER = /^([-+\u2212]?)([0-9]+(?:\.[0-9]+)?)(?:e\+?([0-9]+))?\s*([kKmM]?)$/;

  /** The tokens of a text that is written as 131072, 131,072, 1e5, 128K or 200k, and how its unit is read. */
  function written(text) {
    const refuse = (code, fields) => {
      throw new Refused(code, {got: text, ...fields});
    };
    const plain = text.trim().replace(/\s*tokens?$/i, "").replace(/(?<=[0-9])[,_\s](?=[0-9]{3}(?![0-9]))/g, "");
    const [, sign, number, exponent = "0", unit] = plain.match(NUMBER) ?? refuse("length_none"), less = !["", "+"].includes(sign);
    const large = Math.max(number.length, Number(exponent)) > DIGITS;
    const [whole, part = ""] = number.split("."), parts = 10n ** BigInt(part.length), {units} = says;
    const value = BigInt(whole + part) * 10n ** BigInt(large ? 0 : exponent), times = value * BigInt(units[unit] ?? 1);
    if (less || (!large && times < parts)) refuse("length_small");
    if (large || times > BigInt(LARGEST) * parts) refuse("length_large", {limit: LARGEST});
    if (times % parts) refuse("length_part");
    const tokens = Number(times / parts), swapped = unit === unit.toLowerCase() ? unit.toUpperCase() : unit.toLowerCase();
    if (!unit) return {tokens};
    const others = Number(value * BigInt(units[swapped])) / Number(parts);
    return {tokens, told: fill(says.read_as, {got: plain, tokens, other: number + swapped, others})};
  }

  return {written, capLines, inWords, makers, factorAndReach, verdict};
};
if (typeof module !== "undefined") module.exports = readerVerdict;
