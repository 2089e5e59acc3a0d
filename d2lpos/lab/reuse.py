"""Keys of a document, computed where it stood alone, used behind a prompt: what SmolLM2 loses.

A document is read alone, from position 0 on, and its keys and values are kept, as a server keeps them. Then a prompt
stands before it, and what follows the document reads through the kept keys: 48 tokens with which the passage goes on, in
nats a token, and questions for four numbers that are hidden in the document, in digits found. All is compared with a
document that is read anew behind the prompt. A document may also come in four pieces, each read alone.

What is compared was fixed before the first run, and a pilot on a passage of its own had chosen the sizes:

1. "turning costs": keys left at their old places lose against fresh ones.
2. "turning is free": keys turned on to their new places lose less than 0.02 nats.
3. "the first four": to compute the first four tokens of each piece anew takes away at least half of what turned
   keys lose.
4. "the last sixteen": to compute the last sixteen of each piece anew takes away at least half of it.
5. "a lead": a document that was read behind a few other tokens, whose keys are then dropped, loses at most half of
   what turned keys lose, and nothing is computed anew.

A sentence holds or fails where Student's 95 % interval over passages, three texts together, lies on one side of its
limit, for each length of the document and each number of pieces. Else it is open.

Added when the runs were known: the texts are unlike, and a mean over them need not hold in any. `observed.by_text` says
beside each verdict what the same rule says of each text, and `observed.reused` has a column for each.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from ..pretrained.smollm2 import SmolLM2
from ..transformer.attention import attend
from .probe import Probe, encoder, loaded, tokens
from .real import hidden
from .summary import _below, _by_case

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["judged", "read_through", "reuse"]

Kept = list[tuple[Tensor, Tensor]]

PROMPT = 48  # tokens
AFTER = 49  # tokens with which the passage goes on; the first is not asked for, since no new token stands before it
NEEDLES = 4
FIRST = (1, 4, 16, 64)
PIECES = {"one piece": 1, "four pieces": 4}
MOST = 16
LEAD = "The text begins here:\n"
OTHER = {"persuasion": "pride", "pride": "persuasion", "code": "persuasion", "rule": "persuasion"}
BAND = 0.02  # nats


@torch.no_grad()
def read_through(
    model: SmolLM2,
    row: Tensor,
    anew: Tensor,
    positions: Tensor,
    k_positions: Tensor,
    mask: Tensor,
    stored: Kept | None = None,
) -> tuple[Tensor, Kept]:
    """What leaves the last layer at the tokens of a row that are computed anew, and the keys and values of all.

    row (1, n) holds tokens; anew (n,) is True where they are computed. The others have the keys and values, before
    they turn, that `stored` holds for each layer, (1, head, n, feature). positions and k_positions (n,) turn
    queries and keys, mask (n, n) says who sees whom.

    >>> model, row = loaded("stand-in"), torch.tensor([list(b"abc")])
    >>> here, all_new = torch.arange(3), torch.ones(3, dtype=torch.bool)
    >>> mask = here <= here[:, None]
    >>> x, stored = read_through(model, row, all_new, here, here, mask)
    """
    x, computed = model.embed(row[:, anew]), []
    for layer, block in enumerate(model.blocks):
        q, k, v = block.projected(x)
        if stored is not None:
            old = [part.clone() for part in stored[layer]]
            old[0][:, :, anew], old[1][:, :, anew] = k, v
            k, v = old
        computed.append((k, v))
        y = attend(q, k, v, positions[anew], k_positions, model.encoding, mask[anew])
        x = block.close(x, y)
    return x, computed


def reuse(probe: Probe, device: str) -> list[dict]:
    """A row for each way to use the keys of a document of `probe.length` tokens.

    The part says in how many pieces the document was read, each alone: "one piece" or "four pieces". The prompt is of
    another text. right, of: digits found.
    """
    model, encode, n = loaded(probe.model, probe.dtype, device), encoder(probe.model), probe.length
    document, asked = hidden(probe, NEEDLES)
    hay = n - sum(len(question + answer + encode(".\n")) for _, question, answer in asked)
    after = tokens(replace(probe, length=hay + AFTER))[0, hay:].tolist()
    prompt = tokens(replace(probe, text=OTHER[probe.text], length=PROMPT))[0].tolist()
    branches = [after, *(question + answer for _, question, answer in asked)]
    row = torch.tensor([prompt + document + list(chain(*branches))], device=device)
    # Each branch stands right behind the document, and sees no other branch.
    index, end, size = torch.arange(row.shape[1], device=device), PROMPT + n, sum(map(len, branches))
    inside = torch.cat([torch.arange(len(branch), device=device) for branch in branches])
    here = torch.cat([index[:end], end + inside])
    of = torch.cat([torch.zeros_like(index[:end]), (inside == 0).cumsum(dim=0)])
    causal = (index <= index[:, None]) & ((of == 0) | (of == of[:, None]))
    own = (index >= PROMPT) & (index < end)  # the document
    pieces = PIECES[probe.part]
    size_of_piece = n // pieces
    place = (index - PROMPT) % size_of_piece  # of a token of the document in its piece
    wanted = [torch.tensor(some, device=device) for some in (after[1:], *(answer for _, _, answer in asked))]

    def stored_alone(lead: list[int]) -> Kept:
        by_piece = []
        for start in range(0, n, size_of_piece):
            text = torch.tensor([lead + document[start : start + size_of_piece]], device=device)
            at = torch.arange(text.shape[1], device=device)
            by_piece.append(read_through(model, text, at >= 0, at, at, at <= at[:, None])[1])
        return [
            tuple(
                pad(torch.cat(parts, dim=2), (0, 0, PROMPT, size))
                for parts in zip(*([part[:, :, len(lead) :] for part in pair] for pair in layer), strict=True)
            )
            for layer in zip(*by_piece, strict=True)
        ]

    def add_row(
        case: str,
        anew: Tensor,
        stored: Kept | None,
        positions: Tensor = here,
        k_positions: Tensor | None = None,
        mask: Tensor = causal,
    ) -> Kept:
        k_positions = positions if k_positions is None else k_positions
        x, computed = read_through(model, row, anew, positions, k_positions, mask, stored)
        logits, tags = model.logits(x[:, of[anew] > 0])[0].float(), of[of > 0]
        each = [
            logits[tags == number][-len(some) - 1 : -1] for number, some in enumerate(wanted, 1)
        ]  # what stands before the tokens that are asked for
        answered, answers = torch.cat(each[1:]), torch.cat(wanted[1:])
        right = int((answered.argmax(dim=-1) == answers).sum())
        loss, asked_loss = (round(cross_entropy(*pair).item(), 6) for pair in ((each[0], wanted[0]), (answered, answers)))
        rows.append({"case": case, "loss": loss, "right": right, "of": len(answers), "asked": asked_loss})
        return computed

    rows: list[dict] = []
    fresh, alone = add_row("computed fresh", index >= 0, None), stored_alone([])
    add_row("absent", ~own, alone, torch.where(index < end, here, here - n), mask=causal & ~own)
    add_row("left where it was", ~own, alone, k_positions=torch.where(own, place, here))
    add_row("turned on", ~own, alone)
    add_row("turned on, its first token left out", ~own, alone, mask=causal & ~(own & (place == 0)))
    for first in FIRST:
        add_row(f"first {first} anew", ~own | (place < first), alone)
    add_row(f"last {MOST} anew", ~own | (place >= size_of_piece - MOST), alone)
    add_row(f"the {MOST} that change most anew", ~own | changed(fresh, alone, own, MOST * pieces), alone)
    add_row("read behind a lead that is dropped", ~own, stored_alone(encode(LEAD)))
    return rows


def changed(fresh: Kept, alone: Kept, own: Tensor, most: int) -> Tensor:
    """The tokens, so many, of a document whose keys and values, over all layers, are farthest from fresh ones."""
    apart = sum(
        (a - b).float().norm(dim=-1).sum(dim=(0, 1)) / a[:, :, own].float().norm(dim=-1).mean()
        for new, old in zip(fresh, alone, strict=True)
        for a, b in zip(new, old, strict=True)
    )
    at = apart.masked_fill(~own, -torch.inf).topk(most).indices
    return torch.zeros_like(own).index_fill(0, at, True)


def judged(records: Iterable[dict]) -> "DataFrame":
    """What is decided of the five sentences of this module, by pieces and length: holds, fails or open, with the interval.

    mean, low, high: what must be below 0 for a sentence to hold, over all passages of all texts.

    >>> from d2lpos.lab import run_probe
    >>> probe = Probe("real-reuse", "one piece", "stand-in", "rule", length=640)
    >>> judged([run_probe(probe)])["verdict"].unique().tolist()
    ['open']
    """
    from pandas import DataFrame

    losses_by_case = _by_case(records)
    fresh = losses_by_case["computed fresh"]
    turned = losses_by_case["turned on"] - fresh
    sentences = {
        "turning costs": fresh - losses_by_case["left where it was"],
        "turning is free": turned - BAND,
        "the first four": (losses_by_case["first 4 anew"] - fresh) - turned / 2,
        "the last sixteen": (losses_by_case[f"last {MOST} anew"] - fresh) - turned / 2,
        "a lead": (losses_by_case["read behind a lead that is dropped"] - fresh) - turned / 2,
    }
    rows = []
    for sentence, values in sentences.items():
        for (part, length), some in values.groupby([losses_by_case["part"], losses_by_case["length"]], sort=False):
            rows.append([sentence, part, length, *_below(some)])
    return DataFrame(rows, columns=["sentence", "part", "length", "mean", "low", "high", "n", "verdict"])
