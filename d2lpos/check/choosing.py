"""The checks of chapter 8: a configuration, a choice under a constraint, memory, and a fair comparison."""

import copy
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import mean, median

import torch
from torch import Tensor

from ..rotary import scaling
from ..rotary.rope import RoPE
from .cases import several
from .verdict import Answer, Case, Check, Misconduct, call, nothing

# Read a configuration ---------------------------------------------------------------------------------------

TINY = {"hidden_size": 32, "num_attention_heads": 4, "max_position_embeddings": 4096}
BASE = {"rope_theta": 500000.0}


def rule_of(said: dict) -> Callable:
    name = said.get("rope_type", "default")
    if name == "default":
        return scaling.unscaled
    if name == "linear":
        return partial(scaling.linear, factor=said["factor"])
    known = {"factor": said["factor"], "length": said["original_max_position_embeddings"]}
    if name == "yarn":
        return partial(scaling.yarn, **known)
    return partial(scaling.llama3, **known, low=said["low_freq_factor"], high=said["high_freq_factor"])


def older(config: dict) -> dict:
    return config | (config.get("rope_scaling") or {})


def parameters(config: dict, kind: str) -> dict:
    said = config.get("rope_parameters") or older(config)
    return said.get(kind, said)


def features(config: dict) -> int:
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def built(config: dict, said: dict) -> RoPE:
    dim = features(config)
    rotary = int(dim * said.get("partial_rotary_factor", 1))
    return RoPE(dim, said["rope_theta"], rotary=rotary, scaling=rule_of(said))


def read(config: dict, kind: str) -> RoPE:
    return built(config, parameters(config, kind))


def without(known: dict, *keys: str) -> dict:
    return {key: value for key, value in known.items() if key not in keys}


def changed(**more: object) -> Callable:
    """An answer that puts these in place of what the entry says, where it stretches."""

    def answer(config: dict, kind: str) -> RoPE:
        said = parameters(config, kind)
        stretched = said.get("rope_type", "default") != "default"
        return built(config, said | more if stretched else said)

    return answer


def in_neighbors(config: dict, kind: str) -> RoPE:
    right = read(config, kind)
    return RoPE(right.dim, right.base, "interleaved", right.rotary, right.scaling)


def part_of_the_share(config: dict, kind: str) -> RoPE:
    right, share = read(config, kind), read(without(config, "head_dim"), kind)
    return RoPE(right.dim, right.base, rotary=share.rotary, scaling=right.scaling)


def with_the_longest(config: dict, kind: str) -> RoPE:
    """Takes the longest text that the model may read for the length of its training."""
    return changed(original_max_position_embeddings=config["max_position_embeddings"])(config, kind)


def the_first_type(config: dict, kind: str) -> RoPE:
    said = parameters(config, kind)
    types = [one for one in config.get("rope_parameters", {}).values() if isinstance(one, dict)]
    return built(config, types[0] if types else said)


def share_beside(config: dict, kind: str) -> RoPE:
    share = config.get("partial_rotary_factor", 1)
    return built(config, parameters(config, kind) | {"partial_rotary_factor": share})


def always_there(config: dict, kind: str) -> RoPE:
    if "rope_parameters" in config:
        return read(config, kind)
    return built(config, config | (config["rope_scaling"] or {}))


def config_case(kind: str = "full_attention", **more: object) -> Case:
    """The encoding that an answer builds, as what it makes of a fixed vector at four positions."""
    config = TINY | ({} if "rope_parameters" in more else BASE) | more
    shown = more or without(config, "max_position_embeddings")

    def ask(answer: Callable) -> object:
        encoding = answer(copy.deepcopy(config), kind)
        if nothing(encoding):
            return encoding
        if not isinstance(encoding, RoPE):
            raise Misconduct(f"Returns type {type(encoding).__name__}; a d2lpos.RoPE is asked for")
        wanted = read(config, kind).dim
        if encoding.dim != wanted:
            raise Misconduct(f"Turns heads of {encoding.dim} features; these have {wanted}")
        x = (torch.arange(4 * wanted) % 7 / 4).reshape(1, 1, 4, wanted)
        return encoding.turn(x, torch.tensor([0, 1, 30, 3000]))[0, 0]

    return Case(", ".join(f"{name} {value}" for name, value in shown.items()) + f", kind {kind!r}", ask)


def later_case(kind: str = "full_attention", head_dim: int = 16, **said: object) -> Case:
    """A configuration as transformers 5 writes it."""
    return config_case(kind, head_dim=head_dim, rope_parameters={"rope_type": "default"} | BASE | said)


