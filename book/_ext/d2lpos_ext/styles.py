"""One style sheet for the site, of what its pages may meet, where the theme and its extensions bring eleven: each is a question to
the server before anything shows. What three pages or fewer may meet stands in these alone.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import tinycss2

NAME = re.compile(r"[.#]?-?[A-Za-z_][\w-]*")
# What a selector asks of one element: its name, ids and classes.
ASKED = re.compile(r"[.#]-?[A-Za-z_][\w-]*|^[A-Za-z][\w-]*")
ARGUMENTS = re.compile(r"\([^()]*\)")  # of :not(), :is() and the like, which may name what is not there
STATE = re.compile(r"::?[\w-]+|\[[^]]*]")
FEW = 3
OWN = '@font-face{font-family:"Source Serif 4"'  # with which book.css begins
HOLDS = re.compile(r":has\(([^()]*)\)")
EITHER = re.compile(r":(?:is|where)\(([^()]*)\)")
BETWEEN = re.compile(r"\s*([>+~])\s*|\s+")
TAG = re.compile(r'<(/?)([a-z][\w-]*)((?:[^<>"]|"[^"]*")*)>')
HAS = re.compile(r'\b(class|id)="([^"]*)"')
# The classes that a script sets, and all short strings, among them names of elements that it makes.
SETS = re.compile(r"""\bclass(?:Name)?\s*[:=]\s*["'`]([^"'`]*)|\bclassList\.(?:add|toggle)\(["'`]([^"'`]*)|["'`]([a-z][a-z0-9]*)["'`]""")
SCRIPTS = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SPACE = re.compile(r""""[^"]*"|'[^']*'|\s*([>;{}])\s*|([:,])\s+(?!;)|(?<![\w.])0(?=\.\d)""")
SHEET = re.compile(r'\s*<link [^>]*href="([^"]*_static/)([^"?]+\.css)[^"]*"[^>]*>')
EARLIER = re.compile(r'(/all\.css\?v=\w+">)<style>.*?</style>', re.DOTALL)  # of an earlier build
# A custom property: a name, and a value in which strings and brackets may hold what would end it.
VARIABLE = re.compile(
    r"""(?<=[{;\s])(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\)|[^;}"'()])*(?:;|(?=}))"""
)
MEDIA, WIDTH = re.compile("@media[^{]*{"), re.compile(r"(?<=width:)\s*([\d.]+)px")
ADDRESS = re.compile(r"""url\(["']?(?!data:)([^)"']+)["']?\)""")
NEVER = "html:not([data-theme])", ':not([data-theme])'  # each page names a theme, and its scripts change which
DATA = re.compile(r"\[(data-[\w-]+)")
# The element of the page, whatever its attributes say.
WHOLE = re.compile(r"(?:html|:root|:host)(?::root|:not\(\[[^]]*]\)|\[[^]]*])*")
# Not where colors are forced: a browser gives those to all text there.
VALUE = re.compile(r"""(--[\w-]+)\s*(?:["'`]|:(?!\s*(?:Canvas|CanvasText|GrayText|Highlight)\b))""")
READS = re.compile(r"var\(\s*(--[\w-]+)")


def join(site: Path, meets: Callable[[str], set[int]]) -> None:
    """Put the style sheets that the pages load into one, in their order."""
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html") if "_static" not in path.parts}
    # A page of an earlier build has the one already.
    order = max(([name for _, name in SHEET.findall(page)] for page in pages.values()), key=len)
    css = "".join(moved((site / "_static" / name).read_text("utf-8"), Path(name).parent) for name in order)
    elsewhere = "".join([*pages.values(), *(path.read_text("utf-8") for path in (site / "_static").rglob("*.js"))])
    css = SPACE.sub(lambda space: space[0] if space[0][0] in "\"'" else space[1] or space[2] or "", in_em(without_films(css)))
    css = without_idle(settled(css, elsewhere), elsewhere)
    # Rules of our own alone: they stand last, and so do those of a page.
    shared, few = part(css[css.index(OWN) :], meets)
    css = css[: css.index(OWN)].replace(";}", "}") + shared
    (site / "_static" / "all.css").write_text(css, "utf-8")
    version = sha256(css.encode()).hexdigest()[:8]
    for number, (path, page) in enumerate(pages.items()):
        page = EARLIER.sub(r"\1", page)
        if match := SHEET.search(page):
            own = "".join(rules for on, rules in few.items() if number in on)
            one = f'\n<link rel="stylesheet" href="{match[1]}all.css?v={version}">' + f"<style>{own}</style>" * bool(own)
            path.write_text(page[: match.start()] + one + SHEET.sub("", page[match.start() :]), "utf-8")


def in_em(css: str) -> str:
    """Return a style sheet whose queries ask how many letters are as wide as the window, and not how many pixels.

    So a reader whose browser shows larger letters gets the layout that has room for them.

    >>> in_em("@media (min-width:1200px) and (max-height:40px) {a {width: 16px}}")
    '@media (min-width:75em) and (max-height:40px) {a {width: 16px}}'
    """
    return MEDIA.sub(lambda query: WIDTH.sub(lambda width: f"{float(width[1]) / 16:.6g}em", query[0]), css)


def without_films(css: str) -> str:
    """Return a style sheet without the @keyframes that nothing names.

    >>> without_films("@keyframes a {to {top: 0}} @keyframes b {to {top: 0}} p {animation: b 1s}")
    '@keyframes b {to {top: 0}} p {animation: b 1s}'
    """
    for film in tinycss2.parse_stylesheet(css):
        if film.type == "at-rule" and film.lower_at_keyword.endswith("keyframes"):
            name = tinycss2.serialize(film.prelude).strip()
            if not re.search(rf"animation[\w-]*:[^;}}]*(?<![\w-]){re.escape(name)}(?![\w-])", css):
                css = css.replace(film.serialize(), "")
    return css.strip()


def settled(css: str, elsewhere: str) -> str:
    """Return a style sheet that reads no custom property which has one value on the whole page, where the value is not longer.

    The theme names each color, width and font, most of them for a single use, and our styles name them anew. What is
    named `elsewhere`, too, may change.

    >>> settled("html{--x:1px;--y:red;--z:var(--y)}html[a]{--y:blue}html:root{--z:0}p{top:var(--x);left:var(--z);color:var(--y)}", "")
    'html{--x:1px;--y:red;--z:var(--y)}html[a]{--y:blue}html:root{--z:0}p{top:1px;left:0;color:var(--y)}'
    """
    values, away = {}, set(VALUE.findall(elsewhere))
    for name, selectors, asks, value in declared(tinycss2.parse_stylesheet(css)):
        values.setdefault(name, []).append((selectors, asks, value))
    whole = {name for name, set_ in values.items() if name not in away and all(WHOLE.fullmatch(one) for ones, _, _ in set_ for one in ones)}
    shorter = css
    for name, set_ in values.items():
        (last, _, value), most = set_[-1], max(weight(one) for ones, _, _ in set_ for one in ones)
        always = not any(asks for _, asks, _ in set_) and any("[" not in one and weight(one) == most for one in last)
        read = re.compile(rf"var\(\s*{name}\s*\)")
        uses = len(read.findall(shorter))
        if (
            name in whole and always and whole.issuperset(READS.findall(value)) and uses == len(re.findall(rf"{name}(?![\w:-])", shorter))
            and uses * (len(value) - len(name) - 5) <= len(name) + len(value) + 2
        ):  # fmt: skip
            shorter = read.sub(lambda _, value=value: value, shorter)
    return shorter if shorter == css else settled(shorter, elsewhere)


def declared(rules: Iterable, asks: bool = False) -> Iterator[tuple[str, list[str], bool, str]]:
    """Yield each declaration of a custom property: its name, the selectors, whether it asks for more than these, the value."""
    for rule in rules:
        if rule.type == "at-rule" and rule.content:
            yield from declared(tinycss2.parse_rule_list(rule.content), True)
        elif rule.type == "qualified-rule":
            for part in tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True):
                if part.type != "declaration":
                    yield from declared([part], True)
                elif part.name.startswith("--"):
                    yield part.name, split(tinycss2.serialize(rule.prelude)), asks, tinycss2.serialize(part.value).strip()


