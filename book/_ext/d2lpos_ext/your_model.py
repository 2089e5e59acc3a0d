"""The page that reads a configuration in the browser: its form and its styles stand in the page, its scripts beside it."""

import re
from pathlib import Path

BLOCK = re.compile(r"^```\{your-model\}\n```$", re.MULTILINE)
# In the order in which they run.
SCRIPTS = (
    *("reader-data", "reader-values", "reader-encodings", "reader", "reader-names"),
    *("your-model-facts", "your-model-figures", "your-model"),
)


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with what its block `{your-model}` stands for."""
    folder = Path(root) / "book" / "your-model"

    def page(_: re.Match) -> str:
        style = f"<style>{(folder / 'page.css').read_text('utf-8')}</style>\n"
        scripts = "\n".join(f'<script defer src="../_static/{name}.js"></script>' for name in SCRIPTS)
        return f"```{{raw}} html\n{style}{(folder / 'page.html').read_text('utf-8')}{scripts}\n```"

    return BLOCK.sub(page, text)
