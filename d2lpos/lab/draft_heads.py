"""Heads that draft for a trained model, run at another base, stretch, table or place than they were trained at.

The target is the character model of the pages that has RoPE: three layers, base 10,000, trained on 128 characters. A head reads
what leaves the target's last layer at a token, and the token behind it, joins both, has one layer of its own, and uses the
target's output matrix. So EAGLE's head is made (Li et al. 2024, arXiv 2401.15077), and DeepSeek-V3's for multi-token
prediction (arXiv 2412.19437, section 2.2). "EAGLE" learns the target's probabilities, "MTP" the text. The target stays as it is.

A drafted token is accepted with probability Σ min(p, q), as in `drafts`, over the second half of 64 passages of 128
characters that nobody was trained on. One token is drafted at a time. A seed draws a head's first weights and its batches;
the target is always the same one.

Decided before the runs, with 95 % intervals of Student over five seeds, for "EAGLE" and for "MTP". No pilot was run,
and steps are as many as time allowed. Each sentence falls by what stands behind it:
1. "the base is the head's own": a head accepts less at a base, or with a stretch, that it was not trained with, in each of four
   pairs. Refuted unless the interval of each change lies below 0.
2. "which base is no matter": trained and run at 1,000,000 a head is as good as trained and run at 10,000. Refuted unless the
   interval of the difference lies within ± 0.01.
3. "the count may begin anywhere": all positions one later change no seed's rate by 0.001.
4. "queries one later": all queries one place further from all keys cost. Refuted unless the interval lies below 0.
"""

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
from .probe import Probe, loaded
from .real import Apart
from .tasks import TASKS
from .training import UNSEEN

__all__ = ["Head", "draft_heads", "hidden_states"]

STEPS, ROWS, TESTED = 300, 8, 64
PICTURE = 24  # places by which a count of a picture's 32 tokens runs ahead of M-RoPE's 8
LARGE = 1_000_000.0


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


def encodings(target: Transformer, length: int) -> dict[str, Encoding]:
    own = target.encoding
    return {
        "10,000": RoPE(own.dim),
        "1,000,000": RoPE(own.dim, LARGE),
        "YaRN": RoPE(own.dim, scaling=partial(yarn, factor=4, length=length)),
    }


def trained(target: Transformer, encoding: Encoding, probe: Probe, steps: int) -> Head:
    """A head that was trained with an encoding, on batches of the probe's seed."""
    torch.manual_seed(probe.seed)
    head, draw = Head(target, encoding), torch.Generator().manual_seed(probe.seed)
    optimizer = torch.optim.AdamW(head.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.02, steps)
    here = torch.arange(probe.length - 1)
    for _ in range(steps):
        tokens, targets = TASKS["flowing language"].train(ROWS, probe.length, draw)
        hidden = hidden_states(target, tokens)
        logits = head(target, hidden[:, :-1], tokens[:, 1:], here)
        wanted = targets[:, 1:]
        if probe.part == "EAGLE":
            with torch.no_grad():
                wanted = target.head(target.norm(hidden[:, 1:])).softmax(dim=-1).transpose(1, 2)
        optimizer.zero_grad()
        cross_entropy(logits.transpose(1, 2), wanted).backward()
        optimizer.step()
        schedule.step()
    return head.eval()


def draft_heads(probe: Probe, device: str) -> list[dict]:
    """Rows of accepted shares; draft: the head of the probe's part; case: how it was trained, and how it runs."""
    target, steps = loaded(probe.model), STEPS if probe.length > 32 else 2
    draw = torch.Generator().manual_seed(UNSEEN)
    tokens, _ = TASKS["flowing language"].tests["test"](TESTED, probe.length, draw)
    hidden = hidden_states(target, tokens)
    p, here = target.head(target.norm(hidden[:, 1:])), torch.arange(probe.length - 1)
    late, known = here >= len(here) // 2, encodings(target, probe.length)
    own = known["10,000"]
    with torch.random.fork_rng(), torch.enable_grad():
        heads = {name: trained(target, encoding, probe, steps) for name, encoding in known.items()}
    pairs = [("10,000", name) for name in known] + [(name, name) for name in known if name != "10,000"]
    pairs += [(name, "10,000") for name in known if name != "10,000"]
    ways = {f"trained {name}, run {other}": (name, known[other], here) for name, other in pairs}
    ways |= {
        "other layout": ("10,000", RoPE(own.dim, layout="interleaved"), here),
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
