"""DeepSeek-V4: each layer sees a window, and most see keys besides that stand for many tokens each."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..rotary.rope import RoPE
from ..rotary.rope_values import RoPEValues
from .layer import Config, Family, Layer, Reading
from .rotary import given_rule, kind_of, rule_of

SLIDING, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
RATES = {SPARSE: 4, HEAVY: 128}  # tokens that one key stands for


@dataclass(frozen=True)
class Compressed(Family):
    """One tensor is key and value, so values turn, and the output turns back; layers with compressed keys have a base of their own."""

    ignored_keys: str = "index_n_heads"
    reads: str = "layer_types sliding_window index_head_dim index_topk compress_rates compress_ratios compress_rope_theta"

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        depth, dim = config.first("num_hidden_layers"), config.first("head_dim", default=512)
        rates = RATES | (config.get("compress_rates") or {})
        if not all(type(rate) is int and rate >= 1 for rate in rates.values()):
            raise ValueError(f"compress_rates must be whole numbers of at least 1; got {rates}")
        ropes = parameters(config, dim)
        layers = []
        for kind in kinds(config, depth):
            if kind not in (SLIDING, *RATES):
                raise ValueError(f"layer type {kind!r} of {family} is not understood")
            said = ropes["main" if kind == SLIDING else "compress"]
            rotary, base = int(dim * said["partial_rotary_factor"]), float(said["rope_theta"])
            rule, _ = rule_of(said, config, tokens, set())
            sparse = kind == SPARSE
            layers.append(
                Layer(
                    encoding=RoPEValues(rotary, base, "interleaved", scaling=rule),
                    features=(dim - rotary, dim),
                    window=config["sliding_window"],
                    sinks=True,
                    compressed=rates.get(kind),
                    indexer=RoPE(rotary, base, "interleaved", scaling=rule) if sparse else None,
                    keys=config["index_topk"] if sparse else None,
                )
            )
        config.pass_over(("index_head_dim", "index_topk", "compress_rope_theta"))
        return Reading(family, tuple(layers))


def kinds(config: Config, depth: int) -> list[str]:
    """The types of layers: listed, by `compress_ratios`, or two heavy ones and then by turns."""
    listed, ratios = config.get("layer_types"), config.get("compress_ratios")
    by_ratio = {0: SLIDING, **{rate: kind for kind, rate in RATES.items()}}
    if listed is None and ratios is not None:
        if not set(ratios) <= set(by_ratio):
            raise ValueError(
                f"compress_ratios must be numbers of {', '.join(map(str, by_ratio))}; got {ratios}"
            )
        listed = [by_ratio[ratio] for ratio in ratios]
    if listed is None:
        listed = [HEAVY] * 2 + [SPARSE if i % 2 else HEAVY for i in range(depth - 2)]
    if len(listed) < depth:
        raise ValueError(f"layer_types must name {depth} layers; got {len(listed)}")
    return listed[:depth]


def parameters(config: Config, dim: int) -> dict[str, Mapping]:
    """RoPE's parameters, of layers with a window alone (`main`) and of those that compress."""
    config.pass_over(("rope_theta",))
    given = given_rule(config)
    share, rotary = config.get("partial_rotary_factor"), config.get("qk_rope_head_dim")
    if isinstance(given.get("main"), Mapping) and isinstance(given.get("compress"), Mapping):
        return {kind: {"partial_rotary_factor": 1.0} | dict(given[kind]) for kind in ("main", "compress")}
    share = share or (64 / 512 if rotary is None else rotary / dim)
    main = {"rope_theta": config.given.get("rope_theta") or 10_000.0, "partial_rotary_factor": share}
    base = {"rope_theta": config.first("compress_rope_theta", default=160_000.0)}
    plain = {"attention_factor": 1.0} if kind_of(given) == "yarn" else {}  # it does not sharpen
    return {"main": main, "compress": {**plain, **given, **main, **base}}
