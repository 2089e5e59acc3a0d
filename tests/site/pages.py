"""The pages of the book, and what their HTML says."""

import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[2]
FRONT, *OTHERS = re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text("utf-8"))
PAGES = ["index", *OTHERS]
EVERYWHERE = [*PAGES, "search"]  # what a reader can open
NOT_FOUND = "404"  # shown in place of any other


@dataclass
class Html(HTMLParser):
    """Ids, links, loaded files and head of one page."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    language: str | None = None
    description: str | None = None

    def __post_init__(self):
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "html":
            self.language = values.get("lang")
        elif tag == "meta" and values.get("name") == "description":
            self.description = values.get("content")
        elif tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in ("next", "prev", "search", "canonical"):
            self.loads.append(values.get("href", ""))
        elif values.get("src"):
            self.loads.append(values["src"])


read = cache(Html)  # of a page that no test changes


def foreign(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def pages(site: Path) -> list[Path]:
    """Return the finished pages; the theme leaves templates of its own in _static."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def broken(site: Path) -> list[str]:
    """Return the links inside `site` that lead nowhere, and the files that its pages ask of another host."""
    known = {path: read(path) for path in pages(site)}
    faults = []
    for path, page in known.items():
        name = path.relative_to(site)
        faults += [f"{name} loads {address} from another host" for address in page.loads if foreign(address)]
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            # Who is served this page may be in any folder, so its links begin at the root.
            place = unquote(parts.path).removeprefix("/" * (path.stem == NOT_FOUND))
            target = (path.parent / place).resolve() if place else path
            if not target.is_file():
                faults.append(f"{name} leads to {address}, which is not there")
            elif parts.fragment and target in known and unquote(parts.fragment) not in known[target].ids:
                faults.append(f"{name} leads to {address}, but no element there has that id")
    return faults
