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

Added when the runs were known: the texts are unlike, and a mean over them need not hold in any. `observed.by_text` has what
the same rule says of each text, and `observed.as_written` both.
"""

from collections.abc import Callable, Iterable
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
from .summary import below_zero, by_case

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
    attention: Callable[..., Tensor] = attend,
) -> tuple[Tensor, Kept]:
    """What leaves the last layer at the tokens of a row that are computed anew, and the keys and values of all.

    row (1, n) holds tokens; anew (n,) is True where they are computed. The others have the keys and values, before
    they turn, that `stored` holds for each layer, (1, head, n, feature). positions and k_positions (n,) turn
    queries and keys, mask (n, n) says who sees whom. attention is called as `attend` is, once a layer.

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
        y = attention(q, k, v, positions[anew], k_positions, model.encoding, mask[anew])
        x = block.close(x, y)
    return x, computed


class Request:
    """A prompt of another text, a document of `probe.length` tokens with numbers hidden in it, and what follows it.

    What follows is in branches that do not see each other: the passage's next tokens, and a question for each number.
    The part of the probe says in how many pieces the document was read, each alone: "one piece" or "four pieces".
    before: words that stand before the prompt.

    rows: what `add_row` has measured. here (n,): where each token of the row stands. index, own, place and of (n,):
    its number, whether it is of the document, where it stood in its piece, and its branch, 0 for none.
    """

    def __init__(self, probe: Probe, device: str, before: str = "") -> None:
        self.model, encode = loaded(probe.model, probe.dtype, device), encoder(probe.model)
        self.rows: list[dict] = []
        self.document, asked = hidden(probe, NEEDLES)
        hay = probe.length - sum(len(question + answer + encode(".\n")) for _, question, answer in asked)
        after = tokens(replace(probe, length=hay + AFTER))[0, hay:].tolist()
        prompt = tokens(replace(probe, text=OTHER[probe.text], length=PROMPT))[0].tolist()
        prompt = (encode(before) if before else []) + prompt
        branches = [after, *(question + answer for _, question, answer in asked)]
        row = torch.tensor([prompt + self.document + list(chain(*branches))], device=device)
        # Each branch stands right behind the document, and sees no other branch.
        index, start, end = torch.arange(row.shape[1], device=device), len(prompt), len(prompt) + probe.length
        inside = torch.cat([torch.arange(len(branch), device=device) for branch in branches])
        of = torch.cat([torch.zeros_like(index[:end]), (inside == 0).cumsum(dim=0)])
        self.row, self.index, self.of, self.room = row, index, of, (start, row.shape[1] - end)
        self.here = torch.cat([index[:end], end + inside])
        self.causal = (index <= index[:, None]) & ((of == 0) | (of == of[:, None]))
        self.own = (index >= start) & (index < end)
        self.pieces = PIECES[probe.part]
        self.size_of_piece = probe.length // self.pieces
        self.place = (index - start) % self.size_of_piece
        self.first = self.own & (self.place == 0)
        self.wanted = [torch.tensor(some, device=device) for some in (after[1:], *(answer for _, _, answer in asked))]

    def stored_alone(self, lead: list[int], attention: Callable[..., Tensor] = attend) -> Kept:
        """Keys and values of the pieces, each read alone behind a lead whose own are dropped, in a row of zeros."""
        by_piece = []
        for start in range(0, len(self.document), self.size_of_piece):
            text = torch.tensor([lead + self.document[start : start + self.size_of_piece]], device=self.row.device)
            at = torch.arange(text.shape[1], device=self.row.device)
            mask = at <= at[:, None]
            by_piece.append(read_through(self.model, text, at >= 0, at, at, mask, attention=attention)[1])
        return [
            tuple(
                pad(torch.cat(parts, dim=2), (0, 0, *self.room))
                for parts in zip(*([part[:, :, len(lead) :] for part in pair] for pair in layer), strict=True)
            )
            for layer in zip(*by_piece, strict=True)
        ]

    def add_row(
        self,
        case: str,
        anew: Tensor,
        stored: Kept | None,
        positions: Tensor | None = None,
        k_positions: Tensor | None = None,
        mask: Tensor | None = None,
        attention: Callable[..., Tensor] = attend,
    ) -> Kept:
        """Read what is computed anew, add a row of what is lost and what is answered, and return all keys and values."""
        positions = self.here if positions is None else positions
        k_positions = positions if k_positions is None else k_positions
        mask = self.causal if mask is None else mask
        x, computed = read_through(self.model, self.row, anew, positions, k_positions, mask, stored, attention)
        logits, tags = self.model.logits(x[:, self.of[anew] > 0])[0].float(), self.of[self.of > 0]
        each = [
            logits[tags == number][-len(some) - 1 : -1] for number, some in enumerate(self.wanted, 1)
        ]  # what stands before the tokens that are asked for
        answered, answers = torch.cat(each[1:]), torch.cat(self.wanted[1:])
        right = int((answered.argmax(dim=-1) == answers).sum())
        pairs = (each[0], self.wanted[0]), (answered, answers)
        loss, asked_loss = (round(cross_entropy(*pair).item(), 6) for pair in pairs)
        self.rows.append({"case": case, "loss": loss, "right": right, "of": len(answers), "asked": asked_loss})
        return computed


def reuse(probe: Probe, device: str) -> list[dict]:
    """A row for each way to use the keys of a document, of a `Request`. right, of: digits found."""
    request = Request(probe, device)
    own, place, here, add_row = request.own, request.place, request.here, request.add_row
    fresh, alone = add_row("computed fresh", request.index >= 0, None), request.stored_alone([])
    end = request.room[0] + probe.length
    gone = torch.where(request.index < end, here, here - probe.length)
    add_row("absent", ~own, alone, gone, mask=request.causal & ~own)
    add_row("left where it was", ~own, alone, k_positions=torch.where(own, place, here))
    add_row("turned on", ~own, alone)
    add_row("turned on, its first token left out", ~own, alone, mask=request.causal & ~request.first)
    for first in FIRST:
        add_row(f"first {first} anew", ~own | (place < first), alone)
    add_row(f"last {MOST} anew", ~own | (place >= request.size_of_piece - MOST), alone)
    most = changed(fresh, alone, own, MOST * request.pieces)
    add_row(f"the {MOST} that change most anew", ~own | most, alone)
    add_row("read behind a lead that is dropped", ~own, request.stored_alone(encoder(probe.model)(LEAD)))
    return request.rows


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

    losses_by_case = by_case(records)
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
            rows.append([sentence, part, length, *below_zero(some)])
    return DataFrame(rows, columns=["sentence", "part", "length", "mean", "low", "high", "n", "verdict"])
