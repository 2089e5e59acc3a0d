"""Families that add a bias to their scores."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..bias.alibi import ALiBi, slopes
from ..bias.t5 import T5Bias
from ..input.learned import Learned
from ..offset.deberta import DeBERTa
from .keys import SILENT_KEYS
from .layer import Config, Family, Layer, Reading, divided

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
class Bucketed(Family):
    """T5 and its kin: an encoder and a decoder, each with one table of biases for all layers, or one a layer."""

    shared: bool = True

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
class Sloped(Family):
    """ALiBi, for which `config` has heads and layers under these names."""

    heads: tuple[str, ...]
    depth: tuple[str, ...]
    within: str | None = None  # a dictionary of the configuration with keys of its own
    divided: bool = False  # the bias is divided by √d, as products are

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
        heads = config.first(*self.heads)
        bias = ALiBi(heads, octaves=octaves)
        if self.divided:
            dim = divided(config, ("hidden_size",), self.heads)
            bias = ALiBi(heads, slopes=slopes(heads, octaves=octaves) / math.sqrt(dim))
        return Reading(family, (Layer(encoding=bias),) * config.first(*self.depth))


@dataclass(frozen=True)
class Disentangled(Family):
    """DeBERTa: two terms of offsets in each layer, and a table where `position_biased_input` says so."""

    logarithms: bool = False
    ignored_keys: str = "share_att_key norm_rel_ebd talking_head"

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        terms = config.get("pos_att_type") or []
        terms = terms.split("|") if isinstance(terms, str) else terms
        relative = config.get("relative_attention")
        if relative and sorted(term.strip() for term in terms) != ["c2p", "p2c"]:
            raise ValueError(f"pos_att_type of {family} must have both terms, c2p and p2c; got {terms}")
        if self.logarithms and config.get("conv_kernel_size"):
            raise ValueError(
                f"key 'conv_kernel_size' of {family} is not understood: neighbors mix in a layer"
            )
        heads, hidden = config.first("num_attention_heads"), config.first("hidden_size")
        length = config.first("max_position_embeddings")
        largest, buckets = config.get("max_relative_positions") or -1, config.get("position_buckets") or -1
        largest = length if largest < 1 else largest
        sizes = (
            {"clip": buckets, "largest": largest} if self.logarithms and buckets > 0 else {"clip": largest}
        )
        depth = config.first("num_hidden_layers")
        layers = (Layer(),) * depth
        if relative:
            made = [DeBERTa(heads, hidden // heads, **sizes) for _ in range(depth)]
            layers = tuple(Layer(encoding=encoding, scale=1 / math.sqrt(3)) for encoding in made)
        width = config.first("embedding_size", "hidden_size")
        table = config.get("position_biased_input", True)
        return Reading(family, layers, input=Learned(length, width) if table else None, causal=False)


@dataclass(frozen=True)
class Chosen(Family):
    """A key chooses one of several ways to read; `default` where it is not there."""

    key: str
    ways: Mapping[object, object]
    default: object = None

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        said = config.get(self.key)
        said = self.default if said is None else said
        if said not in self.ways:
            raise ValueError(
                f"{self.key} of {family} must be one of {', '.join(map(str, self.ways))}; got {said!r}"
            )
        return self.ways[said].read(family, config, tokens)
