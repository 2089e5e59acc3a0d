"""What the book says of small learned tables, asked of two that people use: Whisper's 448 rows and ALBERT's 512.

Whisper tiny.en hears silence here and reads a text: its two tokens that begin a transcript, then 200 of the text, on five
passages of either novel and of code. ALBERT guesses each token of a reaction, masked alone, in sixteen reactions. Cases move
positions, or exchange rows of the table; "in place" leaves rows 0 and 1 under Whisper's first two tokens, and row 0 under
ALBERT's [CLS]. Of 602 tokens Whisper has rows for 448: "past" asks for the loss of the last 154, read in the ways of chapter 3.
"read anew" reads them alone behind the first two tokens, which is what blocks do.

Decided before the runs; nats, intervals are Student's 95 % over the passages of a text, or over reactions. Each sentence says
that one case costs more than another: it holds where the interval of the difference lies above 0, fails where it lies below,
and is open else.
Whisper:
1. A shift by 1 hurts (chapter 3A, from its Table 3A.3).
2. It hurts by the rows that words get (chapter 3A): shifted by 1, in place, costs more than the mean row in place of row 0.
3. A table tells a shift (the scorecard): shifted by 100, in place, costs more than nothing.
4. Row 0 is leaned on more than a word's (chapter 9B): the mean row in place of row 0 costs more than in place of row 50.
5. Mixed rows hurt (equation 3.2): stretched to 895 rows, in place, costs more than nothing.
6. Ten directions are enough (chapter 9B) fails where the table on fifteen, rows 0 and 1 as they are, costs more than nothing.
7. to 9. Last row, wrapped, stretched: each is worse than blocks (Figure 3.6).
10. and 11. Stretching, and wrapping, is less bad than the last row (chapter 3).
12. Each is worse than no position at all (Figure 3.6): so is the best of the three, stretched, as compared with the mean row for
    all. There another model was trained without; here the rows of one are taken away, so a failure says less.
ALBERT:
13. A shift by 100 hurts. 14. Rarely trained rows are noise (chapter 3): shifted by 430 costs more than by 100.
15. A shift hurts by [CLS]'s row (chapter 9B): shifted by 100 costs more than the same in place.
Of the tables themselves:
16. A row that no text reaches keeps its random start (chapter 3): the last 16 of ALBERT's rows are as long as ALBERT's start makes
    them, 0.02 √128, within a tenth, and their cosine with the next is below 0.2 on average, that of rows 1 to 300 above 0.5.
17. A row is most like a neighbor (chapter 9B): nine in ten of all rows are. 18. One rotation takes each row to the next (chapter
    9B, there 0.99 in ten directions): it explains 0.9 of the steps or more, without the first two and the last 16 rows.
"""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding, interpolate

from ..pretrained.weights import find
from .passages import passage
from .probe import Probe, loaded, tokens
from .real_table import remembered, rounded
from .summary import by_case, decisions

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["decided", "reactions", "rows", "tables"]

BEGIN = (50257, 50362)  # Whisper's: a transcript begins, and no times are told
SILENCE = -1.5  # in each cell of a spectrogram
TEXT, FIRST = 200, len(BEGIN)  # tokens; "past" reads 600 of the text
FOLLOWED = ("as trained", "shifted by 100", "shifted by 100, in place")
MASK = "[MASK]"


def stretched(table: Tensor, length: int) -> Tensor:
    """A table of `length` rows, from the first to the last, each a mix of two."""
    return interpolate(table.T[None], length, mode="linear", align_corners=True)[0].T


def of_rank(table: Tensor, rank: int, first: int = FIRST) -> Tensor:
    """The table on its chief directions around its mean row, but for the first rows, which stay as they are."""
    rest = table[first:]
    u, s, v = torch.linalg.svd(rest - rest.mean(dim=0), full_matrices=False)
    return torch.cat([table[:first], rest.mean(dim=0) + u[:, :rank] * s[:rank] @ v[:rank]])


