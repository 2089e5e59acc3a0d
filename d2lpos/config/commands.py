"""What a command that starts a program does to a model: the file as that program changes it, the length, what goes wrong.

tables/commands.json has the flags; they and their effects were read in vLLM 0.33 (vllm/config/model.py,
vllm/transformers_utils/config.py), SGLang 0.5.23 (sglang/srt/utils/hf_transformers/config.py, sglang/srt/configs/model_config.py)
and llama.cpp since its pull request 28030 (src/llama-context.cpp, tools/server/server-context.cpp). `book/your-model/commands.js` is the page's.
"""

import json
import re
from collections.abc import Mapping
from typing import TypedDict

from .angles import turns
from .edits import TEXT, apply
from .outer import check_depth
from .read import read
from .rope import FLAT, words_of_rules
from .schema import Reading
from .tables import Refused, entry, table
from .words import fill

WORD = re.compile(r"""(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+""")
PIECE = re.compile(r"""'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)""")
SET = re.compile(r"^[A-Za-z_]\w*=")
NUMBER = re.compile(r"^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)([kKmM]?)$")
TIMES = {"": 1, "k": 1000, "m": 10**6, "K": 1 << 10, "M": 1 << 20}
FAILED = "\0"  # where a program fails, the model_type
ROPE = ("rope_parameters", "rope_scaling")
GROWING = ("linear", "dynamic_ntk")  # rules by whose factor vLLM and SGLang multiply the length of the file


class Ran(TypedDict):
    """program is a name of tables/programs.json; config the file as it is read with these flags, length the tokens of a text at
    most, both None where it stops as it starts; notes say what goes wrong."""

    program: str
    config: dict | None
    length: int | None
    notes: list[str]


def ran(command: str, config: Mapping) -> Ran:
    """What a start command does with a model's config.json. Raises Refused for other commands, and for flags without a value.

    >>> command = "vllm serve Qwen/Qwen3-8B --max-model-len 16k"
    >>> ran(command, {"model_type": "qwen3"})["length"]
    16000
    """
    words = [unquoted(word) for word in WORD.findall(command.replace("\\\n", " "))]
    called = " ".join(word for word in words if not SET.match(word))
    settings = dict(word.split("=", 1) for word in words if SET.match(word))
    program = next(
        (name for name, one in table("commands").items() if re.search(one["starts"], called)), None
    )
    if program is None:
        raise Refused("command", got=command)
    about, name = table("commands")[program], table("programs")[program]["name"]
    flags = flags_of(words, about)
    if gone := sorted(flags.keys() & set(about["gone"].split())):
        notes = [said("gone", flag=flag, program=name) for flag in gone]
        return {"program": program, "config": None, "length": None, "notes": notes}
    values = {about["flags"][flag]: value for flag, value in flags.items() if flag in about["flags"]}
    unread = [flag for flag in about["unread"].split() if flag in flags]
    notes = [said("unread", flags=unread)] * bool(unread)
    if program == "llama.cpp":
        return {"program": program, **of_flags(values, config, notes)}
    edited = overridden(values.get("overrides", "{}"), config, program, notes)
    return {"program": program, **checked_length(values.get("length"), edited, settings, program, notes)}


def said(code: str, **fields: object) -> str:
    return fill(table("words")["commands"][code], **fields)


def unquoted(word: str) -> str:
    """A word of a shell's line without its quotes."""
    parts = PIECE.findall(word)
    return "".join(
        one or re.sub(r'\\(["\\$`])', r"\1", two) or three or four for one, two, three, four in parts
    )


def flags_of(words: list[str], about: Mapping) -> dict[str, str]:
    """The flags that matter, each with its last value."""
    unread = about["unread"].split()
    known = {*about["flags"], *about["gone"].split(), *unread}
    flags = {}
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        name = name.replace("_", "-") if name.startswith("--") else name
        if name not in known:
            continue
        following = words[i + 1] if i + 1 < len(words) else ""
        value = value if equals else following
        if about["flags"].get(name) == "shared" or name in unread:
            value = "on"
        elif not value or not equals and re.match("-+[a-z]", value):
            raise Refused("command_value", flag=name)
        flags[name] = value
    return flags


