"""Making a sinusoidal table: ours beside Hugging Face's M2M-100 and x-transformers."""

import torch
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from x_transformers.x_transformers import ScaledSinusoidalEmbedding

from d2lpos.input.sinusoids import sinusoidal

from .measure import Contest


def contests(device: str, length: int = 8192, dim: int = 512) -> list[Contest]:
    positions = torch.arange(length, device=device)
    x = torch.zeros(1, length, dim, device=device)
    scaled = ScaledSinusoidalEmbedding(dim).to(device)
    return [Contest("sinusoidal", f"Sinusoidal table, {length} positions, {dim} features", {
        "Hugging Face M2M-100": lambda: M2M100SinusoidalPositionalEmbedding.get_embedding(length, dim),
        "x-transformers": lambda: scaled(x),
        "`sinusoidal`, interleaved": lambda: sinusoidal(positions, dim),
        "`sinusoidal`, concatenated": lambda: sinusoidal(positions, dim, layout="concatenated"),
    })]
