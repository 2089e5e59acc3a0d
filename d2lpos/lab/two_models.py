"""What is decided of the sentences of `real_both`, of each model."""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .real_both import LONG
from .summary import interval

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["RULES", "judged"]

NAMES = {"smollm2": "SmolLM2", "gemma3": "Gemma 3", "stand-in": "stand-in"}


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
    "Without pair 0, heads that look one back lose half of that weight": lambda r: 0.5 - r("left without pair 0"),
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
    "In the fastest eighth, place is worth more than content": lambda r: (
        r("fast: still") - r("fast: alike but the first")
    ),
    "In pairs from 22/32 on, content is worth more than place": lambda r: (
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
    # added when both models had read 256 tokens of all passages
    "An eighth of the slower half that 256 tokens can spare is worth 0.1 nats at 2,048": lambda r: (
        max(r(f"longer: band {at}") for at in range(4, 8) if r(f"band {at}") <= 0.1) - 0.1
    ),
    # added when Gemma had read three passages
    "The first token's word is a sink in the middle of a text, too": lambda r: (
        r("first word in the middle") - 0.1
    ),
    "In a few pairs from 18/32 on, place is worth more than content": lambda r: (
        r("middle: still") - r("middle: alike but the first")
    ),
    # chapter 10
    "NTK and YaRN by 2 cost a short text 0.05 nats at most": lambda r: (
        0.05 - max(r("ntk by 2"), r("yarn by 2"))
    ),
    "Interpolation by 2 costs a short text 0.2 nats or more": lambda r: r("half pace") - 0.2,
}
"""The sentences, and of each a number for a `Passage` that is above 0 where it holds."""


def margins(records: Iterable[dict[str, Any]]) -> "DataFrame":
    """The number of each rule, a column, where it was asked; a row for each passage, by model, text and seed."""
    from pandas import DataFrame, MultiIndex

    asked: dict[tuple, list[dict]] = {}
    for record in records:
        where = tuple(record["run"][name] for name in ("model", "text", "seed"))
        asked[where] = asked.get(where, []) + record["rows"]
    passages = {where: Passage(rows) for where, rows in asked.items()}

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
    columns = [name for name in NAMES.values() if name in table]
    return DataFrame(table, index=list(RULES))[columns].rename_axis("Sentence")
