"""Draw the pictures that links to the book show, one of its first page and one of each chapter: `make cards`.

So it draws what stands of each figure where scripts do not run (`stills.py`).

Chromium draws them in the look of the pages. Each PNG keeps the words that it shows as its title, by which a test
finds a card that is missing or out of date.
"""

import io
import re
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jinja2 import Template
from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import path, title

STATIC = ROOT / "book" / "_static"
FRONT = ROOT / "book" / "essay.md"
SIZE = (1200, 630)
PAGE = Template((ROOT / "book" / "card.html").read_text("utf-8"))


def titles() -> dict[str, str]:
    """Return the words of each card by the name of its page: the title, after its number where it is a chapter."""
    first = {file.stem: title(nbformat.read(file, as_version=4).cells) for file in path(ROOT)}
    book = re.search(r"^# (.+)$", FRONT.read_text("utf-8"), re.MULTILINE)[1]
    return {FRONT.stem: book} | {name: f"{int(name[:2])}. {words}" for name, words in first.items()}


def picture(name: str) -> str:
    """Return the first screen for the first page, or the emblem of a chapter's encoding, as SVG; others show all emblems."""
    from d2lpos.figures import STYLE, emblem, emblems, hero

    if name == FRONT.stem:
        whole = (STATIC / "front.svg").read_text("utf-8")
        return whole.replace(
            " width", ' preserveAspectRatio="xMidYMin slice" width', 1
        )  # the upper half, larger
    key = name.partition("-")[2]
    if key in STYLE:
        return emblem(key).svg
    if name.startswith("01-"):
        whole = hero("shuffle").still.read_text("utf-8")
        return re.sub(
            r'width="\d+" height="\d+" viewBox="[^"]*"', 'viewBox="0 36 500 260"', whole, count=1
        )  # its words and bars
    return emblems().svg


def html(name: str, title: str, book: str) -> str:
    number, _, words = title.rpartition(". ")
    if number:
        words = f"<small>{number}</small>{escape(words)}"
    else:
        subtitle = re.search(r"^\{\.subtitle\}\n(.+)$", FRONT.read_text("utf-8"), re.MULTILINE)[1]
        words, book = f"{escape(words)}<em>{escape(subtitle)}</em>", ""
    return PAGE.render(static=STATIC.as_uri(), words=words, picture=picture(name), book=escape(book))


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from book.stills import draw
    from tests.browser import chromium

    words, folder = titles(), STATIC / "cards"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    with chromium() as browser, TemporaryDirectory() as drafts:
        draw(browser)
        page = browser.new_page(viewport=dict(zip(("width", "height"), SIZE, strict=True)))
        for name, title in words.items():
            draft = Path(drafts, f"{name}.html")
            draft.write_text(html(name, title, words[FRONT.stem]), "utf-8")
            page.goto(draft.as_uri())
            page.evaluate("document.fonts.ready")
            info = PngInfo()
            info.add_text("Title", title)
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            shot.quantize(256, dither=Image.Dither.NONE).save(
                folder / f"{name}.png", optimize=True, pnginfo=info
            )


if __name__ == "__main__":
    main()
