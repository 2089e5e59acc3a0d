"""The checks of the project that stretches a model: new angles, a larger base, a rule, a budget, what is kept."""

# ruff: noqa: I001 (in the order of the chapter)
from .new_angles import new_angles as new_angles
from .larger_base import larger_base as larger_base
from .own_rule import own_rule as own_rule
from .bought import bought as bought
from .kept import kept as kept
