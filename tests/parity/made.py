"""Pictures and films that are made: diffusers' embedders of three axes beside `RoPE` with features for each.

diffusers takes its time to load, so that only the rows do.
"""

from importlib import import_module

import torch
from torch import Tensor

from d2lpos import RoPE
from tests.parity.comparison import agreement

table = agreement("made")
SHARES = {"large": [16, 56, 56], "even": [44, 42, 42]}
LATENT = torch.zeros(1, 1, 4, 12, 10)  # four frames, which patches of 2 × 2 make 6 high and 5 wide


def places(*sizes: int) -> Tensor:
    """Frame, row and column of each cell, frame by frame."""
    return torch.cartesian_prod(*map(torch.arange, sizes)).double()


def module(name: str):
    return import_module(f"diffusers.{name}")


def both(ours: RoPE, at: Tensor, theirs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Queries (1, head, cell, feature) turned by ours and by theirs, whose cosines and sines are (cell, feature)."""
    q = torch.rand(1, 2, len(at), theirs[0].shape[-1]) - 0.5
    unbind = -2 if ours.layout == "half" else -1
    return ours.rotate_at(q, at), module("models.embeddings").apply_rotary_emb(q, theirs, use_real_unbind_dim=unbind)


@table.row("Rotation of 16, 56 and 56 features, ids up to 63", "diffusers", "FluxPosEmbed", 1e-6)
def flux():
    ids = torch.cat([torch.zeros(1, 3), torch.tensor([[1, 63, 63]]), torch.randint(64, (40, 3))])
    theirs = module("models.transformers.transformer_flux").FluxPosEmbed(10_000, SHARES["large"])(ids)
    return both(RoPE(128, axes=SHARES["large"], layout="interleaved"), ids.double(), theirs)


@table.row("The same, centered, by complex numbers, and words behind the picture", "diffusers", "QwenEmbedRope", 1e-6)
def qwen_image():
    """Rows −3 … 2, columns −3 … 1; words from 3, half of the longer side, on."""
    embed = module("models.transformers.transformer_qwenimage").QwenEmbedRope(10_000, SHARES["large"], scale_rope=True)
    cells, words = embed([(1, 6, 5)], torch.device("cpu"), max_txt_seq_len=7)
    at = torch.cat([places(1, 6, 5) - torch.tensor([0, 3, 3]), (3 + torch.arange(7))[:, None].expand(7, 3)])
    theirs = torch.cat([cells, words])  # (cell, pair); their function has the sequence before the heads
    ours, q = RoPE(128, axes=SHARES["large"], layout="interleaved"), torch.rand(1, len(at), 2, 128) - 0.5
    turn = module("models.transformers.transformer_qwenimage").apply_rotary_emb_qwen
    return ours.rotate_at(q.transpose(1, 2), at).transpose(1, 2), turn(q, theirs, use_real=False)


@table.row("The same from frame, row and column 0 on, base 256", "diffusers", "HunyuanVideoRotaryPosEmbed", 1e-6)
def hunyuan_video():
    embed = module("models.transformers.transformer_hunyuan_video").HunyuanVideoRotaryPosEmbed(2, 1, SHARES["large"])
    ours = RoPE(128, 256.0, axes=SHARES["large"], layout="interleaved")
    return both(ours, places(4, 6, 5), embed(LATENT))


@table.row("Rotation of 44, 42 and 42 features", "diffusers", "WanRotaryPosEmbed", 1e-6)
def wan():
    embed = module("models.transformers.transformer_wan").WanRotaryPosEmbed(128, (1, 2, 2), 1024)
    theirs = tuple(x[0, :, 0] for x in embed(LATENT))  # (cell, feature)
    return both(RoPE(128, axes=SHARES["even"], layout="interleaved"), places(4, 6, 5), theirs)


@table.row("The same in halves, a base for each axis, at 30 frames a second", "diffusers", "CosmosRotaryPosEmbed", 1e-6)
def cosmos():
    theirs = module("models.transformers.transformer_cosmos").CosmosRotaryPosEmbed(128)(LATENT, fps=30)
    bases = [10_000 * 2 ** (44 / 42), 10_000.0, 10_000.0]
    at = places(4, 6, 5) * torch.tensor([24 / 30, 1, 1])
    return both(RoPE(128, bases, axes=SHARES["even"]), at, theirs)


@table.row("Rotation of 16, 24 and 24 features, a portrait film within the frame of training", "diffusers", "get_3d_rotary_pos_embed", 1e-5)
def cog_video_x():
    """45 × 30 patches within 30 × 45: rows are 2/3 apart, and columns, which begin at 12, a little less."""
    crop = module("pipelines.cogvideo.pipeline_cogvideox").get_resize_crop_region_for_grid((45, 30), 45, 30)
    theirs = module("models.embeddings").get_3d_rotary_pos_embed(64, crop, (45, 30), 2)
    rows, columns = torch.arange(45) * 2 / 3, torch.linspace(12, 32 * 29 / 30, 30)
    at = torch.cartesian_prod(torch.arange(2.0), rows, columns).double()
    return both(RoPE(64, axes=[16, 24, 24], layout="interleaved"), at, theirs)
