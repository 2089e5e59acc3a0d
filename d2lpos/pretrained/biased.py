"""Families that add a bias to their scores."""

import math
from dataclasses import dataclass, field

from ..alibi import ALiBi
from ..relative import T5Bias
from .keys import SILENT_KEYS
from .layer import Config, Layer, Reading

# What a dictionary within a configuration may hold: its slopes, and what says nothing of positions.
MPT = {
    "alibi",
    "alibi_bias_max",
    "attn_type",
    "attn_pdrop",
    "attn_impl",
    "clip_qkv",
    "qk_ln",
    "softmax_scale",
}


@dataclass(frozen=True)
class Bucketed:
    """T5 and its kin: an encoder and a decoder, each with one table of biases for all layers, or one a layer."""

    shared: bool = True
    aside: frozenset[str] = field(default=frozenset())

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        depth = config.first("num_layers")
        encoder = self.stack(family, config, depth, causal=False)
        return self.stack(
            family, config, config.get("num_decoder_layers") or depth, causal=True, encoder=encoder
        )

    def stack(
        self, family: str, config: Config, depth: int, causal: bool, encoder: Reading | None = None
    ) -> Reading:
        sizes = {
            "buckets": config.first("relative_attention_num_buckets", default=32),
            "max_distance": config.first("relative_attention_max_distance", default=128),
        }
        biases = [T5Bias(config.first("num_heads"), **sizes, bidirectional=not causal) for _ in range(depth)]
        scale = math.sqrt(config.first("d_kv"))  # scores are not divided by √d
        layers = tuple(Layer(encoding=biases[0 if self.shared else i], scale=scale) for i in range(depth))
        return Reading(family, layers, causal=causal, encoder=encoder)


@dataclass(frozen=True)
class Sloped:
    """ALiBi, for which `config` has heads and layers under these names."""

    heads: tuple[str, ...]
    depth: tuple[str, ...]
    within: str | None = None  # a dictionary of the configuration with keys of its own
    aside: frozenset[str] = field(default=frozenset())

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        said = config.get(self.within) or {} if self.within else {}
        if said.get("alibi") is False or said.get("rope"):
            raise ValueError(f"{self.within} of {family} must have alibi and no rope; got {said}")
        for key, value in said.items():
            if key not in MPT | SILENT_KEYS and value not in (None, False):
                raise ValueError(
                    f"key {key!r} in {self.within} of {family} is not understood; its value is {value!r}"
                )
        octaves = said.get("alibi_bias_max") or 8.0
        bias = ALiBi(config.first(*self.heads), octaves=octaves)
        return Reading(family, (Layer(encoding=bias),) * config.first(*self.depth))


@dataclass(frozen=True)
class Either:
    """Falcon: `alibi` chooses one of two ways to read."""

    yes: Sloped
    no: object
    aside: frozenset[str] = field(default=frozenset())

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        return (self.yes if config.get("alibi") else self.no).read(family, config, tokens)
