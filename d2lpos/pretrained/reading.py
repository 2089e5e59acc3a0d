"""`encoding_of`: from a configuration to what turns, biases or adds in each layer."""

from collections.abc import Collection, Mapping

from ..config import read
from .build import build
from .defaults import entries, entry, missing, renamed
from .families import FAMILIES, REFUSED
from .keys import SAYS_NO, SILENT_KEYS, check_values
from .layer import Config, Reading
from .rotary import SPELLINGS, not_understood

__all__ = ["encoding_of"]

# Where those hold the model of their text that no class of transformers reads, and Qwen's that speak.
ELSEWHERE = ("thinker_config", "llm_config", "llm_cfg", "language_config", "decoder_config")
# Which say nothing in code that does not read them, where windows are off.
IDLE = ("max_window_layers", "sliding_window")


def encoding_of(config: object, tokens: int | None = None, ignore: Collection[str] = ()) -> Reading:
    """What a configuration says about position, layer by layer.

    config is a `config.json` as a dictionary, as transformers 4 or 5 writes it, or a configuration of transformers.
    One that holds a `text_config` is read for its text. A key that is missing means what the family's class in
    transformers takes for it, which the reading tells under `defaults`; lists for all layers follow the class's rule for
    the depth at hand. tokens is the length of the text that will be read, which dynamic NTK and LongRoPE depend on. ignore
    names keys to pass over, those within RoPE's parameters as "rope_scaling.key"; the reading keeps their names. `print` of
    a reading shows it in words. Raises TypeError for another config or ignore; ValueError for a family that is not known or whose positions no reading says, for keys that are neither understood nor known to say nothing of
    positions, for a value that is not understood, and without tokens where these count.

    Learned tables come untrained, in the right size: the weights are the model's. Of a model that reads pictures it
    tells what happens to one of the configuration's size.

    >>> sizes = {"hidden_size": 64, "num_attention_heads": 4}
    >>> llama = {"model_type": "llama", "num_hidden_layers": 2, **sizes}
    >>> rope = encoding_of(llama | {"rope_theta": 5e5}).encodings[0]
    >>> rope.dim, rope.base, rope.layout
    (16, 500000.0, 'half')
    """
    return build(read(config, ignore), tokens)


def of_its_text(config: object, ignore: Collection[str] = ()) -> tuple[str, dict, tuple[str, ...]]:
    """The family that reads a configuration, the keys of its text, and those that are passed over. Raises as `encoding_of`."""
    values = config if isinstance(config, Mapping) else getattr(config, "to_dict", lambda: None)()
    if not isinstance(values, Mapping):
        raise TypeError(
            f"config must be a dictionary or a configuration of transformers; got {type(config).__name__}"
        )
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be names of keys, such as ({ignore!r},); got {ignore!r}")
    values, passed_over = lacking(values, ignore)
    family = values.get("model_type")
    if not isinstance(family, str):
        raise ValueError(f"model_type {family!r} is not known")  # noqa: TRY004
    if family in REFUSED:
        raise ValueError(f"model_type {family!r} is refused: {REFUSED[family]}")
    if family in FAMILIES:
        return family, values, passed_over
    if text := of_the_text(family, values):
        return of_its_text(text, ignore)
    raise ValueError(f"model_type {family!r} is not known")


def lacking(values: Mapping, ignore: Collection[str]) -> tuple[dict, tuple[str, ...]]:
    """The values without the keys that are named, and the names that were there; rope_scaling.key is within those."""
    found, names = dict(values), []
    for name in ignore:
        place, _, key = name.partition(".")
        before = dict(found)
        if name in found:
            del found[name]
        elif place in SPELLINGS and isinstance(found.get(place), Mapping):
            found[place] = bare(found[place], key)
        names += [name] * (found != before)
    return found, tuple(names)


def bare(rope: Mapping, key: str) -> dict:
    """RoPE's parameters without a key, of all layers or of each kind."""
    return {
        name: bare(one, key) if isinstance(one, Mapping) else one for name, one in rope.items() if name != key
    }


def completed(family: str, values: Mapping) -> tuple[dict, dict]:
    """The keys by their class's names, and what the class takes for those that are missing."""
    own = renamed(family, values)
    taken = missing(family, own)
    checked = check_values({**taken, **own})
    return {key: checked[key] for key in own}, taken


def told(read: Config, taken: Mapping) -> dict[str, object]:
    """What was taken by default and read; False is no news."""
    return {key: taken[key] for key in sorted(read.used.intersection(taken)) if taken[key] is not False}


def of_the_text(family: str, values: Mapping) -> Mapping | None:
    """The configuration of its text, of one that holds another; None where it holds none."""
    known, text = entry(family), values.get("text_config")
    if isinstance(text, Mapping):
        named = {"model_type": known.get("text", f"{family}_text")}
        unheard = not heard(text.get("model_type"))
        forced = known.get("forced") or known.get("text") and unheard  # by a name that only its own class knows
        return {**text, **named} if forced else {**named, **text}
    if not known.get("text"):
        others = (values.get(name) for name in ELSEWHERE)
        return next((one for one in others if isinstance(one, Mapping) and heard(one.get("model_type"))), None)
    if not known.get("flat"):
        raise ValueError(
            f"config must have text_config, where {family} has the model of its text; it has none, "
            "and its class passes over the keys of a text that stand elsewhere"
        )
    return {**values, "model_type": known["text"]}


def heard(name: object) -> bool:
    return isinstance(name, str) and any(name in names for names in (FAMILIES, REFUSED, entries()))


def check_keys(family: str, values: Mapping, understood: set[str]) -> None:
    """Raise a ValueError that names all keys that are not understood, and not known to say nothing of positions."""
    strange = {}
    for key, value in values.items():
        if key in understood or key in SILENT_KEYS or value is None or value in ([], {}):
            continue
        if key in SAYS_NO and value is False:
            continue
        if key in IDLE and values.get("use_sliding_window") is False:
            continue
        if key == "use_bidirectional_attention" and value == "vision":
            continue  # words see as ever
        strange[key] = value
    if strange:
        raise ValueError(f"{family} has keys that are not understood: {not_understood(strange)}")
