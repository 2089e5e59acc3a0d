"""What a text of N tokens asks of a model, in lines: new angles, ends of tables, memory, what to look out for."""

from collections.abc import Iterator

from .angles import fresh, stretched
from .arguments import check_tokens, check_until
from .memory import memory, unknown
from .report import layer, turning_layers
from .schema import Reading
from .sight import longest_of, sight
from .tables import Refused, table
from .traps import in_words, traps
from .words import fill


def asks(reading: Reading, tokens: int, trained: int | None = None, source: str | None = None) -> str:
    """Which settings a text of that length needs, in lines.

    trained is the training length in tokens, by default the length before the model was stretched, or what its file allows.
    source says who states this length, by default the caller. Raises TypeError or ValueError where a length is no positive integer, and Refused
    for a model of pictures.

    >>> print(asks(read({"model_type": "gpt2"}), 2048))
    at 2,048 tokens:
      the table ends after 1,024 tokens and fails
      keys and values of full layers: 72.0 MiB
    """
    check_tokens(tokens=tokens, trained=trained)
    check_until(reading, tokens)
    if reading["pictures"]:
        raise unknown(reading)
    words, rows = table("words")["asks"], reading["lengths"]["rows"]
    every = [fill(words["head"], tokens=tokens), *angles(reading, tokens, trained, source)]
    if rows:
        every.append(fill(words["table_fails" if tokens > rows else "table"], rows=rows))
    every += cache(reading, tokens)
    for sentence, section in map(in_words, traps(reading)):
        every.append(fill(words["trap"], trap=sentence, section=section))
    return "\n".join(every)


def angles(reading: Reading, tokens: int, trained: int | None, source: str | None) -> Iterator[str]:
    """Beside which length, and how many pairs of each kind of layer meet new angles."""
    words, lengths = table("words")["asks"], reading["lengths"]
    original, allowed = lengths["original"] if stretched(reading) else None, lengths["allowed"]
    length, turning = trained or original or allowed, turning_layers(reading)
    if not length or not turning:
        return
    by = "you" if trained else "original" if original else "class" if lengths["by_class"] else "file"
    yield fill(words["beside"], trained=length, source=source if trained and source else words[by])
    before, longest = bool(original) and length <= original, longest_of(reading, tokens)
    kinds = {layer(reading, one, tokens, longest): one for one in turning}
    for one in kinds.values():
        pairs = fresh(one, length, tokens, before)
        seeing, line = sight(reading, one, longest), words["fresh" if any(pairs) else "none_fresh"]
        within = fill(words[seeing["kind"]], **seeing) if seeing["kind"] in ("window", "sides", "chunk") else ""
        yield fill(line, fresh=sum(pairs), pairs=len(pairs), sight=within)


def cache(reading: Reading, tokens: int) -> Iterator[str]:
    """Memory for keys and values by kind of layer, or why it is not known."""
    words = table("words")["asks"]
    try:
        for kind, size in memory(reading, tokens).items():
            unit, bytes_ = next((unit, bytes_) for unit, bytes_ in table("words")["units"] if size >= bytes_)
            yield fill(words["memory"], kind=kind, size=size / bytes_, unit=unit)
    except Refused as why:
        yield f"  {why}"
    if not reading["causal"]:
        yield words["encoder"]
    if reading["encoder"]:
        yield words["crossing"]

