"""The checks of chapter 13B: rings, eigenvectors, and times."""

from .around import around as around
from .heat import heat as heat
from .time_ids import time_ids as time_ids