def weight(selector: str) -> tuple[int, bool]:
    """The specificity of a selector of the whole page: of two with the same, the later holds."""
    return selector.count("[") + len(re.findall(":(?!not)", selector)), selector.startswith("html")


def without_idle(css: str, elsewhere: str) -> str:
    """Return a style sheet without the custom properties that nothing reads, nor what is written `elsewhere`.

    >>> without_idle("a {--x: 1; --y: var(--x); color: var(--z); --z: red}", "")
    'a {  color: var(--z); --z: red}'
    """
    read = set(re.findall(r"--[\w-]+", elsewhere))
    while True:
        asked = read | set(READS.findall(css))
        shorter = VARIABLE.sub(lambda one, asked=asked: one[0] * (one[1] in asked), css)
        if shorter == css:
            return css
        css = shorter


def moved(css: str, folder: Path) -> str:
    """Return a style sheet of `folder` with the addresses that hold outside of it.

    >>> moved("a {src: url(../x.svg)}", Path("styles"))
    'a {src: url(x.svg)}'
    """
    return ADDRESS.sub(lambda url: f"url({os.path.normpath(folder / url[1])})", css)


def matcher(pages: Sequence[str], scripts: str, css: str) -> Callable[[str], set[int]]:
    """Return what says of a selector on which pages an element, or one that a script makes or marks, may meet it.

    >>> meets = matcher(['<nav class="a"><p class="b">', "<q>"], 'p.classList.add("c")', ".a .b .c .d #e nav p q")
    >>> [len(meets(one)) for one in ("nav .b:hover", ".b .a", "nav.b", "nav.c > p", ".d", "p.b.c", ":is(.d, q)", "q:has(.b)", ".a .c")]
    [1, 0, 0, 1, 0, 1, 1, 0, 2]
    """
    asked = set(NAME.findall(css))
    # Each element once for all pages that have it: what it is, the one around it, those in it, the pages.
    tree, places = [(frozenset(), 0, set(), set(range(len(pages))))], {}
    for number, page in enumerate(pages):
        around = [("", 0)]
        scripts += "".join(script[0] for script in SCRIPTS.finditer(page))
        for ends, name, attributes in TAG.findall(SCRIPTS.sub("", page)):
            if ends:
                while name in (one for one, _ in around) and around.pop()[0] != name:
                    pass
                continue
            told = (f"{'.' if kind == 'class' else '#'}{word}" for kind, value in HAS.findall(attributes) for word in value.split())
            shape, above = frozenset(asked.intersection([name, *told])), around[-1][1]
            place = places.setdefault((shape, above), len(tree))
            if place == len(tree):
                tree[above][2].add(place)
                tree.append((shape, above, set(), set()))
            tree[place][3].add(number)
            if name not in EMPTY and not attributes.endswith("/"):
                around.append((name, place))
    marks = {f".{name}" for one, other, _ in SETS.findall(scripts) for name in f"{one} {other}".split()}
    marks |= {name for _, _, name in SETS.findall(scripts)}
    known = set(DATA.findall("".join(f"[{name}" for name in re.findall(r"data-[\w-]+", "".join([*pages, scripts])))))
    has = {name: set().union(*(there for shape, _, _, there in tree if name in shape)) for name in asked}

    def meets(selector: str) -> set[int]:
        if selector in NEVER or not known.issuperset(DATA.findall(selector)):
            return set()
        if either := EITHER.search(selector):
            before, after = selector[: either.start()], selector[either.end() :]
            # Of each, what it says of the element itself; its name stands in front or nowhere.
            ones = [BETWEEN.split(one)[-1] for one in split(either[1])]
            names = ["" if one[:1].isalpha() and before and before[-1] not in " >+~" else one for one in ones]
            return set().union(*(meets(before + one + after) for one in names))
        inner = {name for part in HOLDS.findall(selector) for name in NAME.findall(part) if name[0] == "."} - marks
        parts = BETWEEN.split(STATE.sub("", bare(selector)).strip())
        there, made, on = range(1, len(tree)), False, None  # what the part to the right may be; whether a script may have made it
        for part, between in zip(parts[::-2], [" ", *parts[-2::-2]], strict=True):
            names = set(ASKED.findall(part))
            makes = bool(names & marks)
            # Of what a script has marked, it may have made all but the classes and ids that it does not set.
            needs = {name for name in names - marks if not makes or name[0] in ".#"}
            if on is not None:
                there = outer(there, " " if made or makes else between or " ") | set(there if made or makes and not needs else ())
            there = {place for place in there if needs <= tree[place][0]}
            made = makes and not needs
            on = set().union(*(tree[place][3] for place in there)) if on is None or not there else on
        return on.intersection(*(has[name] for name in inner))

    def outer(there: set[int], between: str) -> set[int]:
        """The places from which a part of a selector leads to the next one, which may be any of `there`."""
        if between in "+~":
            return {beside for place in there for beside in tree[tree[place][1]][2]}
        above = {tree[place][1] for place in there} - {0}
        if between == ">":
            return above
        while more := {tree[place][1] for place in above} - above - {0}:
            above |= more
        return above

    return meets


