"""The checks of chapter 8: a configuration, a choice under a constraint, memory, and a fair comparison."""

import copy
from collections.abc import Callable
from functools import partial
from statistics import median

import torch
from torch import Tensor

from .. import scaling
from ..rope import RoPE
from .verdict import Case, Check, Misconduct, call, nothing

# Read a configuration ---------------------------------------------------------------------------------------

TINY = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "max_position_embeddings": 4096,
    "rope_theta": 500000.0,
}


def rule_of(
    rope_scaling: dict | None, length: str = "original_max_position_embeddings", **band: float
) -> Callable:
    """The rule of a configuration; `band` replaces what it says of low and high."""
    if not rope_scaling:
        return scaling.unscaled
    factor, kind = rope_scaling["factor"], rope_scaling["rope_type"]
    if kind == "linear":
        return partial(scaling.linear, factor=factor)
    if kind == "yarn":
        return partial(scaling.yarn, factor=factor, length=rope_scaling[length])
    read = {"low": rope_scaling["low_freq_factor"], "high": rope_scaling["high_freq_factor"]}
    return partial(scaling.llama3, factor=factor, length=rope_scaling[length], **(band or read))


def read(config: dict, **instead: object) -> RoPE:
    """The right encoding, with `instead` in place of what was read."""
    share = config["hidden_size"] // config["num_attention_heads"]
    dim = instead.pop("dim", config.get("head_dim") or share)
    arguments = {
        "base": config["rope_theta"],
        "rotary": int(dim * config.get("partial_rotary_factor", 1)),
        "scaling": rule_of(config.get("rope_scaling")),
    }
    return RoPE(dim, **(arguments | instead))


def with_the_longest(config: dict) -> RoPE:
    """Takes the longest text that the model may read for the length of its training."""
    if not config.get("rope_scaling"):
        return read(config)
    wrong = config["rope_scaling"] | {"longest": config["max_position_embeddings"]}
    return read(config, scaling=rule_of(wrong, "longest"))


def always_linear(config: dict) -> RoPE:
    rope_scaling = config.get("rope_scaling")
    return read(config, scaling=rule_of(rope_scaling and rope_scaling | {"rope_type": "linear"}))


def default_band(config: dict) -> RoPE:
    return read(config, scaling=rule_of(config.get("rope_scaling"), low=1.0, high=4.0))


def config_case(**more: object) -> Case:
    """The encoding that an answer builds, as what it makes of a fixed vector at four positions."""
    config = TINY | more
    shown = more or {name: TINY[name] for name in ("hidden_size", "num_attention_heads", "rope_theta")}

    def ask(answer: Callable) -> object:
        encoding = answer(copy.deepcopy(config))
        if nothing(encoding):
            return encoding
        if not isinstance(encoding, RoPE):
            raise Misconduct(f"Returns a {type(encoding).__name__}; a d2lpos.RoPE is asked for")
        wanted = read(config).dim
        if encoding.dim != wanted:
            raise Misconduct(f"Turns heads of {encoding.dim} features; these have {wanted}")
        x = (torch.arange(4 * wanted) % 7 / 4).reshape(1, 1, 4, wanted)
        return encoding.turn(x, torch.tensor([0, 1, 30, 3000]))[0, 0]

    return Case(", ".join(f"{name} {value}" for name, value in shown.items()), ask)


LLAMA = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 512}
LONGER = LLAMA | {"factor": 32.0, "original_max_position_embeddings": 1024}

rope_from = Check(
    "rope_from",
    reference=read,
    properties={
        "features and base": [
            config_case(),
            config_case(rope_scaling=None),
            config_case(head_dim=16),
            config_case(num_attention_heads=2, rope_theta=1000000.0),
        ],
        "a part that turns": [
            config_case(partial_rotary_factor=0.5),
            config_case(hidden_size=64, partial_rotary_factor=0.25),
        ],
        "linear scaling": [config_case(rope_scaling={"rope_type": "linear", "factor": 4.0})],
        "YaRN": [
            config_case(  # with heads of 8, the ramp is the same for any of the two lengths
                hidden_size=256,
                rope_scaling={"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512},
            )
        ],
        "Llama 3.1's rule": [
            config_case(rope_scaling=LLAMA | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}),
            config_case(rope_scaling=LONGER | {"low_freq_factor": 2.0, "high_freq_factor": 16.0}),
        ],
    },
    mistakes={
        "The base is 10,000 here, whatever rope_theta says.": lambda config: read(config, base=10000.0),
        "These are the features of all heads together: divide by num_attention_heads.": (
            lambda config: read(config, dim=config["hidden_size"])
        ),
        "The pairs are neighbors here. config.json is of transformers, which turns halves.": (
            lambda config: read(config, layout="interleaved")
        ),
        "head_dim is not read. Where it is given, it need not be hidden_size divided by the heads.": (
            lambda config: read({k: v for k, v in config.items() if k != "head_dim"})
        ),
        "partial_rotary_factor is not read: only this part of the features turns.": (
            lambda config: read({k: v for k, v in config.items() if k != "partial_rotary_factor"})
        ),
        "A configuration may lack the key rope_scaling. Ask with .get.": (
            lambda config: read(config, scaling=rule_of(config["rope_scaling"]))
        ),
        "rope_scaling is not read.": lambda config: read(config, scaling=scaling.unscaled),
        "The length is that of training, original_max_position_embeddings, not the longest text.": (
            with_the_longest
        ),
        "Every rule is linear here. rope_type names the rule.": always_linear,
        "low_freq_factor and high_freq_factor are not read.": default_band,
    },
)


