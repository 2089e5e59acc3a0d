"""Positional encodings in Transformers: the package behind the book.

Position can enter attention through four doors. `Encoding` has all of them closed; each encoding opens
one or two. `Transformer` calls all doors, `Attention` those behind the input; otherwise position only makes
the causal mask.
"""

from . import runtime as runtime  # first: it listens to Ctrl-C before PyTorch loads
from .bias.alibi import ALiBi
from .bias.base import Bias
from .bias.fire import FIRE
from .bias.kerple import KERPLE
from .bias.sandwich import Sandwich
from .bias.swin import Swin
from .bias.t5 import T5Bias
from .encoding import Encoding
from .input.learned import Learned
from .input.mlp import FourierFeatures, PositionMLP
from .input.sinusoids import Sinusoidal
from .offset.shaw import Shaw, ShawKeys
from .offset.transformer_xl import TransformerXL
from .rotary.rope import RoPE
from .transformer.attention import Attention
from .transformer.cache import Cache
from .transformer.dropout import Dropped
from .transformer.model import Transformer

__all__ = [
    "FIRE", "KERPLE", "ALiBi", "Attention", "Bias", "Cache", "Dropped", "Encoding", "FourierFeatures",
    "Learned", "PositionMLP", "RoPE", "Sandwich", "Shaw", "ShawKeys", "Sinusoidal", "Swin", "T5Bias",
    "Transformer", "TransformerXL",
]
