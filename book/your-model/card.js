// What a model costs on a card: the twin of d2lpos/config/card.py and sizes.py, from the same tables; functions have the
// names that they have there. What a file of weights holds, the page asks the file.
"use strict";
const readerCard = ({Refused, byClassNames, missing, tables, textOf}, {layersOf, limitOf, numbers}) => {
  const {isDict, isNumber, isWhole, isFlag, isList, has, get, words, entries, fromEntries, filter, truthy, same, fill} =
    typeof module === "undefined" ? readerWords : require("./words.js");
  const {card: known, words: says, programs} = tables;
  const GIB = 2 ** 30, LARGEST = 2 ** 31 - 1;
  const named = (part, family) => entries(known[part]).find(([names]) => words(names).includes(family))?.[1] ?? null;
  function refuse(code, fields) {
    throw new Refused(code, fields);
  }

  // sizes.py

  class Sizes {
    constructor(config, reading) {
      const text = textOf(config, reading.ignored), own = byClassNames(text.family, text.values), {family} = reading;
      const outer = filter(config, key => words(known.outer).includes(key));
      const inner = get(own, "sparse_attention_config"), every = {...outer, ...missing(family, own, text.defaults), ...own, ...(isDict(inner) ? inner : {})};
      Object.assign(this, {family, reading, whole: config, every: filter(every, (_, value) => value !== null)});
    }
    parameters() {
      const {family} = this, row = named("parameters", family), complete = words(known.complete);
      if (row === null) refuse("card_family", {family});
      for (const name of get(this.whole, "architectures") ?? []) {
        if (!complete.some(end => String(name).endsWith(end))) refuse("card_architecture", {names: [...complete].sort(), got: name});
      }
      this.every = {...row.by_class, ...this.every};
      for (const [key, value] of entries(row.only ?? {})) {
        const got = get(this.every, key);
        if (!same(got, value)) refuse("card_only", {family, key, value, got});
      }
      return this.sum(row.count);
    }
    state(form) {
      const {family} = this, row = named("states", family), layers = this.of("stateful");
      if (!layers) return 0;
      if (row === null) refuse("card_state", {family});
      const width = get(known.widths, String(get(this.every, form.key ?? ""))), recurrent = width ? width / 8 : form.recurrent;
      const kernel = this.of(row.kernel) + form.kernel, convolved = this.sum(row.convolved) * kernel * form.convolved;
      return layers * form.copies * (convolved + this.sum(row.recurrent) * recurrent);
    }
    bits() {
      const both = [this.every, this.whole], find = names => both.flatMap(one => names.map(key => get(one, key))).find(truthy);
      const quantized = find(["quantization_config", "compression_config"]), width = get(known.widths, String(find(["dtype", "torch_dtype"])));
      if (quantized || width === null) refuse("card_bits", {quantized: quantized ? "is quantized" : "names no dtype"});
      return width;
    }
    sum(text) {
      return text.split(" + ").reduce((sum, term) => sum + term.split(" ").reduce((product, word) => product && product * this.of(word), 1), 0);
    }
    of(word) {
      const layers = layersOf(this.reading), {having, pieces, types} = known;
      if (/^-?\d+$/.test(word)) return Number(word);
      if (has(pieces, word)) return this.sum(pieces[word]);
      if (word === "depth" || (word === "stateful" && named("states", this.family)?.every)) return layers.length;
      if (has(having, word)) return layers.filter(one => one[having[word]]).length;
      if (has(types, word)) return layers.filter(one => words(types[word]).includes(one.type)).length;
      if (word === "kv") return this.of(has(this.every, "num_key_value_heads") ? "num_key_value_heads" : "num_attention_heads");
      if (word === "dim") return get(this.every, "head_dim") || Math.floor(this.of("hidden_size") / Math.max(this.of("num_attention_heads"), 1));
      const names = [word, ...words(get(known.also, word, ""))], value = names.map(name => get(this.every, name)).find(one => one !== null) ?? null;
      if (value === null && has(this.every, word)) return 0;
      if (words(known.each).includes(word)) {
        if (!isList(value) || value.length !== layers.length) refuse("card_each", {key: word, depth: layers.length, got: value});
        return value.filter(one => truthy(one) && one !== "dense").length;
      }
      if (!(isFlag(value) || isWhole(value)) || value < 0) refuse("card_lacks", {family: this.family, key: word, got: value});
      return Number(value);
    }
  }

  // card.py

  function card(reading, config, asked = {}) {
    const {tokens = null, requests = 1, card: gib = null, bits = null, weights = null, cache_bits = 16, program = "vllm"} = asked;
    const amounts = {requests, card: gib, bits, weights, cache_bits, share: asked.share ?? null};
    for (const [name, value] of entries(amounts)) checkAmount(name, value);
    if (reading.pictures) refuse(reading.cache_refusal.code, reading.cache_refusal.fields);
    if (!reading.causal) refuse("card_encoder", {family: reading.family});
    const sizes = new Sizes(config, reading), form = known.programs[program], made = weightsOf(sizes, bits, weights);
    const share = asked.share ?? form.share, limit = reading.lengths.rows || reading.lengths.allowed || null;
    const [state, why_state] = attempt(() => sizes.state(form.state));
    const cost = (length, whole = false) => ({
      ...fromEntries(entries(numbers(reading, length, rowsOf(form, reading, length, whole)))
        .map(([kind, size]) => [kind, requests * size * cache_bits / 8])),
      state: state && requests * state,
    });
    const total = costs => Object.values(costs).reduce((sum, one) => sum + one, 0);
    function longest(whole, most = limit ?? LARGEST) {
      if (made.weights === null || gib === null || state === null) return null;
      const room = gib * GIB * share - made.weights;
      let low = 0, high = most + 1;
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (total(cost(middle, whole)) <= room) low = middle;
        else high = middle;
      }
      return low;
    }
    const at = tokens ?? limit, rows = at && keeping(form, reading, at);
    return {
      ...made, why_state, program, share, requests, gib, tokens: at, cache: at ? cost(at) : null,
      longest: longest(false), longest_full: rows ? longest(true) : null, limit, holds: longest(false, LARGEST), rows,
    };
  }
  function attempt(work) {
    try {
      return [work(), null];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [null, error.message];
    }
  }
  function weightsOf(sizes, bits, weights) {
    const made = {parameters: null, bits: null, weights: null, why: null};
    if (weights !== null) return {...made, weights: weights * GIB};
    const [both, why] = attempt(() => [sizes.parameters(), bits ?? sizes.bits()]);
    return both ? {...made, parameters: both[0], bits: both[1], weights: both[0] * both[1] / 8} : {...made, why};
  }
  function rowsOf(form, reading, tokens, whole) {
    const pages = count => Math.ceil(count / form.page) * form.page, every = pages(tokens);
    return limit => {
      if (whole || limit === Infinity || !frees(form, reading)) return every;
      const kept = pages(limit + form.beside) + form.spare * form.page;
      return Math.min(every, Math.max(kept, Math.ceil(every * form.least)));
    };
  }
  function frees(form, {family, kinds}) {
    if (words(form.full ?? "").includes(family) || !words(form.only ?? family).includes(family)) return false;
    return form.chunks !== "full" || !kinds.some(one => one.chunk);
  }
  function keeping(form, reading, tokens) {
    const attending = reading.kinds.filter(one => one.attends && !one.crosses);
    const limits = attending.map(one => limitOf(reading, one, tokens)[1]).filter(limit => limit !== Infinity);
    return limits.length ? Math.max(...limits.map(rowsOf(form, reading, tokens, false))) : null;
  }
  function checkAmount(name, value) {
    const {whole, least, most, what} = known.arguments[name], fits = whole ? isWhole(value) : isNumber(value);
    if (value !== null && !(fits && value >= least && value <= most)) refuse("card_number", {name, what, got: value});
  }
  const cardLines = made => eachLine(made).join("\n");
  function eachLine(made) {
    const {words: text} = known, form = known.programs[made.program], {requests, tokens, gib} = made, amount = {requests, tokens, gib};
    const cache = made.cache ?? {}, lines = [fill(text.head, {program: programs[made.program].name})];
    const how = made.weights === null ? "unknown" : made.parameters === null ? "given" : "counted";
    lines.push(fill(text[how], {...made, ...inUnits(made.weights ?? 0)}));
    for (const [kind, name] of entries(text.kinds)) {
      if (cache[kind]) lines.push(fill(text.cache, {kind: name, ...amount, ...inUnits(cache[kind])}));
    }
    if (made.why_state) lines.push(fill(text.state, {why: made.why_state}));
    else if (made.cache && made.weights !== null) {
      lines.push(fill(text.total, inUnits(Object.values(cache).reduce((sum, one) => sum + one, made.weights))));
    }
    if (made.rows !== null) {
      const keeps = made.rows >= tokens ? "keeps_all" : "keeps_some";
      lines.push(fill(text[keeps], {rows: made.rows, tokens, source: form.source}));
      if (form.least && keeps === "keeps_some") lines.push(fill(text.least, {share: form.least}));
    }
    if (made.longest !== null) {
      lines.push(fill(text.share, {gib, share: made.share}));
      const fits = !made.longest ? "none" : made.longest === made.limit ? "every" : "fits";
      lines.push(fill(text[fits], {...amount, tokens: made.longest, holds: made.holds}));
      if (made.longest_full !== null && made.longest_full < made.longest) {
        lines.push(fill(text.full, {flag: form.flag, ...amount, tokens: made.longest_full}));
      }
    }
    return [...lines, text.out];
  }
  function inUnits(size) {
    const [unit, bytes] = says.units.find(([name, bytes]) => size >= bytes || name === "bytes");
    return {size: size / bytes, unit};
  }
  return {card, cardLines};
};
if (typeof module !== "undefined") module.exports = readerCard;
