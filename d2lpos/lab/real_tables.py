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
from torch.nn.functional import cross_entropy, interpolate

from ..pretrained.albert import Albert, albert_tokens
from ..pretrained.whisper import BEGIN, SILENCE, Whisper
from ..transformer.attention import attention_weights
from ..transformer.masks import causal_mask
from .passages import passage
from .probe import Probe, loaded, tokens
from .real_table import remembered, rounded
from .summary import _by_case, _decided

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["decided", "decided_of_reactions", "reactions", "rows", "tables"]

TEXT = 200  # tokens; "past" reads 600
FIRST = len(BEGIN)
MASK = 14


def stretched(table: Tensor, length: int) -> Tensor:
    """A table of `length` rows, from the first to the last, each a mix of two."""
    return interpolate(table.T[None], length, mode="linear", align_corners=True)[0].T


def of_rank(table: Tensor, rank: int, first: int = FIRST) -> Tensor:
    """The table on its chief directions around its mean row, but for the first rows, which stay as they are."""
    rest = table[first:]
    u, s, v = torch.linalg.svd(rest - rest.mean(dim=0), full_matrices=False)
    return torch.cat([table[:first], rest.mean(dim=0) + u[:, :rank] * s[:rank] @ v[:rank]])


def changed(table: Tensor, n: int, seed: int) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Ways to read n tokens: a name, positions, and the table that they ask."""
    here, mean = torch.arange(n, device=table.device), table.mean(dim=0)
    first = here < FIRST
    yield "as trained", here, table
    for shift in (1, 100):
        yield f"shifted by {shift}", here + shift, table
    for shift in (1, 10, 50, 100, 150, 200, 240):
        yield f"shifted by {shift}, in place", here + shift * ~first, table
    for row in (0, 1, 50, 100):
        yield f"row {row} is the mean row", here, torch.where(torch.arange(len(table))[:, None] == row, mean, table)
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
    """The rows of Whisper on a passage: a loss for each case and, as trained and far away, how heads weigh the token before."""
    model, text = loaded("whisper", probe.dtype, device), tokens(probe, device)
    sound = model.hear(torch.full((1, 80, 3000), SILENCE, device=device))
    begin, table = torch.tensor([BEGIN], device=device), model.table.data.clone()
    ids = torch.cat([begin, text], dim=1)

    def read(positions: Tensor, own: Tensor, ids: Tensor, last: int, **how: object) -> float:
        model.positions.table.data = own
        try:
            logits = model(ids, positions, sound, **how)[0]
        finally:
            model.positions.table.data = table
        return round(cross_entropy(logits[-1 - last : -1], ids[0, -last:]).item(), 6)

    cases = []
    if probe.part == "past":
        last = ids.shape[1] - len(table)
        anew = torch.cat([begin, text[:, -last:]], dim=1)
        cases = [{"case": "read anew", "loss": read(torch.arange(FIRST + last), table, anew, last)}]
        ways = past(table, ids.shape[1])
    else:
        last, ways = text.shape[1], changed(table, ids.shape[1], probe.seed)
    for case, positions, own in ways:
        weights: list[list[float]] = []
        followed = {"watch": lambda _, q, k, to=weights: to.append(previous(q, k))}
        loss = read(positions, own, ids, last, **(followed if case in FOLLOWED else {}))
        cases.append({"case": case, "loss": loss} | ({"previous": weights} if weights else {}))
    return cases


FOLLOWED = ("as trained", "shifted by 100", "shifted by 100, in place")


def previous(q: Tensor, k: Tensor) -> list[float]:
    """How much each head weighs the token before, on average over the text's."""
    here = torch.arange(q.shape[2], device=q.device)
    weights = attention_weights(q, k, here, here, mask=causal_mask(here, here))[0]
    return rounded(weights.diagonal(-1, dim1=1, dim2=2)[:, FIRST:].mean(dim=1))


