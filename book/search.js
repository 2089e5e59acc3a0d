// The order of what the search finds. Sphinx gives a page the points of its best word, so pages tie by the dozen. Here
// a rare word counts more than a common one, a title more than a heading, a heading more than the text, and a result
// leads to the heading that has most of the query. Where no page has all words, those with most of them are found.
{
  const MEANT = [
    [/\blength generali[sz]ation\b/gi, "extrapolation"],
    [/\bno (position\w*|encoding|embedding)( \w+)?/gi, "NoPE"],
    [/\b(which|best|decision|decide|recommend\w*)\b/gi, "choosing"],
    [/\bcheat ?sheet\b/gi, "quick reference"],
    [/\brotary\b/gi, "RoPE"],
    [/\btheta\b/gi, "base"],
    [/\b2d rope\b|\brope (in )?2d\b/gi, "more than one axis"],
    [/\b2d\b/gi, "two dimensions"],
    [/\bbf16\b/gi, "bfloat16"],
    [/\bf(p|loat)16\b/gi, "half precision"],
    [/\bgqa\b/gi, "grouped queries"],
    [/\bposition_ids\b/gi, "positions"],
    [/\b(glossary|definitions?)\b/gi, "terms"],
    [/\bcontext (extension|window)\b|\bextend(ing)? (the )?context\b/gi, "ways to stretch"],
  ];
  stopwords.push("can", "do", "does", "how", "i", "my", "should", "use", "vs", "we", "what");
  Object.assign(Scorer, {objNameMatch: 9, objPartialMatch: 4, objPrio: {0: 1, 1: 0}});

  const stemmer = new Stemmer();
  const stems = text => splitQuery(text.replace(/<[^>]*>/g, "").toLowerCase()).map(stemmer.stemWord);
  const total = words => words.reduce((sum, word) => sum + word.rarity, 0);

  // Of the titles stay the headings: not those of pages, which count below, nor those of exercises and the like.
  const BOX = /^( \(|Solution to |Predict first|$)/;
  const keep = Search.setIndex;
  Search.setIndex = index => {
    for (const [title, places] of Object.entries(index.alltitles))
      index.alltitles[title] = places.filter(([, anchor]) => anchor && !BOX.test(title));
    keep(index);
  };

  const parse = Search._parseQuery;
  Search._parseQuery = query => {
    for (const [said, meant] of MEANT) query = query.replace(said, meant);
    const parsed = parse(query);
    for (const number of query.match(/\b\d+\b/g) ?? []) parsed[1].add(number);  // Sphinx drops them
    return parsed;
  };

  Search.performTermsSearch = query => {
    const {docnames, filenames, titles, alltitles, terms, titleterms} = Search._index;
    const words = [...query].map(word => {
      // A word that stands nowhere is looked for inside of others.
      const known = [terms, titleterms].some(index => Object.hasOwn(index, word));
      const fits = stem => known ? stem === word : word.length > 2 && stem.includes(word);
      const find = index => new Set(Object.keys(index).filter(fits).flatMap(stem => index[stem]));
      const headings = find(titleterms), pages = new Set([...find(terms), ...headings]);
      return {fits, headings, pages, rarity: Math.log((titles.length + 1) / (pages.size || 1))};
    });
    const most = Math.max(1, ...titles.map((_, page) => words.filter(word => word.pages.has(page)).length));

    return titles.flatMap((title, page) => {
      const here = words.filter(word => word.pages.has(page));
      if (here.length < most) return [];
      const named = here.filter(word => stems(title).some(word.fits));
      const headed = here.filter(word => word.headings.has(page));
      const aside = /changelog|references/.test(docnames[page]) ? 0.5 : 1;
      const score = 5 * aside * (total(here) + total(headed) + 2 * total(named)) / total(words);

      let [best, heading, id] = [total(words) / 2];
      for (const [text, places] of Object.entries(alltitles)) for (const [file, anchor] of places) {
        if (file !== page) continue;
        const share = total(headed.filter(word => !named.includes(word) && stems(text).some(word.fits)));
        if (share > best) [best, heading, id] = [share, text, anchor];
      }
      const [told, hash] = id ? [`${title} > ${heading}`, `#${id}`] : [title, ""];
      return [[docnames[page], told, hash, null, score, filenames[page]]];
    });
  };

  // The search reads other pages for excerpts, whose styles this page's policy would refuse.
  const read = Search.htmlToText;
  Search.htmlToText = (page, anchor) => read(page.replace(/<style[^]*?<\/style>/g, ""), anchor);
}
