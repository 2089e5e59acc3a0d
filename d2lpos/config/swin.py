"""Swin and its kin: pictures that layers see through windows, and whose cells are merged from stage to stage."""

from .keys import Keys, check_size
from .layers import layer, stack
from .pictures import Grid, cells_of, pair
from .tables import Refused

Window = tuple[int, int]  # its side, and by how much it is shifted in every second layer


def read_swin(row: dict, keys: Keys) -> dict:
    grid = cells_of(pair(keys, row["side"]), pair(keys, row["stride"]))
    table = keys.get("use_absolute_embeddings")
    if table and not row["table"]:
        raise Refused("row_too_many", family=keys.family)
    heads = each_stage(keys, row["heads"])
    layers = []
    for stage, depth in enumerate(keys["depths"]):
        merged = 2**stage if row["merges"] else 1
        side, shift = window_of(row["window"], keys, grid, merged)
        sizes = {"heads": check_size(row["heads"], heads[stage]), "height": check_size("window_size", side)}
        bias = {"kind": row["bias"], **sizes, "width": side}
        if row["bias"] == "SwinV2":
            bias["trained"] = trained_window(row["trained"], keys, stage)
        both = [
            layer(encoding=bias, tile=side, shift=by, merged=merged, cosine=row["cosine"])
            for by in (0, shift)
        ]
        layers += [both[number % 2] for number in range(check_size("depths", depth))]
    rows = {"kind": "Learned", "length": grid[0] * grid[1], "dim": keys.first("embed_dim")} if table else None
    return stack(layers, input=rows, causal=False, pictures=True, places=row["places"])


def each_stage(keys: Keys, key: str) -> list[int]:
    """The numbers of the stages."""
    numbers, stages = keys.first(key), len(keys.first("depths"))
    if not isinstance(numbers, list) or len(numbers) != stages:
        raise Refused("stages", key=key, stages=stages, got=numbers)
    return numbers


def trained_window(key: str | None, keys: Keys, stage: int) -> int | None:
    """The window of the training, by which steps are measured, where a key of the file names one that is not 0."""
    trained = key and keys.get(key) and each_stage(keys, key)[stage] or None
    if trained is not None and check_size(key, trained) < 2:
        raise Refused("trained_window", got=trained)
    return trained


def window_of(form: str, keys: Keys, grid: Grid, merged: int) -> Window:
    """A stage's, from the cells of the input and how many are merged; not shifted where no second one fits.

    A fixed one is the same in all stages, however few their cells are. A fitting one must be no larger than its stage, and
    a shrinking one is no higher than it, whose odd cells do not count.
    """
    side = keys.first("window_size")
    if form == "fixed":
        return side, side // 2
    least = grid[0] // merged if form == "shrinking" else -(-min(grid) // merged)
    if form == "fitting" and least < side:
        raise Refused("window_of_stage", least=least, got=side)
    return min(side, least), side // 2 if least > side else 0
