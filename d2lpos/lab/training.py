"""Train a small model and test it."""

from collections.abc import Callable
from numbers import Integral

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..positions.arguments import check_name, check_positive
from ..runtime.threads import one_thread
from .places import Places, counted
from .tasks import Sampler

__all__ = ["accuracy", "test", "train"]

PRECISIONS = ("float32", "bfloat16")

# Added to the seed of a test, which then draws other rows than training; PyTorch counts 32 bits of a seed.
UNSEEN = 2**31


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
    places: Places = counted,
) -> nn.Module:
    """Fit `model` to `sampler` on `steps` fresh batches of `size` sequences, and return the model.

    The optimizer is AdamW. Its learning rate rises to `rate` over the first twentieth of the steps, and then falls to 0
    along a straight line. With `shortest`, each batch draws its length from shortest … length. The precision "bfloat16"
    means autocast. watch(step, loss) is called after each step. places(tokens, generator) returns the positions of a
    batch, as in `d2lpos.lab.places`; by default positions are counted along the row. Raises ValueError for another
    precision, sizes that are not positive, a `shortest` above length, and a seed that is negative or takes more than
    31 bits.

    >>> from d2lpos import Sinusoidal, Transformer
    >>> from d2lpos.lab import order
    >>> model = Transformer(4, outputs=2, encoding=Sinusoidal(64))
    >>> accuracy(train(model, order, length=4), order, length=4) > 0.95
    True
    """
    check_name("precision", precision, PRECISIONS)
    check_positive(length=length, steps=steps, size=size)
    check_shortest(shortest, length)
    check_seed(seed)
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
        tokens, targets = sampler(size, now, generator)
        positions = places(tokens, generator).to(device)
        tokens, targets = tokens.to(device), targets.to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            outputs = model(tokens, positions)
        loss = cross_entropy(*asked(outputs.float(), targets))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if watch is not None:
            watch(step, loss.item())
    return model.eval()


def check_seed(seed: int) -> None:
    """Raise a ValueError for a seed that is no integer from 0 up, or that tests draw with."""
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be 0 or a positive integer; got {seed!r}")
    if seed >= UNSEEN:
        raise ValueError(
            f"seed must be below {UNSEEN}, because PyTorch counts 32 bits and tests take the other half; got {seed}"
        )


def check_shortest(shortest: int | None, length: int) -> None:
    """Raise a TypeError or ValueError where shortest is given and is no positive integer, or above length."""
    if shortest is not None:
        check_positive(shortest=shortest)
        if shortest > length:
            raise ValueError(f"shortest must be at most length, {length}; got {shortest}")


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
    rows: int = 1024,
    last: int | None = None,
    within: int | None = None,
    seed: int = 0,
    places: Places = counted,
    whole: bool = False,
) -> dict[str, float | None]:
    """Loss in nats and accuracy in 0 … 1 of what is asked in `rows` sequences; the same ones for each model.

    loss_last and accuracy_last count the last `last` tokens only, all of them by default; they are None where
    a sequence has one label. With `within`, rows of that many tokens are drawn and the last `length` of them
    are read: then each length is asked for the same last tokens, and differs in what stands before them. With
    `whole`, accuracy is the share of sequences in which all that is asked is right; the others count tokens
    still. places is as for `train`.
    """
    check_seed(seed)
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(UNSEEN + seed)
    within, last = within or length, min(last or length, length)
    late = torch.arange(length, device=device) >= length - last
    losses, rights, lates, wholes = [], [], [], []
    for part in zip(
        *(t.split(max(1, 8192 // length)) for t in sampler(rows, within, generator)), strict=True
    ):
        tokens, targets = (t[:, -length:] if t.dim() == 2 else t for t in part)
        positions = places(tokens, generator).to(device)
        targets = targets.to(device)
        outputs, wanted = asked(model(tokens.to(device), positions).float(), targets)
        losses.append(cross_entropy(outputs, wanted, reduction="none"))
        rights.append(outputs.argmax(dim=-1) == wanted)
        wholes.append(all_right(rights[-1], targets))
        if targets.dim() == 2:
            lates.append(late.expand(len(targets), -1)[targets >= 0])
    loss, right = torch.cat(losses).double(), torch.cat(rights).double()
    asked_late = torch.cat(lates) if lates else torch.zeros_like(right).bool()
    return {
        "loss": loss.mean().item(),
        "accuracy": (torch.cat(wholes).double() if whole else right).mean().item(),
        "loss_last": loss[asked_late].mean().item() if asked_late.any() else None,
        "accuracy_last": right[asked_late].mean().item() if asked_late.any() else None,
    }


def all_right(right: Tensor, targets: Tensor) -> Tensor:
    """Whether all that a row asks is right, (rows,); right, (n,), tells of each answer that targets ask for.

    >>> targets = torch.tensor([[-100, 7, 9], [-100, -100, 2]])
    >>> all_right(torch.tensor([True, False, True]), targets)
    tensor([False,  True])
    """
    wrong = torch.zeros(targets.shape, dtype=torch.bool, device=targets.device)
    wrong[targets >= 0] = ~right
    return ~wrong.flatten(1).any(dim=1) if targets.dim() == 2 else right


def accuracy(model: nn.Module, sampler: Sampler, length: int, size: int = 2048, seed: int = 0) -> float:
    """The share of answers that `model` gets right in `size` new sequences, from 0 to 1.

    The model's mode is not changed. After `train` a model is in evaluation mode, but a new model is in training mode.

    >>> from d2lpos import Transformer
    >>> from d2lpos.lab import order
    >>> blind = Transformer(vocabulary=4, outputs=2)
    >>> round(accuracy(blind, order, length=4), 1)  # chance
    0.5
    """
    return test(model, sampler, length, size, seed=seed)["accuracy"]