def reactions(probe: Probe, device: str) -> list[dict]:
    """The rows of ALBERT on a reaction: the mean loss of its tokens, each masked alone, with positions moved."""
    model: Albert = loaded("albert", probe.dtype, device)
    ids = torch.tensor(albert_tokens(passage(probe.text, probe.seed, 10_000).strip()), device=device)
    here, masked = torch.arange(len(ids), device=device), torch.arange(1, len(ids) - 1, device=device)
    hidden = ids.repeat(len(masked), 1)
    hidden[torch.arange(len(masked)), masked] = MASK
    first, rows = here == 0, []
    ways = {"as trained": here} | {f"shifted by {by}": here + by for by in (1, 100, 200, 300, 350, 400, 430)}
    ways |= {f"shifted by {by}, in place": here + by * ~first for by in (1, 100, 350, 430)}
    ways |= {"all at 100": 0 * here + 100, "reversed": here.flip(0)}
    for case, positions in ways.items():
        logits = model(hidden, positions)[torch.arange(len(masked)), masked]
        rows.append({"case": case, "loss": round(cross_entropy(logits, ids[masked]).item(), 6)})
    return rows


def rotation(table: Tensor, keep: int = 10) -> dict:
    """How much of the variance so many directions hold, and of the steps from row to row one rotation of them explains."""
    x = (table - table.mean(dim=0)).double()
    size, directions = torch.linalg.svd(x, full_matrices=False)[1:]
    z = x @ directions[:keep].T
    u, _, v = torch.linalg.svd(z[:-1].T @ z[1:])
    missed = (z[:-1] @ u @ v - z[1:]).square().sum() / (z[1:] - z[:-1]).square().sum()
    return {"held": round((size[:keep].square().sum() / size.square().sum()).item(), 4), "turned": round(1 - missed.item(), 4)}


def rows(probe: Probe, device: str) -> list[dict]:
    """The rows of a table itself, as `real_table.remembered` has them, and with the first two left out; and what is past it."""
    model: Whisper | Albert = loaded(probe.model, probe.dtype, device)
    rest = SimpleNamespace(table=model.table[FIRST:], tokens=model.tokens)
    known = [{"case": "rows"} | remembered(model), {"case": "rows from 2 on"} | remembered(rest)]
    known += [{"case": f"{keep} directions"} | rotation(model.table[FIRST:-16], keep) for keep in (10, 16)]
    try:
        torch.nn.functional.embedding(torch.tensor([len(model.table)], device=device), model.table)
    except IndexError as error:
        known.append({"case": "a token past the last row", "error": f"IndexError: {error}"})
    return known


def decided(records: Iterable[dict]) -> "DataFrame":
    """What is decided of sentences 1 to 12; mean, low, high: what must be below 0 for a sentence to hold.

    >>> from d2lpos.lab import records
    >>> len(decided(records("real-tables")))
    12
    """
    records = list(records)
    one, far = (_by_case(r for r in records if r["run"]["part"] == part) for part in ("", "past"))
    usual, anew = one["as trained"], far["read anew"]
    return _decided({
        "a shift by 1 hurts": usual - one["shifted by 1"],
        "it hurts by the rows of words": one["row 0 is the mean row"] - one["shifted by 1, in place"],
        "a table tells a shift": usual - one["shifted by 100, in place"],
        "row 0 is leaned on more than a word's": one["row 50 is the mean row"] - one["row 0 is the mean row"],
        "mixed rows hurt": usual - one["stretched to 895 rows, in place"],
        "fifteen directions are not enough": usual - one["rank 15, in place"],
        "the last row is worse than blocks": anew - far["last row"],
        "wrapped is worse than blocks": anew - far["wrapped"],
        "stretched is worse than blocks": anew - far["stretched"],
        "stretched is less bad than the last row": far["stretched"] - far["last row"],
        "wrapped is less bad than the last row": far["wrapped"] - far["last row"],
        "stretched is worse than no position": far["the mean row for all"] - far["stretched"],
    })


def decided_of_reactions(records: Iterable[dict]) -> "DataFrame":
    """What is decided of sentences 13 to 15, as in `decided`.

    >>> from d2lpos.lab import records
    >>> len(decided_of_reactions(records("real-reactions")))
    3
    """
    losses = _by_case(records)
    return _decided({
        "a shift by 100 hurts": losses["as trained"] - losses["shifted by 100"],
        "rarely trained rows are noise": losses["shifted by 100"] - losses["shifted by 430"],
        "a shift hurts by [CLS]'s row": losses["shifted by 100, in place"] - losses["shifted by 100"],
    })