LLAMA = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 512}
LONGER = LLAMA | {"factor": 32.0, "original_max_position_embeddings": 1024}
LOCAL = {"rope_type": "default", "rope_theta": 10000.0}
GLOBAL = {"rope_type": "default", "rope_theta": 1000000.0}
TYPES = {"sliding_attention": LOCAL, "full_attention": GLOBAL}

rope_from = Check(
    "rope_from",
    reference=read,
    properties={
        "features and base": [
            config_case(),
            config_case(rope_scaling=None),
            config_case(head_dim=16),
            config_case(head_dim=4),
            config_case(head_dim=None),
            config_case(num_attention_heads=2, rope_theta=1000000.0),
            later_case(),
            later_case("sliding_attention", rope_theta=1000000.0),
        ],
        "a part that turns": [
            config_case(partial_rotary_factor=0.5),
            config_case(hidden_size=64, partial_rotary_factor=0.25),
            config_case(hidden_size=64, partial_rotary_factor=0.75),
            config_case(head_dim=32, partial_rotary_factor=0.25),
            later_case(partial_rotary_factor=0.25),
        ],
        "linear scaling": [
            config_case(rope_scaling={"rope_type": "linear", "factor": 4.0}),
            config_case(head_dim=16, rope_scaling={"rope_type": "linear", "factor": 2.0}),
            later_case(rope_type="linear", factor=2.0),
        ],
        "YaRN": [
            config_case(  # with heads of 8, the ramp is the same for any of the two lengths
                hidden_size=256,
                rope_scaling={"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512},
            ),
            later_case(head_dim=64, rope_type="yarn", factor=2.0, original_max_position_embeddings=2048),
        ],
        "Llama 3.1's rule": [
            config_case(rope_scaling=LLAMA | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}),
            config_case(rope_scaling=LONGER | {"low_freq_factor": 2.0, "high_freq_factor": 16.0}),
            later_case(head_dim=32, **LONGER, low_freq_factor=1.0, high_freq_factor=4.0),
        ],
        "one for each type of layer": [
            config_case("sliding_attention", rope_parameters=TYPES),
            config_case("full_attention", rope_parameters=TYPES),
        ],
    },
    mistakes={
        "The base is 10,000 here, whatever rope_theta says.": (
            lambda config, kind: built(config, parameters(config, kind) | {"rope_theta": 10000.0})
        ),
        "These are the features of all heads together: divide by num_attention_heads.": (
            lambda config, kind: read(config | {"head_dim": config["hidden_size"]}, kind)
        ),
        "The pairs are neighbors here. config.json is of transformers, which turns halves.": in_neighbors,
        "head_dim is not read. Where it is given, it need not be hidden_size divided by the heads.": (
            lambda config, kind: read(without(config, "head_dim"), kind)
        ),
        "rope_parameters is not read: transformers 5 writes there what older files say beside it.": (
            lambda config, kind: built(config, older(config))
        ),
        "partial_rotary_factor is not read: only this part of the features turns.": (
            lambda config, kind: built(config, without(parameters(config, kind), "partial_rotary_factor"))
        ),
        "transformers 5 writes partial_rotary_factor into rope_parameters.": share_beside,
        "The part that turns is one of the head's features, head_dim where it is given.": part_of_the_share,
        "A configuration may lack the key rope_scaling. Ask with .get.": always_there,
        "No rule is read. rope_type names it, in rope_parameters or in rope_scaling.": changed(
            rope_type="default"
        ),
        "rope_scaling is not read, where older files name the rule.": (
            lambda config, kind: read(without(config, "rope_scaling"), kind)
        ),
        "The length is that of training, original_max_position_embeddings, not the longest text.": (
            with_the_longest
        ),
        "Every rule is linear here. rope_type names the rule.": changed(rope_type="linear"),
        "low_freq_factor and high_freq_factor are not read.": changed(
            low_freq_factor=1.0, high_freq_factor=4.0
        ),
        "All layers get the first dictionary of rope_parameters here; kind names the one.": the_first_type,
    },
)


# Choose under a constraint ----------------------------------------------------------------------------------


def best(losses: dict[str, list[float]], doors: dict[str, tuple[str, ...]], allowed: set[str]) -> str:
    admitted = [name for name in losses if set(doors[name]) <= allowed]
    return min(admitted, key=lambda name: mean(losses[name]))


