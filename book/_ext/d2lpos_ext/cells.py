"""What a notebook's tags mean on the page: cells of plain Markdown in, cells of MyST out."""

import re
from itertools import groupby, pairwise

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from . import symptoms
from .asks import anchor, form
from .svg import drawn

NUMBER = r"(?P<number>(?:\d+[A-Z]?|[A-Z]\d*)\.\d+)"
EXERCISE = re.compile(
    rf"\*\*Exercise {NUMBER}\. (?P<title>.+?)\*\* "
    r"\((?P<minutes>\d+) minutes, (?P<difficulty>easy|medium|hard)\)\s+"
)
THEOREM = re.compile(rf"\*\*Theorem {NUMBER} \((?P<title>.+?)\)\.\*\*\s+")
PROOF = re.compile(r"\*\*Proof\.\*\*\s+")
PREDICT = re.compile(r"\*\*Predict first\.\*\*\s+")
REVIEW = re.compile(rf"\*\*(?:Question {NUMBER}|From before)\.\*\*\s+")
OPTION = re.compile(r"^- (.+)\n", re.MULTILINE)
CAPTION = re.compile(rf"\*\*(?P<kind>Figure|Table) {NUMBER}\.\*\*\s+")
TRY = re.compile(r"(?<=\n\n)(?=\*Try it\.\*)")
VERDICTS = {"True": "v-true", "Half true": "v-half", "False": "v-false", "Open": "v-open"}
VERDICT = re.compile(rf"\*\*(?P<verdict>{'|'.join(VERDICTS)})\.\*\*\s+")
TITLE = re.compile(r"\A#@title.*\n")
COLUMNS = re.compile(r"\S {2,}\S|^ *\[|^tensor\(", re.MULTILINE)
FENCE = "`" * 8
END, DECIDED = "</figure>", "</div>"
TOLD = '<div class="told"'
# A box or a figure: no cover ends within.
BEGINS = re.compile(r'<figure|<div class="claim"|`+\{(?:exercise|solution)-start\}')
ENDS = re.compile(r"`+\{(?:exercise|solution)-end\}")
FENCED = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def note(cell: NotebookNode, key: str) -> str | list[str] | None:
    """Return what the author wrote about a cell in `metadata.d2lpos`."""
    return cell.metadata.get("d2lpos", {}).get(key)


def gate(cell: NotebookNode) -> tuple[str, str] | None:
    """Return tag and id of the exercise or solution that holds a cell; a run of such cells shares a box."""
    tag = next((tag for tag in ("exercise", "solution") if tag in tags(cell)), None)
    return tag and (tag, note(cell, "id") or "")


def translate(cells: list[NotebookNode]) -> tuple[list[NotebookNode], dict[str, str]]:
    """Return the page's cells, and the anchors that text can refer to: {"figure-1.3": "fig-1-3"}.

    Raises ValueError where a tagged cell does not begin as its tag asks.
    """
    page, anchors = [], {}
    for box, run in groupby(cells, gate):
        parts = [part for cell, below in pairwise([*run, None]) for part in _element(cell, below, anchors)]
        if box and box[0] == "exercise":
            head, parts[0].source = _begins(EXERCISE, parts[0])
            anchors[f"exercise-{head['number']}"] = box[1]
            start = _directive("exercise-start", head["title"], label=box[1])
            effort = f'<p class="effort">{head["minutes"]} minutes, {head["difficulty"]}</p>'
            parts = [*_markdown(f"{start}\n\n{effort}"), *parts, *_markdown(_directive("exercise-end"))]
        elif box:
            start = _directive("solution-start", box[1], label=f"solution-{box[1]}")
            parts = [*_markdown(start), *parts, *_markdown(_directive("solution-end"))]
        page += parts
    return _told(_open(_beside(page))), anchors


def _beside(page: list[NotebookNode]) -> list[NotebookNode]:
    """Take verdicts into the box of the cell above, which decided them."""
    for at in range(1, len(page)):
        if page[at - 1].source == DECIDED and "verdict" in tags(page[at]):
            page[at - 1 : at + 1] = page[at], page[at - 1]
    return page


