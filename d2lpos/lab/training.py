"""Train a small model and test it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..threads import one_thread
from .tasks import Sampler

__all__ = ["accuracy", "test", "train"]


@one_thread()
def train(
    model: nn.Module,
    sampler: Sampler,
    length: int,
    steps: int = 200,
    size: int = 128,
    rate: float = 3e-3,
    seed: int = 0,
    shortest: int | None = None,
    precision: str = "float32",
    watch: Callable[[int, float], None] | None = None,
) -> nn.Module:
    """Fit `model` to `sampler` on `steps` fresh batches of `size` sequences, and return it.

    AdamW; the learning rate rises to `rate` over the first twentieth of the steps, then falls to 0 along a
    line. With `shortest`, each batch draws its length from shortest … length. precision "bfloat16" is
    autocast. watch(step, loss) is called after each step.

    >>> from d2lpos import Sinusoidal, Transformer
    >>> from d2lpos.lab import order
    >>> model = Transformer(4, outputs=2, encoding=Sinusoidal(64))
    >>> accuracy(train(model, order, length=4), order, length=4) > 0.95
    True
    """
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    rise = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (steps - step) / (steps - rise + 1))
    )
    model.train()
    for step in range(1, steps + 1):
        now = length
        if shortest is not None:
            now = int(torch.randint(shortest, length + 1, (), generator=generator))
        tokens, targets = (t.to(device) for t in sampler(size, now, generator))
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            outputs = model(tokens, torch.arange(now, device=device))
        loss = cross_entropy(*asked(outputs.float(), targets))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if watch is not None:
            watch(step, loss.item())
    return model.eval()


def asked(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs (n, classes) and targets (n,) where something is asked: of a sequence, or of some tokens."""
    if targets.dim() == 1:
        return outputs.mean(dim=1), targets
    return outputs[targets >= 0], targets[targets >= 0]


@one_thread()
@torch.no_grad()
def test(
    model: nn.Module,
    sampler: Sampler,
    length: int,
    tokens: int = 32_768,
    past: int | None = None,
    seed: int = 1,
) -> dict[str, float | None]:
    """Loss in nats and accuracy in 0 … 1 on about `tokens` tokens; the same ones for each model.

    loss_past and accuracy_past count only what is asked at position `past` or later, and are None where
    nothing is.
    """
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    positions = torch.arange(length, device=device)
    losses, rights, lates = [], [], []
    rows = max(1, tokens // length)
    for size in torch.full((rows,), 1).split(max(1, 8192 // length)):
        x, targets = (t.to(device) for t in sampler(len(size), length, generator))
        outputs, wanted = asked(model(x, positions).float(), targets)
        losses.append(cross_entropy(outputs, wanted, reduction="none"))
        rights.append(outputs.argmax(dim=-1) == wanted)
        where = (
            positions.expand(len(x), -1)[targets >= 0] if targets.dim() == 2 else torch.zeros_like(targets)
        )
        lates.append(where >= (length if past is None else past))
    loss, right, late = torch.cat(losses).double(), torch.cat(rights).double(), torch.cat(lates)
    return {
        "loss": loss.mean().item(),
        "accuracy": right.mean().item(),
        "loss_past": loss[late].mean().item() if late.any() else None,
        "accuracy_past": right[late].mean().item() if late.any() else None,
    }


def accuracy(model: nn.Module, sampler: Sampler, length: int, size: int = 2048, seed: int = 1) -> float:
    """The share of what is asked in `size` fresh sequences that `model` answers rightly, in 0 … 1.

    >>> from d2lpos import Transformer
    >>> from d2lpos.lab import order
    >>> blind = Transformer(vocabulary=4, outputs=2)
    >>> round(accuracy(blind, order, length=4), 1)  # chance
    0.5
    """
    return test(model, sampler, length, tokens=size * length, seed=seed)["accuracy"]
