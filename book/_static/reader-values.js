// Values of JSON as Python has them, and as Python writes them: for reader.js, whose sentences are Python's.
const readerValues = (() => {
  "use strict";

  // Values. JSON and Python know 1.0 from 1, JavaScript does not: a whole number that is written as a float stays a Float.
  class Float extends Number {}
  const float = value => (Number.isInteger(value) ? new Float(value) : value);
  const isList = Array.isArray;
  const isFloat = value => value instanceof Float || (typeof value === "number" && !Number.isInteger(value));
  const isWhole = value => typeof value === "number" && Number.isInteger(value);
  const isNumber = value => isWhole(value) || isFloat(value);
  const isDict = value => typeof value === "object" && value !== null && !isList(value) && !(value instanceof Number);
  const dict = (...parts) => Object.assign(Object.create(null), ...parts);
  const has = (values, key) => Object.prototype.hasOwnProperty.call(values, key);
  const take = (values, key, otherwise = null) => (has(values, key) ? values[key] : otherwise);
  const range = count => Array.from({length: Math.max(Number(count), 0)}, (_, i) => i);
  const same = (kind, count) => Array(Math.max(count, 0)).fill(kind);
  const mod = (a, n) => ((a % n) + n) % n;
  const words = text => text.split(/\s+/).filter(Boolean);
  const fail = (sentence, keys) => {
    throw Object.assign(new Error(sentence), keys && {keys});  // those that are not understood, with their values as text
  };

  // What Python takes for true.
  function truthy(value) {
    if (isDict(value)) return Object.keys(value).length > 0;
    if (isList(value) || typeof value === "string") return value.length > 0;
    return value instanceof Number ? Number(value) !== 0 : Boolean(value);
  }
  const or = (...values) => values.find(truthy) ?? values.at(-1);

  // Whether Python takes two values for equal: True is 1, and 1.0 is 1.
  function equal(a, b) {
    const plain = value => (typeof value === "boolean" || value instanceof Number ? Number(value) : value);
    [a, b] = [plain(a), plain(b)];
    if (isList(a) && isList(b)) return a.length === b.length && a.every((one, i) => equal(one, b[i]));
    if (isDict(a) && isDict(b)) {
      const keys = Object.keys(a);
      return keys.length === Object.keys(b).length && keys.every(key => has(b, key) && equal(a[key], b[key]));
    }
    return a === b || (a == null && b == null);
  }
  const among = (value, values) => values.some(one => equal(one, value));

  // Numbers without marks, for those who compute with them.
  function bare(value) {
    if (value instanceof Number) return Number(value);
    if (isList(value)) return value.map(bare);
    return isDict(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bare(one)])) : value;
  }

  // In words, as Python writes them.
  function placed(digits, exponent, whole = "") {
    const [sign, figures] = [digits.startsWith("-") ? "-" : "", digits.replace(/[-.]/g, "")];
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${figures}`;
    const rest = figures.slice(exponent + 1);
    return sign + figures.slice(0, exponent + 1).padEnd(exponent + 1, "0") + (rest ? `.${rest}` : whole);
  }

  function decimal(number) {
    if (number === Infinity || number === -Infinity) return number > 0 ? "inf" : "-inf";
    if (Object.is(number, -0)) return "-0.0";
    const [digits, power] = number.toExponential().split("e");
    const exponent = Number(power);
    if (number !== 0 && (exponent < -4 || exponent >= 16)) {
      return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
    }
    return placed(digits, exponent, ".0");
  }

  const ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"};
  function quoted(text) {
    const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
    const escaped = [...text].map(one => {
      if (one in ESCAPES) return ESCAPES[one];
      if (one === mark) return `\\${one}`;
      if (one === " " || !/[\p{C}\p{Z}]/u.test(one)) return one;
      const code = one.codePointAt(0).toString(16);
      return code.length < 3 ? `\\x${code.padStart(2, "0")}` : code.length < 5 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
    });
    return mark + escaped.join("") + mark;
  }

  function repr(value) {
    if (value == null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value === "string") return quoted(value);
    if (isFloat(value)) return decimal(Number(value));
    if (isList(value)) return `[${value.map(repr).join(", ")}]`;
    if (isDict(value)) return `{${Object.entries(value).map(([key, one]) => `${quoted(key)}: ${repr(one)}`).join(", ")}}`;
    return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
  }
  const str = value => (typeof value === "string" ? value : repr(value));
  const tuple = values => (values.length === 1 ? `(${repr(values[0])},)` : `(${values.map(repr).join(", ")})`);
  // A number with a comma between thousands.
  const comma = value => {
    const [whole, rest] = repr(value).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? `.${rest}` : "");
  };
  // Six figures, as Python's :g has them: of two numbers as near the even one.
  function short(value) {
    let [digits, power] = Number(value).toExponential(5).split("e");
    const [exact, exponent] = Number(value).toExponential(60).split("e"), end = exact.indexOf(".") + 6;
    if (/^50*$/.test(exact.slice(end)) && exact[end - 1] % 2 === 0) [digits, power] = [exact.slice(0, end), exponent];
    digits = digits.replace(/\.?0+$/, "");
    if (power >= -4 && power < 6) return placed(digits, Number(power));
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  // JSON as Python writes it.
  function dumps(value) {
    if (isList(value)) return `[${value.map(dumps).join(", ")}]`;
    if (isDict(value)) return `{${Object.entries(value).map(([key, one]) => `${dumps(key)}: ${dumps(one)}`).join(", ")}}`;
    if (typeof value === "string") {
      return JSON.stringify(value).replace(/[\u007f-\uffff]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
    }
    return isFloat(value) ? decimal(Number(value)) : JSON.stringify(value ?? null);
  }

  // A text of JSON, with Floats. Throws an Error that says what is wrong and where.
  function values(text) {
    let at = 0;
    const wrong = (what, place = at) => {
      const before = [...text.slice(0, place)];
      const line = before.filter(one => one === "\n").length + 1;
      const column = before.length - before.lastIndexOf("\n");
      fail(`${what}: line ${line} column ${column} (char ${before.length})`);
    };
    const space = () => {
      while (" \t\n\r".includes(text[at] ?? "x")) at++;
    };
    const expect = (mark, what) => {
      space();
      if (text[at] !== mark) wrong(what);
      at++;
    };
    function string() {
      const begin = at++;
      let found = "";
      for (;;) {
        const one = text[at];
        if (one === undefined) wrong("Unterminated string starting at", begin);
        if (one === '"') return at++, found;
        if (one < " ") wrong("Invalid control character at");
        if (one !== "\\") {
          found += one;
          at++;
          continue;
        }
        const mark = text[at + 1];
        if (mark === undefined) wrong("Unterminated string starting at", begin);
        if (mark === "u") {
          const code = text.slice(at + 2, at + 6);
          if (!/^[0-9a-fA-F]{4}$/.test(code)) wrong("Invalid \\uXXXX escape", at + 1);
          found += String.fromCharCode(parseInt(code, 16));
          at += 6;
          continue;
        }
        const place = '"\\/bfnrt'.indexOf(mark);
        if (place < 0) wrong("Invalid \\escape");
        found += '"\\/\b\f\n\r\t'[place];
        at += 2;
      }
    }
    function members() {
      const found = Object.create(null);
      at++;
      space();
      if (text[at] === "}") return at++, found;
      for (;;) {
        space();
        if (text[at] !== '"') wrong("Expecting property name enclosed in double quotes");
        const key = string();
        expect(":", "Expecting ':' delimiter");
        space();
        found[key] = value();
        space();
        if (text[at] === "}") return at++, found;
        expect(",", "Expecting ',' delimiter");
      }
    }
    function items() {
      const found = [];
      at++;
      space();
      if (text[at] === "]") return at++, found;
      for (;;) {
        space();
        found.push(value());
        space();
        if (text[at] === "]") return at++, found;
        expect(",", "Expecting ',' delimiter");
      }
    }
    function value() {
      const one = text[at];
      if (one === '"') return string();
      if (one === "{") return members();
      if (one === "[") return items();
      for (const [word, meant] of [["null", null], ["true", true], ["false", false]]) {
        if (text.startsWith(word, at)) return (at += word.length), meant;
      }
      for (const word of ["NaN", "Infinity", "-Infinity"]) {
        if (text.startsWith(word, at)) fail(`${word} is no number of JSON`);
      }
      const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
      number.lastIndex = at;
      const found = number.exec(text);
      if (!found) wrong("Expecting value");
      at += found[0].length;
      return found[1] || found[2] ? float(Number(found[0])) : Number(found[0]) + 0;
    }
    if (text.startsWith("\ufeff")) wrong("Unexpected UTF-8 BOM (decode using utf-8-sig)");
    space();
    const found = value();
    space();
    if (at < text.length) wrong("Extra data");
    return found;
  }

  return {
    Float, float, isList, isFloat, isWhole, isNumber, isDict, dict, has, take, range, same, mod, words, fail, truthy,
    or, equal, among, bare, repr, str, tuple, comma, short, dumps, values,
  };
})();
if (typeof module !== "undefined") module.exports = readerValues;