def _open(page: list[NotebookNode]) -> list[NotebookNode]:
    """Move the setup into the opening figure below it, after the caption: no code stands above the first picture."""
    for at, (cell, below) in enumerate(pairwise(page)):
        if "setup" in tags(cell) and below.source.startswith('<figure class="opening"'):
            end = next(i for i, part in enumerate(page) if i > at and part.source == END)
            return [*page[:at], *page[at + 1 : end], cell, *page[end:]]
    return page


def _told(page: list[NotebookNode]) -> list[NotebookNode]:
    """Enclose what follows a prediction, which is away from the page until there is an answer.

    It ends above the next heading, or below the cell that `metadata.d2lpos.told` marks, and is not there where the prediction is
    marked. A heading whose `told` names a prediction begins a section that tells its answer, too.
    """
    marked, boxes, depth, ends = [], 0, 0, False
    for cell, below in pairwise([*page, None]):
        rest = cell
        if boxes and cell.cell_type == "markdown" and (start := heading(cell.source)) is not None:
            above, rest = _markdown(cell.source[:start], cell.source[start:]) if start else ([], cell)
            marked += [above] if above else []
            ends = True
        elif boxes:
            marked.append(cell)
            depth += bool(BEGINS.match(cell.source)) - bool(cell.source in (END, DECIDED) or ENDS.match(cell.source))
            ends = ends or bool(note(cell, "told"))
            rest = None
        if boxes and ends and not depth:
            marked += _markdown(*["</div>"] * boxes)
            boxes, ends = 0, False
        if rest is not None and isinstance(name := note(rest, "told"), str):
            head, _, rest.source = rest.source.partition("\n\n")
            marked += [*_markdown(head, f'{TOLD} data-of="{name}">'), rest]
            boxes += 1
        elif rest is not None:
            marked.append(rest)
        asks = "predict" in tags(cell) and note(cell, "ask") and not note(cell, "told")
        if asks and below and not HEADING.match(below.source):
            marked += _markdown(f'{TOLD} data-of="{note(cell, "ask")["id"]}">')
            boxes += 1
    return [*marked, *_markdown(*["</div>"] * boxes)]


def heading(text: str) -> int | None:
    r"""Return where the first heading of a cell begins.

    >>> heading("```\n# no\n```\n# yes")
    13
    """
    match = HEADING.search(FENCED.sub(lambda code: " " * len(code[0]), text))
    return match and match.start()


def _element(cell: NotebookNode, below: NotebookNode | None, anchors: dict[str, str]) -> list[NotebookNode]:
    """Return one cell as the page shows it, with what encloses it."""
    before, after, hidden = [], [], "the setup" if "setup" in tags(cell) else "the code"
    if cell.cell_type == "markdown":
        if "caption" in tags(cell):
            _begins(CAPTION, cell)
            before, after = ["<figcaption>"], ["</figcaption>", END]
        cell.source = _words(cell, anchors)
    else:
        if below and "caption" in tags(below):
            head = _begins(CAPTION, below)[0]
            kind, number = head["kind"].lower(), head["number"]
            anchor = anchors[f"{kind}-{number}"] = f"{kind[:3]}-" + number.replace(".", "-")
            opening = ' class="opening"' * ("opening" in tags(cell))
            before.append(f'<figure{opening} id="{anchor}">')
            hidden = f"the code of this {kind}"
        if claim := note(cell, "claim"):
            anchor = anchors[f"claim-{claim}"] = f"claim-{claim}"
            # In a figure the claim's box holds cells that lie in the figure's, so a link leads to a place above them.
            place = f' id="{anchor}">' if not (below and "caption" in tags(below)) else f'><span id="{anchor}"></span>'
            before.append(f'<div class="claim"{place}')
            after.append(DECIDED)
        _code(cell, hidden)
    return [*_markdown(*before), cell, *_markdown(*after)]


