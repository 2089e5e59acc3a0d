"""Whether a model reads texts of a length: yes, with a setting, perhaps or no, and why. The words are in tables/verdict.json.

What makers say of length stands in the table of releases: `trained` has the lengths of their texts by stages, `context` the
length that they release a model for, `stretch` a rule that its user may set, how far it goes, and by `word` whether they tested
it. Of a file without a release nothing but the file is known, and the words say so.
"""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from .angles import fresh, reach, rule_kind, stretched, turns
from .arguments import check_tokens
from .edits import edits, has_slopes
from .schema import Reading
from .stretch import within_window
from .tables import Refused, table
from .words import fill

CLAUSES = ("by", "allows", "makers")


class Makers(TypedDict):
    """What is known of a model's length. by is training or context, which its makers say, or file, class or nobody; source is
    where that stands, None of a file alone. own is the stretch in its file, and user the one that its makers tell to set."""

    by: str
    length: int | None
    source: str | None
    own: bool
    user: Mapping | None


class Verdict(TypedDict):
    """kind is yes, setting (not as released, but as its makers tell), perhaps, no or unknown; code says why, by `answers` of
    tables/verdict.json, and fields are its numbers. by, allows and makers name clauses of the sentence. past says that the file
    does not allow what may be read, optional that the makers release the model without the stretch in its file. cap is the
    longest text without a setting, in tokens, where the answer is no or not known. rule is the stretch that it speaks of."""

    kind: str
    code: str
    tokens: int
    fields: dict[str, object]
    by: NotRequired[str]
    allows: NotRequired[str]
    makers: NotRequired[str]
    optional: NotRequired[bool]
    past: NotRequired[bool]
    cap: NotRequired[int]
    rule: NotRequired[str]


def makers(reading: Reading, release: Mapping | None = None) -> Makers:
    """What its makers, or else its file or its class, say of length.

    >>> makers(read({"model_type": "qwen3", "max_position_embeddings": 40_960}))["by"]
    'file'
    """
    about, lengths = release or {}, reading["lengths"]
    trained, context = max(about.get("trained") or (0,)), about.get("context") or {"to": 0}
    by, length, source = "nobody", None, None
    if context["to"] > trained:
        by, length, source = "context", context["to"], context["source"]
    elif trained:
        by, length, source = "training", trained, about.get("report") or about.get("source")
    elif allowed := lengths["rows"] or lengths["allowed"]:
        by, length, source = "class" if lengths["by_class"] else "file", allowed, about.get("source")
    return {
        "by": by,
        "length": length,
        "source": source,
        "own": stretched(reading),
        "user": about.get("stretch"),
    }


def factor_and_reach(stretch: Mapping) -> tuple[float, int]:
    """The factor that makers tell for a stretch, and how many tokens that reaches, where each has a position of its own."""
    most = stretch.get("factor", stretch["to"] / stretch["from"])
    return most, min(stretch["to"], int(most * stretch["from"]))


def verdict(reading: Reading, tokens: int, release: Mapping | None = None) -> Verdict:
    """Whether the model reads a text of that length, with the reason and its numbers.

    release is a row of `names.releases`, or a part of one such as {"trained": [4096]}: what the model's authors say.
    Raises TypeError if tokens is not an integer, and ValueError if it is not positive or larger than any text.

    >>> gpt2 = verdict(read({"model_type": "gpt2"}), 2048)
    >>> gpt2["kind"], gpt2["cap"]
    ('no', 1024)
    """
    check_tokens(tokens=tokens)
    said = makers(reading, release)
    code, fields = answer(reading, tokens, said)
    words = table("verdict")
    kind = next(name for name, codes in words["kinds"].items() if code in codes)
    made: Verdict = {"kind": kind, "code": code, "tokens": tokens, "fields": fields}
    made |= {name: fields.pop(name) for name in CLAUSES if name in fields}
    if code.startswith("own") and reading["family"] in table("words")["released_without_a_stretch"].split():
        made["optional"] = True
    if 0 < (reading["lengths"]["allowed"] or 0) < tokens and code in words["without_angles"]:
        made["past"] = True
    if "factor" in fields and kind in ("setting", "perhaps") and code != "dynamic":
        made["rule"] = "yarn"
    lengths = reading["lengths"]
    cap = min(
        filter(None, (lengths["until"], lengths["rows"] or lengths["allowed"] or said["length"])),
        default=None,
    )
    if cap and kind in ("no", "unknown") and not reading["pictures"]:
        made["cap"] = cap
    return made


def answer(reading: Reading, tokens: int, said: Makers) -> tuple[str, dict]:
    """The code of an answer, and its fields."""
    lengths = reading["lengths"]
    rows, until, allowed, length = lengths["rows"], lengths["until"], lengths["allowed"] or 0, said["length"]
    by_makers = said["by"] in ("training", "context")
    known = {"by": said["by"], "length": length}
    if reading["pictures"]:
        return "picture", {}
    if until is not None and tokens > until:
        return "until", {"until": until}
    if rows is not None and not (by_makers and length < tokens <= rows):
        return ("rows" if tokens > rows else "rows_within"), {"rows": rows}
    if by_makers and tokens <= length:
        grows = 0 < allowed < tokens
        return "grow" if grows else said["by"], {"length": length, **({"allowed": allowed, "by": said["by"]} if grows else {})}
    turning = [layer for layer in reading["kinds"] if turns(layer)]
    if stretched(reading) and allowed:
        return of_own(reading, tokens, known if by_makers else None, said["user"])
    if length and not by_makers and tokens <= length:
        return said["by"], {"length": length}
    if not turning or all(map(within_window, turning)):
        return without_angles(reading, known)
    if length is None:
        return "unknown", {}
    if not any(pair for layer in turning for pair in fresh(layer, length, tokens)):
        return "angles", known
    if tokens <= allowed:
        allows = {"allows": "class" if lengths["by_class"] else "file", "allowed": allowed}
        return with_stretch(reading, tokens, said, ("beyond", {**known, **allows}))
    return with_stretch(reading, tokens, said, None)


