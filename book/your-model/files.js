// A file as people have it: a config.json, Meta's or Mistral's params.json, or the header of a GGUF file. The twin of
// d2lpos/config/load.py and gguf.py, from the same tables; a function has the name that it has there.
"use strict";
const readerFiles = (reader, answers) => {
  const {isList, isNumber, isWhole, isDict, isText, has, get, range, words, entries, fromEntries, filter, truthy, fill} =
    typeof module === "undefined" ? readerWords : require("./words.js");
  const {tables, Refused, read, checked, valuesOf, textOfBytes, checkSize, entry} = reader;
  const {gguf: about, params} = tables, said = tables.words.files;
  const TEXT = 8, LIST = 9, MAGIC = "71,71,85,70", SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8};
  function refuse(code, fields) {
    throw new Refused(code, fields);
  }

  // gguf.py

  class Header {
    constructor(data, name) {
      Object.assign(this, {data, name, place: 8, view: new DataView(data.buffer, data.byteOffset, data.byteLength)});
      if (data.length < 8) refuse("gguf_cut", {name, size: data.length});
      const versions = [true, false].map(little => this.view.getUint32(4, little)), version = Math.min(...versions);
      this.little = versions[0] === version;
      if (version !== 2 && version !== 3) refuse("gguf_version", {name, got: version});
    }
    skip(size) {
      const start = this.place;
      if (size > this.data.length - start) refuse("gguf_cut", {name: this.name, size: this.data.length});
      this.place += size;
      return start;
    }
    number(kind) {
      if (!has(SIZES, kind)) refuse("gguf_type", {name: this.name, got: kind});
      const {view, little} = this, start = this.skip(SIZES[kind]);
      const forms = {
        0: "getUint8", 1: "getInt8", 2: "getUint16", 3: "getInt16", 4: "getUint32", 5: "getInt32", 6: "getFloat32", 7: "getUint8",
        10: "getBigUint64", 11: "getBigInt64", 12: "getFloat64",
      };
      const value = view[forms[kind]](start, little);
      if (kind === 7) return value !== 0;
      return kind === 6 ? rounded(value) : Number(value);
    }
    count(what) {
      const value = this.number(10), most = about.most[what];
      if (value > most) refuse("gguf_count", {name: this.name, what, most, got: value});
      return value;
    }
    text() {
      const size = this.number(10), start = this.skip(size);
      return new TextDecoder("utf-8", {ignoreBOM: true}).decode(this.data.subarray(start, start + size));
    }
    value(kind) {
      if (kind === TEXT) return this.text();
      if (kind !== LIST) return this.number(kind);
      const inner = this.number(4), count = this.count("list");
      if (inner === TEXT) {
        for (let i = 0; i < count; i += 1) this.skip(this.number(10));
        return null;
      }
      if (!has(SIZES, inner)) refuse("gguf_type", {name: this.name, got: inner});
      if (count <= about.most.kept) return range(count).map(() => this.number(inner));
      this.skip(SIZES[inner] * count);
      return null;
    }
  }
  /** Seven digits are what a number of 32 bits holds. */
  const rounded = value => Number(value.toPrecision(7));

  function headerOf(data, name) {
    const head = new Header(data, name), lists = [], most = head.count("tensors"), keys = {};
    for (let left = head.count("keys"); left > 0; left -= 1) {
      const key = head.text();
      keys[key] = head.value(head.number(4));
    }
    for (let i = 0; i < most; i += 1) {
      const key = head.text(), axes = head.number(4);
      if (axes > 4) refuse("gguf_count", {name, what: "axes", most: 4, got: axes});
      const sizes = range(axes).map(() => head.number(10)), kind = head.number(4), start = head.number(10);
      if (kind === 0 && axes === 1 && sizes[0] <= about.most.kept) lists.push([key, start, sizes[0]]);
    }
    const each = get(keys, "general.alignment") || 32, begin = Math.ceil(head.place / each) * each;
    return [keys, fromEntries(lists.map(([key, start, size]) => [key, [begin + start, size]])), head.little];
  }

  function configOf(keys, tensor, name) {
    const arch = get(keys, "general.architecture");
    if (!isText(arch)) refuse("gguf_no_key", {name, key: "general.architecture"});
    if (!has(about.architectures, arch)) refuse("gguf_architecture", {name, got: arch});
    const inner = entries(keys).filter(([key]) => key.startsWith(`${arch}.`));
    const own = fromEntries(inner.map(([key, value]) => [key.slice(arch.length + 1), value]));
    checkStrange(own, arch, name);
    const known = entries(own).filter(([key]) => has(about.keys, key)).map(([key, value]) => [about.keys[key], value]);
    const config = {model_type: about.architectures[arch], ...fromEntries(known)};
    if (get(own, "attention.causal") === false) config.is_causal = false;
    for (const key of ["block_count", "attention.head_count", "embedding_length"]) {
      if (get(own, key) === null) refuse("gguf_no_key", {name, key: `${arch}.${key}`});
    }
    config.num_hidden_layers = checkSize("block_count", own.block_count) - get(own, "nextn_predict_layers", 0);
    const made = kindsOf(arch, own, config, name);
    Object.assign(config, made, sizesOf(arch, own, config, name));
    return {...config, ...ropeOf(arch, own, config, tensor, name)};
  }

  function checkStrange(own, arch, name) {
    const scaling = Object.keys(about.scaling).map(key => `rope.scaling.${key}`), others = words(about.no_numbers);
    const understood = [...Object.keys(about.keys), ...scaling, ...words(about.understood)];
    const strange = filter(own, key => !understood.includes(key) && /^(rope|attention)\./.test(key));
    if (truthy(strange)) refuse("gguf_strange", {name, arch, keys: strange});
    for (const [key, value] of entries(own)) {
      const numeric = understood.includes(key) && !others.includes(key);
      if (numeric && !(isList(value) ? value : [value]).every(isNumber)) refuse("number", {key: `${arch}.${key}`, got: value});
    }
  }

  function kindsOf(arch, own, config, name) {
    const depth = config.num_hidden_layers, made = {};
    let pattern = get(own, "attention.sliding_window_pattern");
    if (isWhole(pattern) && pattern > 0) {
      const period = pattern;
      pattern = range(depth).map(i => i % period < period - 1);
    }
    if (isList(pattern) && words(about.windows).includes(arch)) {
      made.layer_types = pattern.slice(0, depth).map(one => (truthy(one) ? "sliding_attention" : "full_attention"));
    }
    for (const key of ["num_attention_heads", "num_key_value_heads", "sliding_window", "head_dim"]) {
      const each = get(config, key);
      if (!isList(each)) continue;
      const numbers = [...new Set(each.slice(0, depth))].filter(one => one !== 0).sort((one, other) => one - other);
      if (numbers.length !== 1) refuse("gguf_uneven", {name, key, got: numbers});
      if (each.includes(0) && has(about.without_attention, arch)) {
        made.layer_types = each.slice(0, depth).map(one => (one ? "full_attention" : about.without_attention[arch]));
      }
      [made[key]] = numbers;
    }
    return made;
  }

  function sizesOf(arch, own, config, name) {
    const rotary = get(own, "rope.dimension_count"), heads = checkSize("attention.head_count", config.num_attention_heads);
    const dim = get(own, "attention.key_length") || Math.floor(checkSize("embedding_length", config.hidden_size) / heads);
    if (rotary !== null) checkSize("rope.dimension_count", rotary);
    if (arch === about.mla) {
      if (rotary === null) refuse("gguf_no_key", {name, key: `${arch}.rope.dimension_count`});
      const whole = get(own, "attention.key_length_mla") || dim;
      const value = get(own, "attention.value_length_mla") || get(own, "attention.value_length") || whole - rotary;
      const sizes = {qk_rope_head_dim: rotary, qk_nope_head_dim: whole - rotary, v_head_dim: value};
      return {...sizes, head_dim: null, num_key_value_heads: heads};
    }
    if (rotary === null || rotary === dim) return {};
    return arch === about.rotary_dim ? {rotary_dim: rotary} : {partial_rotary_factor: rotary / dim};
  }

  function ropeOf(arch, own, config, tensor, name) {
    const kind = get(own, "rope.scaling.type") || "none", of = key => get(own, `rope.scaling.${key}`);
    const spelled = entries(about.scaling).filter(([key]) => of(key) !== null).map(([key, one]) => [one, of(key)]);
    const {original_max_position_embeddings: original = null, ...rest} = fromEntries(spelled);
    const [short, long] = ["short", "long"].map(which => tensor(`rope_factors_${which}.weight`));
    if (truthy(short) && truthy(long)) {
      const rule = {rope_type: "longrope", short_factor: short, long_factor: long, attention_factor: of("attn_factor")};
      return {rope_scaling: rule, original_max_position_embeddings: original};
    }
    if ((of("attn_factor") ?? 1) !== 1 || !["none", "linear", "yarn"].includes(kind)) {
      const keys = ["rope.scaling.type", "rope.scaling.attn_factor"].filter(key => has(own, key));
      refuse("gguf_strange", {name, arch, keys: fromEntries(keys.map(key => [key, own[key]]))});
    }
    const divisors = tensor("rope_freqs.weight");
    if (truthy(divisors)) return {rope_scaling: llama3Of(divisors, config, name)};
    let rule = kind === "none" ? {} : {rope_type: kind, ...rest};
    if (kind === "yarn") {
      const usual = get(entry(config.model_type).keys, "rope_parameters", {}), weight = of("yarn_log_multiplier");
      rule = {...rule, ...(original === null ? {} : {original_max_position_embeddings: original})};
      rule = {...rule, ...filter(usual, key => key === "truncate"), ...(weight ? {mscale: weight * 10, mscale_all_dim: weight * 10} : {})};
    }
    const sections = get(own, "rope.dimension_sections");
    if (truthy(sections)) rule = {rope_type: "default", ...rule, mrope_section: sections.filter(Boolean)};
    return truthy(rule) ? {rope_scaling: rule} : {};
  }

  function llama3Of(divisors, config, name) {
    const rule = about.llama3, factor = Math.max(...divisors);
    const numbers = {factor, length: rule.original_max_position_embeddings, low: 1, high: 4};
    const encoding = {rotary: 2 * divisors.length, axes: 1, base: config.rope_theta || 10000, rule: null};
    const [[old], [made]] = [null, {kind: "llama3", ...numbers}].map(one => answers.inForce({...encoding, rule: one}));
    const close = (one, other) => Math.abs(one - other) <= 1e-4 * Math.max(Math.abs(one), Math.abs(other));
    if (!divisors.every((divisor, i) => close(old[i] / made[i], divisor))) refuse("gguf_divisors", {name});
    return {...rule, factor};
  }

  // load.py

  /** The configuration that a file holds and sentences on it; of a GGUF file its first bytes, and more(start, size) has others. */
  function load(bytes, name = "the file", more = null) {
    const data = new Uint8Array(bytes);
    if (String(data.slice(0, 4)) === MAGIC) return ofGguf(data, name, more ?? ((start, size) => data.slice(start, start + size)));
    const notes = ["255,254", "254,255"].includes(String(data.slice(0, 2))) ? [fill(said.utf16, {name})] : [];
    let values = valuesOf(textOfBytes(data, name), name);
    if (isParams(values)) {
      const [config, more_notes] = ofParams(values, name);
      return [config, [...notes, ...more_notes]];
    }
    if (has(values, "speculators_model_type")) values = {model_type: values.speculators_model_type, ...values};
    return [checked(values, name), [...notes, ...notesOnDraft(values)]];
  }

  function ofGguf(data, name, more) {
    const [keys, tensors, little] = headerOf(data, name);
    const tensor = key => {
      if (!has(tensors, key)) return null;
      const [start, size] = tensors[key], part = more(start, 4 * size);
      if (part.length < 4 * size) refuse("gguf_cut", {name, size: start + part.length});
      const view = new DataView(part.buffer, part.byteOffset);
      return range(size).map(i => rounded(view.getFloat32(4 * i, little)));
    };
    let config;
    try {
      config = configOf(keys, tensor, name);
    } catch (error) {
      if (error instanceof Refused) throw error;
      refuse("odd", {why: `${error.name}, ${error.message}`});
    }
    const arch = keys["general.architecture"], left = leftOut(config), notes = [fill(said.gguf, {name, arch})];
    if (truthy(left)) notes.push(fill(said.left, {family: config.model_type, left}));
    const stated = get(config, "rope_theta"), thetas = stated ? Object.values(get(entry(config.model_type), "thetas", {})) : [];
    for (const key of thetas) if (has(left, key)) notes.push(fill(said.one_base, {stated, other: left[key]}));
    return [config, words(about.sorted).includes(arch) ? [...notes, said.sorted] : notes];
  }

  function leftOut(config) {
    const reading = read(config), {thetas = {}, keys} = entry(config.model_type), kinds = {};
    const bases = entries(thetas).filter(([, key]) => !has(config, key)).map(([kind, key]) => [key, keys.rope_theta[kind]]);
    for (const one of reading.layers) kinds[reading.kinds[one].type] = get(kinds, reading.kinds[one].type, 0) + 1;
    const types = Object.keys(kinds).length > 1 && !has(config, "layer_types") ? {layer_types: kinds} : {};
    return {...reading.defaults, ...fromEntries(bases), ...types};
  }

  const isParams = values => params.marks.every(key => has(values, key)) && [null, "transformer"].includes(get(values, "model_type"));
  function ofParams(values, name) {
    const [experts, yarn, temperature] = ["moe", "yarn", "llama_4_scaling"].map(key => {
      const one = get(values, key);
      if (one !== null && !isDict(one)) refuse("dictionary", {key, got: one});
      return one ?? {};
    });
    const silent = words(params.silent), spelled = entries(values).filter(([key]) => !silent.includes(key));
    const config = fromEntries(spelled.map(([key, one]) => [get(params.keys, key, key), one]));
    for (const [name, key] of entries(params.moe)) if (has(experts, name)) config[key] = experts[name];
    Object.assign(config, windowsOf(values, config));
    const strange = Object.keys(yarn).filter(key => !has(params.yarn, key) && key !== "apply_scale").sort();
    if (strange.length) refuse("strange_keys_within", {key: "yarn", names: strange});
    const every = {...values, ...config}, stretches = truthy(yarn), warm = truthy(temperature);
    const [, family] = entries(params.families).find(([key]) => truthy(get(every, key) ?? false)) ?? [null, params.family];
    let rule = stretches ? {rope_type: "yarn"} : {};
    for (const [key, one] of entries(yarn)) if (key !== "apply_scale") rule[params.yarn[key]] = one;
    if (stretches && has(values, "qk_rope_head_dim")) Object.assign(rule, params.latent);
    else if (get(yarn, "apply_scale") === false) rule.attention_factor = 1;
    if (truthy(get(values, "use_scaled_rope"))) {
      const numbers = entries(params.llama3_keys).filter(([key]) => get(values, key) !== null);
      rule = {...params.llama3, ...fromEntries(numbers.map(([key, one]) => [one, values[key]]))};
    }
    if (warm) {
      const original = get(temperature, "original_max_position_embeddings");
      rule = {original_max_position_embeddings: original, ...rule, llama_4_scaling_beta: get(temperature, "beta")};
    }
    const length = get(config, "max_position_embeddings");
    config.max_position_embeddings = length;
    if (warm && has(config, "rope_theta")) {
      rule.rope_theta = config.rope_theta;
      delete config.rope_theta;
    }
    const notes = [fill(said.params, {name, family})];
    if (length === null) notes.push(said.no_length);
    if (truthy(get(values, "use_scaled_rope"))) notes.push(said.scaled);
    return [{model_type: family, _from: "params.json", ...config, ...(truthy(rule) ? {[warm ? "rope_parameters" : "rope_scaling"]: rule} : {})}, notes];
  }

  function windowsOf(values, config) {
    const windows = get(values, "sliding_window"), depth = config.num_hidden_layers;
    if (!isList(windows)) return windows === null ? {} : {sliding_window: windows};
    const sizes = [...new Set(windows)].filter(one => one !== null);
    const fits = isWhole(depth) && depth <= 10000 && windows.length && depth % windows.length === 0;
    if (sizes.length > 1 || !fits) refuse("params_windows", {got: windows});
    const types = windows.map(one => (one === null ? "full_attention" : "sliding_attention"));
    return {layer_types: range(depth).map(i => types[i % types.length]), sliding_window: sizes[0] ?? null};
  }

  function notesOnDraft(config) {
    const marks = words(said.draft_marks).filter(key => get(config, key) !== null);
    return marks.length ? [fill(said.draft, {keys: marks})] : [];
  }

  /** A File of the browser: of one that begins as GGUF only the first bytes are read, and the divisors that it may have. */
  async function open(file) {
    const bytes = async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer());
    if (String(await bytes(0, 4)) !== MAGIC) return load(await bytes(0, file.size), file.name);
    const data = await bytes(0, about.prefix), [, tensors] = headerOf(data, file.name), parts = new Map();
    const asked = entries(tensors).filter(([key]) => key.startsWith("rope_"));
    for (const [, [start, size]] of asked) parts.set(start, await bytes(start, start + 4 * size));
    return load(data, file.name, start => parts.get(start));
  }
  return {load, open};
};
if (typeof module !== "undefined") module.exports = readerFiles;
