"""What other sites show of a page that is linked there: its title, its description and, once the book has an address,
a picture. The Open Graph protocol, https://ogp.me, which asks for whole addresses.
"""

import re
from html import escape, unescape
from pathlib import Path

from home import PLACEHOLDER, home
from sphinx.application import Sphinx
from sphinx.config import Config

SHOWN = re.compile(rf"(git clone |git\+)https://github\.com/{PLACEHOLDER}/[\w-]+")
DESCRIPTION = re.compile(r'<meta content="([^"]*)" name="description"')


def without_placeholder(text: str) -> str:
    """Return a page's source whose commands show no reader the placeholder of an address; links keep it.

    >>> without_placeholder("git clone https://github.com/OWNER/d2lpos")
    'git clone <repository of this book>'
    """
    return SHOWN.sub(r"\1<repository of this book>", text)


def set_address(app: Sphinx, config: Config) -> None:
    config.html_baseurl = config.html_baseurl or home(config.html_theme_options["repository_url"])


def card(page: str, root: str, folder: Path) -> str:
    """Return the name of a page's picture in `folder`: its own, or that of the first page, `root`."""
    own = Path(page).with_suffix(".png").name
    return own if (folder / own).exists() else Path(root).with_suffix(".png").name


def properties(book: str, title: str, description: str, page: str = "", picture: str = "") -> dict[str, str]:
    """Return what is said of a page; `page` and `picture` are whole addresses, "" before there are any."""
    tags = {"og:type": "article" if title != book else "website", "og:site_name": book, "og:title": title}
    tags["og:description"] = description
    if page:
        tags |= {"og:url": page, "og:image": picture, "og:image:width": "1200", "og:image:height": "630"}
        tags["og:image:alt"] = book if title == book else f"{book}: {title}"
        tags["twitter:card"] = "summary_large_image"
    return tags


def describe(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Add the tags to a page that describes itself."""
    if not (described := DESCRIPTION.search(context.get("metatags", ""))):
        return
    title = unescape(re.sub("<[^>]*>", "", context["title"]))
    pictures = Path(app.confdir) / "book" / "_static" / "cards"
    picture = f"{app.config.html_baseurl}_static/cards/{card(pagename, app.config.root_doc, pictures)}"
    tags = properties(app.config.html_title, title, unescape(described[1]), context["pageurl"] or "", picture)
    kind = {name: "name" if name.startswith("twitter:") else "property" for name in tags}
    context["metatags"] += "".join(
        f'<meta {kind[name]}="{name}" content="{escape(value)}">\n' for name, value in tags.items()
    )
