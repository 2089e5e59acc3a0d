"""The checks of chapter 3: rows added and counted, texts past the table, knots, and a probe."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import embedding

from .cases import either
from .verdict import Answer, Case, Check, Misconduct, call


def quarters(*shape: int, seed: int = 0) -> Tensor:
    """Numbers whose sums and products are exact."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(seed)) / 4


# Rows added --------------------------------------------------------------------------------------------------


def add_rows(x: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    return x + embedding(positions, table)


def trained_rows(answer: Callable) -> list[int]:
    """The rows that get a gradient when two of five are used."""
    table = quarters(5, 4).requires_grad_()
    answer(quarters(1, 2, 4, seed=1), table, torch.tensor([3, 1])).sum().backward()
    if table.grad is None:
        raise Misconduct("No gradient reaches the table")
    return table.grad.any(dim=1).nonzero().flatten().tolist()


def refuses(*positions: int) -> Case:
    """Whether a position without a row is an IndexError; else, what the tokens get."""

    def ask(answer: Callable) -> str:
        x, table = quarters(1, len(positions), 4, seed=1), quarters(5, 4)
        try:
            given = (answer(x, table, torch.tensor(positions)) - x)[0]
        except IndexError:
            return "an IndexError"
        found = (given[:, None] == table).all(dim=-1)
        return f"rows {[row.nonzero().flatten().tolist() for row in found]}"

    return Case(f"positions {list(positions)} of a table of 5 rows", ask)


def add_case(positions: list, batch: int = 2, more: int = 0) -> Case:
    positions = torch.tensor(positions)
    x, table = more + quarters(batch, positions.shape[-1], 4, seed=1), quarters(5, 4)
    return call(x=x, table=table, positions=positions)


add_positions = Check(
    "add_positions",
    reference=add_rows,
    properties={
        "x plus the row of each position": [
            add_case([0, 1, 2]),
            add_case([4, 0, 2]),
            add_case([3], batch=1),
            add_case([2, 2, 1, 4], more=1000),
        ],
        "positions of each sentence": [add_case([[0, 1, 2], [2, 3, 4]])],
        "gradients for the rows in use": [Case("positions [3, 1]", trained_rows)],
        "positions past the table are an IndexError": [refuses(4, 5)],
        "negative positions are an IndexError": [refuses(0, -1), refuses(-1, 0)],
    },
    mistakes={
        "The rows are counted from 0. Take those that positions name.": (
            lambda x, table, positions: x + table[: x.shape[1]]
        ),
        "The words are lost: return x plus the rows.": (
            lambda x, table, positions: embedding(positions, table).expand_as(x).clone()
        ),
        "These are the rows alone. Add them to x.": lambda x, table, positions: embedding(positions, table),
        "The positions themselves are added. They say which rows to add.": (
            lambda x, table, positions: x + positions[..., None]
        ),
        "The first sentence's positions serve all.": (
            lambda x, table, positions: x + embedding(positions.reshape(-1, x.shape[1])[0], table)
        ),
        "A table that is detached, or read through .data, gets no gradient.": (
            lambda x, table, positions: x + embedding(positions, table.detach())
        ),
        "Positions past the table get its last row. Here they are to be refused.": (
            lambda x, table, positions: x + embedding(positions.clamp(max=len(table) - 1), table)
        ),
        "Positions past the table begin again. Here they are to be refused.": (
            lambda x, table, positions: x + table[positions % len(table)]
        ),
        "An index of −1 counts from the end: table[positions] gives the last row. Refuse it, or use embedding.": (
            lambda x, table, positions: x + table[positions]
        ),
    },
)


# Which rows are trained --------------------------------------------------------------------------------------


def tally(positions: Tensor, mask: Tensor, L: int) -> Tensor:
    return torch.bincount(positions[mask], minlength=L)


def count_case(positions: list, mask: list, L: int) -> Case:
    positions, mask = torch.tensor(positions), torch.tensor(mask).bool()
    return call(positions=positions, mask=mask, L=L)


count_rows = Check(
    "count_rows",
    reference=tally,
    properties={
        "padding does not count": [
            count_case([[0, 0, 1]], [[0, 1, 1]], 2),
            count_case([[0, 1, 1]], [[1, 1, 0]], 2),
            count_case([[1, 0, 2]], [[1, 0, 1]], 3),
        ],
        "every token counts once, wherever its text begins": [
            count_case([[0, 1, 2], [0, 1, 2]], [[1, 1, 1], [1, 1, 1]], 3),
            count_case([[3, 4, 5], [0, 1, 2]], [[1, 1, 1], [1, 1, 1]], 6),
            count_case([[0, 1, 0, 1, 2]], [[1] * 5], 3),
            count_case([[0, 2, 2]], [[1, 1, 1]], 3),
            count_case([[1, 3], [3, 3]], [[1, 1], [1, 1]], 4),
        ],
        "a count for all L rows": [
            count_case([[0, 1]], [[1, 1]], 5),
        ],
        "padding may hold any number": [
            count_case([[-1, 0, 1]], [[0, 1, 1]], 2),
            count_case([[0, 1, 9]], [[1, 1, 0]], 2),
        ],
    },
    mistakes={
        "Padding is counted. Ask only for positions where the mask is true.": (
            lambda positions, mask, L: torch.bincount(positions.flatten(), minlength=L),
            lambda positions, mask, L: (positions.flatten()[:, None] == torch.arange(L)).sum(dim=0),
        ),
        "Padding is counted as row 0, because 0 · position is 0. Leave it out.": (
            lambda positions, mask, L: torch.bincount((positions * mask).flatten(), minlength=L)
        ),
        "This counts padding, and nothing else: the mask is true for a token.": (
            lambda positions, mask, L: torch.bincount(positions[~mask], minlength=L)
        ),
        "Rows that nobody uses are missing at the end. There are L of them.": (
            lambda positions, mask, L: torch.bincount(positions[mask])
        ),
        "This tells whether a row is used. The number of tokens is asked for.": (
            lambda positions, mask, L: tally(positions, mask, L).clamp(max=1)
        ),
        "This is the share of the tokens. Their number is asked for.": (
            lambda positions, mask, L: tally(positions, mask, L) / mask.sum()
        ),
        "This counts by place in the batch. The positions say which row is used.": (
            lambda positions, mask, L: torch.nn.functional.pad(mask.sum(dim=0), (0, L))[:L]
        ),
        "Texts are counted by their length, as if all began at 0.": (
            lambda positions, mask, L: (mask.sum(dim=1)[:, None] > torch.arange(L)).sum(dim=0)
        ),
        "A text may use a row again, when texts are packed. counts[rows] += 1 adds 1 for all its tokens there.": (
            lambda positions, mask, L: torch.stack(
                [tally(*text, L).clamp(max=1) for text in zip(positions, mask, strict=True)]
            ).sum(0)
        ),
        "Padding may hold any number, −1 or one past the table. Leave it out before you count.": (
            lambda positions, mask, L: torch.bincount(
                positions.flatten(), weights=mask.flatten().float(), minlength=L
            ).long()
        ),
        "These are floating-point numbers. A count is int64.": (
            lambda positions, mask, L: tally(positions, mask, L).float()
        ),
    },
)


# Past the end ------------------------------------------------------------------------------------------------


def rows(T: int, L: int, remedy: str) -> Tensor:
    p = torch.arange(T, dtype=torch.float32)
    if T <= L:
        return p
    return {"last row": p.clamp(max=L - 1), "wrapped": p % L, "stretched": p * (L - 1) / (T - 1)}[remedy]


def rows_stretched(T: int, L: int, remedy: str, stretch: Callable) -> Tensor:
    """As the right answer, stretched in another way."""
    if T <= L or remedy != "stretched":
        return rows(T, L, remedy)
    return stretch(torch.arange(T, dtype=torch.float32), T, L)


def always_stretched(T: int, L: int, remedy: str) -> Tensor:
    return torch.linspace(0, L - 1, T) if remedy == "stretched" else rows(T, L, remedy)


def always_multiplied(T: int, L: int, remedy: str) -> Tensor:
    """A text of one token is 0 / 0."""
    return torch.arange(T).float() * (L - 1) / (T - 1) if remedy == "stretched" else rows(T, L, remedy)


def remedy_cases(remedy: str, *sizes: tuple[int, int]) -> list[Case]:
    return [call(f'T = {T}, L = {L}, "{remedy}"', T=T, L=L, remedy=remedy) for T, L in sizes]


row_of = Check(
    "row_of",
    reference=rows,
    properties={
        "last row": remedy_cases("last row", (5, 3), (9, 4), (3000, 2500)),
        "wrapped": remedy_cases("wrapped", (5, 3), (9, 4)),
        "stretched, from the first row to the last": remedy_cases("stretched", (5, 3), (9, 4)),
        "a text that fits keeps its rows": [
            *remedy_cases("stretched", (3, 5), (1, 4), (1, 1)),
            *remedy_cases("last row", (3, 3), (2, 5)),
            *remedy_cases("wrapped", (2, 3)),
        ],
    },
    mistakes={
        "The last row is L − 1, not L.": (
            lambda T, L, remedy: (
                torch.arange(T).float().clamp(max=L) if remedy == "last row" else rows(T, L, remedy)
            )
        ),
        "p mod (L − 1) leaves out the last row.": (
            lambda T, L, remedy: (
                torch.arange(T).float() % (L - 1) if remedy == "wrapped" else rows(T, L, remedy)
            )
        ),
        "The table is read backwards from its end. Wrapped means that row 0 comes again.": (
            lambda T, L, remedy: (
                (L - 1) - (torch.arange(T).float() - (L - 1)).abs()
                if remedy == "wrapped"
                else rows(T, L, remedy)
            )
        ),
        "The factor is L/T. Then the last position misses the last row: take (L − 1)/(T − 1).": (
            lambda T, L, remedy: rows_stretched(T, L, remedy, lambda p, T, L: p * L / T)
        ),
        "The centers of the positions are matched, (p + ½)L/T − ½, not the ends.": (
            lambda T, L, remedy: rows_stretched(
                T, L, remedy, lambda p, T, L: ((p + 0.5) * L / T - 0.5).clamp(min=0, max=L - 1)
            )
        ),
        "Stretching takes whole rows only. It mixes two.": (
            lambda T, L, remedy: rows_stretched(T, L, remedy, lambda p, T, L: (p * (L - 1) / (T - 1)).floor())
        ),
        "Stretching rounds to whole rows. It mixes two.": (
            lambda T, L, remedy: rows_stretched(T, L, remedy, lambda p, T, L: (p * (L - 1) / (T - 1)).round())
        ),
        "Positions run to T − 1: divide by that, so that the last position gets the last row.": (
            lambda T, L, remedy: rows_stretched(T, L, remedy, lambda p, T, L: p * (L - 1) / T)
        ),
        "A text that fits is stretched too. It keeps its own rows.": always_stretched,
        "A text that fits is multiplied too, and one token gives 0/0. It keeps its own rows.": always_multiplied,
        "These are integers. A mix of rows needs float32.": (
            lambda T, L, remedy: (
                torch.arange(T) if T <= L or remedy == "stretched" else rows(T, L, remedy).long()
            )
        ),
    },
)


# Knots -------------------------------------------------------------------------------------------------------


def mix(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def along_a_curve(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    return torch.lerp(knots[low], knots[low + 1], share * share * (3 - 2 * share))


def beyond_the_ends(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions * (len(knots) - 1) / last
    low = at.long().clamp(0, len(knots) - 2)
    return torch.lerp(knots[low], knots[low + 1], (at - low)[..., None])


def floor_and_ceil(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low, high = at.floor(), at.ceil()
    return (high - at)[..., None] * knots[low.long()] + (at - low)[..., None] * knots[high.long()]


def no_last_gap(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long()
    share = (at - low)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def nearest(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    return knots[(positions.clamp(0, last) * (len(knots) - 1) / last).round().long()]


def one_knot_more(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    """Knots one position apart more: K gaps instead of K − 1."""
    at = positions.clamp(0, last) * len(knots) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low).clamp(max=1)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def swapped(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    return share * knots[low] + (1 - share) * knots[low + 1]


def trained_knots(answer: Callable) -> list[int]:
    """The knots that a token between two of them trains."""
    knots = quarters(5, 2).requires_grad_()
    answer(torch.tensor([2.5]), knots, 8.0).sum().backward()
    if knots.grad is None:
        raise Misconduct("No gradient reaches the knots")
    return knots.grad.any(dim=1).nonzero().flatten().tolist()


def knot_case(positions: float | list, K: int, last: float) -> Case:
    return either(call(positions=torch.tensor(positions), knots=quarters(K, 3, seed=K), last=last))


knots_at = Check(
    "knots_at",
    reference=mix,
    properties={
        "the knots, and straight lines between them": [
            knot_case([0.0, 4.0, 8.0], 3, 8.0),
            knot_case([0.0, 2.0], 2, 2.0),
            knot_case([1.0, 3.0, 5.0], 3, 8.0),
            knot_case([0.5, 2.75], 4, 6.0),
            knot_case([0.625, 2.5], 3, 2.5),
            knot_case([1234.5, 2077.0, 3001.0], 3, 4000.0),
        ],
        "the ends beyond the ends": [knot_case([-3.0, 9.0, 100.0], 3, 8.0)],
        "positions of any shape": [
            knot_case(4.0, 3, 8.0),
            knot_case([[0.0, 4.0], [8.0, 4.0]], 3, 8.0),
            knot_case([[3.0]], 3, 8.0),
        ],
        "whole positions": [knot_case([0, 4, 8], 3, 8.0)],
        "gradients for the two knots around": [Case("position 2.5, 5 knots from 0 to 8", trained_knots)],
    },
    mistakes={
        "There are K − 1 gaps between K knots, not K.": one_knot_more,
        "Past the last knot there is none to mix it with: keep the left one at K − 2 or below.": no_last_gap,
        "The nearest knot is taken. Mix the two.": nearest,
        "The knot on the left is taken. Mix the two.": (
            lambda positions, knots, last: knots[(positions.clamp(0, last) * (len(knots) - 1) / last).long()]
        ),
        "The mixture follows a curve. A straight line is asked for.": (along_a_curve),
        "On a knot, floor and ceil are the same, and both shares are 0.": floor_and_ceil,
        "The shares are exchanged: at a knot, that knot counts alone.": swapped,
        "Past the ends the line goes on. It should stop at the first and at the last knot.": (
            beyond_the_ends
        ),
        "Only one axis of positions is expected. The share needs share[..., None].": (
            lambda positions, knots, last: mix(positions.reshape(-1), knots, last)
        ),
        "Knots that are detached, or copied into a new tensor, get no gradient.": (
            lambda positions, knots, last: mix(positions, knots.detach(), last)
        ),
    },
    answers=(
        Answer(
            "in_all",
            128,
            {
                "That is a table, with a row for each position. Here only the knots are trained.": 8192,
                "Each knot has 16 numbers.": 8,
                "That is one knot.": 16,
            },
        ),
        Answer(
            "for_one_token",
            32,
            {
                "Two knots, yes: how many numbers is that?": 2,
                "That is one knot. Between two, both take part.": 16,
                "A token between two knots trains these two, not all.": 128,
            },
        ),
    ),
)


# A probe -----------------------------------------------------------------------------------------------------


def r_squared(x: Tensor) -> float:
    """Fitted on the first half, scored on the second; in float64, whatever x is."""
    half, p = len(x) // 2, torch.arange(x.shape[1], dtype=torch.float64)
    x = torch.cat([x.double(), torch.ones(*x.shape[:2], 1)], dim=-1)
    solution = torch.linalg.lstsq(x[:half].flatten(0, 1), p.repeat(half)[:, None], driver="gelsd").solution
    wrong = (x[half:] @ solution)[..., 0] - p
    return 1 - (wrong.square().mean() / p.var(correction=0)).item()


def fitted(x: Tensor, constant: bool = True, in_turn: bool = True) -> tuple[Tensor, Tensor]:
    """What the map gives for the texts of the first half and of the second, (texts, T) each."""
    half, p = len(x) // 2, torch.arange(x.shape[1], dtype=torch.float64)
    x = torch.cat([x.double(), torch.full((*x.shape[:2], 1), float(constant))], dim=-1)
    target = (p.repeat(half) if in_turn else p.repeat_interleave(half))[:, None]
    guess = x @ torch.linalg.lstsq(x[:half].flatten(0, 1), target, driver="gelsd").solution
    return guess[:half, :, 0], guess[half:, :, 0]


def score(guess: Tensor, correction: float = 0) -> float:
    p = torch.arange(guess.shape[-1]).double()
    return 1 - unexplained(guess, p) * (p.var(correction=0) / p.var(correction=correction)).item()


def unexplained(guess: Tensor, p: Tensor) -> float:
    return ((guess - p).square().mean() / p.var(correction=0)).item()


def squared_error(x: Tensor) -> float:
    guess = fitted(x)[1]
    return (guess - torch.arange(x.shape[1])).square().mean().item()


def squared_correlation(x: Tensor) -> float:
    guess = fitted(x)[1]
    truth = torch.arange(x.shape[1]).double().expand_as(guess)
    return torch.corrcoef(torch.stack([guess.flatten(), truth.flatten()]))[0, 1].square().item()


def all_corrected(x: Tensor) -> float:
    guess = fitted(x)[1]
    count = guess.numel()
    return 1 - (1 - score(guess)) * (count - 1) / count


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def along_a_line(texts: int, T: int, d: int, noise: float, seed: int = 0) -> Tensor:
    """Vectors that hold the position along one direction, in noise."""
    p = torch.arange(T).float() - (T - 1) / 2
    return p[:, None] * draw(d, seed=seed) + noise * draw(texts, T, d, seed=seed + 1)


def probe_case(text: str, x: Tensor) -> Case:
    """Compared to two decimals, as solvers differ in the last digits."""

    def ask(answer: Callable) -> object:
        def rounded(x: Tensor) -> object:
            outcome = answer(x)
            number = isinstance(outcome, float) or (isinstance(outcome, Tensor) and outcome.numel() == 1)
            return round(float(outcome), 2) if number else outcome

        return call(x=x).ask(rounded)

    return Case(f"{text}, {tuple(x.shape)}", ask)


def kind(answer: Callable) -> str:
    outcome = answer(along_a_line(4, 6, 3, 0.001))
    return "a float" if isinstance(outcome, float) else f"a {type(outcome).__name__}"


fading = along_a_line(8, 6, 3, 0.5, seed=4)
fading[4:] /= 2
probe = Check(
    "probe",
    reference=r_squared,
    properties={
        "R² of texts that were not fitted": [
            probe_case("position along a line", along_a_line(4, 6, 3, 0.001)),
            probe_case("the same, far from the origin", 10 + along_a_line(4, 6, 1, 0.001)),
            probe_case("position in noise", along_a_line(8, 5, 4, 1.0)),
            probe_case("noise alone", draw(4, 6, 6, seed=7)),
            probe_case("position that is fainter in the second half of the texts", fading),
        ],
        "a Python float": [Case("position along a line, (4, 6, 3)", kind)],
    },
    mistakes={
        "There is no constant: the map must pass through 0. Append a feature that is 1.": (
            lambda x: score(fitted(x, constant=False)[1])
        ),
        "The texts that were fitted are scored. Use the second half.": lambda x: score(fitted(x)[0]),
        "Each text has the positions 0 … T − 1 in turn: repeat, not repeat_interleave.": (
            lambda x: score(fitted(x, in_turn=False)[1])
        ),
        "This is the mean squared error. Compare it with the variance of the positions.": squared_error,
        "This is the share that is not explained. R² is 1 minus it.": lambda x: 1 - r_squared(x),
        "This is a squared correlation, which forgives a wrong slope. R² compares with the position itself.": (
            squared_correlation
        ),
        "The variance is divided by T − 1. The mean squared error is divided by T: correction=0.": (
            lambda x: score(fitted(x)[1], correction=1)
        ),
        "The variance of all the positions is divided by their number − 1. Take correction=0.": all_corrected,
        "Shapes (texts, T, 1) and (T,) broadcast to (texts, T, T). Drop the last axis: [..., 0].": (
            lambda x: score(fitted(x)[1][..., None].expand(-1, -1, x.shape[1]))
        ),
        "The halves are exchanged: fit the first, score the second.": (
            lambda x: r_squared(torch.cat([x[len(x) // 2 :], x[: len(x) // 2]]))
        ),
        "This is a tensor. Return a float: call .item().": lambda x: torch.tensor(r_squared(x)),
    },
)
