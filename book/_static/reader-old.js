// Reads a config.json as `d2lpos.pretrained` does, and nothing leaves the page. `reader(readerData)` knows families by the
// tables of reader-data.js, and has once more what these name: rules for layers, for frequencies and for memory. What Python
// refuses is refused in the same sentence; what a reading holds is told in d2lpos/pretrained/as_numbers.py.
const reader = (() => {
  "use strict";

  const {
    Float, float, isList, isFloat, isWhole, isNumber, isDict, dict, has, take, range, same, mod, words, fail, truthy,
    or, equal, among, bare, repr, str, tuple, comma, short, dumps, values,
  } = typeof module === "undefined" ? readerValues : require("./reader-values.js");
  const {
    checkPositive, checkCount, checkNumber, mscale, rope, mrope, DEALS, learned, sinusoidal, alibi,
    buckets, terms, grid, network,
  } = typeof module === "undefined" ? readerEncodings : require("./reader-encodings.js");

  const LAYER = {
    ...{attends: true, crosses: false, features: null, window: null, chunk: null, tile: null, shift: 0, merged: 1, cosine: false},
    ...{counts: false, scale: 1, sinks: false, keys: null, compressed: null, encoding: null, indexer: null, temperature: null},
  };
  const layer = said => ({...LAYER, ...said});

  // A configuration that remembers which of its keys were asked for, and shows none of those that are hidden.
  class Config {
    constructor(given, taken, hidden, known) {
      this.values = dict(given, taken);
      for (const key of hidden) delete this.values[key];
      [this.given, this.known, this.used] = [given, known, new Set()];
    }
    get(key, otherwise = null) {
      if (!has(this.values, key)) return otherwise;
      this.used.add(key);
      return this.values[key];
    }
    need(key) {
      if (!has(this.values, key)) fail(`config must have ${key}, and has none`);
      return this.get(key);
    }
    passOver(keys) {
      for (const key of keys) if (has(this.given, key)) this.used.add(key);
    }
    first(keys, otherwise = null) {
      const found = keys.map(key => this.get(key)).filter(value => value !== null);
      if (found.length) return found[0];
      if (otherwise !== null) return otherwise;
      return fail(`config must have ${keys.join(" or ")}${keys.length > 1 ? "; it has neither" : ", and has none"}`);
    }
  }

  function divided(config, hidden, heads) {
    const whole = config.first(hidden), parts = config.first(heads);
    if (!isWhole(whole) || !isWhole(parts)) {
      fail(`${hidden[0]} and ${heads[0]} must be whole numbers; got ${repr(whole)} and ${repr(parts)}`);
    }
    if (whole % parts) fail(`${hidden[0]} must be a multiple of ${heads[0]} = ${parts}; got ${whole}`);
    return whole / parts;
  }

  return data => {
    const tables = typeof data === "string" ? values(data) : data;
    const {classes, rows, families, refused, keys: known, layers: named, rules, serving, sentences} = tables;
    const silent = new Set(words(known.silent)), whole = new Set(known.whole), positive = new Set(known.positive);
    const [DEFAULT_NAMES, FLAT, ALWAYS] = [Object.keys(rules.read).join(", "), rules.flat, rules.always];
    const WORDS = Object.values(rules.read).flat();
    const call = (form, ...given) => FORMS[form.form](...given, form);
    const entry = family => {
      const known = take(tables.defaults, family, {});
      return dict(known, {aliases: dict(take(known, "aliases", {}), take(tables.aliases, family, {}))});
    };

    // From a file to the keys of its text.

    function parse(text, name = "the file") {
      const long = text.length > tables.files.largest ? [...text].length : 0;
      if (long > tables.files.largest) {
        fail(`${name} must be a config.json of at most 1 MB; it has ${(long / tables.files.largest).toFixed(1)} MB`);
      }
      let found;
      try {
        found = values(text);
      } catch (error) {
        fail(`${name} must be JSON, and is none: ${error.message}`);
      }
      if (!isDict(found)) fail(`${name} must be a config.json, which is an object of keys; it is a ${typeName(found)}`);
      for (const [keys, what] of tables.files.others) {
        if (keys.some(key => has(found, key)) && !has(found, "model_type")) {
          fail(`${name} must be the config.json of a model; it is ${what}`);
        }
      }
      if (!has(found, "model_type")) fail(`${name} must have model_type, which says whose code reads it; it has none`);
      return found;
    }
    function typeName(value) {
      if (value === null) return "NoneType";
      if (isList(value)) return "list";
      return isFloat(value) ? "float" : {boolean: "bool", string: "str", number: "int"}[typeof value];
    }

    function ofItsText(config, ignore = []) {
      if (!isDict(config)) fail(`config must be a dictionary or a configuration of transformers; got ${typeName(config)}`);
      const [kept, ignored] = lacking(config, ignore);
      const family = take(kept, "model_type");
      if (typeof family !== "string") fail(`model_type ${repr(family)} is not known`);
      if (has(refused, family)) fail(`model_type ${repr(family)} is refused: ${refused[family]}`);
      if (has(families, family)) return [family, kept, ignored];
      const text = ofTheText(family, kept);
      if (text && truthy(text)) return ofItsText(text, ignore);
      return fail(`model_type ${repr(family)} is not known`);
    }

    // Without the keys that are named, and the names that were there; rope_scaling.key is within those.
    function lacking(config, ignore) {
      const found = dict(config), names = ignore.filter(name => {
        const [place, ...rest] = name.split("."), before = dict(found);
        if (has(found, name)) delete found[name];
        else if (rules.spellings.includes(place) && isDict(take(found, place))) found[place] = without(found[place], rest.join("."));
        return !equal(before, found);
      });
      return [found, names];
      function without(rope, key) {
        const kept = Object.entries(rope).filter(([name]) => name !== key);
        return dict(Object.fromEntries(kept.map(([name, one]) => [name, isDict(one) ? without(one, key) : one])));
      }
    }

    const heard = name => typeof name === "string" && [families, refused, tables.defaults].some(table => has(table, name));

    function ofTheText(family, config) {
      const about = entry(family), text = take(config, "text_config"), inner = take(about, "text");
      if (isDict(text)) {
        const name = dict({model_type: has(about, "text") ? inner : `${family}_text`});
        return truthy(take(about, "forced")) || (truthy(inner) && !heard(take(text, "model_type"))) ? dict(text, name) : dict(name, text);
      }
      if (!truthy(inner)) return tables.elsewhere.map(name => take(config, name)).find(one => isDict(one) && heard(take(one, "model_type"))) ?? null;
      if (!truthy(take(about, "flat"))) {
        fail(`config must have text_config, where ${family} has the model of its text; it has none, and its class passes over the keys of a text that stand elsewhere`);
      }
      return dict(config, {model_type: inner});
    }

    function renamed(family, config) {
      const about = entry(family), aliases = take(about, "aliases", {}), unread = take(about, "unread", []);
      const own = Object.entries(config).filter(([key]) => !unread.includes(key) && !has(aliases, key));
      const other = Object.entries(config).filter(([key]) => has(aliases, key)).map(([key, value]) => [aliases[key], value]);
      return dict(...[...other, ...own].map(([key, value]) => dict({[key]: value})));
    }

    function missing(family, own) {
      const keys = dict(take(entry(family), "keys", {}), take(tables.built_in, family, {}));
      const there = new Set(Object.keys(own).filter(key => truthy(own[key]) || !rules.spellings.includes(key)));
      const spelled = rules.spellings.some(key => there.has(key));
      const found = Object.entries(keys).filter(([key]) => !there.has(key) && !(key === "rope_parameters" && spelled));
      return dict(Object.fromEntries(found));
    }

    function completed(family, config) {
      const own = renamed(family, config), taken = missing(family, own);
      const checked = checkValues(dict(taken, own));
      return [dict(Object.fromEntries(Object.keys(own).map(key => [key, checked[key]]))), taken];
    }

    // Whole numbers as such, 128.0 as 128; throws where a value cannot be.
    function checkValues(said) {
      const found = dict(said);
      for (let [key, value] of Object.entries(said)) {
        const unused = key === "sliding_window" && equal(value, 0) && take(said, "use_sliding_window") === false;
        if (whole.has(key) && value instanceof Float) found[key] = value = Number(value);
        const stages = known.by_stage.includes(key) && isList(value);
        if (whole.has(key) && !unused && !(value === null || (isWhole(value) && value >= 1) || stages)) {
          fail(`${key} must be a whole number of at least 1; got ${repr(value)}`);
        }
        const number = isNumber(value) && value > 0 && value < Infinity;
        if (positive.has(key) && !number && !(isList(value) || isDict(value) || value === null)) {
          fail(`${key} must be a positive number; got ${repr(value)}`);
        }
        if (known.lists.includes(key) && !(isList(value) || value === null)) fail(`${key} must be a list; got ${repr(value)}`);
        if (known.dictionaries.includes(key) && !(isDict(value) || value === null)) {
          fail(`${key} must be a dictionary; got ${repr(value)}`);
        }
        if (key === "max_window_layers" && !(value === null || (isWhole(value) && value >= 0))) {
          fail(`${key} must be a whole number of at least 0; got ${repr(value)}`);
        }
        if (key === "no_rope_layers" && truthy(value) && !value.every(one => isWhole(one) || typeof one === "boolean")) {
          fail(`${key} must be a list of 0 and 1; got ${repr(value)}`);
        }
        if (key === "partial_rotary_factor" && value !== null && !(isNumber(value) && value >= 0 && value <= 1)) {
          fail(`${key} must be a number from 0 to 1; got ${repr(value)}`);
        }
        if (rules.spellings.includes(key) && isDict(value)) {
          const inner = checkValues(value);
          for (const [name, one] of Object.entries(inner)) if (isDict(one)) inner[name] = checkValues(one);
          found[key] = inner;
        }
      }
      return found;
    }

    function checkKeys(family, config, understood) {
      const strange = [];
      for (const [key, value] of Object.entries(config)) {
        if (understood.has(key) || silent.has(key) || value === null || ((isList(value) || isDict(value)) && !truthy(value))) continue;
        if (known.says_no.includes(key) && value === false) continue;
        if (known.idle.includes(key) && take(config, "use_sliding_window") === false) continue;
        if (key === "use_bidirectional_attention" && value === "vision") continue;
        strange.push([key, value]);
      }
      if (strange.length) notUnderstood(`${family} has`, strange);
    }
    function notUnderstood(who, strange) {
      const cut = signs => (signs.length <= known.long ? signs.join("") : `${signs.slice(0, known.long - 1).join("")}…`);
      const told = strange.map(([key, value]) => `${key} = ${cut([...repr(value)])}`).join(", "), names = strange.map(([key]) => repr(key));
      fail(
        `${who} keys that are not understood: ${told}. A key may speak of positions by any word; ` +
          `to pass over those that do not, ignore=(${names.join(", ")}${names.length === 1 ? "," : ""})`,
        strange.map(([key, value]) => [key, dumps(value)]),
      );
    }

    // RoPE's parameters.

    function givenRule(config) {
      const both = Object.entries(Object.fromEntries(rules.spellings.map(name => [name, config.get(name)])));
      const said = both.filter(([, value]) => truthy(value));
      for (const [name, value] of said) {
        if (!isDict(value)) fail(`${name} must be a dictionary; got ${repr(value)}`);
        for (const one of [value, ...Object.values(value).filter(isDict)]) {
          for (const key of ["type", "rope_type"]) {
            const kind = take(one, key);
            if (kind !== null && typeof kind !== "string") fail(`rope_type must be one of ${DEFAULT_NAMES}; got ${repr(kind)}`);
          }
          const kinds = ["type", "rope_type"].map(key => take(one, key)).filter(truthy);
          if (new Set(kinds.map(kind => take(rules.synonyms, kind, kind))).size > 1) {
            fail(`type and rope_type of ${name} must agree; got ${repr(one.type)} and ${repr(one.rope_type)}`);
          }
        }
      }
      if (said.length === 2 && !equal(inCommon(said[0][1]), inCommon(said[1][1]))) {
        fail(`rope_scaling and rope_parameters must agree; got ${repr(said[0][1])} and ${repr(said[1][1])}`);
      }
      return dict(said.length ? said[0][1] : {});
    }
    function inCommon(said) {
      const kept = Object.entries(said).filter(([key, value]) => !FLAT.includes(key) && value !== null);
      return Object.fromEntries(kept.map(([key, value]) => [key === "type" ? "rope_type" : key, value]));
    }

    // From a kind of layer, null where all layers have the same, to parameters, null where nothing turns.
    function parameters(config) {
      const given = givenRule(config), thetas = take(config.known, "thetas", {}), apart = Object.keys(thetas).length > 0;
      const inner = Object.values(given).filter(isDict);
      const asked = ["rope_theta", "partial_rotary_factor"].filter(key => (inner.length ? inner : [given]).some(one => !has(one, key)));
      const flat = dict({rope_theta: null, partial_rotary_factor: new Float(1)});
      for (const key of asked) if (config.get(key) !== null) flat[key] = config.get(key);
      for (const key of Object.keys(flat)) {
        if (asked.includes(key) || !has(config.given, key)) continue;
        config.used.add(key);
        const spelled = rules.spellings.some(name => truthy(take(config.given, name)));
        if (!apart && spelled && !equal(take(given, key, config.given[key]), config.given[key])) {
          fail(`${key} must be one number; got ${str(config.given[key])} and ${str(given[key])}`);
        }
      }
      if (isDict(take(config.given, "rope_theta"))) fail(`rope_theta must be one number; got ${repr(config.given.rope_theta)}`);
      let bases = isDict(flat.rope_theta) ? dict(flat.rope_theta) : dict();
      if (apart) {
        for (const key of Object.values(thetas)) {
          if (take(config.given, key, 1) === null) fail(`${key} must be a positive number; got None`);
        }
        bases = dict(config.known.keys.rope_theta);
        for (const [kind, key] of Object.entries(thetas)) {
          const said = config.get(key);
          if (isNumber(said) || typeof said === "boolean") bases[kind] = config.need(key);
        }
      }
      const types = Object.entries(given).filter(
        ([name, value]) => (value === null || isDict(value)) && !ALWAYS.includes(name) && !WORDS.includes(name),
      );
      if (types.length) {
        return new Map(
          types.map(([name, value]) => [
            name,
            value === null ? null : dict(flat, {rope_theta: take(bases, name, flat.rope_theta)}, value),
          ]),
        );
      }
      const standard = take(take(config.known, "keys", {}), "rope_parameters", {});
      const byKind = Object.values(standard).some(one => one === null || isDict(one));
      if (truthy(given) && (byKind || (apart && truthy(config.get("rope_parameters"))))) {
        fail(`rope_parameters must name the types of layers that they are for; got ${repr(given)}`);
      }
      if (truthy(bases)) {
        const stretched = config.known.scaled ?? [];
        return new Map(
          Object.entries(bases).map(([name, base]) => [name, dict(flat, {rope_theta: base}, stretched.includes(name) ? given : {})]),
        );
      }
      if (has(given, "rope_theta") && given.rope_theta === null) return new Map([[null, null]]);
      const counts = ([key, value]) => value !== null || rules.nulls.includes(key);
      return new Map([[null, dict(flat, Object.fromEntries(Object.entries(given).filter(counts)))]]);
    }

    function kindOf(said) {
      const told = or(take(said, "rope_type"), take(said, "type"), "default"), kind = take(rules.synonyms, told, told);
      return kind === "yarn" && has(said, "short_factor") ? "longrope" : kind;
    }
    function need(said, kind, key) {
      return take(said, key) ?? fail(`rope_type ${repr(kind)} must have ${key}, and has none`);
    }

    // The rule, null for none, and what scores are multiplied by besides.
    function ruleOf(said, config, tokens, extra) {
      const kind = kindOf(said);
      if (!has(rules.read, kind)) fail(`rope_type must be one of ${DEFAULT_NAMES}; got ${repr(kind)}`);
      const read = [...ALWAYS, ...rules.read[kind], ...extra];
      const strange = Object.keys(said).sort().filter(key => !read.includes(key) && said[key] !== null);
      if (strange.length) {
        const place = rules.spellings.find(name => truthy(take(config.given, name))) ?? rules.spellings[0];
        notUnderstood(`rope_type ${repr(kind)} has`, strange.map(key => [`${place}.${key}`, said[key]]));
      }
      const share = said.partial_rotary_factor;
      if (truthy(take(config.known, "whole")) && !["default", "proportional"].includes(kind) && !equal(share, 1)) {
        fail(`partial_rotary_factor must be 1 beside rope_type ${repr(kind)}, or the family's code fails; got ${str(share)}`);
      }
      const both = [take(said, "original_max_position_embeddings"), config.get("original_max_position_embeddings")];
      if (both.every(truthy) && !equal(...both) && !["default", "dynamic"].includes(kind)) {
        fail(`original_max_position_embeddings must be one number; got ${str(both[0])} and ${str(both[1])}`);
      }
      if (kind === "default") return [null, 1];
      const original = or(both[1], both[0]), length = truthy(original) ? original : config.get("max_position_embeddings");
      let factor = take(said, "factor", kind === "proportional" ? 1 : null);
      if (factor === null) {
        const longest = config.get("max_position_embeddings"), byNull = kind === "yarn" && has(said, "factor") && both.some(truthy);
        if (!(kind === "longrope" || byNull) || !(truthy(length) && truthy(longest))) {
          fail(`rope_type ${repr(kind)} must have a factor, and has none`);
        }
        factor = float(longest / length);
      }
      if (kind === "proportional") return [{kind, share, factor}, 1];
      if (kind === "linear") return [{kind, factor}, 1];
      const asNull = take(said, "original_max_position_embeddings", length) === null && !truthy(both[1]);
      if (!truthy(length) || (asNull && kind !== "dynamic")) fail(`rope_type ${repr(kind)} must have original_max_position_embeddings, and has none`);
      if (["dynamic", "longrope"].includes(kind) && tokens === null) {
        fail(`tokens must say how long the text is, because rope_type ${repr(kind)} depends on it; got None`);
      }
      if (kind === "dynamic") {
        return [{kind: "dynamic_ntk", factor, length: config.first(["max_position_embeddings"]), current: tokens}, 1];
      }
      if (kind === "llama3") {
        const [low, high] = [need(said, kind, "low_freq_factor"), need(said, kind, "high_freq_factor")];
        return [{kind, factor, length, low, high}, 1];
      }
      let attention = take(said, "attention_factor");
      if (kind === "longrope") {
        if (has(said, "long_mscale") || has(said, "short_mscale")) {
          attention = need(said, kind, tokens > length ? "long_mscale" : "short_mscale");
        }
        const [near, far] = [need(said, kind, "short_factor"), need(said, kind, "long_factor")];
        const rule = {kind, short: near, long: far, length, current: tokens, factor: factor > 1 ? factor : new Float(1)};
        return [{...rule, attention_factor: attention}, 1];
      }
      const [each, all] = [take(said, "mscale"), take(said, "mscale_all_dim")];
      if (attention === null && truthy(each) && truthy(all)) attention = float(mscale(factor, each) / mscale(factor, all));
      const turns = {beta_fast: or(take(said, "beta_fast"), 32), beta_slow: or(take(said, "beta_slow"), 1)};
      const rule = {kind, factor, length, ...turns, truncate: take(said, "truncate", true) ?? false, attention_factor: attention};
      return [rule, truthy(all) ? mscale(factor, all) ** 2 : 1];
    }

    function turning(said, dim, layout, rule, backward, deal, wholeHeads) {
      const kind = kindOf(said), share = wholeHeads && kind === "default" ? new Float(1) : said.partial_rotary_factor;
      const rotary = kind === "proportional" ? dim : Math.trunc(dim * share);
      if (!rotary) return null;
      if (rotary % 2) fail(`partial_rotary_factor must leave an even number of ${dim} features; got ${str(share)}`);
      if (said.rope_theta === null) fail("rope_parameters must have rope_theta, and have none");
      if (isList(said.rope_theta) || isDict(said.rope_theta)) fail(`rope_theta must be one number; got ${repr(said.rope_theta)}`);
      const base = float(Number(said.rope_theta)), sizes = take(said, "mrope_section");
      if (deal && truthy(sizes)) {
        const axes = DEALS[deal](sizes);
        if (2 * axes.length !== rotary) fail(`mrope_section must have ${rotary / 2} pairs in all; got ${repr(sizes)}`);
        return mrope(dim, axes, base, layout, rule, backward);
      }
      return rope(dim, base, layout, {rotary, rule, backward});
    }

    // Which layers turn, and which have an indexer.

    function turningLayers(config, depth) {
      const listed = config.get("no_rope_layers"), n = config.get("no_rope_layer_interval");
      if (truthy(listed) && listed.length < depth) {
        fail(`no_rope_layers must have a number for each of ${depth} layers; got ${listed.length}`);
      }
      return truthy(listed) ? listed.map(truthy) : range(depth).map(i => !truthy(n) || (i + 1) % n !== 0);
    }
    function indexers(config, depth) {
      const n = Math.max(config.first(["index_topk_freq"], 1), 1), first = config.first(["index_skip_topk_offset"], 2);
      for (const key of ["indexer_types", "index_topk_pattern"]) config.get(key);
      for (const key of ["indexer_types", "index_topk_pattern"]) {
        const kinds = config.get(key);
        if (!truthy(kinds)) continue;
        if (kinds.length < depth) fail(`${key} must name ${depth} layers; got ${kinds.length}`);
        return [...kinds].slice(0, depth).map(kind => ["full", "F"].includes(kind));
      }
      return range(depth).map(i => Math.max(i - first + 1, 0) % n === 0);
    }
    const eachStage = (config, key) => {
      const numbers = config.first([key]), stages = config.first(["depths"]).length;
      if (numbers.length !== stages) fail(`${key} must be ${stages} numbers, one for each stage; got ${repr(numbers)}`);
      return numbers;
    };
    function pair(config, key) {
      const value = config.first([key]);
      return isList(value) ? value : [value, value];
    }
    const features = config => {
      const said = config.first(["head_dim"], 0);
      return said || Math.floor(config.first(["hidden_size"]) / config.first(["num_attention_heads"]));
    };
    const full = (i, windowed) => (windowed ? "sliding_attention" : "full_attention");

    // The forms that rows name, by the names that they have in Python.
    const FORMS = {
      // Types of layers where a configuration names none.
      in_periods(config, depth, {period, others, at, ends, key}) {
        const n = key ? config.first([key], period) : period;
        if (!isWhole(n) || n < 1) fail(`${key} must be a whole number of at least 1 where there are no layer_types; got ${repr(n)}`);
        const found = range(depth).map(i => (mod(i - at, n) === 0 ? "full_attention" : others));
        for (const end of ends) found[mod(end, depth)] = "full_attention";
        return found;
      },
      of_one_kind: (config, depth, {kind}) => same(kind, depth),
      every_fourth_from_the_last: (config, depth) => range(depth).map(i => full(i, (depth - 1 - i) % 4 !== 0)),
      late_windows(config, depth) {
        const windowed = truthy(config.get("use_sliding_window", true)) && config.get("sliding_window") !== null;
        const last = windowed ? config.first(["max_window_layers"]) : depth;
        return range(depth).map(i => full(i, i >= last));
      },
      early_windows(config, depth) {
        const windowed = truthy(config.get("use_sliding_window")) && config.get("sliding_window") !== null;
        const last = windowed ? config.first(["max_window_layers"]) : 0;
        return range(depth).map(i => full(i, i < last && i % 2 === 0));
      },
      windows_without_turns(config, depth) {
        const windowed = truthy(config.get("use_sliding_window")) && config.get("sliding_window") !== null;
        return turningLayers(config, depth).map((turns, i) => full(i, !turns && windowed));
      },
      by_letters(config) {
        const letters = {"*": "full_attention", M: "recurrent", "-": "mlp", E: "moe"}, pattern = config.get("hybrid_override_pattern");
        if (pattern === null) return ["recurrent", "moe", "full_attention", "mlp"];
        if (![...pattern].every(one => has(letters, one))) {
          fail(`hybrid_override_pattern must have letters of ${Object.keys(letters).join(" ")}; got ${repr(pattern)}`);
        }
        return [...pattern].map(one => letters[one]);
      },
      where_sparse(config, depth) {
        const listed = take(or(config.get("sparse_attention_config"), {}), "sparse_attention_freq");
        if (listed !== null && !isList(listed)) fail(`sparse_attention_freq must be a list; got ${repr(listed)}`);
        return (listed ?? range(depth).map(() => 0)).map(one => (truthy(one) ? "minimax_m3_sparse" : "full_attention"));
      },
      by_groups(config, depth) {
        const said = or(config.get("linear_attn_config"), {});
        const listed = has(said, "full_attn_layers") && has(said, "kda_layers");
        const attends = i => (listed ? said.full_attn_layers.some(number => number - 1 === i) : i > 0 && i % 4 === 0);
        return range(depth).map(i => (attends(i) ? "full_attention" : "linear_attention"));
      },
      convolutions_between(config, depth) {
        const kinds = ["sliding_attention", "conv", "full_attention", "conv"];
        return range(depth).map(i => (i ? kinds[i % 4] : "conv"));
      },
      third_and_in_a_period(config, depth) {
        const n = config.first(["attn_layer_period"]), at = config.need("attn_layer_offset");
        const rest = range(depth - 3).map(i => (equal(i % n, at) ? "hybrid" : "linear_attention"));
        return ["linear_attention", "linear_attention", "hybrid", ...rest];
      },
      of_54_layers() {
        const run = count => [...same("linear_attention", count), "hybrid"];
        return ["linear_attention", ...range(7).flatMap(() => run(5)), ...run(4), ...run(3), ...same("linear_attention", 2)];
      },
      named_attention(config, depth) {
        const listed = config.get("full_attn_idxs");
        return range(depth).map(i => (listed === null || among(i, listed) ? "full_attention" : "conv"));
      },
      in_a_period(config, depth) {
        const n = config.first(["attn_layer_period"]), at = config.need("attn_layer_offset");
        return range(depth).map(i => (equal(i % n, at) ? "full_attention" : "recurrent"));
      },
      listed_attention(config, depth) {
        const listed = or(config.get("attn_layer_indices"), []);
        return range(depth).map(i => (among(i, listed) ? "full_attention" : "recurrent"));
      },
      listed_crossings(config, depth) {
        const listed = config.get("cross_attention_layers") ?? range(8).map(i => 3 + 5 * i);
        return range(depth).map(i => (among(i, listed) ? "cross_attention" : "full_attention"));
      },
      blocks_in_turn(config, depth) {
        const blocks = config.need("block_types");
        if (!truthy(blocks)) fail("block_types must name a layer; got none");
        return range(depth).map(i => (blocks[i % blocks.length] === "attention" ? "sliding_attention" : "recurrent"));
      },
      chunks_where_it_turns: (config, depth) =>
        turningLayers(config, depth).map(turns => (turns ? "chunked_attention" : "full_attention")),
      puzzled(config) {
        return config.need("block_configs").map(block => {
          if (!isDict(block) || !isDict(take(block, "attention"))) {
            fail(`block_configs must have a dictionary \`attention\` in each block; got ${repr(block)}`);
          }
          const said = Object.keys(block.attention).filter(key => !among(block.attention[key], [null, false]));
          const strange = said.filter(key => !["n_heads_in_group", "no_op", "replace_with_linear"].includes(key)).sort();
          if (strange.length) fail(`block_configs has keys that are not understood: ${strange.join(", ")}`);
          return said.includes("no_op") || said.includes("replace_with_linear") ? "mlp" : "full_attention";
        });
      },

      // Which layers turn.
      turning_layers: turningLayers,
      but_every_fourth_from_the_last(config, depth) {
        const listed = config.get("layer_rope_theta") !== null;
        return range(depth).map(i => listed || (depth - 1 - i) % 4 !== 0);
      },

      // Windows.
      half_without_a_causal_mask(config) {
        const window = config.get("sliding_window");
        return truthy(window) && truthy(config.get("use_bidirectional_attention")) ? Math.floor(window / 2) + 1 : window;
      },
      sliding_window: config => config.get("sliding_window"),
      attention_window: config => config.need("attention_window_size"),
      half_of_local: config => Math.floor(config.first(["local_attention"]) / 2) + 1,
      of_the_decoder(config) {
        const said = take(config.given, "sliding_window"), local = config.get("local_attention");
        config.passOver(["sliding_window"]);
        return said === null && truthy(local) ? Math.floor(local / 2) : said;
      },
      counted_without_itself(config) {
        const window = config.get("sliding_window"), before = config.get("sliding_window_size");
        return before === null ? window : before + 1;
      },
      windows_in_turn(config, depth) {
        const said = or(config.get("attention_types"), [[["global", "local"], 12]]);
        const kinds = said.flatMap(([run, times]) => range(times).flatMap(() => run));
        if (kinds.length !== depth) fail(`attention_types must name ${depth} layers; got ${kinds.length}`);
        return kinds.map(kind => (kind === "local" ? config.need("window_size") : null));
      },

      // Parameters by kind of layer.
      by_ratio(config) {
        const base = float(1e4 * config.first(["rope_ratio"], 1));
        return new Map([[null, dict({rope_theta: base, partial_rotary_factor: 0.5})]]);
      },
      by_lists(config, types) {
        const given = givenRule(config), kinds = [...new Set(types)];
        if (truthy(given) && types.every(kind => isDict(take(given, kind)))) {
          return new Map(kinds.map(kind => [kind, dict({partial_rotary_factor: new Float(1)}, given[kind])]));
        }
        if (truthy(config.get("rope_parameters"))) {
          fail(`rope_parameters must name the types of layers that they are for; got ${repr(given)}`);
        }
        let bases = config.first(["rope_theta"], new Float(1e4));
        const shares = config.get("partial_rotary_factors");
        if (isDict(bases)) bases = new Float(1e4);
        return new Map(
          kinds.map(kind => {
            const first = types.indexOf(kind), share = truthy(shares) ? shares[first] : new Float(1);
            const said = dict({rope_theta: isList(bases) ? bases[first] : bases, partial_rotary_factor: share});
            return [kind, dict(said, kind === "full_attention" ? given : {})];
          }),
        );
      },

      // Temperatures.
      steps_where_nothing_turns(config, said, turns) {
        const length = config.get("floor_scale"), scale = config.get("attn_scale");
        if (turns || !truthy(config.get("attn_temperature_tuning"))) return null;
        return {kind: "steps", length, scale, counted: true};
      },
      steps_by_beta(config, said) {
        const scale = take(said, "llama_4_scaling_beta");
        if (!truthy(scale)) return scale;
        return {kind: "steps", length: need(said, "yarn", "original_max_position_embeddings"), scale};
      },
      power_where_nothing_turns: (config, said, turns) => (turns ? null : {kind: "power", length: 2048, exponent: 0.1}),

      // A bias beside a table.
      fixed_buckets(config) {
        const number = config.first(["relative_attention_num_buckets"], 32);
        if (!equal(number, 32)) fail(`relative_attention_num_buckets must be 32, as its code has it; got ${str(number)}`);
        return buckets(config.first(["num_attention_heads"]), 32, 128, true);
      },

      // Pictures: what their layers do, and where their tokens stand.
      without_positions: (config, size, depth) => same(layer(), depth),
      steps_and_cls(config, size, depth) {
        const heads = config.first(["num_attention_heads"]);
        const [each, one] = ["", "shared_"].map(kind => config.get(`use_${kind}relative_position_bias`));
        if (truthy(each) && truthy(one)) {
          fail("use_relative_position_bias and use_shared_relative_position_bias must not both be true");
        }
        const table = () => grid("BEiT", {heads}, ...size);
        return same(layer({encoding: truthy(one) || truthy(each) ? table() : null}), depth);
      },
      decomposed(config, size, depth, {windowed, flag}) {
        return call(windowed, config, depth).map(side => {
          const sides = truthy(side) ? [side, side] : size;
          const encoding = truthy(config.get(flag)) ? grid("Decomposed", {features: features(config)}, ...sides) : null;
          return layer({encoding, tile: side});
        });
      },
      but_global(config, depth) {
        const side = config.first(["window_size"]), everywhere = config.need("global_attn_indexes");
        return range(depth).map(i => (among(i, everywhere) || !truthy(side) ? null : side));
      },
      listed(config, depth) {
        const side = config.get("window_size"), windowed = or(config.get("window_block_indices"), []);
        return range(depth).map(i => (among(i, windowed) && truthy(side) ? side : null));
      },
      by_coordinates(config, size, depth) {
        const base = float(Number(config.first(["rope_theta"], 100)));
        return same(layer({encoding: rope(features(config), base, "half", {axes: 2})}), depth);
      },
      by_interlaced_axes(config, size, depth) {
        const said = or(config.get("rope_parameters"), {}), kind = take(said, "rope_type", "axial");
        if (!["axial", "default"].includes(kind)) fail(`rope_type must be axial; got ${repr(kind)}`);
        for (const [key, value] of Object.entries(said)) {
          if (["rope_type", "rope_theta"].includes(key)) continue;
          fail(`key ${repr(key)} of rope_type 'axial' is not understood; its value is ${repr(value)}`);
        }
        const theta = take(said, "rope_theta"), base = truthy(theta) ? theta : config.first(["rope_theta"], new Float(1e4));
        const dim = features(config), deal = DEALS.blocks(same(Math.floor(dim / 4), 2));
        return same(layer({encoding: mrope(dim, deal, float(Number(base)), "half", {kind: "interlaced"}, false)}), depth);
      },
      counted: () => null,
      by_cells: () => null,
      outside_and_cells: () => null,
      around_the_middle: config => config.first(["num_register_tokens"], 0),

      // Windows over pictures, and their biases.
      fixed(config) {
        const side = config.first(["window_size"]);
        return [side, Math.floor(side / 2)];
      },
      fitting(config, cells, merged) {
        const [side, shift] = FORMS.fixed(config), least = Math.ceil(Math.min(...cells) / merged);
        if (least < side) fail(`window_size must be at most ${least}, the shorter side of a stage, or its code fails; got ${side}`);
        return [side, least > side ? shift : 0];
      },
      shrinking(config, cells, merged) {
        const [side, shift] = FORMS.fixed(config), height = Math.floor(cells[0] / merged);
        return [Math.min(side, height), height > side ? shift : 0];
      },
      by_table: (config, heads, side) => grid("Swin", {heads}, side, side),
      by_logarithms: (config, heads, side) => network(heads, side, null),
      by_trained_logarithms(config, heads, side, stage) {
        const said = truthy(config.get("pretrained_window_sizes")) ? eachStage(config, "pretrained_window_sizes")[stage] : null;
        return network(heads, side, truthy(said) ? said : null);
      },

      // How many heads keep keys.
      one_or_new: (keys, heads) => (truthy(take(keys, "new_decoder_architecture")) ? heads : FORMS.one(keys, null)),
      one: (keys, heads) => (truthy(take(keys, "multi_query", true)) ? 1 : heads),
      fewer_where_full: (keys, heads, seesAll) => (seesAll && or(take(keys, "num_global_key_value_heads"), false)) || heads,
      more_in_windows: (keys, heads, seesAll) => (seesAll ? heads : or(take(keys, "swa_num_key_value_heads"), heads && 2 * heads)),
      by_block(keys, heads, seesAll, place) {
        const several = firstOf(keys, serving.heads);
        return several && Math.floor(several / take(keys.block_configs[place].attention, "n_heads_in_group", 1));
      },
    };

    // Families: how a class of rows reads a configuration.

    const row = (kind, more) => ({...classes[kind], row: kind, ...more});
    const readRow = (said, family, config, tokens) => READERS[said.row](row(said.row, said), family, config, tokens);
    const reading = (family, layers, more) => ({
      ...{family, layers, input: null, first: 0, causal: true, encoder: null},
      ...more,
    });

    function layerTypes(fields, config) {
      let types = config.get("layer_types");
      if (!truthy(types)) types = config.get("layers_block_type");
      if (fields.types) config.passOver(named.patterns);
      if (fields.listed) return truthy(types) ? types : call(fields.types, config, 0);
      const count = truthy(types) ? types.length : types;
      const depth = config.first(fields.depth, count) * (1 + Number(fields.two_attentions));
      if (fields.types && types === null) types = call(fields.types, config, depth);
      if (types === null) {
        const windowed = fields.window && config.get("sliding_window") !== null;
        types = same(full(0, windowed), depth);
      }
      const more = or(config.get("num_nextn_predict_layers"), 0);
      if (types.length !== depth && types.length !== depth + more) {
        fail(`layer_types must name ${depth} layers; got ${types.length}`);
      }
      return types.slice(0, depth);
    }

    function encodingOf(fields, config, given, tokens, number, kind) {
      let said = given, single = {};
      const listed = config.get("layer_rope_theta");
      if (listed !== null) {
        if (listed.length <= number) fail(`layer_rope_theta must have a number for each layer; got ${listed.length}`);
        if (!truthy(listed[number])) return [null, 1, null];
        said = dict(said, {rope_theta: listed[number]});
      }
      const scaled = config.get("rope_scaling_layers");
      if (scaled !== null && !among(number, scaled)) said = {rope_theta: said.rope_theta, partial_rotary_factor: said.partial_rotary_factor};
      if (fields.sections.length && !truthy(take(said, "mrope_section"))) said = dict(said, {mrope_section: fields.sections});
      if (fields.rope_is_last) said = dict(said, {partial_rotary_factor: new Float(1)});
      const extra = [...fields.extra, ...(fields.mrope_layout ? ["mrope_section"] : [])];
      const [rule, scale] = ruleOf(said, config, tokens, extra);
      if (fields.rope_is_last) {
        const nope = config.first(["qk_nope_head_dim"]), dim = config.first(["qk_rope_head_dim"]);
        const layout = config.get("rope_interleave") === false ? "half" : fields.layout;
        return [turning(said, dim, layout, rule, fields.negate, null, false), scale, [nope, nope + dim]];
      }
      let dim = config.first(fields.dim, 0);
      if (!truthy(dim)) dim = fields.wide * divided(config, fields.hidden, fields.heads);
      for (const [key, one] of Object.entries(or(config.get("per_layer_config"), {}))) {
        if (!isDict(one)) fail(`per_layer_config must have dictionaries; ${repr(key)} has ${repr(one)}`);
        if (!/^\s*[-+]?\d+(_\d+)*\s*$/.test(key)) fail(`invalid literal for int() with base 10: ${repr(key)}`);
        single[Number(key.replace(/_/g, ""))] = one;
      }
      if (fields.full_dim && !has(config.given, "per_layer_config") && kind === "full_attention") dim = config.first([fields.full_dim[0]], fields.full_dim[1]);
      dim = take(take(single, number, {}), "head_dim", dim);
      const rotary = config.get("rotary_dim");
      if (rotary !== null) {
        const inRule = take(givenRule(config), "partial_rotary_factor"), share = take(config.given, "partial_rotary_factor", inRule);
        if (share !== null && Math.trunc(dim * share) !== rotary) {
          fail(`rotary_dim and partial_rotary_factor must agree on ${dim} features; got ${rotary} and ${str(share)}`);
        }
        said = dict(said, {partial_rotary_factor: float(rotary / dim)});
      }
      const wholeHeads = truthy(take(config.known, "whole"));
      const found = turning(said, dim, fields.layout, rule, fields.negate, fields.mrope_layout, wholeHeads);
      if (found && fields.normed) {
        const eps = config.first([fields.normed], 1e-5);
        checkNumber("eps", eps);
        if (eps < 0) fail(`eps must not be negative; got ${repr(eps)}`);
        return [{...found, norm: Number(eps)}, 1, null];
      }
      return [found, 1, null];
    }

    function withIndexer(fields, config, one, own) {
      const said = config.get("indexer_rope_interleave");
      const layout = said === null ? fields.indexer : truthy(said) ? "interleaved" : "half";
      if (layout !== fields.indexer) {
        fail(`indexer_rope_interleave must be ${truthy(said) ? "False" : "True"}, or its code does something else; got ${str(said)}`);
      }
      const indexer = atSize(one.encoding, config.need("index_head_dim"), layout);
      return {...one, indexer: own ? indexer : null, keys: config.need("index_topk")};
    }
    const atSize = ({base, rotary, rule, backward}, dim, layout) => rope(dim, float(base), layout, {rotary, rule, backward});

    function inBlocks(config, layers, types) {
      const said = or(config.get("sparse_attention_config"), {}), {blocks, beside_blocks: beside} = named;
      if (truthy(take(said, "sparse_init_block")) || take(said, "use_sparse_attention") === false) {
        fail("sparse_init_block must be 0 and use_sparse_attention true, or programs read it differently");
      }
      const strange = Object.keys(said).filter(key => !has(blocks, key) && !beside.includes(key)).sort();
      if (strange.length) fail(`sparse_attention_config has keys that are not understood: ${strange.join(", ")}`);
      config.passOver(Object.values(blocks));
      const found = Object.entries(blocks).map(([key, flat]) => [key, has(said, key) ? said[key] : config.need(flat)]);
      for (const [key, number] of found) {
        if (!isWhole(number) || number < 1) fail(`${key} must be a whole number of at least 1; got ${repr(number)}`);
      }
      const [dim, size, number] = found.map(([, value]) => value);
      return layers.map((one, i) => types[i] === "minimax_m3_sparse"
        ? {...one, indexer: one.encoding && atSize(one.encoding, dim, "half"), keys: size * number}
        : one);
    }

    const READERS = {
      Turning(fields, family, config, tokens) {
        const types = layerTypes(fields, config), depth = types.length;
        const windowed = config.get("use_sliding_window") !== false, window = windowed ? call(fields.width, config) : null;
        if (!windowed) config.passOver(["sliding_window"]);
        const said = fields.rope ? call(fields.rope, config, types) : parameters(config);
        const still = fields.nope_beside_windows && window === null ? [] : fields.nope_layer_types;
        const turns = call(fields.turns, config, depth);
        let layers = types.map((kind, number) => {
          if (named.else.includes(kind)) return layer({attends: false});
          if (kind === "cross_attention") return layer({crosses: true});
          if (!named.attention.includes(kind) && !(fields.indexer && named.sparse.includes(kind))) {
            fail(`layer type ${repr(kind)} of ${family} is not understood`);
          }
          const one = said.has(kind) ? said.get(kind) : said.has(null) ? said.get(null) : {};
          if (one === null && !said.has(kind) && !fields.baseless) fail("rope_parameters must have rope_theta, and have none");
          if (one !== null && !truthy(one)) {
            fail(`rope_parameters must have ${repr(kind)}, and has ${[...said.keys()].map(repr).join(", ")}`);
          }
          const open = !fields.gate || equal(config.get(fields.gate[0]), fields.gate[1]);
          const opens = one !== null && turns[number] && !still.includes(kind) && open;
          const [encoding, scale, part] = opens ? encodingOf(fields, config, one, tokens, number, kind) : [null, 1, null];
          const temperature = fields.temperature ? call(fields.temperature, config, one ?? {}, encoding !== null) : null;
          return layer({
            ...{encoding, features: part, scale, temperature: temperature && bare(temperature)},
            window: fields.windowed_types.includes(kind) ? window : null,
            chunk: kind === "chunked_attention" ? config.get("attention_chunk_size") : null,
            counts: fields.counts && temperature !== null,
            sinks: fields.sinks.includes(kind),
          });
        });
        if (fields.row === "InBlocks") layers = inBlocks(config, layers, types);
        else if (fields.indexer) {
          const own = indexers(config, depth);
          layers = layers.map((one, i) => withIndexer(fields, config, one, own[i]));
        }
        const ahead = config.get("is_causal") === false || config.get("use_bidirectional_attention") === true;
        return reading(family, layers, {causal: (fields.causal && !ahead) || truthy(config.get("is_decoder"))});
      },

      BySize(fields, family, config, tokens) {
        const small = equal(config.first(["hidden_size"]), 4096);
        const sloped = {row: "Sloped", heads: ["num_attention_heads"], depth: ["num_hidden_layers"]};
        return readRow(small ? {row: "Turning"} : sloped, family, config, tokens);
      },

      HalfOfAHead(fields, family, config, tokens) {
        if (truthy(config.get("position_encoding_2d"))) {
          fail(`position_encoding_2d of ${family} must be false: two positions a token are not read`);
        }
        const layout = truthy(config.get("original_rope", true)) ? "interleaved" : "half";
        const said = {row: "Turning", layout, dim: ["kv_channels"], depth: ["num_layers"], rope: {form: "by_ratio"}};
        return readRow(said, family, config, tokens);
      },

      InBlocks: (fields, family, config, tokens) => READERS.Turning(fields, family, config, tokens),

      UpToItsLength(fields, family, config, tokens) {
        const length = config.first(["seq_length"]), ntk = config.get("use_dynamic_ntk"), logn = config.get("use_logn_attn");
        const grows = truthy(ntk) || truthy(logn);
        if (grows && tokens === null) {
          fail(`tokens must say how long the text is, because ${family} changes past ${comma(length)}; got None`);
        }
        if (grows && tokens > length) fail(`tokens must be at most seq_length = ${length} for ${family}; got ${tokens}`);
        return READERS.Turning(fields, family, config, tokens);
      },

      Compressed(fields, family, config, tokens) {
        const [SLIDING, [SPARSE, HEAVY]] = ["sliding_attention", Object.keys(named.rates)];
        const depth = config.first(["num_hidden_layers"]), dim = config.first(["head_dim"], 512);
        const rates = dict(named.rates, or(config.get("compress_rates"), {}));
        if (!Object.values(rates).every(rate => isWhole(rate) && rate >= 1)) {
          fail(`compress_rates must be whole numbers of at least 1; got ${repr(rates)}`);
        }
        const ropes = ofTwoKinds(config, dim);
        const layers = compressing(config, depth, SLIDING, SPARSE, HEAVY).map(kind => {
          if (![SLIDING, SPARSE, HEAVY].includes(kind)) fail(`layer type ${repr(kind)} of ${family} is not understood`);
          const said = ropes[kind === SLIDING ? "main" : "compress"], sparse = kind === SPARSE;
          const rotary = Math.trunc(dim * said.partial_rotary_factor), base = float(Number(said.rope_theta));
          const [rule] = ruleOf(said, config, tokens, []);
          return layer({
            encoding: rope(rotary, base, "interleaved", {rule, kind: "RoPEValues"}),
            features: [dim - rotary, dim],
            window: config.need("sliding_window"),
            sinks: true,
            compressed: take(rates, kind),
            indexer: sparse ? rope(rotary, base, "interleaved", {rule}) : null,
            keys: sparse ? config.need("index_topk") : null,
          });
        });
        config.passOver(["index_head_dim", "index_topk", "compress_rope_theta"]);
        return reading(family, layers);
      },

      Added(fields, family, config, tokens) {
        const kind = config.get("position_embedding_type");
        if (kind !== null && kind !== "absolute") {
          fail(`position_embedding_type of ${family} must be absolute; got ${repr(kind)}`);
        }
        const depth = config.first(fields.depth);
        let first = fields.before;
        if (fields.padded) {
          const padding = config.first(["pad_token_id"]);
          if (!isWhole(padding) || padding < 0) fail(`pad_token_id of ${family} must be the number of a token; got ${repr(padding)}`);
          first = padding + 1;
        }
        const bias = fields.bias && call(fields.bias, config);
        const windows = fields.windows ? call(fields.windows, config, depth) : same(null, depth);
        const dim = config.first(fields.dim);
        const clocks = fields.flag && truthy(config.get(fields.flag)) ? ["interleaved", false] : fields.clocks;
        const input = clocks ? sinusoidal(dim, ...clocks) : learned(config.first(fields.length) + fields.before, dim);
        const causal = [truthy(fields.causal), truthy(config.get("is_decoder")), truthy(config.get("causal"))].includes(true);
        const encoder = fields.encoder && readRow(fields.encoder, family, config, tokens);
        return reading(family, windows.map(window => layer({encoding: bias, window})), {input, first, causal, encoder});
      },

      Bucketed(fields, family, config) {
        const depth = config.first(["num_layers"]);
        const stack = (layers, causal, encoder) => {
          const number = config.first(["relative_attention_num_buckets"], 32);
          const farthest = config.first(["relative_attention_max_distance"], 128);
          const encoding = layers > 0 ? buckets(config.first(["num_heads"]), number, farthest, !causal) : null;
          const scale = Math.sqrt(config.first(["d_kv"]));
          return reading(family, same(layer({encoding, scale}), layers), {causal, encoder});
        };
        const encoder = stack(depth, false, null);
        return stack(or(config.get("num_decoder_layers"), depth), true, encoder);
      },

      Sloped(fields, family, config) {
        const said = fields.within ? or(config.get(fields.within), {}) : {};
        if (take(said, "alibi") === false || truthy(take(said, "rope"))) {
          fail(`${fields.within} of ${family} must have alibi and no rope; got ${repr(said)}`);
        }
        for (const [key, value] of Object.entries(said)) {
          if (!known.slopes.includes(key) && !silent.has(key) && !among(value, [null, false])) {
            fail(`key ${repr(key)} in ${fields.within} of ${family} is not understood; its value is ${repr(value)}`);
          }
        }
        const octaves = or(take(said, "alibi_bias_max"), 8), heads = config.first(fields.heads);
        const plain = alibi(heads, octaves);
        const bias = fields.divided ? alibi(heads, octaves, divided(config, ["hidden_size"], fields.heads)) : plain;
        return reading(family, same(layer({encoding: bias}), config.first(fields.depth)));
      },

      Disentangled(fields, family, config) {
        let both = config.get("pos_att_type");
        both = truthy(both) ? both : [];
        if (typeof both === "string") both = both.split("|");
        const relative = config.get("relative_attention");
        if (truthy(relative) && !equal(both.map(term => term.trim()).sort(), ["c2p", "p2c"])) {
          fail(`pos_att_type of ${family} must have both terms, c2p and p2c; got ${repr(both)}`);
        }
        if (fields.logarithms && truthy(config.get("conv_kernel_size"))) {
          fail(`key 'conv_kernel_size' of ${family} is not understood: neighbors mix in a layer`);
        }
        const heads = config.first(["num_attention_heads"]), hidden = config.first(["hidden_size"]);
        const length = config.first(["max_position_embeddings"]);
        const said = or(config.get("max_relative_positions"), -1), number = or(config.get("position_buckets"), -1);
        const largest = said < 1 ? length : said;
        const depth = config.first(["num_hidden_layers"]);
        const sizes = fields.logarithms && number > 0 ? [number, largest] : [largest, null];
        const one = () => layer({encoding: terms(heads, Math.floor(hidden / heads), ...sizes), scale: 1 / Math.sqrt(3)});
        const layers = same(truthy(relative) && depth > 0 ? one() : layer(), depth);
        const width = config.first(["embedding_size", "hidden_size"]);
        const table = truthy(config.get("position_biased_input", true));
        return reading(family, layers, {input: table ? learned(length, width) : null, causal: false});
      },

      Chosen(fields, family, config, tokens) {
        const said = config.get(fields.key) ?? fields.default, ways = isList(fields.ways) ? fields.ways : Object.entries(fields.ways);
        const way = ways.find(([name]) => equal(name, said));
        if (!way) fail(`${fields.key} of ${family} must be one of ${ways.map(([name]) => str(name)).join(", ")}; got ${repr(said)}`);
        return readRow(way[1], family, config, tokens);
      },

      Pictured(fields, family, config) {
        const picture = pair(config, "image_size"), patch = pair(config, "patch_size");
        const [height, width] = picture.map((side, i) => Math.floor(side / patch[i]));
        const table = typeof fields.table === "string" ? truthy(config.get(fields.table)) : fields.table;
        const trained = config.get("pretrain_image_size");
        if (table && trained !== null && !equal(pair(config, "pretrain_image_size"), picture)) {
          fail(`pretrain_image_size must be image_size = ${tuple(picture)}, or rows change; got ${str(trained)}`);
        }
        const layers = call(fields.layers, config, [height, width], config.first(["num_hidden_layers"]));
        const count = fields.unused + fields.before + height * width;
        const input = table ? learned(count, config.first(["hidden_size"])) : null;
        call(fields.places, config);
        return reading(family, layers, {input, first: fields.unused, causal: false, pictures: true});
      },

      Windowed(fields, family, config) {
        const picture = pair(config, fields.side), stride = pair(config, fields.stride);
        const cells = picture.map((side, i) => Math.floor(side / stride[i]));
        const added = truthy(config.get("use_absolute_embeddings"));
        if (added && !fields.table) {
          fail(`use_absolute_embeddings of ${family} must be false: its code adds a row too many, and fails`);
        }
        const heads = eachStage(config, fields.heads);
        const layers = config.need("depths").flatMap((depth, stage) => {
          const merged = fields.merges ? 2 ** stage : 1, [tile, by] = call(fields.window, config, cells, merged);
          return range(depth).map(number => {
            const encoding = call(fields.bias, config, heads[stage], tile, stage);
            return layer({encoding, tile, shift: number % 2 ? by : 0, merged, cosine: fields.cosine});
          });
        });
        const input = added ? learned(cells[0] * cells[1], config.first(["embed_dim"])) : null;
        return reading(family, layers, {input, causal: false, pictures: true});
      },
    };

    // Layers that compress: their kinds, and the parameters of those with a window alone and of the others.
    function compressing(config, depth, sliding, sparse, heavy) {
      let listed = config.get("layer_types");
      const ratios = config.get("compress_ratios");
      const byRatio = new Map([[0, sliding], ...[sparse, heavy].map(kind => [named.rates[kind], kind])]);
      if (listed === null && ratios !== null) {
        if (!ratios.every(ratio => byRatio.has(Number(ratio)))) {
          fail(`compress_ratios must be numbers of ${[...byRatio.keys()].join(", ")}; got ${repr(ratios)}`);
        }
        listed = ratios.map(ratio => byRatio.get(Number(ratio)));
      }
      listed ??= [...same(heavy, 2), ...range(depth - 2).map(i => (i % 2 ? sparse : heavy))];
      if (listed.length < depth) fail(`layer_types must name ${depth} layers; got ${listed.length}`);
      return listed.slice(0, depth);
    }
    function ofTwoKinds(config, dim) {
      config.passOver(["rope_theta"]);
      const given = givenRule(config), share = config.get("partial_rotary_factor"), rotary = config.get("qk_rope_head_dim");
      if (isDict(take(given, "main")) && isDict(take(given, "compress"))) {
        const one = kind => dict({partial_rotary_factor: new Float(1)}, given[kind]);
        return {main: one("main"), compress: one("compress")};
      }
      const part = truthy(share) ? share : rotary === null ? 64 / 512 : float(rotary / dim);
      const main = {rope_theta: or(take(config.given, "rope_theta"), new Float(1e4)), partial_rotary_factor: part};
      const base = {rope_theta: config.first(["compress_rope_theta"], new Float(160_000))};
      const plain = kindOf(given) === "yarn" ? {attention_factor: new Float(1)} : {};
      return {main: dict(main), compress: dict(plain, given, main, base)};
    }

    // Readings.

    function encoding(config, tokens = null, ignore = []) {
      const [family, kept, ignored] = ofItsText(config, ignore);
      const said = rows[families[family]], fields = row(said.row, said), about = entry(family);
      const [own, taken] = completed(family, kept), reads = words(fields.reads);
      const hidden = tables.read_by_some.filter(key => !reads.includes(key));
      const config_ = new Config(own, taken, hidden, about);
      const found = readRow(said, family, config_, tokens);
      const aliases = Object.entries(take(about, "aliases", {})).filter(([, key]) => config_.used.has(key) || silent.has(key)).map(([name]) => name);
      checkKeys(family, kept, new Set([...config_.used, ...words(fields.ignored_keys), ...take(about, "unread", []), ...aliases]));
      const told = Object.keys(taken).filter(key => config_.used.has(key) && taken[key] !== false).sort();
      return {...found, defaults: Object.fromEntries(told.map(key => [key, taken[key]])), ignored};
    }

    function numbers(found) {
      const kinds = [], seen = new Map();
      const layers = found.layers.map(one => {
        const text = JSON.stringify(one);
        if (!seen.has(text)) seen.set(text, kinds.push(bare(one)) - 1);
        return seen.get(text);
      });
      const {family, causal, input, first, pictures = false, defaults = {}, ignored = []} = found;
      const encoder = found.encoder && numbers(found.encoder);
      return {family, causal, input, first, kinds, layers, pictures, defaults: bare(defaults), ignored, encoder};
    }

    function read(config, tokens = null, ignore = []) {
      const found = encoding(config, tokens, ignore), kept = without(config, ignore);
      let [memory, unknown] = [null, null];
      if (found.pictures) unknown = `${found.family} reads pictures, whose tokens are counted by their size`;
      else if (tokens !== null) {
        try {
          memory = cacheBytes(kept, tokens);
        } catch (error) {
          unknown = error.message;
        }
      }
      const lengths = {original: originalLength(kept), longest: longest(kept), by_class: !fileAllows(kept), rows: rowsOf(found)};
      return {...numbers(found), serving: bare({...lengths, memory, unknown, traps: traps(kept)})};
    }

    // What a length asks.

    function without(config, keys) {
      const [kept] = lacking(config, keys), texts = ["text_config", ...tables.elsewhere].filter(name => isDict(take(kept, name)));
      return dict(kept, Object.fromEntries(texts.map(name => [name, without(kept[name], keys)])));
    }
    function keysOf(config) {
      const [family, kept] = ofItsText(config), [own, taken] = completed(family, kept);
      return [family, dict(own, taken)];
    }
    function firstOf(keys, names) {
      return names.map(name => take(keys, name)).find(truthy) ?? null;
    }
    function rulesOf(keys) {
      const said = or(take(keys, "rope_scaling"), take(keys, "rope_parameters"), {});
      return [said, ...Object.values(said)].filter(isDict);
    }
    function originalLength(config) {
      const [, keys] = keysOf(config);
      return [...rulesOf(keys), keys].map(one => take(one, "original_max_position_embeddings")).find(truthy) ?? null;
    }
    const LENGTHS = ["max_position_embeddings", "n_positions", "seq_length", "max_seq_len"];
    const longestKey = keys => LENGTHS.find(key => truthy(take(keys, key))) ?? null;
    const longest = config => firstOf(keysOf(config)[1], LENGTHS);
    function fileAllows(config) {
      return longestKey(completed(...ofItsText(config))[0]) !== null;
    }
    const turns = one => one.encoding !== null && Boolean(one.encoding.omega);
    const rowsOf = found => (found.input?.kind === "Learned" ? found.input.length - found.first : null);

    function newAngles(one, trained, tokens, before = false) {
      checkCount({trained, tokens});
      const {omega, plain, rule} = one.encoding, sees = [one.window, one.chunk].filter(size => truthy(size) && one.compressed === null);
      const known = before || rule?.kind === "dynamic_ntk" ? plain : omega, reach = Math.min(tokens, ...sees);
      const fresh = omega.filter((now, i) => {
        const seen = Math.min(trained, ...sees) * known[i];
        return seen < 2 * Math.PI && reach * now > seen * (1 + 1e-9) && now > 0;
      });
      return [fresh.length, omega.length];
    }

    function cacheBytes(config, tokens, number = 2) {
      checkCount({tokens, number});
      const [family, keys] = keysOf(config), found = encoding(config, tokens), kept = {};
      found.layers.forEach((one, place) => {
        if (!found.causal || !one.attends || one.crosses) return;
        const kind = one.window ? "window" : one.chunk ? "chunk" : "full";
        const each = Math.min(tokens, one.window || one.chunk || tokens) * number;
        kept[kind] = (kept[kind] ?? 0) + each * width(family, keys, one, place);
        if (one.indexer) kept.indexer = (kept.indexer ?? 0) + each * one.indexer.dim;
      });
      return kept;
    }

    function width(family, keys, one, place) {
      if (serving.unknown.includes(family) || truthy(take(keys, "num_kv_shared_layers"))) {
        fail(`memory of ${family} is not known: its layers keep something else besides, or share what they keep`);
      }
      const [lora, turned] = [take(keys, "kv_lora_rank"), take(keys, "qk_rope_head_dim")];
      if (truthy(lora) && truthy(turned) && !one.window) return lora + turned;
      const several = firstOf(keys, serving.heads);
      let heads = or(take(keys, "num_key_value_heads"), take(keys, "num_kv_heads"));
      if (truthy(take(keys, "multi_query_attention"))) heads = take(keys, "multi_query_group_num");
      if (has(serving.kept, family)) heads = call(serving.kept[family], keys, heads, !(one.window || one.chunk), place);
      heads = or(heads, several);
      const hidden = firstOf(keys, ["hidden_size", "n_embd", "d_model", "dim", "embed_dim"]);
      const own = firstOf(keys, ["attention_head_dim", "d_kv", "kv_channels", "head_dim"]);
      const twice = serving.twice.includes(family) ? 2 : 1;
      let dim = or(!one.features && turns(one) ? one.encoding.dim : null, own);
      if (!truthy(dim) && isWhole(hidden) && isWhole(several)) dim = Math.floor(hidden / several) * twice;
      if (!isWhole(heads) || !isWhole(dim) || Math.min(heads, dim) < 1) {
        fail(`config of ${family} must say how many heads keep keys, and how wide they are; got ${repr(heads)} and ${repr(dim)}`);
      }
      const other = take(keys, "v_head_dim");
      return heads * (dim + (isWhole(other) && other ? other : dim));
    }

    function traps(config) {
      const [family, keys] = keysOf(config), found = encoding(config, 1), allowed = longest(config), told = [];
      const turning = found.layers.filter(turns).map(one => one.encoding);
      for (const rule of rulesOf(keys)) {
        const kind = kindOf(rule), factor = take(rule, "factor"), original = take(rule, "original_max_position_embeddings");
        const scales = ["yarn", "llama3"].includes(kind);
        if (scales && !truthy(original) && !truthy(take(keys, "original_max_position_embeddings"))) {
          told.push([`No original length: its code takes ${comma(allowed)} for the length before the stretch.`, "parity"]);
        }
        if (scales && truthy(factor) && truthy(original) && truthy(allowed) && !close(factor, allowed / original)) {
          told.push([`The factor is ${short(factor)}, the quotient of its lengths ${short(allowed / original)}.`, "stretch"]);
        }
        const at = or(original, take(keys, "original_max_position_embeddings"), allowed);
        if (kind === "longrope" && truthy(at)) {
          told.push([`Its divisors switch past ${comma(at)} tokens: keys of a cache keep those that they had.`, "stretch"]);
        }
        if (["linear", "yarn", "llama3"].includes(kind)) {
          told.push([serving.stretched_later.includes(family) ? serving.optional.replace("{}", kind) : serving.released, "released"]);
        }
        if (kind === "dynamic") {
          told.push(["The base hangs on the length of the text: keys of a cache keep the base that they had.", "stretch"]);
        }
        if (take(rule, "attn_factor") !== null) {
          told.push(["attn_factor is passed over by transformers and vLLM, and multiplies in llama.cpp and SGLang.", "factors"]);
        }
        if (take(rule, "truncate") === false) {
          told.push(["The ends of YaRN's ramp are not rounded; older code rounds them.", "layouts"]);
        }
      }
      if (new Set(turning.map(one => one.base)).size > 1) {
        told.push(["It has two bases: a new one belongs to one kind of layer.", "layouts"]);
      }
      if (turning.some(one => one.layout === "interleaved")) {
        told.push(["Pairs are neighbors: code that turns halves needs its weights sorted.", "layouts"]);
      }
      if (found.first) told.push([`Its first token stands at row ${found.first} of the table, and not at row 0.`, "table"]);
      if (found.layers.some(one => one.encoding?.divided)) {
        told.push(["Its slopes are divided by the square root of a head's features.", "slopes"]);
      }
      const once = new Map(told.map(one => [one.join("\n"), one]));
      return [...once.values()].map(([sentence, section]) => [sentence, serving.sections[section]]);
    }
    const close = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

    function settings(config, tokens, program, trained = null, rule = null) {
      checkCount(trained === null ? {tokens} : {tokens, trained});
      if (!has(serving.programs, program)) {
        fail(`program must be one of ${Object.keys(serving.programs).join(", ")}; got ${repr(program)}`);
      }
      checkRule(rule, program);
      const [family, keys] = keysOf(config), found = encoding(config, tokens), told = or(trained, originalLength(config));
      const nested = config.model_type !== family, key = longestKey(keys) ?? LENGTHS[0], table = rowsOf(found), turning = found.layers.filter(turns);
      const place = nested && !has(config, "text_config") && tables.elsewhere.find(name => has(config, name));
      if (place) fail(`${config.model_type} has its text in ${place}, for which no settings are known`);
      if (table) fail(`${family} has a table of ${comma(table)} rows, and none past them`);
      const slopes = longestKey(keys) && found.layers.some(one => one.encoding?.kind === "ALiBi");
      if (!turning.length && !slopes) fail(`${family} turns nothing, so there is nothing to stretch`);
      const said = needless(config, turning, tokens, told, rule);
      if (said) return said;
      if (onlyLonger(turning, tokens, told)) {
        if (!truthy(told) || tokens > told) checkKept(program, family, turning);
        return served(program, {[key]: tokens}, tokens, nested) + uncapped(program, tokens);
      }
      const length = or(told, longest(config));
      checkCode(family, program, rule ?? "yarn");
      const rope = turnedAlike(family, keys, turning, length, or(longest(config), length), rule);
      const [scaled, base] = ruled(rule ?? "yarn", rope, tokens, length);
      Object.assign(scaled, sections(rope));
      if (program === "llama.cpp") {
        const fits = scaled.rope_type === "yarn" || tokens <= or(longest(config), length);
        return served(program, {}, tokens, nested) + flags(scaled, base) + (fits ? "" : uncapped(program, tokens));
      }
      const bare = serving.headless.includes(family) && !truthy(take(ofItsText(config)[1], "head_dim"));
      const width = bare && program.startsWith("transformers") && rule !== "ntk" ? {head_dim: rope.dim} : {};
      if (program === "transformers4") return served(program, {...older(scaled, base), ...width, [key]: tokens}, tokens, nested);
      const whole = {...scaled, rope_theta: base};
      if (program === "vllm" && scaled.rope_type === "yarn" && hasLongerTable(family, rope)) Object.assign(whole, {beta_fast: new Float(128), beta_slow: new Float(4)});
      if (rope.rotary !== rope.dim || take(keys, "partial_rotary_factor") !== null) whole.partial_rotary_factor = float(rope.rotary / rope.dim);
      return served(program, {[program === "sglang" ? "rope_scaling" : "rope_parameters"]: whole, ...width, [key]: tokens}, tokens, nested);
    }

    function checkRule(rule, program) {
      if (rule === null) return;
      const known = [...Object.keys(serving.rules), ...Object.keys(serving.unset)];
      if (!known.includes(rule)) fail(`rule must be one of ${known.join(", ")}; got ${repr(rule)}`);
      if (has(serving.unset, rule)) fail(serving.unset[rule]);
      if (program === "llama.cpp" && rule === "llama3") fail("llama.cpp has no flag for Llama 3's rule: it reads its divisors from the model's file");
    }

    const stretched = turning => turning.some(one => one.encoding.rule && rules.stretches.includes(one.encoding.rule.kind));

    function onlyLonger(turning, tokens, told) {
      if (stretched(turning)) return false;
      return (truthy(told) && tokens <= told) || turning.every(one => (one.window || one.chunk) && one.compressed === null);
    }

    function needless(config, turning, tokens, told, rule) {
      const allowed = or(longest(config), told), begun = `# Nothing to set: ${comma(tokens)} is within`;
      if (!truthy(allowed) || tokens > allowed) return null;
      if (stretched(turning)) return `${begun} its stretch.`;
      if (turning.length && truthy(told) && tokens <= told) return `${begun} the length of its training.`;
      const allows = fileAllows(config) ? "what its file allows" : "what its class takes";
      if (!truthy(told) || onlyLonger(turning, tokens, told)) return `${begun} ${allows}.`;
      return rule ? null : `${begun} ${allows}; the texts of its training had ${comma(told)}.`;
    }

    function turnedAlike(family, keys, turning, trained, allowed, rule) {
      if (trained === null) fail("trained must say the length of the training, because the configuration does not; got None");
      if (stretched(turning)) fail(`${family} is stretched to ${comma(allowed)} tokens as it is; no second stretch is known for it`);
      const ropes = turning.map(one => one.encoding), ways = new Set(ropes.map(one => [one.base, one.layout, one.rotary].join(" ")));
      if (ways.size > 1 || rulesOf(keys).length > 1) fail(`${family} turns in two ways, and one rule is not for both`);
      if (rule === "ntk" && ropes[0].rotary === 2) fail(`${family} turns one pair, whose pace no base changes`);
      if (rule === "ntk" && (serving.two_bases.includes(family) || has(keys, "layer_rope_theta"))) fail(`${family} keeps its base in two places, and a setting changes one of them`);
      return ropes[0];
    }

    function ruled(rule, rope, tokens, trained) {
      if (rule === "ntk") {
        const base = rope.base * (tokens / trained) ** (rope.rotary / (rope.rotary - 2));
        return [{rope_type: "default"}, float(Number(base.toPrecision(7)))];
      }
      const made = {rope_type: rule, factor: float(Math.ceil((10_000 * tokens) / trained) / 10_000)};
      if (rule === "llama3") Object.assign(made, {low_freq_factor: new Float(1), high_freq_factor: new Float(4)});
      if (rule !== "linear") made.original_max_position_embeddings = trained;
      return [made, float(rope.base)];
    }

    function sections({kind, deal, axes}) {
      if (kind !== "MRoPE") return {};
      const sizes = range(axes).map(axis => deal.filter(own => own === axis).length), blocks = DEALS.blocks(sizes);
      return {mrope_section: sizes, ...(deal.every((axis, i) => axis === blocks[i]) ? {} : {mrope_interleaved: true})};
    }

    const older = (rule, base) => rule.rope_type === "default" ? {rope_theta: base} : {rope_scaling: rule};

    function flags(rule, base) {
      if (rule.rope_type === "default") return ` --rope-freq-base ${Number(base)}`;
      const original = rule.rope_type === "yarn" ? ` --yarn-orig-ctx ${rule.original_max_position_embeddings}` : "";
      return ` --rope-scaling ${rule.rope_type} --rope-scale ${short(rule.factor)}${original}`;
    }

    function uncapped(program, tokens) {
      return program === "llama.cpp" ? serving.uncapped.replace("{}", tokens) : "";
    }

    const hasLongerTable = (family, rope) => rope.kind === "MRoPE" && !serving.one_table.includes(family);

    function checkCode(family, program, rule) {
      if (serving.own.includes(family)) fail(`${family} has code of its own, for which no settings are known`);
      const inAll = serving.otherwise.includes(family), passedOver = has(serving.passed_over, program) ? serving.passed_over[program] : [];
      if (!inAll && (rule === "ntk" || !passedOver.includes(family))) return;
      const whose = inAll ? "code" : `code in ${serving.programs[program].split(",")[0]}`;
      fail(`${family} has ${whose} that knows no ${serving.rules[rule]}, so a setting would do nothing or fail`);
    }

    function checkKept(program, family, turning) {
      if (!has(serving.keeps, program) || serving.keeps[program].includes(family)) return;
      const what = turning.length ? "windows" : "slopes";
      fail(`${serving.programs[program].split(",")[0]} is not known to have the ${what} of ${family}, so no settings are known`);
    }

    function served(program, changed, tokens, nested) {
      const said = dumps(nested ? {text_config: changed} : changed), place = nested ? "config.text_config" : "config";
      const lines = () => Object.entries(changed).map(([key, value]) => `${place}.${key} = ${repr(value)}`).join("\n");
      return {
        transformers: lines,
        transformers4: lines,
        vllm: () => `vllm serve MODEL --max-model-len ${tokens} --hf-overrides '${said}'`,
        sglang: () => `python -m sglang.launch_server --model-path MODEL --context-length ${tokens} --json-model-override-args '${said}'`,
        "llama.cpp": () => `llama-server -m MODEL.gguf -c ${tokens}`,
      }[program]();
    }

    // In one sentence, as d2lpos/pretrained/sentence.py has it.

    function sentence(found, trained = null, name = null) {
      if (trained !== null) checkPositive({trained});
      const {encoder, serving: said} = found, what = doings(found, said.longest);
      const parts = [`${name || `The model (${found.family})`}${encoder ? ", in its decoder," : ""} ${what}`, ...besides(found)];
      if (encoder) {
        const other = doings(encoder, said.longest);
        parts.push(`its encoder ${other === what ? "does the same" : other}`);
      }
      return `${[...parts, ...lengths(found, trained)].join("; ")}.`;
    }

    function doings(found, farthest) {
      const layers = found.layers.map(kind => found.kinds[kind]), told = [], done = new Map();
      if (found.input) told.push(`adds ${{Learned: "a learned row", Sinusoidal: "sinusoids"}[found.input.kind]} for each place to its input`);
      for (const one of layers) {
        const what = one.encoding && door(one.encoding);
        if (what) done.set(what, (done.get(what) ?? 0) + 1);
      }
      for (const [what, count] of done) {
        const [does, kind] = what.split("|");
        told.push(`${does} in ${ofAll(count, layers.length)} (${kind})`);
      }
      if (!layers.some(one => one.attends)) {
        if (!told.length) told.push("adds no positions to its input");
        return listed([...told, `has no attention in its ${counted(layers.length)}`]);
      }
      if (!told.length) told.push("gives its attention no positions");
      return listed([...told, sights(found, layers, farthest, [...done.values()])]);
    }
    function door({kind, axes}) {
      if (has(sentences.adds, kind)) return sentences.adds[kind].join("|");
      const turned = kind === "RoPEValues" ? "queries, keys and values" : "queries and keys";
      return `turns ${turned} by their ${sentences.by[axes]}|${kind === "MRoPE" ? "M-RoPE" : "RoPE"}`;
    }
    function sights(found, layers, farthest, doors) {
      const seen = new Map();
      for (const one of layers.filter(one => one.attends && !one.crosses)) {
        const what = sight(found, one, farthest);
        seen.set(what, (seen.get(what) ?? 0) + 1);
      }
      if (seen.size !== 1) return `sees ${[...seen].map(([what, count]) => `${what} in ${counted(count)}`).join(" and ")}`;
      const [[what, count]] = seen;
      return `sees ${what} in ${doors.length === 1 && doors[0] === count ? "each" : ofAll(count, layers.length)}`;
    }
    function sight(found, {window, chunk, tile, keys, compressed}, farthest) {
      if (window !== null && (farthest === null || window < farthest)) {
        const what = found.causal ? `a window of ${comma(window)} tokens` : `${comma(window - 1)} tokens on each side`;
        return compressed === null ? what : `${what}, with a key for each ${comma(compressed)} before it,`;
      }
      if (chunk !== null) return `its own chunk of ${comma(chunk)} tokens`;
      if (tile !== null) return `its own square of ${tile} × ${tile} cells`;
      if (keys !== null) return `at most ${comma(keys)} tokens that an indexer chooses`;
      return found.pictures ? "the whole picture" : "the whole text";
    }
    function besides(found) {
      const layers = found.layers.map(kind => found.kinds[kind]), attending = layers.filter(one => one.attends && !one.crosses);
      const still = attending.filter(one => one.encoding === null).length, told = [];
      const tell = (count, one, several) => told.push(`${counted(count)} ${count === 1 ? one : several}`);
      if (still && still < attending.length) tell(still, "has no positions", "have no positions");
      const crossing = layers.filter(one => one.crosses).length, without = layers.filter(one => !one.attends).length;
      if (crossing) tell(crossing, "sees a picture", "see a picture");
      if (without && without < layers.length) tell(without, "has no attention", "have no attention");
      return told;
    }
    function lengths(found, trained) {
      const {original, longest: farthest, rows: count} = found.serving;
      const stretched = found.kinds.some(one => one.encoding?.rule && rules.stretches.includes(one.encoding.rule.kind));
      const told = trained === null ? [] : [`it was trained on texts of ${comma(trained)} tokens`];
      if (found.pictures) return told;
      if (count !== null) told.push(`its table ends after ${comma(count)} tokens`);
      else if (stretched && original && farthest && original < farthest) {
        told.push(`its file stretches ${comma(original)} tokens to ${comma(farthest)}`);
      } else if (farthest && farthest === trained) return [`${told[0]}, as many as its ${found.serving.by_class ? "class takes" : "file allows"}`];
      else if (farthest) told.push(`its ${found.serving.by_class ? "class takes" : "file allows"} ${comma(farthest)} tokens`);
      return told.length ? [told.join(", and ")] : [];
    }
    const counted = count => `${count} layer${count === 1 ? "" : "s"}`;
    const ofAll = (count, depth) =>
      count < depth ? `${count} of its ${counted(depth)}` : {1: "its one layer", 2: "both layers"}[depth] ?? `all ${depth} layers`;
    const listed = parts => (parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`);

    const text = said => dumps(said);
    const {releases, names} = bare({releases: tables.releases, names: tables.names}), programs = serving.programs;
    // What fails in another way than by one of our sentences is a value that no key means.
    const inSentences = work => (...said) => {
      try {
        return work(...said);
      } catch (error) {
        throw error.constructor === Error ? error : new Error("a key of this file has a value of another kind than it can have");
      }
    };
    const asked = {parse, read, sentence, settings, newAngles, cacheBytes, traps, without};
    const api = Object.fromEntries(Object.entries(asked).map(([name, work]) => [name, inSentences(work)]));
    return {...api, text, releases, names, programs};
  };
})();
if (typeof module !== "undefined") module.exports = reader;
