// What follows from a reading: frequencies, new angles, what a token sees, a sentence, memory, traps and settings. The twin
// of what d2lpos/config has beside read.py, from the same tables; functions have the names that they have there.
"use strict";
const readerAnswers = ({checkFactor, entry, kindOf, refuse, tables}) => {
  const {
    isList, isDict, isText, isFlag, has, get, words, entries, fromEntries, filter, truthy, either, fill, listed,
  } = typeof module === "undefined" ? readerWords : require("./words.js");
  const {words: says, programs, settings: known} = tables;
  const TAU = 2 * Math.PI, STRETCHES = ["dynamic_ntk", "linear", "llama3", "longrope", "ntk", "yarn"], TEXT = "text_config";
  const layersOf = part => part.layers.map(kind => part.kinds[kind]);

  // angles.py

  const turns = layer => layer.encoding !== null && "rotary" in layer.encoding;
  const stretched = reading => reading.kinds.some(layer => turns(layer) && STRETCHES.includes(layer.encoding.rule?.kind));
  const withinWindow = layer => Boolean(layer.window || layer.chunk) && layer.compressed === null;
  function reach(reading) {
    const rules = reading.kinds.filter(one => turns(one) && !withinWindow(one)).map(one => one.encoding.rule);
    return rules.length && Math.min(...rules.map(rule => (rule?.kind === "yarn" ? Math.trunc(rule.factor * rule.length) : 0)));
  }
  function plain({base, rotary, axes, deal}) {
    const size = deal ? rotary : Math.floor(rotary / axes);
    return Array.from({length: Math.floor(size / 2)}, (_, i) => base ** (-2 * i / size));
  }
  const inForce = (encoding, tokens = 1) =>
    encoding.rule ? RULES[encoding.rule.kind](plain(encoding), encoding.rule, tokens) : [plain(encoding), 1];
  const between = (low, value, high) => Math.min(Math.max(value, low), high);
  const RULES = {
    interlaced: old => [[...old.filter((_, i) => i % 2 === 0), ...old.filter((_, i) => i % 2)], 1],
    linear: (old, {factor}) => [old.map(one => one / factor), 1],
    proportional(old, {share, factor}) {
      const moving = Math.trunc(share * old.length);
      return [old.map((one, i) => (i < moving ? one / factor : 0)), 1];
    },
    dynamic_ntk(old, {factor, length}, tokens) {
      return RULES.ntk(old, {factor: factor * Math.max(tokens / length, 1) - (factor - 1)});
    },
    ntk: (old, {factor}) => [old.map((one, i) => one * factor ** -(i / Math.max(old.length - 1, 1))), 1],
    longrope(old, rule, tokens) {
      const {length, factor, attention_factor: own, attention_factors: both} = rule, long = tokens > length;
      const usual = factor > 1 ? Math.sqrt(1 + Math.log(factor) / Math.log(length)) : 1;
      return [old.map((one, i) => one / rule[long ? "long" : "short"][i]), (both ? both[Number(long)] : own) ?? usual];
    },
    llama3(old, {low, high, length, factor}) {
      const kept = rounds => (low < high ? between(0, (rounds - low) / (high - low), 1) : Number(rounds >= low));
      const scaled = (one, part) => one * (part + (1 - part) / factor);
      return [old.map(one => scaled(one, kept(length * one / TAU))), 1];
    },
    yarn(old, rule) {
      const {factor, attention_factor: own} = rule, [first, last] = ends(old, rule);
      const part = i => between(0, (i - first) / Math.max(last - first, 1e-3), 1);
      return [old.map((one, i) => one * (1 - part(i) + part(i) / factor)), own ?? 0.1 * Math.log(factor) + 1];
    },
  };
  function ends(old, {length, beta_fast, beta_slow, truncate}) {
    const step = old.length > 1 ? Math.log(old[0] / old[1]) : 1, rounds = length * old[0] / TAU;
    const [first, last] = [beta_fast, beta_slow].map(end => Math.log(rounds / end) / step);
    return [Math.max(truncate ? Math.floor(first) : first, 0), Math.min(truncate ? Math.ceil(last) : last, 2 * old.length - 1)];
  }
  function fresh({encoding, window, chunk, compressed}, trained, tokens) {
    const [omega] = inForce(encoding, tokens), first = encoding.rule?.kind === "dynamic_ntk" ? plain(encoding) : omega;
    const limits = [window, chunk].filter(size => size && compressed === null);
    const far = Math.min(tokens, ...limits), known = Math.min(trained, ...limits);
    return omega.map((one, i) => {
      const angle = known * first[i];
      return angle < TAU && far * one > angle * (1 + 1e-9) && one > 0;
    });
  }
  function slopes({heads, octaves, divided}) {
    const below = 2 ** Math.floor(Math.log2(heads)), step = head => (head < below ? head + 1 : head - below + 0.5);
    return Array.from({length: heads}, (_, head) => 2 ** (-octaves / below * step(head)) / Math.sqrt(divided ?? 1));
  }

  // sight.py

  function sight(part, {window, chunk, tile, keys, compressed: each}, longest) {
    if (window !== null && (longest === null || window < longest)) {
      return part.causal ? {kind: "window", tokens: window, each} : {kind: "sides", tokens: window - 1, each};
    }
    if (chunk !== null) return {kind: "chunk", tokens: chunk};
    if (tile !== null) return {kind: "tile", cells: tile};
    return keys === null ? {kind: part.pictures ? "picture" : "text"} : {kind: "indexer", tokens: keys};
  }
  const longestOf = ({lengths: {allowed}}, tokens) => allowed && Math.max(allowed, tokens);
  function sees(seeing) {
    const what = fill(says.sight[seeing.kind], seeing);
    return (seeing.each ?? null) === null ? what : fill(says.sight.compressed, {what, ...seeing});
  }

  // sentence.py

  function tally(values) {
    const counts = new Map();
    for (const one of values) counts.set(one, (counts.get(one) ?? 0) + 1);
    return counts;
  }
  const counted = n => fill(says.counts[n === 1 ? "layer" : "layers"], {n});
  function where(some, n) {
    if (some < n) return fill(says.counts.some, {some, layers: counted(n)});
    return {1: says.counts.one, 2: says.counts.two}[n] ?? fill(says.counts.all, {n});
  }
  function sentence(reading, trained = null, name = null, tokens = null) {
    const {encoder} = reading, {parts} = says, longest = longestOf(reading, tokens), what = doings(reading, longest);
    const model = name ?? fill(says.subject, reading), subject = encoder ? fill(parts.decoder, {subject: model}) : model;
    const clauses = [`${subject} ${what}`, ...besides(reading)], other = encoder && doings(encoder, longest);
    if (encoder) clauses.push(fill(parts.encoder, {what: other === what ? parts.same : other}));
    return `${[...clauses, ...lengthsInWords(reading, trained)].join("; ")}.`;
  }
  function doings(part, longest) {
    const {does, encodings} = says, layers = layersOf(part), doors = layers.filter(one => one.encoding).map(one => door(one.encoding));
    const clauses = part.input ? [fill(does.input, {what: encodings[part.input.kind].does})] : [], counts = tally(doors);
    for (const [what, count] of counts) clauses.push(fill(does.layers, {where: where(count, layers.length), ...JSON.parse(what)}));
    const attends = layers.some(layer => layer.attends), none = attends ? does.none : does.no_input;
    const still = fill(does.no_attention, {layers: counted(layers.length)});
    return listed([...(clauses.length ? clauses : [none]), attends ? sights(part, layers, longest, [...counts.values()]) : still]);
  }
  function door({kind, axes}) {
    const {does, turns: turned, name} = says.encodings[kind];
    return JSON.stringify({what: turned ? fill(says.does.turns, {what: turned, by: says.by[axes]}) : does, name});
  }
  function sights(part, layers, longest, counts) {
    const seeing = tally(layers.filter(one => one.attends && !one.crosses).map(one => sees(sight(part, one, longest))));
    const each = count => counts.length === 1 && counts[0] === count;
    const whole = count => (each(count) ? says.counts.each : where(count, layers.length));
    const places = [...seeing].map(([what, count]) => fill(says.does.in, {what, where: seeing.size === 1 ? whole(count) : counted(count)}));
    return fill(says.does.sees, {what: places.join(" and ")});
  }
  function besides(reading) {
    const layers = layersOf(reading), attending = layers.filter(one => one.attends && !one.crosses);
    const [silent, crossing] = [attending.filter(one => !one.encoding).length, layers.filter(one => one.crosses).length];
    const still = layers.filter(one => !one.attends).length;
    const counts = {silent: silent < attending.length ? silent : 0, crossing, still: still < layers.length ? still : 0};
    return entries(counts).filter(([, n]) => n).map(([key, n]) => fill(says.besides[key][Number(n !== 1)], {layers: counted(n)}));
  }
  function lengthsInWords(reading, trained) {
    const {original, allowed, rows, by_class} = reading.lengths, text = says.lengths, by = says.allows[by_class ? "class" : "file"];
    const clauses = trained === null ? [] : [fill(text.trained, {tokens: trained})];
    if (reading.pictures) return clauses;
    if (rows !== null) clauses.push(fill(text.rows, {rows}));
    else if (allowed && allowed < reach(reading)) clauses.push(fill(text.beyond, {reach: reach(reading), by, allowed}));
    else if (stretched(reading) && original && allowed && original < allowed) clauses.push(fill(text.stretch, {original, allowed}));
    else if (allowed && allowed === trained) return [fill(text.as_many, {trained: clauses[0], by})];
    else if (allowed) clauses.push(fill(text.allows, {by, allowed}));
    return clauses.length ? [clauses.join(text.and)] : [];
  }

  // memory.py

  function memory(reading, tokens, number = 2, page = 1, whole = false) {
    const rows = limit => Math.ceil((whole ? tokens : Math.min(tokens, limit)) / page) * page;
    return fromEntries(entries(numbers(reading, tokens, rows)).map(([kind, size]) => [kind, number * size]));
  }
  function numbers(reading, tokens, rows) {
    const sizes = {}, add = (kind, size) => { sizes[kind] = (sizes[kind] ?? 0) + size; };
    if (reading.pictures) refuse(reading.cache_refusal.code, reading.cache_refusal.fields);
    for (const layer of reading.causal ? layersOf(reading) : []) {
      if (!layer.attends || layer.crosses) continue;
      if (layer.cache === null) refuse(reading.cache_refusal.code, reading.cache_refusal.fields);
      const [kind, limit] = limitOf(reading, layer, tokens);
      add(kind, rows(limit) * layer.cache);
      if (layer.indexer) add("indexer", rows(limit) * layer.indexer.dim);
    }
    return sizes;
  }
  function limitOf(reading, layer, tokens) {
    const {kind} = sight(reading, layer, longestOf(reading, tokens));
    if (["window", "sides"].includes(kind)) return ["window", layer.window];
    return kind === "chunk" ? ["chunk", layer.chunk] : ["full", Infinity];
  }

  // traps.py

  function traps(reading) {
    const rules = Object.values(reading.at.rules).filter(truthy).flatMap(rule => [...ofRule(rule, reading)]);
    const every = new Map([...rules, ...ofLayers(reading)].map(trap => [JSON.stringify(trap), trap]));
    return [...every.values()].map(([code, fields = {}]) => ({code, fields}));
  }
  function inWords({code, fields}) {
    const [sentence, section] = says.traps[code];
    return [fill(sentence, fields), says.sections[section]];
  }
  function* ofRule(rule, {family, lengths: {allowed}, at}) {
    const rope = kindOf(rule), of = key => get(rule, key), factor = of("factor"), original = of("original_max_position_embeddings");
    const outer = get(at.keys, "original_max_position_embeddings"), families = get(says.released_with, rope);
    if (["yarn", "llama3"].includes(rope)) {
      const quotient = allowed / original, close = Math.abs(factor - quotient) <= 1e-9 * Math.max(factor, quotient);
      if (allowed && !original && !outer) yield ["no_original", {allowed}];
      if (factor && original && allowed && !close) yield ["quotient", {factor, quotient}];
    }
    if (rope === "longrope" && (original || outer || allowed)) yield ["switch", {tokens: original || outer || allowed}];
    if (families) {
      const optional = words(says.released_without_a_stretch).includes(family);
      yield words(families).includes(family) ? ["released"] : [optional ? "optional" : "unsure", {rule: rope}];
    }
    if (rope === "dynamic" && !truthy(of("alpha"))) yield ["dynamic"];
    if (of("attn_factor") !== null) yield ["attn_factor"];
    if (of("truncate") === false) yield ["truncate"];
  }
  function* ofLayers({kinds, first}) {
    const turning = kinds.filter(turns).map(layer => layer.encoding);
    if (new Set(turning.map(({base}) => base)).size > 1) yield ["bases"];
    if (turning.some(({layout}) => layout === "interleaved")) yield ["neighbors"];
    if (first) yield ["first", {first}];
    if (kinds.some(({encoding}) => (encoding?.divided ?? null) !== null)) yield ["slopes"];
  }

  // edits.py

  function apply(config, changes) {
    const made = (values, [key, ...rest], value) =>
      ({...values, [key]: rest.length ? made(isDict(get(values, key)) ? values[key] : {}, rest, value) : value});
    return changes.reduce((edited, {path, value}) => made(edited, path, value), config);
  }
  function edits(reading, tokens, rule = null, trained = null) {
    const [need] = needed(reading, tokens, trained, rule);
    return need === "nothing" ? [] : planned(reading, need, tokens, rule, trained).edits;
  }
  function planned(reading, need, tokens, rule, trained) {
    const made = need === "rule" ? ruleEdits(reading, tokens, rule ?? "yarn", trained) : {edits: []};
    return {...made, edits: [...made.edits, {path: [...reading.at.file, reading.lengths.key], value: tokens}]};
  }
  function needed(reading, tokens, trained, rule) {
    const {lengths, outer, at} = reading, place = at.file[0] ?? TEXT, turning = reading.kinds.filter(turns);
    if (place !== TEXT) refuseFor(reading, "elsewhere", {outer, place});
    if (lengths.rows) refuseFor(reading, "table", {rows: lengths.rows});
    const slopes = reading.kinds.some(({encoding}) => encoding?.kind === "ALiBi"), silent = !reading.input && reading.kinds.every(({encoding}) => !encoding);
    if (!turning.length && !(lengths.allowed && (silent || slopes))) refuseFor(reading, "nothing");
    const length = trained ?? lengths.original, allowed = lengths.allowed || length, own = stretched(reading);
    const within = Boolean(length && tokens <= length), longer = !own && (within || turning.every(withinWindow));
    if (allowed && tokens <= allowed) {
      const by = lengths.by_class ? "class" : "file";
      if (own) return ["nothing", "stretch"];
      if (turning.length && within) return ["nothing", "training"];
      if (!length || longer) return ["nothing", by];
      if (!rule) return ["nothing", `${by}_beyond`];
    }
    if (tokens <= reach(reading) && lengths.original) return ["length", "stretch"];
    if (longer) return ["length", within ? "training" : turning.length ? "windows" : silent ? "silent" : "slopes"];
    return ["rule", rule ?? "yarn"];
  }

  // stretch.py

  function ruleEdits(reading, tokens, rule, trained) {
    const {lengths, at} = reading, length = trained ?? (lengths.original || lengths.allowed);
    checkCode(reading, rule);
    const [kind, encoding] = target(reading, length), {rotary, base, dim} = encoding;
    const factor = checkFactor(Math.ceil(1e4 * tokens / length) / 1e4);
    if (rule === "ntk") {
      const twice = words(known.two_bases).includes(reading.family) || has(at.keys, "layer_rope_theta");
      if (rotary === 2 || twice) refuseFor(reading, rotary === 2 ? "one_pair" : "two_bases");
      const value = Number((base * (tokens / length) ** (rotary / (rotary - 2))).toPrecision(7));
      const edits = [...apart(reading, kind), ...basePaths(reading, kind).map(path => ({path: [...at.file, ...path], value}))];
      return {kind, encoding, edits, parameters: {rope_theta: value}, beside: {}};
    }
    const written = at.rope ? parametersOf(reading, kind) : {}, share = shareOf(reading, kind, encoding);
    const parameters = {
      ...(has(written, "type") ? {type: rule} : {}),
      rope_type: rule, factor,
      ...(rule === "llama3" ? known.begins : {}),
      ...(rule === "linear" ? {} : {original_max_position_embeddings: length}),
      ...(has(written, "mrope_section") ? {} : sections(encoding)),
      // the class passes over another one where no rule scales
      ...(share === parametersOf(reading, kind).partial_rotary_factor ? {} : {partial_rotary_factor: share}),
      // a class may pass over the one beside until parameters lack theirs
      ...(at.inside && has(at.keys, "rope_theta") ? {rope_theta: base} : {}),
    };
    const beside = {...filter(parameters, key => has(at.keys, key)), ...(needsHeadDim(reading) ? {head_dim: dim} : {})};
    const made = (values, place) => entries(values).map(([key, value]) => ({path: [...at.file, ...place, key], value}));
    const edits = [...apart(reading, kind), ...made(parameters, parametersPath(reading, kind)), ...made(beside, [])];
    return {kind, encoding, edits, parameters, beside};
  }

  function target(reading, length) {
    const byKind = !has(reading.at.rules, "");
    if (length === null) refuseFor(reading, "untold");
    if (stretched(reading)) {
      const {allowed} = reading.lengths, most = reach(reading);
      refuseFor(reading, !allowed ? "unbounded" : most > allowed ? "beyond" : "stretched", {allowed, reach: most});
    }
    const layers = reading.kinds.filter(one => turns(one) && !(byKind && withinWindow(one)));
    const names = new Set(layers.map(({type}) => (byKind ? type : ""))), [{encoding}] = layers;
    const ways = new Set(layers.map(({encoding: {base, layout, rotary}}) => [base, layout, rotary].join()));
    if (names.size > 1 || ways.size > 1 || encoding.rule !== null) refuseFor(reading, "two_ways");
    return [...names, encoding];
  }
  function passedOver({passes_over = {}}, rule) {
    return [...words(passes_over["rules and bases"] ?? ""), ...words(rule === "ntk" ? "" : passes_over.rules ?? "")];
  }
  function refuseFor(reading, code, fields) {
    const {family, lengths: {rows, allowed, original}} = reading;
    refuse(`settings_${code}`, {family, cap: rows || allowed || (stretched(reading) ? null : original), ...fields});
  }
  const parametersOf = ({at}, kind) => ({partial_rotary_factor: 1, ...get(at.rules, kind)});
  function parametersPath({family, at: {rope}}, kind) {
    if (rope?.length > 1) return [rope[0], kind];
    return kind && entry(family).scaled?.join() !== kind ? ["rope_parameters", kind] : rope ?? ["rope_scaling"];
  }
  const isUsual = (key, value) => key === "partial_rotary_factor" && value === 1;
  function apart(reading, kind) {
    const {at} = reading, [spelling, ...inner] = parametersPath(reading, kind);
    if (!inner.length || at.rope?.length > 1) return [];
    return entries(at.rules).flatMap(([name, parameters]) => entries({rope_type: "default", ...parameters})
      .filter(([key, value]) => !isUsual(key, value))
      .map(([key, value]) => ({path: [...at.file, spelling, name, key], value})));
  }
  function basePaths(reading, kind) {
    const {family, at: {rope, keys, inside}} = reading, place = parametersPath(reading, kind), byKind = place.length > 1;
    const beside = has(keys, "rope_theta") || !rope, within = inside || !beside || byKind, {aliases, thetas = {}} = entry(family);
    const other = Object.keys(aliases).findLast(key => aliases[key] === "rope_theta") ?? get(thetas, "full_attention", "rope_theta");
    return [...(within ? [[...place, "rope_theta"]] : []), ...(beside && !byKind ? [[other]] : [])];
  }
  const needsHeadDim = ({family, at}) => words(programs.transformers.needs_head_dim).includes(family) && !get(at.keys, "head_dim");
  function shareOf(reading, kind, {dim, rotary}) {
    const share = parametersOf(reading, kind).partial_rotary_factor;
    return Math.trunc(dim * share) === rotary ? share : rotary / dim;
  }
  function sections({kind, deal, axes}) {
    if (kind !== "MRoPE") return {};
    const mrope_section = Array.from({length: axes}, (_, axis) => deal.filter(one => one === axis).length);
    return {mrope_section, ...(deal.every((one, i) => !i || deal[i - 1] <= one) ? {} : {mrope_interleaved: true})};
  }

  // programs.py

  function checkCode(reading, rule) {
    if (reading.source) refuseFor(reading, "own_code");
    if (passedOver(known, rule).includes(reading.family)) refuseFor(reading, "no_code", {rule: known.rules[rule]});
  }
  function checkProgram(reading, row, need, why, asked) {
    const program = row.name, {family} = reading, rule = why === "stretch" ? "yarn" : asked;
    if (need === "length" && row.cuts) refuseFor(reading, "cut", {program});
    if (need === "length" && why !== "stretch") {
      const strange = ["windows", "slopes"].includes(why) && "windows" in row && !words(row.windows).includes(family);
      if (strange) refuseFor(reading, "no_windows", {program, what: known[why]});
      return;
    }
    checkCode(reading, rule);
    if (row.flags && !has(row.flags, rule)) refuseFor(reading, "no_flag", {program, rule: known.rules[rule]});
    if (passedOver(row, rule).includes(family) || !words(row.takes ?? family).includes(family)) refuseFor(reading, "no_code_in", {program, rule: known.rules[rule]});
  }

  function line(reading, row, tokens, {kind, encoding, parameters, beside: {partial_rotary_factor, rope_theta, ...keys}}) {
    const several = Object.keys(reading.at.rules).length > 1;
    const byKind = kind && (row.form !== "flags" || several), ways = row.by_kind ?? "";
    if (byKind && ways !== true && !words(ways).includes(reading.family)) refuseFor(reading, "by_kind", {program: row.name});
    const completed = complete(reading, parameters, kind, encoding), type = completed.rope_type;
    const rule = type === "default" ? "ntk" : type, betas = ramp(reading, row, rule, encoding);
    const whole = inOrder({...completed, ...betas}), notes = notesOn(row, kind, betas);
    if (row.form === "flags") return {line: flags(reading, row, tokens, rule, whole), notes};
    const values = {...spelled(reading, row, whole, kind), ...keys, [reading.lengths.key]: tokens};
    return {line: written(reading, row, tokens, values), notes};
  }
  function complete(reading, parameters, kind, encoding) {
    const share = shareOf(reading, kind, encoding), usual = entry(reading.family).keys.partial_rotary_factor || 1;  // of the class
    const own = further(reading, kind), told = has(reading.at.keys, "partial_rotary_factor");
    const {type, ...whole} = {rope_type: "default", rope_theta: encoding.base, ...own, ...parameters, ...sections(encoding)};
    return share !== 1 || usual !== 1 || told ? {...whole, partial_rotary_factor: share} : whole;
  }
  const further = (reading, kind) =>
    filter(parametersOf(reading, kind), (key, value) => key !== "type" && value !== null && !isUsual(key, value));
  function inOrder(parameters) {
    const order = words(known.order), place = ([key]) => (order.includes(key) ? order.indexOf(key) : order.length);
    return fromEntries(entries(parameters).sort((one, other) => place(one) - place(other)));
  }
  function spelled(reading, row, whole, kind) {
    const {rope_theta, partial_rotary_factor, ...without} = whole;
    if (row.base === "beside") {
      const own = further(reading, kind), plain = whole.rope_type === "default";
      const alone = plain && Object.keys(without).every(key => key === "rope_type" || has(own, key));
      return {...(plain ? {rope_theta} : {}), ...(alone ? {} : {[row.rope]: without})};
    }
    if (!kind) return {[row.rope]: whole};
    const others = Object.keys(reading.at.rules).map(name => [name, inOrder({rope_type: "default", ...further(reading, name)})]);
    return {[row.rope]: {...fromEntries(others), [kind]: whole}};
  }
  function written(reading, row, tokens, keys) {
    if (row.form === "flags") return flags(reading, row, tokens, null, {});
    const {code} = reading.at, place = ["config", ...code].join("."), {head_dim, ...others} = keys;
    if (row.form === "attributes") return entries(keys).map(([key, value]) => `${place}.${key} = ${literal(value, key, true)}`).join("\n");
    return fill(row.line, {tokens, keys: literal(code.reduceRight((inner, key) => ({[key]: inner}), others))});
  }
  function ramp({family}, {ramp: row}, rule, {kind}) {
    if (!row || rule !== "yarn" || kind !== "MRoPE" || words(row.once).includes(family)) return {};
    return fromEntries(entries(known.betas).map(([name, beta]) => [name, beta * row.times]));
  }
  function notesOn(row, kind, betas) {
    const notes = kind ? [fill(known.notes.by_kind, {kind})] : [], {beta_fast: fast, beta_slow: slow} = known.betas;
    if (truthy(betas)) notes.push(fill(known.notes.ramp, {program: row.name, times: row.ramp.times, fast, slow, ...betas}));
    return notes;
  }
  function flags({lengths: {allowed}}, row, tokens, rule, values) {
    const text = fill(row.line, {tokens}) + (rule ? fill(row.flags[rule], values) : "");
    return rule === "yarn" || (rule && tokens <= allowed) ? text : text + fill(row.longer, {tokens});
  }
  function literal(value, key = "", python = false) {
    const quote = python ? "'" : '"', inner = (one, name) => literal(one, name, python);
    if (isDict(value)) return `{${entries(value).map(([name, one]) => `${quote}${name}${quote}: ${inner(one, name)}`).join(", ")}}`;
    if (isList(value)) return `[${value.map(one => inner(one, key)).join(", ")}]`;
    if (value === null || isFlag(value)) return python ? {null: "None", true: "True", false: "False"}[value] : String(value);
    if (isText(value)) return python ? `'${value}'` : JSON.stringify(value);
    return words(known.floats).includes(key) && /^-*\d+$/.test(String(value)) ? `${value}.0` : String(value);
  }

  // settings.py and arguments.py

  function checkUntil({family, lengths: {until: length, until_key: key}}, tokens) {
    if (length !== null && tokens > length) refuse("too_long", {key, length, family, got: tokens});
  }
  function settings(reading, tokens, program, trained = null, rule = null) {
    const row = programs[program];
    checkRule(reading, rule, row);
    checkUntil(reading, tokens);
    const [need, why] = needed(reading, tokens, trained, rule), length = trained ?? reading.lengths.original;
    if (need === "nothing") return {edits: [], line: fill(row.needless ?? known.needless[why], {tokens, trained: length}), notes: []};
    checkProgram(reading, row, need, why, rule ?? "yarn");
    const made = planned(reading, need, tokens, rule, trained), {edits} = made;
    if (need === "length") return {edits, line: written(reading, row, tokens, {[reading.lengths.key]: tokens}), notes: []};
    return {edits, ...line(reading, row, tokens, made)};
  }
  function checkRule(reading, rule, {name, flags: own}) {
    if (known.unset.includes(rule)) refuse(`settings_${rule}`);
    const program = name.split(" ").slice(0, -1).join(" ");
    if (rule && own && !has(own, rule)) refuseFor(reading, "no_flag", {program, rule: known.rules[rule]});
  }
  return {
    apply, checkUntil, edits, fresh, inForce, inWords, layersOf, limitOf, longestOf, memory, numbers, plain, reach, sees, sentence, settings,
    sight, slopes, stretched, traps, turns, withinWindow,
  };
};
if (typeof module !== "undefined") module.exports = readerAnswers;