def number_of(flag: str, value: str) -> float:
    """A number as programs take it: 16k is 16,000, and 16K is 16,384."""
    match = NUMBER.match(value)
    if not match:
        raise Refused("number", key=flag, got=value)
    number = float(match[1]) * TIMES[match[2]]
    return int(number) if number.is_integer() else number


def overridden(text: str, config: Mapping, program: str, notes: list[str]) -> dict | None:
    """The file with the keys of a JSON flag, as the program puts them in; None where it fails then."""
    flag = next(flag for flag, what in table("commands")[program]["flags"].items() if what == "overrides")
    try:
        keys = json.loads(text)
        check_depth(keys, flag)
    except (ValueError, RecursionError):
        keys = None
    if not isinstance(keys, dict):
        raise Refused("command_json", flag=flag, got=text)
    edited, inner = apply(config, []), isinstance(config.get(TEXT), dict)
    reading, idle = read(config), []
    for key, value in keys.items():
        if inner and key in (*ROPE, "rope_theta", "max_position_embeddings"):
            idle.append(key)
        elif isinstance(value, dict) and isinstance(edited.get(key), dict) and key not in ROPE:
            part = {place: one for place, one in value.items() if place not in ROPE}
            edited[key] |= part
            for place in (name for name in ROPE if name in value):
                replace(edited[key], place, value[place], reading, program, program == "vllm", flag, notes)
        elif key in ROPE and isinstance(value, dict):
            replace(edited, key, value, reading, program, program == "sglang", flag, notes)
        elif key == "rope_theta" and program == "vllm":
            notes.append(said("base_alone", flag=flag))
        else:
            edited[key] = value
    if idle:
        notes.append(said("flat", flag=flag, keys=idle, outer=reading["outer"]))
    parts = [edited, *(one for one in edited.values() if isinstance(one, dict))]
    return None if any(one.get("model_type") == FAILED for one in parts) else edited


def replace(
    keys: dict,
    place: str,
    value: dict,
    reading: Reading,
    program: str,
    merges: bool,
    flag: str,
    notes: list[str],
) -> None:
    """Put RoPE's parameters among a text's keys: merged with those of the file, or in their place, where what is left out is lost."""
    base = (reading["at"]["rules"].get("") or {}).get("rope_theta")
    old = next((keys[name] for name in ROPE if isinstance(keys.get(name), dict)), {})
    whole = {**old, **value} if merges else dict(value)
    whole = whole if "rope_theta" in whole or base is None or not merges else {**whole, "rope_theta": base}
    kinds = [one for one in whole.values() if isinstance(one, dict)] or [whole]
    if not merges and not all("rope_theta" in one for one in kinds):
        if place == "rope_scaling":
            notes.append(said("no_base", flag=flag))
            keys["model_type"] = FAILED
            return
        lost = table("commands")[program].get("bases", {}).get(reading["family"], 10_000)
        for one in kinds:
            one.setdefault("rope_theta", lost)
        if base not in (None, lost):
            notes.append(said("lost_base", flag=flag, base=lost, file=base))
    if program == "vllm" and not all("rope_type" in one for one in kinds):
        notes.append(said("no_type", flag=flag))
        keys["model_type"] = FAILED
        return
    put(keys, reading, whole)


def put(keys: dict, reading: Reading, rules: dict) -> None:
    """RoPE's parameters as the only ones among a text's keys."""
    doubled = "type" if "rope_type" in rules else None
    rules = {
        key: value
        for key, value in rules.items()
        if (key, value) != ("partial_rotary_factor", 1) and key != doubled
    }
    aliases = [name for name, key in entry(reading["family"])["aliases"].items() if key in FLAT]
    for key in (*ROPE, *FLAT, *aliases):
        keys.pop(key, None)
    keys["rope_parameters"] = rules


