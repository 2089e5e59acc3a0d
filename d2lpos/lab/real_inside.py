"""What chapters 9 and 9A show of SmolLM2 on one passage, asked of fifteen: parts together, sinks, bases, paces.

Decided before the runs, which compute in bfloat16. Five passages of either novel and of code; intervals are Student's 95 %
over the five of a text.
Of these sentences each falls by what stands behind it, in any of the three texts:
1. Pairs do not add up: refuted unless pairs 1 to 31 still at once, less the sum of each alone (`real-parts`), has an
   interval above 0.
2. Base 10,000, of the first stage of training, is no cheaper than 1,000,000: refuted if the second less the first has an
   interval above 0.
3. Fast pairs live on place, slow ones on content: refuted unless still − alike but for the first has an interval above 0 in
   pairs 0 to 3, and one below 0 in pairs 22 to 25.
4. In pairs 22 to 25 the first token's key matters more than that: refuted unless alike, the first too, less alike but for the
   first has an interval above what the latter rises by.
5. The sink may stand 11,000 tokens away, and not 14,000: refuted unless the rise lies within ± 0.1 at 11,000, and above 0 at
   14,000.
6. A token that sees itself alone becomes a sink: refuted if one of 14 gets less than 0.1 in any passage. Without such a token
   there is none: refuted if one of tokens 0 to 155 gets more than 0.1 under masks (b) and (c) in any passage.
7. Nearly any first word will do: refuted unless 11 of 12 get at least 0.8 of the median word's share in each passage. A lone
   space gets less: refuted unless its share over the median has an interval below 1.
8. The lead of the first token is in the slow pairs: refuted unless pairs 23 to 31 have nine tenths of it or more in layers 12
   to 29, and pairs 22 to 25 half of it or more in layers 3 to 9, in each passage.
9. At half pace heads look two back, and at double pace none does: refuted unless each of four heads gives the token two back
   its largest weight of five at half pace, and none gives it 0.1 at double pace, in each passage.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ..encoding import Encoding
from ..pretrained.smollm2 import SmolLM2, losses
from ..rotary.rope import RoPE
from ..transformer.attention import attention_weights
from ..transformer.masks import causal_mask
from ..transformer.programs import repeat_kv
from .probe import Probe, encoder, loaded, tokens
from .real import HEADS, cases, held, mean, paced, rope

__all__ = ["AlikeKeys", "inside"]

BASES = (10_000, 30_000, 300_000, 1_000_000)
APART = (8000, 11_000, 14_000, 16_000)
WORDS = (" the", " and", " castle", " blue", ".", "\n", "7", "42", "48213", "3.14", " ", " she")
ALONE = range(10, 150, 10)  # of 256 tokens
LATE = 156  # the queries from here on are asked


class AlikeKeys(Encoding):
    """RoPE in halves, with one arrow in some pairs for all keys from `start` on: their mean without the first token.

    >>> k = AlikeKeys(RoPE(4), [0], start=1).rotate(*torch.randn(2, 1, 1, 5, 4), *torch.zeros(2, 5))[1]
    >>> bool((k[0, 0, 1:, 0] == k[0, 0, 1, 0]).all())
    True
    """

    def __init__(self, own: RoPE, pairs: range | list[int], start: int):
        super().__init__()
        self.own, self.start = own, start
        self.some = [*pairs, *(pair + own.dim // 2 for pair in pairs)]

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        k = k.clone()
        k[:, :, self.start :, self.some] = k[:, :, 1:, self.some].mean(dim=2, keepdim=True)
        return self.own.rotate(q, k, q_positions, k_positions)


def inside(probe: Probe, device: str) -> list[dict]:
    """The rows of a part: "together", "alone", "sinks" or "paces"."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    return list(PARTS[probe.part](model, text, probe))


