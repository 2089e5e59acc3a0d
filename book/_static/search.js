// What the search finds. MiniSearch weighs the words of an entry (Okapi BM25); here are the order of the entries and the
// paragraph of each that a result opens.
const bookSearch = (() => {
  const NAMES = ["title", "above", "bold"], FIELDS = [...NAMES, "text"];
  // Chapters explain. The other pages list, and a chapter's end repeats.
  const WORTH = [[/^chapters/, 1], [/attention|symptoms|book.models/, .9], [/notation/, .5], [/ledger/, .35], [/api|changelog|references/, .2], [/./, .6]];
  const REPEATS = /Summary$|The scorecard|What people say|^Exercise/;
  const IGNORED = new Set(ASKING.split(/\s+/));
  const EXCERPT = 170, LETTER = "[\\p{L}\\p{N}]", PARTS = /[\p{L}\p{N}]+/gu;

  const stemmer = new Stemmer(), stems = new Map();
  const stem = word => {
    if (!stems.has(word)) stems.set(word, /^[a-z]{3,}$/.test(word) ? stemmer.stemWord(word) : word);
    return stems.get(word);
  };
  const WORD = /[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/gu;
  const plain = text => text.toLowerCase().replaceAll("√", "sqrt ");
  const words = text => plain(text).match(WORD) ?? [];
  const telling = asked => asked.some(word => !IGNORED.has(word)) ? asked.filter(word => !IGNORED.has(word)) : asked;
  const parts = word => word.split(/[-._]/).filter(Boolean);
  const joined = word => word.replace(/[-.]/g, "");
  // A word is found as it stands, by its stem, and, where it has parts ("M-RoPE"), by these and as one ("mrope"). Models are
  // found without their number ("qwen3").
  const forms = word => [...new Set([word, joined(word), ...parts(word), ...word.match(/^[a-z]{4,}(?=\d)/) ?? []].flatMap(form => [form, stem(form)]))];

  // A thing is explained where it comes first, though not yet where a page begins.
  const early = (place, {length}) => place ? 1.05 - .1 * place / length : .9;
  const kind = ({id, title}) => REPEATS.test(title) ? .6 : id.startsWith("p-") ? .8 : 1;  // a definition has no other id
  const entries = [], aliases = [];
  const engine = new MiniSearch({
    idField: "number",
    fields: FIELDS,
    extractField: (entry, field) => field === "text" ? entry.blocks.map(([, text]) => text).join("\n") : entry[field],
    tokenize: text => words(text).flatMap(forms),
    processTerm: term => term,
    searchOptions: {boost: {title: 6, above: 3, bold: 1.5}, tokenize: term => [term]},
  });
  const add = index => {
    const more = index.flatMap(({page, entries}) => {
      const worth = WORTH.find(([name]) => name.test(page))[1];
      return entries.map((entry, i) => ({above: "", bold: "", ...entry, page, worth: worth * kind(entry) * early(i, entries)}));
    }).map((entry, i) => ({...entry, number: entries.length + i}));
    entries.push(...more);
    engine.addAll(more);
    for (const {number, also = []} of more)
      for (const term of also) aliases.push([new RegExp(`(?<!${LETTER})${plain(term).match(PARTS).join(`(?!${LETTER}).?`)}s?(?!${LETTER})`, "u"), number]);
  };
  // The index comes packed: from a server as bytes, and to a page that was opened from a folder as a script.
  let state = "loading";
  const fill = async bytes => {
    add(await new Response(new Blob([await bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json());
    state = "ready";
  };
  const fetched = async () => {
    const answer = await fetch(`${document.documentElement.dataset.content_root}_static/search-index.bin`);
    return answer.ok ? answer.arrayBuffer() : Promise.reject(answer.status);
  };
  let unpack, came = new Promise(resolve => unpack = packed => resolve(Uint8Array.from(atob(packed), character => character.charCodeAt())));
  if (location.protocol !== "file:") came = fetched();
  const whole = fill(came).catch(() => state = "lost").finally(() => dispatchEvent(new Event("booksearch")));

  const ask = (word, unfinished) => {
    const queries = [stem(joined(word)), {queries: [word], boostTerm: () => .1}, {combineWith: "AND", queries: parts(word).map(stem)}];
    if (unfinished && word.length > 1) queries.push({queries: [word], prefix: true});
    const whole = {combineWith: "OR", queries};
    if (engine.search(whole).length) return whole;
    return {queries: [word], prefix: word.length > 2, fuzzy: word.length > 3 ? .2 : false};  // a part of a word, or a slip
  };
  const look = (text, unfinished, fields) => {
    const asked = telling(words(text));
    const queries = asked.map((word, i) => ask(word, unfinished && i === asked.length - 1));
    return engine.search({combineWith: "AND", queries}, {fields});
  };
  // One thing that is asked for, in the reader's words or in the book's: which entries have it, how much of it, and in which
  // words. These count less where they are not the reader's own.
  const thing = (said, meant, unfinished) => {
    const hits = new Map();
    for (const [i, text] of [said, ...meant].entries())
      for (const {id, score, terms} of look(text, unfinished, i ? NAMES : FIELDS)) {
        if (!hits.has(id)) hits.set(id, {score: 0, terms: new Map()});
        const hit = hits.get(id);
        hit.score = Math.max(hit.score, score);
        for (const term of terms) if (!hit.terms.has(term)) hit.terms.set(term, i ? .4 : 1);
      }
    return {hits, rarity: words(said).length * Math.log(1 + entries.length / (1 + hits.size))};
  };
  // What engineers call a section, where the book has other words: it counts about as much as the best that the words find.
  const named = asked => {
    const worth = new Map();
    for (const [pattern, number] of aliases) {
      const [said] = asked.match(pattern) ?? [];
      if (said) worth.set(number, Math.max(worth.get(number) ?? 0, Math.min(1, .6 + .15 * said.match(PARTS).length)));
    }
    return worth;
  };
  const sum = (things, worth) => things.reduce((total, one) => total + worth(one), 0);
  const ranked = (query, typing) => {
    const things = [], unfinished = typing && /[\p{L}\p{N}_]$/u.test(query);
    let rest = plain(query);
    for (const [pattern, ...meant] of MEANT) rest = rest.replace(pattern, said => {
      things.push(thing(said, meant));
      return " ";
    });
    for (const word of telling(words(rest)))
      if (!things.length || !IGNORED.has(word)) things.push(thing(word, [], unfinished && plain(query).endsWith(word)));
    const all = sum(things, ({rarity}) => rarity);
    const also = named(plain(query));
    const found = entries.flatMap(entry => {
      const here = things.filter(({hits}) => hits.has(entry.number));
      if (!here.length && !also.has(entry.number)) return [];
      const share = sum(here, ({rarity}) => rarity) / all;
      const score = sum(here, ({hits, rarity}) => hits.get(entry.number).score * rarity) * share ** 2 * entry.worth;
      return [{entry, here, score}];
    });
    const best = found.reduce((most, {score}) => Math.max(most, score), 1);
    for (const one of found) one.score += best * (also.get(one.entry.number) ?? 0);
    return found.sort((a, b) => b.score - a.score);
  };

  // The words of a text that were asked for, and what those of a passage are worth together.
  const marks = (text, {entry, here}) => [...text.matchAll(WORD)].flatMap(({0: word, index}) => {
    const own = forms(plain(word));
    const worths = here.map(({hits, rarity}) => rarity * Math.max(...own.map(form => hits.get(entry.number).terms.get(form) ?? 0)));
    const worth = Math.max(...worths);
    return worth ? [{thing: worths.indexOf(worth), worth, from: index, to: index + word.length}] : [];
  });
  const value = seen => {
    const best = [];
    for (const {thing, worth} of seen) best[thing] = Math.max(best[thing] ?? 0, worth);
    return best.reduce((total, worth) => total + worth, 0);
  };
  // The id of a block from its words, as own_id in search.py makes it.
  const own = text => {
    let digest = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) digest = Math.imul(digest ^ text.charCodeAt(i), 0x01000193);
    return `p-${(digest >>> 8).toString(16).padStart(6, "0")}`;
  };
  // It opens at the paragraph that has most of what was asked for, or at the heading where that has as much.
  const opened = found => {
    const {entry} = found;
    const blocks = entry.blocks.filter(([, text]) => text !== entry.title).map(([id, text, code, of]) => {
      const seen = marks(text, found);
      return {id, text, of, seen, worth: value(seen) * (code ? .5 : 1)};
    });
    const best = blocks.reduce((best, block) => block.worth > best.worth ? block : best, blocks[0] ?? {text: "", seen: [], worth: 0});
    const id = value(marks(entry.title, found)) >= best.worth ? entry.id : best.id || own(best.text);
    return {
      title: entry.title, above: entry.above.split(" > ")[0], excerpt: excerpt(best),
      href: `${document.documentElement.dataset.content_root}${entry.page}.html#${id}`,
    };
  };
  // Pieces of text, every second of them a word that was asked for. What tells the answer to an open prediction is not shown.
  const excerpt = ({text, seen, of}) => {
    if (of && !memory.all("predictions")[of]) return ["Predict first: this tells the answer to a question of the page."];
    const within = start => seen.filter(({from, to}) => from >= start && to <= start + EXCERPT - 50);
    const start = seen.reduce((best, {from}) => value(within(from)) > value(within(best)) ? from : best, seen[0]?.from ?? 0);
    const from = start < 80 ? 0 : text.lastIndexOf(" ", start - 50) + 1, end = text.indexOf(" ", from + EXCERPT);
    const to = end < 0 ? text.length : end, cuts = seen.filter(mark => mark.from >= from && mark.to <= to).flatMap(({from, to}) => [from, to]);
    const pieces = [from, ...cuts].map((cut, i) => text.slice(cut, cuts[i] ?? to));
    if (from) pieces[0] = `… ${pieces[0]}`;
    if (to < text.length) pieces[pieces.length - 1] += " …";
    return pieces;
  };

  // All results of a query, best first, as functions that say what to show; the last word may be unfinished while one types.
  return Object.assign((query, typing = false) => ranked(query, typing).map(found => () => opened(found)), {unpack, whole, state: () => state});
})();
