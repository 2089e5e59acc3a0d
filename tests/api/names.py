"""The package as its two pages see it."""

from importlib import import_module
from pathlib import Path

from d2lpos_ext.api import BLOCK, listed

ROOT = Path(__file__).parents[2]
PAGES = ("api", "api-lab")
MODULES = [
    module
    for page in PAGES
    for module in listed(BLOCK.search((ROOT / "book" / f"{page}.md").read_text("utf-8"))[1], ROOT)
]
PUBLIC = [(module, name) for module in MODULES for name in import_module(f"d2lpos.{module}").__all__]
