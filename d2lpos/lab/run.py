"""What decides an experiment: one frozen value, whose key names its record for good."""

import hashlib
import json
from dataclasses import MISSING, asdict, dataclass, fields
from numbers import Integral
from typing import Any

from ..positions.arguments import check_name, check_positive, check_scale
from .encodings import ROUNDING, SQUARE, Own, known, mark, packed, unpack
from .models import DROPOUTS, EVAL_MODES, LAYERS, ONLY, SPARED
from .places import LIMITED, PLACES, side
from .synthetic import addition
from .tasks import TASKS
from .training import PRECISIONS, check_seed, check_shortest
from .waves import waves

__all__ = ["Run"]

# Of training and testing; raised when a run is no longer the same experiment. What differs by rounding alone is:
# that has numbers of its own in `ROUNDING`, which a record tells and a key does not.
PROTOCOL = 1
# What a record calls a field, where that is not its name here: keys and records are for good.
RECORDED = {"batch_size": "size", "lr": "rate", "add_every_layer": "again"}
RECORDED |= {"continue_training": "further", "eval_modes": "readings"}


@dataclass(frozen=True)
class Run:
    """One model, trained once and tested.

    task, encoding: a name in `TASKS`, and a name in `ENCODINGS`.
    length: how many tokens a training sequence has. With shortest, each batch draws its length from shortest … length.
    tested: the lengths of test sequences; by default the training length.
    eval_modes: names in `EVAL_MODES`, the ways to evaluate the trained model.
    steps, batch_size, lr: the number of training steps, the sequences in a batch, and the largest learning rate.
    causal: whether the model has a causal mask. With None the task decides.
    checks: how many times during training the losses of the curve are measured.
    precision: "float32", or "bfloat16" for autocast.
    scale: a factor that multiplies what the encoding adds to the embeddings; for a learned table, only at the start.
    add_every_layer: whether the encoding is added before every block, and not only before the first.
    probe: whether the record also says in which layers positions can be read from the trained model.
    keep: whether the record also contains the trained model in 8 bits, and its loss at each position.
    stack: the kind of each layer, from the first: "full", "window" (half the training length wide), "none" (without
        position), "gate" (on the output of attention) or "logit" (a learned one in each softmax). () means all full.
    continue_training: names in `EVAL_MODES`. In each mode, a copy of the trained model is trained for further_steps more on
        up to further_length tokens, with as many tokens in a batch. Scaling rules then stretch to that length.
    places, limit: how positions are assigned in training and in tests, a name in `PLACES`. With a name in `LIMITED`,
        positions stay below limit.
    dropout, drop: where dropout is applied in training, a name in `DROPOUTS`, and its rate.

    Raises ValueError or TypeError for an unknown name, a size that is not positive, and lengths that do not fit each
    other; for an eval mode or places that the encoding does not have, a rate without dropout, and dropout without a rate;
    and for special tokens to protect, digits to couple, or times, if the task has none.

    >>> run = Run("order", "rope", length=8)
    >>> run.key
    'c244887cfbe39214'
    >>> Run.from_fields(run.fields()) == run
    True
    """

    task: str
    encoding: str = "none"
    seed: int = 0
    length: int = 64
    shortest: int | None = None
    tested: tuple[int, ...] = ()
    eval_modes: tuple[str, ...] = ("as trained",)
    steps: int = 200
    batch_size: int = 64
    lr: float = 3e-3
    checks: int = 10
    dim: int = 64
    heads: int = 4
    layers: int = 2
    causal: bool | None = None
    precision: str = "float32"
    scale: float = 1.0
    add_every_layer: bool = False
    probe: bool = False
    dropout: str = "none"
    drop: float = 0.0
    keep: bool = False
    stack: tuple[str, ...] = ()
    continue_training: tuple[str, ...] = ()
    further_length: int = 0
    further_steps: int = 0
    places: str = "counted"
    limit: int = 0

    def __post_init__(self) -> None:
        check_name("task", self.task, TASKS)
        check_name("encoding", self.encoding, known())
        check_name("dropout", self.dropout, DROPOUTS)
        check_name("places", self.places, PLACES)
        check_name("precision", self.precision, PRECISIONS)
        sizes = ("length", "steps", "batch_size", "checks", "dim", "heads", "layers")
        check_positive(**{name: getattr(self, name) for name in sizes})
        check_seed(self.seed)
        if isinstance(self.tested, Integral):
            raise TypeError(f"tested must be lengths, such as ({self.tested},); got {self.tested!r}")
        for length in self.tested:
            check_positive(tested=length)
        # One experiment has one key, however it was written down.
        self._settle(lr=float(self.lr), scale=float(self.scale), eval_modes=tuple(self.eval_modes))
        self._settle(add_every_layer=bool(self.add_every_layer), probe=bool(self.probe), drop=float(self.drop))
        self._settle(keep=bool(self.keep))
        self._settle(tested=tuple(map(int, self.tested)) or (int(self.length),))
        self._settle(**{name: int(getattr(self, name)) for name in (*sizes, "seed")})
        self._settle(causal=TASKS[self.task].causal if self.causal is None else bool(self.causal))
        self._settle(stack=tuple(self.stack), continue_training=tuple(self.continue_training))
        for field in ("eval_modes", "continue_training"):
            for name in getattr(self, field):
                check_name(field, name, EVAL_MODES)
                if self.encoding not in ONLY.get(name, (self.encoding,)):
                    needed = '" or "'.join(ONLY[name])
                    raise ValueError(f'eval mode "{name}" needs encoding "{needed}"; got "{self.encoding}"')
        for kind in self.stack:
            check_name("stack", kind, LAYERS)
        if self.stack and len(self.stack) != self.layers:
            raise ValueError(
                f"stack must have a member for each of {self.layers} layers; got {len(self.stack)}"
            )
        more = {"further_length": self.further_length, "further_steps": self.further_steps}
        if self.continue_training:
            check_positive(**more)
            self._settle(**{name: int(size) for name, size in more.items()})
        elif any(more.values()):
            raise ValueError(f"continue_training must name an eval mode where there are steps or a length; got {more}")
        self._check_places()
        check_shortest(self.shortest, self.length)
        if self.dim % self.heads:
            raise ValueError(f"dim must be a multiple of heads; got dim={self.dim}, heads={self.heads}")
        check_scale(lr=self.lr, scale=self.scale)

        if not (self.drop == 0 if self.dropout == "none" else 0 < self.drop < 1):
            wanted = "0" if self.dropout == "none" else "above 0 and below 1"
            raise ValueError(f'drop must be {wanted} for dropout "{self.dropout}"; got {self.drop}')
        if self.dropout in SPARED and TASKS[self.task].special is None:
            raise ValueError(f'dropout "{self.dropout}" needs a task with special tokens; got "{self.task}"')

    def _check_places(self) -> None:
        lengths = (self.length, *self.tested, self.further_length)
        fit = ("counted", "jittered") if self.encoding in SQUARE else ("counted", *LIMITED, "timed")
        if self.places not in fit:
            wanted = f"must be one of {', '.join(fit)}"
            raise ValueError(f'places of "{self.encoding}" {wanted}; got "{self.places}"')
        if self.places == "coupled" and TASKS[self.task].train is not addition:
            raise ValueError(f'places "coupled" needs a task of addition; got "{self.task}"')
        if self.places == "timed" and TASKS[self.task].train is not waves:
            raise ValueError(f'places "timed" needs a task whose events have times; got "{self.task}"')
        if self.places in LIMITED:
            check_positive(limit=self.limit)
        elif self.limit:
            raise ValueError(f'limit must be 0 for places "{self.places}"; got {self.limit}')
        self._settle(limit=int(self.limit))
        if self.places in ("begun", "drawn") and self.limit < max(lengths):
            raise ValueError(f"limit must be at least {max(lengths)}, the longest row; got {self.limit}")
        if self.encoding in SQUARE or "interpolated" in self.eval_modes:
            for length in lengths:
                side(length)
        if self.encoding in SQUARE:
            flat = [name for name in ("shortest", "probe", "keep") if getattr(self, name)]
            flat += [f'eval mode "{name}"' for name in self.eval_modes if name in ("window", "sharper")]
            if flat:
                raise ValueError(f'{flat[0]} needs positions of one axis; "{self.encoding}" has two')

    def _settle(self, **values) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def stretch(self) -> float:
        """How many training lengths a scaling rule stretches to: the length of further training, or else of tests; at least 1."""
        return max(1.0, (self.further_length or max(self.tested)) / self.length)

    @property
    def key(self) -> str:
        """16 hexadecimal digits: a hash of all fields that differ from their defaults, and of versions.

        So a field that is added later with a default does not change the keys of earlier records. If the encoding was
        registered, its version and its code as it is now are part of the key.
        """
        settings = {
            RECORDED.get(f.name, f.name): v
            for f in fields(self)
            if (v := getattr(self, f.name)) != f.default or f.default is MISSING
        }
        settings |= {"protocol": PROTOCOL, "version": TASKS[self.task].version}
        if own := mark(self.encoding):
            settings["own"] = own
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def versions(self) -> dict[str, int]:
        """The versions that a run has today. Runs of the same versions get the same digits on machines of one kind."""
        versions = {"protocol": PROTOCOL, "task": TASKS[self.task].version}
        return versions | {"rounding": ROUNDING.get(self.encoding, 1)}

    def fields(self) -> dict[str, Any]:
        """All fields, fit for JSON, with the names that they have in a record. `from_fields` makes the run again from them."""
        return {
            RECORDED.get(name, name): list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "Run":
        """The run that `record["run"]` describes. Raises TypeError for a field that no run has."""
        names = {recorded: name for name, recorded in RECORDED.items()}
        return cls(**{names.get(name, name): value for name, value in fields.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        """Take an encoding that was registered along, so that a worker can make it."""
        return _arrive, (self.fields(), packed(self.encoding))


def _arrive(fields: dict[str, Any], own: Own | None) -> Run:
    unpack(fields["encoding"], own)
    return Run.from_fields(fields)
