"""What a model costs on a card: weights, keys and values, states, and the longest text that fits. In bytes."""

import math
from collections.abc import Iterator, Mapping

from .arguments import LARGEST, check_name, check_tokens
from .memory import limit_of, numbers, unknown
from .schema import Reading
from .sizes import Sizes
from .tables import Refused, table
from .words import fill

GIB = 1 << 30


def card(
    reading: Reading,
    config: object,
    tokens: int | None = None,
    requests: int = 1,
    gib: float | None = None,
    bits: int | None = None,
    weights: float | None = None,
    cache_bits: int = 16,
    program: str = "vllm",
    share: float | None = None,
) -> dict:
    """The memory that `requests` texts of `tokens` tokens each take, as a dictionary for JSON; None for what is not known.

    config is the file from which reading was read. bits is the size of a weight, by default as in an unquantized file.
    weights is the size of all weights in GiB, if it is known. cache_bits is the size of a number of keys and values.
    program says how windows and states are kept (tables/card.json). gib is the memory of the card, and share the part of it
    that the program may use, by default the program's own default.

    Returns `parameters`, `bits`, `weights`, and in `why` the reason if these are not known. `cache` has the bytes for all
    requests by kind of layer, with `state` among them, and `why_state` the reason if that is not known. `longest` is how long
    each text may be, and `longest_full` the same if all layers keep whole texts. `limit` is what positions allow, `holds` how
    long a text the memory would hold without this limit, and `rows` how many tokens
    layers with windows keep. Raises Refused for impossible amounts and if keys and values are not known, and TypeError or
    ValueError for tokens.

    >>> llama = {"model_type": "llama", "hidden_size": 4096}
    >>> card(read(llama), llama, 1024, requests=4)["cache"]
    {'full': 2147483648.0, 'state': 0}
    """
    check_tokens(tokens=tokens)
    programs = table("card")["programs"]
    check_name("program", program, programs)
    amounts = {"requests": requests, "card": gib, "bits": bits, "weights": weights, "cache_bits": cache_bits}
    amounts["share"] = share
    for name, value in amounts.items():
        check_amount(name, value)
    if reading["pictures"]:
        raise unknown(reading)
    if not reading["causal"]:
        raise Refused("card_encoder", family=reading["family"])
    sizes, form = Sizes(config, reading), programs[program]
    made = weights_of(sizes, bits, weights)
    part = form["share"] if share is None else share
    try:
        state, why = sizes.state(form["state"]), None
    except Refused as error:
        state, why = None, str(error)
    lengths = reading["lengths"]
    limit = lengths["rows"] or lengths["allowed"]

    def cost(length: int, whole: bool = False) -> dict[str, float]:
        rows = rows_of(form, reading, length, whole)
        kinds = numbers(reading, length, rows)
        return {kind: requests * size * cache_bits / 8 for kind, size in kinds.items()} | {
            "state": state and requests * state
        }

    def longest(whole: bool, most: int = limit or LARGEST) -> int | None:
        if made["weights"] is None or gib is None or state is None:
            return None
        room = gib * GIB * part - made["weights"]
        low, high = 0, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if sum(cost(middle, whole).values()) <= room else (low, middle)
        return low

    at = tokens or limit
    keeps = at and keeping(form, reading, at)
    return {
        **made,
        "why_state": why,
        "program": program,
        "share": part,
        "requests": requests,
        "gib": gib,
        "tokens": at,
        "cache": cost(at) if at else None,
        "longest": longest(False),
        "longest_full": longest(True) if keeps else None,
        "limit": limit,
        "holds": longest(False, LARGEST),
        "rows": keeps,
    }


def weights_of(sizes: Sizes, bits: int | None, weights: float | None) -> dict:
    """Bytes of the weights, as they are said, or counted where the family's parameters are known."""
    made = {"parameters": None, "bits": None, "weights": None, "why": None}
    if weights is not None:
        return {**made, "weights": weights * GIB}
    try:
        parameters, bits = sizes.parameters(), sizes.bits() if bits is None else bits
    except Refused as why:
        return {**made, "why": str(why)}
    return {**made, "parameters": parameters, "bits": bits, "weights": parameters * bits / 8}


