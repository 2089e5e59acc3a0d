"""Positional encodings in Transformers: the package behind the book.

Position can enter attention through four doors. `Encoding` has all of them closed; each encoding opens
one or two. `Transformer` calls all doors, `Attention` those behind the input; otherwise position only makes
the causal mask.
"""

from typing import TYPE_CHECKING

from . import runtime as runtime  # first: it listens to Ctrl-C before PyTorch loads
from .runtime.lazy import lazily

if TYPE_CHECKING:
    from . import positions as positions
    from .bias import FIRE, KERPLE, ALiBi, Bias, Sandwich, Swin, T5Bias
    from .encoding import Encoding
    from .input import FourierFeatures, Learned, PositionMLP, Sinusoidal
    from .offset import Shaw, ShawKeys, TransformerXL
    from .rotary import RoPE
    from .transformer import Attention, Cache, Dropped, Transformer
else:  # PyTorch takes a second to load, and not every module needs it
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "bias": ("FIRE", "KERPLE", "ALiBi", "Bias", "Sandwich", "Swin", "T5Bias"),
            "encoding": ("Encoding",),
            "input": ("FourierFeatures", "Learned", "PositionMLP", "Sinusoidal"),
            "offset": ("Shaw", "ShawKeys", "TransformerXL"),
            "positions": (),
            "rotary": ("RoPE",),
            "transformer": ("Attention", "Cache", "Dropped", "Transformer"),
        },
    )

__all__ = [
    "FIRE", "KERPLE", "ALiBi", "Attention", "Bias", "Cache", "Dropped", "Encoding", "FourierFeatures",
    "Learned", "PositionMLP", "RoPE", "Sandwich", "Shaw", "ShawKeys", "Sinusoidal", "Swin", "T5Bias",
    "Transformer", "TransformerXL",
]
