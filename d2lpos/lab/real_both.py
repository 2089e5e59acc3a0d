"""What chapters 9, 9A and 10 say of SmolLM2, asked of Gemma 3 270M on passages of 256 tokens.

Decided before the runs, which compute in bfloat16: five passages of either novel and of code. `RULES` has the sentences, and
behind each a number for a passage that is above 0 where it holds. Rises are over the model as trained. Intervals are
Student's 95 % over the passages of a text. In a text a sentence holds where the interval lies above 0, fails where it
lies below, and is open otherwise; of a model it holds, or fails, where it does so in each of three texts. One passage of
*Persuasion* and of *Pride and Prejudice* had been read by Gemma before the rules were written, off the record. Two
sentences were added when three passages had been read. SmolLM2 is not asked again: `SAID` names what its studies have
on record, of 256 tokens or 512.

Pairs are compared by their share of a head: of 32 pairs of SmolLM2 a band has 4, of Gemma's 128 it has 16. The
four heads that are followed give the previous token the most on the first passage of *Persuasion*.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..encoding import Encoding
from ..pretrained.smollm2 import SmolLM2
from ..rotary.rope import RoPE
from ..rotary.scaling import freeze_pairs, ntk, yarn
from ..transformer.attention import attention_weights
from ..transformer.masks import causal_mask
from .probe import Probe, encoder, loaded, tokens
from .real import FOLLOWED, Apart, mean, remade
from .real_inside import AlikeKeys, masks, rounded, weighed
from .summary import interval

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["RULES", "both", "judged"]

NAMES = {"smollm2": "SmolLM2", "gemma3": "Gemma 3", "stand-in": "stand-in"}
HEADS = {"smollm2": FOLLOWED, "gemma3": ((2, 3), (4, 1), (10, 1), (8, 2)), "stand-in": ((0, 0), (1, 2))}
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


def held(own: RoPE, pairs: Iterable[int]) -> RoPE:
    return remade(own, scaling=partial(freeze_pairs, pairs=[*pairs]))


def paced(own: RoPE, pace: float) -> RoPE:
    return remade(own, scaling=lambda omega: (pace * omega, 1.0))


def both(probe: Probe, device: str) -> list[dict]:
    """The rows of a part: "turns", "layers", "looks" or "more"."""
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
    yield {"case": "the first token", "share": first(model, text, here)}
    yield {"case": "from 1,000,000 on", "share": first(model, text, here + 1_000_000)}
    yield {"case": "all positions equal", "share": first(model, text, 0 * here)}
    yield {"case": "another word first", "share": first(model, other, here)}
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


def first(model: SmolLM2, ids: Tensor, positions: Tensor) -> float:
    """The share of all weight that the first token gets from the others."""
    here = torch.arange(ids.shape[1], device=ids.device)
    return rounded(weighed(model, ids, positions, causal_mask(here, here), slice(1, None))[0][0, 0])


PARTS: dict[str, Callable[[SmolLM2, Tensor, Probe], Iterator[dict]]] = {
    "turns": turns,
    "layers": layers,
    "looks": looks,
    "more": more,
}


class Passage:
    """What a model has been asked on a passage: by the name of a case the rise of the loss, or a share of weight."""

    def __init__(self, rows: Iterable[dict[str, Any]]):
        self.heads, self.known, usual = [], {}, 0.0
        for row in rows:
            usual = row["loss"] if row["case"] == "as trained" else usual
            if "half" in row:
                self.heads.append(row)
            else:
                self.known[row["case"]] = row["share"] if "share" in row else row["loss"] - usual

        if "band 0" in self.known:
            self.known.setdefault("fast: still", self.known["band 0"])
        if self.heads and "pair 0 still" in self.heads[0]:
            ratios = [head["pair 0 still"][1] / head["as trained"][1] for head in self.heads]
            self.known["left without pair 0"] = max(ratios)

    def __call__(self, case: str) -> float:
        return self.known[case]

    def each(self, kind: str) -> list[float]:
        """Those of "band", "layer" or "pair" and a number, in order; raises KeyError where there is none."""
        numbers = sorted(int(case.split()[1]) for case in self.known if re.fullmatch(rf"{kind} \d+", case))
        return [self.known[f"{kind} {at}"] for at in numbers or [-1]]


def early(r: Passage) -> list[float]:
    """The layers of the first quarter."""
    layers = r.each("layer")
    return layers[: max(1, len(layers) // 4)]


RULES: dict[str, Callable[["Passage"], float]] = {
    # chapter 9
    "Only the offset counts": lambda r: 0.02 - abs(r("shifted by 100,000")),
    "The wrong layout costs as much as no rotation, within a quarter": lambda r: (
        0.25 * r("no rotation") - abs(r("other layout") - r("no rotation"))
    ),
    "Double pace costs less than half the pace": lambda r: r("half pace") - r("double pace"),
    "Queries one ahead cost more than any other way to move positions": lambda r: (
        r("queries one ahead") - max(map(r, ("no rotation", "half pace", "double pace", "gap of 7,000")))
    ),
    "A gap of 7,000 in the middle costs 0.1 nats or more": lambda r: r("gap of 7,000") - 0.1,
    "Pair 0 costs four times as much as any of five others": lambda r: (
        r("pair 0") - 4 * max(r.each("pair")[1:])
    ),
    "The fastest eighth of the pairs costs more than any other eighth": lambda r: (
        r.each("band")[0] - max(r.each("band")[1:])
    ),
    "Each eighth of the slower half can stand still for 0.1 nats": lambda r: 0.1 - max(r.each("band")[-4:]),
    "No layer costs a quarter of what all of them cost": lambda r: (
        0.25 * r("no rotation") - max(r.each("layer"))
    ),
    "The dearest layer is in the first quarter": lambda r: (
        max(early(r)) - max(r.each("layer")[len(early(r)) :])
    ),
    "Without pair 0 heads that look one back lose half of it": lambda r: 0.5 - r("left without pair 0"),
    "Half of what the first of these heads loses falls on the first token": lambda r: (
        r.heads[0]["pair 0 still"][5]
        - r.heads[0]["as trained"][5]
        - 0.5 * (r.heads[0]["as trained"][1] - r.heads[0]["pair 0 still"][1])
    ),
    "The first token gets a quarter of all weight": lambda r: r("the first token") - 0.25,
    "Its share does not depend on its position, within 0.05": lambda r: (
        0.05
        - max(abs(r(name) - r("the first token")) for name in ("from 1,000,000 on", "all positions equal"))
    ),
    "Another first token keeps 0.8 of the share": lambda r: (
        r("another word first") - 0.8 * r("the first token")
    ),
    "The first four may stand 11,000 tokens away for 0.1 nats": lambda r: 0.1 - r("first four 11,000 away"),
    "The first four 14,000 tokens away cost 0.5 nats or more": lambda r: r("first four 14,000 away") - 0.5,
    "A window without the first tokens costs 0.1 nats or more": lambda r: r("window, 0 first") - 0.1,
    "Four first tokens mend half of what a window costs": lambda r: (
        0.5 * r("window, 0 first") - r("window, 4 first")
    ),
    # chapter 9A
    "Eighths of the pairs together cost more than one by one": lambda r: (
        r("no rotation") - sum(r.each("band"))
    ),
    "Layers together cost more than one by one": lambda r: r("no rotation") - sum(r.each("layer")),
    "Pair 0 alone is worth less than a quarter of all rotation": lambda r: (
        r("all but pair 0") - 0.75 * r("no rotation")
    ),
    "Half of the longest arrows of keys are in pairs that go around less than once": lambda r: r(LONG) - 0.5,
    "In the fastest eighth place is worth more than content": lambda r: (
        r("fast: still") - r("fast: alike but the first")
    ),
    "In pairs from 22/32 on content is worth more than place": lambda r: (
        r("slow: alike but the first") - r("slow: still")
    ),
    "There the first token's key is worth more than the rest": lambda r: (
        r("slow: alike") - 2 * r("slow: alike but the first")
    ),
    "At half pace each of four heads looks two back": lambda r: min(
        head["half"][2] - max(head["half"][n] for n in (0, 1, 3, 4)) for head in r.heads
    ),
    "At double pace none gives the token two back 0.1": lambda r: (
        0.1 - max(head["double"][2] for head in r.heads)
    ),
    "The second token takes over where the first is hidden": lambda r: r("(a) the first hidden") - 0.1,
    "A token that sees itself alone becomes a sink": lambda r: r("(d) token 128 sees itself") - 0.1,
    # added when Gemma had read three passages
    "The first token's word is a sink in the middle of a text, too": lambda r: (
        r("first word in the middle") - 0.1
    ),
    "In a few pairs from 18/32 on place is worth more than content": lambda r: (
        r("middle: still") - r("middle: alike but the first")
    ),
    # chapter 10
    "NTK and YaRN by 2 cost a short text 0.05 nats at most": lambda r: (
        0.05 - max(r("ntk by 2"), r("yarn by 2"))
    ),
    "Interpolation by 2 costs a short text 0.2 nats or more": lambda r: r("half pace") - 0.2,
}
"""The sentences, and of each a number for a `Passage` that is above 0 where it holds."""


SAID = {  # of SmolLM2 on record: a study, its case, and what that is here
    "real-layout": {"nothing moved": "other layout"},
    "real-positions-bfloat16": {
        "shifted by 100,000": "shifted by 100,000",
        "queries moved by +1": "queries one ahead",
        "gap of 7,000 in the middle": "gap of 7,000",
    },
    "real-parts": {"no rotation": "no rotation"}
    | {f"pair {at} held": f"pair {at}" for at in (0, 1, 2, 3, 8, 18)},
    "real-bands": {f"pairs {4 * at} to {4 * at + 3} held": f"band {at}" for at in range(8)},
    "real-heads": {},
    "real-layers": {f"layer {at}": f"layer {at}" for at in range(30)},
    "real-inside": {
        "half pace": "half pace",
        "double pace": "double pace",
        "pairs 1 to 31 still": "all but pair 0",
        "the first four 11,000 away": "first four 11,000 away",
        "the first four 14,000 away": "first four 14,000 away",
        "pairs 0 to 3 still": "fast: still",
        "pairs 0 to 3 alike but for the first": "fast: alike but the first",
        "pairs 22 to 25 still": "slow: still",
        "pairs 22 to 25 alike but for the first": "slow: alike but the first",
        "pairs 22 to 25 alike, the first too": "slow: alike",
        "as it is: the first": "the first token",
        **{name: name for name in ("from 1,000,000 on", "all positions equal", "another word first", *MADE)},
    },
}


def of_smollm2() -> dict[tuple[str, str, int], Passage]:
    """What the published studies of SmolLM2 say of each passage, its first 512 or 256 tokens."""
    from .observed import rows
    from .record import records

    said: dict[tuple[str, str, int], list[dict]] = {}
    for study, names in SAID.items():
        for record in records(study):
            run = record["run"]
            mine = said.setdefault(("smollm2", run["text"], run["seed"]), [])
            usual = record["rows"][0].get("loss")
            for row in (
                rows([record]).to_dict("records") if run["length"] <= 512 and run["text"] != "rule" else ()
            ):
                if (case := row["case"]) in MADE:
                    mine.append({"case": case, "share": row["shares"][MADE[case]]})
                elif case in names and "share" in row:
                    mine.append({"case": names[case], "share": row["share"]})
                elif case in names:
                    mine.append({"case": names[case], "loss": row["loss"] - usual})
            if study == "real-heads" and run["text"] != "rule":
                heads = {(row["layer"], row["head"]): row for row in record["rows"]}
                left = max(heads[one]["still"][0] / heads[one]["previous"] for one in FOLLOWED)
                longest = [max(range(32), key=row["k"].__getitem__) for row in record["rows"]]
                slow = sum(pair >= 11 for pair in longest) / len(
                    longest
                )  # less than once around in 256 tokens
                mine += [{"case": "left without pair 0", "share": left}, {"case": LONG, "share": slow}]
            if run["part"] == "paces":
                paces = [[*row["back"], row["first"]] for row in record["rows"]]
                triples = zip(paces[::3], paces[1::3], paces[2::3], strict=True)
                mine += [{"case": "", "half": a, "as trained": b, "double": c} for a, b, c in triples]
    return {where: Passage(some) for where, some in said.items() if some}


def margins(records: Iterable[dict[str, Any]]) -> "DataFrame":
    """The number of each rule, a column, where it was asked; a row for each passage, by model, text and seed."""
    from pandas import DataFrame, MultiIndex

    asked: dict[tuple, list[dict]] = {}
    for record in records:
        where = tuple(record["run"][name] for name in ("model", "text", "seed"))
        asked[where] = asked.get(where, []) + record["rows"]
    passages = of_smollm2() | {where: Passage(rows) for where, rows in asked.items()}

    def number(rule: Callable[[Passage], float], passage: Passage) -> float:
        try:
            return rule(passage)
        except (KeyError, IndexError, ValueError):  # a part of it was not asked
            return float("nan")

    table = [[number(rule, one) for rule in RULES.values()] for one in passages.values()]
    return DataFrame(table, MultiIndex.from_tuples(passages, names=["model", "text", "seed"]), list(RULES))


def verdict(holds: int, fails: int, texts: int) -> str:
    """In how many texts a sentence holds and fails, in a word where all agree.

    >>> verdict(3, 0, 3), verdict(2, 0, 3), verdict(1, 1, 3)
    ('holds', 'holds in 2 of 3', 'holds in 1, fails in 1 of 3')
    """
    if not texts:
        return "not asked"
    counts = {"holds": holds, "fails": fails}
    some = {word: count for word, count in counts.items() if count}
    if texts in some.values():
        return next(iter(some))
    return (
        ", ".join(f"{word} in {count}" for word, count in some.items()) + f" of {texts}" if some else "open"
    )


def judged(records: Iterable[dict[str, Any]]) -> "DataFrame":
    """A row for each sentence: of each model "holds", "fails", or in how many texts it does the one and the other.

    In a text a sentence holds where the interval over passages lies above 0, and fails where it lies below.
    """
    from pandas import DataFrame

    table: dict[str, list[str]] = {}
    for model, numbers in margins(records).groupby("model", sort=False):
        for sentence in RULES:
            of_texts = numbers[sentence].dropna().droplevel("model").groupby("text")
            ends = [interval(part.droplevel("text"))[1:3] for _, part in of_texts]
            holds, fails = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
            table.setdefault(NAMES[model], []).append(verdict(holds, fails, len(ends)))
    return DataFrame(table, index=list(RULES)).rename_axis("Sentence")
