"""Download the weights of the trained models, or read a configuration: `python -m d2lpos.pretrained --help`."""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from .as_numbers import as_numbers
from .files import parse
from ..config.names import identity, release_of, steps
from .picture import drawn
from .reading import encoding_of
from .sentence import sentence
from .serving import ADDED, PROGRAMS, RULES, SECTIONS, UNSET, in_words, longest, settings, without
from .weights import WEIGHTS, fetch

EPILOG = f"""\
without `read`: names of weights to download into your cache, of {', '.join(WEIGHTS)}; by default all"""


def parser() -> argparse.ArgumentParser:
    """The arguments of `read`."""
    read = argparse.ArgumentParser(
        prog="python -m d2lpos.pretrained read",
        description="Say what a model does with positions, layer by layer, from its config.json or, for a release that the book's list has, by its name. Nothing is downloaded.",
        epilog=EPILOG,
    )
    read.add_argument("file", metavar="FILE", help="the config.json of a model, - for standard input, or the name of a release, as Qwen3-8B")
    read.add_argument("--length", type=int, metavar="N", help="tokens of the text: dynamic NTK and LongRoPE ask for it")
    read.add_argument("--trained", type=int, metavar="N", help="tokens of the texts that it was trained on, if you know")
    read.add_argument("--settings", choices=PROGRAMS, metavar="PROGRAM", help=f"settings for --length: {', '.join(PROGRAMS)}")
    told = "the rule of --settings; by default nothing within what the file allows, and YaRN beyond it"
    read.add_argument("--rule", choices=(*RULES, *UNSET), metavar="RULE", help=f"{told}: {', '.join(RULES)}")
    read.add_argument("--ignore", nargs="+", default=[], metavar="KEY", help="keys to pass over, as wobble or rope_scaling.wobble")
    read.add_argument("--picture", metavar="FILE", help="draw for --length what the page draws, as SVG")
    read.add_argument("--json", action="store_true", help="print JSON instead of words")
    return read


def main(arguments: list[str]) -> str | None:
    """Return a sentence where a file could not be read or the weights could not be had."""
    if arguments and arguments[0] not in ("read", "-h", "--help"):
        return attempt(lambda: fetch(arguments))
    if not arguments:
        return attempt(lambda: fetch(WEIGHTS))
    asked = parser().parse_args(arguments[1:] if arguments[0] == "read" else arguments)

    def read() -> None:
        if asked.length is not None and asked.length < 1:
            raise ValueError(f"--length must be at least 1; got {asked.length}")
        for name in ("settings", "picture"):
            if getattr(asked, name) and asked.length is None:
                raise ValueError(f"--{name} must have --length, the tokens of the text")
        if asked.rule and not asked.settings:
            raise ValueError("--rule must have --settings, the program that it is for")
        values, release = opened(asked.file)
        lengths, stretch = release.get("trained", ()), release.get("stretch")
        trained = asked.trained or max(lengths, default=None)
        source = "as its makers say" if lengths and not asked.trained else "as you say"
        if release:
            where = f"{release['name']}, read from the book's list: {release['source']}"
            print(where, file=sys.stderr if asked.json else sys.stdout)
        reading = encoding_of(values, asked.length, asked.ignore)
        values = without(values, asked.ignore)
        if not asked.json or asked.picture:
            numbers = as_numbers(values, asked.length)
        if not asked.json:
            print(sentence(numbers, trained, release.get("name")))
        print(json.dumps(reading.as_data(), indent=1, ensure_ascii=False) if asked.json else reading)
        if asked.length and not asked.json:
            print(in_words(values, asked.length, trained, source))
        if asked.picture:
            told = drawn(numbers, reading, asked.length, trained or longest(values), bool(trained))
            Path(asked.picture).write_text(told, "utf-8")
        if asked.settings:
            print(f"settings for {PROGRAMS[asked.settings]}:")
            told = settings(values, asked.length, asked.settings, trained, asked.rule)
            print(re.sub(r"\bMODEL\b(?!\.gguf)", identity(release), told, count=1) if release else told)
            if "rope" in told:
                if stretch and asked.length <= stretch["to"] and asked.rule in (None, stretch["rule"]):
                    print(f"as its makers say: {stretch['source']}")
                print(f"look out: {ADDED.format(asked.rule or 'yarn')} ({SECTIONS['released']})")

    return attempt(read)


def opened(name: str) -> tuple[dict, Mapping]:
    """A configuration, and the release that it is of; empty where it comes from a file or from standard input.

    Raises as `parse` and `Path.read_text` do, for a path too that leads nowhere, and a ValueError for a name that is neither a
    file's nor a release's.
    """
    if name == "-" or Path(name).exists() or not steps(name):
        return parse(sys.stdin.read() if name == "-" else Path(name).read_text("utf-8"), name), {}
    try:
        release = release_of(name)
    except ValueError as error:
        raise ValueError(f"{name}: no such file, and {error}") from None
    return release["config"], release


def attempt(work: object) -> str | None:
    try:
        work()
    except (ValueError, TypeError, OSError) as error:
        return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
