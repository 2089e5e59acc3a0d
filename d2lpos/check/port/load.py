"""Mend the loader."""

from collections.abc import Callable

from torch import Tensor, nn

from ...transformer.model import Transformer
from ..verdict import Case, Check, Misconduct, is_empty
from .material import for_halves, logits, model_of, moved, other_base, outcome_of, small, turning


def loaded(config: dict, file: dict[str, Tensor]) -> Transformer:
    return model_of(config, moved(file, turning(config), config["rotary"], "half"))


def load_case(label: str, positions: list[int], **changes: object) -> Case:
    config, file = small(**changes)

    def ask(answer: Callable) -> object:
        model = outcome_of(answer, config, file, "config", "file")
        if is_empty(model):
            return model
        if not isinstance(model, nn.Module):
            raise Misconduct(f"Returns type {type(model).__name__}; a model is asked for")
        if getattr(getattr(model, "encoding", None), "layout", "half") != "half":
            raise Misconduct("Returns a model that turns neighbors; a model of halves is asked for")
        return logits(model, positions)

    return Case(f"{label}; tokens 0, 1, … at {positions}", ask)


OTHER = {"vocabulary": 9, "outputs": 8, "dim": 48, "heads": 6, "kv_heads": 3, "layers": 1}
load = Check(
    "load",
    reference=loaded,
    properties={
        "keys have heads of their own": [
            load_case("heads = 4, kv_heads = 2", [0, 0], kv_heads=2),
            load_case("heads = 4, kv_heads = 2", [0, 1, 7], kv_heads=2),
            load_case("another size, heads = 6, kv_heads = 3", [0, 1, 7], **OTHER),
            load_case("heads = 2, kv_heads = 1", [0, 1, 7], dim=24, heads=2, kv_heads=1, layers=1, outputs=9),
        ],
        "the base of the file": [
            load_case("rope_theta = 500", [0, 1], **other_base(500.0)),
            load_case("rope_theta = 512.5", [0, 1, 7], **other_base(512.5)),
        ],
        "as much of each head turns as the file says": [
            load_case("rotary = 8", [0, 1], rotary=8),
            load_case("rotary = 8, three layers", [0, 1, 7], rotary=8, layers=3),
        ],
    },
    mistakes={
        "The keys are cut into as many heads as the queries. Here several query heads share one.":
            lambda config, file: model_of(config, for_halves(config, file, k=config["heads"])),
        "The base is 10000 whatever the file says. Look where its configuration keeps it.":
            lambda config, file: loaded(config | other_base(10_000.0), file),
        "The rows of values have moved, too.":
            lambda config, file: model_of(config, for_halves(config, file, v=config["kv_heads"])),
        "The rows of keys have not moved.": (
            lambda config, file: model_of(
                config, moved(file, {"q": config["heads"]}, config["rotary"], "half")
            )
        ),
        "The rows have not moved: they lie as neighbors, and the model turns halves.":
            lambda config, file: model_of(config, file),
        "All features of a head turn, whatever `rotary` says.":
            lambda config, file: model_of(config | {"rotary": 8}, for_halves(config, file)),
        "Half of each head turns, whatever `rotary` says.":
            lambda config, file: loaded(config | {"rotary": 4}, file),
    },
)
