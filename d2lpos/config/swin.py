"""Swin and its kin: pictures that layers see through windows, and whose cells are merged from stage to stage."""

from .keys import Keys, check_size
from .layers import layer, stack
from .pictures import Grid, by_cells, cells_of, pair
from .schema import Encoding
from .tables import Refused

Window = tuple[int, int]  # its side, and by how much it is shifted in every second layer


def read_swin(row: dict, keys: Keys) -> dict:
    """window finds a stage's from the cells of the input and how many are merged; bias makes an encoding."""
    grid = cells_of(pair(keys, row["side"]), pair(keys, row["stride"]))
    table = keys.get("use_absolute_embeddings")
    if table and not row["table"]:
        raise Refused("row_too_many", family=keys.family)
    heads = each_stage(keys, row["heads"])
    layers = []
    for stage, depth in enumerate(keys["depths"]):
        merged = 2**stage if row["merges"] else 1
        side, shift = WINDOWS[row["window"]](keys, grid, merged)
        bias = BIASES[row["bias"]](
            keys, check_size(row["heads"], heads[stage]), check_size("window_size", side), stage
        )
        both = [
            layer(encoding=bias, tile=side, shift=by, merged=merged, cosine=row["cosine"])
            for by in (0, shift)
        ]
        layers += [both[number % 2] for number in range(check_size("depths", depth))]
    rows = {"kind": "Learned", "length": grid[0] * grid[1], "dim": keys.first("embed_dim")} if table else None
    return stack(layers, input=rows, causal=False, pictures=True, places=by_cells(keys))


def each_stage(keys: Keys, key: str) -> list[int]:
    """The numbers of the stages."""
    numbers, stages = keys.first(key), len(keys.first("depths"))
    if not isinstance(numbers, list) or len(numbers) != stages:
        raise Refused("stages", key=key, stages=stages, got=numbers)
    return numbers


def by_table(keys: Keys, heads: int, side: int, stage: int) -> Encoding:
    return {"kind": "Swin", "heads": heads, "height": side, "width": side}


def by_logarithms(keys: Keys, heads: int, side: int, stage: int) -> Encoding:
    return {"kind": "SwinV2", "heads": heads, "height": side, "width": side, "trained": None}


def by_trained_logarithms(keys: Keys, heads: int, side: int, stage: int) -> Encoding:
    """Steps are measured by the window of the training, where the file names one that is not 0."""
    key = "pretrained_window_sizes"
    trained = keys.get(key) and each_stage(keys, key)[stage] or None
    if trained is not None and check_size(key, trained) < 2:
        raise Refused("trained_window", got=trained)
    return {**by_logarithms(keys, heads, side, stage), "trained": trained}


BIASES = {
    "by_table": by_table,
    "by_logarithms": by_logarithms,
    "by_trained_logarithms": by_trained_logarithms,
}


def fixed(keys: Keys, grid: Grid, merged: int) -> Window:
    """The same in all stages, however few their cells are."""
    side = keys.first("window_size")
    return side, side // 2


def fitting(keys: Keys, grid: Grid, merged: int) -> Window:
    """The same, and not shifted where no second one fits."""
    (side, shift), least = fixed(keys, grid, merged), -(-min(grid) // merged)
    if least < side:
        raise Refused("window_of_stage", least=least, got=side)
    return side, shift if least > side else 0


def shrinking(keys: Keys, grid: Grid, merged: int) -> Window:
    """No higher than the stage, whose odd cells do not count, and not shifted where it is as high."""
    (side, shift), height = fixed(keys, grid, merged), grid[0] // merged
    return min(side, height), shift if height > side else 0


WINDOWS = {"fixed": fixed, "fitting": fitting, "shrinking": shrinking}