def together(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Losses with many pairs still at once, and with all tokens but the first four moved away from these."""
    pairs, here = model.encoding.dim // 2, torch.arange(text.shape[1], device=text.device)
    ways: dict[str, dict] = {"as trained": {}}
    for some in (range(1, pairs), range(max(2, pairs // 4), pairs)):
        ways[f"pairs {some[0]} to {some[-1]} still"] = {"encoding": held(model.encoding, some)}
    ways |= {f"the first four {gap:,} away": {"positions": here + gap * (here > 3)} for gap in APART}
    yield from cases(model, text, ways)


def alone(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Losses at another base, with four pairs still or with alike keys, and with another pace in the layers of four heads."""
    own, layers, pairs = model.encoding, len(model.blocks), model.encoding.dim // 2
    encodings: dict[str, Encoding | list[Encoding]] = {"as trained": own}
    encodings |= {f"base {base:,}": rope(model, base=base) for base in BASES}
    for first in (0, 10 * pairs // 32, 22 * pairs // 32):
        some = range(first, first + max(1, pairs // 8))
        name = f"pairs {some[0]} to {some[-1]}"
        encodings[f"{name} still"] = held(own, some)
        encodings[f"{name} alike but for the first"] = AlikeKeys(own, some, start=1)
        encodings[f"{name} alike, the first too"] = AlikeKeys(own, some, start=0)
    at = {layer for layer, _ in HEADS[probe.model]}
    for name, pace in (("half", 0.5), ("double", 2)):
        other = paced(own, pace)
        encodings[f"{name} pace in {len(at)} layers"] = [other if n in at else own for n in range(layers)]
        encodings[f"{name} pace"] = other
    encodings["no rotation"] = Encoding()
    yield from cases(model, text, {case: {"encoding": one} for case, one in encodings.items()})


def weighed(
    model: SmolLM2, text: Tensor, positions: Tensor, mask: Tensor, queries: slice
) -> tuple[Tensor, Tensor]:
    """The mean weight of each key (batch, key), over layers, heads and queries, and what leaves the last layer."""
    means = []

    def watch(layer: int, q: Tensor, k: Tensor) -> None:
        one = attention_weights(
            q[:, :, queries], k, positions[queries], positions, model.own[layer], mask[queries]
        )
        means.append(one.float().mean(dim=(1, 2)))

    x = model.read(model.embed(text), positions=positions, mask=mask, watch=watch)
    return torch.stack(means).mean(dim=0), x


def masks(n: int, device: torch.device) -> dict[str, Tensor]:
    """Who sees whom, by name; numbers of tokens are those of a text of 256."""
    here = torch.arange(n, device=device)
    usual, first, second, sees_second, itself, sees_nine = (causal_mask(here, here) for _ in range(6))
    first[1:, 0] = second[2:, 0] = False
    sees_second[0, 1] = sees_nine[0, :10] = True
    itself[n // 2, : n // 2] = False
    return {
        "as it is": usual,
        "(a) the first hidden": first,
        "(b) but from the second": second,
        "(c) the first sees the second": sees_second,
        "(d) token 128 sees itself": itself,
        "(e) the first sees the next nine": sees_nine,
    }


def sinks(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Shares of all weight that tokens get: the first, and others under other masks and behind other first words."""
    n = text.shape[1]
    here = torch.arange(n, device=text.device)
    causal = causal_mask(here, here)
    late = LATE * n // 256
    queries = slice(late, None)

    other = torch.cat([text[:, [3 * n // 4]], text[:, 1:]], dim=1)
    yield {"case": "as it is: the first", "share": share(model, text, here)}
    yield {"case": "from 1,000,000 on", "share": share(model, text, here + 1_000_000)}
    yield {"case": "another word first", "share": share(model, other, here)}
    yield {"case": "all positions equal", "share": share(model, text, 0 * here)}
    for name, mask in masks(n, text.device).items():
        weights, x = weighed(model, text, here, mask, queries)
        token_shares = {f"token {at}": rounded(weights[0, place]) for at, place in ((0, 0), (1, 1), (128, n // 2))}
        weights[0, [0, 1, n // 2]] = 0
        loss = mean(losses(model, text[:, late - 1 :], x[:, late - 1 :]))
        yield {"case": name, "shares": token_shares | {"any other": rounded(weights[0, :late].max())}, "loss": loss}
    for number in ALONE:
        mask, at = causal.clone(), number * n // 256
        mask[at, :at] = False
        yield {
            "case": f"token {number} sees itself alone",
            "share": rounded(weighed(model, text, here, mask, queries)[0][0, at]),
        }
    yield from words(model, text[:, : n // 2], encoder(probe.model))
    yield from leads(model, text)


def share(model: SmolLM2, ids: Tensor, positions: Tensor) -> float:
    """The share of all weight that the first token gets from the others."""
    here = torch.arange(ids.shape[1], device=ids.device)
    return rounded(weighed(model, ids, positions, causal_mask(here, here), slice(1, None))[0][0, 0])


def words(model: SmolLM2, text: Tensor, encode: Callable[[str], list[int]]) -> Iterator[dict]:
    """The share of the first token, with each of WORDS put first."""
    here = torch.arange(text.shape[1], device=text.device)
    ids = text.repeat(len(WORDS), 1)
    ids[:, 0] = torch.tensor([encode(word)[0] for word in WORDS], device=text.device)
    by_word, _ = weighed(model, ids, here, causal_mask(here, here), slice(1, None))
    for word, weights in zip(WORDS, by_word, strict=True):
        yield {"case": f"{word!r} first", "share": rounded(weights[0])}


def leads(model: SmolLM2, text: Tensor) -> Iterator[dict]:
    """By how much the first token's score is above the mean of the others', pair by pair, in late layers and in early ones."""
    own, here, by_layer = model.encoding, torch.arange(text.shape[1], device=text.device), []
    past = causal_mask(here, here).float()
    past[:, 0] = 0  # of the others

    def watch(layer: int, q: Tensor, k: Tensor) -> None:
        q, k = own.rotate(q, k, here, here)
        q, k = (x[0].float().unflatten(-1, (2, -1)) for x in (q, repeat_kv(k, q)))
        scores = torch.einsum("hqcp,hkcp->hpqk", q, k) / own.dim**0.5
        others = (scores * past).sum(dim=-1) / past.sum(dim=-1)
        by_layer.append((scores[..., 0] - others)[..., 1:].mean(dim=(0, 2)))

    model.read(model.embed(text), watch=watch)
    each, layers = torch.stack(by_layer), len(by_layer)
    late, early = each[2 * layers // 5 :], each[layers // 10 : max(1, layers // 3)]
    for case, some in (("late layers", late), ("early layers", early)):
        yield {"case": f"lead in {case}", "leads": [rounded(one) for one in some.mean(dim=0)]}


def paces(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Where heads that look one back look at another pace in their own layer: at 0 to 4 tokens back, and at the first."""
    here = torch.arange(text.shape[1], device=text.device)
    causal, rows = causal_mask(here, here), []

    def watch(layer: int, q: Tensor, k: Tensor) -> None:
        for head in [head for at, head in HEADS[probe.model] if at == layer]:
            for pace in (0.5, 1, 2):
                w = attention_weights(q, k, here, here, paced(model.encoding, pace), causal)[0, head].float()
                back = [rounded(w.diagonal(-n)[5 - n :].mean()) for n in range(5)]
                head_row = {"case": f"pace {pace:g}", "layer": layer, "head": head}
                rows.append(head_row | {"back": back, "first": rounded(w[5:, 0].mean())})

    model.read(model.embed(text), watch=watch)
    yield from rows


def rounded(x: Tensor) -> float:
    return round(x.item(), 4)


PARTS: dict[str, Callable[[SmolLM2, Tensor, Probe], Iterator[dict]]] = {
    "together": together,
    "alone": alone,
    "sinks": sinks,
    "paces": paces,
}
