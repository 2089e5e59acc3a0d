// Values as JSON has them, numbers as words, and templates: what reader.js and answers.js fill their sentences with.
// The twin of d2lpos/config/words.py, which prints numbers as String does here.
"use strict";
const readerWords = (() => {
  const LONGEST = 80;  // characters of a value that an error shows
  const FIELD = /\{(\w+)(?:!([npr]))?(?::(,?)(?:\.(\d+))?([fg]?))?\}/g;
  const isList = Array.isArray, isNumber = value => typeof value === "number";
  const isWhole = Number.isSafeInteger;
  const isDict = value => value !== null && typeof value === "object" && !isList(value);
  const isText = value => typeof value === "string", isFlag = value => typeof value === "boolean";
  const has = (values, key) => Object.hasOwn(values, key);
  const get = (values, key, otherwise = null) => (has(values, key) ? values[key] : otherwise);
  const range = length => Array.from({length: Math.max(0, length)}, (_, i) => i);
  const repeat = (value, times) => Array(Math.max(0, times)).fill(value);
  const words = text => (isList(text) ? text.join(" ") : text).split(" ").filter(Boolean);
  const entries = values => Object.entries(values), fromEntries = pairs => Object.fromEntries(pairs);
  const filter = (values, test) => fromEntries(entries(values).filter(([key, value]) => test(key, value)));

  /** Whether Python takes a value for true: not 0, "", null, and nothing that is empty. */
  function truthy(value) {
    if (value !== null && typeof value === "object") return Object.keys(value).length > 0;
    return Boolean(value) || Number.isNaN(value);
  }
  const either = (value, otherwise) => (truthy(value) ? value : otherwise);

  // What Python refuses to compute with, JavaScript turns into something else: these throw.

  /** A number, to compute with. */
  function number(value) {
    if (!isNumber(value) && !isFlag(value)) throw TypeError("no number");
    return Number(value);
  }

  /** What a list, a text or an object has to go through. */
  function items(value) {
    if (isList(value)) return value;
    if (isText(value)) return [...value];
    if (isDict(value)) return Object.keys(value);
    throw TypeError("no list");
  }

  /** The value at a place of a list or a text. */
  function at(list, place) {
    if (isDict(list) || place >= items(list).length) throw TypeError("no list");
    return items(list)[place];
  }

  /** A value that can be a name in a table. */
  function name(value) {
    if (value !== null && typeof value === "object") throw TypeError("no name");
    return value;
  }

  /** Whether two values are the same, whatever the order of their keys. */
  const same = (one, other) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
  function sorted(value) {
    if (isList(value)) return value.map(sorted);
    return isDict(value) ? fromEntries(Object.keys(value).sort().map(key => [key, sorted(value[key])])) : value;
  }
  const grouped = text => {
    const [whole, ...rest] = text.split(".");
    return [whole.replace(/(?<=\d)(?=(\d{3})+$)/g, ","), ...rest].join(".");
  };

  /** A value as JSON. */
  function asJson(value) {
    if (isDict(value)) return `{${entries(value).map(([key, one]) => `${asJson(key)}: ${asJson(one)}`).join(", ")}}`;
    if (isList(value)) return `[${value.map(asJson).join(", ")}]`;
    return isNumber(value) ? String(value) : JSON.stringify(value);
  }

  /** A value as JSON, the end of a long one cut. */
  function shown(value) {
    const text = asJson(value), signs = text.length > LONGEST ? [...text] : [];
    return signs.length > LONGEST ? `${signs.slice(0, LONGEST - 1).join("")}…` : text;
  }
  const CONVERSIONS = {
    n: asJson,
    p: keys => entries(keys).map(([key, value]) => `${key} = ${shown(value)}`).join(", "),
    r: shown,
  };

  /** A template with its fields filled in: {n} and {n:,}, {n:.4g} and {n:g}, {n:.1f}, {x!r} as JSON, {x!p} keys, {x!n} names. */
  const fill = (template, fields = {}) => template.replace(FIELD, (_, field, conversion, comma, digits, form) => {
    const value = fields[field];
    if (conversion) return CONVERSIONS[conversion](value);
    if (isList(value)) return value.map(one => (isText(one) ? one : asJson(one))).join(", ");
    if (!isNumber(value)) return isText(value) ? value : asJson(value);
    const text = form === "f" ? value.toFixed(digits) : String(form === "g" ? Number(value.toPrecision(digits ?? 6)) : value);
    return comma ? grouped(text) : text;
  });

  /** Parts of a sentence, the last one after an "and". */
  const listed = parts => (parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`);
  return {
    isList, isNumber, isWhole, isDict, isText, isFlag, has, get, range, repeat, words, entries, fromEntries, filter,
    truthy, either, number, items, at, name, same, grouped, asJson, shown, fill, listed,
  };
})();
if (typeof module !== "undefined") module.exports = readerWords;
