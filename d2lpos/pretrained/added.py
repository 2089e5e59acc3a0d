"""Families that add positions to their input."""

from collections.abc import Callable
from dataclasses import dataclass

from ..bias.t5 import T5Bias
from ..encoding import Encoding
from ..input.learned import Learned
from ..input.sinusoids import Sinusoidal
from .layer import Config, Family, Layer, Reading


def windows_in_turn(config: Config, depth: int) -> list[int | None]:
    """GPT-Neo's: `attention_types` says which layers are local, [[kinds, times], …]; these have a window."""
    said = config.get("attention_types") or [[["global", "local"], 12]]
    kinds = [kind for run, times in said for kind in run * times]
    if len(kinds) != depth:
        raise ValueError(f"attention_types must name {depth} layers; got {len(kinds)}")
    return [config["window_size"] if kind == "local" else None for kind in kinds]


def fixed_buckets(config: Config) -> Encoding:
    """MPNet's: T5's buckets; the model cuts offsets into 32 of them, whatever size its table has."""
    buckets = config.first("relative_attention_num_buckets", default=32)
    if buckets != 32:
        raise ValueError(f"relative_attention_num_buckets must be 32, as its code has it; got {buckets}")
    return T5Bias(config.first("num_attention_heads"), buckets=32, max_distance=128)


@dataclass(frozen=True)
class Added(Family):
    """A family with a table or sinusoids, as data.

    before counts the rows of a table that stand before the first token's, besides those for `length` tokens. padded
    says that tokens count from `pad_token_id` + 1 in a table of `length` rows, as in RoBERTa. clocks are the layout
    and the endpoint of sinusoids; None for a table that is learned. The keys of sizes are tried in turn. encoder
    names what the encoder of a model with two parts has, and windows finds one for each layer. bias is what all layers
    share besides.
    """

    before: int = 0
    padded: bool = False
    clocks: tuple[str, bool] | None = None
    flag: str | None = None  # a key that turns a table into the clocks, interleaved
    causal: bool = False
    encoder: "Added | None" = None
    length: tuple[str, ...] = ("max_position_embeddings",)
    dim: tuple[str, ...] = ("hidden_size",)
    depth: tuple[str, ...] = ("num_hidden_layers",)
    bias: Callable[[Config], Encoding] | None = None
    windows: Callable[[Config, int], list[int | None]] | None = None

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        kind = config.get("position_embedding_type")
        if kind not in (None, "absolute"):
            raise ValueError(f"position_embedding_type of {family} must be absolute; got {kind!r}")
        depth, first = config.first(*self.depth), self.before
        if self.padded:
            padding = config.first("pad_token_id")
            if type(padding) is not int or padding < 0:
                raise ValueError(f"pad_token_id of {family} must be the number of a token; got {padding!r}")
            first = padding + 1
        bias = self.bias and self.bias(config)
        windows = self.windows(config, depth) if self.windows else [None] * depth
        return Reading(
            family,
            tuple(Layer(encoding=bias, window=window) for window in windows),
            input=self.encoding(config),
            first=first,
            causal=any([self.causal, config.get("is_decoder"), config.get("causal")]),
            encoder=self.encoder and self.encoder.read(family, config, tokens),
        )

    def encoding(self, config: Config) -> Encoding:
        dim = config.first(*self.dim)
        clocks = ("interleaved", False) if self.flag and config.get(self.flag) else self.clocks
        if clocks:
            layout, endpoint = clocks
            return Sinusoidal(dim, layout=layout, endpoint=endpoint)
        return Learned(config.first(*self.length) + self.before, dim)
