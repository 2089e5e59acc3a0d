"""Wrong answers to the exercises of chapter 3."""

import torch
from torch.nn.functional import embedding

from d2lpos.check import learned as check

from . import wrong

# The sketch, mended


@wrong(check.add_positions, "Changes its argument x in place")
def as_in_the_question(x, table, positions):
    x += embedding(positions, table)
    return x


@wrong(check.add_positions, "The rows are counted from 0.")
def a_slice(x, table, positions):
    return x + table[: positions.shape[-1]]


@wrong(check.add_positions, "The words are lost")
def rows_only(x, table, positions):
    return (
        table.index_select(0, positions.flatten()).view(*positions.shape, -1).expand(len(x), -1, -1).clone()
    )


@wrong(check.add_positions, "These are the rows alone.")
def rows_only_without_batch(x, table, positions):
    return embedding(positions, table)


@wrong(check.add_positions, "The positions themselves are added.")
def numbers(x, table, positions):
    return x + positions.unsqueeze(-1)


@wrong(check.add_positions, "The first sentence's positions serve all.")
def first_sentence(x, table, positions):
    if positions.dim() == 2:
        positions = positions[0]
    return x + embedding(positions, table)


@wrong(check.add_positions, "fails 1 of 5 properties Property: x plus the row of each position")
def positions_of_a_batch_only(x, table, positions):
    return x + embedding(positions.view(len(x), -1), table)


@wrong(check.add_positions, "A table that is detached")
def through_data(x, table, positions):
    return x + embedding(positions, table.data)


@wrong(check.add_positions, "Positions past the table get its last row.")
def clamped(x, table, positions):
    return x + embedding(positions.clamp_max(table.shape[0] - 1), table)


@wrong(check.add_positions, "Positions past the table begin again.")
def modulo(x, table, positions):
    return x + embedding(positions.remainder(table.shape[0]), table)


@wrong(check.add_positions, "An index of −1 counts from the end", card=True)
def plain_indexing(x, table, positions):
    return x + table[positions]


@wrong(check.add_positions, "fails 1 of 5 properties Property: negative positions are an IndexError")
def last_one_only(x, table, positions):
    if positions[..., -1].min() < 0:
        raise IndexError("negative")
    return x + table[positions]


# Which rows are trained


@wrong(check.count_rows, "Padding is counted.")
def with_padding(positions, mask, L):
    return torch.stack([(positions == row).sum() for row in range(L)])


@wrong(check.count_rows, "Padding is counted as row 0")
def masked_by_product(positions, mask, L):
    return torch.bincount((positions * mask.long()).reshape(-1), minlength=L)


@wrong(check.count_rows, "This counts padding, and nothing else")
def padding_only(positions, mask, L):
    return torch.bincount(positions[mask == 0], minlength=L)


@wrong(check.count_rows, "Rows that nobody uses are missing")
def too_short(positions, mask, L):
    return positions[mask].bincount()


@wrong(check.count_rows, "This tells whether a row is used.")
def used(positions, mask, L):
    counts = torch.zeros(L, dtype=torch.long)
    counts[positions[mask]] += 1  # counts each row once
    return counts


@wrong(check.count_rows, "This is the share of the tokens.")
def shares(positions, mask, L):
    counts = torch.bincount(positions[mask], minlength=L)
    return counts / counts.sum()


@wrong(check.count_rows, "This counts by place in the batch.")
def by_column(positions, mask, L):
    counts = torch.zeros(L, dtype=torch.long)
    n = min(L, mask.shape[1])
    counts[:n] = mask.sum(dim=0)[:n]
    return counts


@wrong(check.count_rows, "Texts are counted by their length")
def by_length(positions, mask, L):
    counts = torch.zeros(L, dtype=torch.long)
    for n in mask.sum(dim=1).tolist():
        counts[:n] += 1
    return counts


@wrong(check.count_rows, "These are floating-point numbers.")
def by_weights(positions, mask, L):
    return torch.bincount(positions.flatten(), weights=mask.flatten().float(), minlength=L).float()


