"""Plain mentions become links: "Figure 1.3", "Table 1.1", "Exercise 1.2", "Theorem 1.1", "Equation (1.2)"."""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

NUMBER = r"((?:\d+[A-Z]?|[A-Z]\d*)\.\d+)"
MENTION = re.compile(
    rf"\b([Ff]igure|[Tt]able|[Ee]xercise|[Tt]heorem)[ \xa0]{NUMBER}|\b([Ee]quation)[ \xa0]\({NUMBER}\)"
)
TAG = re.compile(rf"\\tag\{{{NUMBER}\}}")
LINKS = (nodes.reference, addnodes.pending_xref)
CODE = (nodes.literal, nodes.FixedTextElement)
# Bold is how a caption begins: it is the target, not a mention of it.
OPAQUE = (*LINKS, *CODE, nodes.title, nodes.strong)


def note_anchor(env: BuildEnvironment, docname: str, label: str, anchor: str) -> None:
    """Let every page refer to `anchor` on the page `docname` by `label`."""
    env.get_domain("std").note_hyperlink_target(label.lower(), docname, anchor, label)


class Mentions(SphinxTransform):
    """Link mentions, and give tagged equations the anchors that mentions need."""

    default_priority = 700

    def apply(self, **kwargs) -> None:
        for block in self.document.findall(nodes.math_block):
            for number in TAG.findall(block.astext()):
                block["ids"].append("eq-" + number.replace(".", "-"))
                note_anchor(self.env, self.env.docname, f"equation-{number}", block["ids"][-1])
        for text in list(self.document.findall(nodes.Text)):
            if MENTION.search(text) and not any(isinstance(parent, OPAQUE) for parent in _ancestors(text)):
                text.parent.replace(text, self._linked(text))

    def _linked(self, text: nodes.Text) -> list[nodes.Node]:
        parts, end = [], 0
        for match in MENTION.finditer(text):
            target = "-".join(filter(None, match.groups())).lower()
            link = addnodes.pending_xref("", nodes.inline("", match[0]), refdomain="std", reftype="ref")
            link.update_all_atts(
                {"reftarget": target, "refexplicit": True, "refwarn": True, "refdoc": self.env.docname}
            )
            link.line = text.parent.line
            parts += [nodes.Text(text[end : match.start()]), link]
            end = match.end()
        return [*parts, nodes.Text(text[end:])]


def _ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while node := node.parent:
        yield node


def check_numbers(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn where the number that Sphinx counted differs from the one in the notebook."""
    for label, (docname, anchor) in env.get_domain("std").anonlabels.items():
        kind, _, number = label.rpartition("-")
        counted = env.toc_fignumbers.get(docname, {}).get(kind, {}).get(anchor)
        if counted and (shown := ".".join(map(str, counted))).lower() != number:  # labels are in lower case
            message = "the page would show %s %s, where the notebook says %s"
            logging.getLogger(__name__).warning(message, kind, shown, number, location=docname)
