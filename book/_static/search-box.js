// Where the search shows what it finds: below the field of the dialog while one types, and on a page of its own.
{
  const SUGGESTED = 8, LISTED = 50;
  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const marked = pieces => pieces.map((piece, i) => i % 2 ? element("mark", {}, piece) : piece);
  const WAITS = {loading: "The search is loading …", lost: "The search did not load. Open this page again."};
  const told = (query, {length}) => !query ? "" : WAITS[bookSearch.state()] ?? (length === 1 ? "1 result" : length ? `${length} results` : `Nothing found for “${query}”.`);
  const leading = (link, {excerpt}) => {
    // The page that opens marks the words of the excerpt; Sphinx keeps them here for it.
    link.addEventListener("click", () => {
      const words = new Set(excerpt.filter((piece, i) => i % 2 && piece.length > 2).map(piece => piece.toLowerCase()));
      if (link.pathname !== location.pathname) kept.localStorage.setItem("sphinx_highlight_terms", [...words].join(" "));
    });
    return link;
  };

  const page = document.getElementById("search-results");
  if (page) {
    const field = page.parentElement.querySelector("input");
    const summary = element("p", {class: "search-summary", role: "status"}), list = element("ul", {class: "search"});
    const show = () => {
      const query = field.value.trim(), found = query ? bookSearch(query) : [];
      summary.textContent = told(query, found);
      list.replaceChildren(...found.slice(0, LISTED).map(open => {
        const result = open(), name = [result.above, result.title].filter(Boolean).join(" > ");
        return element("li", {}, leading(element("a", {href: result.href}, name), result), element("p", {class: "context"}, ...marked(result.excerpt)));
      }));
    };
    page.append(summary, list);
    field.value ||= new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", show);
    addEventListener("booksearch", show);
    show();
  }

  // A combobox with a list, after the pattern of the ARIA Authoring Practices Guide: the focus stays in the field.
  const dialog = document.getElementById("pst-search-dialog"), form = dialog.querySelector("form"), field = form.querySelector("input");
  form.id = "search-form";
  const list = element("div", {id: "search-found", role: "listbox", "aria-label": "Results", hidden: ""});
  const status = element("span", {role: "status"}), all = element("button", {type: "submit", form: form.id}, "Show all");
  const below = element("p", {class: "search-count"}, status, all);
  for (const [key, value] of Object.entries({role: "combobox", "aria-controls": list.id, "aria-autocomplete": "list"})) field.setAttribute(key, value);
  form.after(list, below);

  let chosen = -1;
  const choose = next => {
    list.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = next;
    const option = list.children[chosen];
    if (!option) return field.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({block: "nearest"});
    field.setAttribute("aria-activedescendant", option.id);
  };
  const suggest = () => {
    const query = field.value.trim(), found = query ? bookSearch(query, true) : [];
    choose(-1);
    list.replaceChildren(...found.slice(0, SUGGESTED).map((open, i) => {
      const result = open();
      const link = element("a", {id: `search-found-${i}`, role: "option", "aria-selected": "false", tabindex: -1, href: result.href},
        element("strong", {}, result.title), " ", element("small", {}, result.above), element("span", {}, ...marked(result.excerpt)));
      link.addEventListener("click", () => dialog.close());
      return leading(link, result);
    }));
    list.hidden = !found.length;
    below.hidden = !query;
    all.hidden = found.length <= SUGGESTED;
    field.setAttribute("aria-expanded", String(!list.hidden));
    status.textContent = told(query, found);
  };
  field.addEventListener("input", suggest);
  addEventListener("booksearch", suggest);
  field.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key], stops = list.children.length + 1;  // one stop is the field itself
    if (step && stops > 1) {
      event.preventDefault();
      choose((chosen + 1 + step + stops) % stops - 1);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      list.children[chosen].click();
    }
  });
  suggest();
}
