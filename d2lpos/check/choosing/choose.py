"""Choose under a constraint."""

from random import Random
from statistics import mean

from ..verdict import Answer, Case, Check, call


def best(losses: dict[str, list[float]], doors: dict[str, tuple[str, ...]], allowed: set[str]) -> str:
    admitted = [name for name in losses if set(doors[name]) <= allowed]
    return min(admitted, key=lambda name: mean(losses[name]))


DOORS = {
    "none": (),
    "sinusoidal": ("embed",),
    "rope": ("rotate",),
    "alibi": ("score",),
    "shaw": ("score", "value"),
    "tupe": ("embed", "score"),
    "both": ("rotate", "embed"),
}
LOSSES = {
    "none": [1.5, 1.5, 1.75],
    "sinusoidal": [0.25, 0.875, 2.5],
    "rope": [1.0, 1.0, 1.0],
    "alibi": [1.25, 1.0, 0.51],
    "shaw": [0.5, 1.0, 1.25],
    "tupe": [0.75, 0.25, 0.5],
    "both": [0.875, 0.75, 0.5],
}


def constrained(losses: dict, doors: dict, allowed: set[str]) -> Case:
    shown = ", ".join(map(repr, sorted(allowed)))  # a set has another order in each process
    text = f"losses = {losses}, doors = {doors}, allowed = {{{shown}}}"
    return call(text, losses=losses, doors=doors, allowed=allowed)


def choice_case(names: list[str], allowed: set[str]) -> Case:
    return constrained({name: LOSSES[name] for name in names}, {name: DOORS[name] for name in names}, allowed)


def drawn_case(seed: int, usable: int) -> Case:
    """Losses in 32nds, no two means of which are equal, and doors at random; `usable` doors are allowed."""
    stream = Random(seed)
    allowed = stream.sample(sorted(ALL), usable)
    losses, doors = {}, {}
    for name, parts in zip("abcdef", stream.sample(range(20, 36), 6), strict=True):
        # Where a door is closed, each encoding's losses are equal, so that doors alone decide.
        spread = stream.randint(2, 9) if usable == len(ALL) else 0
        steps = stream.choice([(-2, 1, 1), (2, -1, -1), (-1, 0, 1)])
        losses[name] = [(parts + step * spread) / 32 for step in stream.sample(steps, 3)]
        doors[name] = tuple(stream.sample(sorted(ALL), stream.randint(1, 2)))
    doors |= {"a": (allowed[0],), "not tried": ()}
    return constrained(losses, doors, set(allowed))


ALL = {"embed", "rotate", "score", "value"}
def overwritten(losses, doors, allowed):
    left = []
    for name in losses:
        usable = True
        for door in doors[name]:
            usable = door in allowed
        if usable:
            left.append(name)
    return min(left, key=lambda name: mean(losses[name]))


def admitted(losses, doors, allowed):
    return {name: values for name, values in losses.items() if all(door in allowed for door in doors[name])}


def steadiest(losses, doors, allowed):
    left = admitted(losses, doors, allowed)
    return min(left, key=lambda name: max(left[name]))


def fewer_doors_than_allowed(losses, doors, allowed):
    left = [name for name in losses if set(doors[name]) < allowed]
    return min(left, key=lambda name: mean(losses[name]))


choose = Check(
    "choose",
    reference=best,
    properties={
        "the lowest mean": [
            choice_case(["sinusoidal", "rope"], ALL),
            choice_case(["sinusoidal", "alibi"], ALL),
            choice_case(["none", "sinusoidal", "rope", "alibi", "shaw"], ALL),
            *(drawn_case(seed, 4) for seed in range(5)),
        ],
        "no door that is not allowed": [
            choice_case(["rope", "alibi"], {"embed", "rotate"}),
            choice_case(["none", "alibi"], {"score"}),
            choice_case(["sinusoidal", "rope", "shaw"], {"embed", "rotate", "value"}),
            choice_case(["sinusoidal", "alibi", "tupe", "both"], {"embed"}),
            *(drawn_case(seed, usable) for seed in range(2) for usable in (1, 2, 3)),
        ],
        "no door at all": [choice_case(["none", "rope"], {"embed"})],
    },
    mistakes={
        "This is the lowest single run. The next seed may tell another story: take the mean.":
            "mean(losses[name]) → min(losses[name])",
        "This is the highest mean. They are losses: less is better.":
            "mean(losses[name]) → -mean(losses[name])",
        "This is the best worst run. Take the mean.": steadiest,
        "allowed is not asked.": "set(doors[name]) <= allowed → True",
        "All allowed doors may be open: an encoding that needs exactly these is no exception.": fewer_doors_than_allowed,
        "The last door decides here. All of an encoding's doors must be allowed.": overwritten,
        "An encoding that opens no door is always allowed.":
            "set(doors[name]) <= allowed → doors[name] and set(doors[name]) <= allowed",
    },
    answers=(Answer("names", ("rope", "none"), {
        "RoPE is best at 64. At 512, as trained, it is worse than no encoding.": ("rope", "rope"),
        "These add to scores, and your kernel takes no bias.": ("t5", "kerple"),
        "The first is for 64 characters, the second for 512.": ("none", "rope"),
        "An encoding that opens no door is always allowed.": ("rope", "sinusoidal"),
    }),),
    cards=(overwritten, steadiest, fewer_doors_than_allowed),
    as_good={
        "mean(losses[name]) → sum(losses[name])": "Every encoding has a loss for each seed, so the sums are in the order of the means.",
    },
)
