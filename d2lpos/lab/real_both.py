"""What chapters 9, 9A and 10 say of SmolLM2, asked of it and of Gemma 3 270M on the same passages.

Decided before the runs, which compute in bfloat16: five passages of either novel and of code, 256 tokens of each. `two_models.RULES` has the sentences, and
behind each a number for a passage that is above 0 where it holds. Rises are over the model as trained. Intervals are
Student's 95 % over the passages of a text. In a text a sentence holds where the interval lies above 0, fails where it
lies below, and is open otherwise; of a model it holds, or fails, where it does so in each of three texts. One passage of
*Persuasion* and of *Pride and Prejudice* had been read by Gemma before the rules were written, off the record. Two
sentences were added when three passages had been read. SmolLM2 was asked last. Until then its verdicts came from its own
studies, of 256 tokens or 512, and six sentences had none. The sentence on 2,048 tokens was written after that, before
either model had read so many.

Pairs are compared by their share of a head: of 32 pairs of SmolLM2 a band has 4, of Gemma's 128 it has 16. The
four heads that are followed give the previous token the most on the first passage of *Persuasion*.
"""

import string
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..encoding import Encoding
from ..pretrained.smollm2 import SmolLM2
from ..rotary.rope import RoPE
from ..rotary.scaling import ntk, yarn
from ..transformer.attention import attention_weights
from ..transformer.masks import causal_mask
from .probe import Probe, encoder, loaded, tokens
from .real import HEADS, Apart, held, mean, paced, remade
from .real_inside import AlikeKeys, masks, rounded, share, weighed

__all__ = ["both"]

COMMON = 32_768  # tokens of the best rank, among which a loss is: all 262,144 would take most of the time
MADE = {
    "(a) the first hidden": "token 1",
    "(d) token 128 sees itself": "token 128",
}  # a mask, and who may be a sink
LONG = "long arrows of keys in slow pairs"
SET_UP = {10_000: 512, 100_000: 8192, 1_000_000: 32_768}  # tokens that layers of this base see


def changed(
    model: SmolLM2, how: Callable[[RoPE], Encoding], layers: Iterable[int] | None = None
) -> list[Encoding]:
    """The encoding of each layer, changed in all layers or in some."""
    some = range(len(model.blocks)) if layers is None else set(layers)
    return [how(own) if layer in some else own for layer, own in enumerate(model.own)]


