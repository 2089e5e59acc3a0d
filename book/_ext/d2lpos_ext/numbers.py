"""The numbers of notebooks in depth, 4B, of projects, P1, as their file says, and of exercises on a page with a letter, C.1.

Sphinx counts on from the last chapter, and on a page without a number from 1.
"""

from pathlib import PurePath

from docutils import nodes
from notebooks import DEPTH, LETTERS, PROJECTS, number
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def renumber(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Put the page's own number first in those of its sections, figures and boxes."""
    for page, sections in env.toc_secnumbers.items():
        if not page.startswith((DEPTH, PROJECTS)):
            continue
        own = number(PurePath(page).name)
        env.toc_secnumbers[page] = {anchor: (own, *index[1:]) for anchor, index in sections.items()}
        for kind, boxes in env.toc_fignumbers.get(page, {}).items():
            env.toc_fignumbers[page][kind] = {anchor: (own, *index[1:]) for anchor, index in boxes.items()}
        links = [env.titles[page], *env.tocs[page].findall(nodes.reference)]
        for link in links:
            if index := link.get("secnumber"):
                link["secnumber"] = (own, *index[1:])
    for name in LETTERS:
        kinds = env.toc_fignumbers.get(f"book/{name}", {})
        kinds |= {kind: {anchor: (LETTERS[name], *index) for anchor, index in kinds[kind].items()} for kind in kinds}
    return []
