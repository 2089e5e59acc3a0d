"""Pieces that were read apart: what other people's methods lose beside ours, and where the first token's weight goes.

The requests are those of `reuse`: a document of 512 tokens, read in four pieces, each alone, behind a prompt of another
text. To what `reuse` has are added:

- CacheBlend's share (Yao et al. 2025, arXiv 2405.16444): the layers up to the second are computed for all tokens, and
  from there on 16 % of the document's, those whose values in the second layer are farthest from the kept ones. Both
  numbers are those of https://github.com/YaoJiayi/CacheBlend, vllm_blend, commit 8c61bdd.
- APE (Yang et al. 2025, arXiv 2502.05431): the pieces are read behind a prefix that they share, and the prefix stays, at
  the row's beginning. All pieces stand at the same places, and what follows stands behind the longest. In what follows,
  scores of the document are divided by a temperature T, and its weight in the sum is brought back to the power T and
  multiplied by S, as in https://github.com/joshianirudh/APE, src/ape_llama.py, commit 1278be4, which has a copy of the
  authors' code. T and S are taken where the loss is lowest on the other four passages of the text.
- The prefix stays, and positions count on: APE's first part alone.

Why is it in code that the first tokens of the pieces cost something (`reuse`)? A row has the share of the weight that
the 48 tokens behind the document give to parts of the row, a mean over layers and heads.

Decided before the runs, for each text by itself, with Student's 95 % interval over its five passages. A first run on one
passage of code, after these sentences were written, had shown that T has to go below 0.8:

1. "the prefix may stay": to keep the prefix loses less than to drop it. Holds where the interval of (stays − dropped)
   lies below 0, fails where it lies above.
2. "T and S": APE with T and S loses less than with 1 and 1. The same of (T and S − 1 and 1).
3. "the chosen share": CacheBlend's 81 tokens lose less than the first 16 of each piece, 64 in all. The same.
4. "a sink in each piece": turned on, the pieces' first tokens have more than 0.1 of the weight.
5. "taken from the text": turned on, the rest of the document has less weight than with fresh keys.
6. "it goes home": with the first tokens of the pieces left out, the row's first token gets more than half of what they had.

And of code beside the novels, where an explanation needs that they differ:

7. "more weight in code", 8. "more from the text in code", 9. "stronger sinks alone in code" (the share of a piece's
   tokens from the 17th on that they give to its first token while it is read alone), 10. "longer values in code" (the
   length of the first token's value, over the mean of the piece's others, a mean over layers and heads). Each holds where
   code's interval lies above (for 8 below) those of both novels, fails where it lies on the other side of both, and is open
   elsewhere.
"""

import math
from collections.abc import Callable, Iterable
from statistics import fmean
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..encoding import Encoding
from ..transformer.programs import repeat_kv
from .probe import Probe, encoder
from .reuse import LEAD, MOST, Kept, Request
from .summary import _below, _by_case

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["apart", "judged"]

SHARE, CHECKED = 0.16, 1  # CacheBlend's, and the layer whose values choose
GRID = tuple((t, s) for t in (1.0, 0.8, 0.6, 0.4) for s in (1.0, 0.8))
APE = "APE, T = {}, S = {}"
LEFT_OUT = "turned on, its first token left out"


def weighted(
    document: Tensor, asked: Tensor, parts: dict[str, Tensor], temperature: float = 1.0, scale: float = 1.0
) -> tuple[Callable[..., Tensor], dict[str, list[float]]]:
    """Attention for `read_through` with T and S on the keys of `document`, and the shares that it notes, by part.

    A layer adds a number to each part's list: the weight that queries of `asked` give to its keys, a mean over heads.
    """
    shares: dict[str, list[float]] = {name: [] for name in parts}

    def attention(
        q: Tensor, k: Tensor, v: Tensor, positions: Tensor, k_positions: Tensor, encoding: Encoding, mask: Tensor
    ) -> Tensor:
        turned_q, turned_k = encoding.rotate(q, k, positions, k_positions)
        scores = (turned_q @ repeat_kv(turned_k, q).mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -torch.inf)
        inside = scores[..., document] / temperature
        total = inside.logsumexp(dim=-1, keepdim=True)
        sees = mask[:, document].any(dim=-1, keepdim=True)
        scores[..., document] = inside + ((temperature - 1) * total + math.log(scale)).where(sees, 0)
        weights = scores.softmax(dim=-1)
        for name, part in parts.items():
            shares[name].append(weights[:, :, asked][..., part].sum(dim=-1).mean().item())
        return weights @ repeat_kv(v, q)

    return attention, shares