def both(probe: Probe, device: str) -> list[dict]:
    """The rows of a part: "turns", "layers", "looks", "more" or "longer"."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    return list(PARTS[probe.part](model, text, probe))


def turns(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Losses with positions moved, and with pairs changed in all layers."""
    pairs, n = model.encoding.dim // 2, text.shape[1]
    here, band = torch.arange(n, device=text.device), max(1, pairs // 8)
    by_case = partial(changed, model)

    def still(some: Iterable[int], layers: Iterable[int] | None = None) -> dict[str, Any]:
        return {"encoding": by_case(partial(held, pairs=[*some]), layers)}

    ways: dict[str, dict] = {"as trained": {}, "no rotation": {"encoding": Encoding()}}
    ways["shifted by 100,000"] = {"positions": here + 100_000}
    ways["other layout"] = {"encoding": by_case(partial(remade, layout="interleaved"))}
    ways |= {
        f"{name} pace": {"encoding": by_case(partial(paced, pace=pace))}
        for name, pace in (("half", 0.5), ("double", 2.0))
    }
    ways["queries one ahead"] = {"encoding": by_case(partial(Apart, ahead=1))}
    ways["gap of 7,000"] = {"positions": here + 7000 * (here >= n // 2)}
    ways |= {f"first four {by:,} away": {"positions": here + by * (here > 3)} for by in (11_000, 14_000)}
    ways |= {f"band {at}": still(range(at * band, (at + 1) * band)) for at in range(pairs // band)}
    ways |= {f"pair {at}": still([at]) for at in sorted({0, 1, 2, 3, pairs // 4, 9 * pairs // 16})}
    ways["all but pair 0"] = still(range(1, pairs))
    for name, first in (("fast", 0), ("slow", 22 * pairs // 32)):
        some = range(first, first + band)
        if first:  # the fast ones are band 0
            ways[f"{name}: still"] = still(some)
        for case, start in (("alike but the first", 1), ("alike", 0)):
            ways[f"{name}: {case}"] = {"encoding": by_case(partial(AlikeKeys, pairs=some, start=start))}
    ways["ntk by 2"] = {"encoding": by_case(lambda own: remade(own, scaling=partial(ntk, factor=2)))}
    ways["yarn by 2"] = {
        "encoding": by_case(
            lambda own: remade(own, scaling=partial(yarn, factor=2, length=SET_UP.get(own.base, n)))
        )
    }
    ways |= {f"window, {first} first": {"window": (n // 2, first)} for first in (0, 4)}
    if len({own.base for own in model.own}) > 1:
        far = {at for at, own in enumerate(model.own) if own.base == 1_000_000}
        near = set(range(len(model.blocks))) - far
        every = range(pairs)
        ways |= {"windows still": still(every, near), "whole-text layers still": still(every, far)}
        ways["band 4 in windows"] = still(range(4 * band, 5 * band), near)
        fine = max(1, pairs // 32)
        for at in range(4 * band, 5 * band, fine):
            ways[f"part {at} to {at + fine - 1} of band 4"] = still(range(at, at + fine))
        ways |= {
            f"base {base:,} for all": {"encoding": by_case(partial(remade, base=base))}
            for base in (10_000, 1_000_000)
        }
    loss = few(model, text, probe)
    for case, how in ways.items():
        yield {"case": case, "loss": loss(model.read(model.embed(text), **how))}


def few(model: SmolLM2, text: Tensor, probe: Probe) -> Callable[[Tensor], float]:
    """The mean loss of a text from what leaves the last layer, among COMMON tokens, those of ASCII and the text's own."""
    ascii_tokens = text.new_tensor(encoder(probe.model)(string.printable))
    common = torch.arange(min(COMMON, len(model.tokens.weight)), device=text.device)
    among = torch.cat([common, ascii_tokens, text[0]]).unique()
    head, wanted = model.tokens.weight[among], torch.searchsorted(among, text[0, 1:])

    def loss(x: Tensor) -> float:
        return mean(cross_entropy((model.norm(x[0, :-1]) @ head.T).float(), wanted, reduction="none"))

    return loss


def layers(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Losses with the rotation of one layer off."""
    x = model.embed(text)
    loss = few(model, text, probe)
    yield {"case": "as trained", "loss": loss(model.read(x))}
    for layer in range(len(model.blocks)):
        still = changed(model, lambda own: Encoding(), [layer])
        yield {"case": f"layer {layer}", "loss": loss(model.read(x, encoding=still, first=layer))}
        x = model.read(x, first=layer, last=layer + 1)


def looks(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Where heads look, 0 to 4 tokens back and at the first; what the first token gets; where the long arrows of keys are."""
    here, rows = torch.arange(text.shape[1], device=text.device), []
    causal, long = causal_mask(here, here), []

    def watch(layer: int, q: Tensor, k: Tensor) -> None:
        own = model.own[layer]
        arrows = k[0].float().unflatten(-1, (2, -1)).norm(dim=-2).mean(dim=1)
        speeds = own.base ** -(arrows.argmax(dim=1) * 2 / own.dim)
        long.extend((speeds * len(here) < 2 * torch.pi).tolist())
        for head in [head for at, head in HEADS[probe.model] if at == layer]:
            row: dict[str, Any] = {"case": f"layer {layer}, head {head}"}
            for name, encoding in {
                "as trained": own, "pair 0 still": held(own, [0]), "half": paced(own, 0.5), "double": paced(own, 2.0)
            }.items():  # fmt: skip
                one = [q[:, [head]], k[:, [head * k.shape[1] // q.shape[1]]]]
                w = attention_weights(*one, here, here, encoding, causal)[0, 0].float()
                back = [rounded(w.diagonal(-n)[5 - n :].mean()) for n in range(5)]
                row[name] = [*back, rounded(w[5:, 0].mean())]
            rows.append(row)

    model.read(model.embed(text), watch=watch)
    yield from rows
    yield {"case": LONG, "share": sum(long) / len(long)}
    n = len(here)
    other = torch.cat([text[:, [3 * n // 4]], text[:, 1:]], dim=1)
    yield {"case": "the first token", "share": share(model, text, here)}
    yield {"case": "from 1,000,000 on", "share": share(model, text, here + 1_000_000)}
    yield {"case": "all positions equal", "share": share(model, text, 0 * here)}
    yield {"case": "another word first", "share": share(model, other, here)}
    for name, at in zip(MADE, (1, n // 2), strict=True):
        late = slice(5 * n // 8, None)
        weights, _ = weighed(model, text, here, masks(n, text.device)[name], late)
        yield {"case": name, "share": rounded(weights[0, at])}


def more(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Losses with a few pairs in the middle still or alike, and what the first token's word gets in the middle of a text."""
    pairs, loss, x = model.encoding.dim // 2, few(model, text, probe), model.embed(text)
    some = range(9 * pairs // 16, 9 * pairs // 16 + max(1, pairs // 32))
    yield {"case": "as trained", "loss": loss(model.read(x))}
    for name, how in (("still", held), ("alike but the first", partial(AlikeKeys, start=1))):
        few_changed = changed(model, partial(how, pairs=some))
        yield {"case": f"middle: {name}", "loss": loss(model.read(x, encoding=few_changed))}
    n, ids = text.shape[1], text.clone()
    here, ids[:, 0], ids[:, n // 4] = torch.arange(n, device=text.device), text[:, 3 * n // 4], text[:, 0]
    weights, _ = weighed(model, ids, here, causal_mask(here, here), slice(5 * n // 8, None))
    yield {"case": "first word in the middle", "share": rounded(weights[0, n // 4])}


def longer(model: SmolLM2, text: Tensor, probe: Probe) -> Iterator[dict]:
    """Losses on a longer text, with each eighth of the slower half still in all layers."""
    pairs, loss, x = model.encoding.dim // 2, few(model, text, probe), model.embed(text)
    band = max(1, pairs // 8)
    yield {"case": "as trained", "loss": loss(model.read(x))}
    for at in range(pairs // 2 // band, pairs // band):
        held_band = changed(model, partial(held, pairs=range(at * band, (at + 1) * band)))
        yield {"case": f"longer: band {at}", "loss": loss(model.read(x, encoding=held_band))}


PARTS: dict[str, Callable[[SmolLM2, Tensor, Probe], Iterator[dict]]] = {
    "turns": turns,
    "layers": layers,
    "looks": looks,
    "more": more,
    "longer": longer,
}
