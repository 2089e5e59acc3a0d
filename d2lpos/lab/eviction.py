"""Keys are dropped by what has looked at them: what SmolLM2 loses, with positions as they were or counted in the cache.

A prompt of `probe.length` tokens has four numbers hidden in it. Its keys must fit into a cache of `CAPACITY`, for each layer:

    window and 4 first  the first four tokens and the last ones (StreamingLLM, Xiao et al. 2023, arXiv 2309.17453)
    H2O                 half of the capacity for the last tokens, half for those with the largest sum of all weights that
                        they got, in each head of keys (Zhang et al. 2023, arXiv 2306.14048)
    TOVA                those that the last query weighs most, as a mean over heads (Oren et al. 2024, arXiv 2401.06104)
    SnapKV              the last `STEP` tokens, and those with the largest sum of weights from them, smoothed over five
                        neighbors, in each head of keys (Li et al. 2024, arXiv 2404.14469)

The first three read the prompt `STEP` tokens at a time and drop keys behind each piece; TOVA's authors drop one behind
each token. SnapKV reads the whole prompt first and drops keys once. Then the passage goes on, or one of four questions
for the numbers comes, and nothing more is dropped. With positions "kept" a key stays where its token stood, and new tokens
count on from the length of the prompt. "Counted" keys are turned when they are read, by their place in the cache, and
new tokens count on from there. "Asked before": SnapKV reads the question, but for its last token, before it drops keys,
and the question's queries choose.

Decided before the runs, and a pilot on a passage of its own had shown that the code runs. Passages are the unit, and 95 %
intervals are Student's over five passages of each text. What the passage loses is against a cache that drops nothing. Of
these sentences each falls by what stands behind it:
1. "kept or counted": for each policy the choice matters by less than 0.02 nats. Refuted unless the interval of the
   difference lies within ± 0.02, in each text.
2. "a score beats the window": each of H2O, TOVA and SnapKV, positions kept, loses less than the window. Refuted unless
   the interval of the difference lies below 0, in each text.
3. "numbers are lost": no policy that drops keys before the question says half as many digits as the cache that drops
   nothing. Refuted where one does, over the five passages of a text.
4. "the question chooses": SnapKV asked before, positions kept, says at least nine in ten of the digits that the cache
   that drops nothing says. Refuted where it does not, over the five passages of a text.
"""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import avg_pool1d, cross_entropy

from ..input.sinusoids import angles, frequencies
from ..pretrained.smollm2 import SmolLM2
from ..rotary.rope import rotate
from ..transformer.programs import repeat_kv
from .probe import Probe, encoder, loaded, tokens
from .real import hidden

__all__ = ["POLICIES", "Cache", "evict", "eviction", "worth"]

CAPACITY, STEP, FIRST = 256, 32, 4
AFTER = 97  # tokens with which the passage goes on; the first is not asked for
NEEDLES = 4
ONLINE = ("window and 4 first", "H2O", "TOVA")
POLICIES = (*ONLINE, "SnapKV")
"""The ways to choose what stays.

>>> POLICIES
('window and 4 first', 'H2O', 'TOVA', 'SnapKV')
"""


