"""The checks of chapter 12: gates that forget, counts of what matters, two mirrors, a state, an absorbed matrix."""

# ruff: noqa: I001 (in the order of the chapter)
from .forget import forget as forget
from .contextual import contextual as contextual
from .mirrors import mirrors as mirrors
from .recurrent import recurrent as recurrent
from .scores import scores as scores
