"""Hero figures: what only smooth motion teaches, each an ES module sent inside the notebook's output.

    hero("shuffle", positions=True)  # last expression of a cell

The source travels in the output, so the figure runs on the page, in JupyterLab and in Colab's sandboxed
frame, with no server, no kernel and no global name. Where scripts do not run, the words in the element stay and,
of figures that stand in the book, a picture, which `make cards` has drawn. The output depends on the sources and the
options alone: running a notebook again changes no byte.

`python d2lpos/figures/hero.py shuffle` prints the module that is sent, and a `plain` behind the name that of the plain
form; the tests in node read that.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

# A module's own scope keeps the figures of one page apart, but hides which script it is: elements are found
# by a hash. One that is drawn already is left alone, because a page may hold the same output twice.
PAGE = """\
<div data-hero="{key}">{fallback}</div>
<script type="module">
{module}
for (const element of document.querySelectorAll('[data-hero="{key}"]'))
  if (!element.shadowRoot) render(element, {arguments});
</script>
"""

HERE = Path(__file__).parent
STILLS = HERE / "stills"
WORDS = ("the", "fox", "jumps", "over", "the", "dog")
PLACES = ("none", "sum", "token", "position", "independent", "whole position")
STUDIES = ("order", "extrapolation", "table", "needle", "far", "scale", "layers", "digits")
PACKED = ("count on", "begin again", "mask by text")
BEFORE = {"machine": ("reader",), "packed": ("guess",), "pairs": ("guess",)}  # sources that are sent before a figure's own
TARGETS, VIEWS = ("row", "right", "diagonal", "ring"), ("8 × 8", "counted", "to scale")


@dataclass(frozen=True)
class Option:
    """A default, the values that are accepted, and words for these."""

    default: Any
    accepts: Callable[[Any], bool]
    wanted: str

    def or_none(self) -> "Option":
        """The same, with None as the default, which is accepted, too."""
        return Option(None, lambda v: v is None or self.accepts(v), f"None or {self.wanted}")


def whole(default: int, last: int, first: int = 0) -> Option:
    wanted = f"a whole number from {first} to {last}"
    return Option(default, lambda v: type(v) is int and first <= v <= last, wanted)


def one_of(default: str | int, *values: str | int) -> Option:
    """One of the values, which are all words or all whole numbers; 8.0 and True are no whole numbers."""
    kind = type(default)
    return Option(default, lambda v: type(v) is kind and v in values, "one of " + ", ".join(map(str, values)))


def is_order(value: Any, count: int) -> bool:
    """Whether it is a list or a tuple of the whole numbers below count, in any order."""
    numbers = isinstance(value, list | tuple) and all(type(number) is int for number in value)
    return numbers and sorted(value) == list(range(count))


SWITCH = Option(False, lambda v: type(v) is bool, "True or False")
SEED = whole(7, 2**32 - 1)
OPTIONS = {
    "buckets": {
        "kind": one_of("causal", "both", "causal", "shaw"),
        "buckets": one_of(32, 8, 16, 32, 64),
        "max_distance": whole(128, 256, first=40),
        "clip": whole(16, 32, first=1),
        "length": whole(64, 128, first=8),
        "offset": whole(-40, 127, first=-127),
    },
    "cliff": {
        "p": whole(11, 31),
        "length": whole(32, 32, first=8),
        "remedy": one_of("wrapped", "error", "last row", "wrapped", "stretched", "blocks"),
    },
    "clocks": {
        "p": whole(11, 63),
        "mode": one_of("clocks", "digits", "clocks"),
        "base": one_of(64, 8, 64, 1000, 10_000, 100_000),
        "plain": SWITCH,
    },
    "dial": {"m": whole(14, 31), "n": whole(6, 31)},
    "dropout": {
        "place": one_of("position", *PLACES),
        "rate": Option(0.2, lambda v: type(v) in (int, float) and 0 <= v <= 0.5, "a number from 0 to 0.5"),
        "offset": whole(4, 32, first=1),
        "seed": SEED,
    },
    "gates": {"gate": Option(0.9, lambda v: type(v) in (int, float) and 0.02 <= v <= 1, "a number from 0.02 to 1")},
    "grid": {
        "study": one_of("extrapolation", *STUDIES),
        "value": one_of("accuracy", "accuracy", "loss", "loss_last").or_none(),
        "split": one_of("test", "test", "unseen"),
        "length": Option(64, lambda v: type(v) is int, "a whole number").or_none(),
    },
    "longer": {"length": whole(256, 256, first=32)},
    "packed": {"way": one_of("count on", *PACKED)},
    "pairs": {"pair": whole(0, 31).or_none()},
    "patch": {
        "target": one_of("diagonal", *TARGETS),
        "view": one_of("8 × 8", *VIEWS),
        "row": whole(3, 7),
        "column": whole(3, 7),
    },
    "shuffle": {
        "order": Option([0, 1, 2, 3, 4, 5], lambda v: is_order(v, 6), "the numbers 0 to 5 in any order"),
        "positions": SWITCH,
        "causal": SWITCH,
        "seed": SEED,
    },
    "slopes": {
        "heads": whole(8, 16, first=1),
        "length": one_of(512, *(2**n for n in range(2, 13))),
        "rule": one_of("released", "released", "paper"),
        "back": one_of(64, *(2**n for n in range(1, 12))),
        "match": whole(6, 12),
    },
    "stretch": {
        "rule": one_of("as trained", "as trained", "linear", "ntk", "dynamic ntk", "yarn", "llama3"),
        "length": whole(256, 512, first=64),
    },
}
for options in OPTIONS.values():
    options["play"] = SWITCH


class Hero:
    """What `hero` returns: the figure for a page, and a description of it for everything else."""

    def __init__(self, name: str, options: dict[str, Any]):
        self.name, self.options = name, options
        self.state = {option: value for option, value in options.items() if option != "play"}
        refuse(name, self.state)
        self.description = described(name, self.state)

    @property
    def source(self) -> str:
        return module(self.name, self.options.get("plain", False))

    def arguments(self, options: dict[str, Any]) -> str:
        shown = data(self.name)
        return json.dumps(options, sort_keys=True) + (f", {json.dumps(shown, separators=(',', ':'))}" if shown else "")

    @property
    def still(self) -> Path:
        """Where the picture of this state lies, if it is in the book; of another script or other words it is another file."""
        content = self.source + self.arguments(self.state) + self.description
        return STILLS / f"{self.name}-{sha256(content.encode()).hexdigest()[:12]}.svg"

    @property
    def picture(self) -> str:
        return self.still.read_text("utf-8") if self.still.exists() else ""

    @property
    def html(self) -> str:
        """The figure as a page holds it, with words and a picture or a table for readers without scripts."""
        fallback = f"<p>{escape(self.description)}</p>"
        if self.name == "grid":
            from .grid import table_of_view

            fallback += table_of_view(**self.state)
        else:
            fallback += self.picture
        if "guess" in BEFORE.get(self.name, ()):
            fallback = f'<div class="answer">{fallback}</div>'  # out of sight on a page whose script will ask first
        arguments = self.arguments(self.options)
        key = sha256((self.source + arguments).encode()).hexdigest()[:12]
        return PAGE.format(key=key, fallback=fallback, module=self.source, arguments=arguments)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from .image import image

        return {"text/html": image(self.picture, self.description, self.html), "text/plain": self.description}


def hero(name: str, **options: Any) -> Hero:
    """The interactive figure of that name, with options of its own.

    buckets: kind, "both" or "causal" of T5, or "shaw"; buckets, 8, 16, 32 or 64; max_distance, 40 to 256; clip of
    Shaw, 1 to 32; length of training, 8 to 128; offset, -127 to 127.
    cliff: position p, 0 to 31; length of the text, 8 to 32 tokens; remedy past the 8 rows of the table, "error",
    "last row", "wrapped", "stretched" or "blocks".
    clocks: position p, 0 to 63; mode, "digits" or "clocks"; base of the clocks, 8, 64, 1000, 10000 or 100000; plain,
    whether hands and hill are all there is, and position alone can be changed.
    dial: positions m of the query and n of the key, 0 to 31.
    dropout: place, "none", "sum", "token", "position", "independent" or "whole position"; rate, 0 to 0.5; offset,
    1 to 32; seed.
    gates: gate at the full stop of a sentence, 0.02 to 1.
    grid: study, "order", "extrapolation", "table", "needle", "far", "scale", "layers" or "digits"; value,
    "accuracy", "loss" or "loss_last", or None for the study's own; split, "test" or "unseen"; length, or None for
    the longest.
    longer: length of the text, 32 to 256 tokens.
    packed: way in which two texts share a row, "count on" or "begin again" of the second's positions, or "mask by text".
    pairs: pair of SmolLM2 that stands still in all layers, 0 to 31, or None for none.
    patch: target, "row", "right", "diagonal" or "ring"; view, "8 × 8" patches, or 16 × 16 with positions that are
    "counted" or "to scale"; row and column of the query, 0 to 7, where the picture has 8 × 8.
    shuffle: order of the words 0 to 5 of "the fox jumps over the dog"; positions, whether they are added; causal,
    whether the mask is on; seed of the shuffle button.
    slopes: heads of ALiBi, 1 to 16; length of the text, a power of two from 4 to 4096; rule, "released" or "paper";
    back, how many tokens ago a word stands that matches, a power of two from 2 to 2048; match, its score above the
    others, 0 to 12.
    stretch: rule, "as trained", "linear", "ntk", "dynamic ntk", "yarn" or "llama3"; length of the text, 64 to 512.

    All have `play`: with True the figure shows its idea for five seconds when half of it is first in view, unless the
    reader prefers reduced motion, and stops when a hand touches it. Its button plays the same again.

    Raises ValueError for an unknown name, for a value out of range, for what a study did not measure
    and for plain digits, TypeError for an unknown option.

    >>> hero("dial", m=3, n=1).options
    {'m': 3, 'n': 1, 'play': False}
    """
    if name not in OPTIONS:
        raise ValueError(f"there is no hero figure {name!r}; there are {', '.join(OPTIONS)}")
    known = OPTIONS[name]
    for option, value in options.items():
        if option not in known:
            raise TypeError(f"{name} has no option {option!r}; it has {', '.join(known)}")
        if not known[option].accepts(value):
            raise ValueError(f"{option} of {name} must be {known[option].wanted}; got {value!r}")
    return Hero(name, {option: known[option].default for option in known} | options)


def module(name: str, plain: bool = False) -> str:
    """The source of the ES module that is sent: the shared helpers, then the figure's own, whose plain form is apart."""
    before = BEFORE.get(name, ()) + ("row",) * plain
    parts = ("helpers", *before, name)
    return "".join((HERE / f"{part}.js").read_text("utf-8") for part in parts)


