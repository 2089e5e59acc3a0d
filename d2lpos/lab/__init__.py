"""Experiments that are data: a run is a frozen value, its record is kept, and a chapter plots from records."""

from .encodings import register
from .experiment import execute
from .observed import mean_ci
from .probe import Probe
from .probes import PROBES, run_probe
from .publish import export
from .record import records
from .run import Run
from .signs import signs
from .speeds import speeds
from .store import Store
from .studies import STUDIES
from .summary import frame, interval, paired, summary
from .sweep import sweep
from .tasks import TASKS, order
from .training import accuracy, train
from .verdict import moments, verdicts

__all__ = [
    "PROBES",
    "STUDIES",
    "TASKS",
    "Probe",
    "Run",
    "Store",
    "accuracy",
    "execute",
    "export",
    "frame",
    "interval",
    "mean_ci",
    "moments",
    "order",
    "paired",
    "records",
    "register",
    "run_probe",
    "signs",
    "speeds",
    "summary",
    "sweep",
    "train",
    "verdicts",
]
