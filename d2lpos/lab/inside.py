"""What a trained model does inside: where it holds the positions, and how much weight its first token takes."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from ..input.learned import Learned
from ..transformer.attention import Attention, attention_weights
from ..transformer.masks import causal_mask
from ..transformer.model import Transformer
from .tasks import Task
from .training import UNSEEN

__all__ = ["first_token", "learned_table", "probes", "similarity", "states"]


def states(model: Transformer, tokens: Tensor) -> list[Tensor]:
    """The vectors (batch, sequence, dim) that enter each block, and those that leave the last.

    >>> model = Transformer(vocabulary=6, outputs=2, layers=3)
    >>> len(states(model, torch.tensor([[0, 1, 2, 3, 0, 4]])))
    4
    """
    vectors = []
    stages = (*model.blocks, model.norm)
    hooks = [stage.register_forward_pre_hook(lambda _, inputs: vectors.append(inputs[0])) for stage in stages]
    try:
        model(tokens, torch.arange(tokens.shape[1], device=tokens.device))
    finally:
        for hook in hooks:
            hook.remove()
    return vectors


@torch.no_grad()
def probes(model: Transformer, task: Task, length: int, texts: int = 256, seed: int = 0) -> list[dict]:
    """How well a linear map tells the position from the vectors of each layer, in texts it was not fitted to.

    Layer 0 is what enters the first block. The map is least squares, from a vector to its position 0 …
    length − 1; error is the mean distance from the truth in positions, r2 the share of the variance that is
    explained. A guess of the middle has error length / 4 and r2 0.

    >>> from d2lpos import Sinusoidal
    >>> model = Transformer(vocabulary=77, outputs=75, encoding=Sinusoidal(64))
    >>> from d2lpos.lab import TASKS
    >>> probes(model, TASKS["language"], length=64)[0]["error"] < 16
    True
    """
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(UNSEEN + seed)
    tokens, _ = task.tests["test"](2 * texts, length, generator)
    positions = torch.arange(length, dtype=torch.float64).repeat(texts)
    rows = []
    for layer, vectors in enumerate(states(model, tokens.to(device))):
        x = vectors.double().cpu().flatten(0, 1)
        x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
        fitted, unseen = x.chunk(2)
        predicted = unseen @ torch.linalg.lstsq(fitted, positions[:, None], driver="gelsd").solution[:, 0]
        wrong = predicted - positions
        r2 = 1 - wrong.square().mean() / positions.var(correction=0)
        rows.append({"layer": layer, "error": wrong.abs().mean().item(), "r2": r2.item()})
    return rows


@torch.no_grad()
def first_token(model: Transformer, task: Task, length: int, texts: int = 256, seed: int = 0) -> list[float]:
    """The weight that queries of the second half of a text give to its first token, the mean over heads, layer by layer.

    If all keys got the same, it would be ln 2 / (length / 2) or so.

    >>> from d2lpos.lab import TASKS
    >>> model = Transformer(vocabulary=18, outputs=17, causal=True)
    >>> [0 < share < 0.2 for share in first_token(model, TASKS["echo"], length=16)]
    [True, True]
    """
    device, shares = next(model.parameters()).device, []
    tokens, _ = task.tests["test"](texts, length, torch.Generator().manual_seed(UNSEEN + seed))
    here = torch.arange(length, device=device)

    def look(layer: Attention, inputs: tuple) -> None:
        q, k, _ = layer.projected(inputs[0])
        mask = causal_mask(here, here)
        weights = attention_weights(q, k, here, here, layer.encoding, mask, layer.encoding.hidden_features(inputs[0]), layer.sinks)
        shares.append(weights[:, :, length // 2 :, 0].mean().item())

    hooks = [block.attention.register_forward_pre_hook(look) for block in model.blocks]
    try:
        model(tokens.to(device), here)
    finally:
        for hook in hooks:
            hook.remove()
    return shares


def learned_table(model: Transformer) -> Tensor | None:
    """A copy of the learned table (length, dim) of a model, float64 on the CPU; None where there is none."""
    tables = [m.table for m in model.modules() if isinstance(m, Learned)]
    return tables[0].detach().double().cpu().clone() if tables else None


def similarity(vectors: Tensor) -> list[list[float]]:
    """The cosine similarity of all pairs of vectors (n, dim), to three decimals.

    >>> similarity(torch.tensor([[1.0, 0.0], [3.0, 4.0]]))
    [[1.0, 0.6], [0.6, 1.0]]
    """
    unit = normalize(vectors, dim=-1)
    return [[round(value, 3) for value in row] for row in (unit @ unit.T).tolist()]
