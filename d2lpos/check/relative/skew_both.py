"""The skew for both sides."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.overrides import TorchFunctionMode

from ..cases import no_loop
from ..verdict import Answer, Case, Check, Misconduct, call


def skew_by_slices(products: Tensor) -> Tensor:
    length = products.shape[-2]
    later = pad(products, (0, 1)).flatten(-2)[..., length - 1 : 2 * length**2 - 1]
    return later.unflatten(-1, (length, 2 * length - 1))[..., :length]


def causal_only(products: Tensor) -> Tensor:
    """Music Transformer's own, for the first T columns."""
    length = products.shape[-2]
    folded = pad(products[..., :length], (1, 0)).flatten(-2).unflatten(-1, (length + 1, length))
    return folded[..., 1:, :]


PICKS = {
    *("gather", "take", "take_along_dim", "take_along_axis", "index_select", "masked_select", "scatter"),
    *("scatter_", "choose", "compress", "extract", "tolist"),
}


def refuse(function: Callable, *arguments: object) -> None:
    """Raises Misconduct where torch or NumPy is asked to pick numbers one by one."""
    name = getattr(function, "__name__", "")
    if name in PICKS:
        raise Misconduct(f"Calls {name}, where padding, reshaping and slices are enough")
    if name in ("__getitem__", "__setitem__"):
        keys = arguments[1] if isinstance(arguments[1], tuple) else (arguments[1],)
        if any(isinstance(key, Tensor | np.ndarray | list) for key in keys):
            raise Misconduct("Picks numbers by an index, where padding, reshaping and slices are enough")


class Watched(np.ndarray):
    """Raises Misconduct where numbers are picked one by one from this array, or from one that was made of it."""

    def __array_function__(self, function, types, args, kwargs):
        refuse(function)
        result = super().__array_function__(function, types, args, kwargs)
        return result.view(Watched) if isinstance(result, np.ndarray) else result

    def __getattribute__(self, name):
        attribute = super().__getattribute__(name)
        if callable(attribute):
            refuse(attribute)
        return attribute

    def __getitem__(self, key):
        refuse(np.ndarray.__getitem__, self, key)
        return super().__getitem__(key)


class Watch(TorchFunctionMode):
    """Refuses what picks numbers, in torch and in the arrays that come of its tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        refuse(function, *args)
        result = function(*args, **(kwargs or {}))
        return result.view(Watched) if type(result) is np.ndarray else result


def picked(answer: Callable) -> str:
    keep = {"asarray": np.asanyarray, "array": partial(np.array, subok=True)}  # both would lose the watch
    with Watch(), patch.multiple(np, **keep):
        answer(torch.ones(3, 5))
    return "no index"


def row_by_row(products: Tensor) -> Tensor:
    length = products.shape[-2]
    rows = [products[..., i, length - 1 - i : 2 * length - 1 - i] for i in range(length)]
    return torch.stack(rows, dim=-2)


def by_gather(products: Tensor) -> Tensor:
    length = products.shape[-2]
    here = torch.arange(length)
    rows = here - here[:, None] + length - 1
    return products.gather(-1, rows.expand(*products.shape[:-1], -1))


def products_of(*shape: int) -> Tensor:
    return torch.randint(1, 10_000, shape, generator=torch.Generator().manual_seed(7)).float()


def products_case(*shape: int) -> Case:
    return call(f"products {shape}, whole numbers", products=products_of(*shape))


def moved_case(length: int) -> Case:
    """Products of which those that no key needs are not a number, and so is every sum that takes them in."""
    here, column = torch.arange(length)[:, None], torch.arange(2 * length - 1)
    needed = (column >= length - 1 - here) & (column < 2 * length - 1 - here)
    products = products_of(length, 2 * length - 1).masked_fill(~needed, torch.nan)
    return call(f"products {tuple(products.shape)}, nan where no key needs a number", products=products)


def length_of_first_axis(products):
    T = len(products)
    flat = pad(products, (0, 1)).reshape(-1)[T - 1 : 2 * T * T - 1]
    return flat.reshape(T, 2 * T - 1)[:, :T]


def without_padding(products):
    T = products.shape[-2]
    flat = products.flatten(-2)[..., T - 1 : -1 if T > 1 else 0]
    return flat.unflatten(-1, (T, 2 * T - 2))[..., :T]


skew_both = Check(
    "skew_both",
    reference=skew_by_slices,
    properties={
        "column j has the key at j, on both sides": [
            products_case(2, 3), products_case(3, 5), products_case(6, 11), products_case(20, 39), products_case(2, 4, 3, 5),
        ],
        "a single token": [products_case(1, 1)],
        "no gather, no index, no arithmetic": [Case("three rows", picked), moved_case(3), moved_case(4)],
        "no loop over the rows": [
            no_loop("three rows, then thirty", "3 rows", *((torch.ones(T, 2 * T - 1),) for T in (3, 30)))
        ],
    },
    mistakes={
        "This is Music Transformer's skew. It has no offsets above 0.": causal_only,
        "The first numbers are not skipped: row 0 begins with offset 0, in column T − 1.":
            "length - 1 : 2 * length**2 - 1 → : 2 * length**2 - length",
        "One number too many is skipped at the start.":
            "length - 1 : 2 * length**2 - 1 → length : 2 * length**2",
        "Rows do not move: this is the same slice of each.":
            lambda products: products[..., products.shape[-2] - 1 :],
        "products may have axes in front. T is its last size but one: shape[-2].": length_of_first_axis,
        "With one token, rows of 2T − 2 numbers are empty. Pad each row by one.": without_padding,
        "That is an index in disguise. (5A.1) needs none.": by_gather,
        "Row by row is slow. One reshape moves all of them.": row_by_row,
    },
    answers=(Answer("places", (7, 15), {
        "Memory counts from 0, and row 0 begins with offset 0, in column T − 1.": (8, 15),
        "That is a whole row of memory. In row 1 the first that you need stands one column earlier.": (7, 16),
        "Each row has one number of padding behind it, so rows are 16 long.": (7, 14),
        "Row 0 begins with offset −7. Its first key has offset 0.": (0, 16),
    }),),
    cards=(length_of_first_axis, without_padding),
)
