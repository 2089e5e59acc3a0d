"""Door 1, the input: what is added to the embeddings of tokens."""

from .convolutional import Convolutional
from .graph import laplacian_features, random_walk_features
from .learned import Learned
from .mlp import FourierFeatures, PositionMLP, fourier_features
from .resize import resize_table
from .sinusoids import Sinusoidal, angles, frequencies, sinusoidal

__all__ = [
    "Convolutional", "FourierFeatures", "Learned", "PositionMLP", "Sinusoidal", "angles", "fourier_features",
    "frequencies", "laplacian_features", "random_walk_features", "resize_table", "sinusoidal",
]
