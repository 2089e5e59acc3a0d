"""Positional encodings in Transformers: the package behind the book.

Position can enter attention through four doors. `Encoding` has all of them closed; each encoding opens
one or two. `Transformer` calls all doors, `Attention` those behind the input; otherwise position only makes
the causal mask.
"""

from . import interrupt as interrupt  # first, before PyTorch loads
from .alibi import ALiBi
from .attention import Attention
from .bias import Bias
from .cache import Cache
from .dropout import Dropped
from .encoding import Encoding
from .fire import FIRE
from .kerple import KERPLE
from .learned import Learned
from .mlp import FourierFeatures, PositionMLP
from .relative import T5Bias
from .rope import RoPE
from .sandwich import Sandwich
from .shaw import Shaw, ShawKeys
from .sinusoidal import Sinusoidal
from .swin import Swin
from .transformer import Transformer
from .transformer_xl import TransformerXL

__all__ = [
    "FIRE",
    "KERPLE",
    "ALiBi",
    "Attention",
    "Bias",
    "Cache",
    "Dropped",
    "Encoding",
    "FourierFeatures",
    "Learned",
    "PositionMLP",
    "RoPE",
    "Sandwich",
    "Shaw",
    "ShawKeys",
    "Sinusoidal",
    "Swin",
    "T5Bias",
    "Transformer",
    "TransformerXL",
]