# Choose under a constraint ----------------------------------------------------------------------------------


def best(
    losses: dict[str, list[float]],
    doors: dict[str, tuple[str, ...]],
    allowed: set[str],
    judge: Callable = lambda values: sum(values) / len(values),
    admit: Callable = lambda opened, allowed: set(opened) <= allowed,
) -> str:
    admitted = [name for name in losses if admit(doors[name], allowed)]
    return min(admitted, key=lambda name: judge(losses[name]))


DOORS = {
    "none": (),
    "sinusoidal": ("embed",),
    "rope": ("rotate",),
    "alibi": ("score",),
    "shaw": ("score", "value"),
}
LOSSES = {
    "none": [1.5, 1.5, 1.75],
    "sinusoidal": [0.25, 0.875, 2.5],
    "rope": [1.0, 1.0, 1.0],
    "alibi": [1.25, 1.0, 0.5],
    "shaw": [0.5, 0.75, 1.25],
}


def choice_case(names: list[str], allowed: set[str]) -> Case:
    losses = {name: LOSSES[name] for name in names}
    doors = {name: DOORS[name] for name in names}
    shown = "; ".join(f"{name} {values}" for name, values in losses.items())
    text = f"allowed {sorted(allowed)}; {shown}"
    return call(text, losses=losses, doors=doors, allowed=allowed)


ALL = {"embed", "rotate", "score", "value"}

choose = Check(
    "choose",
    reference=best,
    properties={
        "the lowest mean": [
            choice_case(["sinusoidal", "rope"], ALL),
            choice_case(["sinusoidal", "alibi"], ALL),
            choice_case(list(DOORS), ALL),
        ],
        "no door that is not allowed": [
            choice_case(["rope", "alibi"], {"embed", "rotate"}),
            choice_case(["none", "alibi"], {"score"}),
            choice_case(list(DOORS), {"embed", "score"}),
        ],
        "no door at all": [choice_case(["none", "rope"], {"embed"})],
    },
    mistakes={
        "This is the lowest single run. The next seed may tell another story: take the mean.": partial(
            best, judge=min
        ),
        "This is the highest mean. They are losses: less is better.": partial(best, judge=lambda v: -sum(v)),
        "Only the last seed counts here. Take the mean.": partial(best, judge=lambda values: values[-1]),
        "This is the best worst run. Take the mean.": partial(best, judge=max),
        "This is the lowest median. Take the mean.": partial(best, judge=median),
        "allowed is not asked.": partial(best, admit=lambda opened, allowed: True),
        "All allowed doors may be open: an encoding that needs exactly these is no exception.": partial(
            best, admit=lambda opened, allowed: set(opened) < allowed
        ),
        "One allowed door is not enough: none of an encoding's doors may be closed to you.": partial(
            best, admit=lambda opened, allowed: not opened or bool(set(opened) & allowed)
        ),
        "An encoding that opens no door is always allowed.": partial(
            best, admit=lambda opened, allowed: bool(opened) and set(opened) <= allowed
        ),
    },
)


# What fits --------------------------------------------------------------------------------------------------


def in_bytes(
    layers: int, heads: int, kv_heads: int, features: int, tokens: int, size: int
) -> tuple[int, int]:
    return 2 * layers * kv_heads * features * tokens * size, heads * tokens**2 * size


