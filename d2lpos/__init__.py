"""Positional encodings in Transformers: the package behind the book.

Position can enter attention through four doors. `Encoding` has all of them closed; each encoding opens
one or two. `Attention` and `Transformer` call the doors and know nothing else about position.
"""

from .alibi import ALiBi
from .attention import Attention
from .encoding import Encoding
from .learned import Learned
from .relative import T5Bias
from .rope import RoPE
from .sinusoidal import Sinusoidal
from .transformer import Transformer

__all__ = ["ALiBi", "Attention", "Encoding", "Learned", "RoPE", "Sinusoidal", "T5Bias", "Transformer"]
