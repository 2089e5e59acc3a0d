// The search, loaded when it is opened: results below the field of the dialog while one types, and on a page of their own.
// MiniSearch weighs the words of an entry (Okapi BM25). Here are the words that people use for those of the book, and
// the choice of the paragraph that a result opens.
{
  // What people type, and what the book says for it; parts of a line are alternatives, whose words stand in one entry.
  const MEANT = [
    [/\bsqrt\W*d\w*|\bsquare root of d\w*|\bscaled? (the )?(scores|logits|dot product)/, "square root", "divide square root"],
    [/\bposition[_ ]?ids?\b/, "positions data", "positions argument"],
    [/\b(left|right)[- ]?padd(ed|ing)\b|\bpad(ded)? tokens?\b/, "padding token", "padding positions"],
    [/\bpadd(ed|ing)\b/, "padding token"],
    [/\b(bert|roberta|gpt-?2)\b/, "learned positions"],
    [/\blength (generali[sz]ation|extrapolation)\b|\bgenerali[sz]e to long\w*/, "extrapolation", "train short test long"],
    [/\bextrapolat\w+/, "train short test long"],
    [/\bcontext (extension|windows?|length)\b|\bextend(ing)? (the )?context\b|\blong(er)?[- ]contexts?\b/, "ways to stretch", "stretch"],
    [/\b(position(al)?|linear) (interpolation|scaling)\b|\brope[_ ]scaling\b|\b(yarn|ntk)\b/, "ways to stretch"],
    [/\bno (position\w*|encoding|embedding)( \w+)?\b|\bwithout position\w*|\bnope\b/, "nope", "blind to order"],
    [/\b(which|what)(?= (position\w* )?(encoding|embedding)s?\b)|\b(best|decision|decide|recommend\w*|choose|should (i|we) (use|pick))\b/, "choosing"],
    [/\bcheat ?sheet\b/, "quick reference"],
    [/\b(glossary|definitions?|vocabulary)\b/, "notation terms"],
    [/\brotary( position\w*)?( (embedding|encoding)s?)?\b/, "rope"],
    [/\blinear bias(es)?\b/, "alibi"],
    [/\brotate[_ ]half\b|\binterleaved?\b|\bhalf[- ]split\b/, "two layouts", "layouts"],
    [/\b(rope_)?theta\b/, "base"],
    [/\b(2d|3d|multi-?modal|image|video) rope\b|\brope (in |for )?(2d|3d|images?|videos?)\b/, "more than one axis", "axes"],
    [/\b2d\b/, "two dimensions"],
    [/\bbf16\b/, "bfloat16"],
    [/\bf(p|loat)16\b/, "half precision"],
    [/\b[gm]qa\b/, "grouped queries"],
    [/\bkv[- ]?cach\w+|\bpast_key_values\b/, "cache keys", "d2lpos.cache"],
    [/\b(niah|passkey|haystack)\b/, "needle"],
    [/\b(swa|sliding window)\b/, "window"],
    [/\bpack(ed|ing)\b/, "positions data"],
    [/\bconcat\b/, "concatenate"],
    [/\binv_freq\b/, "frequencies"],
    [/\bmscale\b/, "attention factor"],
  ];
  const IGNORED = new Set([...stopwords, ..."about can did do does from get has have how i many me much my need should use using vs want we what when which why you".split(" ")]);
  // Chapters explain; the other pages list, and two repeat.
  const WORTH = [[/^chapters/, 1], [/changelog|references/, .25], [/api/, .4], [/attention/, .9], [/ledger|notation/, .5], [/./, .6]];
  const REPEATS = /Summary$|The scorecard|What people say|^Exercise/;
  const SHOWN = 8, EXCERPT = 170;

  const stemmer = new Stemmer();
  const known = new Map();
  const stem = word => known.get(word) ?? known.set(word, /^[a-z]{3,}$/.test(word) ? stemmer.stemWord(word) : word).get(word);
  const WORD = /[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/gu;
  const spell = text => text.toLowerCase().replaceAll("√", "sqrt ");
  const words = text => spell(text).match(WORD) ?? [];
  const parts = word => word.split(/[-._]/).filter(Boolean);
  // A word is found as it stands, by its stem, and, where it has parts ("M-RoPE"), by these and as one ("mrope").
  const forms = word => [...new Set([word, word.replace(/[-.]/g, ""), ...parts(word)].flatMap(form => [form, stem(form)]))];

  const root = document.documentElement.dataset.content_root;
  // A thing is explained where it comes first, though not yet where a page begins.
  const early = (place, {length}) => place ? 1.05 - .1 * place / length : .9;
  const entries = bookIndex.flatMap(({page, entries}) => entries.map((entry, i) => ({
    ...entry, page, worth: WORTH.find(([name]) => name.test(page))[1] * (REPEATS.test(entry.title) ? .6 : entry.id.startsWith("p-") ? .8 : 1) * early(i, entries),
  }))).map((entry, id) => ({...entry, anchor: entry.id, id}));
  const NAMES = ["title", "above", "bold"], FIELDS = [...NAMES, "text"];
  const engine = new MiniSearch({
    fields: FIELDS,
    extractField: (entry, field) => field === "text" ? entry.blocks.map(block => block[1]).join("\n") : entry[field],
    tokenize: text => words(text).flatMap(forms),
    processTerm: term => term,
    searchOptions: {boost: {title: 6, above: 3, bold: 1.5}, tokenize: term => [term]},
  });
  engine.addAll(entries);

  // Each thing asked for, and the entries that have it, with their points and the words that earned them.
  const ask = (word, unfinished) => {
    const whole = {combineWith: "OR", queries: [stem(word.replace(/[-.]/g, "")), {queries: [word], boostTerm: () => .1}, {combineWith: "AND", queries: parts(word).map(stem)}]};
    if (unfinished && word.length > 1) whole.queries.push({queries: [word], prefix: true});
    if (engine.search(whole).length) return whole;
    return {queries: [word], prefix: word.length > 2, fuzzy: word.length > 3 ? .2 : false};
  };
  const telling = asked => asked.some(word => !IGNORED.has(word)) ? asked.filter(word => !IGNORED.has(word)) : asked;
  const look = (text, unfinished, fields) => {
    const asked = telling(words(text));
    const queries = asked.map((word, i) => ask(word, unfinished && i === asked.length - 1));
    return engine.search({combineWith: "AND", queries}, {fields});
  };
  const group = (size, alternatives, unfinished) => {
    const hits = new Map();
    for (const [i, text] of alternatives.entries()) for (const {id, score, terms} of look(text, unfinished, i ? NAMES : FIELDS)) {
      const hit = hits.get(id) ?? hits.set(id, {score: 0, terms: new Map()}).get(id);
      hit.score = Math.max(hit.score, score);
      for (const term of terms) if (!hit.terms.has(term)) hit.terms.set(term, i ? .4 : 1);
    }
    return {hits, rarity: size * Math.log(1 + entries.length / (1 + hits.size))};
  };
  const find = (query, typing) => {
    const groups = [], unfinished = typing && /[\p{L}\p{N}_]$/u.test(query);
    let rest = spell(query);
    for (const [said, ...meant] of MEANT) rest = rest.replace(said, phrase => {
      groups.push(group(words(phrase).length, [phrase, ...meant]));
      return " ";
    });
    for (const word of telling(words(rest))) if (!groups.length || !IGNORED.has(word))
      groups.push(group(1, [word], unfinished && query.toLowerCase().endsWith(word)));
    const total = groups.reduce((sum, {rarity}) => sum + rarity, 0);
    return entries.flatMap(entry => {
      const here = groups.filter(({hits}) => hits.has(entry.id));
      if (!here.length) return [];
      const share = here.reduce((sum, {rarity}) => sum + rarity, 0) / total;
      const score = here.reduce((sum, {hits, rarity}) => sum + hits.get(entry.id).score * rarity, 0) * share ** 2 * entry.worth;
      return [{entry, here, score}];
    }).sort((a, b) => b.score - a.score);
  };

  // Where a result opens: at the paragraph with most of what was asked for, or at the heading that has it all.
  const marks = (text, {entry, here}) => [...text.matchAll(WORD)].flatMap(({0: word, index}) => {
    const own = forms(spell(word));
    return here.flatMap(({hits, rarity}, which) => {
      const near = Math.max(...own.map(form => hits.get(entry.id).terms.get(form) ?? 0));
      return near ? [{which, worth: near * rarity, from: index, to: index + word.length}] : [];
    }).slice(0, 1);
  });
  const worth = seen => {
    const best = [];
    for (const {which, worth} of seen) best[which] = Math.max(best[which] ?? 0, worth);
    return best.reduce((sum, worth) => sum + worth, 0);
  };
  const open = found => {
    const {entry} = found;
    const rated = entry.blocks.filter(([, text]) => text !== entry.title).map(([anchor, text, code]) => {
      const seen = marks(text, found);
      return {anchor, text, seen, worth: worth(seen) * (code ? .5 : 1)};
    });
    const best = rated.reduce((best, block) => block.worth > best.worth ? block : best, rated[0] ?? {text: "", seen: [], worth: 0});
    const anchor = worth(marks(entry.title, found)) >= best.worth ? entry.anchor : best.anchor;
    return {...best, href: `${root}${entry.page}.html#${anchor}`};
  };
  const excerpt = ({text, seen}) => {
    const first = seen.reduce((best, mark) => {
      const rated = worth(seen.filter(({from, to}) => from >= mark.from && to <= mark.from + EXCERPT - 50));
      return rated > best.rated ? {rated, from: mark.from} : best;
    }, {rated: 0, from: 0}).from;
    const cut = first < 80 ? 0 : text.lastIndexOf(" ", first - 50) + 1, end = text.indexOf(" ", cut + EXCERPT);
    const until = end < 0 ? text.length : end, pieces = [];
    let at = cut;
    for (const {from, to} of seen.filter(({from, to}) => from >= cut && to <= until)) {
      pieces.push(text.slice(at, from), element("mark", {}, text.slice(from, to)));
      at = to;
    }
    return [cut ? "… " : "", ...pieces, text.slice(at, until), until < text.length ? " …" : ""];
  };

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const place = ({above, title}) => [...above.split(" > ").slice(0, 1).filter(Boolean), title].join(" > ");
  const count = number => number === 1 ? "1 result" : `${number} results`;
  // The page that opens marks the words of the excerpt; Sphinx keeps them here for it.
  const remember = (link, {text, seen}) => link.addEventListener("click", () => {
    const terms = new Set(seen.map(({from, to}) => text.slice(from, to).toLowerCase()).filter(word => word.length > 2));
    if (link.pathname !== location.pathname) localStorage.setItem("sphinx_highlight_terms", [...terms].join(" "));
  });

  // The page of results.
  const page = document.getElementById("search-results");
  if (page) {
    const field = page.parentElement.querySelector("input"), list = element("ul", {class: "search"});
    const summary = element("p", {class: "search-summary", role: "status"});
    page.append(summary, list);
    const show = () => {
      const query = field.value.trim(), found = query ? find(query) : [];
      summary.textContent = query && (found.length ? count(found.length) : `Nothing found for “${query}”.`);
      list.replaceChildren(...found.slice(0, 50).map(result => {
        const opened = open(result), link = element("a", {href: opened.href}, place(result.entry));
        remember(link, opened);
        return element("li", {}, link, element("p", {class: "context"}, ...excerpt(opened)));
      }));
    };
    field.value ||= new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", show);
    show();
  }

  // The dialog: a combobox with a list, after the pattern of the ARIA Authoring Practices Guide.
  const dialog = document.getElementById("pst-search-dialog"), form = dialog.querySelector("form");
  const field = form.querySelector("input"), list = element("div", {id: "search-found", role: "listbox", "aria-label": "Results"});
  const status = element("span", {role: "status"}), all = element("button", {type: "submit", form: form.id ||= "search-form"}, "Show all");
  const below = element("p", {class: "search-count"}, status, all);
  let chosen = -1;
  for (const [key, value] of Object.entries({role: "combobox", "aria-controls": list.id, "aria-autocomplete": "list"})) field.setAttribute(key, value);
  list.hidden = below.hidden = true;
  form.after(list, below);
  const choose = next => {
    list.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = next;
    const option = list.children[chosen];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({block: "nearest"});
    if (option) field.setAttribute("aria-activedescendant", option.id); else field.removeAttribute("aria-activedescendant");
  };
  const suggest = () => {
    const query = field.value.trim(), found = query ? find(query, true) : [];
    choose(-1);
    list.replaceChildren(...found.slice(0, SHOWN).map((result, i) => {
      const opened = open(result), {title, above} = result.entry;
      const link = element("a", {id: `search-found-${i}`, role: "option", "aria-selected": "false", tabindex: -1, href: opened.href},
        element("strong", {}, title), " ", element("small", {}, above.split(" > ")[0]), element("span", {}, ...excerpt(opened)));
      link.addEventListener("click", () => dialog.close());
      remember(link, opened);
      return link;
    }));
    list.hidden = !found.length;
    below.hidden = !query;
    all.hidden = found.length <= SHOWN;
    field.setAttribute("aria-expanded", String(!list.hidden));
    status.textContent = query && (found.length ? count(found.length) : `Nothing found for “${query}”.`);
  };
  field.addEventListener("input", suggest);
  field.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key], size = list.children.length + 1;
    if (step && size > 1) {
      event.preventDefault();
      choose((chosen + 1 + step + size) % size - 1);  // one stop is the field itself
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      list.children[chosen].click();
    }
  });
  suggest();
}
