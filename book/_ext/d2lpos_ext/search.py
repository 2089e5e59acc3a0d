"""What the search finds: the finished pages, cut into entries and these into blocks.

An entry is a section, a term, a name of the package, a model or an exercise. A block is a paragraph, a row, an equation or
a piece of code. It gets an id where it has none, so that a result opens there in every browser. What a page folds,
such as a solution, is left out: an excerpt must not give it away. What a prediction covers is found, and names the prediction.
"""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import yaml
from bs4 import BeautifulSoup, NavigableString, Tag
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

MINISEARCH = Path(__file__).parents[2] / "_vendor" / "minisearch" / "minisearch.js"
DRAWN = re.compile(r"<(svg|script|style)\b.*?</\1>", re.DOTALL)
WORD = re.compile(r"[^\W\d_]{3,}")
LEFT_OUT = {"details", "nav", "button", "form"}
LEFT_OUT_BY_CLASS = {
    "ask", "mistake", "review", "predictions", "solution", "headerlink", "effort", "symptoms",
}
# For those who write studies, who find it from the page of the package; what changed, which other pages say as it is now; licenses; and
# two lists of what the chapters have, too: of what was predicted, and of what was claimed.
NOT_SEARCHED = {"book/api-lab", "book/changelog", "book/third-party", "book/predicted", "book/ledger"}
MODELS = ["models", "releases"]  # tables of which each row is an entry
BLOCKS = {"p", "tr", "pre", "figcaption", "caption", "li"}
SCRIPTS = {"msup": "{}^{}", "msub": "{}_{}", "msubsup": "{}_{}^{}", "mfrac": "{}/{}"}

Entry = dict[str, str | list]


def skip_index(app: Sphinx) -> None:
    """Let Sphinx collect no words for its own search, which nobody would see: they take a twentieth of a build."""
    app.builder.index_page = app.builder.dump_search_index = lambda *_: None


def change_tools(app: Sphinx) -> None:
    """Bring MiniSearch in place of the script of Sphinx's search, before scripts are shortened."""
    static = Path(app.outdir) / "_static"
    (static / "searchtools.js").unlink(missing_ok=True)
    copy(MINISEARCH, static)


def write_index(app: Sphinx) -> None:
    """Give the blocks of a finished build their ids, and write what the search needs into its `_static`.

    The index is a file of bytes for pages that a server sends, and a script for those that are opened from a folder.
    `book/aliases.yml` has what engineers call a section, where the book has other words.
    """
    site, index = Path(app.outdir), []
    aliases = yaml.safe_load((Path(app.confdir) / "book" / "aliases.yml").read_text("utf-8"))
    for name in sorted({app.builder.get_target_uri(name).removesuffix(".html") for name in app.env.found_docs} - NOT_SEARCHED):
        path = site / f"{name}.html"
        page, title, entries = read(path.read_text("utf-8"))
        path.write_text(page, "utf-8")
        for entry in entries:
            if terms := aliases.pop(f"{name}#{entry['id']}", None):
                entry["also"] = terms
        told = [{key: value for key, value in entry.items() if value != ""} for entry in entries]
        index.append({"page": name, "title": title, "entries": told})
    for address in aliases:
        if address.partition("#")[0] in app.env.found_docs:  # no page of another book, of the tests
            getLogger(__name__).warning("aliases.yml: %s is no section", address)
    packed, static = pack(index), site / "_static"
    (static / "search-index.bin").write_bytes(packed)
    (static / "search-index.js").write_text(f'bookSearch.unpack("{b64encode(packed).decode()}");\n', "utf-8")


def pack(parts: list[dict]) -> bytes:
    """Return an index as bytes that a browser inflates.

    >>> unpack(pack([{"page": "a", "entries": []}]))
    [{'page': 'a', 'entries': []}]
    """
    press = zlib.compressobj(level=9, memLevel=9)
    return press.compress(json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()) + press.flush()


def unpack(packed: bytes) -> list[dict]:
    return json.loads(zlib.decompress(packed))


def own_id(text: str) -> str:
    """Return the id of a block from its words, as search.js does: so the index need not hold it. FNV-1a, 24 bits of 32.

    >>> own_id("All these words")
    'p-a38211'
    """
    digest = 0x811C9DC5
    units = text.encode("utf-16-le")
    for low, high in zip(units[::2], units[1::2], strict=True):
        digest = (digest ^ (low | high << 8)) * 0x01000193 & 0xFFFFFFFF
    return f"p-{digest >> 8:06x}"


def read(html: str) -> tuple[str, str, list[Entry]]:
    """Return a page in which each block has an id, its title, and its entries.

    >>> html = '<article><section id="a"><h1>1</h1><p>All these words</p></section></article>'
    >>> page, title, [entry] = read(html)
    >>> page[35:71], title
    ('<p id="p-a38211">All these words</p>', '1')
    >>> entry
    {'id': 'a', 'title': '1', 'above': '', 'bold': '', 'blocks': [[0, 'All these words']]}
    """
    article = BeautifulSoup(DRAWN.sub(blank, html), "html.parser").article
    ids = {tag["id"] for tag in article.select("[id]")}
    for tag in article.find_all(is_left_out):
        tag.decompose()
    lines = [0, *(line.end() for line in re.finditer("\n", html))]
    entries, added, known = [], {}, set()
    for entry, block in blocks(article):
        if block is None:
            entries.append(entry)
        elif (text := text_of(block)) and tells(block, text):
            code = block.name == "pre"
            if not (words := once(text, known) if code else text):
                continue
            anchor, own = block.get("id"), own_id(words)
            new = not anchor and own not in ids  # the same words twice: the second time the entry is opened
            if new:
                ids.add(own)
                added[lines[block.sourceline - 1] + block.sourcepos + 1 + len(block.name)] = own
            if (anchor or new) and block.name in ("dt", "tr") and heading(block):
                entry["id"] = anchor or own
            cover = block.find_parent(class_="told")
            # The essay asks without a form, so nothing says that its questions are answered.
            more = ["code" * code, cover.get("data-of", True)] if cover else ["code"] * code
            entry["blocks"].append([0 if new else anchor or entry["id"], words, *more])
            entry["bold"] = " ".join([entry["bold"], *map(text_of, block(["b", "strong"]))]).strip()
    for place in sorted(added, reverse=True):
        html = f'{html[:place]} id="{added[place]}"{html[place:]}'
    return html, text_of(article.h1), entries


