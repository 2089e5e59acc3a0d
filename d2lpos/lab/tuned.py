"""What is trained on top of a trained model: heads that draft for it, and the model itself, tuned with YaRN or without.

The model is the character model of the pages that has RoPE: three layers, base 10,000, trained on 128 characters. A seed draws
first weights and batches; the model is always the same one. No pilot was run, and steps are as many as time allowed.

"draft-heads": a head reads what leaves the target's last layer at a token, and the token behind it, joins both, has one layer
of its own, and uses the target's output matrix, as EAGLE's (Li et al. 2024, arXiv 2401.15077) and DeepSeek-V3's for
multi-token prediction (arXiv 2412.19437, section 2.2). "EAGLE" learns the target's probabilities, "MTP" the text. One token
is drafted at a time, and accepted with probability Σ min(p, q), as in `drafts`, over the second half of 64 passages.

"yarn-served": copies are tuned on 128 characters or on 512, with YaRN by 4 or without, and read both ways, at 128 and at 512
characters of chapters that nobody was tuned on; the loss is that of the last 128, in nats.

Decided before the runs, with 95 % intervals of Student over five seeds. Each sentence falls by what stands behind it; 1 to 4 are
said of "EAGLE" and of "MTP":
1. "the base is the head's own": a head accepts less at a base, or with a stretch, that it was not trained with, in each of four
   pairs. Refuted unless the interval of each change lies below 0.
2. "which base is no matter": trained and run at 1,000,000 a head is as good as trained and run at 10,000. Refuted unless the
   interval of the difference lies within ± 0.01.
3. "the count may begin anywhere": all positions one later change no seed's rate by 0.001.
4. "queries one later": all queries one place further from all keys cost. Refuted unless the interval lies below 0.
5. "read as tuned": whoever is read the other way loses, tuned on either length and read at it. Refuted unless each of the four
   intervals of the change lies above 0.
6. "both ways serve": tuned on 512 and read so at 512, with YaRN and without differ by less than 0.05 nats. Refuted unless the
   interval lies within ± 0.05.
7. "tuned short, read long": tuned on 128 without YaRN, the model reads 512 characters better with YaRN than without.
   Refuted unless the interval of the change lies below 0.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..encoding import Encoding
from ..rotary.rope import RoPE
from ..rotary.scaling import yarn
from ..transformer.attention import Attention
from ..transformer.model import Block, Transformer
from .drafts import acceptance
from .models import place
from .probe import Probe, loaded
from .real import Apart
from .tasks import TASKS
from .training import UNSEEN

__all__ = ["Head", "draft_heads", "hidden_states", "tuned", "yarn_served"]

LANGUAGE, TESTED, SHORT, LARGE = TASKS["flowing language"], 64, 128, 1_000_000.0
PICTURE = 24  # places by which a count of a picture's 32 tokens runs ahead of M-RoPE's 8


class Head(nn.Module):
    """A draft's head for a target: what leaves the target's last layer (batch, n, dim) and the tokens behind, (batch, n)."""

    def __init__(self, target: Transformer, encoding: Encoding):
        super().__init__()
        dim, heads = target.tokens.embedding_dim, target.blocks[0].attention.heads
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.join = nn.Linear(2 * dim, dim)
        self.block = Block(dim, Attention(dim, heads, encoding, causal=True))

    def forward(self, target: Transformer, hidden: Tensor, following: Tensor, positions: Tensor) -> Tensor:
        parts = self.norms[0](target.tokens(following)), self.norms[1](hidden)
        return target.head(self.norms[2](self.block(self.join(torch.cat(parts, dim=-1)), positions)))


@torch.no_grad()
def hidden_states(target: Transformer, tokens: Tensor) -> Tensor:
    """What leaves the last layer of a target that reads tokens (batch, n) from left to right; (batch, n, dim)."""
    here = torch.arange(tokens.shape[1])
    x, mask = target.encoding.embed(target.tokens(tokens), here), here <= here[:, None]
    for block in target.blocks:
        x = block(x, here, mask)
    return x


def fit(
    model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], rows: int, length: int, seed: int, steps: int, lr: float
) -> nn.Module:
    """Train a model on so many batches of a seed, at a rate that falls along a line."""
    draw, optimizer = torch.Generator().manual_seed(seed), torch.optim.AdamW(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.02, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(*LANGUAGE.train(rows, length, draw)).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def trained(target: Transformer, encoding: Encoding, probe: Probe, steps: int) -> Head:
    """A head that was trained with an encoding, on batches of the probe's seed."""
    torch.manual_seed(probe.seed)
    head, here = Head(target, encoding), torch.arange(probe.length - 1)

    def loss(tokens: Tensor, targets: Tensor) -> Tensor:
        hidden, wanted = hidden_states(target, tokens), targets[:, 1:]
        if probe.part == "EAGLE":
            wanted = target.head(target.norm(hidden[:, 1:])).softmax(dim=-1).transpose(1, 2)
        return cross_entropy(head(target, hidden[:, :-1], tokens[:, 1:], here).transpose(1, 2), wanted)

    return fit(head, loss, 8, probe.length, probe.seed, steps, 5e-3)


