"""Context shift: a cache that is full drops its older half, and what is left moves up; what SmolLM2 loses.

A passage is read 32 tokens at a time with room for 128. When the cache is full, 64 tokens are dropped, and the keys that
stay are turned back by 64 places, as llama.cpp does it, or by 1 place for each token that came, as a window that slides
would. The cases share one pass of the model, a row of the batch each, and differ in what is kept and how:

    positions count on       nothing turns; the first four tokens stay
    shifted                  turned keys, float32; the first four stay
    shifted, first four lost as many tokens stay, none of them the first
    … in bfloat16, float16   turned keys are rounded to so many bits whenever they are stored
    … one at a time          the same distance in steps of one place, each stored
    kept unturned            keys are stored before they turn, in bfloat16; positions alone change

"read anew" reads the tokens that are left from the beginning whenever some are dropped, which a shift is to save.

What is compared was fixed before the first run, over the tokens behind the first shift, three texts together:

1. "as good as reading anew": shifted loses less than 0.02 nats against it.
2. "the first tokens": to lose the first four costs more than 0.1 nats.
3. "where the count goes on": that positions count on changes less than 0.02 nats against shifted ones.
4. "once in bfloat16": turned in bfloat16, 64 places at a time, loses less than 0.02 nats.
5. "often in bfloat16": turned in bfloat16, one place at a time, loses less than 0.02 nats.

A sentence holds or fails where Student's 95 % interval over passages lies on one side of its limit. Else it is open.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..encoding import Encoding
from ..pretrained.smollm2 import SmolLM2, losses
from ..transformer.attention import attend
from .probe import Probe, loaded, tokens
from .summary import by_case, decisions

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["decided", "shift", "stored"]

CAPACITY, STEP, FIRST = 128, 32, 4
HALF = CAPACITY // 2
F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
# How keys are stored, whether the first four stay, and by how many places at a time they turn; 0: not at all.
CASES = {
    "positions count on": (F32, True, 0),
    "shifted": (F32, True, HALF),
    "shifted, first four lost": (F32, False, HALF),
    "shifted one at a time": (F32, True, 1),
    "shifted in float16, one at a time": (F16, True, 1),
    "shifted in bfloat16": (BF16, True, HALF),
    "shifted in bfloat16, one at a time": (BF16, True, 1),
}
UNTURNED = "kept unturned in bfloat16"
BAND, MUCH = 0.02, 0.1  # nats


def stored(x: Tensor, dtype: torch.dtype | Callable[[Tensor], Tensor]) -> Tensor:
    """x as it is after it has lain in memory in a dtype, or in what a function makes of it.

    >>> stored(torch.tensor([0.1]), torch.bfloat16)
    tensor([0.1001])
    """
    return dtype(x) if callable(dtype) else x.to(dtype).to(x.dtype)


@torch.no_grad()
def shifting(model: SmolLM2, text: Tensor, cases: dict[str, tuple] = CASES) -> dict[str, Tensor]:
    """Losses (n − ROOM,) of the tokens behind the first ROOM, by case; text is (1, n), n a multiple of HALF."""
    rope, names, n = model.encoding, [*cases, UNTURNED], text.shape[1]
    nothing, batch, last = Encoding(), len(names), len(names) - 1
    counts_on = torch.tensor([by == 0 for _, _, by in cases.values()] + [False], device=text.device)
    first_stays = [first for _, first, _ in cases.values()] + [True]
    device = text.device
    keys, values = ([None] * len(model.blocks) for _ in "kv")
    positions = torch.zeros(batch, 0, dtype=torch.int64, device=device)
    by_step, before = [], None

    def store(k: Tensor) -> Tensor:
        """Turned keys of all cases as they are stored; of the last one, keys before they turn."""
        dtypes = [dtype for dtype, _, _ in cases.values()] + [BF16]
        return torch.stack([stored(one, dtype) for one, dtype in zip(k, dtypes, strict=True)])

    def moved(k: Tensor) -> Tensor:
        """Stored keys behind the first four, turned back by HALF places, or so many times by one."""
        turned = []
        for one, (dtype, first, by) in zip(k, cases.values(), strict=False):
            fixed = FIRST if first else 0
            some = one[None, :, fixed:]
            for _ in range(HALF // by if by else 0):
                by_places = torch.full((some.shape[2],), -by, device=device)
                some = stored(rope.rotate_further(some, by_places), dtype)
            turned.append(torch.cat([one[:, :fixed], some[0]], dim=1))
        return torch.stack([*turned, k[last]])

    for start in range(0, n, STEP):
        if positions.shape[1] == CAPACITY:
            at = torch.arange(CAPACITY, device=device)
            left = [torch.cat([at[: FIRST * one], at[HALF + FIRST * one :]]) for one in first_stays]
            stays = torch.stack(left)
            some = stays[:, None, :, None].expand(-1, model.blocks[0].kv_heads, -1, rope.dim)
            keys = [moved(k.gather(2, some)) for k in keys]
            values = [v.gather(2, some) for v in values]
            there = positions.gather(1, stays)
            positions = torch.arange(HALF, device=device).repeat(batch, 1)
            positions[counts_on] = there[counts_on]
        here = positions[:, -1:] + 1 if positions.shape[1] else positions.new_zeros(batch, 1)
        here = here + torch.arange(STEP, device=device)
        positions = torch.cat([positions, here], dim=1)
        length = positions.shape[1]
        mask = torch.ones(STEP, length, dtype=torch.bool, device=device).tril(length - STEP)
        x = model.embed(text[:, start : start + STEP].expand(batch, -1))
        for layer, block in enumerate(model.blocks):
            q, k, v = block.projected(x)
            turned_q, turned_k = rope.rotate(q, k, here, here)
            new = store(torch.cat([turned_k[:last], k[last:]]))
            old = [] if keys[layer] is None else [keys[layer]], [] if values[layer] is None else [values[layer]]
            keys[layer], values[layer] = (torch.cat([*a, b], dim=2) for a, b in zip(old, (new, v), strict=True))
            _, own = rope.rotate(q[last:], keys[layer][last:], here[last:], positions[last:])
            y = attend(turned_q, torch.cat([keys[layer][:last], own]), values[layer], here, positions, nothing, mask)
            x = block.close(x, y)
        logits = model.logits(x).float()
        if start >= CAPACITY:
            ahead = torch.cat([before, logits[:, :-1]], dim=1).flatten(0, 1)
            wanted = text[:, start : start + STEP].expand(batch, -1).flatten()
            by_step.append(cross_entropy(ahead, wanted, reduction="none").unflatten(0, (batch, -1)))
        before = logits[:, -1:]
    return dict(zip(names, torch.cat(by_step, dim=1), strict=True))


def anew(model: SmolLM2, text: Tensor) -> dict[str, Tensor]:
    """As `shifting`, where what is left is read from the beginning: with the first four tokens of the text, or without."""
    parts = text[0].unfold(0, CAPACITY, HALF)[1:]  # the text behind what was dropped, and the next HALF tokens
    first = torch.cat([text[:, :FIRST].expand(len(parts), -1), parts[:, FIRST:]], dim=1)
    return {
        case: losses(model, rows)[:, HALF - 1 :].flatten()
        for case, rows in (("read anew", first), ("read anew, first four lost", parts))
    }


def shift(probe: Probe, device: str) -> list[dict]:
    """A row for each way to go on when the cache is full: the loss behind the first shift, and behind each one."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    return as_rows(anew(model, text) | shifting(model, text))


