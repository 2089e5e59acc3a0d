"""How many numbers a layer keeps for a token: keys and values, or the latent vector that both are made of."""

from collections.abc import Iterable

from .keys import Keys
from .schema import Layer
from .tables import Refused, table


def cache_of(row: dict, keys: Keys, one: Layer, number: int, depth: int) -> int:
    """The numbers of layer `number` of depth; 0 for the last ones where they read what earlier layers keep.

    Raises Refused where a file does not say how many.
    """
    every = {**keys.own, **keys.defaults}
    sharing = every.get("num_kv_shared_layers") or 0
    if row["cache"] == "unknown" or type(sharing) is not int:
        raise Refused("memory_other", family=keys.family)
    if 0 < depth - sharing <= number:
        return 0
    if every.get("kv_lora_rank") and every.get("qk_rope_head_dim") and not one["window"]:
        return every["kv_lora_rank"] + every["qk_rope_head_dim"]
    sizes = table("families")["sizes"]
    several, hidden = (first(every, sizes[name]) for name in ("heads", "hidden"))
    heads = heads_of(row["cache"], every, one, number, several) or several
    turn = one["encoding"] or {}
    dim = (None if one["features"] or "rotary" not in turn else turn["dim"]) or first(every, sizes["own"])
    if not dim and type(hidden) is int and type(several) is int:
        dim = hidden // several * row["wide"]
    if type(heads) is not int or type(dim) is not int or min(heads, dim) < 1:
        raise Refused("memory_sizes", family=keys.family, heads=heads, dim=dim)
    values = every.get("v_head_dim")
    return heads * (dim + (values if type(values) is int and values else dim))


def first(every: dict, names: Iterable[str]) -> object:
    return next(filter(None, map(every.get, names)), None)


def heads_of(form: str | None, every: dict, one: Layer, number: int, several: object) -> object:
    """The heads that keep keys; None where no key says it."""
    heads = every.get("num_key_value_heads") or every.get("num_kv_heads")
    if every.get("multi_query_attention"):
        heads = every.get("multi_query_group_num")
    full = not (one["window"] or one["chunk"])
    if form == "one_or_new":
        if every.get("new_decoder_architecture"):
            return heads
        return 1 if every.get("multi_query", True) else None
    if form == "one":
        return 1 if every.get("multi_query", True) else heads
    if form == "fewer_where_full":
        return full and every.get("num_global_key_value_heads") or heads
    if form == "more_in_windows":
        return heads if full else every.get("swa_num_key_value_heads") or heads and 2 * heads
    if form == "by_block":
        return several and several // every["block_configs"][number]["attention"].get("n_heads_in_group", 1)
    return heads
