"""A reading in one sentence of plain words. The words are in tables/words.json."""

from collections import Counter

from .angles import reach, stretched
from .arguments import check_tokens
from .schema import Encoding, Layer, Part, Reading
from .sight import longest_of, sees, sight
from .tables import table
from .words import fill, listed


def sentence(
    reading: Reading, trained: int | None = None, name: str | None = None, tokens: int | None = None
) -> str:
    """One sentence that says which encodings the model has in which layers, what a token sees, and for which lengths.

    trained is the training length in tokens, if it is known. name is the model's name in the sentence. tokens is the length of
    the text, by default the longest that the file allows; in a short text a window may hide nothing. Raises TypeError if
    trained or tokens is not an integer, and ValueError if it is not positive.

    >>> sentence(read({"model_type": "mamba"}), name="Mamba")[:36]
    'Mamba adds no positions to its input'
    """
    check_tokens(trained=trained, tokens=tokens)
    words, encoder = table("words"), reading["encoder"]
    subject, longest = name or fill(words["subject"], family=reading["family"]), longest_of(reading, tokens)
    if encoder:
        subject = fill(words["parts"]["decoder"], subject=subject)
    what = doings(reading, longest)
    clauses = [f"{subject} {what}", *besides(reading)]
    if encoder:
        other = doings(encoder, longest)
        clauses.append(
            fill(words["parts"]["encoder"], what=words["parts"]["same"] if other == what else other)
        )
    return "; ".join(clauses + lengths(reading, trained)) + "."


def layers_of(reading: Part) -> list[Layer]:
    """The layers, each with all that it does."""
    return [reading["kinds"][kind] for kind in reading["layers"]]


def doings(reading: Part, longest: int | None) -> str:
    """What the input gets, what layers do with positions, and what a token sees."""
    words, layers = table("words")["does"], layers_of(reading)
    clauses = [fill(words["input"], what=about(reading["input"])["does"])] if reading["input"] else []
    counts = Counter(door(layer["encoding"]) for layer in layers if layer["encoding"])
    for (what, name), count in counts.items():
        clauses.append(fill(words["layers"], what=what, where=where(count, len(layers)), name=name))
    if not any(layer["attends"] for layer in layers):
        last = fill(words["no_attention"], layers=counted(len(layers)))
        return listed([*(clauses or [words["no_input"]]), last])
    return listed([*(clauses or [words["none"]]), sights(reading, layers, longest, [*counts.values()])])


def about(encoding: Encoding) -> dict:
    """What the tables say of an encoding."""
    return table("words")["encodings"][encoding["kind"]]


def door(encoding: Encoding) -> tuple[str, str]:
    """What an encoding does in a layer, and its name."""
    words, row = table("words"), about(encoding)
    if "turns" not in row:
        return row["does"], row["name"]
    return fill(words["does"]["turns"], what=row["turns"], by=words["by"][str(encoding["axes"])]), row["name"]


def sights(reading: Part, layers: list[Layer], longest: int | None, counts: list[int]) -> str:
    """What a token sees, and in how many layers; counts are those of layers with positions, by what these do."""
    words = table("words")
    seeing = Counter(
        sees(sight(reading, layer, longest)) for layer in layers if layer["attends"] and not layer["crosses"]
    )
    if len(seeing) == 1:
        [(what, count)] = seeing.items()
        places = [(what, words["counts"]["each"] if counts == [count] else where(count, len(layers)))]
    else:
        places = [(what, counted(count)) for what, count in seeing.items()]
    every = " and ".join(fill(words["does"]["in"], what=what, where=place) for what, place in places)
    return fill(words["does"]["sees"], what=every)


def besides(reading: Reading) -> list[str]:
    """Layers without positions beside others with them, layers that see a picture, and those without attention."""
    words, layers = table("words")["besides"], layers_of(reading)
    attending = [layer for layer in layers if layer["attends"] and not layer["crosses"]]
    silent = sum(layer["encoding"] is None for layer in attending)
    still = sum(not layer["attends"] for layer in layers)
    counts = {
        "silent": silent if silent < len(attending) else 0,
        "crossing": sum(layer["crosses"] for layer in layers),
        "still": still if still < len(layers) else 0,
    }
    return [fill(words[key][count != 1], layers=counted(count)) for key, count in counts.items() if count]


def lengths(reading: Reading, trained: int | None) -> list[str]:
    """On what lengths it was trained, where that is known, and what its file or its table allows."""
    words, about_lengths = table("words")["lengths"], reading["lengths"]
    original, allowed, rows = about_lengths["original"], about_lengths["allowed"], about_lengths["rows"]
    by = table("words")["allows"]["class" if about_lengths["by_class"] else "file"]
    clauses = [] if trained is None else [fill(words["trained"], tokens=trained)]
    if reading["pictures"]:
        return clauses
    if rows is not None:
        clauses.append(fill(words["rows"], rows=rows))
    elif allowed and allowed < reach(reading):
        clauses.append(fill(words["beyond"], reach=reach(reading), by=by, allowed=allowed))
    elif stretched(reading) and original and allowed and original < allowed:
        clauses.append(fill(words["stretch"], original=original, allowed=allowed))
    elif allowed and allowed == trained:
        return [fill(words["as_many"], trained=clauses[0], by=by)]
    elif allowed:
        clauses.append(fill(words["allows"], by=by, allowed=allowed))
    return [words["and"].join(clauses)] if clauses else []


def where(count: int, depth: int) -> str:
    """So many of all layers, in words."""
    words = table("words")["counts"]
    if count < depth:
        return fill(words["some"], some=count, layers=counted(depth))
    return {1: words["one"], 2: words["two"]}.get(depth) or fill(words["all"], n=depth)


def counted(count: int) -> str:
    return fill(table("words")["counts"]["layer" if count == 1 else "layers"], n=count)
