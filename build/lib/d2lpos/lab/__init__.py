"""Experiments that are data: a run is a frozen value, its record is kept, and a chapter plots from records."""

from .encodings import register
from .experiment import execute
from .glance import Glance
from .glances import GLANCES, glimpse
from .observed import observed, over_passages
from .publish import export
from .run import Run
from .signs import signs
from .speeds import speeds
from .store import Store
from .studies import STUDIES
from .summary import frame, paired, records, summary
from .sweep import sweep
from .tasks import TASKS, order
from .training import accuracy, train
from .verdict import moments, verdicts

__all__ = [
    "GLANCES",
    "STUDIES",
    "TASKS",
    "Glance",
    "Run",
    "Store",
    "accuracy",
    "execute",
    "export",
    "frame",
    "glimpse",
    "moments",
    "observed",
    "order",
    "over_passages",
    "paired",
    "records",
    "register",
    "signs",
    "speeds",
    "summary",
    "sweep",
    "train",
    "verdicts",
]
