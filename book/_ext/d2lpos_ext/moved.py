"""Old addresses lead on: a section that left its page is found where it is now."""

import json
import re
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path

import yaml
from notebooks import DEPTH
from sphinx.application import Sphinx

SCRIPT = """<script>
{{
  const moved = {moved};
  const lead = () => {{ const to = moved[decodeURIComponent(location.hash.slice(1))]; if (to) location.replace(to); }};
  lead(); addEventListener("hashchange", lead);
}}
</script>
</body>"""


def homes(site: Path, addresses: dict) -> Iterator[tuple[str, str, str | None]]:
    """Yield page, anchor and new address of all that is not where it was; None where it is nowhere."""
    deep = {
        anchor: f"{page.relative_to(site).with_suffix('')}#{anchor}"
        for page in sorted((site / DEPTH).glob("*.html"))
        for anchor in anchors(page)
    }
    for page, first in addresses["first"].items():
        if not (site / f"{page}.html").exists():  # another book, of the tests
            continue
        here = anchors(site / f"{page}.html")
        for anchor in first:
            if anchor not in here:
                yield page, anchor, addresses["moved"].get(f"{page}#{anchor}") or deep.get(anchor)


def anchors(page: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', page.read_text("utf-8")))


def lead_on(app: Sphinx) -> None:
    """Give each page a script with the new addresses of what left it."""
    site = Path(app.outdir)
    addresses = yaml.safe_load((Path(app.confdir) / "book" / "addresses.yml").read_text("utf-8"))
    moved = {}
    for page, anchor, home in homes(site, addresses):
        if home:
            target, _, part = home.partition("#")
            away = Path(relpath(f"{target}.html", Path(page).parent)).as_posix() + f"#{part}" * bool(part)
            moved.setdefault(page, {})[anchor] = away
    for page, led in moved.items():
        file = site / f"{page}.html"
        script = SCRIPT.format(moved=json.dumps(led, separators=(",", ":")))
        file.write_text(file.read_text("utf-8").replace("</body>", script), "utf-8")
