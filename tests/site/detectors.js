// What a reader would call broken, found in the live page. Each detector returns one line for each fault.
window.detect = (() => {
  let before;
  const FIELD = 'input, select, textarea';
  // Elements in shadow roots too, and only those that are drawn.
  const all = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e]);
  const drawn = () => all(document.body).filter(e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}));
  const up = e => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host;
  const near = e => `<${e.localName}${e.id && '#' + e.id}${e.classList.length ? '.' + [...e.classList].join('.') : ''}>`;
  const quote = text => JSON.stringify(text.trim().replace(/\s+/g, ' ').slice(0, 60));

  // Hidden from sight on purpose, for screen readers: a box of a pixel, or one that is clipped away.
  const unseen = (e, style) => e.offsetWidth <= 1 || e.offsetHeight <= 1 || style.clip !== 'auto' || style.clipPath !== 'none';

  // An element's box and how it clips, read once in a run of a detector: nothing moves meanwhile.
  function measuring() {
    const known = new Map();
    return e => {
      if (!known.has(e)) {
        const style = getComputedStyle(e), {overflowX, overflowY, position} = style;
        known.set(e, {overflowX, overflowY, position, edge: e.getBoundingClientRect(), hides: e instanceof HTMLElement && unseen(e, style)});
      }
      return known.get(e);
    };
  }

  // How far a box reaches beyond what can be seen or scrolled to, or null where it is all there.
  function beyond(box, element, measure = measuring()) {
    const slack = {x: 2, y: box.height / 3}; // the box of a letter is taller than its ink
    const free = {x: true, y: true};
    const past = (axis, [low, high], start, end) =>
      free[axis] && (low < start - slack[axis] || high > end + slack[axis]);
    for (let e = element; e; e = up(e)) {
      const style = measure(e), {edge} = style;
      if (e !== document.body && e !== document.documentElement) {
        if (style.overflowX !== 'visible' && style.hides) return null;
        if (/hidden|clip/.test(style.overflowX) && past('x', [box.left, box.right], edge.left, edge.right)) return near(e);
        if (/hidden|clip/.test(style.overflowY) && past('y', [box.top, box.bottom], edge.top, edge.bottom)) return near(e);
        // What scrolls can be reached, except before its beginning.
        if (/auto|scroll/.test(style.overflowX)) {
          if (past('x', [box.left, box.left], edge.left - e.scrollLeft, Infinity)) return near(e);
          free.x = false;
        }
        if (/auto|scroll/.test(style.overflowY)) free.y = false;
      }
      if (style.position === 'fixed') return null;
    }
    return past('x', [box.left, box.right], 0, innerWidth) ? 'the window' : null;
  }

  // Whether the middle of a box is scrolled out of the sight of something that holds it.
  function scrolledAway(box, element, measure) {
    for (let e = up(element), middle = (box.top + box.bottom) / 2; e && e !== document.body; e = up(e)) {
      const {overflowY, edge} = measure(e);
      if (/auto|scroll/.test(overflowY) && (middle < edge.top || middle > edge.bottom)) return true;
    }
    return false;
  }

  // Contrast of two colors as the Web Content Accessibility Guidelines count it.
  function contrast(one, other) {
    const luminance = color => color.match(/[\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const [dark, light] = [one, other].map(luminance).sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }
  function ground(e) {
    const color = e ? getComputedStyle(e).backgroundColor : 'rgb(255, 255, 255)';
    return color.startsWith('rgb(') ? color : ground(up(e));
  }
  const opacity = e => e ? getComputedStyle(e).opacity * opacity(up(e)) : 1;
  const forEars = e => e && (unseen(e, getComputedStyle(e)) || forEars(up(e)));

  // The block that holds a line of text, or null where text is placed freely.
  function block(e) {
    if (e.localName === 'math') e = up(e);
    while (e && /^(inline|contents)$/.test(getComputedStyle(e).display)) e = up(e);
    return e instanceof HTMLElement ? e : null;
  }

  function boxes() {
    const range = document.createRange();
    return drawn().flatMap(e => {
      if (e.localName === 'math') return [[e, 'a formula', [e.getBoundingClientRect()]]];
      if (e.closest('math, script, style, option, noscript')) return [];
      return [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE && n.data.trim()).map(n => {
        range.selectNodeContents(n);
        return [e, quote(n.data), [...range.getClientRects()]];
      });
    });
  }

  return {
    // The page scrolls sideways.
    overflow() {
      const width = document.documentElement.scrollWidth;
      if (width <= innerWidth) return [];
      const guilty = drawn().filter(e => e.getBoundingClientRect().right > innerWidth + 1 && beyond(e.getBoundingClientRect(), e));
      return [`the page is ${width} px wide in a window of ${innerWidth} px: ${guilty.slice(0, 3).map(near).join(', ')}`];
    },

    // Text that is cut off, or that runs out of its block.
    text() {
      const measure = measuring();
      return boxes().flatMap(([e, what, rects]) => {
        const holder = block(e);
        const edge = holder && measure(holder).overflowX === 'visible' && measure(holder).edge;
        for (const box of rects) {
          if (box.width < 1) continue;
          const by = beyond(box, e, measure);
          if (by) return [`${what} in ${near(e)} is cut off by ${by}`];
          if (edge && edge.width > 1 && box.right > edge.right + 2) return [`${what} in ${near(e)} runs out of ${near(holder)}`];
        }
        return [];
      });
    },

    // Code that has to be scrolled although the window is wide; what draws a figure may be long, in its fold.
    code: () => drawn().filter(e => e.localName === 'pre' && !e.closest('details.hide') && e.scrollWidth > e.clientWidth + 1).map(e => {
      const line = e.textContent.split('\n').reduce((a, b) => b.length > a.length ? b : a);
      return `a line of ${line.length} characters is too long for its box: ${quote(line)}`;
    }),

    // Code on a phone: letters too small, lines that wrap or that the keyboard cannot scroll, names torn apart.
    listings() {
      const range = document.createRange();
      return drawn().filter(e => /^(pre|code)$/.test(e.localName)).flatMap(e => {
        const style = getComputedStyle(e), what = quote(e.textContent), faults = [];
        if (e.localName === 'pre') {
          if (parseFloat(style.fontSize) < 12) faults.push(`code of ${style.fontSize}: ${what}`);
          if (style.whiteSpace !== 'pre' && !e.closest('.tag_words .output')) faults.push(`code that wraps: ${what}`);
          if (e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0) faults.push(`code that no key scrolls: ${what}`);
        } else if (!e.closest('pre') && e.getClientRects().length > 1)
          for (const node of [e, ...e.querySelectorAll('*')].flatMap(n => [...n.childNodes]).filter(n => n.nodeType === Node.TEXT_NODE))
            for (const name of node.data.matchAll(/\w+/g)) {
              range.setStart(node, name.index);
              range.setEnd(node, name.index + name[0].length);
              if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) faults.push(`a name torn apart: ${name[0]} in ${what}`);
            }
        return faults;
      });
    },

    // Words in a picture that is scaled down until they are hard to read.
    letters: () => drawn().filter(e => /^(text|tspan)$/.test(e.localName) && [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim())).flatMap(e => {
      const {a, b} = e.getScreenCTM(), size = parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
      return size < 9.95 ? [`letters of ${size.toFixed(1)} px: ${quote(e.textContent)}`] : [];
    }),

    // Text on top of other text.
    overlaps() {
      scrollTo(0, 0); // what is fixed out of sight lies over nothing then
      const lines = boxes().flatMap(([e, what, rects]) => [...rects].map(box => ({e, what, box}))).filter(({box}) => box.left < innerWidth).sort((a, b) => a.box.top - b.box.top);
      const measure = measuring();
      const reads = ({e, box}) => opacity(e) > 0.05 && !forEars(e) && !beyond(box, e, measure) && !scrolledAway(box, e, measure);
      return lines.flatMap((line, i) => {
        const faults = [];
        for (let j = i + 1; j < lines.length && lines[j].box.top < line.box.bottom; j++) {
          const a = line.box, b = lines[j].box;
          const high = Math.min(a.bottom, b.bottom) - b.top, wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          if (wide > 3 && high > Math.min(a.height, b.height) / 2 && reads(line) && reads(lines[j])) // the rest is leading
            faults.push(`${line.what} in ${near(line.e)} is under ${lines[j].what} in ${near(lines[j].e)}`);
        }
        return faults;
      });
    },

    // What moves although the reader asked for no motion, one of each kind.
    motion() {
      const long = times => times.split(',').some(time => parseFloat(time) > 0.016);
      const kinds = new Map(all(document).map(e => [near(up(e) ?? e) + near(e), e]));
      return [...kinds.values()].flatMap(e => ['', '::before', '::after'].flatMap(part => {
        const style = getComputedStyle(e, part);
        const moves = style.animationName !== 'none' && long(style.animationDuration) || long(style.transitionDuration) || !part && style.scrollBehavior === 'smooth';
        return moves || e.autoplay && !part ? [`moves: ${near(e)}${part}`] : [];
      }));
    },

    // The element that a link in sight leads to, when that link has the focus.
    leadsTo() {
      const link = document.activeElement, box = link.getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight && link.hash ? document.querySelector(link.hash) : null;
    },

    // Controls that do not show that they have the focus, one of each kind.
    focus() {
      // An outline that is thick enough, the browser's own, or in a figure a stroke.
      const mark = e => {
        const {outlineStyle, outlineWidth, outlineColor, stroke} = getComputedStyle(e);
        return outlineStyle === 'auto' || outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 ? outlineColor : stroke;
      };
      const kinds = new Map();
      document.activeElement.blur();
      for (const e of drawn().filter(e => e.tabIndex >= 0 && !e.disabled && e.matches('a[href], button, input, select, summary, [tabindex]')))
        kinds.set([near(e), near(up(e)), e.type].join(), e);
      const faults = [...kinds.values()].flatMap(e => {
        const around = [e, up(e), up(up(e)), ...(e.closest('.over')?.querySelectorAll('svg *') ?? [])], before = around.map(mark);
        e.focus();
        const marked = around.filter((other, i) => mark(other) !== before[i] && mark(other) !== 'none' && opacity(other) > 0.5)[0];
        if (!marked) return [`no mark of the focus: ${near(e)} ${quote(e.textContent)}`];
        const ratio = contrast(mark(marked), ground(up(marked)));
        return ratio < 3 ? [`a pale mark of the focus, ${ratio.toFixed(1)} to 1: ${near(e)} ${quote(e.textContent)}`] : [];
      });
      document.activeElement.blur();
      return faults;
    },

    // Pictures without words.
    pictures() {
      const named = e => ['aria-label', 'aria-labelledby'].some(a => e.getAttribute(a)?.trim()) || e.querySelector(':scope > title');
      return drawn().filter(e => !e.closest('[aria-hidden=true], [role=presentation], [role=none]')).flatMap(e => {
        if (e.localName === 'img' && !e.alt.trim()) return [`no alt text: ${near(e)} ${e.getAttribute('src')?.slice(0, 60)}`];
        if (!/^(svg|canvas)$/.test(e.localName) || e.parentElement?.closest('svg, button, a')) return [];
        const image = e.closest('[role=img]') ?? (e.querySelector('[role=slider]') && e.closest('[role=group]'));
        return image && named(image) ? [] : [`no role="img" with a label: ${near(e)}`];
      });
    },

    // Formulas that are still TeX, and those whose full stop begins the next line.
    formulas() {
      const range = document.createRange();
      return drawn().flatMap(e => {
        const next = e.matches('span.math') && e.nextSibling;
        if (next?.nodeType === Node.TEXT_NODE && /^[.,:;?!)]/.test(next.data)) {
          range.setStart(next, 0);
          range.setEnd(next, 1);
          if (range.getBoundingClientRect().left < e.firstElementChild.getBoundingClientRect().right - 3)
            return [`a line begins with what follows a formula: ${quote(next.data)}`];
        }
        return e.matches('.math') && !e.querySelector('math') ? [`formula not set: ${quote(e.textContent)}`] : [];
      });
    },

    // The first text and the first link of each look on each ground that is not known yet: axe would judge each word of
    // code. In a shadow root, where texts lie over pictures, all of a look that this page has not shown yet. A link
    // counts by its block, too, and by whether that is mostly links.
    mark(looks) {
      const grounds = new Map([[undefined, '']]), known = new Set(looks), judged = new Set(looks);
      // What lets all that is behind it through is left out.
      const ground = e => {
        if (!grounds.has(e)) {
          const {backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position} = getComputedStyle(e);
          const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position].join();
          grounds.set(e, ground(up(e)) + (own === 'rgba(0, 0, 0, 0),none,1,none,normal,static' ? '' : own + ';'));
        }
        return grounds.get(e);
      };
      const look = e => {
        const {color, fill, fontSize, fontWeight, textShadow} = getComputedStyle(e);
        const large = parseFloat(fontSize) >= (fontWeight >= 700 ? 56 / 3 : 24); // 14 and 18 pt: less contrast will do
        return [e.matches(FIELD) && e.localName, color, fill, large, textShadow, ground(e)].join();
      };
      // Of text on a picture and of a single character, axe never finds that its contrast is too low.
      const plain = e => !/(gradient|url)\(/.test(ground(e).split(/;(?=rgb\()/).at(-1));
      const own = e => [...e.childNodes].map(n => n.nodeType === Node.TEXT_NODE ? n.data.replace(/\s/g, '') : '').join('');
      const speaks = e => !e.closest('svg') && (e.matches(FIELD) || own(e).length > 1) && plain(e);
      const letters = e => e.textContent.replace(/\s/g, '').length;
      const marks = [];
      for (const e of drawn()) {
        const kinds = {};
        if (speaks(e)) kinds.kind = look(e);
        if (e.matches('a[href], [role=link]')) {
          const {textDecorationLine, textDecorationColor, borderBottom, fontStyle, fontFamily} = getComputedStyle(e);
          const around = block(up(e)) ?? up(e), links = [...around.querySelectorAll('a[href], [role=link]')];
          const amid = letters(around) > 2 * links.reduce((sum, link) => sum + letters(link), 0);
          kinds.link = [textDecorationLine, textDecorationColor, borderBottom, fontStyle, fontFamily, look(e), around.localName, look(around), amid].join();
        }
        for (const [name, kind] of Object.entries(kinds)) {
          const apart = e.getRootNode() !== document, full = apart ? `${location.pathname} ${kind}` : kind;
          if (!(apart ? known : judged).has(full)) marks.push({e, name, kind: full});
          judged.add(full);
        }
      }
      for (const {e, name} of marks) e.dataset[name] = '';
      return marks;
    },

    // The faults that axe finds, and the looks that it has judged: what it could not decide stays unknown.
    async axe(known, rules) {
      const marks = this.mark(known);
      if (rules && !marks.length) return [[], []];
      const left = scrollY;
      scrollTo(0, 0); // or what is under the bar at the top would count as covered
      const {violations, incomplete} = await axe.run(document, {
        runOnly: rules ?? undefined, resultTypes: ['violations', 'incomplete'], elementRef: true,
        preload: false, // it would fetch the styles once more
      });
      scrollTo(0, left);
      for (const {e, name} of marks) delete e.dataset[name];
      // Of text in the color of its ground, which a program may hide on purpose, axe never judges the contrast.
      const open = incomplete.flatMap(({nodes}) => nodes).filter(({any}) => any[0]?.data?.messageKey !== 'equalRatio');
      const undecided = new Set(open.map(({element}) => element));
      const unknown = new Set(marks.filter(({e}) => undecided.has(e)).map(({kind}) => kind));
      return [
        violations.flatMap(({id, help, nodes}) => nodes.map(({target, html}) => `axe ${id}: ${help}: ${target} ${html.slice(0, 100)}`)),
        marks.map(({kind}) => kind).filter(kind => !unknown.has(kind)),
      ];
    },

    unfold() {
      for (const e of all(document.body)) if (e.localName === 'details') e.open = true;
      document.querySelectorAll('.toggle-button-hidden').forEach(e => e.click());
    },

    // Figures that answer the reader's hand, their controls, and what they show.
    figures: () => [...document.querySelectorAll('[data-hero], [data-explore]')],
    waits: e => !e.checkVisibility({visibilityProperty: true}),
    parts: figure => all(figure.shadowRoot ?? figure),
    controls(figure) {
      const wanted = 'input:not([type=hidden]), select, button, summary, a[href], [tabindex="0"]';
      // One radio button stands for its group, as it does for the Tab key.
      return this.parts(figure).filter(e => e.matches(wanted) && !e.disabled && !(e.type === 'radio' && !e.checked));
    },
    shows: figure => figure.innerHTML + (figure.shadowRoot?.innerHTML ?? ''),
    remember(figure) { before = this.shows(figure); }, // in the page, since a figure may be 100 kB
    // Whether the figure shows something else now, or a moment later.
    async changes(figure) {
      for (let frame = 0; frame < 60 && this.shows(figure) === before; frame++) await new Promise(requestAnimationFrame);
      return this.shows(figure) !== before;
    },
    focused: e => { e.focus(); return e.getRootNode().activeElement === e; },
  };
})();
