// Turns the slides of a deck. Without it they stand below one another, with their answers folded.
{
  const root = document.documentElement, main = document.querySelector("main"), slides = [...main.children];
  const bar = document.querySelector("nav"), list = bar.querySelector("details"), links = [...bar.querySelectorAll("a")];
  const [back, next, notes] = ["back", "next", "notes"].map(name => bar.querySelector(`.${name}`));
  const dark = matchMedia("(prefers-color-scheme: dark)"), canvas = matchMedia("print, (min-width: 900px) and (min-height: 420px)"), paper = matchMedia("print");
  const hands = "[data-hero], [data-explore], nav, a, button, summary, input, .notes";
  let at = -1, touch;
  (dark.onchange = () => { root.dataset.theme = dark.matches ? "dark" : "light"; })();

  // The canvas is as large as the window allows, and on it what a slide shows, with the answer: the page through a
  // magnifying glass. What grows under a hand shrinks again: of a film first the picture, until its letters are 1.3 times as
  // large beside it as in the book, and then all of it.
  const scale = () => root.style.setProperty("--scale", Math.min(innerWidth / 1280, (innerHeight - bar.offsetHeight) / 676));
  const shrink = box => {
    const {clientHeight: room} = box.parentElement, film = box.querySelector("[data-hero]"), least = film ? 24 / 13 / 1.3 : .3;
    const all = {"--fit": +box.style.getPropertyValue("--fit"), "--film": +box.style.getPropertyValue("--film")};
    const set = (name, by) => box.style.setProperty(name, all[name] *= by);
    const large = () => box.offsetHeight * all["--fit"] > room - 1 || box.scrollWidth > box.offsetWidth;
    while (all["--fit"] > least * all["--film"] && large()) set("--fit", .97);
    while (film && all["--film"] > .4 && large()) { set("--fit", .97); set("--film", .97); }
  };
  // A figure is drawn for a column of text. On a slide the halves of a tall one stand side by side where that makes them
  // larger. The cut is near the middle, through no word and through as few lines as can be.
  const halve = svg => {
    const [x, y, width, height] = svg.getAttribute("viewBox")?.split(/[\s,]+/).map(Number) ?? [], box = svg.getBoundingClientRect();
    if (!(height > width / 2) || svg.parentElement.matches(".halves")) return;
    const spans = [...svg.querySelectorAll("text, path, rect, line, circle, use, image")].filter(e => !e.closest("defs, clipPath"))
      .map(e => [e.localName === "text", e.getBoundingClientRect()]).map(([word, b]) => [word, b.top - word * b.height / 2 - box.top, b.bottom + word * b.height / 2 - box.top].map((v, i) => i ? v / box.height : v));
    const cost = at => spans.reduce((sum, [word, top, bottom]) => sum + (top < at && at < bottom) * (word ? 1000 : 1), Math.abs(at - .5) * 20);
    const cut = [...Array(31).keys()].map(i => .35 + i / 100).reduce((one, other) => cost(other) < cost(one) ? other : one);
    const before = Math.min(1200 / width, 540 / height), after = Math.min(580 / width, 540 / height / Math.max(cut, 1 - cut));
    if (after < 1.2 * before || cost(cut) > 1000) return;
    const row = document.createElement("div"), below = svg.cloneNode(true);
    row.className = "halves";
    svg.replaceWith(row);
    row.append(svg, below);
    below.ariaHidden = "true";
    [[svg, 0, cut], [below, cut, 1]].forEach(([half, from, to]) => {
      half.removeAttribute("height");
      half.setAttribute("viewBox", [x, y + from * height, width, (to - from) * height].join(" "));
      half.style.setProperty("--share", to - from);
    });
  };
  // From the last row one reads what is 24 px high.
  const enlarge = box => {
    const words = [...box.querySelectorAll("svg text, svg tspan")];
    words.forEach(e => e.style.removeProperty("font-size"));
    const sizes = words.map(e => {
      const {a, b} = e.getScreenCTM(), own = parseFloat(getComputedStyle(e).fontSize);
      return [own, 24 / (own * Math.hypot(a, b) / root.style.getPropertyValue("--scale"))];
    });
    words.forEach((e, i) => { if (sizes[i][1] > 1) e.style.fontSize = `${sizes[i][0] * Math.min(1.3, sizes[i][1])}px`; });
  };
  const fit = () => {
    scale();
    if (canvas.matches) for (const box of main.querySelectorAll(".fit")) {
      const answer = box.querySelector(".answer"), open = answer?.open;
      if (answer) answer.open = true;
      const drawn = box.querySelectorAll("svg");
      if (drawn.length === 1 && !box.querySelector("[data-hero], [data-explore]")) halve(drawn[0]);
      box.style.setProperty("--fit", box.dataset.most);
      box.style.setProperty("--film", 1);
      if (paper.matches || !box.querySelector("[data-hero]")) shrink(box);  // on a screen a film is laid out anew before
      enlarge(box);
      if (answer) answer.open = open;
    }
  };
  const grown = new ResizeObserver(boxes => { if (canvas.matches) boxes.forEach(({target}) => shrink(target)); });
  document.fonts.ready.then(() => { fit(); main.querySelectorAll(".fit").forEach(box => grown.observe(box)); });
  canvas.addEventListener("change", fit);
  paper.addEventListener("change", fit);  // which has other figures
  addEventListener("resize", scale);

  const film = new CSSStyleSheet();
  film.replaceSync(document.querySelector("#film").textContent);
  for (const {shadowRoot} of document.querySelectorAll("[data-hero]")) {
    shadowRoot.adoptedStyleSheets.push(film);
    shadowRoot.addEventListener("toggle", fit, true);
  }

  // The address says which slide is shown.
  const show = () => {
    const old = at;
    at = Math.max(0, slides.findIndex(slide => slide.id === decodeURIComponent(location.hash.slice(1))));
    slides.forEach((slide, i) => { slide.classList.toggle("now", i === at); links[i].ariaCurrent = i === at ? "true" : null; });
    bar.querySelector(".here").textContent = `${at + 1} / ${slides.length}`;
    [back.disabled, next.disabled] = [at === 0, at === slides.length - 1 && !closed()];
    notes.disabled = !slides[at].querySelector(".notes");
    list.open = false;
    main.scrollTop = slides[at].scrollTop = 0;
    if (old >= 0 && old !== at) slides[at].focus({preventScroll: true});
  };
  const closed = () => slides[at].querySelector(".answer:not([open])");
  const turn = to => {
    to = Math.max(0, Math.min(slides.length - 1, to));
    if (to > at) slides[to].querySelectorAll(".answer").forEach(fold => { fold.open = false; });
    location.replace(`#${slides[to].id}`);
    show();  // the event comes later, perhaps after the next key
  };
  const forth = () => { const fold = closed(); if (fold) fold.open = true; else turn(at + 1); };
  addEventListener("hashchange", show);
  show();

  const keys = {
    ArrowRight: forth, ArrowDown: forth, PageDown: forth, " ": event => event.shiftKey ? turn(at - 1) : forth(),
    ArrowLeft: () => turn(at - 1), ArrowUp: () => turn(at - 1), PageUp: () => turn(at - 1), Home: () => turn(0), End: () => turn(slides.length - 1),
    n: () => notes.click(), o: () => { list.open = !list.open; list.querySelector(list.open ? "[aria-current]" : "summary").focus(); },
    Escape: () => { list.open = false; slides[at].focus(); },
  };
  addEventListener("keydown", event => {
    const from = event.composedPath()[0];
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    // A remote sends Page Up and Page Down, wherever the hand was last; all other keys are those of the field.
    if (from.matches?.("input, select, textarea") && !/^(Page|Esc)/.test(event.key)) return;
    if (event.key === " " && from.matches?.("button, summary, a")) return;
    event.preventDefault();
    keys[event.key](event);
  });
  back.onclick = () => turn(at - 1);
  next.onclick = forth;
  notes.onclick = () => { notes.ariaPressed = main.classList.toggle("noted"); fit(); };

  // A click beside the figures, or a swipe, turns; what moves by hand keeps its drags.
  const free = event => !event.target.closest(hands);
  main.addEventListener("click", event => { if (event.pointerType === "mouse" && free(event) && getSelection().isCollapsed) forth(); });
  main.addEventListener("touchstart", event => { touch = event.touches.length === 1 && free(event) ? event.touches[0] : null; }, {passive: true});
  main.addEventListener("touchend", event => {
    const {clientX: x, clientY: y} = event.changedTouches[0];
    if (!touch || Math.abs(x - touch.clientX) < 60 || Math.abs(x - touch.clientX) < 2 * Math.abs(y - touch.clientY)) return;
    if (x < touch.clientX) forth(); else turn(at - 1);
  });
}