def chosen(
    judge: Callable = mean, admit: Callable = lambda opened, allowed: set(opened) <= allowed
) -> Callable:
    """An answer that judges losses, or admits encodings, in another way."""

    def answer(losses: dict[str, list[float]], doors: dict[str, tuple[str, ...]], allowed: set[str]) -> str:
        admitted = [name for name in losses if admit(doors[name], allowed)]
        return min(admitted, key=lambda name: judge(losses[name]))

    return answer


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
    "alibi": [1.25, 1.0, 0.5],
    "shaw": [0.5, 0.75, 1.25],
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
    """Losses in eighths, no two means of which are equal, and doors at random; `usable` doors are allowed."""
    stream = Random(seed)
    allowed = stream.sample(sorted(ALL), usable)
    losses, doors = {}, {}
    for name, eighths in zip("abcdef", stream.sample(range(20, 36), 6), strict=True):
        # Where a door is closed, each encoding's losses are equal, so that doors alone decide.
        spread = stream.randint(2, 9) if usable == len(ALL) else 0
        steps = stream.choice([(-2, 1, 1), (2, -1, -1), (-1, 0, 1)])
        losses[name] = [(eighths + step * spread) / 8 for step in stream.sample(steps, 3)]
        doors[name] = tuple(stream.sample(sorted(ALL), stream.randint(1, 2)))
    doors |= {"a": (allowed[0],), "not tried": ()}
    return constrained(losses, doors, set(allowed))


ALL = {"embed", "rotate", "score", "value"}

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
        "This is the lowest single run. The next seed may tell another story: take the mean.": chosen(min),
        "This is the highest mean. They are losses: less is better.": chosen(lambda values: -mean(values)),
        "Only the last seed counts here. Take the mean.": chosen(lambda values: values[-1]),
        "Only the first seed counts here. Take the mean.": chosen(lambda values: values[0]),
        "This is the best worst run. Take the mean.": chosen(max),
        "This is the lowest median. Take the mean.": chosen(median),
        "allowed is not asked.": chosen(admit=lambda opened, allowed: True),
        "All allowed doors may be open: an encoding that needs exactly these is no exception.": chosen(
            admit=lambda opened, allowed: set(opened) < allowed
        ),
        "One allowed door is not enough: none of an encoding's doors may be closed to you.": chosen(
            admit=lambda opened, allowed: not opened or bool(set(opened) & allowed)
        ),
        "The last door decides here. All of an encoding's doors must be allowed.": chosen(
            admit=lambda opened, allowed: set(opened[-1:]) <= allowed
        ),
        "The first door decides here. All of an encoding's doors must be allowed.": chosen(
            admit=lambda opened, allowed: set(opened[:1]) <= allowed
        ),
        "An encoding that opens no door is always allowed.": chosen(
            admit=lambda opened, allowed: bool(opened) and set(opened) <= allowed
        ),
    },
    answers=(
        Answer(
            "names",
            ("rope", "none"),
            {
                "RoPE is best at 64. At 512, as trained, it is worse than no encoding.": ("rope", "rope"),
                "These add to scores, and your kernel takes no bias.": ("t5", "kerple"),
                "The first is for 64 characters, the second for 512.": ("none", "rope"),
                "An encoding that opens no door is always allowed.": ("rope", "sinusoidal"),
            },
        ),
    ),
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
        return both if nothing(both) else several(both, "the cache", "the bias of one layer")[part]

    return Case(case.text, ask)


def miscounted(cache: Callable | None = None, bias: Callable | None = None) -> Callable:
    """An answer that counts one of the two, or both, in another way."""

    def answer(*sizes: int) -> tuple[int, int]:
        right = in_bytes(*sizes)
        return (cache(*sizes) if cache else right[0]), (bias(*sizes) if bias else right[1])

    return answer