def changed(table: Tensor, n: int, seed: int) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Ways to read n tokens: a name, positions, and the table whose rows these choose."""
    here, mean = torch.arange(n, device=table.device), table.mean(dim=0)
    rows, first = torch.arange(len(table), device=table.device)[:, None], here < FIRST
    yield "as trained", here, table
    for shift in (1, 100):
        yield f"shifted by {shift}", here + shift, table
    for shift in (1, 10, 50, 100, 150, 200, 240):
        yield f"shifted by {shift}, in place", here + shift * ~first, table
    for row in (0, 1, 50, 100):
        yield f"row {row} is the mean row", here, torch.where(rows == row, mean, table)
    for rank in (10, 15, 97):
        yield f"rank {rank}, in place", here, of_rank(table, rank)
    yield "rank 15", here, of_rank(table, 15, 0)
    double = stretched(table, 2 * len(table) - 1)
    yield "stretched to 895 rows", here, double
    yield "stretched to 895 rows, in place", torch.where(first, 2 * here, here + FIRST - 1), double
    mixed = torch.randperm(n - FIRST, generator=torch.Generator().manual_seed(seed)).to(here) + FIRST
    yield "shuffled", torch.randperm(n, generator=torch.Generator().manual_seed(seed)).to(here), table
    yield "shuffled, in place", torch.cat([here[:FIRST], mixed]), table
    yield "the mean row for all", here, mean.expand_as(table)
    yield "the mean row for all, in place", here, torch.cat([table[:FIRST], mean.expand(len(table) - FIRST, -1)])
    yield "no table", here, torch.zeros_like(table)


def past(table: Tensor, n: int) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Ways to read more tokens than the table has rows."""
    here, mean = torch.arange(n, device=table.device), table.mean(dim=0)
    yield "last row", here.clamp(max=len(table) - 1), table
    yield "wrapped", here % len(table), table
    yield "stretched", here, stretched(table, n)
    yield "the mean row for all", here, mean.expand(n, -1)


def tables(probe: Probe, device: str) -> list[dict]:
    """The rows of Whisper on a passage: a loss for each case, and in three of them how each head weighs the token before."""
    model, text = loaded("whisper", probe.dtype, device), tokens(probe, device)
    sound = model.hear(torch.full((1, 80, 3000), SILENCE, device=device))
    begin, table = torch.tensor([BEGIN], device=device), model.positions.table.data
    ids, cases = torch.cat([begin, text], dim=1), []
    last, ways = text.shape[1], changed(table, ids.shape[1], probe.seed)

    def read(case: str, ids: Tensor, positions: Tensor, own: Tensor) -> None:
        weights: list[list[float]] = []
        watch = (lambda layer: weights.append(previous(layer))) if case in FOLLOWED else None
        model.positions.table.data = own
        try:
            logits = model(ids, sound, positions, watch)[0, -1 - last : -1]
        finally:
            model.positions.table.data = table
        loss = round(cross_entropy(logits, ids[0, -last:]).item(), 6)
        cases.append({"case": case, "loss": loss} | ({"previous": weights} if weights else {}))

    if probe.part == "past":
        last, ways = ids.shape[1] - len(table), past(table, ids.shape[1])
        anew = torch.cat([begin, text[:, -last:]], dim=1)
        read("read anew", anew, torch.arange(anew.shape[1], device=device), table)
    for case, positions, own in ways:
        read(case, ids, positions, own)
    return cases


def previous(weights: Tensor) -> list[float]:
    """How much each head weighs the token before, on average over the tokens of the text but the first."""
    return rounded(weights[0].diagonal(-1, dim1=1, dim2=2)[:, FIRST:].mean(dim=1))


