"""The package as its two pages see it."""

from pathlib import Path

from d2lpos_ext.api import BLOCK, load, public

ROOT = Path(__file__).parents[2]
PACKAGE = load(ROOT)
PAGES = ("api", "api-lab")
MODULES = [
    module
    for page in PAGES
    for module in BLOCK.search((ROOT / "book" / f"{page}.md").read_text("utf-8"))[1].split()
]
PUBLIC = {
    (module, name): thing for module in MODULES for name, thing in public(PACKAGE.members[module]).items()
}
