"""The tables of `d2lpos.pretrained` as data, for the page that reads a configuration in the browser.

    python -m tests.parity.reader_data    # write book/_static/reader-data.js and d2lpos/config/tables/releases.json

A row names its class and has the fields that differ from those of `classes`. A function is {"form": its name}, with its
arguments where it is a partial; `book/_static/reader.js` has each form once more.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path

import yaml

from d2lpos.config.tables import table
from d2lpos.pretrained import (
    biased,
    compressed,
    defaults,
    files,
    keys,
    own,
    reading,
    rotary,
    sentence,
    serving,
    turning,
)
from d2lpos.pretrained.families import FAMILIES, READ_BY_SOME, REFUSED
from d2lpos.pretrained.layer import Family
from tests.parity.releases import FILE as RELEASES

ROOT = Path(__file__).parents[2]
FILE = ROOT / "book" / "_static" / "reader-data.js"
FOR_THE_PACKAGE = ROOT / "d2lpos" / "config" / "tables" / "releases.json"


def plain(value: object) -> object:
    """JSON values of a field."""
    if isinstance(value, Family):
        return {"row": type(value).__name__, **own_fields(value)}
    if isinstance(value, partial):
        return {"form": value.func.__name__, **plain(value.keywords)}
    if callable(value):
        assert value.__name__ != "<lambda>", "a function of a row must have a name"
        return {"form": value.__name__}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: plain(one) for key, one in value.items()}
        return [[plain(key), plain(one)] for key, one in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def own_fields(row: Family) -> dict[str, object]:
    values = {one.name: (getattr(row, one.name), one.default) for one in fields(row)}
    return {name: plain(value) for name, (value, default) in values.items() if default is MISSING or value != default}


def classes() -> dict[str, dict]:
    """The fields of each class of rows, with their defaults."""
    found, waiting = {}, [Family]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found[kind.__name__] = {one.name: plain(one.default) for one in fields(kind) if one.default is not MISSING}
    return dict(sorted(found.items()))


ABOUT = ("row", "read", "remembered")  # what neither the page nor the package needs to know of a release


def releases() -> list[dict]:
    found = yaml.safe_load(RELEASES.read_text("utf-8"))
    return [{key: value for key, value in one.items() if key not in ABOUT} for one in found]


def tables() -> dict[str, object]:
    """All that the reader knows of families, keys, programs and releases."""
    rows, named = [], table("names")
    for row in FAMILIES.values():
        if row not in rows:
            rows.append(row)
    return {
        "classes": classes(),
        "rows": [plain(row) for row in rows],
        "families": {family: rows.index(row) for family, row in sorted(FAMILIES.items())},
        "refused": dict(sorted(REFUSED.items())),
        "defaults": defaults.entries(),
        "built_in": defaults.BUILT_IN,
        "aliases": defaults.ALIASES,
        "read_by_some": plain(READ_BY_SOME),
        "elsewhere": plain(reading.ELSEWHERE),
        "keys": {
            "long": rotary.LONG,
            "idle": plain(reading.IDLE),
            "silent": " ".join(sorted(keys.SILENT_KEYS)),
            "says_no": plain(keys.SAYS_NO),
            "whole": plain(keys.WHOLE),
            "positive": plain(keys.POSITIVE),
            "lists": plain(keys.LISTS),
            "dictionaries": plain(keys.DICTIONARIES),
            "by_stage": plain(keys.BY_STAGE),
            "slopes": plain(biased.MPT),
        },
        "layers": {
            "attention": plain(turning.ATTENTION),
            "patterns": plain(turning.PATTERNS),
            "sparse": plain(turning.SPARSE),
            "blocks": turning.BLOCKS,
            "beside_blocks": plain(turning.BESIDE_BLOCKS),
            "else": plain(turning.ELSE),
            "rates": compressed.RATES,
        },
        "rules": {
            "read": plain(rotary.READ),
            "nulls": plain(rotary.NULLS),
            "flat": plain(rotary.FLAT),
            "always": plain(rotary.ALWAYS),
            "spellings": plain(rotary.SPELLINGS),
            "synonyms": rotary.SYNONYMS,
            "stretches": plain(serving.STRETCHES),
        },
        "serving": {
            "programs": serving.PROGRAMS,
            "sections": serving.SECTIONS,
            "otherwise": sorted(serving.OTHERWISE),
            "passed_over": serving.PASSED_OVER,
            "one_table": sorted(serving.ONE_TABLE),
            "own": sorted(own.OWN),
            "keeps": serving.KEEPS,
            "uncapped": serving.UNCAPPED,
            "two_bases": sorted(serving.TWO_BASES),
            "headless": plain(serving.HEADLESS),
            "stretched_later": plain(serving.STRETCHED_LATER),
            "optional": serving.OPTIONAL,
            "released": serving.RELEASED,
            "rules": serving.RULES,
            "unset": serving.UNSET,
            "unknown": plain(serving.UNKNOWN),
            "heads": plain(serving.HEADS),
            "kept": plain(serving.KEPT),
            "twice": plain(serving.TWICE),
        },
        "sentences": {"adds": plain(sentence.ADDS), "by": {str(axes): words for axes, words in sentence.BY.items()}},
        "files": {"others": plain(files.OTHERS), "largest": files.LARGEST},
        "releases": releases(),
        "names": {
            **{key: named[key] for key in ("site", "trained", "copied")},
            "shown": named["nearest"],
            "least": named["likeness"],
            "beside": named["beside_best"],
        },
    }


def written() -> str:
    """A script that defines `readerData`, the text of the tables: a reader must tell 1.0 from 1."""
    text = json.dumps(tables(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    assert "`" not in text and "${" not in text
    text = text.replace('},"', '},\n"').replace('},{"', '},\n{"')
    return f"// Written by `python -m tests.parity.reader_data`.\nconst readerData = String.raw`{text}`;\nif (typeof module !== \"undefined\") module.exports = readerData;\n"


def written_for_the_package() -> str:
    """The releases as JSON, one a line."""
    lines = [json.dumps(one, ensure_ascii=False, allow_nan=False) for one in releases()]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    for file, text in (FILE, written()), (FOR_THE_PACKAGE, written_for_the_package()):
        file.write_text(text, "utf-8")
        print(f"{file}: {file.stat().st_size:,} bytes")
