"""No page has lost a rule: what the theme's sheets and our own say of an element that is there is in what the page loads."""

from importlib.resources import files

from d2lpos_ext.slim import BUTTON, OVERRULED

from tests.site.pages import ROOT

THEMES = {"pydata_sphinx_theme": "pydata-sphinx-theme", "sphinx_book_theme": "sphinx-book-theme"}
SHEETS = [files(theme) / "theme" / theme / "static" / "styles" / f"{sheet}.css" for theme, sheet in THEMES.items()]
KINDS = [
    "index", "chapters/04-rope", "chapters/in-depth/04a-in-other-code", "book/symptoms", "book/your-model", "book/models", "book/ledger",
    "book/results", "book/teachers", "book/api", "book/quick", "book/predicted", "search",
]  # fmt: skip

# Of each selector, whatever the state and the window ask: whether the page has such an element, and whether it loads the rule.
LOST = r"""sheets => {
  const split = text => text.split(/,(?![^()]*\))/).map(one => one.trim());
  const still = one => one.replace(/:not\([^()]*(\([^()]*\)[^()]*)*\)/g, "").replace(/::?(?!is|where|has|host|root|nth|first-child|last-child)[a-z-]+(\([^()]*\))?/g, "").replace(/([>+~])\s*(?=[>+~])/g, "$1 * ").replace(/(^|[\s>+~])$/, "$1*");
  const walk = (rules, outer) => [...rules].flatMap(rule => {
    if (!(rule instanceof CSSStyleRule)) return rule.cssRules && !(rule instanceof CSSKeyframesRule) ? walk(rule.cssRules, outer) : [];
    const here = split(rule.selectorText).map(one => outer ? one.includes("&") ? one.replaceAll("&", `:is(${outer})`) : `:is(${outer}) ${one}` : one);
    return [...rule.style.length ? here : [], ...walk(rule.cssRules, here.join(", "))];
  });
  const loads = new Set([...document.styleSheets].flatMap(sheet => walk(sheet.cssRules, "")));
  const there = one => { try { return document.querySelector(still(one)); } catch { return null; } };  // a state inside of another
  return sheets.flatMap(text => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); return walk(sheet.cssRules, ""); })
    .filter(one => !loads.has(one) && there(one));
}"""


def test_a_page_has_all_rules_that_its_elements_meet(visitor, address):
    sheets = [path.read_text("utf-8").replace(BUTTON, "") for path in (*SHEETS, ROOT / "book" / "_static" / "book.css")]
    for name in KINDS:
        visitor.page.goto(f"{address}/{name}.html")
        lost = [one for one in visitor.page.evaluate(LOST, sheets) if not OVERRULED.search(one) and one != "html:not([data-theme])"]
        assert lost == [], name


def test_a_rule_that_is_lost_is_found(visitor, address):
    visitor.page.goto(f"{address}/book/preface.html")
    assert visitor.page.evaluate(LOST, ["main article {top: 0} b.gone, p:hover {top: 0}"]) == ["main article", "p:hover"]
