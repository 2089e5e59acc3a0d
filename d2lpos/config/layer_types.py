"""Types of layers: those that a file lists, and otherwise the rule of its family, a form with its numbers."""

from .keys import Keys, check_size
from .tables import Refused, words

FULL, WINDOW = "full_attention", "sliding_attention"


def types_of(row: dict, keys: Keys) -> list[str]:
    types, form = keys.get("layer_types") or keys.get("layers_block_type"), row["types"]
    keys.pass_over(words("families", "layers", "patterns") if form else ())
    if row["depth_by_list"]:
        types = types or FORMS[form["form"]](form, keys, 0)
        check_size("num_hidden_layers", len(types))
        return types
    depth = keys.first(*row["depth"], default=types and len(types)) * (1 + row["two_attentions"])
    if form and types is None:
        types = FORMS[form["form"]](form, keys, depth)
    if types is None:
        windows = row["window"] and keys.get("sliding_window") is not None
        types = [WINDOW if windows else FULL] * depth
    more = keys.get("num_nextn_predict_layers") or 0  # which some files list behind the others
    if len(types) not in (depth, depth + more):
        raise Refused("layers", key="layer_types", depth=depth, got=len(types))
    return types[:depth]


def turning_layers(keys: Keys, depth: int) -> list[bool]:
    """Which layers turn, where a file lists them; transformers calls those that do no_rope_layers."""
    flags, period = keys.get("no_rope_layers"), keys.get("no_rope_layer_interval")
    if flags and len(flags) < depth:
        raise Refused("layer_numbers", key="no_rope_layers", depth=depth, got=len(flags))
    return list(map(bool, flags)) if flags else [not period or (i + 1) % period != 0 for i in range(depth)]


def but_every_fourth_from_the_last(keys: Keys, depth: int) -> list[bool]:
    """Muse's, where `layer_rope_theta` says no other: the last layer and each fourth before it do not turn."""
    bases = keys.get("layer_rope_theta") is not None
    return [bases or (depth - 1 - i) % 4 != 0 for i in range(depth)]


TURNS = {None: turning_layers, "but_every_fourth_from_the_last": but_every_fourth_from_the_last}


def every(form: dict, keys: Keys, depth: int) -> list[str]:
    """Layers i with i % period == at % period are `here`, the others `others`; the `ends` are full attention.

    key and at_key name the period and where it begins in a file. `first` are the layers before the first period.
    """
    key, first = form.get("key"), form.get("first", [])
    period = keys.first(key, default=form.get("period")) if key else form["period"]
    if type(period) is not int or period < 1:
        raise Refused("whole_without_types", key=key, got=period)
    at, depth = keys[form["at_key"]] if "at_key" in form else form.get("at", -1), depth - len(first)
    if form.get("from") == "last":
        at = depth - 1
    here, others = form.get("here", FULL), form.get("others", WINDOW)
    # at_key has a number within the period: none beyond it is ever met.
    fits = (lambda i: i % period == at) if "at_key" in form else (lambda i: (i - at) % period == 0)
    types = [*first, *(here if fits(i) else others for i in range(depth))]
    for end in form.get("ends", ()):
        types[end] = FULL
    return types


def cycle(form: dict, keys: Keys, depth: int) -> list[str]:
    """Kinds over and over, of the table or of a file; `first` are other ones at the beginning."""
    kinds = keys[form["key"]] if "key" in form else form["kinds"]
    if not kinds:
        raise Refused("no_layer", key=form["key"])
    if "names" in form:
        kinds = [form["names"].get(kind, form["others"]) for kind in kinds]
    first = form.get("first", [])[:depth]
    return [*first, *(kinds[i % len(kinds)] for i in range(len(first), depth))]


def runs(form: dict, keys: Keys, depth: int) -> list[str]:
    """Kinds by turns, each for so many layers, whatever the depth is."""
    kinds = form["kinds"]
    return [kinds[i % len(kinds)] for i, length in enumerate(form["runs"]) for _ in range(length)]


