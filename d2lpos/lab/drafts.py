"""Drafts at other positions than the text's: how many of its tokens a model accepts.

SmolLM2 reads a passage, and a draft of it reads the same passage: SmolLM2 itself, or with layers left out; as a control, with
keys of 2 bits. The first half is the prompt. The rest comes in rounds of `ROUND` drafted tokens, and in them the draft's positions go wrong.
At each token of the rounds a drafted token would be accepted with probability Σ min(p, q), p the model's distribution of the
next token and q the draft's (Leviathan et al. 2023, arXiv 2211.17192). The text goes on as it stands in the passage, whoever
would have been accepted, so that all cases read the same tokens.

Decided before the runs. Passages are the unit, 95 % intervals are Student's over five passages of each text. The draft is the
one with layers left out. Of these sentences each falls by what stands behind it, in any of the three texts:
1. All positions one later cost nothing: refuted unless each passage's rate moves by less than 0.001.
2. One gap, between prompt and drafts, costs nothing: refuted unless the interval of its change lies within ± 0.01.
3. One later in each round, over a cache that is right, costs more than the gap: refuted unless the interval of the
   difference lies above 0.
4. A position that stands still in a round costs more the longer the draft: refuted unless the interval of (the change at the
   fourth token of a round − the change at its first) lies below 0.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from ..encoding import Encoding
from ..pretrained.smollm2 import SmolLM2
from ..transformer.programs import repeat_kv
from .bits import RoundedKeys
from .probe import Probe, loaded, tokens

__all__ = ["ROUND", "acceptance", "draft", "drafts", "misplaced"]

ROUND = 4  # tokens that are drafted at a time
LEFT_OUT = range(12, 16)  # layers of 30; of six choices, the one most accepted on the text made by rule, number 4


def acceptance(model: Tensor, draft: Tensor) -> Tensor:
    """The share of drafted tokens that are accepted, from logits (…, vocabulary) of the model and of the draft.

    >>> acceptance(torch.zeros(2), torch.tensor([0.0, -torch.inf]))
    tensor(0.5000)
    """
    return torch.minimum(model.float().softmax(dim=-1), draft.float().softmax(dim=-1)).sum(dim=-1)


def misplaced(n: int) -> dict[str, tuple[Tensor, int, Tensor]]:
    """Ways to misplace the drafts of n tokens: positions (n,), places that queries are ahead, and of which keys (n, n)."""
    here = torch.arange(n)
    drafted, rounds = here >= n // 2, (here - n // 2).div(ROUND, rounding_mode="floor")
    every = drafted[:, None].expand(n, n)
    earlier = every & (rounds[:, None] != rounds)
    return {
        "as trained": (here, 0, every),
        "all one later": (here + 1, 0, every),
        "one gap before the drafts": (here + drafted, 0, every),
        "one more gap each round": (here + drafted * (rounds + 1), 0, every),
        "still within a round": (here - drafted * (here - n // 2) % ROUND, 0, every),
        "round one later": (here, 1, earlier),
        "round one earlier": (here, -1, earlier),
    }


@torch.no_grad()
def draft(
    model: SmolLM2,
    text: Tensor,
    positions: Tensor,
    ahead: int,
    of: Tensor | None,
    encoding: Encoding | None = None,
    left_out: Iterable[int] = (),
) -> Tensor:
    """What leaves the last layer for a text (1, n) whose queries stand `ahead` places further on for the keys `of` (n, n).

    >>> text = torch.tensor([list(b"abcd")])
    >>> draft(loaded("stand-in"), text, torch.arange(4), 0, None).shape
    torch.Size([1, 4, 24])
    """
    x, own = model.embed(text), model.encoding if encoding is None else encoding
    mask = torch.ones(2 * [text.shape[1]], dtype=torch.bool, device=text.device).tril()
    for block in (block for layer, block in enumerate(model.blocks) if layer not in set(left_out)):
        q, k, v = block.projected(x)
        k, v = repeat_kv(k, q), repeat_kv(v, q)
        scores = score(own, q, k, positions, 0)
        if ahead:
            scores = torch.where(of, score(own, q, k, positions, ahead), scores)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        x = block.close(x, weights @ v)
    return x


def score(own: Encoding, q: Tensor, k: Tensor, positions: Tensor, ahead: int) -> Tensor:
    q, k = own.rotate(q, k, positions + ahead, positions)
    return q @ k.mT / q.shape[-1] ** 0.5


def drafts(probe: Probe, device: str) -> list[dict]:
    """Rows of accepted shares: of all drafted tokens, and by place in a round; agree: where the likeliest tokens are the same."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    n = text.shape[1]
    ways, right = misplaced(n), (torch.arange(n), 0, None)

    def logits(positions: Tensor, ahead: int, of: Tensor | None, **how: object) -> Tensor:
        of = None if of is None else of.to(device)
        return model.logits(draft(model, text, positions.to(device), ahead, of, **how)[0, n // 2 :])

    few = RoundedKeys(model.encoding, 2, "channel", before=True)
    cases = [(kind, case, {}) for kind in ("itself", "26 of 30 layers") for case in ways]
    target, rows = logits(*right), []
    for kind, case, how in (*cases, ("keys in 2 bits", "as trained", {"encoding": few})):
        how = {"left_out": LEFT_OUT} if kind == "26 of 30 layers" else how
        drafted = target if (kind, case) == ("itself", "as trained") else logits(*ways[case], **how)
        shares = acceptance(target, drafted).double().unflatten(0, (-1, ROUND)).mean(dim=0)
        agree = (target.argmax(dim=-1) == drafted.argmax(dim=-1)).double().mean().item()
        rows.append(
            {"draft": kind, "case": case, "accepted": round(shares.mean().item(), 6)}
            | {"places": [round(share, 4) for share in shares.tolist()], "agree": round(agree, 4)}
        )
    return rows
