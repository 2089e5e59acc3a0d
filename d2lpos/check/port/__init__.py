"""The checks of project 1: a checkpoint moves to another layout, and another program's loader has bugs.

A file here is a dictionary of tensors in the interleaved layout. Its names are those of `Transformer`, but queries,
keys and values lie by themselves: `blocks.0.attention.q.weight` (heads · d, dim), `…k.weight` and `…v.weight`
(kv_heads · d, dim), and their biases. Beside it is its configuration."""

# ruff: noqa: I001 (in the order of the chapter)
from .port import port as port
from .smallest import smallest as smallest
from .load import load as load
from .read_on import read_on as read_on
from .material import empty as empty, grouped as grouped, logits as logits, model_of as model_of, moved as moved, perplexity as perplexity, programs as programs, their_load as their_load, together as together, trained as trained
