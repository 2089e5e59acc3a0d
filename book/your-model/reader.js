// What a model does with positions, from its config.json: the twin of d2lpos/config/read.py and of what it imports, from
// the same tables. `reader(tables)` parses a file once; d2lpos/config/schema.py says what a reading holds. A function here
// has the name that it has in Python, which tells what it does and which family's it is; what a table names is in FORMS
// and the like. Where Python would stop at a value of another kind, `number`, `items`, `at` and `named` throw.
"use strict";
const reader = tables => {
  const {
    isList, isNumber, isWhole, isDict, isText, isFlag, has, get, range, repeat, words, entries, fromEntries, filter,
    truthy, either, number, items, at, name: named, same, fill,
  } = typeof module === "undefined" ? readerWords : require("./words.js");
  const {families: about, keys: known, refusals} = tables;
  const byName = part => fromEntries(entries(about[part]).flatMap(([names, one]) => words(names).map(name => [name, one])));
  const setOf = text => new Set(words(text));
  const [FULL, WINDOW] = ["full_attention", "sliding_attention"];
  const LARGEST_FLOAT = 3.4028234663852886e38, LARGEST_TABLE = 2 ** 24, DEEPEST = 100;

  class Refused extends Error {
    constructor(code, fields = {}) {
      super(fill(refusals[code], fields));
      Object.assign(this, {code, fields});
    }
  }
  function refuse(code, fields) {
    throw new Refused(code, fields);
  }

  // tables.py

  const complete = row => {
    const read = row.read ?? "rope";
    return {read, ...about.readers.every, ...about.readers[read], ...row};
  };
  const rows = fromEntries(entries(byName("rows")).map(([name, row]) => [name, complete(row)]));
  const refused = byName("refused"), code = byName("code");
  const areWords = one => isText(one) || isText(one[0]);
  const sets = table => fromEntries(entries(table).filter(([, one]) => areWords(one)).map(([name, one]) => [name, setOf(one)]));
  const keySets = sets(known), layerSets = sets(about.layers);
  const readBySome = new Set(Object.values(rows).flatMap(row => words(row.reads)));
  const limits = new Map(known.limits.flatMap(({keys, most}) => words(keys).map(key => [key, most])));
  const ruleWords = new Set(Object.values(about.rules).flatMap(words));
  function entry(family) {
    const one = get(tables.defaults, family, {}), other = get(code, family, {});
    return {...one, keys: {...one.keys, ...other.keys}, aliases: {...one.aliases, ...other.aliases}};
  }

  // files.py

  const GGUF = "GGUF", FENCE = /^```\w*\n(.*)\n```$/s, PRINTED = /^\w+Config (?=\{)/, NAN = "\u0000NaN";
  function textOfBytes(data, name = "the file") {
    const bytes = new Uint8Array(data), mark = String(bytes.slice(0, 2)), utf16 = {"255,254": "utf-16le", "254,255": "utf-16be"};
    if (String.fromCharCode(...bytes.slice(0, 4)) === GGUF) refuse("gguf", {name});
    try {
      return new TextDecoder(utf16[mark] ?? "utf-8", {fatal: true}).decode(bytes);
    } catch {
      return refuse("no_text_file", {name});
    }
  }

  const parse = (text, name = "the file") => checked(valuesOf(text, name), name);
  function valuesOf(text, name) {
    const {largest} = known.files;
    if (text.length > largest) refuse("large", {name, limit: largest >> 20, size: text.length / 2 ** 20});
    if (text.startsWith(GGUF)) refuse("gguf", {name});
    let values;
    try {
      values = json(text.trim().replace(FENCE, "$1").replace(PRINTED, ""));
    } catch (error) {
      if (error instanceof RangeError) refuse("deep", {name});
      refuse("json", {name, why: error.message});
    }
    checkDepth(values, name);
    if (!isDict(values)) refuse("object", {name, kind: kindOfValue(values)});
    return values;
  }
  function checked(values, name) {
    if (has(values, "model_type")) return values;
    const other = known.files.others.find(([marks]) => marks.some(mark => has(values, mark)));
    if (other) refuse("other_file", {name, what: other[1]});
    return refuse("no_model_type", {name});
  }

  function json(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      const numbers = {Infinity: "1e999", "-Infinity": "-1e999", NaN: JSON.stringify(NAN)};
      const mended = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|-?Infinity|NaN/gs, one => get(numbers, one, one));
      if (mended === text) throw error;
      return JSON.parse(mended, (_, value) => (value === NAN ? NaN : value));
    }
  }
  function kindOfValue(value) {
    if (value === null) return "null";
    return isList(value) ? "list" : {boolean: "flag", number: "number", string: "text"}[typeof value];
  }

  // outer.py

  function checkDepth(value, name, depth = 0) {
    if (depth > DEEPEST) refuse("deep", {name});
    if (value !== null && typeof value === "object") for (const one of Object.values(value)) checkDepth(one, name, depth + 1);
  }
  function textOf(whole, ignore, file = [], of_class = [], defaults = {}) {
    const [values, ignored] = withoutKeys(whole, ignore), family = get(values, "model_type");
    if (isText(family) && has(refused, family)) refuse("refused_family", {got: family, why: refused[family]});
    if (isText(family) && has(rows, family)) return {family, values, file, code: of_class, ignored, defaults};
    const inner = isText(family) ? held(family, values) : null;
    if (!inner) return refuse("unknown_family", {got: family});
    return textOf(inner.text, ignore, [...file, ...inner.place], [...of_class, ...inner.of_class], entry(family).text_keys);
  }

  function held(family, values) {
    const one = entry(family), text = get(values, "text_config");
    if (isDict(text)) {
      const name = {model_type: one.text ?? `${family}_text`}, forced = one.forced || (one.text && !isKnown(get(text, "model_type")));
      return {text: forced ? {...text, ...name} : {...name, ...text}, place: ["text_config"], of_class: ["text_config"]};
    }
    if (one.text) {
      if (!one.flat) refuse("no_text", {family});
      return {text: {...values, model_type: one.text}, place: [], of_class: ["text_config"]};
    }
    const place = about.elsewhere.find(key => isDict(get(values, key)) && isKnown(get(values[key], "model_type")));
    return place ? {text: values[place], place: [place], of_class: [place]} : null;
  }
  const isKnown = name => isText(name) && [rows, refused, tables.defaults].some(table => has(table, name));
  function withoutKeys(values, ignore) {
    const names = [];
    for (const name of ignore) {
      const [place, ...rest] = name.split("."), inner = about.spellings.includes(place) ? get(values, place) : null, before = values;
      if (has(values, name)) values = filter(values, key => key !== name);
      else if (isDict(inner)) values = {...values, [place]: bare(inner, rest.join("."))};
      if (!same(values, before)) names.push(name);
    }
    return [values, names];
  }
  const bare = (rope, key) => fromEntries(
    entries(rope).filter(([name]) => name !== key).map(([name, one]) => [name, isDict(one) ? bare(one, key) : one]));
  function byClassNames(family, values) {
    const {aliases, unread = []} = entry(family);
    const others = entries(values).filter(([key]) => has(aliases, key)).map(([key, value]) => [aliases[key], value]);
    return {...fromEntries(others), ...filter(values, key => !unread.includes(key) && !has(aliases, key))};
  }
  function missing(family, own, outer) {
    const there = key => has(own, key) && (truthy(own[key]) || !about.spellings.includes(key));
    const spelled = about.spellings.some(there);
    return filter({...entry(family).keys, ...outer}, key => !there(key) && !(key === "rope_parameters" && spelled));
  }

  // keys.py

  class Keys {
    constructor(family, row, own, defaults) {
      const mine = words(row.reads);
      Object.assign(this, {family, own, defaults, about: entry(family), used: new Set()});
      this.every = filter({...own, ...defaults}, key => !readBySome.has(key) || mine.includes(key));
    }
    get(key, otherwise = null) {
      if (has(this.every, key)) this.used.add(key);
      return get(this.every, key, otherwise);
    }
    need(key) {
      if (!has(this.every, key)) refuse("missing", {key});
      return this.get(key);
    }
    first(keys, otherwise = null) {
      const values = keys.map(key => this.get(key)).filter(value => value !== null);
      if (values.length || otherwise !== null) return values.length ? values[0] : otherwise;
      if (keys.length > 1) refuse("missing_both", {keys: keys.join(" or ")});
      return refuse("missing", {key: keys[0]});
    }
    passOver(keys) {
      for (const key of keys) if (has(this.own, key)) this.used.add(key);
    }
    divided(hidden, heads) {
      const whole = this.first(hidden), parts = this.first(heads), [one, other] = [hidden[0], heads[0]];
      if (!isWhole(whole) || !isWhole(parts) || parts < 1) refuse("both_whole", {one, other, got: whole, beside: parts});
      if (whole % parts) refuse("multiple", {key: one, other, by: parts, got: whole});
      return whole / parts;
    }
  }
  function checkNulls(family, own) {
    if (own._from === "params.json") return;
    const {keys = {}, nulls = ""} = get(tables.defaults, family, {});
    for (const [key, usual] of entries(keys)) {
      const refused = words(nulls).includes(key) !== keySets.not_null.has(key);
      if (refused && has(own, key) && own[key] === null) refuse("null", {key, family, usual});
    }
  }
  function checkValues(values) {
    for (const [key, value] of entries(values)) {
      if (value !== null) checkValue(key, value, values);
      if (!about.spellings.includes(key) || !isDict(value)) continue;
      for (const one of [value, ...Object.values(value)]) if (isDict(one)) checkValues(one);
    }
  }
  function checkValue(key, value, beside) {
    const of = name => keySets[name].has(key);
    if (of("whole")) {
      const unused = key === "sliding_window" && [0, false].includes(value) && get(beside, "use_sliding_window") === false;
      if (!unused && !(of("by_stage") && isList(value))) checkSize(key, value);
    }
    const positive = isNumber(value) && value > 0 && value < Infinity;
    if (of("positive") && !positive && !isList(value) && !isDict(value)) refuse("positive", {key, got: value});
    for (const [code, fits] of entries(KINDS)) if (of(code) && !fits(value)) refuse(code, {key, got: value});
    if (of("counts") && !(isWhole(value) && value >= 0 && value <= known.largest_size)) refuse("whole", {key, least: 0, got: value});
    const flags = key === "no_rope_layers" && truthy(value) ? value : [];
    if (!flags.every(one => isWhole(one) || isFlag(one))) refuse("flags_in_list", {key, got: value});
    if (key === "partial_rotary_factor") checkShare(value);
  }
  const KINDS = {list: isList, dictionary: isDict, integer: isWhole, flag: isFlag};  // by the refusal of any other kind
  function checkShare(share) {
    if (!isNumber(share) || !(share >= 0 && share <= 1)) refuse("share", {key: "partial_rotary_factor", got: share});
    return share;
  }
  function checkSize(key, value) {
    if (!isWhole(value) || value < 1) refuse("whole", {key, least: 1, got: value});
    const limit = limits.get(key) ?? known.largest_size;
    if (value > limit) refuse("too_large", {key, limit, got: value});
    return value;
  }
  function checkUnderstood(values, keys, row) {
    const {aliases, unread = []} = keys.about, off = get(values, "use_sliding_window") === false;
    const names = entries(aliases).filter(([, key]) => keys.used.has(key) || keySets.silent.has(key)).map(([name]) => name);
    const understood = new Set([...keys.used, ...words(row.ignored), ...unread, ...names]);
    const strange = filter(values, (key, value) => {
      const empty = value === null || (typeof value === "object" && !truthy(value));
      const idle = (keySets.says_no.has(key) && value === false) || (keySets.idle.has(key) && off);
      const pictures = key === "use_bidirectional_attention" && value === "vision";  // words see as ever
      return !(understood.has(key) || keySets.silent.has(key) || empty || idle || pictures);
    });
    if (truthy(strange)) refuse("strange_keys", {family: keys.family, keys: strange, names: Object.keys(strange)});
  }

  // rope.py

  const FLAT = ["rope_theta", "partial_rotary_factor"], ALWAYS = [...FLAT, "rope_type", "type"];
  const NULLS = ["factor", "original_max_position_embeddings", "truncate"];  // which classes take for a value
  function kindOf(parameters) {
    const kind = named(either(get(parameters, "rope_type"), either(get(parameters, "type"), "default")));
    const known = get(about.synonyms, kind, kind);
    return known === "yarn" && has(parameters, "short_factor") ? "longrope" : known;
  }
  function byTypes(keys) {
    const file = ofFile(keys), {thetas = {}} = keys.about, flat = beside(keys, file), bases = ownBases(keys, flat);
    const isType = (name, one) => (one === null || isDict(one)) && !ALWAYS.includes(name) && !ruleWords.has(name);
    const types = entries(filter(file, isType));
    const base = name => get(bases, name, flat.rope_theta);
    if (types.length) return fromEntries(types.map(([name, one]) => [name, one && {...flat, rope_theta: base(name), ...one}]));
    const defaults = Object.values(get(keys.about.keys, "rope_parameters", {}));
    const onlyByType = defaults.some(one => one === null || isDict(one));
    if (truthy(file) && (onlyByType || (truthy(thetas) && truthy(keys.get("rope_parameters"))))) refuse("by_type", {got: file});
    if (truthy(bases)) {
      const scaled = name => (keys.about.scaled.includes(name) ? file : {});
      return fromEntries(entries(bases).map(([name, one]) => [name, {...flat, rope_theta: one, ...scaled(name)}]));
    }
    if (has(file, "rope_theta") && file.rope_theta === null) return {"": null};
    return {"": {...flat, ...filter(file, (key, value) => value !== null || NULLS.includes(key))}};
  }

  function beside(keys, file) {
    const inner = Object.values(file).filter(isDict), parts = inner.length ? inner : [file];
    const flat = {rope_theta: null, partial_rotary_factor: 1};
    for (const key of FLAT) {
      if (parts.some(one => !has(one, key))) flat[key] = keys.get(key) ?? flat[key];
      else if (has(keys.own, key)) {
        keys.used.add(key);
        const own = keys.own[key], scaled = about.spellings.some(name => truthy(get(keys.own, name)));
        if (scaled && !truthy(keys.about.thetas ?? {}) && !same(get(file, key, own), own)) {
          refuse("one_number_of_two", {key, got: own, beside: file[key]});
        }
      }
    }
    const base = get(keys.own, "rope_theta");
    if (isDict(base)) refuse("one_number", {key: "rope_theta", got: base});
    return flat;
  }
  function ownBases(keys, flat) {
    const thetas = entries(keys.about.thetas ?? {});
    if (!thetas.length) return isDict(flat.rope_theta) ? flat.rope_theta : {};
    for (const [, key] of thetas) if (get(keys.own, key, 1) === null) refuse("positive", {key, got: null});
    const own = thetas.map(([kind, key]) => [kind, keys.get(key)]).filter(([, base]) => isNumber(base) || isFlag(base));
    return {...keys.about.keys.rope_theta, ...fromEntries(own)};
  }
  function ofFile(keys) {
    const both = about.spellings.map(name => [name, keys.get(name)]).filter(([, value]) => truthy(value));
    for (const [name, value] of both) {
      if (!isDict(value)) refuse("dictionary", {key: name, got: value});
      for (const one of [value, ...Object.values(value).filter(isDict)]) checkNames(name, one);
    }
    const [[one, old] = [null, {}], [other, late] = [null, old]] = both;
    if (!same(common(old), common(late))) refuse("agree", {one, other, got: old, beside: late});
    return old;
  }
  function checkNames(place, parameters) {
    const kinds = ["type", "rope_type"].map(key => get(parameters, key)).filter(kind => kind !== null);
    for (const kind of kinds) if (!isText(kind)) refuse("rope_type", {names: Object.keys(about.rules), got: kind});
    const meant = new Set(kinds.filter(Boolean).map(kind => get(about.synonyms, kind, kind)));
    if (meant.size > 1) refuse("agree_in", {one: "type", other: "rope_type", place, got: kinds[0], beside: kinds[1]});
  }
  const common = parameters => fromEntries(entries(parameters)
    .filter(([key, value]) => !FLAT.includes(key) && value !== null)
    .map(([key, value]) => [key === "type" ? "rope_type" : key, value]));
  function byLists(keys, types) {
    const file = ofFile(keys), kinds = [...new Set(types)];
    if (truthy(file) && types.every(kind => isDict(get(file, named(kind))))) {
      return fromEntries(kinds.map(kind => [kind, {partial_rotary_factor: 1, ...file[kind]}]));
    }
    if (truthy(keys.get("rope_parameters"))) refuse("by_type", {got: file});
    const read = keys.first(["rope_theta"], 1e4), shares = keys.get("partial_rotary_factors");
    const bases = isDict(read) ? 1e4 : read;  // what its class has by default
    return fromEntries(kinds.map(kind => {
      const first = types.indexOf(kind);
      for (const [key, one] of [["rope_theta", bases], ["partial_rotary_factors", shares]]) {
        if (isList(one) && one.length <= first) refuse("layer_numbers", {key, depth: types.length, got: one.length});
      }
      const own = {rope_theta: isList(bases) ? bases[first] : bases, partial_rotary_factor: truthy(shares) ? at(shares, first) : 1};
      return [named(kind), {...own, ...(kind === FULL ? file : {})}];
    }));
  }
  function byAttention(keys) {
    const place = "attn_config", inside = either(keys.get(place), {}), base = get(inside, "rope_theta");
    for (const [key, value] of entries(inside)) {
      const strange = key !== "rope_theta" && !keySets.silent.has(key) && ![null, false, 0].includes(value);
      if (strange) refuse("strange_key_of", {key, place, family: keys.family, got: value});
    }
    const ways = byTypes(keys), outside = get(ofFile(keys), "rope_theta", get(keys.own, "rope_theta"));
    if (!same(Object.keys(ways), [""])) refuse("by_type", {got: ofFile(keys)});
    if (base === null || ways[""] === null) return ways;
    if (outside !== null && outside !== base) refuse("one_number_of_two", {key: "rope_theta", got: base, beside: outside});
    return {"": {...ways[""], rope_theta: base}};
  }
  const OWN = {
    by_attention: byAttention,
    by_lists: byLists,
    by_ratio: keys => ({"": {rope_theta: 1e4 * number(keys.first(["rope_ratio"], 1)), partial_rotary_factor: 0.5}}),
  };

  // rules.py

  const mscale = (factor, weight = 1) => 0.1 * weight * Math.log(factor) + 1;
  function ruleOf(parameters, keys, extra) {
    const kind = kindOf(parameters), original = "original_max_position_embeddings";
    checkKeys(kind, parameters, keys, extra);
    const lengths = [get(parameters, original), keys.get(original)], every = lengths.every(truthy);
    if (every && lengths[0] !== lengths[1] && !["default", "dynamic"].includes(kind)) {
      refuse("one_number_of_two", {key: original, got: lengths[0], beside: lengths[1]});
    }
    if (kind === "default") return [null, 1];
    const length = lengths[1] || lengths[0] || keys.get("max_position_embeddings");
    const factor = factorOf(kind, parameters, keys, lengths.some(truthy), length);
    const {alpha} = parameters;
    if (kind === "dynamic" && truthy(alpha ?? null)) return [{kind: "ntk", factor: checkFactor(alpha)}, 1];
    if (kind === "proportional") return [{kind, share: parameters.partial_rotary_factor, factor: checkFactor(factor)}, 1];
    if (kind === "linear") return [{kind, factor: checkFactor(factor)}, 1];
    const empty = get(parameters, original, length) === null && !lengths[1], dynamic = kind === "dynamic";
    if (!length || (empty && !dynamic)) refuse("needs", {kind, key: original});
    if (dynamic) return [{kind: "dynamic_ntk", factor: checkFactor(factor), length: keys.first(["max_position_embeddings"])}, 1];
    return {llama3, longrope, yarn}[kind](parameters, factor, length);
  }

  function checkKeys(kind, parameters, keys, extra) {
    if (!has(about.rules, kind)) refuse("rope_type", {names: Object.keys(about.rules), got: kind});
    const allowed = [...ALWAYS, ...words(about.rules[kind]), ...words(extra)];
    const strange = Object.keys(parameters).sort().filter(key => !allowed.includes(key) && parameters[key] !== null);
    if (strange.length) {
      const place = about.spellings.find(name => truthy(get(keys.own, name))) ?? about.spellings[0];
      const values = fromEntries(strange.map(key => [`${place}.${key}`, parameters[key]]));
      refuse("strange_keys_of_rule", {kind, keys: values, names: Object.keys(values)});
    }
    const share = checkShare(need(parameters, "partial_rotary_factor"));
    if (keys.about.whole && !["default", "proportional"].includes(kind) && share !== 1) refuse("whole_head", {kind, got: share});
  }
  function need(values, key) {
    if (!has(values, key)) throw TypeError("no name");
    return values[key];
  }
  function factorOf(kind, parameters, keys, original, length) {
    const factor = get(parameters, "factor", kind === "proportional" ? 1 : null);
    if (factor !== null) return factor;
    const longest = keys.get("max_position_embeddings"), isNull = kind === "yarn" && has(parameters, "factor") && original;
    if (!(kind === "longrope" || isNull) || !length || !longest) refuse("needs_factor", {kind});
    return longest / length;
  }
  function llama3(parameters, given, length) {
    const [low, high] = ["low_freq_factor", "high_freq_factor"].map(end => needFor("llama3", parameters, end));
    checkBand("low_freq_factor", low, "high_freq_factor", high);
    return [{kind: "llama3", factor: checkFactor(given), length, low, high}, 1];
  }
  function longrope(parameters, given, length) {
    const [short, long] = ["short", "long"].map(end => needFor("longrope", parameters, `${end}_factor`));
    const factor = checkFactor(Math.max(number(given), 1)), scales = ["short_mscale", "long_mscale"];
    const attention_factor = checkScale("attention_factor", get(parameters, "attention_factor"));
    const rule = {kind: "longrope", short, long, length, factor, attention_factor};
    if (scales.some(key => has(parameters, key))) {
      rule.attention_factors = scales.map(key => checkScale(key, needFor("longrope", parameters, key)));
    } else if (attention_factor === null && length === 1 && factor > 1) refuse("original_of_one");
    return [rule, 1];
  }

  function yarn(parameters, given, length) {
    const factor = checkFactor(given);
    let attention_factor = checkScale("attention_factor", get(parameters, "attention_factor"));
    const [each, whole] = ["mscale", "mscale_all_dim"].map(key => checkNumber(key, get(parameters, key)));
    if (attention_factor === null && each && whole) {
      attention_factor = checkScale("mscale", mscale(factor, each) / mscale(factor, whole));
    }
    const beta_fast = either(get(parameters, "beta_fast"), 32), beta_slow = either(get(parameters, "beta_slow"), 1);
    checkBand("beta_slow", beta_slow, "beta_fast", beta_fast);
    const truncate = get(parameters, "truncate", true);
    if (truncate !== null && !isFlag(truncate)) refuse("flag", {key: "truncate", got: truncate});
    const rule = {kind: "yarn", factor, length, beta_fast, beta_slow, truncate: Boolean(truncate), attention_factor};
    return [rule, whole ? mscale(factor, whole) ** 2 : 1];
  }
  function needFor(kind, parameters, key) {
    if (get(parameters, key) === null) refuse("needs", {kind, key});
    return parameters[key];
  }
  function checkNumber(key, value) {
    if (value !== null && !(isNumber(value) && Math.abs(value) <= LARGEST_FLOAT)) refuse("number", {key, got: value});
    return value;
  }
  function checkScale(key, value) {
    if (checkNumber(key, value) !== null && value <= 0) refuse("positive", {key, got: value});
    return value;
  }
  function checkFactor(factor) {
    if (!isNumber(factor) || !(factor >= 1 && factor < Infinity)) refuse("factor", {got: factor});
    const limit = tables.settings.largest_factor;
    if (factor > limit) refuse("too_large", {key: "factor", limit, got: factor});
    return factor;
  }
  function checkBand(slow, low, fast, high) {
    const fits = isNumber(low) && isNumber(high) && low > 0 && low <= high && high <= LARGEST_FLOAT;
    if (!fits) refuse("band", {slow, fast, got: low, beside: high});
  }

  // layer_types.py

  function typesOf(row, keys) {
    const one = keys.get("layer_types"), form = row.types;
    let types = truthy(one) ? one : keys.get("layers_block_type");
    keys.passOver(form ? layerSets.patterns : []);
    if (row.depth_by_list) {
      types = truthy(types) ? types : FORMS[form.form](form, keys, 0);
      checkSize("num_hidden_layers", types.length);
      return types;
    }
    const depth = number(keys.first(row.depth, truthy(types) ? types.length : types)) * (row.two_attentions ? 2 : 1);
    if (form && types === null) types = FORMS[form.form](form, keys, depth);
    if (types === null) types = repeat(row.window && keys.get("sliding_window") !== null ? WINDOW : FULL, depth);
    const more = number(either(keys.get("num_nextn_predict_layers"), 0));  // which some files list behind the others
    if (![depth, depth + more].includes(types.length)) refuse("layers", {key: "layer_types", depth, got: types.length});
    return types.slice(0, depth);
  }
  function turningLayers(keys, depth) {
    const flags = keys.get("no_rope_layers"), period = keys.get("no_rope_layer_interval");
    if (truthy(flags) && flags.length < depth) refuse("layer_numbers", {key: "no_rope_layers", depth, got: flags.length});
    return truthy(flags) ? flags.map(Boolean) : range(depth).map(i => !period || (i + 1) % period !== 0);
  }
  function butEveryFourthFromTheLast(keys, depth) {
    const listed = keys.get("layer_rope_theta") !== null;
    return range(depth).map(i => listed || (depth - 1 - i) % 4 !== 0);
  }
  function contains(numbers, one) {
    if (!isList(numbers) && !isDict(numbers)) throw TypeError("no list");
    return isList(numbers) && numbers.includes(one);
  }
  const windowsAreOn = (keys, otherwise = null) =>
    truthy(keys.get("use_sliding_window", otherwise)) && keys.get("sliding_window") !== null;
  const FORMS = {
    every(form, keys, whole) {
      const {key, first = [], here = FULL, others = WINDOW} = form, depth = whole - first.length;
      const period = key ? keys.first([key], form.period ?? null) : form.period;
      if (!isWhole(period) || period < 1) refuse("whole_without_types", {key, got: period});
      const begin = form.at_key ? keys.need(form.at_key) : form.from === "last" ? depth - 1 : form.at ?? -1;
      // at_key has a number within the period: none beyond it is ever met.
      const fits = i => (form.at_key ? i % period === begin : (i - begin) % period === 0);
      const types = [...first, ...range(depth).map(i => (fits(i) ? here : others))];
      for (const end of form.ends ?? []) types[end < 0 ? types.length + end : end] = FULL;
      return types;
    },
    cycle(form, keys, depth) {
      let kinds = form.key ? keys.need(form.key) : form.kinds;
      if (!truthy(kinds)) refuse("no_layer", {key: form.key});
      if (form.names) kinds = kinds.map(kind => get(form.names, named(kind), form.others));
      const first = (form.first ?? []).slice(0, depth);
      return [...first, ...range(depth - first.length).map(i => kinds[(first.length + i) % kinds.length])];
    },
    runs: ({kinds, runs}) => runs.flatMap((length, i) => repeat(kinds[i % kinds.length], length)),
    letters({key, letters, default: usual = null}, keys) {
      const pattern = keys.get(key);
      if (pattern === null) return usual;
      const fits = (isText(pattern) || isList(pattern)) && items(pattern).every(letter => (isText(letter) || isNumber(letter)) && has(letters, named(letter)));
      if (!fits) refuse("letters", {key, letters: Object.keys(letters).join(" "), got: pattern});
      return items(pattern).map(letter => letters[letter]);
    },
    listed({key, here = FULL, others, default: usual}, keys, depth) {
      const numbers = keys.get(key) ?? usual ?? range(depth);
      return range(depth).map(i => (contains(numbers, i) ? here : others));
    },
    groups({key}, keys, depth) {
      const lists = either(keys.get(key), {}), both = has(lists, "full_attn_layers") && has(lists, "kda_layers");
      const full = both ? items(lists.full_attn_layers).map(one => number(one) - 1) : null;
      return range(depth).map(i => ((full ? full.includes(i) : i && i % 4 === 0) ? FULL : "linear_attention"));
    },
    windows({key, until = false}, keys, depth) {
      const on = windowsAreOn(keys, !until), end = on ? keys.first([key]) : 0, within = i => (until ? i < end && i % 2 === 0 : i >= end);
      return range(depth).map(i => (on && within(i) ? WINDOW : FULL));
    },
    where_it_turns({turning, others, windows}, keys, depth) {
      const off = windows && !windowsAreOn(keys);
      return turningLayers(keys, depth).map(turns => (turns || off ? turning : others));
    },
    sparse(_, keys, depth) {
      const numbers = get(either(keys.get("sparse_attention_config"), {}), "sparse_attention_freq");
      if (numbers !== null && !isList(numbers)) refuse("list", {key: "sparse_attention_freq", got: numbers});
      return (numbers ?? repeat(0, depth)).map(one => (truthy(one) ? "minimax_m3_sparse" : FULL));
    },
    blocks(_, keys) {
      return keys.need("block_configs").map(block => {
        if (!isDict(block) || !isDict(get(block, "attention"))) refuse("block", {got: block});
        const attention = filter(block.attention, (_, value) => ![null, false, 0].includes(value));
        const strange = Object.keys(attention).filter(key => !["n_heads_in_group", "no_op", "replace_with_linear"].includes(key)).sort();
        if (strange.length) refuse("strange_keys_within", {key: "block_configs", names: strange});
        return has(attention, "no_op") || has(attention, "replace_with_linear") ? "mlp" : FULL;
      });
    },
  };

  function inTurn(keys, depth) {
    const kinds = [];
    for (const run of either(keys.get("attention_types"), [[["global", "local"], 12]])) {
      if (items(run).length !== 2) throw TypeError("no list");
      const [names, times] = items(run), length = checkSize("attention_types", times);
      if (!isList(names) && !isText(names)) throw TypeError("no list");
      const got = kinds.length + names.length * length;
      if (got > depth) refuse("layers", {key: "attention_types", depth, got});
      for (const name of repeat([...names], length)) kinds.push(...name);
    }
    if (kinds.length !== depth) refuse("layers", {key: "attention_types", depth, got: kinds.length});
    return kinds.map(kind => (kind === "local" ? keys.need("window_size") : null));
  }

  // layers.py

  const PLAIN = {
    type: null, attends: true, crosses: false, encoding: null, features: null, window: null, chunk: null, tile: null,
    shift: 0, merged: 1, cosine: false, temperature: null, counts: false, scale: 1, sinks: false, indexer: null,
    keys: null, compressed: null, cache: null,
  };
  const layer = fields => ({...PLAIN, ...fields});
  /** What `make` makes of a key, made once. */
  function once(make) {
    const made = new Map();
    return (key, ...rest) => made.get(key) ?? made.set(key, make(key, ...rest)).get(key);
  }
  const stack = (layers, fields) => ({causal: true, input: null, first: 0, layers, ...fields});
  function grouped(layers) {
    const kinds = [], numbers = new Map(), texts = new Map();
    for (const one of new Set(layers)) {
      const text = JSON.stringify(one);
      if (!texts.has(text)) texts.set(text, kinds.push(one) - 1);
      numbers.set(one, texts.get(text));
    }
    return {kinds, layers: layers.map(one => numbers.get(one))};
  }

  // turn.py

  const NOTHING = [null, 1, null];  // the encoding, what scores are multiplied by, the features that it gets
  function turnOf(row, keys, parameters, place, kind) {
    const bases = keys.get("layer_rope_theta"), scaled = keys.get("rope_scaling_layers");
    if (bases !== null) {
      if (items(bases).length <= place) refuse("layer_bases", {got: items(bases).length});
      if (!truthy(at(bases, place))) return NOTHING;
      parameters = {...parameters, rope_theta: at(bases, place)};
    }
    if (scaled !== null && !contains(scaled, place)) parameters = fromEntries(FLAT.map(key => [key, need(parameters, key)]));
    if (row.sections.length && !truthy(get(parameters, "mrope_section"))) parameters = {...parameters, mrope_section: row.sections};
    if (row.rope_is_last) parameters = {...parameters, partial_rotary_factor: 1};
    const [rule, scale] = ruleOf(parameters, keys, row.mrope_layout ? `${row.extra} mrope_section` : row.extra);
    if (row.rope_is_last) {
      const layout = keys.get("rope_interleave") === false ? "half" : row.layout;
      const start = keys.first(["qk_nope_head_dim"]), dim = keys.first(["qk_rope_head_dim"]);
      return [rope(parameters, dim, layout, rule, row.negate), scale, [start, number(start) + dim]];
    }
    const dim = dimOf(row, keys, place, kind), share = shareOf(keys, dim);
    const encoding = rope({...parameters, ...share}, dim, layoutOf(row, keys), rule, row.negate, Boolean(keys.about.whole));
    if (encoding && row.mrope_layout && truthy(get(parameters, "mrope_section"))) {
      const deal = dealt(row.mrope_layout, parameters.mrope_section, Math.floor(encoding.rotary / 2));
      Object.assign(encoding, {kind: "MRoPE", axes: 1 + Math.max(...deal), deal});
    }
    if (encoding && row.norm_after) encoding.norm = checkNumber(row.norm_after, keys.first([row.norm_after], 1e-5));
    return [encoding, 1, null];
  }
  const layoutOf = ({layout}, keys) => isText(layout) ? layout : layout[truthy(keys.get(layout.key, true)) ? "true" : "false"];
  function dimOf(row, keys, place, kind) {
    let dim = keys.first(row.dim, 0) || row.wide * keys.divided(row.hidden, row.heads);
    const own = new Map();
    for (const [key, one] of entries(either(keys.get("per_layer_config"), {}))) {
      if (!isDict(one) || !/^\s*\d+\s*$/.test(key)) refuse("dictionaries", {key: "per_layer_config", name: key, got: one});
      own.set(Number(key), one);  // "05", too
    }
    if (row.full_dim && !has(keys.own, "per_layer_config") && kind === FULL) dim = keys.first([row.full_dim.key], row.full_dim.default);
    return checkSize("head_dim", get(own.get(place) ?? {}, "head_dim", dim));
  }

  function shareOf(keys, dim) {
    const rotary = keys.get("rotary_dim"), key = "partial_rotary_factor";
    if (rotary === null) return {};
    const file = ofFile(keys), share = get(keys.own, key, get(file, key));
    if (share !== null && Math.trunc(dim * number(share)) !== rotary) {
      refuse("agree_on", {one: "rotary_dim", other: key, features: dim, got: rotary, beside: share});
    }
    return {[key]: rotary / dim};
  }

  function rope(parameters, dim, layout, rule, negate, whole = false) {
    const kind = kindOf(parameters), share = whole && kind === "default" ? 1 : need(parameters, "partial_rotary_factor");
    const rotary = kind === "proportional" ? dim : Math.trunc(dim * number(share));
    if (!rotary) return null;
    if (!isWhole(rotary) || rotary % 2 || rotary > dim) refuse("even", {dim, got: share});
    const base = need(parameters, "rope_theta");
    if (base === null) refuse("no_base");
    if (isList(base) || isDict(base)) refuse("one_number", {key: "rope_theta", got: base});
    if (!isNumber(base) || !(base > 1 && base <= LARGEST_FLOAT)) refuse("base", {got: base});
    checkPairs(rule, rotary / 2, base);
    return {kind: "RoPE", dim, rotary, base, layout, axes: 1, rule, backward: negate, norm: null};
  }
  function checkPairs(rule, pairs, base) {
    const {kind, length, beta_fast: beta} = rule ?? {}, first = pairs * Math.log(length / beta / (2 * Math.PI)) / Math.log(base);
    if (["yarn", "dynamic_ntk", "ntk"].includes(rule?.kind) && pairs < 2) refuse("one_pair", {kind: rule.kind.replace("_ntk", "")});
    if (kind === "yarn" && first > 2 * pairs - 1) refuse("ramp", {beta, got: base});
    for (const key of kind === "longrope" ? ["short", "long"] : []) {
      const numbers = rule[key], fits = one => isNumber(one) && one > 0 && one < Infinity;
      const whole = items(numbers).length === pairs && items(numbers).every(fits);
      if (!whole) refuse("divisors", {key: `${key}_factor`, pairs, got: numbers});
    }
  }
  function dealt(layout, sizes, pairs) {
    if (!isList(sizes) || !sizes.every(size => isWhole(size) && size >= 1)) refuse("sections", {got: sizes});
    if (layout === "rows and columns" && (sizes.length !== 3 || sizes[0] !== sizes[1])) refuse("rows_and_columns", {got: sizes});
    if (sizes.reduce((sum, size) => sum + size, 0) !== pairs) refuse("section_pairs", {pairs, got: sizes});
    // by turns, then time: sizes count the pairs of rows, columns and times
    if (layout === "rows and columns") return [...range(2 * sizes[0]).map(i => 1 + (i % 2)), ...repeat(0, sizes[2])];
    if (layout === "blocks") return sizes.flatMap((size, axis) => repeat(axis, size));
    const deal = repeat(0, pairs), axes = sizes.length;
    for (let axis = 1; axis < axes; axis++) {  // like cards; who has enough is passed over for 0
      if (axis + axes * (sizes[axis] - 1) >= pairs) refuse("section_turns", {got: sizes});
      for (const i of range(sizes[axis])) deal[axis + axes * i] = axis;
    }
    return deal;
  }
  function atSize(turn, dim, layout = "half") {
    if (turn.rotary > dim) refuse("indexer_size", {key: "index_head_dim", rotary: turn.rotary, got: dim});
    return {...turn, kind: "RoPE", dim, layout};
  }

  // turning.py

  function readRope(row, keys) {
    const types = typesOf(row, keys), windowed = keys.get("use_sliding_window") !== false;
    const window = windowed ? widthOf(row, keys) : null;
    keys.passOver(windowed ? [] : ["sliding_window"]);
    const rules = row.parameters ? OWN[row.parameters](keys, types) : byTypes(keys), turns = TURNS[row.turns](keys, types.length);
    const still = row.nope_beside_windows && window === null ? new Set() : setOf(row.nope_layer_types);
    const unlike = ["layer_rope_theta", "rope_scaling_layers", "per_layer_config"].some(key => truthy(keys.get(key)));
    const made = once((_, ...one) => oneLayer(row, keys, rules, window, ...one));
    let layers = types.map((kind, place) => {
      const turning = turns[place] && !still.has(named(kind)) && !row.silent;
      return made(JSON.stringify([kind, turning, unlike && place]), place, kind, turning);
    });
    if (row.indexer) layers = row.blocks ? withBlocks(keys, layers, types) : withIndexers(row, keys, layers);
    const ahead = keys.get("is_causal") === false || keys.get("use_bidirectional_attention") === true;
    return stack(layers, {causal: (row.causal && !ahead) || truthy(keys.get("is_decoder")), rules: row.silent ? {} : rules});
  }

  function oneLayer(row, keys, rules, window, place, type, turning) {
    if (layerSets.else.has(type)) return layer({type, attends: false});
    if (type === "cross_attention") return layer({type, crosses: true});
    const sparse = row.indexer && layerSets.sparse.has(type);
    if (!layerSets.attention.has(type) && !sparse) refuse("layer_type", {got: type, family: keys.family});
    const parameters = parametersFor(row, rules, type), {gate} = row;
    const opened = gate === null || same(keys.get(gate.key), gate.value) || keys.get(gate.key) === Number(gate.value);
    const turns = parameters !== null && turning && opened;
    const [encoding, scale, features] = turns ? turnOf(row, keys, parameters, place, type) : NOTHING;
    const temperature = row.temperature ? TEMPERATURES[row.temperature](keys, parameters ?? {}, encoding !== null) : null;
    return layer({
      type, encoding, features, scale, temperature, counts: row.counts && temperature !== null,
      window: words(row.windowed_types).includes(type) ? window : null,
      chunk: type === "chunked_attention" ? keys.get("attention_chunk_size") : null,
      sinks: words(row.sinks).includes(type),
    });
  }
  function parametersFor(row, rules, kind) {
    const parameters = has(rules, kind) ? rules[kind] : get(rules, "", {});
    if (parameters === null && !has(rules, kind) && !row.baseless) refuse("no_base");
    if (parameters !== null && !truthy(parameters)) refuse("no_parameters_for", {kind, names: Object.keys(rules)});
    return parameters;
  }
  const TURNS = {null: turningLayers, but_every_fourth_from_the_last: butEveryFourthFromTheLast};
  const half = size => Math.floor(size / 2);

  function widthOf(row, keys) {
    const widths = row.width.map(({key, own, where, half: halved, more = 0}) => {
      const width = own ? get(keys.own, key) : keys.get(key);
      if (own) keys.passOver([key]);
      return width === null || (where && !truthy(keys.get(where))) ? null : (halved ? half(width) : width) + more;
    });
    return widths.find(width => width !== null) ?? null;
  }

  // What queries are multiplied by.
  const TEMPERATURES = {
    steps_where_nothing_turns(keys, _, turns) {
      const length = keys.get("floor_scale"), scale = keys.get("attn_scale");
      return turns || !truthy(keys.get("attn_temperature_tuning")) ? null : {kind: "steps", length, scale, counted: true};
    },
    steps_by_beta(keys, parameters) {
      const scale = checkNumber("llama_4_scaling_beta", get(parameters, "llama_4_scaling_beta"));
      return truthy(scale) ? {kind: "steps", length: needFor("yarn", parameters, "original_max_position_embeddings"), scale} : null;
    },
    power_where_nothing_turns: (_, __, turns) => (turns ? null : {kind: "power", length: 2048, exponent: 0.1}),
  };

  function withIndexers({indexer: layout}, keys, layers) {
    const own = indexers(keys, layers.length), neighbors = keys.get("indexer_rope_interleave"), is = truthy(neighbors);
    if (neighbors !== null && (is ? "interleaved" : "half") !== layout) {
      refuse("code_fails", {key: "indexer_rope_interleave", wants: String(!is), got: neighbors});
    }
    const dim = checkSize("index_head_dim", keys.need("index_head_dim")), chosen = keys.need("index_topk");
    return layers.map((one, i) => ({...one, indexer: own[i] ? atSize(one.encoding, dim, layout) : null, keys: chosen}));
  }

  function indexers(keys, depth) {
    const period = Math.max(number(keys.first(["index_topk_freq"], 1)), 1), first = number(keys.first(["index_skip_topk_offset"], 2));
    const lists = ["indexer_types", "index_topk_pattern"].map(key => [key, keys.get(key)]).filter(([, kinds]) => truthy(kinds));
    for (const [key, kinds] of lists) {
      if (items(kinds).length < depth) refuse("layers", {key, depth, got: items(kinds).length});
      return items(kinds).slice(0, depth).map(kind => ["full", "F"].includes(kind));
    }
    return range(depth).map(i => Math.max(i - first + 1, 0) % period === 0);
  }

  function withBlocks(keys, layers, types) {
    const blocks = either(keys.get("sparse_attention_config"), {});
    const names = about.layers.blocks;  // by their first names the keys that the class has
    if (truthy(get(blocks, "sparse_init_block")) || get(blocks, "use_sparse_attention") === false) refuse("sparse");
    const strange = Object.keys(blocks).filter(key => !has(names, key) && !layerSets.beside_blocks.has(key)).sort();
    if (strange.length) refuse("strange_keys_within", {key: "sparse_attention_config", names: strange});
    keys.passOver(Object.values(names));
    const [dim, size, count] = entries(names).map(([old, late]) => checkSize(old, has(blocks, old) ? blocks[old] : keys.need(late)));
    return layers.map((one, i) => {
      if (types[i] !== "minimax_m3_sparse") return one;
      return {...one, indexer: one.encoding && atSize(one.encoding, dim), keys: size * count};
    });
  }

  // inputs.py

  function readInput(row, keys) {
    const kind = keys.get("position_embedding_type");
    if (kind !== null && kind !== "absolute") refuse("absolute", {family: keys.family, got: kind});
    const depth = checkSize(row.depth[0], keys.first(row.depth));
    let first = row.before;
    if (row.padded) {  // tokens count from the padding's number on, as in RoBERTa
      const padding = keys.first(["pad_token_id"]);
      if (!isWhole(padding) || padding < 0) refuse("padding", {family: keys.family, got: padding});
      first = padding + 1;
    }
    const bias = row.bias ? fixedBuckets(keys) : null, windows = row.windows ? inTurn(keys, depth) : repeat(null, depth);
    const input = added(row, keys), got = input.length;
    if (input.kind === "Learned" && got <= first) refuse("no_rows", {key: row.length[0], first, got});
    return stack(windows.map(once(window => layer({encoding: bias, window: named(window)}))), {
      input,
      first,
      causal: [row.causal, keys.get("is_decoder"), keys.get("causal")].some(truthy),
      encoder: row.encoder && readInput(complete(row.encoder), keys),
    });
  }

  function added(row, keys) {
    const [key] = row.dim, dim = checkSize(key, keys.first(row.dim)), byFlag = row.flag && truthy(keys.get(row.flag));
    const sinusoids = byFlag ? {layout: "interleaved", endpoint: false} : row.sinusoids;
    if (sinusoids === null) {
      const length = checkSize(row.length[0], keys.first(row.length));
      if (length > LARGEST_TABLE) refuse("too_large", {key: row.length[0], limit: LARGEST_TABLE, got: length});
      return {kind: "Learned", length: length + row.before, dim};
    }
    if (dim % 2) refuse("even_dim", {key, got: dim});
    if (sinusoids.endpoint && dim === 2) refuse("least_dim", {key, got: dim});
    return {kind: "Sinusoidal", dim, base: 1e4, ...sinusoids};
  }
  function fixedBuckets(keys) {
    const buckets = keys.first(["relative_attention_num_buckets"], 32);
    if (buckets !== 32) refuse("fixed_buckets", {got: buckets});
    return t5Bias(keys.first(["num_attention_heads"]), 32, 128, true, true);
  }
  function t5Bias(heads, buckets, max_distance, bidirectional, shared) {
    if (buckets % 4) refuse("buckets", {got: buckets});
    if (max_distance <= half(buckets)) refuse("max_distance", {half: half(buckets), got: max_distance});
    return {kind: "T5Bias", heads: checkSize("num_heads", heads), buckets, max_distance, bidirectional, shared};
  }

  // biases.py

  function readBuckets(row, keys) {
    const depth = checkSize("num_layers", keys.first(["num_layers"])), encoder = buckets(row, keys, depth, false);
    return {...buckets(row, keys, keys.get("num_decoder_layers") || depth, true), encoder};
  }
  function buckets(row, keys, depth, causal) {
    const count = keys.first(["relative_attention_num_buckets"], 32), most = keys.first(["relative_attention_max_distance"], 128);
    const encoding = t5Bias(keys.first(["num_heads"]), count, most, !causal, row.shared);
    const scale = Math.sqrt(keys.first(["d_kv"]));  // scores are not divided by √d
    return stack(repeat(layer({encoding, scale}), depth), {causal});
  }
  function readSlopes(row, keys) {
    const place = row.within, inner = place ? either(keys.get(place), {}) : {};
    if (get(inner, "alibi") === false || truthy(get(inner, "rope"))) refuse("slopes", {key: place, family: keys.family, got: inner});
    for (const [key, value] of entries(inner)) {
      const strange = !keySets.slopes.has(key) && !keySets.silent.has(key) && ![null, false, 0].includes(value);
      if (strange) refuse("strange_key_of", {key, place, family: keys.family, got: value});
    }
    const octaves = either(get(inner, "alibi_bias_max"), 8), key = "alibi_bias_max";
    if (!isNumber(octaves) || octaves <= 0) refuse("positive", {key, got: octaves});
    if (octaves > 126) refuse("octaves", {key, got: octaves});
    const heads = checkSize(row.heads[0], keys.first(row.heads));
    const encoding = {kind: "ALiBi", heads, octaves, divided: row.divided ? keys.divided(["hidden_size"], row.heads) : null};
    return stack(repeat(layer({encoding}), checkSize(row.depth[0], keys.first(row.depth))));
  }

  function readDeberta(row, keys) {
    const said = either(keys.get("pos_att_type"), []), relative = truthy(keys.get("relative_attention"));
    const terms = isText(said) ? said.split("|") : said;
    if (relative && !same(items(terms).map(term => term.trim()).sort(), ["c2p", "p2c"])) {
      refuse("two_terms", {family: keys.family, got: terms});
    }
    if (row.logarithms && truthy(keys.get("conv_kernel_size"))) refuse("mixes", {key: "conv_kernel_size", family: keys.family});
    const heads = keys.first(["num_attention_heads"]), hidden = keys.first(["hidden_size"]);
    const length = checkSize("cells", keys.first(["max_position_embeddings"]));
    let largest = either(keys.get("max_relative_positions"), -1);
    const clip = either(keys.get("position_buckets"), -1), logarithms = row.logarithms && clip > 0;
    largest = largest < 1 ? length : checkSize("max_relative_positions", largest);
    if (logarithms && (clip % 2 || largest <= clip)) refuse("clip", {largest, got: clip});
    const features = checkSize("hidden_size", Math.floor(hidden / number(heads)));
    const sizes = logarithms ? {clip, largest} : {clip: largest, largest: null};
    const one = relative ? layer({encoding: {kind: "DeBERTa", heads, features, ...sizes}, scale: 1 / Math.sqrt(3)}) : layer();
    const dim = checkSize("embedding_size", keys.first(["embedding_size", "hidden_size"]));
    const layers = repeat(one, keys.first(["num_hidden_layers"])), begins = truthy(keys.get("position_biased_input", true));
    return stack(layers, {input: begins ? {kind: "Learned", length, dim} : null, causal: false});
  }

  // pictures.py

  function readPicture(row, keys) {
    const picture = pair(keys, "image_size"), patch = pair(keys, "patch_size"), grid = cellsOf(picture, patch);
    const table = isText(row.table) ? truthy(keys.get(row.table)) : row.table, trained = keys.get("pretrain_image_size");
    if (table && trained !== null && !same(pair(keys, "pretrain_image_size"), picture)) {
      refuse("pretrain_picture", {picture: `(${picture.join(", ")})`, got: trained});
    }
    const form = isText(row.layers) ? {form: row.layers} : row.layers;
    const layers = PICTURES[form.form](form, keys, grid, keys.first(["num_hidden_layers"]));
    const rows = row.rows_unused + row.before + grid[0] * grid[1];
    const dim = table ? checkSize("hidden_size", keys.first(["hidden_size"])) : null;
    const input = table ? {kind: "Learned", length: checkSize("cells", rows), dim} : null;
    const more = row.more ? number(keys.first([row.more], 0)) : 0, places = row.places && {...row.places, before: row.places.before + more};
    return stack(layers, {input, first: row.rows_unused, causal: false, pictures: true, places});
  }
  function pair(keys, key) {
    const value = keys.first([key]), sides = isList(value) ? value : [value, value];
    if (sides.length !== 2) refuse("whole_numbers", {key, least: 1, got: sides});
    return sides.map(side => checkSize(key, side));
  }
  const cellsOf = (picture, patch) => picture.map((side, i) => checkSize("image_size", Math.floor(side / patch[i])));
  function featuresOf(keys) {
    const dim = keys.first(["head_dim"], 0);
    if (dim) return dim;
    const heads = checkSize("num_attention_heads", keys.first(["num_attention_heads"]));
    return checkSize("head_dim", Math.floor(keys.first(["hidden_size"]) / heads));
  }
  function turned(dim, base, fields) {
    if (!isNumber(base) || !(base > 1 && base < Infinity)) refuse("base", {got: base});
    if (dim % 4 || dim < 4) refuse("features_of_axes", {by: 4, got: dim});
    return {kind: "RoPE", dim, rotary: dim, base, layout: "half", axes: 2, rule: null, backward: false, norm: null, ...fields};
  }
  const PICTURES = {
    without_positions: (form, keys, grid, depth) => repeat(layer(), depth),
    steps_and_cls(form, keys, [height, width], depth) {
      const names = ["use_relative_position_bias", "use_shared_relative_position_bias"];
      const heads = checkSize("num_attention_heads", keys.first(["num_attention_heads"]));
      const [each, shared] = names.map(name => truthy(keys.get(name)));
      if (each && shared) refuse("not_both", {one: names[0], other: names[1]});
      return repeat(layer({encoding: each || shared ? {kind: "BEiT", heads, height, width, shared} : null}), depth);
    },
    decomposed({but, in: within, flag}, keys, grid, depth) {
      const [side, places] = [["window_size", 0], [but ?? within, []]].map(([key, none]) => keys.first([key], within ? none : null));
      const features = truthy(keys.get(flag)) ? checkSize("head_dim", featuresOf(keys)) : 0;
      const vectors = (height, width) => (features ? {kind: "Decomposed", features, height, width} : null);
      const windowed = layer({encoding: vectors(side, side), tile: side}), whole = layer({encoding: vectors(...grid)});
      return range(depth).map(i => (side && contains(places, i) === Boolean(within) ? windowed : whole));
    },
    by_coordinates: (form, keys, grid, depth) =>
      repeat(layer({encoding: turned(featuresOf(keys), keys.first(["rope_theta"], 100))}), depth),
    by_interlaced_axes(form, keys, grid, depth) {
      const parameters = either(keys.get("rope_parameters"), {});
      if (!isDict(parameters)) throw TypeError("no list");
      const kind = get(parameters, "rope_type", "axial");
      if (!["axial", "default"].includes(kind)) refuse("axial", {got: kind});
      const strange = Object.keys(parameters).find(key => !["rope_type", "rope_theta"].includes(key));
      if (strange !== undefined) refuse("axial_key", {key: strange, got: parameters[strange]});
      const own = get(parameters, "rope_theta"), base = truthy(own) ? own : keys.first(["rope_theta"], 1e4);
      const dim = featuresOf(keys), deal = [...repeat(0, Math.floor(dim / 4)), ...repeat(1, Math.floor(dim / 4))];
      return repeat(layer({encoding: turned(dim, base, {kind: "MRoPE", deal, rule: {kind: "interlaced"}})}), depth);
    },
  };

  // swin.py

  function readSwin(row, keys) {
    const grid = cellsOf(pair(keys, row.side), pair(keys, row.stride)), table = truthy(keys.get("use_absolute_embeddings"));
    if (table && !row.table) refuse("row_too_many", {family: keys.family});
    const heads = eachStage(keys, row.heads), layers = [];
    keys.need("depths").forEach((depth, stage) => {
      const merged = row.merges ? 2 ** stage : 1, [side, shift] = windowOf(row.window, keys, grid, merged);
      const sizes = {heads: checkSize(row.heads, heads[stage]), height: checkSize("window_size", side), width: side};
      const encoding = {kind: row.bias, ...sizes, ...(row.bias === "SwinV2" ? {trained: trainedWindow(row.trained, keys, stage)} : {})};
      const both = [0, shift].map(by => layer({encoding, tile: side, shift: by, merged, cosine: row.cosine}));
      layers.push(...range(checkSize("depths", depth)).map(i => both[i % 2]));
    });
    const input = table ? {kind: "Learned", length: grid[0] * grid[1], dim: keys.first(["embed_dim"])} : null;
    return stack(layers, {input, causal: false, pictures: true, places: row.places});
  }
  function eachStage(keys, key) {
    const numbers = keys.first([key]), stages = items(keys.first(["depths"])).length;
    if (!isList(numbers) || numbers.length !== stages) refuse("stages", {key, stages, got: numbers});
    return numbers;
  }
  function trainedWindow(key, keys, stage) {
    const trained = key && truthy(keys.get(key)) ? either(eachStage(keys, key)[stage], null) : null;
    if (trained !== null && checkSize(key, trained) < 2) refuse("trained_window", {got: trained});
    return trained;
  }
  function windowOf(form, keys, grid, merged) {
    const side = keys.first(["window_size"]), shift = half(number(side));
    if (form === "fixed") return [side, shift];
    const least = form === "shrinking" ? Math.floor(grid[0] / merged) : Math.ceil(Math.min(...grid) / merged);
    if (form === "fitting" && least < side) refuse("window_of_stage", {least, got: side});
    return [Math.min(side, least), least > side ? shift : 0];
  }

  // deepseek_v4.py

  const [SPARSE, HEAVY] = ["compressed_sparse_attention", "heavily_compressed_attention"];
  function readDeepseekV4(row, keys) {
    const depth = keys.first(["num_hidden_layers"]), dim = keys.first(["head_dim"], 512);
    const rates = {...about.layers.rates, ...keys.get("compress_rates")};
    const whole = Object.values(rates).every(rate => isWhole(rate) && rate >= 1);
    if (!whole) refuse("whole_numbers", {key: "compress_rates", least: 1, got: rates});
    const rules = parametersOf(keys, dim), types = compressedTypes(keys, depth);
    const layers = types.map(once(kind => compressedLayer(keys, rules, rates, dim, named(kind))));
    keys.passOver(["index_head_dim", "index_topk", "compress_rope_theta"]);
    return stack(layers, {rules});
  }

  function compressedLayer(keys, rules, rates, dim, type) {
    if (![WINDOW, SPARSE, HEAVY].includes(type)) refuse("layer_type", {got: type, family: keys.family});
    const parameters = rules[type === WINDOW ? "main" : "compress"], key = "partial_rotary_factor";
    const rotary = checkSize(key, Math.trunc(dim * number(need(parameters, key)))), [rule] = ruleOf(parameters, keys, "");
    const turn = rope({...parameters, [key]: 1}, rotary, "interleaved", rule, false), sparse = type === SPARSE;
    return layer({
      type, encoding: {...turn, kind: "RoPEValues"}, features: [dim - rotary, dim], window: keys.need("sliding_window"),
      sinks: true, compressed: get(rates, type),
      indexer: sparse ? turn : null, keys: sparse ? keys.need("index_topk") : null,
    });
  }

  function compressedTypes(keys, depth) {
    const byRate = entries(about.layers.rates).map(([kind, rate]) => [rate, kind]), byRatio = new Map([[0, WINDOW], ...byRate]);
    const ratios = keys.get("compress_ratios");
    let types = keys.get("layer_types");
    if (types === null && ratios !== null) {
      const names = [...byRatio.keys()].map(String);
      if (!ratios.every(ratio => byRatio.has(named(ratio)))) refuse("numbers_of", {key: "compress_ratios", names, got: ratios});
      types = ratios.map(ratio => byRatio.get(ratio));
    }
    types ??= [HEAVY, HEAVY, ...range(depth - 2).map(i => (i % 2 ? SPARSE : HEAVY))];
    if (types.length < depth) refuse("layers", {key: "layer_types", depth, got: types.length});
    return types.slice(0, depth);
  }

  function parametersOf(keys, dim) {
    keys.passOver(["rope_theta"]);
    const file = ofFile(keys), own = keys.get("partial_rotary_factor"), rotary = keys.get("qk_rope_head_dim");
    if (isDict(get(file, "main")) && isDict(get(file, "compress"))) {
      return fromEntries(["main", "compress"].map(kind => [kind, {partial_rotary_factor: 1, ...file[kind]}]));
    }
    const share = own || (rotary === null ? 64 / 512 : rotary / dim);
    const main = {rope_theta: either(get(keys.own, "rope_theta"), 1e4), partial_rotary_factor: share};
    const plain = kindOf(file) === "yarn" ? {attention_factor: 1} : {};  // it does not sharpen
    return {main, compress: {...plain, ...file, ...main, rope_theta: keys.first(["compress_rope_theta"], 160_000)}};
  }

  // cache.py

  function cacheOf(row, keys, one, place, depth) {
    const every = {...keys.own, ...keys.defaults}, {family} = keys, of = key => get(every, key);
    const first = names => names.map(of).find(truthy) ?? null;
    const sharing = either(of("num_kv_shared_layers"), 0);
    if (row.cache === "unknown" || !isWhole(sharing)) refuse("memory_other", {family});
    if (depth - sharing > 0 && place >= depth - sharing) return 0;
    if (of("kv_lora_rank") && of("qk_rope_head_dim") && !one.window) return of("kv_lora_rank") + of("qk_rope_head_dim");
    const several = first(about.sizes.heads), hidden = first(about.sizes.hidden), turn = one.encoding ?? {};
    const heads = either(headsOf(row.cache, every, one, place, several), several);
    let dim = (one.features || !has(turn, "rotary") ? null : turn.dim) || first(about.sizes.own);
    if (!truthy(dim) && isWhole(hidden) && isWhole(several)) dim = Math.floor(hidden / several) * row.wide;
    if (!isWhole(heads) || !isWhole(dim) || Math.min(heads, dim) < 1) refuse("memory_sizes", {family, heads, dim});
    const values = of("v_head_dim");
    return heads * (dim + (isWhole(values) && values ? values : dim));
  }

  function headsOf(form, every, one, place, several) {
    const of = key => get(every, key), full = !(one.window || one.chunk), single = () => truthy(get(every, "multi_query", true));
    const named = either(of("num_key_value_heads"), of("num_kv_heads"));
    const heads = truthy(of("multi_query_attention")) ? of("multi_query_group_num") : named;
    if (form === "one_or_new") return truthy(of("new_decoder_architecture")) ? heads : single() ? 1 : null;
    if (form === "one") return single() ? 1 : heads;
    if (form === "fewer_where_full") return (full && of("num_global_key_value_heads")) || heads;
    if (form === "more_in_windows") return full ? heads : either(of("swa_num_key_value_heads"), heads && 2 * number(heads));
    if (form === "by_block") {
      const group = number(get(every.block_configs[place].attention, "n_heads_in_group", 1));
      if (!group) throw TypeError("no number");
      return several && Math.floor(number(several) / group);
    }
    return heads;
  }

  // read.py

  function read(config, ignore = []) {
    try {
      checkDepth(config, "config");
      return readingOf(textOf(config, ignore), get(config, "model_type"));
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw new Refused("odd", {why: `${error.name}, ${error.message}`});
    }
  }

  function readingOf(text, outer) {
    const {family} = text, row = rows[family], own = byClassNames(family, text.values), defaults = missing(family, own, text.defaults);
    checkNulls(family, own);
    checkValues({...defaults, ...own});
    const keys = new Keys(family, row, own, defaults);
    for (const [key, why] of entries(row.must_be_false)) if (truthy(keys.get(key))) refuse("must_be_false", {key, family, why});
    const {encoder = null, pictures = false, rules = {}, places = null, ...part} = READERS[row.read](row, keys);
    const [until, until_key] = endOf(row.until ?? null, keys);
    checkUnderstood(text.values, keys, row);
    const cache_refusal = withCaches(row, keys, part, pictures);
    const asked = Object.keys(defaults).filter(key => keys.used.has(key) && defaults[key] !== false).sort();  // false is no news
    return {
      family, outer, at: placeOf(text, keys, rules), ...withKinds(part), encoder: encoder && withKinds(encoder), pictures, places,
      lengths: lengthsOf(keys, part, until, until_key), cache_refusal, source: row.source,
      defaults: fromEntries(asked.map(key => [key, defaults[key]])), ignored: text.ignored,
    };
  }
  const withKinds = ({causal, input, first, layers}) => ({causal, input, first, ...grouped(layers)});
  function withCaches(row, keys, part, pictures) {
    if (pictures) return {code: "memory_pictures", fields: {family: keys.family}};
    const depth = part.layers.length;
    const unlike = row.cache === "by_block" || truthy(get({...keys.own, ...keys.defaults}, "num_kv_shared_layers"));
    const cached = (one, place) => {
      try {
        return {...one, cache: part.causal && one.attends && !one.crosses ? cacheOf(row, keys, one, place, depth) : 0};
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refusal ??= {code: error.code, fields: error.fields};
        return {...one, cache: null};
      }
    };
    let refusal = null;
    part.layers = part.layers.map(unlike ? cached : once(cached));
    return refusal;
  }

  // lengths.py

  function lengthsOf(keys, part, until, until_key) {
    const every = {...keys.own, ...keys.defaults}, [key, allowed] = longest(keys, every);
    const rows = part.input?.kind === "Learned" ? part.input.length - part.first : null;
    return {allowed, key, by_class: longest(keys, keys.own)[1] === null, original: originalOf(every), rows, until, until_key};
  }
  function longest(keys, values) {
    const names = about.lengths, {aliases} = keys.about, of = name => get(values, name);
    const both = [...names.map(name => [name, name]), ...names.filter(name => has(aliases, name)).map(name => [name, aliases[name]])];
    const [name, of_class] = both.find(([, key]) => truthy(of(key))) ?? [names[0], null];
    return [name, of_class && checkSize(of_class, of(of_class))];
  }
  function originalOf(every) {
    const rope = either(get(every, "rope_scaling"), either(get(every, "rope_parameters"), {}));
    const places = isDict(rope) ? [rope, ...Object.values(rope).filter(isDict), every] : [every];
    return places.map(one => get(one, "original_max_position_embeddings")).find(truthy) ?? null;
  }
  function endOf(until, keys) {
    if (until === null) return [null, null];
    const length = keys.first([until.key]), begins = until.where.map(flag => truthy(keys.get(flag)));
    return begins.some(Boolean) ? [length, until.key] : [null, null];
  }
  /** Refuse a number that JSON has not. */
  function checkFinite(value, key = "rope_parameters") {
    if (isNumber(value) && !Number.isFinite(value)) refuse("number", {key, got: value});
    if (isList(value)) for (const one of value) checkFinite(one, key);
    else if (isDict(value)) for (const [name, one] of entries(value)) checkFinite(one, name);
  }
  function placeOf(text, keys, rules) {
    checkFinite(rules);
    const whole = {...text.defaults, ...keys.own}, place = about.spellings.find(name => isDict(get(whole, name)));
    const inner = place && isDict(get(whole[place], FULL)) ? [FULL] : [];
    const every = {...keys.own, ...keys.defaults}, beside = ["layer_rope_theta", "original_max_position_embeddings"];
    const of = (values, names) => fromEntries(names.map(key => [key, get(values, key)]));
    const said = {...of(keys.own, [...FLAT, "head_dim"]), ...of(every, beside)};
    return {
      file: text.file,
      code: text.code,
      rope: place ? [place, ...inner] : null,
      inside: Boolean(place) && get(whole[place], "rope_theta") !== null,
      rules,
      keys: filter(said, (_, value) => value !== null),
    };
  }

  // sound.py

  function readSound({relative}, keys) {
    const [depth, dim] = ["num_hidden_layers", "hidden_size"].map(key => checkSize(key, keys.first([key])));
    const other = relative ? "num_attention_heads" : "num_conv_pos_embedding_groups", parts = checkSize(other, keys.first([other]));
    if (dim % parts) refuse("multiple", {key: "hidden_size", other, by: parts, got: dim});
    if (relative) {
      if (dim % 2) refuse("even_dim", {key: "hidden_size", got: dim});
      return stack(repeat(layer({encoding: {kind: "TransformerXL", dim, heads: parts}}), depth), {causal: false});
    }
    const key = "num_conv_pos_embeddings", kernel = checkSize(key, keys.first([key]));
    return stack(repeat(layer(), depth), {input: {kind: "Convolutional", dim, kernel, groups: parts}, causal: false});
  }

  function readByKey(row, keys) {
    let value = keys.get(row.key) ?? (has(row, "default") ? row.default : keys.first([row.key]));
    if (has(row.ways, "true") && [0, 1].includes(value)) value = Boolean(value);
    const way = get(row.ways, isText(value) ? value : JSON.stringify(value), row.otherwise);
    if (way === null) refuse("one_of_for", {key: row.key, family: keys.family, names: Object.keys(row.ways), got: value});
    const own = complete(way);
    return READERS[own.read](own, keys);
  }
  const READERS = {
    rope: readRope, input: readInput, buckets: readBuckets, slopes: readSlopes, deberta: readDeberta,
    picture: readPicture, swin: readSwin, sound: readSound, deepseek_v4: readDeepseekV4, by_key: readByKey,
  };
  return {
    byClassNames, checked, checkDepth, checkFactor, checkSize, entry, kindOf, missing, parse, read, refuse, Refused, tables, textOf, textOfBytes,
    valuesOf,
  };
};
if (typeof module !== "undefined") module.exports = reader;
