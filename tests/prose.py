"""Name what a change adds that is long, by a third over 80 words a paragraph, or has a clearer word; `make lint` calls it."""

import json
import re
import subprocess
from collections.abc import Iterator

from tests.house import ROOT

CLEARER = {
    r"that of|those of": "the noun again", r"in place of": "instead of", r"anew": "again", r"whoever": "if you", r"rightly": "correctly",
    r"somebody": "who it was", r"nobody": "no token, no paper", r"in the mean": "on average", r"hands? out|handed out": "assign",
    r"stands? still": "is not rotated", r"crowd": "dilution", r"tolls?": "ALiBi's bias", r"makers": "authors", r"mends?": "fix",
}  # fmt: skip
LEFT_OUT = re.compile(r"\A---\n.*?^---$|^(`{3,}|:{3,}|\$\$).*?^\1$|\]\([^)\s]*\)|`[^`\n]*`|\$[^$\n]*\$|<[^>]*>", re.MULTILINE | re.DOTALL)
END = re.compile(r"[.?!:][*)”]*\s+(?=[“*\[]*[A-Z0-9])")


def paragraphs(name: str, text: str) -> list[str]:
    """The paragraphs, and the items of lists, of a page or of a notebook's Markdown, without code, formulas and tables."""
    cells = json.loads(text or '{"cells": []}')["cells"] if name.endswith(".ipynb") else [{"cell_type": "markdown", "source": text}]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    parts = [part for one in prose for part in re.split(r"\n\s*\n|\\\n|\n(?=\s*(?:[-*]|\d+\.) )", LEFT_OUT.sub(" x ", one))]
    return [" ".join(part.split()) for part in parts if not part.lstrip().startswith("|")]


def findings(name: str, old: str, new: str) -> Iterator[str]:
    """The phrases of sentences, and the lengths of paragraphs, that are not in the old text."""
    known = {one for part in paragraphs(name, old) for one in END.split(part)}
    for part in paragraphs(name, new):
        added = [one for one in END.split(part) if one not in known]
        phrases = ((re.search(rf"\b({words})\b", one), clear, one) for one in added for words, clear in CLEARER.items())
        yield from (f"“{phrase[0]}” ({clear}): {one[:60]}" for phrase, clear, one in phrases if phrase)
        words, most = len(part.split()), 66 if part.startswith(("**Figure", "**Table")) else 106
        if added and (words > most or words > 26 * len(END.split(part))):
            yield f"{words} words, {words / len(END.split(part)):.0f} a sentence: {part[:60]}"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    base = git("merge-base", "HEAD", "main").strip() or "HEAD"
    for name in git("diff", "--name-only", "--diff-filter=d", base, "--", "*.md", "*.ipynb").splitlines():
        for one in findings(name, git("show", f"{base}:{name}"), (ROOT / name).read_text("utf-8")):
            print(f"{name}: {one}")
