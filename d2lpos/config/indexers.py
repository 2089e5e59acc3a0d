"""A small attention beside a layer's own, which chooses the keys that the layer sees."""

from .keys import Keys, check_size
from .schema import Layer
from .tables import Refused, table, words
from .turn import at_size


def with_indexers(row: dict, keys: Keys, layers: list[Layer]) -> list[Layer]:
    """The layers beside an attention of `index_head_dim` features a head whose best `index_topk` keys they see.

    A layer that has none of its own sees the keys that were chosen last.
    """
    own = indexers(keys, len(layers))
    neighbors, layout = keys.get("indexer_rope_interleave"), row["indexer"]
    if neighbors is not None and ("interleaved" if neighbors else "half") != layout:
        raise Refused(
            "code_fails", key="indexer_rope_interleave", wants=str(not neighbors).lower(), got=neighbors
        )
    dim, chosen = check_size("index_head_dim", keys["index_head_dim"]), keys["index_topk"]
    return [
        {**one, "indexer": at_size(one["encoding"], dim, layout) if has else None, "keys": chosen}
        for one, has in zip(layers, own, strict=True)
    ]


def indexers(keys: Keys, depth: int) -> list[bool]:
    """Which layers have an indexer of their own; GLM's rule, and all of them where no key speaks of it."""
    period = max(keys.first("index_topk_freq", default=1), 1)
    first = keys.first("index_skip_topk_offset", default=2)
    lists = {key: kinds for key in ("indexer_types", "index_topk_pattern") if (kinds := keys.get(key))}
    for key, kinds in lists.items():
        if len(kinds) < depth:
            raise Refused("layers", key=key, depth=depth, got=len(kinds))
        return [kind in ("full", "F") for kind in kinds[:depth]]
    return [max(i - first + 1, 0) % period == 0 for i in range(depth)]


def with_blocks(keys: Keys, layers: list[Layer], types: list[str]) -> list[Layer]:
    """MiniMax-M3's: in layers of its own type an indexer, which turns as they do, chooses whole blocks of keys."""
    blocks = keys.get("sparse_attention_config") or {}
    names = table("families")["layers"]["blocks"]  # by their first names the keys that the class has
    if blocks.get("sparse_init_block") or blocks.get("use_sparse_attention") is False:
        raise Refused("sparse")
    strange = sorted(blocks.keys() - names.keys() - words("families", "layers", "beside_blocks"))
    if strange:
        raise Refused("strange_keys_within", key="sparse_attention_config", names=strange)
    keys.pass_over(names.values())
    dim, size, number = (
        check_size(old, blocks[old] if old in blocks else keys[new]) for old, new in names.items()
    )
    return [
        {**one, "indexer": one["encoding"] and at_size(one["encoding"], dim), "keys": size * number}
        if kind == "minimax_m3_sparse"
        else one
        for one, kind in zip(layers, types, strict=True)
    ]
