"""A reading in lines: the input, then each kind of layer with its numbers. The words are in tables/words.json."""

from collections.abc import Mapping

from .angles import in_force, turns
from .arguments import check_until
from .schema import Encoding, Layer, Part, Reading
from .sentence import counted
from .sight import longest_of, sight
from .slopes import slopes
from .tables import table
from .words import as_json, fill, ranges

CUT, LAST = 120, 40  # signs of a rule with long lists that are shown: the first ones and the last ones


def lines(reading: Reading, tokens: int | None = None) -> str:
    """A reading in words: a line for family and direction, one for the input, and one for each kind of layer.

    tokens is the length of the text, by default short: with dynamic NTK and LongRoPE, frequencies depend on it.

    >>> print(lines(read({"model_type": "bloom", "n_layer": 2})))
    bloom: 2 layers, a token sees none after it
      input: nothing is added
      layers 0–1: ALiBi(heads=8)
      by default: n_head = 8
    """
    check_until(reading, tokens)
    return "\n".join(part(reading, reading["family"], tokens, longest_of(reading, tokens)))


def part(reading: Part, family: str, tokens: int | None, longest: int | None) -> list[str]:
    """The lines of a model, or of its encoder."""
    words, added, first = table("words")["layers"], reading["input"], reading["first"]
    every = [
        fill(
            words["head"],
            family=family,
            layers=counted(len(reading["layers"])),
            direction=words["causal" if reading["causal"] else "both"],
        ),
        fill(
            words["input"],
            what=encoding(added, tokens) if added else words["nothing"],
            first=fill(words["first"], first=first) if first else "",
        ),
    ]
    for what, places in kinds(reading, tokens, longest).items():
        every.append(fill(words["one" if len(places) == 1 else "several"], places=ranges(places), what=what))
    if reading.get("defaults"):
        keys = ", ".join(f"{key} = {as_json(value)}" for key, value in reading["defaults"].items())
        every.append(fill(words["defaults"], keys=keys))
    if reading.get("ignored"):
        every.append(fill(words["ignored"], keys=", ".join(reading["ignored"])))
    if reading.get("encoder"):
        inner = "\n".join(part(reading["encoder"], family, tokens, longest))
        every.append(fill(words["encoder"], lines=inner))
    return every


def kinds(reading: Part, tokens: int | None, longest: int | None) -> dict[str, list[int]]:
    """What layers do, and which do it, counted from 0."""
    texts = [layer(reading, one, tokens, longest) for one in reading["kinds"]]
    places: dict[str, list[int]] = {}
    for place, kind in enumerate(reading["layers"]):
        places.setdefault(texts[kind], []).append(place)
    return places


def layer(reading: Part, one: Layer, tokens: int | None, longest: int | None) -> str:
    """What a layer does, in words and numbers."""
    words = table("words")["layers"]
    if not one["attends"]:
        return words["no_attention"]
    if one["crosses"]:
        return words["crossing"]
    parts = [encoding(one["encoding"], tokens) if one["encoding"] else words["silent"]]
    if one["features"]:
        start, stop = one["features"]
        parts.append(fill(words["features"], start=start, stop=stop - 1))
    seeing = sight(reading, one, longest)
    if seeing["kind"] in ("window", "sides"):
        parts.append(fill(table("words")["sight"][seeing["kind"]], **seeing))
    elif seeing["kind"] in ("chunk", "tile"):
        parts.append(fill(words[seeing["kind"]], **seeing))
    parts += [fill(words["shift"], shift=one["shift"])] if one["shift"] else []
    parts += [fill(words["merged"], merged=one["merged"])] if one["merged"] > 1 else []
    parts += [words["cosine"]] if one["cosine"] else []
    if one["temperature"]:
        parts.append(fill(words["temperature"], temperature=rule(one["temperature"])))
    parts += [fill(words["scale"], scale=one["scale"])] if one["scale"] != 1 else []
    parts += [fill(words["compressed"], each=one["compressed"])] if one["compressed"] is not None else []
    if one["keys"] is not None:
        chooser = encoding(one["indexer"], tokens) if one["indexer"] else None
        parts.append(
            fill(words["indexer" if chooser else "chosen"], indexer=chooser or "", tokens=one["keys"])
        )
    return "; ".join(parts + ([words["sinks"]] if one["sinks"] else []))


def encoding(one: Encoding, tokens: int | None) -> str:
    """An encoding with its numbers; RoPE's in the words that configurations have."""
    words = table("words")["layers"]
    if "rotary" in one:
        return turning(one, tokens)
    defaults = table("words")["encodings"][one["kind"]]["arguments"]
    numbers = {name: one[name] for name, usual in defaults.items() if one.get(name, usual) != usual}
    text = f"{one['kind']}({', '.join(f'{name}={value_of(value)}' for name, value in numbers.items())})"
    if one.get("divided") is None:
        return text
    own = slopes(one)
    return fill(words["slopes"], encoding=text, steepest=max(own), flattest=min(own))


def turning(one: Encoding, tokens: int | None) -> str:
    """What turns: its base, how many features, how pairs lie, and by which rule it is scaled."""
    words, layout = table("words")["layers"], one["layout"]
    omega = in_force(one, tokens)[0]
    moving = one["rotary"] * sum(map(bool, omega)) // len(omega)
    if layout == "half" and moving < one["rotary"]:  # a rule lets pairs stand still, and leaves all partners
        pairs = fill(words["partners"], half=one["rotary"] // 2, rotary=one["rotary"])
    else:
        pairs = words[layout]
    parts = [
        fill(words["turning"], kind=one["kind"], base=one["base"], moving=moving, dim=one["dim"], pairs=pairs)
    ]
    parts += [rule(one["rule"], tokens)] if one["rule"] else []
    parts += [words["backward"]] if one.get("backward") else []
    parts += [fill(words["norm"], norm=one["norm"])] if one.get("norm") is not None else []
    return ", ".join(parts)


def rule(numbers: Mapping, tokens: int | None = None) -> str:
    """A rule of scaling or temperature with its numbers; of long lists the ends. current is the length of the text."""
    parts = {name: value for name, value in numbers.items() if name != "kind"}
    if tokens is not None and numbers["kind"] in ("dynamic_ntk", "longrope"):
        parts["current"] = tokens
    text = f"{numbers['kind']}({', '.join(f'{name}={value_of(value)}' for name, value in parts.items())})"
    return text if len(text) < CUT + 2 * LAST else f"{text[:CUT]} … {text[-LAST:]}"


def value_of(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


def turning_layers(reading: Reading) -> list[Layer]:
    """Each kind of layer that turns, in order of the layers."""
    return [
        reading["kinds"][kind] for kind in dict.fromkeys(reading["layers"]) if turns(reading["kinds"][kind])
    ]
