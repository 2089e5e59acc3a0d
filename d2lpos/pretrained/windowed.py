"""Swin and its kin: pictures that layers see through windows, and whose cells are merged from stage to stage."""

from collections.abc import Callable
from dataclasses import dataclass

from ..bias.swin import Swin
from ..bias.swin_v2 import SwinV2
from ..encoding import Encoding
from ..input.learned import Learned
from ..positions.grid import cells
from .layer import Config, Layer, Reading
from .pictured import Grid, pair

Window = tuple[int, int]  # its side, and by how much it is shifted in every second layer


def each_stage(config: Config, key: str) -> list[int]:
    """The numbers of the stages; raises ValueError where there is not one for each."""
    numbers, stages = config.first(key), len(config.first("depths"))
    if len(numbers) != stages:
        raise ValueError(f"{key} must be {stages} numbers, one for each stage; got {numbers}")
    return numbers


def by_table(config: Config, heads: int, side: int, stage: int) -> Encoding:
    return Swin(heads, side, side)


def by_logarithms(config: Config, heads: int, side: int, stage: int) -> Encoding:
    return SwinV2(heads, side, side)


def by_trained_logarithms(config: Config, heads: int, side: int, stage: int) -> Encoding:
    """Steps are measured by the window of the training, where the configuration names one that is not 0."""
    key = "pretrained_window_sizes"
    return SwinV2(heads, side, side, trained=config.get(key) and each_stage(config, key)[stage] or None)


@dataclass(frozen=True)
class Windowed:
    """A family whose layers have windows, as data.

    window finds a stage's from the configuration, the cells of the input and how many are merged; bias makes an
    encoding from heads, the window's side and the number of the stage. merges: whether each stage but the first merges
    2 × 2 cells. table: whether its code can add one to the cells. The others name keys: the side of the picture, the
    step from cell to cell, and the heads of each stage.
    """

    window: Callable[[Config, Grid, int], Window]
    bias: Callable[[Config, int, int, int], Encoding] = by_table
    merges: bool = True
    cosine: bool = False
    table: bool = False
    side: str = "image_size"
    stride: str = "patch_size"
    heads: str = "num_heads"
    ignored_keys: frozenset[str] = frozenset()

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        grid = tuple(a // b for a, b in zip(pair(config, self.side), pair(config, self.stride), strict=True))
        added = config.get("use_absolute_embeddings")
        if added and not self.table:
            raise ValueError(
                f"use_absolute_embeddings of {family} must be false: its code adds a row too many, and fails"
            )
        heads = each_stage(config, self.heads)
        layers = []
        for stage, depth in enumerate(config["depths"]):
            merged = 2**stage if self.merges else 1
            side, shift = self.window(config, grid, merged)
            for number in range(depth):
                bias, by = self.bias(config, heads[stage], side, stage), shift if number % 2 else 0
                layers.append(Layer(encoding=bias, tile=side, shift=by, merged=merged, cosine=self.cosine))
        table = Learned(grid[0] * grid[1], config.first("embed_dim")) if added else None
        return Reading(family, tuple(layers), input=table, causal=False, places=cells)


def fixed(config: Config, grid: Grid, merged: int) -> Window:
    """The same in all stages, however few their cells are."""
    side = config.first("window_size")
    return side, side // 2


def fitting(config: Config, grid: Grid, merged: int) -> Window:
    """The same, and not shifted where no second one fits."""
    (side, shift), least = fixed(config, grid, merged), -(-min(grid) // merged)
    if least < side:
        raise ValueError(
            f"window_size must be at most {least}, the shorter side of a stage, or its code fails; got {side}"
        )
    return side, shift if least > side else 0


def shrinking(config: Config, grid: Grid, merged: int) -> Window:
    """No higher than the stage, whose odd cells do not count, and not shifted where it is as high."""
    (side, shift), height = fixed(config, grid, merged), grid[0] // merged
    return min(side, height), shift if height > side else 0


UPSCALING = frozenset({"upscale", "img_range", "resi_connection", "upsampler", "num_channels_out"})
SPECTROGRAM = frozenset(
    {
        "aff_block_r",
        "enable_fusion",
        "enable_patch_layer_norm",
        "flatten_patch_embeds",
        "fusion_type",
        "num_classes",
        "patch_embed_input_channels",
        "patch_embeds_hidden_size",
        "patch_size",
        "projection_hidden_act",
    }
)
WINDOWED = {
    "clap_audio_model": Windowed(
        fitting, side="spec_size", stride="patch_stride", heads="num_attention_heads", ignored_keys=SPECTROGRAM
    ),
    "donut-swin": Windowed(fitting),
    "maskformer-swin": Windowed(fixed),
    "swin": Windowed(fitting, table=True),
    "swin2sr": Windowed(shrinking, by_logarithms, merges=False, cosine=True, ignored_keys=UPSCALING),
    "swinv2": Windowed(shrinking, by_trained_logarithms, cosine=True),
}
