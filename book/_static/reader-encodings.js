// What turns, adds or biases, as reader.js tells it: frequencies, the rules that change them, slopes, and the sentences
// with which d2lpos refuses an argument.
const readerEncodings = (() => {
  "use strict";
  const {
    float, isList, isWhole, isNumber, range, same, fail, bare, repr, str,
  } = typeof module === "undefined" ? readerValues : require("./reader-values.js");

  // Checks, as those of d2lpos.positions.arguments.
  const LARGEST_FLOAT = 3.4028234663852886e38;
  function checkInteger(name, value) {
    if (!isWhole(value)) fail(`${name} must be an integer; got ${repr(value)}`);
  }
  function checkPositive(sizes) {
    for (const [name, value] of Object.entries(sizes)) checkInteger(name, value);
    for (const [name, value] of Object.entries(sizes)) {
      if (value < 1) fail(`${name} must be positive; got ${repr(value)}`);
      if (value > 2 ** 31 - 1) fail(`${name} must be at most ${2 ** 31 - 1}; got ${repr(value)}`);
    }
  }
  function checkCount(counts) {
    for (const [name, value] of Object.entries(counts)) checkInteger(name, value);
    for (const [name, value] of Object.entries(counts)) if (value < 0) fail(`${name} must not be negative; got ${repr(value)}`);
    checkPositive(Object.fromEntries(Object.entries(counts).filter(([, value]) => value)));
  }
  function checkReal(name, value) {
    if (!isNumber(value)) fail(`${name} must be a number; got ${repr(value)}`);
    const size = Math.abs(value);
    if (size > LARGEST_FLOAT && size < Infinity) fail(`${name} must be a number that float32 holds; got ${repr(value)}`);
  }
  function checkNumber(name, value) {
    checkReal(name, value);
    if (!(Math.abs(value) < Infinity)) fail(`${name} must be finite; got ${repr(value)}`);
  }
  function checkScale(name, value) {
    checkReal(name, value);
    if (!(value > 0 && value < Infinity)) fail(`${name} must be finite and positive; got ${repr(value)}`);
  }
  function checkList(name, value) {
    if (!isList(value)) fail(`${name} must be a sequence, such as a list; got ${repr(value)}`);
  }

  // Frequencies, and the rules that change them: each from frequencies to new ones and an attention factor.
  function frequencies(dim, base, endpoint = false) {
    checkPositive({dim});
    if (dim % 2) fail(`dim must be even, because each frequency turns a pair; got ${dim}`);
    checkReal("base", base);
    if (!(base > 1 && base < Infinity)) fail(`base must be finite and above 1; got ${repr(base)}`);
    if (endpoint && dim === 2) fail("dim must be at least 4 with endpoint=True, to have a first and a last; got 2");
    return range(dim / 2).map(i => Number(base) ** -((2 * i) / (endpoint ? dim - 2 : dim)));
  }
  function checkFactor(factor) {
    checkReal("factor", factor);
    if (!(factor >= 1 && factor < Infinity)) fail(`factor must be finite and at least 1; got ${repr(factor)}`);
  }
  function checkRule(omega, factor, pairs = 1) {
    if (omega.length < pairs) fail(`frequencies must be (pairs,) of at least ${pairs}; got (${omega.length},)`);
    checkFactor(factor);
  }
  function checkBand(slow, a, fast, b) {
    checkReal(slow, a);
    checkReal(fast, b);
    if (!(a > 0 && a <= b && b < Infinity)) {
      fail(`${slow} must be positive and at most ${fast}; got ${slow}=${str(a)}, ${fast}=${str(b)}`);
    }
  }
  function mscale(factor, weight = 1) {
    checkFactor(factor);
    checkNumber("weight", weight);
    return 0.1 * weight * Math.log(factor) + 1;
  }
  function ntk(omega, factor) {
    checkRule(omega, factor, 2);
    return [omega.map((one, i) => one * factor ** -(i / (omega.length - 1))), 1];
  }
  const RULES = {
    linear(omega, {factor}) {
      checkRule(omega, factor);
      return [omega.map(one => one / factor), 1];
    },
    dynamic_ntk(omega, {factor, length, current}) {
      checkRule(omega, factor, 2);
      checkPositive({length, current});
      return ntk(omega, float(factor * Math.max(current / length, 1) - (factor - 1)));
    },
    yarn(omega, {factor, length, beta_fast, beta_slow, truncate, attention_factor}) {
      checkRule(omega, factor, 2);
      checkPositive({length});
      checkBand("beta_slow", beta_slow, "beta_fast", beta_fast);
      if (typeof truncate !== "boolean") fail(`truncate must be True or False; got ${repr(truncate)}`);
      if (attention_factor !== null) checkScale("attention_factor", attention_factor);
      const turns = (length * omega[0]) / (2 * Math.PI), ratio = Math.log(omega[0] / omega[1]);
      let first = Math.log(turns / beta_fast) / ratio, last = Math.log(turns / beta_slow) / ratio;
      if (truncate) [first, last] = [Math.floor(first), Math.ceil(last)];
      [first, last] = [Math.max(first, 0), Math.min(last, 2 * omega.length - 1)];
      const scaled = omega.map((one, i) => {
        const divided = Math.min(Math.max((i - first) / Math.max(last - first, 1e-3), 0), 1);
        return one * (1 - divided + divided / factor);
      });
      return [scaled, attention_factor === null ? mscale(factor) : Number(attention_factor)];
    },
    llama3(omega, {factor, length, low, high}) {
      checkRule(omega, factor);
      checkPositive({length});
      checkBand("low", low, "high", high);
      const scaled = omega.map(one => {
        const turns = (length * one) / (2 * Math.PI);
        const kept = low < high ? Math.min(Math.max((turns - low) / (high - low), 0), 1) : Number(turns >= low);
        return one * (kept + (1 - kept) / factor);
      });
      return [scaled, 1];
    },
    longrope(omega, {short: near, long: far, length, current, factor, attention_factor}) {
      checkRule(omega, factor);
      checkPositive({length, current});
      if (attention_factor !== null) checkScale("attention_factor", attention_factor);
      for (const [name, divisors] of [["short", near], ["long", far]]) {
        checkList(name, divisors);
        divisors.forEach((divisor, i) => checkReal(`${name}[${i}]`, divisor));
        if (divisors.length !== omega.length || !divisors.every(divisor => divisor > 0 && divisor < Infinity)) {
          fail(`${name} must be ${omega.length} positive numbers, one for each pair; got ${repr(divisors)}`);
        }
      }
      const divisors = current > length ? far : near;
      const grown = factor > 1 ? Math.sqrt(1 + Math.log(factor) / Math.log(length)) : 1;
      return [omega.map((one, i) => one / divisors[i]), attention_factor === null ? grown : Number(attention_factor)];
    },
    proportional(omega, {share, factor}) {
      checkRule(omega, factor);
      checkReal("share", share);
      if (!(share >= 0 && share <= 1)) fail(`share must lie in 0 … 1; got ${repr(share)}`);
      const turning = Math.trunc(share * omega.length);
      return [omega.map((one, i) => (i < turning ? one / factor : 0)), 1];
    },
    interlaced: omega => [[...omega.filter((_, i) => i % 2 === 0), ...omega.filter((_, i) => i % 2)], 1],
  };
  const scaled = (omega, rule) => (rule ? RULES[rule.kind](omega, rule) : [omega, 1]);

  // Encodings, with what their classes check.
  function checkRotary(rotary, dim) {
    checkPositive({rotary});
    if (rotary % 2 || rotary > dim) {
      fail(`rotary must be even, because features turn in pairs, and at most ${dim}; got ${rotary}`);
    }
  }
  function turn(kind, dim, rotary, base, layout, rule, backward, more, apart = 1) {
    const [omega, attention] = scaled(frequencies(rotary / apart, base), rule);
    const plain = omega.map((_, i) => Number(base) ** ((-2 * i) / (2 * omega.length)));
    return {
      ...{kind, dim, rotary, base: Number(base), layout, ...more, rule: rule && bare(rule)},
      ...{backward, norm: null, omega: omega.map(Math.abs), plain, attention},
    };
  }
  function rope(dim, base, layout, {rotary = null, rule = null, backward = false, axes = 1, kind = "RoPE"} = {}) {
    checkPositive({dim, axes});
    if (rotary === null) frequencies(dim, base);
    rotary ??= dim;
    checkRotary(rotary, dim);
    if (rotary % (2 * axes)) fail(`${axes} axes need a multiple of ${2 * axes} features that turn; got ${rotary}`);
    return turn(kind, dim, rotary, base, layout, rule, backward, {axes}, axes);
  }
  function mrope(dim, deal, base, layout, rule, backward) {
    checkPositive({dim});
    const axes = 1 + Math.max(0, ...deal), named = new Set(deal);
    if (named.size !== axes || !range(axes).every(axis => named.has(axis))) {
      fail(`deal must name each axis from 0 on; got ${repr(deal)}`);
    }
    checkRotary(2 * deal.length, dim);
    return turn("MRoPE", dim, 2 * deal.length, base, layout, rule, backward, {axes, deal});
  }
  function checkSizes(sizes) {
    checkList("sizes", sizes);
    sizes.forEach((size, i) => checkPositive({[`sizes[${i}]`]: size}));
  }
  const DEALS = {
    blocks(sizes) {
      checkSizes(sizes);
      return sizes.flatMap((size, axis) => same(axis, size));
    },
    "in turn"(sizes) {
      checkSizes(sizes);
      const deal = same(0, sizes.reduce((sum, size) => sum + size, 0)), n = sizes.length;
      sizes.slice(1).forEach((size, number) => {
        if (number + 1 + n * (size - 1) >= deal.length) fail(`sizes must leave a turn for each pair; got ${repr(sizes)}`);
        range(size).forEach(i => (deal[number + 1 + i * n] = number + 1));
      });
      return deal;
    },
    "rows and columns"(sizes) {
      const [rows, columns, times] = sizes;
      if (rows !== columns) fail(`mrope_section must have as many pairs for rows as for columns; got ${repr(sizes)}`);
      return [...range(rows).flatMap(() => [1, 2]), ...same(0, times)];
    },
  };
  function learned(length, dim) {
    checkPositive({length, dim});
    return {kind: "Learned", length, dim};
  }
  function sinusoidal(dim, layout, endpoint) {
    frequencies(dim, float(1e4), endpoint);
    return {kind: "Sinusoidal", dim, base: 1e4, layout, endpoint};
  }
  function slopes(heads, octaves) {
    checkPositive({heads});
    checkScale("octaves", octaves);
    if (octaves > 126) fail(`octaves must be at most 126, because float32 holds no smaller slope; got ${repr(octaves)}`);
    const below = 2 ** Math.floor(Math.log2(heads));
    return range(heads).map(i => Math.fround(2 ** ((-octaves / below) * (i < below ? i + 1 : i - below + 0.5))));
  }
  function alibi(heads, octaves, features = null) {
    const own = slopes(heads, octaves);
    const divided = features !== null;
    return {kind: "ALiBi", heads, slopes: divided ? own.map(one => Math.fround(one / Math.sqrt(features))) : own, divided};
  }
  function buckets(heads, number, farthest, bidirectional) {
    checkPositive({heads});
    checkPositive({buckets: number, max_distance: farthest});
    if (number % 4) fail(`buckets must be a multiple of 4: two sides, half of each exact; got ${number}`);
    if (farthest <= Math.floor(number / 2)) {
      fail(`max_distance must be above ${Math.floor(number / 2)}, half of buckets; got ${farthest}`);
    }
    return {kind: "T5Bias", heads, buckets: number, max_distance: farthest, bidirectional};
  }
  function terms(heads, features, clip, largest) {
    checkPositive({heads, features});
    checkPositive({clip});
    if (largest !== null) {
      checkPositive({largest});
      if (clip % 2 || largest <= clip) fail(`clip must be even and below largest = ${largest}; got ${clip}`);
    }
    return {kind: "DeBERTa", heads, features, clip, largest};
  }
  function grid(kind, first, height, width, more = {}) {
    checkPositive({...first, height, width});
    return {kind, ...first, height, width, ...more};
  }
  function network(heads, side, trained) {
    const found = grid("SwinV2", {heads}, side, side);
    if (trained === null) return {...found, measure: [side, side]};
    checkPositive({trained});
    if (trained < 2) fail(`trained must be at least 2, or its window has no step; got ${trained}`);
    return {...found, measure: [trained, trained]};
  }

  return {
    checkPositive, checkCount, checkNumber, mscale, rope, mrope, DEALS, learned, sinusoidal, alibi,
    buckets, terms, grid, network,
  };
})();
if (typeof module !== "undefined") module.exports = readerEncodings;
