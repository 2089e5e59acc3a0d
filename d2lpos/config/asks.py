"""What a text of N tokens asks of a model, in lines: new angles, ends of tables, memory, what to look out for."""

from collections.abc import Iterator, Sequence

from .angles import fresh, stretched
from .arguments import check_tokens, check_until
from .memory import memory, unknown
from .report import layer, turning_layers
from .schema import Reading
from .sight import longest_of, sight
from .tables import Refused, table
from .traps import in_words, traps
from .words import fill


def asks(reading: Reading, tokens: int, trained: int | Sequence[int] | None = None, source: str | None = None) -> str:
    """Which settings a text of that length needs, in lines.

    trained is the length in tokens of the texts in training, or a list with the length of each stage, by default the length
    before the model was stretched, or what its file allows. source says who states it, by default the caller. Raises TypeError
    or ValueError where a length is no positive integer, and Refused for a model of pictures.

    >>> print(asks(read({"model_type": "gpt2"}), 2048))
    at 2,048 tokens:
      the table ends after 1,024 tokens and fails
      keys and values of full layers: 72.0 MiB
    """
    stages = list(trained) if isinstance(trained, Sequence) else [] if trained is None else [trained]
    check_tokens(tokens=tokens)
    for length in stages:
        check_tokens(trained=length)
    check_until(reading, tokens)
    if reading["pictures"]:
        raise unknown(reading)
    words, rows = table("words")["asks"], reading["lengths"]["rows"]
    every = [fill(words["head"], tokens=tokens), *angles(reading, tokens, stages, source)]
    if rows:
        every.append(fill(words["table_fails" if tokens > rows else "table"], rows=rows))
    every += cache(reading, tokens)
    for sentence, section in map(in_words, traps(reading)):
        every.append(fill(words["trap"], trap=sentence, section=section))
    return "\n".join(every)


def angles(reading: Reading, tokens: int, trained: Sequence[int], source: str | None) -> Iterator[str]:
    """Compared with which lengths, and how many pairs of each kind of layer meet angles that no stage of training showed."""
    words, lengths = table("words")["asks"], reading["lengths"]
    own, allowed = stretched(reading), lengths["allowed"]
    original = lengths["original"] if own else None
    told = trained or [length for length in [original or allowed] if length]
    turning, longest = turning_layers(reading), longest_of(reading, tokens)
    if not told or not turning:
        return
    by = "you" if trained else "original" if original else "class" if lengths["by_class"] else "file"
    # Before a stretch, texts were at most as long as the file says, or shorter than what it allows.
    most = (original or (allowed or 0) - 1) if own else 0
    stages = {length <= most: length for length in sorted(told)}  # the longest before the stretch, and the longest with it
    compared = " and ".join(f"{length:,}" for length in sorted(stages.values()))
    yield fill(words["beside"], trained=compared, source=source if trained and source else words[by])
    kinds = {layer(reading, one, tokens, longest): one for one in turning}
    for one in kinds.values():
        by_stage = [fresh(one, length, tokens, before) for before, length in stages.items()]
        pairs = [all(new) for new in zip(*by_stage, strict=True)]
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