def _words(cell: NotebookNode, anchors: dict[str, str]) -> str:
    """Return the MyST for one Markdown cell."""
    text = cell.source
    for tag in tags(cell):
        match tag:
            case "predict":
                body, place = _begins(PREDICT, cell)[1], ""
                if ask := note(cell, "ask"):
                    question, fold, answer = body.partition("<details>")
                    body, place = f"{question}{form(ask)}\n\n{fold}{answer}", anchor(ask["id"])
                text = _directive("admonition", "Predict first", body, classes="predict", name=place)
            case "review":
                head, body = _begins(REVIEW, cell)
                if head["number"]:
                    text = _question(head["number"], body, cell)
            case "theorem":
                head, text = _begins(THEOREM, cell)
                place = anchors[f"theorem-{head['number']}"] = "thm-" + head["number"].replace(".", "-")
                text = _directive("prf:theorem", head["title"], text, label=place)
            case "proof":
                text = _directive("prf:proof", body=_begins(PROOF, cell)[1])
            case "caption":
                text = TRY.sub("{.try}\n", text)
            case "margin":
                text = _directive("margin", body=text)
            case "verdict":
                head, claim = _begins(VERDICT, cell)
                text = _directive("margin", body=f"{mark(head['verdict'])} {claim}")
            case "scorecard":
                wide = " .full-width" * (text.splitlines()[0].count("|") > 6)  # more than five columns
                text = re.sub(r"^\|", f"{{.{tag}{wide}}}\n|", text, count=1, flags=re.MULTILINE)
            case "symptoms":
                text = symptoms.expand(text)
            case "solution":  # its box folds already
                text = re.sub(r"</?details>|<summary>.*?</summary>", "", text)
    return text


def _question(number: str, body: str, cell: NotebookNode) -> str:
    """Return a question as a form over its list of options; where it comes back, its title leads to where it stands."""
    question, fold, answer = body.partition("<details>")
    ask = note(cell, "ask") | {"id": number, "options": OPTION.findall(question)}
    place = form(ask, "reviews", "Your answer", hidden=False)
    body = f"{OPTION.sub('', question).strip()}\n\n{place}\n\n{fold}{answer}"
    title, anchor = f"Question {number}", f"question-{number.replace('.', '-')}"
    if note(cell, "again"):
        return _directive("admonition", f"[{title}](#{anchor})", body, classes="review again")
    return _directive("admonition", title, body, classes="review", name=anchor)


def mark(verdict: str, link: str = "") -> str:
    """Return a verdict as a page shows it."""
    return f"[{f'[{verdict}]({link})' if link else verdict}]{{.verdict .{VERDICTS[verdict]}}}"


def _code(cell: NotebookNode, hidden: str) -> None:
    """Fold a code cell where its tags ask for it, drop Colab's title line, put its figures into the page.

    Of printed words, which hold no columns, a phone may wrap the lines.
    """
    cell.source = TITLE.sub("", cell.source)
    if "setup" in tags(cell):
        cell.metadata.tags.append("hide-input")
        cell.outputs = []  # the device of whoever ran it
    cell.metadata.mystnb = {"code_prompt_show": f"Show {hidden}", "code_prompt_hide": f"Hide {hidden}"}
    printed = "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    if printed and not COLUMNS.search(printed):
        cell.metadata.setdefault("tags", []).append("words")
    for output in cell.outputs:
        if html := output.get("data", {}).get("text/html"):
            output.data["text/html"] = drawn(html)


def _begins(pattern: re.Pattern, cell: NotebookNode) -> tuple[re.Match, str]:
    """Return how a cell begins, and its text after that."""
    match = pattern.match(cell.source)
    if not match:
        raise ValueError(f"the cell that begins {cell.source[:60]!r} does not match {pattern.pattern!r}")
    return match, cell.source[match.end() :]


def _markdown(*texts: str) -> list[NotebookNode]:
    return [new_markdown_cell(text) for text in texts]


def _directive(
    directive: str, argument: str = "", body: str = "", label: str = "", classes: str = "", name: str = ""
) -> str:
    lines = [f"{FENCE}{{{directive}}} {argument}"]
    options = {"label": label, "class": classes, "name": name}
    lines += [f":{key}: {value}" for key, value in options.items() if value]
    return "\n".join([*lines, "", body, FENCE] if body else [*lines, FENCE])