def rows_of(form: Mapping, reading: Reading, tokens: int, whole: bool):
    """For how many tokens a layer keeps keys that sees no more than limit, in the pages of a program."""
    page = form["page"]

    def rows(limit: int | None) -> int:
        every = -(-tokens // page) * page
        if whole or limit is None or not frees(form, reading):
            return every
        kept = -(-(limit + form["beside"]) // page) * page + form["spare"] * page
        return min(every, max(kept, math.ceil(every * form["least"])))

    return rows


def frees(form: Mapping, reading: Reading) -> bool:
    """Whether a program frees what no window needs any more, in the layers of that family."""
    family = reading["family"]
    if family in form.get("full", "").split() or family not in form.get("only", family).split():
        return False
    return form.get("chunks") != "full" or not any(one["chunk"] for one in reading["kinds"])


def keeping(form: Mapping, reading: Reading, tokens: int) -> int | None:
    """The tokens that the widest layer with a window or a chunk keeps of a text; None where no layer has one."""
    attending = [one for one in reading["kinds"] if one["attends"] and not one["crosses"]]
    limits = [limit for one in attending if (limit := limit_of(reading, one, tokens)[1]) is not None]
    return max(map(rows_of(form, reading, tokens, False), limits), default=None)


def check_amount(name: str, value: object) -> None:
    """Raises Refused for an amount that cannot be; None is none."""
    about = table("card")["arguments"][name]
    kinds = (int,) if about["whole"] else (int, float)
    if value is not None and (type(value) not in kinds or not about["least"] <= value <= about["most"]):
        raise Refused("card_number", name=name, what=about["what"], got=value)


def card_lines(made: Mapping) -> str:
    """What `card` returns, in lines.

    >>> llama = {"model_type": "llama", "hidden_size": 4096}
    >>> lines = card_lines(card(read(llama), llama, 1024)).splitlines()
    >>> print(lines[2].strip())
    keys and values of full layers of 1 × 1,024 tokens: 512.0 MiB
    """
    return "\n".join(each_line(made))


def each_line(made: Mapping) -> Iterator[str]:
    words, form = table("card")["words"], table("card")["programs"][made["program"]]
    program = table("programs")[made["program"]]["name"]
    amount = {name: made[name] for name in ("requests", "tokens", "gib")}
    yield fill(words["head"], program=program)
    how = "unknown" if made["weights"] is None else "given" if made["parameters"] is None else "counted"
    yield fill(words[how], **{**made, **in_units(made["weights"] or 0)})
    cache = made["cache"] or {}
    for kind, name in words["kinds"].items():
        if cache.get(kind):
            yield fill(words["cache"], kind=name, **amount, **in_units(cache[kind]))
    if made["why_state"]:
        yield fill(words["state"], why=made["why_state"])
    elif cache and made["weights"] is not None:
        yield fill(words["total"], **in_units(sum(cache.values()) + made["weights"]))
    if made["rows"] is not None:
        keeps = "keeps_all" if made["rows"] >= made["tokens"] else "keeps_some"
        yield fill(words[keeps], rows=made["rows"], tokens=made["tokens"], source=form["source"])
        if form["least"] and keeps == "keeps_some":
            yield fill(words["least"], share=form["least"])
    longest = made["longest"]
    if longest is not None:
        yield fill(words["share"], gib=made["gib"], share=made["share"])
        fits = "none" if not longest else "every" if longest == made["limit"] else "fits"
        yield fill(words[fits], **{**amount, "tokens": longest}, holds=made["holds"])
        if made["longest_full"] is not None and made["longest_full"] < longest:
            yield fill(words["full"], flag=form["flag"], **{**amount, "tokens": made["longest_full"]})
    yield words["out"]


def in_units(size: float) -> dict:
    """A number of bytes in the unit that people say it in."""
    unit, bytes_ = next(
        (unit, bytes_) for unit, bytes_ in table("words")["units"] if size >= bytes_ or unit == "bytes"
    )
    return {"size": size / bytes_, "unit": unit}
