"""Families that read pictures, whose cells follow each other line by line."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ..bias.beit import BEiT
from ..bias.decomposed import Decomposed
from ..input.learned import Learned
from ..positions.grid import cells, coordinates
from ..rotary.mrope import MRoPE, blocks
from ..rotary.rope import RoPE
from ..rotary.scaling import interlaced
from .layer import Config, Family, Layer, Reading, by_name

Grid = tuple[int, int]
Places = Callable[[int, int], Tensor]


def without_positions(config: Config, grid: Grid, depth: int) -> list[Layer]:
    return [Layer()] * depth


def counted(config: Config) -> None:
    """Positions are those of a text: tokens are counted."""


def by_cells(config: Config) -> Places:
    return cells


@dataclass(frozen=True)
class Pictured(Family):
    """A family that reads pictures, as data.

    before: tokens in front of the cells that have rows of the table, such as [CLS]. table: whether there is one, or the
    key that says so. unused: rows before the first token's. layers find what each layer does, and places where its
    tokens stand.
    """

    before: int = 1
    table: bool | str = True
    unused: int = 0
    layers: Callable[[Config, Grid, int], list[Layer]] = without_positions
    places: Callable[[Config], Places | None] = counted

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        picture, patch = pair(config, "image_size"), pair(config, "patch_size")
        height, width = (side // cell for side, cell in zip(picture, patch, strict=True))
        table = config.get(self.table) if isinstance(self.table, str) else self.table
        trained = config.get("pretrain_image_size")
        if table and trained is not None and pair(config, "pretrain_image_size") != picture:
            raise ValueError(
                f"pretrain_image_size must be image_size = {picture}, or rows change; got {trained}"
            )
        rows = self.unused + self.before + height * width
        return Reading(
            family,
            tuple(self.layers(config, (height, width), config.first("num_hidden_layers"))),
            input=Learned(rows, config.first("hidden_size")) if table else None,
            first=self.unused,
            causal=False,
            places=self.places(config),
        )


def pair(config: Config, key: str) -> Grid:
    """Height and width, of which a configuration may give one number for both."""
    value = config.first(key)
    return (value, value) if isinstance(value, int) else tuple(value)


def features(config: Config) -> int:
    return config.first("head_dim", default=0) or config.first("hidden_size") // config.first(
        "num_attention_heads"
    )


# BEiT


def steps_and_cls(config: Config, grid: Grid, depth: int) -> list[Layer]:
    """A table of steps for each layer, or one for all."""
    heads = config.first("num_attention_heads")
    each, one = (config.get(f"use_{kind}relative_position_bias") for kind in ("", "shared_"))
    if each and one:
        raise ValueError(
            "use_relative_position_bias and use_shared_relative_position_bias must not both be true"
        )
    if one:
        return [Layer(encoding=BEiT(heads, *grid))] * depth
    return [Layer(encoding=BEiT(heads, *grid) if each else None) for _ in range(depth)]


def outside_and_cells(config: Config) -> Places:
    return lambda height, width: torch.cat([torch.tensor([[-1, -1]]), cells(height, width)])


# SAM and ViTDet


def decomposed(config: Config, grid: Grid, depth: int, windowed: Callable, flag: str) -> list[Layer]:
    """Vectors of rows and columns in each layer; where it has windows, of these."""
    sides, layers = windowed(config, depth), []
    for side in sides:
        size = (side, side) if side else grid
        encoding = Decomposed(features(config), *size) if config.get(flag) else None
        layers.append(Layer(encoding=encoding, tile=side))
    return layers


def but_global(config: Config, depth: int) -> list[int | None]:
    """SAM's windows: in all layers but those of `global_attn_indexes`."""
    side, everywhere = config.first("window_size"), config["global_attn_indexes"]
    return [None if i in everywhere or not side else side for i in range(depth)]


def listed(config: Config, depth: int) -> list[int | None]:
    """ViTDet's windows: in the layers of `window_block_indices`."""
    side, windowed = config.get("window_size"), config.get("window_block_indices") or ()
    return [side if i in windowed and side else None for i in range(depth)]


# DINOv3 and Pixtral


def by_coordinates(config: Config, grid: Grid, depth: int) -> list[Layer]:
    rope = RoPE(features(config), base=float(config.first("rope_theta", default=100.0)), axes=2)
    return [Layer(encoding=rope)] * depth


def around_the_middle(config: Config) -> Places:
    """[CLS] and registers in the middle, then the cells, from −2π to 2π."""
    registers = config.first("num_register_tokens", default=0)

    def places(height: int, width: int) -> Tensor:
        return torch.cat([torch.zeros(1 + registers, 2), 2 * torch.pi * coordinates(height, width)])

    return places


def by_interlaced_axes(config: Config, grid: Grid, depth: int) -> list[Layer]:
    said = config.get("rope_parameters") or {}
    kind = said.get("rope_type", "axial")
    if kind not in ("axial", "default"):
        raise ValueError(f"rope_type must be axial; got {kind!r}")
    for key in said:
        if key not in ("rope_type", "rope_theta"):
            raise ValueError(
                f"key {key!r} of rope_type 'axial' is not understood; its value is {said[key]!r}"
            )
    base, dim = said.get("rope_theta") or config.first("rope_theta", default=10_000.0), features(config)
    turn = MRoPE(dim, blocks([dim // 4] * 2), float(base), scaling=interlaced)
    return [Layer(encoding=turn)] * depth


PICTURED = by_name(
    {
        "beit data2vec-vision": Pictured(
            table="use_absolute_position_embeddings",
            layers=steps_and_cls,
            places=outside_and_cells,
        ),
        "clip_vision_model dinov2 vit vit_msn": Pictured(),
        "deit": Pictured(before=2),
        "dinov3_vit": Pictured(
            table=False,
            layers=by_coordinates,
            places=around_the_middle,
            ignored_keys="num_register_tokens pos_embed_jitter pos_embed_rescale pos_embed_shift",
        ),
        "ijepa siglip_vision_model": Pictured(before=0),
        "pixtral": Pictured(table=False, layers=by_interlaced_axes, places=by_cells),
        "sam_vision_model": Pictured(
            before=0,
            table="use_abs_pos",
            layers=partial(decomposed, windowed=but_global, flag="use_rel_pos"),
            places=by_cells,
            ignored_keys="num_pos_feats scale",
        ),
        "vitdet": Pictured(
            before=0,
            table="use_absolute_position_embeddings",
            unused=1,
            layers=partial(decomposed, windowed=listed, flag="use_relative_position_embeddings"),
            places=by_cells,
        ),
    }
)