def reactions(probe: Probe, device: str) -> list[dict]:
    """The rows of ALBERT on a reaction: the mean loss of its tokens, each masked alone, with positions moved."""
    model = loaded("albert", probe.dtype, device)
    known = {token: n for n, token in enumerate(find("albert")[1].read_text("utf-8").splitlines())}
    text = ["[CLS]", *passage(probe.text, probe.seed, 1000).split(), "[SEP]"]
    ids = torch.tensor([known[token] for token in text], device=device)
    here, masked = torch.arange(len(ids), device=device), torch.arange(1, len(ids) - 1, device=device)
    hidden = ids.repeat(len(masked), 1)
    hidden[masked - 1, masked] = known[MASK]
    ways = {"as trained": here} | {f"shifted by {by}": here + by for by in (1, 100, 200, 300, 350, 400, 430)}
    ways |= {f"shifted by {by}, in place": here + by * (here > 0) for by in (1, 100, 350, 430)}
    ways |= {"all at 100": 0 * here + 100, "reversed": here.flip(0)}
    logits = {case: model(hidden, positions)[masked - 1, masked] for case, positions in ways.items()}
    return [{"case": case, "loss": round(cross_entropy(one, ids[masked]).item(), 6)} for case, one in logits.items()]


def rotation(table: Tensor, keep: int) -> dict:
    """The share of the variance that so many directions hold, and how much of the steps from row to row one rotation explains."""
    x = (table - table.mean(dim=0)).double()
    size, directions = torch.linalg.svd(x, full_matrices=False)[1:]
    z = x @ directions[:keep].T
    u, _, v = torch.linalg.svd(z[:-1].T @ z[1:])
    explained = 1 - (z[:-1] @ u @ v - z[1:]).square().sum() / (z[1:] - z[:-1]).square().sum()
    held, turned = rounded(torch.stack([size[:keep].square().sum() / size.square().sum(), explained]))
    return {"case": f"{keep} directions", "held": held, "turned": turned}


def rows(probe: Probe, device: str) -> list[dict]:
    """The rows of a table, as `real_table.remembered` tells of them, and without the first two; and what is past the last."""
    model = loaded(probe.model, probe.dtype, device)
    table, tells = model.positions.table, []
    for case, some in ("rows", table), ("rows from 2 on", table[FIRST:]):
        tells.append({"case": case} | remembered(SimpleNamespace(table=some, tokens=model.tokens)))
    tells += [rotation(table[FIRST:-16], keep) for keep in (10, 16)]
    try:
        embedding(torch.tensor([len(table)], device=device), table)
    except IndexError as error:
        tells.append({"case": "a token past the last row", "error": f"IndexError: {error}"})
    return tells


def decided(records: Iterable[dict]) -> "DataFrame":
    """What is decided of sentences 1 to 12 or, by records of reactions, 13 to 15.

    mean, low, high: of what must be below 0 for a sentence to hold. All passages that are given count as one sample, so a
    verdict on a text needs the records of that text alone, as `observed.by_text` takes them.

    >>> from d2lpos.lab import records
    >>> len(decided(records("real-tables"))), len(decided(records("real-reactions")))
    (12, 3)
    """
    records = list(records)
    one = by_case(r for r in records if not r["run"]["part"])
    usual, shifted = one["as trained"], one["shifted by 100"]
    if "shifted by 430" in one:
        return decisions({
            "a shift by 100 hurts": usual - shifted,
            "rarely trained rows are noise": shifted - one["shifted by 430"],
            "a shift hurts by [CLS]'s row": one["shifted by 100, in place"] - shifted,
        })
    far = by_case(r for r in records if r["run"]["part"])
    anew, row_0 = far["read anew"], one["row 0 is the mean row"]
    return decisions({
        "a shift by 1 hurts": usual - one["shifted by 1"],
        "it hurts by the rows of words": row_0 - one["shifted by 1, in place"],
        "a table tells a shift": usual - one["shifted by 100, in place"],
        "row 0 is leaned on more than a word's": one["row 50 is the mean row"] - row_0,
        "mixed rows hurt": usual - one["stretched to 895 rows, in place"],
        "fifteen directions are not enough": usual - one["rank 15, in place"],
        "the last row is worse than blocks": anew - far["last row"],
        "wrapped is worse than blocks": anew - far["wrapped"],
        "stretched is worse than blocks": anew - far["stretched"],
        "stretched is less bad than the last row": far["stretched"] - far["last row"],
        "wrapped is less bad than the last row": far["wrapped"] - far["last row"],
        "stretched is worse than no position": far["the mean row for all"] - far["stretched"],
    })