def worth(policy: str, weights: Tensor, total: Tensor, capacity: int) -> Tensor:
    """What each key is worth to a policy, (head of keys, n); infinite where it must stay.

    weights (head of keys, m, n) are those of the last m queries, summed over the heads that share keys, and total
    (head of keys, n) the sum of all queries' weights so far.

    >>> worth("window and 4 first", torch.zeros(1, 1, 6), torch.zeros(1, 6), 6).tolist()
    [[inf, inf, inf, inf, 4.0, 5.0]]
    """
    n = total.shape[1]
    index, stays = torch.arange(n, device=total.device), torch.inf
    if policy == "window and 4 first":
        return index.float().masked_fill(index < FIRST, stays).expand_as(total)
    if policy == "TOVA":
        return weights[:, -1].mean(dim=0).expand_as(total)
    if policy == "H2O":
        return total.masked_fill(index >= n - capacity // 2, stays)
    smooth = avg_pool1d(weights[:, -STEP:].sum(dim=1), 5, stride=1, padding=2, count_include_pad=False)
    return smooth.masked_fill(index >= n - STEP, stays)


class Cache:
    """Keys before they turn, values, and the places of their tokens, of each layer, for a batch of cases.

    counted (batch,) is True where keys and new tokens stand at their places in the cache. `weights` are the last
    `STEP` queries' and `total` all queries' sums, as `worth` takes them, with the batch before.
    """

    def __init__(self, model: SmolLM2, counted: Tensor) -> None:
        self.model, self.counted, self.length = model, counted, 0
        size = len(counted), model.blocks[0].kv_heads, 0
        no_keys, nothing = counted.new_zeros(*size, model.encoding.dim, dtype=torch.float32), torch.zeros(size)
        self.layers = [(no_keys, no_keys, nothing.long(), nothing)] * len(model.blocks)
        self.weights: list[Tensor] = []

    def read(self, text: Tensor) -> Tensor:
        """What leaves the last layer for further tokens (m,), each seeing all keys before it: (batch, m, dim)."""
        model, own, m = self.model, self.model.encoding, len(text)
        omega = frequencies(own.dim, own.base)
        x, new = model.embed(text.expand(len(self.counted), -1)), torch.arange(self.length, self.length + m)
        self.length, self.weights = self.length + m, []
        for layer, block in enumerate(model.blocks):
            q, k, v = block.projected(x)
            keys, values, places, total = self.layers[layer]
            keys, values = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
            places = torch.cat([places, new.expand(*k.shape[:3])], dim=2)
            index = torch.arange(keys.shape[2])
            turns = angles(torch.where(self.counted[:, None, None], index, places), omega)
            turned, mask = rotate(keys, turns, own.layout), index <= index[-m:, None]
            scores = rotate(q, turns[:, :1, -m:], own.layout) @ repeat_kv(turned, q).mT / own.dim**0.5
            weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
            x = block.close(x, weights @ repeat_kv(values, q))
            of_keys = weights.unflatten(1, (k.shape[1], -1)).sum(dim=2)
            total = torch.cat([total, torch.zeros(k.shape[:3])], dim=2) + of_keys.sum(dim=2)
            self.layers[layer] = keys, values, places, total
            self.weights.append(of_keys[:, :, -STEP:])
        return x

    def repeated(self, counted: Tensor) -> "Cache":
        """This cache of one case for each of several cases; layers are shared, since reading makes new ones."""
        other = Cache(self.model, counted)
        other.length, many = self.length, len(counted)
        other.layers = [tuple(part.expand(many, *part.shape[1:]) for part in layer) for layer in self.layers]
        other.weights = [part.expand(many, *part.shape[1:]) for part in self.weights]
        return other


def evict(cache: Cache, policies: tuple[str, ...], capacity: int) -> None:
    """Leave so many keys in each layer: those that the policy of each case holds worth most, in the order of the text."""
    for layer, (parts, weights) in enumerate(zip(cache.layers, cache.weights, strict=True)):
        total = parts[-1]
        each = [worth(name, *of, capacity) for name, *of in zip(policies, weights, total, strict=True)]
        stays = torch.stack(each).topk(min(capacity, total.shape[2]), dim=2).indices.sort(dim=2).values
        wide = stays[..., None].expand(-1, -1, -1, parts[0].shape[3])
        cache.layers[layer] = (*(part.gather(2, wide) for part in parts[:2]), *(part.gather(2, stays) for part in parts[2:]))


@torch.no_grad()
def eviction(probe: Probe, device: str) -> list[dict]:
    """A row for each policy and each way to give positions: the loss of what follows, and the digits that are said.

    right, of: digits; digits: those said of each number, in the order of the text. stays: the share of each number's
    keys that were left, over layers and heads, and first: that of the first token's.
    """
    with torch.device(device):
        model, (prompt, asked) = loaded(probe.model, probe.dtype, device), hidden(probe, NEEDLES)
        prompt = torch.tensor(prompt)
        end = len(encoder(probe.model)(".\n"))
        hay = probe.length - sum(len(question + answer) + end for _, question, answer in asked)
        after = tokens(replace(probe, length=hay + AFTER), device)[0, hay:]
        whole = Cache(model, torch.tensor([False]))
        whole.read(prompt)
        both = torch.tensor([False, True])
        once, online = whole.repeated(both), Cache(model, both.repeat(len(ONLINE)))
        evict(once, ("SnapKV",) * 2, CAPACITY)
        each = tuple(name for name in ONLINE for _ in both)
        for piece in prompt.split(STEP):
            online.read(piece)
            evict(online, each, CAPACITY)
        rows = answers(whole, ["nothing evicted"], after, asked)
        named = [[f"{name}, {way}" for name in some for way in ("kept", "counted")] for some in (ONLINE, POLICIES[3:])]
        rows += answers(online, named[0], after, asked) + answers(once, named[1], after, asked)
        return rows + asked_before(whole, asked, both)


def answers(cache: Cache, cases: list[str], after: Tensor, asked: list[tuple[int, list[int], list[int]]]) -> list[dict]:
    """Rows of a cache's cases, which is as it was when each branch has been read."""
    before, length, model = cache.layers, cache.length, cache.model

    def logits(branch: Tensor, last: int) -> Tensor:
        cache.layers, cache.length = list(before), length
        return model.logits(cache.read(branch)[:, -last - 1 : -1]).float()

    ahead = logits(after, AFTER - 1)
    rows = [
        {"case": case, "loss": round(cross_entropy(some, after[1:]).item(), 6), "digits": [], "stays": []}
        for case, some in zip(cases, ahead, strict=True)
    ]
    for place, question, answer in asked:
        wanted = torch.tensor(answer)
        right = (logits(torch.tensor(question + answer), len(answer)).argmax(dim=-1) == wanted).sum(dim=1)
        start = place + len(question)
        share = left(before, range(start, start + len(answer)))
        for row, digits, stays in zip(rows, right.tolist(), share, strict=True):
            row["digits"].append(digits)
            row["stays"].append(stays)
    of = sum(len(answer) for _, _, answer in asked)
    for row, first in zip(rows, left(before, range(1)), strict=True):
        row |= {"right": sum(row["digits"]), "of": of, "first": first}
    cache.layers, cache.length = before, length
    return rows


def asked_before(whole: Cache, asked: list[tuple[int, list[int], list[int]]], counted: Tensor) -> list[dict]:
    """Rows of SnapKV where each question but for its last token is read before keys are dropped; there is no loss."""
    by_question = []
    for _, question, answer in asked:
        cache = whole.repeated(counted)
        cache.read(torch.tensor(question[:-1]))
        evict(cache, ("SnapKV",) * len(counted), CAPACITY)
        x = cache.read(torch.tensor(question[-1:] + answer))[:, :-1]
        by_question.append((cache.model.logits(x).argmax(dim=-1) == torch.tensor(answer)).sum(dim=1).tolist())
    of = sum(len(answer) for _, _, answer in asked)
    return [
        {"case": f"SnapKV asked before, {way}", "loss": None, "digits": list(digits), "right": sum(digits), "of": of}
        for way, digits in zip(("kept", "counted"), zip(*by_question, strict=True), strict=True)
    ]


def left(layers: list[tuple[Tensor, ...]], tokens: range) -> list[float]:
    """The share of the keys of some tokens that a cache has, over layers and heads, for each case."""
    places = torch.stack([layer[2] for layer in layers], dim=1)
    share = ((places >= tokens.start) & (places < tokens.stop)).sum(dim=-1).double().mean(dim=(1, 2)) / len(tokens)
    return [round(one, 4) for one in share.tolist()]
