"""Train a small classifier and test it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..threads import one_thread

Task = Callable[[int, int, torch.Generator], tuple[Tensor, Tensor]]


@one_thread()
def train(
    model: nn.Module,
    task: Task,
    length: int,
    steps: int = 200,
    size: int = 128,
    rate: float = 3e-3,
    seed: int = 0,
) -> nn.Module:
    """Fit `model` to `task` with Adam on `steps` fresh batches of `size` sequences, and return it.

    The model's outputs (size, length, classes) are averaged over the sequence before the loss.

    >>> from d2lpos import Sinusoidal, Transformer
    >>> model = Transformer(4, outputs=2, encoding=Sinusoidal(64))
    >>> model = train(model, order, length=4)
    >>> accuracy(model, order, length=4) > 0.95
    True
    """
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device
    positions = torch.arange(length, device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        tokens, labels = (t.to(device) for t in task(size, length, generator))
        loss = cross_entropy(model(tokens, positions).mean(dim=1), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@one_thread()
@torch.no_grad()
def accuracy(model: nn.Module, task: Task, length: int, size: int = 2048, seed: int = 1) -> float:
    """The share of `size` fresh sequences that `model` labels rightly, in 0 … 1.

    >>> from d2lpos import Transformer
    >>> blind = Transformer(vocabulary=4, outputs=2)
    >>> round(accuracy(blind, order, length=4), 1)  # chance
    0.5
    """
    device = next(model.parameters()).device
    tokens, labels = task(size, length, torch.Generator().manual_seed(seed))
    logits = model(tokens.to(device), torch.arange(length, device=device)).mean(dim=1)
    return (logits.argmax(dim=-1).cpu() == labels).float().mean().item()