@wrong(check.count_rows, "A text may use a row again", card=True)
def text_by_text(positions, mask, L):
    counts = torch.zeros(L, dtype=torch.int64)
    for p, m in zip(positions, mask, strict=True):
        counts[p[m]] += 1
    return counts


@wrong(check.count_rows, "A text may use a row again")
def texts_with_the_row(positions, mask, L):
    return ((positions == torch.arange(L)[:, None, None]) & mask).any(-1).sum(-1)


@wrong(check.count_rows, "Padding may hold any number")
def weighted(positions, mask, L):
    return torch.bincount(positions.flatten(), weights=mask.flatten(), minlength=L).long()


@wrong(check.count_rows, "fails 1 of 4 properties Property: padding may hold any number", card=True)
def one_hot_first(positions, mask, L):
    return torch.nn.functional.one_hot(positions, L)[mask].sum(0)


# Past the end


def remedies(T, L, remedy, last, wrapped, stretched):
    p = torch.arange(T).float()
    if T <= L:
        return p
    if remedy == "last row":
        return last(p)
    return wrapped(p) if remedy == "wrapped" else stretched(p)


@wrong(check.row_of, "The last row is L − 1, not L.")
def one_row_too_many(T, L, remedy):
    return remedies(
        T,
        L,
        remedy,
        lambda p: torch.minimum(p, torch.tensor(L)),
        lambda p: p % L,
        lambda p: p * (L - 1) / (T - 1),
    )


@wrong(check.row_of, "p mod (L − 1) leaves out the last row.")
def one_row_too_few(T, L, remedy):
    return remedies(
        T, L, remedy, lambda p: p.clamp(max=L - 1), lambda p: p % (L - 1), lambda p: p * (L - 1) / (T - 1)
    )


@wrong(check.row_of, "The table is read backwards from its end.")
def there_and_back(T, L, remedy):
    return remedies(
        T,
        L,
        remedy,
        lambda p: p.clamp(max=L - 1),
        lambda p: torch.where(p < L, p, 2 * (L - 1) - p),
        lambda p: p * (L - 1) / (T - 1),
    )


@wrong(check.row_of, "The factor is L/T.")
def ratio_of_lengths(T, L, remedy):
    return remedies(T, L, remedy, lambda p: p.clamp(max=L - 1), lambda p: p % L, lambda p: p / (T / L))


@wrong(check.row_of, "The centers of the positions are matched")
def as_pictures_are_resized(T, L, remedy):
    return remedies(
        T,
        L,
        remedy,
        lambda p: p.clamp(max=L - 1),
        lambda p: p % L,
        lambda p: torch.nn.functional.interpolate(torch.arange(L).float()[None, None], T, mode="linear")[
            0, 0
        ],
    )


@wrong(check.row_of, "Stretching takes whole rows only.")
def whole_rows(T, L, remedy):
    return remedies(
        T, L, remedy, lambda p: p.clamp(max=L - 1), lambda p: p % L, lambda p: p * (L - 1) // (T - 1)
    )


@wrong(check.row_of, "A text that fits is stretched too.")
def stretches_short_texts(T, L, remedy):
    if remedy == "stretched":
        return torch.linspace(0, L - 1, T)
    return remedies(T, L, remedy, lambda p: p.clamp(max=L - 1), lambda p: p % L, None)


@wrong(check.row_of, "A text that fits is multiplied too")
def multiplies_short_texts(T, L, remedy):
    if remedy == "stretched":
        return torch.arange(T) * (L - 1) / (T - 1)
    return remedies(T, L, remedy, lambda p: p.clamp(max=L - 1), lambda p: p % L, None)


@wrong(check.row_of, "Stretching rounds to whole rows.")
def rounded_rows(T, L, remedy):
    return remedies(
        T,
        L,
        remedy,
        lambda p: p.clamp(max=L - 1),
        lambda p: p % L,
        lambda p: torch.linspace(0, L - 1, T).round(),
    )