def described(name: str, state: dict[str, Any]) -> str:
    """What a figure shows, in words: those of descriptions.json, which has each state of the book, or else its options."""
    if name == "grid":
        # Late, because the rest of this file needs only the standard library.
        from .grid import describe_view

        return describe_view(**state)
    usual = {option: known.default for option, known in OPTIONS[name].items() if option != "play"}
    for one in json.loads((HERE / "descriptions.json").read_text("utf-8"))[name]:
        if usual | one["options"] == state:
            return one["says"]
    return f"The interactive figure “{name}” with {', '.join(f'{key} = {value}' for key, value in state.items())}."


def refuse(name: str, state: dict[str, Any]) -> None:
    """Raise ValueError for options that exclude each other."""
    match name, state:
        case "clocks", {"plain": True, "mode": mode} if mode != "clocks":
            raise ValueError(f"mode of clocks must be clocks where plain is True; got {mode!r}")


def data(name: str) -> Any:
    """What a figure shows besides its options, or None."""
    # Late, because the rest of this file needs only the standard library.
    if name == "grid":
        from .grid import numbers

        return {study: numbers(study) for study in STUDIES}
    if name == "pairs":
        board, text = result("real-board"), result("real-sentence")
        return {
            "loss": board["base"][0],
            "rises": [rise for rise, *_ in board["columns"]],
            "begins": text["begins"],
            "goes": [text["goes"][index] for index in (0, *text["columns"])],
        }
    if name == "patch":
        return json.loads((HERE / "patch.json").read_text("utf-8"))
    if name == "packed":
        return result("packed")
    return None


def result(name: str) -> Any:
    """What is in a file of the results."""
    from ..runtime.published import published

    return json.loads((published("results") / f"{name}.json").read_text("utf-8"))


if __name__ == "__main__":
    print(module(sys.argv[1], "plain" in sys.argv[2:]), end="")
