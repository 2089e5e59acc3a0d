"""Wrong answers to the exercises of chapter 5."""

import numpy as np
import torch

from d2lpos.bias.t5 import bucket
from d2lpos.check import relative as check

from . import wrong

wrong(check.relative_scores, "positions as they come")(
    "rows = (k_positions → rows = ((q_positions if len(q) == len(k) else k_positions)"
)
wrong(check.relative_scores.answers[0], "What they added is the skew")("Huang et al. (2018)")
wrong(check.relative_scores.answers[0], "a sinusoid, a year later")("Dai")
wrong(check.relative_scores.answers[0], "add codes of positions to the words")("Vaswani et al. (2017)")
wrong(check.skew_both, "Picks numbers by an index")(
    lambda products: products[..., (i := torch.arange(products.shape[-2])[:, None]), i.T - i + len(i) - 1]
)


@wrong(check.skew_both, "Calls take_along_axis")
def along_an_axis_in_numpy(products):
    i = np.arange(products.shape[-2])
    place = np.broadcast_to(i - i[:, None] + len(i) - 1, (*products.shape[:-1], len(i)))
    return torch.from_numpy(np.take_along_axis(products.numpy(), place, -1))


@wrong(check.skew_both, "Calls tolist")
def number_by_number(products):
    if products.dim() > 2:
        return torch.stack([number_by_number(part) for part in products])
    T = len(products)
    return torch.tensor([row[T - 1 - i : 2 * T - 1 - i] for i, row in enumerate(products.tolist())])


wrong(check.to_bucket, "Calls the package's bucket")(
    lambda offset, buckets, max_distance, bidirectional: bucket(offset, buckets, max_distance, bidirectional)
)
wrong(check.widest, "length = 2048, buckets = 8")(
    "math.floor(by_formula(length - 1, buckets)) → min(math.floor(by_formula(length - 1, buckets)), 10_000)"
)
wrong(check.offsets_only, "others do not")("(change - change[:, :1]) → (change - change[:, :1]).tril()")


wrong(check.offsets_only, "with 0.0002 added in row 2, column 1, (40, 40)")(
    lambda bias: bool((bias.diff(dim=1)[1:, 1:] - bias.diff(dim=1)[:-1, :-1]).abs().mean() < 1e-5)
)


@wrong(check.offsets_only, "got True with the 1 in row 0, column 5")
def near_the_diagonal(bias):
    rest = bias - bias.diagonal()[:, None]
    return all(torch.allclose(d, d[:1].expand_as(d), rtol=0, atol=1e-5) for d in map(rest.diagonal, range(-4, 5)))


wrong(check.offsets_only, "Property: others do not")("(change - change[:, :1]) → (change.mean(dim=1) - change[:, 0])")
wrong(check.offsets_only, "the bias 1000 i − j² / 1000")("lt(1e-5) → lt(1e-5 + 1e-4 * change.abs())")
wrong(check.to_bucket, "12 buckets, maximum 8")("return never_cut(distance, → return never_cut(distance.clamp(max=far - 1),")