def checked_length(
    asked: str | None, edited: dict | None, settings: Mapping, program: str, notes: list[str]
) -> dict:
    """The length that vLLM or SGLang starts with: at most what the file allows, unless a variable of the environment lets it."""
    about = table("commands")[program]
    flag = next(flag for flag, what in about["flags"].items() if what == "length")
    if edited is None:
        return {"config": None, "length": None, "notes": notes}
    reading = read(edited)
    rules = [one["encoding"]["rule"] or {} for one in reading["kinds"] if turns(one)]
    growing = [one["factor"] for one in rules if one.get("kind") in GROWING]
    begun = any("original_max_position_embeddings" in (one or {}) for one in reading["at"]["rules"].values())
    grows = growing and not (reading["family"].startswith(about["grown"]) if program == "vllm" else begun)
    allowed = int((reading["lengths"]["allowed"] or 2048) * (growing[0] if grows else 1))
    length = allowed if asked in (None, "-1", "auto") else number_of(flag, asked)
    if program == "vllm" and asked is None and any(one.get("kind") == "longrope" for one in rules):
        length = reading["lengths"]["original"] or allowed
    over = " ".join(table("programs")[program].get("passes_over", {}).values()).split()
    if program == "sglang" and any(rules) and reading["family"] in over:
        notes.append(said("passes_over", family=reading["family"]))
    if length <= allowed:
        return {"config": edited, "length": length, "notes": notes}
    fields = {"length": length, "allowed": allowed, "env": about["longer"]}
    lets = settings.get(about["longer"], "").strip().lower() in ("1", "true")
    notes.append(said("forced" if lets else "stops", **fields))
    return {"config": edited if lets else None, "length": length if lets else None, "notes": notes}


def of_flags(values: Mapping, config: Mapping, notes: list[str]) -> dict:
    """What llama-server does: flags come before the file's keys, and each text is cut at what the file allows."""
    reading = read(config)
    names = {what: flag for flag, what in reversed(table("commands")["llama.cpp"]["flags"].items())}
    numbers = {
        name: number_of(names[name], one)
        for name, one in values.items()
        if name not in ("rule", "shared", "keys")
    }
    trained = file = reading["lengths"]["allowed"] or 0
    if raised := re.search(r"\.context_length=int:(\d+)", values.get("keys", "")):
        trained = int(raised[1])
    kind = next((kind for kind in ("full_attention", "") if reading["at"]["rules"].get(kind)), "")
    rule = reading["at"]["rules"].get(kind) or {}
    factor = numbers.get("factor") or (1 / numbers["scale"] if numbers.get("scale") else None)
    form = values.get("rule") or rule.get("rope_type") or ("linear" if factor else "default")
    form = "linear" if form == "default" and factor else form
    made = rule | ({"rope_theta": numbers["base"]} if "base" in numbers else {})
    ramp = [key for key in ("original", "beta_fast", "beta_slow") if key in numbers]
    notes += [said("no_yarn", flags=[names[key] for key in ramp])] * bool(ramp and form != "yarn")
    if values.get("rule") or factor or ramp and form == "yarn":
        made = {key: value for key, value in made.items() if form == "yarn" or key not in words_of_rules()}
        made |= {
            "rope_type": "default" if form == "none" else form,
            "factor": factor or rule.get("factor") or 1,
        }
        if form == "yarn":
            length = numbers.get("original") or reading["lengths"]["original"] or trained
            made["original_max_position_embeddings"] = length
            made |= {key: numbers[key] for key in ("beta_fast", "beta_slow") if key in numbers}
            notes += [said("idle")] * (made["factor"] == 1)
            moved = trained != file and not numbers.get("original") and not reading["lengths"]["original"]
            notes += [said("moved", length=file)] * moved
            if made["factor"] != (rule.get("factor") or 1):
                trained = int(length * made["factor"])
        if form not in ("yarn", "linear") or made["factor"] == 1:
            made = {"rope_type": "default"} | {
                key: made[key] for key in made if key not in {"rope_type", *words_of_rules()}
            }
    config = config if made == rule else with_rule(config, reading, kind, made)
    whole = numbers.get("length") or trained
    slots = 1 if "shared" in values else int(numbers.get("slots", 1))
    length = whole // slots if slots > 1 else whole
    notes += [said("shared", asked=whole, slots=slots, length=length)] * (slots > 1)
    notes += [said("capped", asked=length, allowed=trained)] * (length > trained > 0)
    return {"config": dict(config), "length": min(length, trained) if trained else length, "notes": notes}


def with_rule(config: Mapping, reading: Reading, kind: str, rule: dict) -> dict:
    """The file with other parameters of RoPE for the layers that see all, or for all."""
    edited = text = apply(config, [])
    for place in reading["at"]["file"]:
        text = text[place]
    rules = {name: one for name, one in reading["at"]["rules"].items() if one}
    text.pop("original_max_position_embeddings", None)
    put(text, reading, rules | {kind: rule} if kind else rule)
    return edited