@wrong(check.row_of, "Positions run to T − 1")
def one_step_short(T, L, remedy):
    return remedies(T, L, remedy, lambda p: p.clamp(max=L - 1), lambda p: p % L, lambda p: p / T * (L - 1))


@wrong(check.row_of, "These are integers.")
def integers(T, L, remedy):
    p = torch.arange(T)
    if T <= L or remedy == "stretched":
        return p
    return p.clamp(max=L - 1) if remedy == "last row" else p % L


# Knots


@wrong(check.knots_at, "There are K − 1 gaps between K knots, not K.")
def too_dense(positions, knots, last):
    at = positions.clamp(0, last) / last * len(knots)
    low = at.floor().long().clamp(max=len(knots) - 2)
    high = low + 1
    weight = (at - low).clamp(0, 1).unsqueeze(-1)
    return knots[low] + weight * (knots[high] - knots[low])


@wrong(check.knots_at, "Past the last knot there is none")
def one_too_far(positions, knots, last):
    at = positions.clamp(0, last) / (last / (len(knots) - 1))
    low = at.floor().long()
    return torch.lerp(knots[low], knots[low + 1], (at - low)[..., None])


@wrong(check.knots_at, "The nearest knot is taken.")
def rounds(positions, knots, last):
    places = torch.linspace(0, last, len(knots))
    return knots[(positions[..., None] - places).abs().argmin(dim=-1)]


@wrong(check.knots_at, "The knot on the left is taken.")
def steps(positions, knots, last):
    gap = last / (len(knots) - 1)
    return knots[(positions / gap).floor().long().clamp(0, len(knots) - 1)]


@wrong(check.knots_at, "The shares are exchanged")
def wrong_way_round(positions, knots, last):
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    return torch.lerp(knots[low + 1], knots[low], (at - low)[..., None])


@wrong(check.knots_at, "The mixture follows a curve.")
def cosine(positions, knots, last):
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    share = share**2 * (3 - 2 * share)
    return knots[low] + share * (knots[low + 1] - knots[low])


@wrong(check.knots_at, "On a knot, floor and ceil are the same")
def floor_ceil(positions, knots, last):
    at = positions.clamp(0, last) / last * (len(knots) - 1)
    f, c = torch.floor(at), torch.ceil(at)
    return knots[f.long()] * (c - at).unsqueeze(-1) + knots[c.long()] * (at - f).unsqueeze(-1)


@wrong(check.knots_at, "Past the ends the line goes on.")
def extrapolates(positions, knots, last):
    at = positions * (len(knots) - 1) / last
    low = at.floor().long().clamp(0, len(knots) - 2)
    return torch.lerp(knots[low], knots[low + 1], (at - low)[..., None])


@wrong(check.knots_at, "Only one axis of positions is expected.")
def flattened(positions, knots, last):
    at = positions.flatten().clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    return torch.lerp(knots[low], knots[low + 1], (at - low)[:, None])


@wrong(check.knots_at, "Knots that are detached")
def copied(positions, knots, last):
    knots = torch.tensor(knots.tolist())
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    return torch.lerp(knots[low], knots[low + 1], (at - low)[..., None])


@wrong(check.knots_at, "fails 1 of 5 properties Property: whole positions")
def floats_only(positions, knots, last):
    assert positions.is_floating_point()
    return check.knots_at.reference(positions, knots, last)


# A probe


def solve(x, target):
    return torch.linalg.lstsq(
        x.flatten(0, 1).double(), target.flatten()[:, None].double(), driver="gelsd"
    ).solution


def with_one(x):
    return torch.cat([x.double(), torch.ones(*x.shape[:-1], 1).double()], dim=-1)


def halves(x):
    half = x.shape[0] // 2
    return x[:half], x[half:]


def truth(x):
    return torch.arange(x.shape[1]).double().expand(x.shape[:2])


def explained(wrong, target):
    return 1 - wrong.square().sum() / (target - target.mean()).square().sum()


