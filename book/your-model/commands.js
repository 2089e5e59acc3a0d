// What a command that starts a program does to a model. The twin of d2lpos/config/commands.py, from the same tables; a
// function has the name that it has there.
"use strict";
const readerCommands = (reader, answers) => {
  const {isNumber, isDict, has, get, words, entries, filter, truthy, same, fill} =
    typeof module === "undefined" ? readerWords : require("./words.js");
  const {tables, Refused, entry, read, checkDepth} = reader, {commands, programs} = tables, TEXT = "text_config";
  const WORD = /(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+/g;
  const PIECE = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)/g, SET = /^[A-Za-z_]\w*=/;
  const NUMBER = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)([kKmM]?)$/, TIMES = {"": 1, k: 1000, m: 1e6, K: 1024, M: 1048576};
  const FLAT = ["rope_theta", "partial_rotary_factor"], RULES = Object.values(tables.families.rules).flatMap(words);
  const ROPE = ["rope_parameters", "rope_scaling"], GROWING = ["linear", "dynamic_ntk"];
  const said = (code, fields = {}) => fill(tables.words.commands[code], fields);
  function refuse(code, fields) {
    throw new Refused(code, fields);
  }

  function ran(command, config) {
    const all = (command.replaceAll("\\\n", " ").match(WORD) ?? []).map(unquoted), sets = all.filter(word => SET.test(word));
    const called = all.filter(word => !SET.test(word)).join(" "), cut = word => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)];
    const settings = Object.fromEntries(sets.map(cut)), program = Object.keys(commands).find(name => new RegExp(commands[name].starts).test(called));
    if (!program) refuse("command", {got: command});
    const one = commands[program], flags = flagsOf(all, one), none = {config: null, length: null};
    const gone = words(one.gone).filter(flag => has(flags, flag)).sort();
    if (gone.length) return {program, ...none, notes: gone.map(flag => said("gone", {flag, program: programs[program].name}))};
    const values = Object.fromEntries(entries(flags).filter(([flag]) => has(one.flags, flag)).map(([flag, value]) => [one.flags[flag], value]));
    const unread = words(one.unread).filter(flag => has(flags, flag)), notes = unread.length ? [said("unread", {flags: unread})] : [];
    if (program === "llama.cpp") return {program, ...ofFlags(values, config, notes)};
    const edited = overridden(values.overrides ?? "{}", config, program, notes);
    return {program, ...checkedLength(values.length ?? null, edited, settings, program, notes)};
  }

  const unquoted = word => [...word.matchAll(PIECE)]
    .map(([, one, two, three, four]) => one || (two ?? "").replace(/\\(["\\$`])/g, "$1") || three || four || "").join("");

  function flagsOf(all, one) {
    const unread = words(one.unread), known = [...Object.keys(one.flags), ...words(one.gone), ...unread], flags = {};
    all.forEach((word, i) => {
      const at = word.indexOf("="), whole = at < 0 ? word : word.slice(0, at), name = whole.startsWith("--") ? whole.replaceAll("_", "-") : whole;
      if (!known.includes(name)) return;
      let value = at < 0 ? all[i + 1] ?? "" : word.slice(at + 1);
      if (one.flags[name] === "shared" || unread.includes(name)) value = "on";
      else if (!value || (at < 0 && /^-+[a-z]/.test(value))) refuse("command_value", {flag: name});
      flags[name] = value;
    });
    return flags;
  }

  function numberOf(flag, value) {
    const match = value.match(NUMBER);
    if (!match) refuse("number", {key: flag, got: value});
    return Number(match[1]) * TIMES[match[2]];
  }

  const nameOf = (program, what) => Object.keys(commands[program].flags).find(flag => commands[program].flags[flag] === what);
  function overridden(text, config, program, notes) {
    const flag = nameOf(program, "overrides"), edited = structuredClone(config), inner = isDict(get(config, TEXT)), idle = [];
    let keys = null;
    try {
      keys = JSON.parse(text);
      checkDepth(keys, flag);
    } catch {
      keys = null;
    }
    if (!isDict(keys)) refuse("command_json", {flag, got: text});
    const reading = read(config), vllm = program === "vllm";
    for (const [key, value] of entries(keys)) {
      if (inner && [...ROPE, "rope_theta", "max_position_embeddings"].includes(key)) idle.push(key);
      else if (isDict(value) && isDict(get(edited, key)) && !ROPE.includes(key)) {
        Object.assign(edited[key], filter(value, place => !ROPE.includes(place)));
        for (const place of ROPE) if (has(value, place)) replace(edited[key], place, value[place], reading, program, vllm, flag, notes);
      } else if (ROPE.includes(key) && isDict(value)) replace(edited, key, value, reading, program, !vllm, flag, notes);
      else if (key === "rope_theta" && vllm) notes.push(said("base_alone", {flag}));
      else edited[key] = value;
    }
    if (idle.length) notes.push(said("flat", {flag, keys: idle, outer: reading.outer}));
    const failed = [edited, ...Object.values(edited).filter(isDict)].some(one => get(one, "model_type", "") === FAILED);
    return failed ? null : edited;
  }

  const FAILED = "\u0000";
  function replace(keys, place, value, reading, program, merges, flag, notes) {
    const base = reading.at.rules[""]?.rope_theta ?? null, old = ROPE.map(name => get(keys, name)).find(isDict) ?? {};
    let whole = merges ? {...old, ...value} : {...value};
    if (merges && !has(whole, "rope_theta") && base !== null) whole.rope_theta = base;
    const inner = Object.values(whole).filter(isDict), kinds = inner.length ? inner : [whole];
    if (!merges && !kinds.every(one => has(one, "rope_theta"))) {
      if (place === "rope_scaling") {
        notes.push(said("no_base", {flag}));
        keys.model_type = FAILED;
        return;
      }
      const lost = get(commands[program].bases ?? {}, reading.family, 10000);
      for (const one of kinds) one.rope_theta ??= lost;
      if (base !== null && base !== lost) notes.push(said("lost_base", {flag, base: lost, file: base}));
    }
    if (program === "vllm" && !kinds.every(one => has(one, "rope_type"))) {
      notes.push(said("no_type", {flag}));
      keys.model_type = FAILED;
      return;
    }
    put(keys, reading, whole);
  }

  function put(keys, reading, rules) {
    const aliases = entries(entry(reading.family).aliases).filter(([, key]) => FLAT.includes(key)).map(([name]) => name);
    for (const key of [...ROPE, ...FLAT, ...aliases]) delete keys[key];
    const idle = (key, value) => (key === "type" && has(rules, "rope_type")) || (key === "partial_rotary_factor" && value === 1);
    keys.rope_parameters = filter(rules, (key, value) => !idle(key, value));
  }

  function checkedLength(asked, edited, settings, program, notes) {
    const {longer, grown} = commands[program], none = {config: null, length: null, notes};
    if (edited === null) return none;
    const reading = read(edited), turning = reading.kinds.filter(answers.turns), rules = turning.map(({encoding}) => encoding.rule ?? {});
    const growing = rules.filter(rule => GROWING.includes(rule.kind)).map(rule => rule.factor);
    const begun = Object.values(reading.at.rules).some(one => has(one ?? {}, "original_max_position_embeddings"));
    const grows = growing.length && !(program === "vllm" ? reading.family.startsWith(grown) : begun);
    const allowed = Math.trunc((reading.lengths.allowed || 2048) * (grows ? growing[0] : 1));
    let length = [null, "-1", "auto"].includes(asked) ? allowed : numberOf(nameOf(program, "length"), asked);
    if (program === "vllm" && asked === null && rules.some(rule => rule.kind === "longrope")) length = reading.lengths.original || allowed;
    const ruled = rules.some(rule => rule.kind), over = Object.values(programs[program].passes_over ?? {}).flatMap(words);
    if (program === "sglang" && ruled && over.includes(reading.family)) notes.push(said("passes_over", {family: reading.family}));
    if (length <= allowed) return {config: edited, length, notes};
    const lets = ["1", "true"].includes(get(settings, longer, "").trim().toLowerCase());
    notes.push(said(lets ? "forced" : "stops", {length, allowed, env: longer}));
    return lets ? {config: edited, length, notes} : none;
  }

  function ofFlags(values, config, notes) {
    const reading = read(config), file = reading.lengths.allowed ?? 0, {rules} = reading.at, numbers = {};
    for (const [name, one] of entries(values)) if (!["rule", "shared", "keys"].includes(name)) numbers[name] = numberOf(nameOf("llama.cpp", name), one);
    const raised = get(values, "keys", "").match(/\.context_length=int:(\d+)/);
    let trained = raised ? Number(raised[1]) : file;
    const kind = ["full_attention", ""].find(one => truthy(rules[one] ?? {})) ?? "", rule = rules[kind] ?? {};
    const factor = numbers.factor || (numbers.scale ? 1 / numbers.scale : null), {original} = reading.lengths;
    let form = values.rule || get(rule, "rope_type") || (factor ? "linear" : "default");
    if (form === "default" && factor) form = "linear";
    let made = isNumber(numbers.base) ? {...rule, rope_theta: numbers.base} : rule;
    const ramp = ["original", "beta_fast", "beta_slow"].filter(key => has(numbers, key));
    if (ramp.length && form !== "yarn") notes.push(said("no_yarn", {flags: ramp.map(key => nameOf("llama.cpp", key))}));
    if (values.rule || factor || (ramp.length && form === "yarn")) {
      made = filter(made, key => form === "yarn" || !RULES.includes(key));
      made = {...made, rope_type: form === "none" ? "default" : form, factor: factor || get(rule, "factor") || 1};
      if (form === "yarn") {
        const length = numbers.original || original || trained;
        made.original_max_position_embeddings = length;
        for (const key of ["beta_fast", "beta_slow"]) if (has(numbers, key)) made[key] = numbers[key];
        if (made.factor === 1) notes.push(said("idle"));
        if (trained !== file && !numbers.original && !original) notes.push(said("moved", {length: file}));
        if (made.factor !== (get(rule, "factor") || 1)) trained = Math.trunc(length * made.factor);
      }
      if (!["yarn", "linear"].includes(form) || made.factor === 1) made = {...filter(made, key => !RULES.includes(key)), rope_type: "default"};
    }
    const edited = same(made, rule) ? config : withRule(config, reading, kind, made);
    const whole = numbers.length || trained, slots = has(values, "shared") ? 1 : Math.trunc(numbers.slots ?? 1);
    const length = slots > 1 ? Math.floor(whole / slots) : whole;
    if (slots > 1) notes.push(said("shared", {asked: whole, slots, length}));
    if (length > trained && trained > 0) notes.push(said("capped", {asked: length, allowed: trained}));
    return {config: edited, length: trained ? Math.min(length, trained) : length, notes};
  }

  function withRule(config, reading, kind, rule) {
    const edited = structuredClone(config), text = reading.at.file.reduce((one, place) => one[place], edited);
    delete text.original_max_position_embeddings;
    put(text, reading, kind ? {...filter(reading.at.rules, (_, one) => truthy(one ?? {})), [kind]: rule} : rule);
    return edited;
  }
  return {ran};
};
if (typeof module !== "undefined") module.exports = readerCommands;
