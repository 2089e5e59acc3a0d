// Which release a name means, and which are nearest to one that none has: the rule of d2lpos/config/names.py, with the same
// endings and releases.
"use strict";
const readerNames = ({releases, names}) => {
  const {site, trained, copied, nearest: shown, likeness: least, beside_best: beside} = names;
  const {same} = typeof module === "undefined" ? readerWords : require("./words.js");

  /** The owner and the name of a release at Hugging Face. */
  const identity = release => release.source.split("/").slice(3, 5).join("/");

  /** A name without case, blanks and marks; between two digits one blank stays, so that 3.1 8B is not 31 8B. */
  const plain = name =>
    name.toLowerCase().replace(/[^a-z0-9]+/g, " ").replace(/([a-z]|^) /g, "$1").replace(/ ([a-z]|$)/g, "$1");

  /** A name without its last ending, and that ending; twice nothing where it has none of these. */
  function shorter(name, endings) {
    const cut = name.toLowerCase().match(new RegExp(`[^a-z0-9]+(${endings})$`));
    return cut?.index ? [name.slice(0, cut.index), cut[1]] : ["", ""];
  }

  /** A name, or what a link to a page of Hugging Face names, or a folder of its cache, without quotation marks. */
  function unlinked(text) {
    const name = text.replace(/^[ \t\r\n"'`]+|[ \t\r\n"'`]+$/g, "").replace(/\/+$/, "");
    return (name.match(new RegExp(site, "i"))?.[1] ?? name).replace(/^models--(.+?)--/, "$1/");
  }

  /** The owner before the last slash, and the name behind it. */
  function parted(text) {
    const whole = unlinked(text), at = whole.lastIndexOf("/");
    return [whole.slice(0, Math.max(at, 0)), whole.slice(at + 1)];
  }

  /** What a name may mean, plain: as it is and with ever fewer endings, each with the endings that it lacks. */
  function steps(text) {
    let [owner, name] = parted(text), endings = [];
    if (/^[.~/]|\//.test(owner) || !plain(name)) return [];
    const found = [];
    while (name) {
      found.push([plain(name), endings]);
      const [rest, ending] = shorter(name, [...trained, copied].join("|"));
      name = rest;
      endings = [...endings, ending];
    }
    return found;
  }

  /** What each release is called, plain: its name, its name at Hugging Face, and that without the endings of copies, each
   * also behind its owner or the owner's first word. */
  const called = new Map(releases.map(release => {
    const found = [plain(release.name)], [owner, whole] = identity(release).split("/");
    for (let own = whole; own; [own] = shorter(own, copied)) found.push(plain(own));
    return [release, [...found, ...[owner, owner.split("-")[0]].flatMap(maker => found.map(one => plain(`${maker} ${one}`)))]];
  }));

  /** The release that a name means, or null and those that it may mean or that are nearest to it. */
  function lookUp(text) {
    const asked = steps(text);
    for (const [name, endings] of asked) {
      const same = releases.filter(one => called.get(one).includes(name) && !endings.some(ending => one.unlike?.includes(ending)));
      if (same.length) return same.length === 1 ? [same[0], []] : [null, likest(same, name)];
    }
    for (const [name] of asked) {
      const part = releases.filter(one => [...called.get(one), plain(identity(one))].some(whole => whole.includes(name)));
      if (part.length) return [null, likest(part, name)];
    }
    return [null, asked.length ? nearest(text) : []];
  }

  /** The releases among these whose names are most like a plain one, the likest first. */
  function likest(every, name) {
    const like = every.map(one => [likestName(one, name), one]);
    return like.sort(([one], [other]) => other - one).slice(0, shown).map(([, one]) => one);
  }

  /** The releases whose names are most like a name without its endings, also those in its middle. */
  function nearest(text) {
    const words = parted(text)[1].toLowerCase().split(/[^a-z0-9]+/).filter(word => !trained.includes(word));
    const [name] = steps(words.join("-") || text).at(-1);
    const like = releases.map(one => [likestName(one, name), one]), best = Math.max(...like.map(([value]) => value));
    return likest(like.filter(([value]) => value >= Math.max(least, beside * best)).map(([, one]) => one), name);
  }

  /** How like a release's name is to a plain one, or the one that it has at Hugging Face, without its endings. */
  function likestName(release, name) {
    return Math.max(likeness(name, plain(release.name)), likeness(name, steps(identity(release)).at(-1)[0]));
  }

  /** Of the pairs of neighboring signs in two names those that both have, by the geometric mean of their numbers. */
  function likeness(one, other) {
    const [pairs, others] = [one, other].map(name => new Set([...name].slice(1).map((sign, i) => name[i] + sign)));
    const both = [...pairs].filter(pair => others.has(pair)).length;
    return both ? both / Math.sqrt(pairs.size * others.size) : 0;
  }

  /** Whether a text is the name of a release, with or without the owner, and not like it alone. */
  function isCalled(release, text) {
    const whole = identity(release);
    return [release.name, whole, whole.split("/")[1]].map(plain).includes(plain(unlinked(text)));
  }

  /** The name at Hugging Face that a text means, which leads to a release; null where it names no owner of a copy. */
  const loaded = (release, text) => (isCalled(release, text) ? identity(release) : unlinked(text).match(/^[\w.-]+\/[\w.-]+$/)?.[0] ?? null);

  /** A release all of whose keys a configuration has; null where none is, or where several are whose makers say other lengths. */
  function alike(config) {
    const lengths = ({trained, context, stretch}) => [trained, context, stretch];
    const every = releases.filter(one => lengths(one).some(Boolean) && hasKeys(config, one.config));
    return every.every(one => same(lengths(one), lengths(every[0]))) ? every[0] ?? null : null;
  }

  /** Whether a configuration has all keys of another, and their values, in its text where it has one. A params.json that says no
   * length tells its release by the rest. */
  function hasKeys(config, other) {
    const own = config.text_config ?? config, {model_type: family, ...keys} = other.text_config ?? other;
    if (own._from === "params.json" && own.max_position_embeddings === null) delete keys.max_position_embeddings;
    return [config.model_type, own.model_type].some(name => [other.model_type, family].includes(name)) && Object.entries(keys).every(([key, value]) => same(value, own[key] ?? null));
  }

  /** The configuration of a release with the further sizes that its weights are counted from, where the list has them; without
   * the bits of a weight where a text means a copy in another format. */
  function sized(config, release, text) {
    const copy = shorter(unlinked(text), copied)[1] && !isCalled(release, text), inner = config.text_config;
    const sizes = {...release.sizes, ...(copy ? {dtype: null, torch_dtype: null} : {})};
    return inner ? {...config, text_config: {...sizes, ...inner}} : {...sizes, ...config};
  }

  return {alike, identity, isCalled, loaded, lookUp, sized};
};
if (typeof module !== "undefined") module.exports = readerNames;