def letters(form: dict, keys: Keys, depth: int) -> list[str] | None:
    """A letter or a number for each layer."""
    pattern, names = keys.get(form["key"]), form["letters"]
    if pattern is None:
        return form.get("default")
    if not isinstance(pattern, str | list) or not all(str(letter) in names for letter in pattern):
        raise Refused("letters", key=form["key"], letters=" ".join(names), got=pattern)
    return [names[str(letter)] for letter in pattern]


def by_list(form: dict, keys: Keys, depth: int) -> list[str]:
    """`here` in the layers that a key lists; without it in those of the default, or in all."""
    numbers = keys.get(form["key"])
    numbers = form.get("default", range(depth)) if numbers is None else numbers
    return [form.get("here", FULL) if i in numbers else form["others"] for i in range(depth)]


def groups(form: dict, keys: Keys, depth: int) -> list[str]:
    """Kimi Linear's: a dictionary lists the layers that attend, from 1 on; else every fourth but the first."""
    lists = keys.get(form["key"]) or {}
    listed = "full_attn_layers" in lists and "kda_layers" in lists
    full = [number - 1 for number in lists["full_attn_layers"]] if listed else range(4, depth, 4)
    return [FULL if i in full else "linear_attention" for i in range(depth)]


def windows(form: dict, keys: Keys, depth: int) -> list[str]:
    """Qwen's: windows from a layer on; Qwen2-MoE's in every other layer `until` one, where `use_sliding_window` says so."""
    until = form.get("until", False)
    on = keys.get("use_sliding_window", not until) and keys.get("sliding_window") is not None
    end = keys.first(form["key"]) if on else 0
    return [WINDOW if on and (i < end and i % 2 == 0 if until else i >= end) else FULL for i in range(depth)]


def where_it_turns(form: dict, keys: Keys, depth: int) -> list[str]:
    """One type where a layer turns, another where it does not; `windows` says that windows may be off."""
    off = form.get("windows") and not (
        keys.get("use_sliding_window") and keys.get("sliding_window") is not None
    )
    return [form["turning"] if turns or off else form["others"] for turns in turning_layers(keys, depth)]


def sparse(form: dict, keys: Keys, depth: int) -> list[str]:
    """MiniMax-M3's: `sparse_attention_config` has a number for each layer, 0 where it sees all."""
    numbers = (keys.get("sparse_attention_config") or {}).get("sparse_attention_freq")
    if not isinstance(numbers, list | None):
        raise Refused("list", key="sparse_attention_freq", got=numbers)
    return ["minimax_m3_sparse" if one else FULL for one in ([0] * depth if numbers is None else numbers)]


def blocks(form: dict, keys: Keys, depth: int) -> list[str]:
    """Nemotron-NAS's: `block_configs` says which layers kept their attention."""
    kinds = []
    for block in keys["block_configs"]:
        if not isinstance(block, dict) or not isinstance(block.get("attention"), dict):
            raise Refused("block", got=block)
        attention = {key: value for key, value in block["attention"].items() if value not in (None, False)}
        strange = sorted(set(attention) - {"n_heads_in_group", "no_op", "replace_with_linear"})
        if strange:
            raise Refused("strange_keys_within", key="block_configs", names=strange)
        kinds.append("mlp" if "no_op" in attention or "replace_with_linear" in attention else FULL)
    return kinds


def in_turn(keys: Keys, depth: int) -> list[int | None]:
    """GPT-Neo's windows: `attention_types` says which layers are local, [[kinds, times], …]."""
    kinds = []
    for run, times in keys.get("attention_types") or [[["global", "local"], 12]]:
        kinds += run * check_size("attention_types", times)
        if len(kinds) > depth:
            break
    if len(kinds) != depth:
        raise Refused("layers", key="attention_types", depth=depth, got=len(kinds))
    return [keys["window_size"] if kind == "local" else None for kind in kinds]


FORMS = {
    "every": every,
    "cycle": cycle,
    "runs": runs,
    "letters": letters,
    "listed": by_list,
    "groups": groups,
    "windows": windows,
    "where_it_turns": where_it_turns,
    "sparse": sparse,
    "blocks": blocks,
}