def memory_case(part: int, *sizes: int) -> Case:
    """One of the two numbers that an answer returns."""
    names = ("layers", "heads", "kv_heads", "features", "tokens", "size")
    case = call(**dict(zip(names, sizes, strict=True)))

    def ask(answer: Callable) -> object:
        both = case.ask(answer)
        if nothing(both):
            return both
        if not isinstance(both, tuple | list):
            kind = type(both).__name__
            raise Misconduct(f"Returns a {kind}; a pair is asked for: the cache, one layer's bias")
        if len(both) != 2:
            raise Misconduct(f"Returns {len(both)} numbers; a pair is asked for: the cache, one layer's bias")
        return torch.tensor(float(both[part]), dtype=torch.float64)

    return Case(case.text, ask)


def miscounted(cache: Callable | None = None, bias: Callable | None = None) -> Callable:
    """An answer that counts one of the two, or both, in another way."""

    def answer(*sizes: int) -> tuple[int, int]:
        right = in_bytes(*sizes)
        return (cache(*sizes) if cache else right[0]), (bias(*sizes) if bias else right[1])

    return answer


memory = Check(
    "memory",
    reference=in_bytes,
    properties={
        "the cache": [memory_case(0, 1, 2, 2, 4, 3, 2), memory_case(0, 3, 8, 2, 16, 10, 4)],
        "the bias": [memory_case(1, 1, 2, 2, 4, 3, 2), memory_case(1, 3, 8, 2, 16, 10, 4)],
    },
    mistakes={
        "The cache holds keys and values: twice as much.": miscounted(
            lambda la, h, kv, f, t, s: la * kv * f * t * s
        ),
        "The cache has kv_heads, which several heads share.": miscounted(
            lambda la, h, kv, f, t, s: 2 * la * h * f * t * s
        ),
        "Every layer has a cache of its own.": miscounted(lambda la, h, kv, f, t, s: 2 * kv * f * t * s),
        "These are numbers, not bytes: each takes size bytes.": miscounted(
            lambda la, h, kv, f, t, s: 2 * la * kv * f * t, lambda la, h, kv, f, t, s: h * t**2
        ),
        "The bias is counted in numbers, not in bytes.": miscounted(
            None, lambda la, h, kv, f, t, s: h * t**2
        ),
        "The bias differs from head to head, and scores belong to heads, not to kv_heads.": miscounted(
            None, lambda la, h, kv, f, t, s: kv * t**2 * s
        ),
        "This is the bias of all layers. One is asked for: the next may use the same memory.": miscounted(
            None, lambda la, h, kv, f, t, s: la * h * t**2 * s
        ),
        "This is the bias of one query: a row. A prompt is read at once, with a row for each token.": miscounted(
            None, lambda la, h, kv, f, t, s: h * t * s
        ),
        "This is the bias of one head.": miscounted(None, lambda la, h, kv, f, t, s: t**2 * s),
        "Half of the pairs are masked, but the tensor holds them all the same.": miscounted(
            None, lambda la, h, kv, f, t, s: h * t * (t + 1) // 2 * s
        ),
    },
)


# A fair comparison ------------------------------------------------------------------------------------------


def interval(difference: Tensor, t: float) -> tuple[float, float]:
    half = t * difference.std() / len(difference) ** 0.5
    return (difference.mean() - half).item(), (difference.mean() + half).item()


def fair(
    validation: Tensor,
    test: Tensor,
    t: float,
    judge: Callable = lambda validation, test: validation.mean(dim=1),
    between: Callable = lambda validation, test, arm, t: interval(test[arm] - test[0], t),
) -> tuple[int, float, float]:
    arm = 1 + judge(validation, test)[1:].argmin().item()
    return arm, *between(validation, test, arm, t)


def around(spread: Callable) -> Callable:
    """An interval whose half width comes from a spread of the arm's and the baseline's runs."""

    def between(validation: Tensor, test: Tensor, arm: int, t: float) -> tuple[float, float]:
        mean = (test[arm] - test[0]).mean()
        half = t * spread(test[arm], test[0]) / test.shape[1] ** 0.5
        return (mean - half).item(), (mean + half).item()

    return between


def widened(factor: Callable) -> Callable:
    """An interval whose half width is multiplied by a function of the number of seeds."""
    return lambda validation, test, arm, t: interval(test[arm] - test[0], t * factor(test.shape[1]))


def with_the_baseline(validation: Tensor, test: Tensor, t: float) -> tuple[int, float, float]:
    arm = validation.mean(dim=1).argmin().item()
    return arm, *interval(test[arm] - test[0], t)


def one_less(validation: Tensor, test: Tensor, t: float) -> tuple[int, float, float]:
    arm = validation[1:].mean(dim=1).argmin().item()
    return arm, *interval(test[arm] - test[0], t)