def as_rows(losses_by_case: dict[str, Tensor]) -> list[dict]:
    """Losses by case as rows of a record: all in one mean, and a mean behind each shift."""
    return [
        {
            "case": case,
            "loss": round(each.mean().item(), 6),
            "shifts": [round(part.mean().item(), 4) for part in each.split(HALF)],
        }
        for case, each in losses_by_case.items()
    ]


def decided(records: Iterable[dict]) -> "DataFrame":
    """What is decided of the five sentences of this module: holds, fails or open, with the interval.

    mean, low, high: what must be below 0 for a sentence to hold, over all passages of all texts.

    >>> from d2lpos.lab import run_probe
    >>> probe = Probe("real-shift", "", "stand-in", "rule", length=192)
    >>> decided([run_probe(probe)])["verdict"].unique().tolist()
    ['open']
    """
    losses_by_case = by_case(records)
    shifted = losses_by_case["shifted"]
    table = decisions({
        "as good as reading anew": shifted - losses_by_case["read anew"] - BAND,
        "the first tokens": MUCH - (losses_by_case["shifted, first four lost"] - shifted),
        "where the count goes on": losses_by_case["positions count on"] - shifted,
        "once in bfloat16": losses_by_case["shifted in bfloat16"] - shifted - BAND,
        "often in bfloat16": losses_by_case["shifted in bfloat16, one at a time"] - shifted - BAND,
    })
    low, high = table.loc[2, ["low", "high"]]  # whose limit has two sides
    within = "holds" if max(-low, high) < BAND else "fails" if min(-low, high) < -BAND else "open"
    table.loc[2, "verdict"] = within
    return table
