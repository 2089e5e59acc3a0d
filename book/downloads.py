"""The line on the front page that leads to the book as one file; it names what has been made."""

import re
import shutil
from pathlib import Path

SITE = Path(__file__).parent.parent / "_build" / "html"
FRONT = "index.html"
LINE = re.compile(r'(<p class="downloads">).*?(</p>)', re.DOTALL)
PDF, ZIP, SHA256 = (f"where-words-stand.{suffix}" for suffix in ("pdf", "zip", "zip.sha256"))


def offer(site: Path) -> None:
    """Write the line of the site's front page anew, and keep copies beside the site, which the next build empties."""
    offers = []
    for name in (PDF, ZIP, SHA256):
        if (site / name).exists():
            shutil.copy(site / name, site.parent)
    if (site / PDF).exists():
        offers.append(f'<a href="{PDF}">the book as one PDF</a> ({size(site / PDF)})')
    if (site / ZIP).exists():
        checksum = f'<a href="{SHA256}">SHA-256</a>'
        offers.append(f'<a href="{ZIP}">all pages in a zip</a> ({size(site / ZIP)}, {checksum})')
    front = site / FRONT
    front.write_text(fill(front.read_text("utf-8"), "To take along: " + " and ".join(offers) + "."), "utf-8")


def fill(page: str, words: str) -> str:
    """Put `words` into the line. Raises ValueError for a page that has no place for it."""
    filled, count = LINE.subn(rf"\g<1>{words}\g<2>", page)
    if count != 1:
        raise ValueError(f"the front page must have one line of downloads, not {count}")
    return filled


def size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
