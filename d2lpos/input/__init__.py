"""Door 1, the input: what is added to the embeddings of tokens."""

from .convolutional import Convolutional
from .learned import Learned
from .mlp import FourierFeatures, PositionMLP, fourier_features
from .resize import resize_table
from .sinusoids import Sinusoidal, angles, frequencies, sinusoidal

__all__ = [
    "Convolutional", "FourierFeatures", "Learned", "PositionMLP", "Sinusoidal", "angles", "fourier_features",
    "frequencies", "resize_table", "sinusoidal",
]
