"""Positional encodings in Transformers: the package behind the book.

Position can enter attention through four doors. `Encoding` has all of them closed; each encoding opens
one or two. `Transformer` calls all doors, `Attention` those behind the input; otherwise position only makes
the causal mask.
"""

import signal
import sys

# So Python calls itself while it looks for `python -m d2lpos.…`. PyTorch takes its time to load, and an exception
# amid that would be a traceback, or lost: Ctrl-C ends the process instead, until its command listens.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

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