VALIDATION = torch.tensor(
    [
        [2.0, 2.5, 3.0, 2.5],
        [1.75, 2.25, 2.5, 2.5],
        [1.0, 2.5, 3.5, 3.0],
        [2.0, 2.125, 2.25, 5.0],
        [3.0, 3.0, 3.5, 3.5],
    ]
)
TEST = torch.tensor(
    [
        [2.25, 2.75, 3.5, 2.5],
        [2.0, 2.75, 3.0, 2.0],
        [2.0, 3.5, 1.25, 1.25],
        [1.5, 2.0, 2.0, 1.75],
        [2.5, 3.0, 3.25, 2.75],
    ]
)
WORSE = VALIDATION + torch.tensor([[0.0], [1.0], [2.0], [2.0], [2.0]])  # here the baseline is the best


def comparison_case(part: str, validation: Tensor, test: Tensor, t: float = 3.182) -> Case:
    """What an answer says of the arm, or of the interval."""
    text = f"validation {validation.tolist()}, test {test.tolist()}, t = {t}"
    case = call(text, validation=validation, test=test, t=t)

    def ask(answer: Callable) -> object:
        all_three = case.ask(answer)
        if nothing(all_three):
            return all_three
        if not isinstance(all_three, tuple | list):
            kind = type(all_three).__name__
            raise Misconduct(f"Returns a {kind}; three values are asked for: arm, low, high")
        if len(all_three) != 3:
            raise Misconduct(f"Returns {len(all_three)} values; three are asked for: arm, low, high")
        numbers = torch.tensor([float(value) for value in all_three])
        return numbers[:1] if part == "arm" else numbers[1:]

    return Case(text, ask)


compare = Check(
    "compare",
    reference=fair,
    properties={
        "the arm is chosen by validation": [
            comparison_case("arm", VALIDATION[:3, :2], TEST[:3, :2]),
            comparison_case("arm", VALIDATION, TEST),
            comparison_case("arm", WORSE, TEST),
        ],
        "the interval is of paired differences on the test": [
            comparison_case("interval", VALIDATION[:2], TEST[:2]),
            comparison_case("interval", VALIDATION, TEST),
            comparison_case("interval", VALIDATION[:3, :2], TEST[:3, :2], 12.706),
        ],
    },
    mistakes={
        "The arm is chosen by the test. Whatever is chosen there looks better than it is.": partial(
            fair, judge=lambda validation, test: test.mean(dim=1)
        ),
        "The arm is chosen by validation and test together. Only validation may choose.": partial(
            fair, judge=lambda validation, test: (validation + test).mean(dim=1)
        ),
        "The arm is chosen by its median. Take the mean.": partial(
            fair, judge=lambda validation, test: validation.quantile(0.5, dim=1)
        ),
        "The arm is chosen by its luckiest seed. Take the mean.": partial(
            fair, judge=lambda validation, test: validation.min(dim=1).values
        ),
        "The arm is chosen by its highest loss. Less is better.": partial(
            fair, judge=lambda validation, test: -validation.mean(dim=1)
        ),
        "The arms are counted from 0 without the baseline. Row 0 is the baseline: add 1.": one_less,
        "The baseline is no arm: choose among the rows from 1 on.": with_the_baseline,
        "The seeds are not paired: the interval must be that of the differences, seed by seed.": partial(
            fair, between=around(lambda ours, theirs: (ours.var() + theirs.var()).sqrt())
        ),
        "Two standard deviations are added. Take that of the differences, seed by seed.": partial(
            fair, between=around(lambda ours, theirs: ours.std() + theirs.std())
        ),
        "This is how the arm varies alone. Take the standard deviation of the differences.": partial(
            fair, between=around(lambda ours, theirs: ours.std())
        ),
        "The interval is of the validation, by which the arm was chosen.": partial(
            fair, between=lambda validation, test, arm, t: interval(validation[arm] - validation[0], t)
        ),
        "These are baseline minus arm. Take the baseline from the arm.": partial(
            fair, between=lambda validation, test, arm, t: interval(test[0] - test[arm], t)
        ),
        "This is how far runs lie apart. For their mean, divide by the root of the number of seeds.": partial(
            fair, between=widened(lambda seeds: seeds**0.5)
        ),
        "The standard deviation divides by n. From a sample, divide by n − 1, as std() does.": partial(
            fair, between=widened(lambda seeds: ((seeds - 1) / seeds) ** 0.5)
        ),
        "1.96 is right for many seeds. With few, use t.": partial(
            fair, between=lambda validation, test, arm, t: interval(test[arm] - test[0], 1.96)
        ),
    },
)