def once(code: str, known: set[str]) -> str:
    """Return the words of code that are not `known`, each once, and add them to it: nobody searches a page for the second.

    >>> known = set()
    >>> once("x = rope(x) + rope(y)", known)
    'x rope(x) rope(y)'
    >>> once("z = rope(x)", known)
    'z'
    """
    words = []
    for word in code.split():
        if new := set(re.findall(r"\w+", word)) - known:
            words.append(word)
            known |= new
    return " ".join(words)


def is_left_out(tag: Tag) -> bool:
    classes = set(tag.get("class", []))
    return tag.name in LEFT_OUT or bool(classes & LEFT_OUT_BY_CLASS) or classes >= {"output", "text_html"}


def blank(match: re.Match) -> str:
    """Return lines and blanks in place of a picture, which is large; what follows it stays in its place."""
    return "\n" * match[0].count("\n") + " " * (len(match[0]) - match[0].rfind("\n") - 1)


def tells(block: Tag, text: str) -> bool:
    """Whether one would look for a block: not for a row of numbers, nor for an output that says "True"."""
    numbers = sum(map(str.isdigit, text)) > sum(map(str.isalpha, text))
    return block.name not in ("tr", "pre", "p") or len(WORD.findall(text)) > 2 and not numbers


def blocks(tag: Tag, entry: Entry | None = None) -> Iterator[tuple[Entry, Tag | None]]:
    """Yield each entry below a tag, with None, and then its blocks."""
    outer = entry
    for child in tag.find_all(True, recursive=False):
        if title := heading(child):
            above = " > ".join(filter(None, (outer["above"], outer["title"]))) if outer else ""
            own = child.get("id") or (outer["id"] if outer else "")
            new = {"id": own, "title": title, "above": above, "bold": "", "blocks": []}
            yield new, None
            if child.name in ("dt", "tr"):
                entry = new if child.name == "dt" else entry  # to which the definition after it belongs
                yield new, child
            else:
                yield from blocks(child, new)
        elif re.fullmatch("h[1-6]", child.name) or entry is None and child.name != "section":
            continue
        elif is_block(child):
            yield entry, child
        else:
            yield from blocks(child, entry)


def is_block(tag: Tag) -> bool:
    outer = tag.name == "li" and tag.find(BLOCKS)  # its blocks count instead
    return "math" in tag.get("class", []) or tag.name in BLOCKS and not outer


def heading(tag: Tag) -> str:
    """Return the title of what begins an entry, "" for all other tags."""
    if tag.name == "dt":
        return tag["id"] if "sig" in tag.get("class", []) else text_of(tag)
    if tag.name == "section":
        return text_of(title) if (title := tag.find(re.compile("^h[1-6]$"), recursive=False)) else ""
    if tag.name == "tr" and tag.find_parent("table", class_=MODELS):
        return text_of(tag.th) if tag.td else ""
    return text_of(tag.p.extract()) if "exercise" in tag.get("class", []) else ""


def text_of(tag: Tag | NavigableString) -> str:
    """Return the words of a tag on one line, its formulas as one would type them.

    >>> html = "Take <math><msup><mn>2</mn><mrow><mo>−</mo><mi>h</mi></mrow></msup></math> !"
    >>> text_of(BeautifulSoup(html, "html.parser"))
    'Take 2^(−h) !'
    """
    return re.sub(r"\s+", " ", "".join(_pieces(tag))).strip()


def _pieces(tag: Tag | NavigableString) -> Iterator[str]:
    if isinstance(tag, NavigableString):
        yield str(tag)
    elif tag.name == "math":
        yield formula(tag)
    else:
        for child in tag.children:
            yield from _pieces(child)
        if tag.name in ("td", "th", "br"):
            yield " "


def formula(tag: Tag | NavigableString) -> str:
    """Return a formula in one line: x^2, a_(ij), √d."""
    if isinstance(tag, NavigableString):
        return tag.strip()
    parts = [formula(child) for child in tag.children if isinstance(child, Tag) or child.strip()]
    if tag.name in SCRIPTS and len(parts) == SCRIPTS[tag.name].count("{}"):
        return SCRIPTS[tag.name].format(parts[0], *map(bracketed, parts[1:]))
    text = "".join(parts)
    if tag.name == "msqrt":
        return f"√{bracketed(text)}"
    return f" {text} " if tag.name in ("mspace", "mtd") or text in "=≈≤≥<>→" else text


def bracketed(part: str) -> str:
    return part if len(part) == 1 or re.fullmatch(r"\w+", part) else f"({part})"
