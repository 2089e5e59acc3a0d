"""Families that read pictures, whose cells follow each other line by line."""

from .keys import Keys, check_size
from .layers import layer, stack
from .schema import Layer, Places
from .tables import Refused

Grid = tuple[int, int]


def read_picture(row: dict, keys: Keys) -> dict:
    picture, patch = pair(keys, "image_size"), pair(keys, "patch_size")
    grid = cells_of(picture, patch)
    table = keys.get(row["table"]) if isinstance(row["table"], str) else row["table"]
    trained = keys.get("pretrain_image_size")
    if table and trained is not None and pair(keys, "pretrain_image_size") != picture:
        raise Refused("pretrain_picture", picture=str(picture), got=trained)
    form = row["layers"]
    form = form if isinstance(form, dict) else {"form": form}
    layers = FORMS[form["form"]](form, keys, grid, keys.first("num_hidden_layers"))
    rows = row["rows_unused"] + row["before"] + grid[0] * grid[1]
    width = check_size("hidden_size", keys.first("hidden_size")) if table else None
    return stack(
        layers,
        input={"kind": "Learned", "length": check_size("cells", rows), "dim": width} if table else None,
        first=row["rows_unused"],
        causal=False,
        pictures=True,
        places=places(row, keys),
    )


def places(row: dict, keys: Keys) -> Places | None:
    """Where tokens stand: what its row says, and before the cells so many more as a key says; None as in a text."""
    more = keys.first(row["more"], default=0) if row["more"] else 0
    return row["places"] and {**row["places"], "before": row["places"]["before"] + more}


def pair(keys: Keys, key: str) -> Grid:
    """Height and width, of which a file may give one number for both."""
    value = keys.first(key)
    sides = value if isinstance(value, list) else [value, value]
    if len(sides) != 2:
        raise Refused("whole_numbers", key=key, least=1, got=sides)
    return tuple(check_size(key, side) for side in sides)


def cells_of(picture: Grid, patch: Grid) -> Grid:
    """How many cells a picture is high and wide."""
    return tuple(check_size("image_size", side // cell) for side, cell in zip(picture, patch, strict=True))


def features(keys: Keys) -> int:
    """Of a head; what its heads leave of hidden size is no head's."""
    dim = keys.first("head_dim", default=0)
    if dim:
        return dim
    heads = check_size("num_attention_heads", keys.first("num_attention_heads"))
    return check_size("head_dim", keys.first("hidden_size") // heads)


def without_positions(form: dict, keys: Keys, grid: Grid, depth: int) -> list[Layer]:
    return [layer()] * depth


def steps_and_cls(form: dict, keys: Keys, grid: Grid, depth: int) -> list[Layer]:
    """BEiT: a table of steps for each layer, or one for all."""
    heads = check_size("num_attention_heads", keys.first("num_attention_heads"))
    each, one = (keys.get(f"use_{kind}relative_position_bias") for kind in ("", "shared_"))
    if each and one:
        raise Refused("not_both", one="use_relative_position_bias", other="use_shared_relative_position_bias")
    table = {"kind": "BEiT", "heads": heads, "height": grid[0], "width": grid[1], "shared": bool(one)}
    return [layer(encoding=table if each or one else None)] * depth


def decomposed(form: dict, keys: Keys, grid: Grid, depth: int) -> list[Layer]:
    """SAM and ViTDet: vectors of rows and columns in each layer; where it has windows, of these.

    SAM's windows are in all layers `but` those that a key lists, ViTDet's `in` those.
    """
    if "in" in form:
        side, listed = keys.first("window_size", default=0), keys.first(form["in"], default=[])
    else:
        side, listed = keys.first("window_size"), keys.first(form["but"])
    sides = [side if side and (i in listed) == ("in" in form) else None for i in range(depth)]
    layers = {}
    for side in dict.fromkeys(sides):
        height, width = (side, side) if side else grid
        vectors = {"kind": "Decomposed", "features": 0, "height": height, "width": width}
        if keys.get(form["flag"]):
            vectors["features"] = check_size("head_dim", features(keys))
        layers[side] = layer(encoding=vectors if vectors["features"] else None, tile=side)
    return [layers[side] for side in sides]


def turn(dim: int, base: object, **fields: object) -> dict:
    """What turns all features of a head."""
    if type(base) not in (int, float) or not 1 < base < float("inf"):
        raise Refused("base", got=base)
    if dim % 4 or dim < 4:
        raise Refused("features_of_axes", by=4, got=dim)
    plain = {"layout": "half", "axes": 2, "rule": None, "backward": False, "norm": None}
    return {"kind": "RoPE", "dim": dim, "rotary": dim, "base": float(base), **plain, **fields}


def by_coordinates(form: dict, keys: Keys, grid: Grid, depth: int) -> list[Layer]:
    """DINOv3: both axes turn, with the same frequencies."""
    return [layer(encoding=turn(features(keys), keys.first("rope_theta", default=100)))] * depth


def by_interlaced_axes(form: dict, keys: Keys, grid: Grid, depth: int) -> list[Layer]:
    """Pixtral: rows and columns turn by every other frequency."""
    parameters = keys.get("rope_parameters") or {}
    kind = parameters.get("rope_type", "axial")
    if kind not in ("axial", "default"):
        raise Refused("axial", got=kind)
    for key in parameters:
        if key not in ("rope_type", "rope_theta"):
            raise Refused("axial_key", key=key, got=parameters[key])
    base, dim = parameters.get("rope_theta") or keys.first("rope_theta", default=10_000), features(keys)
    deal = [0] * (dim // 4) + [1] * (dim // 4)
    encoding = turn(dim, base, kind="MRoPE", deal=deal, rule={"kind": "interlaced"})
    return [layer(encoding=encoding)] * depth


FORMS = {
    "without_positions": without_positions,
    "steps_and_cls": steps_and_cls,
    "decomposed": decomposed,
    "by_coordinates": by_coordinates,
    "by_interlaced_axes": by_interlaced_axes,
}
