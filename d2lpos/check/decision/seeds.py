"""How many seeds."""

from scipy.stats import t

from ..verdict import Check, call


def enough(spread: float, gap: float, power: float = 0.8, level: float = 0.975) -> int:
    n = 2
    while (t.ppf(level, n - 1) + t.ppf(power, n - 1)) * spread / n**0.5 > gap:
        n += 1
    return n


seeds = Check(
    "seeds",
    reference=enough,
    properties={
        "the fewest seeds that find the gap": [
            call(spread=s, gap=g) for s, g in ((0.7, 1.0), (1.0, 0.5), (0.5, 1.0), (0.5, 4.9), (8.0, 1.0))
        ],
        "never fewer than two": [call(spread=0.0, gap=1.0), call(spread=0.0625, gap=4.0)],
    },
    mistakes={
        "One seed has no spread. Begin with two.": lambda spread, gap:
            1 if enough(spread, gap) == 2 else enough(spread, gap),
        "With this many, half of all studies miss the gap. Add t of 0.8.":
            "power: float = 0.8 → power: float = 0.5",
        "A 95 % interval leaves 2.5 % on each side: ask t for 0.975.":
            "level: float = 0.975 → level: float = 0.95",
        "t has n − 1 degrees of freedom, and more than the normal curve's 1.96 + 0.84 for few seeds.":
            lambda spread, gap: max(2, -int(-((2.8 * spread / gap) ** 2) // 1)),
        "This is one too many: the first that suffices is asked for.": lambda spread, gap:
            enough(spread, gap) + 1,
    },
    as_good={
        "returned as a float": "The text asks for a whole number, and 1.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
        "(t.ppf(level, n - 1) + t.ppf(power, n - 1)) * spread / n ** 0.5 > gap → (t.ppf(level, n - 1) + t.ppf(power, n - 1)) * spread / n ** 0.5 >= gap": "The two are equal for no gap that is asked.",
    },
)
