"""Pieces that were read apart: what other people's methods lose beside ours, and where the first token's weight goes.

The requests are those of `reuse`, with a document of 512 tokens in four pieces. To the ways of `reuse` are added:

- CacheBlend's share (Yao et al. 2025, arXiv 2405.16444): two layers are computed for all tokens, and the others for the
  16 % of the document whose values in the second are farthest from the kept ones, as in
  https://github.com/YaoJiayi/CacheBlend, vllm_blend, commit 8c61bdd.
- APE (Yang et al. 2025, arXiv 2502.05431): the pieces are read behind a prefix, which stays at the row's beginning, and
  all stand at the same places. What follows divides scores of the document by T, and brings its weight in the sum, that
  of exp(score / T), to the power S T, as in https://github.com/Infini-AI-Lab/APE, ape/ape_llama.py, commit 52513bc. T
  and S are taken where the loss is lowest on the other four passages of the text. A first run followed an early commit
  of the authors, in which S multiplies the weight; all runs were made again with the released S, and a row with the
  released defaults, 0.9 and 0.9, was added, which no sentence asks for.
- The prefix stays, and positions count on: APE's first part alone.

Why is it in code that the first tokens of the pieces cost something? A row has the share of the weight that the 48 tokens
behind the document give to parts of the row, a mean over layers and heads.

Decided before the runs, for each text by itself, by Student's 95 % interval over its five passages. A first run on one
passage of code, after these sentences were written, had shown that T has to go below 0.8. A sentence holds where the
interval lies on its side, fails where it lies on the other, and is open elsewhere:

1. "the prefix may stay": to keep the prefix loses less than to drop it.
2. "T and S": APE with T and S loses less than with 1 and 1.
3. "the chosen share": CacheBlend's 81 tokens lose less than the first 16 of each piece, 64 in all.
4. "a sink in each piece": turned on, the pieces' first tokens have more than 0.1 of the weight.
5. "taken from the text": turned on, the rest of the document has less weight than with fresh keys.
6. "it goes home": with the pieces' first tokens left out, the row's first token gets more than half of what they had.

And where code's interval lies above those of both novels, or below both:

7. "more weight in code" on the pieces' first tokens.
8. "more from the text in code".
9. "stronger sinks alone in code": the share that a piece's tokens, from the 17th on, give to its first while read alone.
10. "longer values in code": the length of the first token's value, over the mean of the piece's others.
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
from .summary import below_zero, by_case

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["apart", "judged"]

SHARE, CHECKED = 0.16, 1  # CacheBlend's, and the layer whose values choose
GRID = tuple((t, s) for t in (1.0, 0.8, 0.6, 0.4) for s in (1.0, 0.8))
RELEASED = (0.9, 0.9)  # the defaults of APE's demo
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
        scores[..., document] = inside + ((scale * temperature - 1) * total).where(sees, 0)
        weights = scores.softmax(dim=-1)
        for name, part in parts.items():
            shares[name].append(weights[:, :, asked][..., part].sum(dim=-1).mean().item())
        return weights @ repeat_kv(v, q)

    return attention, shares


def apart(probe: Probe, device: str) -> list[dict]:
    """A row for each method, with the shares of the weight; that of keys turned on also says what the first tokens are."""
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
    for t, s in (RELEASED, *GRID):
        add(behind, APE.format(t, s), ~own, stored, t, s, positions=there)
    return plain.rows + behind.rows


def judged(records: Iterable[dict]) -> "DataFrame":
    """What is decided of the ten sentences of this module: a row for each sentence and text, with the interval.

    mean, low, high: of sentences 1 to 6 what must be below 0 to hold; of 7 to 10 what code is said to have more of, and
    their verdict stands in the row of code. These need records of code and of another text.
    """
    from pandas import DataFrame

    records = list(records)
    losses = by_case(records)
    rows = DataFrame([{row["case"]: row for row in record["rows"]} for record in records], losses.index)

    def share(case: str, part: str) -> "Series":
        return rows[case].map(lambda row: row["shares"][part])

    tempered = losses[[APE.format(*pair) for pair in GRID]]
    best = [tempered.loc[text].drop(seed).mean().idxmin() for text, seed in losses.index]
    tuned = [losses.at[passage, case] for passage, case in zip(losses.index, best, strict=True)]
    first = share("turned on", "pieces' first")
    taken = share("turned on", "document") - share("computed fresh", "document")
    home = share(LEFT_OUT, "row's first") - share("turned on", "row's first")
    of_each_text = {
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
    both = {"code"} < set(losses["text"])
    for sentence, values in (of_each_text | (more_in_code if both else {})).items():
        each = {text: below_zero(part) for text, part in values.groupby("text", sort=False)}
        if sentence in more_in_code:
            (*code, _), novels = each.pop("code"), list(each.values())
            above = all(code[1] > novel[2] for novel in novels)
            below = all(code[2] < novel[1] for novel in novels)
            each = {text: (*novel[:4], "") for text, novel in each.items()}
            each["code"] = (*code, "holds" if above else "fails" if below else "open")
        table += [[sentence, text, *numbers] for text, numbers in each.items()]
    return DataFrame(table, columns=["sentence", "text", "mean", "low", "high", "n", "verdict"])