@wrong(check.probe, "There is no constant")
def through_zero(x):
    a, b = halves(x)
    guess = (b.double() @ solve(a, truth(a)))[..., 0]
    return explained(guess - truth(b), truth(b)).item()


@wrong(check.probe, "The texts that were fitted are scored.")
def scores_what_it_fitted(x):
    a, _ = halves(with_one(x))
    guess = (a @ solve(a, truth(a)))[..., 0]
    return explained(guess - truth(a), truth(a)).item()


@wrong(check.probe, "Each text has the positions 0")
def interleaved(x):
    a, b = halves(with_one(x))
    target = torch.arange(x.shape[1]).double().repeat_interleave(len(a))
    guess = (b @ solve(a, target))[..., 0]
    return explained(guess - truth(b), truth(b)).item()


@wrong(check.probe, "This is the mean squared error.")
def squared_error(x):
    a, b = halves(with_one(x))
    return ((b @ solve(a, truth(a)))[..., 0] - truth(b)).square().mean().item()


@wrong(check.probe, "This is the share that is not explained.")
def unexplained(x):
    a, b = halves(with_one(x))
    wrong = (b @ solve(a, truth(a)))[..., 0] - truth(b)
    return (wrong.var(correction=0) + wrong.mean() ** 2).item() / truth(b).var(correction=0).item()


@wrong(check.probe, "This is a squared correlation")
def correlation(x):
    a, b = halves(with_one(x))
    guess = (b @ solve(a, truth(a)))[..., 0].flatten()
    g, t = guess - guess.mean(), truth(b).flatten() - truth(b).mean()
    return ((g @ t) ** 2 / (g @ g) / (t @ t)).item()


@wrong(check.probe, "The variance is divided by T − 1.")
def default_variance(x):
    a, b = halves(with_one(x))
    wrong = (b @ solve(a, truth(a)))[..., 0] - truth(b)
    return 1 - wrong.square().mean().item() / torch.arange(x.shape[1]).double().var().item()


@wrong(check.probe, "The variance of all the positions is divided")
def variance_of_all(x):
    a, b = halves(with_one(x))
    wrong = (b @ solve(a, truth(a)))[..., 0] - truth(b)
    return (1 - wrong.square().mean() / truth(b).reshape(-1).var()).item()


@wrong(check.probe, "Shapes (texts, T, 1) and (T,) broadcast")
def broadcasts(x):
    a, b = halves(with_one(x))
    p = torch.arange(x.shape[1]).double()
    wrong = b @ solve(a, truth(a)) - p
    return 1 - wrong.square().mean().item() / p.var(correction=0).item()


@wrong(check.count_rows, "Property: padding does not count Input: positions = [[1, 0, 2]]")
def without_gaps(positions, mask, L):
    rows, counts = positions[mask].unique(return_counts=True)
    return torch.cat([counts, torch.zeros(L - len(rows), dtype=torch.long)])


@wrong(check.probe, "The halves are exchanged")
def second_half_first(x):
    b, a = halves(with_one(x))
    guess = (b @ solve(a, truth(a)))[..., 0]
    return explained(guess - truth(b), truth(b)).item()


@wrong(check.probe, "This is a tensor.")
def zero_dimensional(x):
    a, b = halves(with_one(x))
    guess = (b @ solve(a, truth(a)))[..., 0]
    return explained(guess - truth(b), truth(b))


@wrong(check.knots_at, "Input: positions = [0.625, 2.5]")
def whole_gaps(positions, knots, last):
    gap = last // (len(knots) - 1)
    inside = positions.clamp(0, last)
    low = (inside // gap).long().clamp(max=len(knots) - 2)
    share = (inside / gap - low)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


@wrong(check.row_of, 'Input: T = 2, L = 5, "last row"')
def filled_up(T, L, remedy):
    if remedy == "last row":
        return torch.cat([torch.arange(L), torch.full((T - L,), L - 1)]).float()
    p = torch.arange(T).float()
    return p if T <= L else p % L if remedy == "wrapped" else p * (L - 1) / (T - 1)
