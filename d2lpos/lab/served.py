"""YaRN on or off: a trained model is tuned with it or without, and read with it or without.

The model is the character model of the pages that has RoPE, trained on 128 characters. Copies are tuned for `STEPS` batches
of the same novel, on 128 characters or on 512, with YaRN by a factor of 4 or without. All are read both ways, at 128 and at 512
characters of chapters that nobody was tuned on; the loss is that of the last 128, in nats. A seed draws the batches.

Decided before the runs, with 95 % intervals of Student over five seeds. Each sentence falls by what stands behind it:
1. "read as tuned": whoever is read the other way loses, tuned on either length and read at it. Refuted unless each of the four
   intervals of the change lies above 0.
2. "both ways serve": tuned on 512 and read so at 512, with YaRN and without differ by less than 0.05 nats. Refuted unless the
   interval lies within ± 0.05.
3. "tuned short, read long": tuned on 128 without YaRN, the model reads 512 characters better with YaRN than without.
   Refuted unless the interval of the change lies below 0.
"""

from copy import deepcopy
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..encoding import Encoding
from ..rotary.rope import RoPE
from ..rotary.scaling import yarn
from ..transformer.model import Transformer
from .models import place
from .probe import Probe, loaded
from .tasks import TASKS
from .training import UNSEEN

__all__ = ["served", "tuned"]

STEPS, CHARACTERS, TESTED, SHORT = 100, 2048, 64, 128


def ways(model: Transformer) -> dict[str, Encoding]:
    """The two ways to read: as the model was trained, and stretched."""
    dim = model.encoding.dim
    return {"without": RoPE(dim), "with": RoPE(dim, scaling=partial(yarn, factor=4, length=SHORT))}


def loss(model: Transformer, tokens: Tensor, targets: Tensor, last: int) -> Tensor:
    here = torch.arange(tokens.shape[1])
    logits = model(tokens, here, here <= here[:, None])[:, -last:]
    return cross_entropy(logits.transpose(1, 2), targets[:, -last:])


def tuned(model: Transformer, encoding: Encoding, length: int, seed: int, steps: int = STEPS) -> Transformer:
    """A copy of a model, trained on with an encoding in rows of so many characters."""
    model, draw = deepcopy(model).requires_grad_(), torch.Generator().manual_seed(seed)
    place(model, [encoding] * len(model.blocks))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.02, steps)
    for _ in range(steps):
        tokens, targets = TASKS["flowing language"].train(max(1, CHARACTERS // length), length, draw)
        optimizer.zero_grad()
        loss(model, tokens, targets, length).backward()
        optimizer.step()
        schedule.step()
    return model


def served(probe: Probe, device: str) -> list[dict]:
    """Rows of losses: case says how it was tuned, on how many characters, read says how, and length at how many."""
    model, steps = loaded(probe.model), STEPS if probe.length > SHORT else 2
    models = {"not tuned": model}
    with torch.enable_grad():
        for length in (SHORT, probe.length):
            for name, encoding in ways(model).items():
                models[f"{name}, on {length}"] = tuned(model, encoding, length, probe.seed, steps)
    rows = []
    for at in (SHORT, probe.length):
        draw = torch.Generator().manual_seed(UNSEEN)
        tokens, targets = TASKS["flowing language"].tests["test"](TESTED, probe.length, draw)
        for case, one in models.items():
            before = one.encoding
            for read, encoding in ways(model).items():
                place(one, [encoding] * len(one.blocks))
                value = round(loss(one, tokens[:, -at:], targets[:, -at:], SHORT).item(), 6)
                rows.append({"case": case, "read": read, "characters": at, "loss": value})
            place(one, [before] * len(one.blocks))
    return rows