def of_own(reading: Reading, tokens: int, known: dict | None, user: Mapping | None) -> tuple[str, dict]:
    """Of a file that has a stretch. known is the length that its makers tell of, which tokens exceed, and user the stretch that
    they tell to set, which the file may have by now."""
    lengths = reading["lengths"]
    allowed, original = lengths["allowed"], lengths["original"]
    fields = {"allowed": allowed}
    plain = not original or original >= allowed
    both = fields if plain else {"original": original, **fields}
    rules = [
        layer["encoding"]["rule"]
        for layer in reading["kinds"]
        if turns(layer) and rule_kind(layer["encoding"])
    ]
    ways = {(rule["kind"], rule.get("length")) for rule in rules}
    if user and tokens <= min(allowed, user["to"]) and ways == {(user["rule"], user["from"])}:
        factor = rules[0]["factor"]
        if tokens <= factor * user["from"] and factor <= factor_and_reach(user)[0]:
            return "own_told", advice(factor, user)
    if tokens <= allowed:
        return ("own_untrained", {**fields, **known}) if known else (f"own{'_plain' * plain}", both)
    if tokens <= reach(reading):
        return "reach", {**fields, "reach": reach(reading)}
    growing = [
        rule for rule in rules if rule["kind"] == "dynamic_ntk" and tokens <= rule["factor"] * rule["length"]
    ]
    if growing:
        return "dynamic", {**fields, "factor": growing[0]["factor"]}
    return f"second{'_plain' * plain}", both


def without_angles(reading: Reading, known: dict) -> tuple[str, dict]:
    """Of a model in which no angle is new in a longer text; known says what is known of its length, and by whom."""
    turning = [layer for layer in reading["kinds"] if turns(layer)]
    if turning:
        return "windows", {**known, "window": max(layer["window"] or layer["chunk"] for layer in turning)}
    if has_slopes(reading):
        return "slopes", known
    doors = {layer["encoding"]["kind"] for layer in reading["kinds"] if layer["encoding"]}
    if doors:
        return ("offsets" if doors == {"TransformerXL"} else "buckets"), known
    if reading["input"] and reading["input"]["kind"] == "Convolutional":
        return "convolution", known
    if reading["input"]:
        return ("sinusoids", {"length": known["length"]}) if known["length"] else ("unknown", {})
    return "silent" if any(layer["attends"] for layer in reading["kinds"]) else "still", known


def with_stretch(
    reading: Reading, tokens: int, said: Makers, beyond: tuple[str, dict] | None
) -> tuple[str, dict]:
    """Of a model that YaRN may stretch. beyond is the answer without it, within what the file allows."""
    user, words = said["user"], table("verdict")
    try:
        changes = edits(reading, tokens, "yarn", said["length"])
    except Refused as why:
        return beyond or ("refused", {"why": {"code": why.code, "fields": why.fields}})
    factor = next(change["value"] for change in changes if change["path"][-1] == "factor")
    within = user and tokens <= factor_and_reach(user)[1]
    if beyond and not within:
        return beyond
    if factor > words["furthest"]:
        return "too_far", {"factor": factor, "furthest": words["furthest"]}
    if not user:
        return "untested", {"factor": factor}
    if beyond:
        return "beyond_with", {**beyond[1], **advice(factor, user)}
    return ("with" if within else "over"), advice(factor, user)


def advice(factor: float, user: Mapping) -> dict:
    """The fields of an answer that names a factor beside what makers tell."""
    return {"factor": factor, "makers": user.get("word", "told"), "to": user["to"], "most": factor_and_reach(user)[0]}


def in_words(made: Verdict) -> str:
    """The answer in a sentence or two."""
    words, fields = table("verdict"), dict(made["fields"])
    if "by" in made:
        fields["by"] = fill(words["by"][made["by"]], **fields)
    if "allows" in made:
        fields["allows"] = fill(words["by"][made["allows"]], length=fields["allowed"])
    if "makers" in made:
        fields["makers"] = fill(words["makers"][made["makers"]], **fields)
    if "why" in fields:
        fields["why"] = fill(table("refusals")[fields["why"]["code"]], **fields["why"]["fields"])
    sentences = [words["past"]] if made.get("past") else []
    sentences += [fill(words["answers"][made["code"]], **fields)]
    sentences += [words["optional"]] if made.get("optional") else []
    sentences += [fill(words["cap"], cap=made["cap"])] if "cap" in made else []
    return " ".join(sentences)


def cap_lines(made: Verdict) -> dict[str, str]:
    """The line that caps texts where the answer is no or not known, for each program; empty where there is nothing to cap."""
    if "cap" not in made:
        return {}
    return {name: fill(row["cap"], tokens=made["cap"]) for name, row in table("programs").items()}
