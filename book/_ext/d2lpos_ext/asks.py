"""What a page asks its reader: a form that `ask.js` makes of `metadata.d2lpos.ask`, out of sight without it."""

import json
from html import escape
from typing import Any

LISTS = ("options", "overlooks")  # words of the page, which may hold formulas
OWN = {"options", "legend", "by", "tells"}  # what the form itself does not read


def form(
    ask: dict[str, Any],
    memory: str = "predictions",
    legend: str = "Your prediction",
    name: str = "ask",
    hidden: bool = True,
) -> str:
    """Return the MyST of a form: what is asked as data, and two lists of words.

    `ask["legend"]` goes before `legend`; `name` is the class of the element, "ask" where `ask.js` opens it. Where it is not
    hidden, the list of options is in sight without `ask.js`, too.

    >>> print(form({"id": "4.turn", "kind": "choice", "options": ["No", "Yes"], "right": 0, "overlooks": {"1": "Words."}}))
    <div class="ask" hidden data-memory="predictions" data-legend="Your prediction" ...
    """
    overlooked = hints(ask)
    data = {key: value for key, value in ask.items() if key not in OWN} | {"overlooks": dict.fromkeys(overlooked, "")}
    words = [ask.get("options", []), list(overlooked.values())]
    lists = "".join(
        f'\n<div class="{part}"{" hidden" * (part == "overlooks")}>\n\n{_list(texts)}\n\n</div>\n'
        for part, texts in zip(LISTS, words, strict=True)
    )
    asked = escape(json.dumps(data), quote=False).replace("'", "&#39;")  # it has more of the other quotes
    attrs = f"data-memory=\"{memory}\" data-legend=\"{escape(ask.get('legend', legend))}\" data-ask='{asked}'"
    return f'<div class="{name}"{" hidden" * hidden} {attrs}>\n{lists}\n</div>'


def hints(ask: dict[str, Any]) -> dict[str, str]:
    """Return what each wrong answer overlooks; a sentence is never wrong by rule, so its one hint comes always.

    >>> hints({"kind": "sentence", "overlooks": "The sign."})
    {'always': 'The sign.'}
    """
    overlooks = ask.get("overlooks", {})
    return {"always": overlooks} if isinstance(overlooks, str) else overlooks


def anchor(name: str) -> str:
    """Return the id of the box of a prediction.

    >>> anchor("4A.agree")
    'predict-4a-agree'
    """
    return f"predict-{name.lower().replace('.', '-')}"


def _list(texts: list[str]) -> str:
    return "\n".join(f"- {text}" for text in texts) or "<ul></ul>"