def apart(probe: Probe, device: str) -> list[dict]:
    """A row for each method; of three also the shares of the weight, and of those turned on what the first tokens are."""
    words = encoder(probe.model)(LEAD)
    plain, behind = Request(probe, device), Request(probe, device, before=LEAD)

    def add(
        request: Request, case: str, anew: Tensor, stored: Kept | None, t: float = 1.0, s: float = 1.0, **how: Tensor
    ) -> Kept:
        first, index, of = request.first, request.index, request.of
        parts = {"row's first": index == 0, "pieces' first": first, "document": request.own & ~first}
        parts |= {"prompt": (of == 0) & ~request.own & (index > 0), "new": of > 0}
        after = (of[anew] == 1).nonzero()[:-1, 0]
        attention, shares = weighted(request.own, after, parts, t, s)
        computed = request.add_row(case, anew, stored, attention=attention, **how)
        request.rows[-1]["shares"] = {name: round(fmean(some), 5) for name, some in shares.items()}
        return computed

    own, place = plain.own, plain.place
    at = torch.arange(plain.size_of_piece, device=device)
    attention, sinks = weighted(at < 0, at >= MOST, {"first": at == 0})
    fresh, alone = add(plain, "computed fresh", plain.index >= 0, None), plain.stored_alone([], attention)
    add(plain, "turned on", ~own, alone)
    values = torch.cat([v[:, :, own].unflatten(2, (-1, len(at))).norm(dim=-1) for _, v in alone])
    longer = (values[..., 0] / values[..., 1:].mean(dim=-1)).mean().item()
    plain.rows[-1] |= {"alone": round(fmean(sinks["first"]), 5), "value": round(longer, 5)}
    add(plain, LEFT_OUT, ~own, alone, mask=plain.causal & ~plain.first)
    for first in (1, MOST):
        add(plain, f"first {first} anew", ~own | (place < first), alone)
    moved = (fresh[CHECKED][1] - alone[CHECKED][1]).square().sum(dim=(0, 1, 3)).masked_fill(~own, -1)
    chosen = torch.zeros_like(own).index_fill(0, moved.topk(int(SHARE * probe.length)).indices, True)
    add(plain, "CacheBlend's 16 %", ~own | chosen, [*fresh[: CHECKED + 1], *alone[CHECKED + 1 :]])
    add(plain, "read behind a lead that is dropped", ~own, plain.stored_alone(words))

    own, stored = behind.own, behind.stored_alone(words)
    add(behind, "computed fresh, behind the prefix", behind.index >= 0, None)
    add(behind, "the prefix stays", ~own, stored)
    there = torch.where(own, behind.room[0] + behind.place, behind.here)
    there = torch.where(behind.of > 0, there - probe.length + behind.size_of_piece, there)
    for t, s in GRID:
        add(behind, APE.format(t, s), ~own, stored, t, s, positions=there)
    return plain.rows + behind.rows


def judged(records: Iterable[dict]) -> "DataFrame":
    """What is decided of the ten sentences of this module: a row for each sentence and text, with the interval.

    mean, low, high: of sentences 1 to 6 what must be below 0 to hold; of 7 to 10 what code is said to have more of, and
    their verdict stands in the row of code.
    """
    from pandas import DataFrame

    records = list(records)
    losses = _by_case(records)
    rows = DataFrame([{row["case"]: row for row in record["rows"]} for record in records], losses.index)

    def share(case: str, part: str) -> "Series":
        return rows[case].map(lambda row: row["shares"][part])

    tempered = losses[[APE.format(*pair) for pair in GRID]]
    best = {at: tempered.loc[at[0]].drop(at[1]).mean().idxmin() for at in losses.index}
    tuned = losses["seed"].index.map(lambda at: losses.at[at, best[at]])
    first, left = share("turned on", "pieces' first"), share("turned on", "document")
    taken = left - share("computed fresh", "document")
    home = share(LEFT_OUT, "row's first") - share("turned on", "row's first")
    below_zero = {
        "the prefix may stay": losses["the prefix stays"] - losses["read behind a lead that is dropped"],
        "T and S": tuned - losses[APE.format(1.0, 1.0)],
        "the chosen share": losses["CacheBlend's 16 %"] - losses[f"first {MOST} anew"],
        "a sink in each piece": 0.1 - first,
        "taken from the text": taken,
        "it goes home": first / 2 - home,
    }
    more_in_code = {
        "more weight in code": first,
        "more from the text in code": -taken,
        "stronger sinks alone in code": rows["turned on"].map(lambda row: row["alone"]),
        "longer values in code": rows["turned on"].map(lambda row: row["value"]),
    }
    table = []
    for sentence, values in (below_zero | more_in_code).items():
        each = {text: _below(part) for text, part in values.groupby("text", sort=False)}
        for text, (*numbers, verdict) in each.items():
            if sentence in more_in_code and text != "code":
                verdict = ""
            elif sentence in more_in_code:
                novels = [one for other, one in each.items() if other != "code"]
                above = numbers[1] > max((one[2] for one in novels), default=math.inf)
                below = numbers[2] < min((one[1] for one in novels), default=-math.inf)
                verdict = "holds" if above else "fails" if below else "open"
            table.append([sentence, text, *numbers, verdict])
    return DataFrame(table, columns=["sentence", "text", "mean", "low", "high", "n", "verdict"])
