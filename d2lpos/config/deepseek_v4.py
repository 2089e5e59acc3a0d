"""DeepSeek-V4: each layer sees a window, and most see keys besides that stand for many tokens each."""

from .keys import Keys, check_size
from .layers import layer, stack
from .rope import Parameters, kind_of, of_file
from .rules import rule_of
from .schema import Layer
from .tables import Refused, table
from .turn import rope

SLIDING = "sliding_attention"
SPARSE, HEAVY = "compressed_sparse_attention", "heavily_compressed_attention"


def read_deepseek_v4(row: dict, keys: Keys) -> dict:
    """One tensor is key and value, so values turn, and the output turns back; what compresses has a base of its own."""
    depth, dim = keys.first("num_hidden_layers"), keys.first("head_dim", default=512)
    rates = table("families")["layers"]["rates"] | (keys.get("compress_rates") or {})
    if not all(type(rate) is int and rate >= 1 for rate in rates.values()):
        raise Refused("whole_numbers", key="compress_rates", least=1, got=rates)
    rules = parameters_of(keys, dim)
    types = types_of(keys, depth)
    once = {kind: one_layer(keys, rules, rates, dim, kind) for kind in dict.fromkeys(types)}
    keys.pass_over(("index_head_dim", "index_topk", "compress_rope_theta"))
    return stack([once[kind] for kind in types], rules=rules)


def one_layer(keys: Keys, rules: dict, rates: dict, dim: int, kind: str) -> Layer:
    if kind not in (SLIDING, SPARSE, HEAVY):
        raise Refused("layer_type", got=kind, family=keys.family)
    parameters = rules["main" if kind == SLIDING else "compress"]
    rotary = check_size("partial_rotary_factor", int(dim * parameters["partial_rotary_factor"]))
    rule, _ = rule_of(parameters, keys, "")
    turn = rope({**parameters, "partial_rotary_factor": 1}, rotary, "interleaved", rule, negate=False)
    return layer(
        type=kind,
        encoding={**turn, "kind": "RoPEValues"},
        features=[dim - rotary, dim],
        window=keys["sliding_window"],
        sinks=True,
        compressed=rates.get(kind),
        indexer=turn if kind == SPARSE else None,
        keys=keys["index_topk"] if kind == SPARSE else None,
    )


def types_of(keys: Keys, depth: int) -> list[str]:
    """The types of layers: listed, by `compress_ratios`, or two heavy ones and then by turns."""
    types, ratios = keys.get("layer_types"), keys.get("compress_ratios")
    by_ratio = {0: SLIDING, **{rate: kind for kind, rate in table("families")["layers"]["rates"].items()}}
    if types is None and ratios is not None:
        if not set(ratios) <= set(by_ratio):
            raise Refused("numbers_of", key="compress_ratios", names=list(map(str, by_ratio)), got=ratios)
        types = [by_ratio[ratio] for ratio in ratios]
    if types is None:
        types = [HEAVY] * 2 + [SPARSE if i % 2 else HEAVY for i in range(depth - 2)]
    if len(types) < depth:
        raise Refused("layers", key="layer_types", depth=depth, got=len(types))
    return types[:depth]


def parameters_of(keys: Keys, dim: int) -> dict[str, Parameters]:
    """RoPE's parameters, of layers with a window alone (`main`) and of those that compress."""
    keys.pass_over(("rope_theta",))
    file = of_file(keys)
    share, rotary = keys.get("partial_rotary_factor"), keys.get("qk_rope_head_dim")
    if isinstance(file.get("main"), dict) and isinstance(file.get("compress"), dict):
        return {kind: {"partial_rotary_factor": 1} | file[kind] for kind in ("main", "compress")}
    share = share or (64 / 512 if rotary is None else rotary / dim)
    main = {"rope_theta": keys.own.get("rope_theta") or 10_000, "partial_rotary_factor": share}
    base = {"rope_theta": keys.first("compress_rope_theta", default=160_000)}
    plain = {"attention_factor": 1} if kind_of(file) == "yarn" else {}  # it does not sharpen
    return {"main": main, "compress": {**plain, **file, **main, **base}}
