import torch
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.whisper.modeling_whisper import sinusoids
from x_transformers.x_transformers import ScaledSinusoidalEmbedding

from d2lpos.input.sinusoids import sinusoidal
from tests.parity.comparison import agreement

table = agreement("sinusoidal")
LENGTH, DIM = 512, 24


@table.row("Table, interleaved", "transformers", "DistilBERT", 1e-7)
def distilbert():
    theirs = create_sinusoidal_embeddings(LENGTH, DIM, torch.empty(LENGTH, DIM))
    return sinusoidal(torch.arange(LENGTH).double(), DIM).float(), theirs


@table.row("Table, concatenated", "transformers", "Marian", 1e-7)
def marian():
    theirs = MarianSinusoidalPositionalEmbedding(LENGTH, DIM).create_weight()
    return sinusoidal(torch.arange(LENGTH).double(), DIM, layout="concatenated").float(), theirs


@table.row("Table, concatenated, with its endpoint", "transformers", "Whisper", 1e-4)
def whisper():
    positions = torch.arange(LENGTH)
    return sinusoidal(positions, DIM, layout="concatenated", endpoint=True), sinusoids(LENGTH, DIM)


@table.row("Table, concatenated, without their factor 1/√d", "x-transformers", "ScaledSinusoidalEmbedding", 1e-4)
def x_transformers():
    theirs = ScaledSinusoidalEmbedding(DIM)(torch.zeros(1, LENGTH, DIM)) * DIM**0.5
    return sinusoidal(torch.arange(LENGTH), DIM, layout="concatenated"), theirs
