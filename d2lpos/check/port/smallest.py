"""The smallest input."""

from ..verdict import Case, Check, Misconduct, count
from .material import PLAIN, logits, programs

BUGS = ("values", "keys", "base")


def bugs_shown(positions: list[int]) -> list[str]:
    """The bugs that tokens at these positions show."""
    by_program = {name: logits(model, positions) for name, model in programs().items()}
    return [bug for bug in BUGS if (by_program[bug] - by_program["right"]).abs().max() > 1e-4]


def input_case(name: str) -> Case:
    """What the positions show that an answer gives for a bug."""

    def ask(answer: dict) -> str:
        position_ids = answer[name]
        position_ids = position_ids.tolist() if hasattr(position_ids, "tolist") else position_ids
        whole = isinstance(position_ids, list | tuple) and all(type(n) is int and n >= 0 for n in position_ids)
        if not whole or not 1 <= len(position_ids) <= PLAIN["vocabulary"]:
            raise Misconduct(f"Positions are asked for, a list of 1 to 12 whole numbers; got {position_ids!r}"[:200])
        shown = bugs_shown(list(position_ids))
        return f"{count(len(position_ids), 'token')} to show {', '.join(shown) or 'nothing'}"

    return Case(f"smallest[{name!r}]", ask)


SMALLEST = {"values": [0], "keys": [0, 0], "base": [0, 1]}
smallest = Check(
    "smallest",
    reference=SMALLEST,
    properties={
        "values: shown, and nothing else": [input_case("values")],
        "keys: shown, and the base is not": [input_case("keys")],
        "base: shown, by as few tokens as can be": [input_case("base")],
    },
    mistakes={
        "One token shows it: its weight is 1, whatever its score, and its value comes out.":
            SMALLEST | {"values": [0, 0]},
        "A single token has weight 1, whatever its score is. Scores need two to choose from.":
            SMALLEST | {"keys": [0]},
        "These keys are turned against their queries, so a wrong base shows as well.":
            SMALLEST | {"keys": [0, 1]},
        "At one position nothing is turned against anything, so the base is not asked.":
            SMALLEST | {"base": [0, 0]},
        "Two tokens are enough.": (SMALLEST | {"base": [0, 1, 2]}, SMALLEST | {"keys": [0, 0, 0]}),
    },
)
