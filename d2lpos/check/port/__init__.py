"""The checks of project 1: a checkpoint moves to another layout, and another program's loader has bugs.

A file here is a dictionary of tensors in the interleaved layout. Its names are those of `Transformer`, but queries,
keys and values lie by themselves: `blocks.0.attention.q.weight` (heads · d, dim), `…k.weight` and `…v.weight`
(kv_heads · d, dim), and their biases. Beside it is its configuration.
"""

# ruff: noqa: I001 (in the order of the chapter)
from .port import port as port
from .smallest import smallest as smallest
from .load import load as load
from .read_on import read_on as read_on
from .material import empty as empty
from .material import grouped as grouped
from .material import logits as logits
from .material import model_of as model_of
from .material import moved as moved
from .material import perplexity as perplexity
from .material import programs as programs
from .material import their_load as their_load
from .material import together as together
from .material import trained as trained
from .read_on import their_read_on as their_read_on