def draft_heads(probe: Probe, device: str) -> list[dict]:
    """Rows of accepted shares; draft: the head of the probe's part; case: how it was trained, and how it runs."""
    target, steps = loaded(probe.model), 300 if probe.length > 32 else 2
    tokens, _ = LANGUAGE.tests["test"](TESTED, probe.length, torch.Generator().manual_seed(UNSEEN))
    hidden, dim = hidden_states(target, tokens), target.encoding.dim
    p, here = target.head(target.norm(hidden[:, 1:])), torch.arange(probe.length - 1)
    late, own = here >= len(here) // 2, RoPE(dim)
    stretched = RoPE(dim, scaling=partial(yarn, factor=4, length=probe.length))
    known = {"10,000": own, "1,000,000": RoPE(dim, LARGE), "YaRN": stretched}
    with torch.random.fork_rng(), torch.enable_grad():
        heads = {name: trained(target, encoding, probe, steps) for name, encoding in known.items()}
    pairs = [("10,000", name) for name in known] + [(name, name) for name in known if name != "10,000"]
    pairs += [(name, "10,000") for name in known if name != "10,000"]
    ways = {f"trained {name}, run {other}": (name, known[other], here) for name, other in pairs}
    ways |= {
        "other layout": ("10,000", RoPE(dim, layout="interleaved"), here),
        "no rotation": ("10,000", Encoding(), here),
        "all one later": ("10,000", own, here + 1),
        "queries one later": ("10,000", Apart(own, 1), here),
        "a picture's tokens counted": ("10,000", own, here + PICTURE * late),
    }
    rows = []
    for case, (name, encoding, places) in ways.items():
        heads[name].block.attention.encoding = encoding
        share = acceptance(p, heads[name](target, hidden[:, :-1], tokens[:, 1:], places))[:, late]
        rows.append({"draft": probe.part, "case": case, "accepted": round(share.double().mean().item(), 6)})
    return rows


def two_ways(model: Transformer) -> dict[str, Encoding]:
    dim = model.encoding.dim
    return {"without": RoPE(dim), "with": RoPE(dim, scaling=partial(yarn, factor=4, length=SHORT))}


def loss_of_last(model: Transformer, tokens: Tensor, targets: Tensor, last: int | None = None) -> Tensor:
    here = torch.arange(tokens.shape[1])
    logits = model(tokens, here, here <= here[:, None])[:, -(last or len(here)) :]
    return cross_entropy(logits.transpose(1, 2), targets[:, -logits.shape[1] :])


def tuned(model: Transformer, encoding: Encoding, length: int, seed: int, steps: int) -> Transformer:
    """A copy of a model, trained on with an encoding in rows of so many characters."""
    model = deepcopy(model).requires_grad_()
    place(model, [encoding] * len(model.blocks))
    return fit(model, partial(loss_of_last, model), max(1, 2048 // length), length, seed, steps, 1e-3)


def yarn_served(probe: Probe, device: str) -> list[dict]:
    """Rows of losses: case says how it was tuned, on how many characters, and read how it is read, `characters` at a time."""
    model, steps = loaded(probe.model), 100 if probe.length > SHORT else 2
    models, ways = {"not tuned": deepcopy(model)}, two_ways(model)
    with torch.enable_grad():
        for length in (SHORT, probe.length):
            for name, encoding in ways.items():
                models[f"{name}, on {length}"] = tuned(model, encoding, length, probe.seed, steps)
    rows, draw = [], torch.Generator().manual_seed(UNSEEN)
    tokens, targets = LANGUAGE.tests["test"](TESTED, probe.length, draw)
    for at in (SHORT, probe.length):
        for case, one in models.items():
            for read, encoding in ways.items():
                place(one, [encoding] * len(one.blocks))
                value = loss_of_last(one, tokens[:, -at:], targets[:, -at:], SHORT).item()
                rows.append({"case": case, "read": read, "characters": at, "loss": round(value, 6)})
    return rows