SIZES = [(1, 2, 2, 4, 3, 2), (3, 8, 2, 16, 10, 4), (2, 6, 3, 5, 7, 1), (80, 64, 8, 128, 131072, 2)]
memory = Check(
    "memory",
    reference=in_bytes,
    properties={
        "the cache": [memory_case(0, *sizes) for sizes in SIZES],
        "the bias": [memory_case(1, *sizes) for sizes in SIZES],
    },
    mistakes={
        "The two are exchanged: the cache comes first.": lambda *sizes: in_bytes(*sizes)[::-1],
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
    answers=(
        Answer(
            "llama",
            (1_073_741_824, 4_294_967_296),
            {
                "The cache comes first.": (4_294_967_296, 1_073_741_824),
                "The cache holds keys and values: twice as much.": (536_870_912, 4_294_967_296),
                "The cache has 8 heads, which several query heads share.": (4_294_967_296, 4_294_967_296),
                "This is the bias of all 32 layers.": (1_073_741_824, 137_438_953_472),
                "Bytes are asked for, not their number in billions.": lambda given: max(given) < 1000,
            },
        ),
    ),
)


# A fair comparison ------------------------------------------------------------------------------------------


def interval(difference: Tensor, t: float) -> tuple[Tensor, Tensor]:
    half = t * difference.std() / len(difference) ** 0.5
    return difference.mean() - half, difference.mean() + half


def fair(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
    arm = 1 + validation[1:].mean(dim=1).argmin()
    return arm, *interval(test[arm] - test[0], t)


def chosen_by(judge: Callable) -> Callable:
    """An answer that chooses the arm with the lowest of what `judge` makes of the two."""

    def answer(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
        arm = 1 + judge(validation, test)[1:].argmin()
        return arm, *interval(test[arm] - test[0], t)

    return answer


def told_by(between: Callable) -> Callable:
    """An answer whose interval is another one."""

    def answer(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
        arm = fair(validation, test, t)[0]
        return arm, *between(validation, test, arm, t)

    return answer


def around(spread: Callable) -> Callable:
    """An interval whose half width comes from a spread of the arm's and the baseline's runs."""

    def between(validation: Tensor, test: Tensor, arm: int, t: float) -> tuple[Tensor, Tensor]:
        middle = (test[arm] - test[0]).mean()
        half = t * spread(test[arm], test[0]) / test.shape[1] ** 0.5
        return middle - half, middle + half

    return told_by(between)


def widened(factor: Callable) -> Callable:
    """An interval whose half width is multiplied by a function of the number of seeds."""
    return told_by(lambda validation, test, arm, t: interval(test[arm] - test[0], t * factor(test.shape[1])))


def with_the_baseline(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
    arm = validation.mean(dim=1).argmin()
    return arm, *interval(test[arm] - test[0], t)


def one_less(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
    arm = validation[1:].mean(dim=1).argmin()
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
        [2.0, 2.25, 3.25, 2.75],
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
        arm, *ends = several(all_three, "arm", "low", "high")
        return arm if part == "arm" else torch.tensor(ends)

    return Case(case.text, ask)


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
        "The arm is chosen by the test. Whatever is chosen there looks better than it is.": chosen_by(
            lambda validation, test: test.mean(dim=1)
        ),
        "The arm is chosen by validation and test together. Only validation may choose.": chosen_by(
            lambda validation, test: (validation + test).mean(dim=1)
        ),
        "The arm is chosen by its median. Take the mean.": chosen_by(
            lambda validation, test: validation.quantile(0.5, dim=1)
        ),
        "The arm is chosen by its luckiest seed. Take the mean.": chosen_by(
            lambda validation, test: validation.min(dim=1).values
        ),
        "The arm is chosen by its highest loss. Less is better.": chosen_by(
            lambda validation, test: -validation.mean(dim=1)
        ),
        "The arms are counted from 0 without the baseline. Row 0 is the baseline: add 1.": one_less,
        "The baseline is no arm: choose among the rows from 1 on.": with_the_baseline,
        "The seeds are not paired: the interval must be that of the differences, seed by seed.": around(
            lambda ours, theirs: (ours.var() + theirs.var()).sqrt()
        ),
        "Sorted losses are not paired: the first of each belong to different seeds.": told_by(
            lambda validation, test, arm, t: interval(test[arm].sort().values - test[0].sort().values, t)
        ),
        "Two standard deviations are added. Take that of the differences, seed by seed.": around(
            lambda ours, theirs: ours.std() + theirs.std()
        ),
        "This is how the arm varies alone. Take the standard deviation of the differences.": around(
            lambda ours, theirs: ours.std()
        ),
        "The interval is of the validation, by which the arm was chosen.": told_by(
            lambda validation, test, arm, t: interval(validation[arm] - validation[0], t)
        ),
        "These are baseline minus arm. Take the baseline from the arm.": told_by(
            lambda validation, test, arm, t: interval(test[0] - test[arm], t)
        ),
        "This is how far runs lie apart. For their mean, divide by the root of the number of seeds.": widened(
            lambda seeds: seeds**0.5
        ),
        "The standard deviation divides by n. From a sample, divide by n − 1, as std() does.": widened(
            lambda seeds: ((seeds - 1) / seeds) ** 0.5
        ),
        "1.96 is right for many seeds. With few, use t.": told_by(
            lambda validation, test, arm, t: interval(test[arm] - test[0], 1.96)
        ),
    },
)