def part(css: str, meets: Callable[[str], set[int]], inside: Sequence[str] = ("",)) -> tuple[str, dict[frozenset[int], str]]:
    """Return the rules of a style sheet for all pages, and those that FEW pages or fewer may meet, by these pages.

    >>> part("p{top:0;b{top:0} q{top:1px}}", lambda selector: {7} if "q" in selector else {1, 2, 3, 4})
    ('p{top:0;b{top:0}}', {frozenset({7}): 'p{q{top:1px}}'})
    """
    shared, few = [], {}
    for rule in tinycss2.parse_blocks_contents(css, skip_comments=True, skip_whitespace=True):
        prelude = tinycss2.serialize(getattr(rule, "prelude", [])).strip()
        here, on = inside, None
        if rule.type == "qualified-rule":
            here = [one.replace("&", outer) if "&" in one else f"{outer} {one}".strip() for outer in inside for one in split(prelude)]
            on = frozenset().union(*map(meets, here))
        if on and len(on) <= FEW:
            few[on] = few.get(on, "") + rule.serialize()
        elif rule.type == "qualified-rule" or rule.type == "at-rule" and rule.content and rule.lower_at_keyword in ("media", "supports"):
            begin = f"{f'@{rule.at_keyword}' if rule.type == 'at-rule' else ''}{' ' * (rule.type == 'at-rule')}{prelude}{{"
            rest, inner = part(tinycss2.serialize(rule.content), meets, here)
            if rest:
                shared.append(f"{begin}{rest}}}")
            for on, own in inner.items():
                few[on] = few.get(on, "") + f"{begin}{own}}}"
        else:
            shared.append(rule.serialize() + ";" * (rule.type == "declaration"))
    return "".join(shared).replace(";}", "}"), few


def prune(css: str, meets: Callable[[str], bool]) -> str:
    """Return a style sheet with the selectors alone of which `meets` is true.

    >>> prune(".a,.b:not(.c) {top: 0} @media print {.b {top: 1px}}", lambda selector: ".b" in selector)
    '.b:not(.c){top: 0}@media print {.b{top: 1px}}'
    """
    rules_left = []
    for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule":
            if selectors := list(filter(meets, split(tinycss2.serialize(rule.prelude)))):
                rules_left.append(f"{','.join(selectors)}{{{tinycss2.serialize(rule.content)}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports", "layer", "container"):
            if rule.content is None:
                rules_left.append(rule.serialize())
            elif inner := prune(tinycss2.serialize(rule.content), meets):
                rules_left.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}")
        else:
            rules_left.append(rule.serialize())
    return "".join(rules_left)


def split(selectors: str) -> list[str]:
    """Return the parts of a list of selectors; commas inside parentheses do not part them."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", selectors)]


def bare(selector: str) -> str:
    while ARGUMENTS.search(selector):
        selector = ARGUMENTS.sub("", selector)
    return selector
