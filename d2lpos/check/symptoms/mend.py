"""Ten lines of two minutes each, with what people write instead; one file, since each is one line long."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import exact_dtype, read_as, several
from ..verdict import Case, Check, call


def padded(columns: int, *fillers: int) -> Tensor:
    """A mask (rows, columns) of rows with so many fillers on the left."""
    return torch.arange(columns) >= torch.tensor(fillers)[:, None]


word_ids = Check(
    "word_ids",
    reference=lambda here: (here.cumsum(-1) - 1).clamp(min=0),
    properties={
        "words count from 0, fillers get 0": [
            call(here=padded(*sizes)) for sizes in ((4, 2), (4, 2, 0, 1), (4, 0, 1), (3, 1, 0, 2), (40, 5, 3))
        ]
    },
    mistakes={
        "Counts the fillers: the first word of the first row gets 2.":
            lambda here: torch.arange(here.shape[-1]).expand(here.shape),
        "Counts from 1. The first word has row 0.": "(here.cumsum(-1) - 1).clamp(min=0) → here.cumsum(-1)",
        "A filler gets −1, which is no row of a table: clamp.":
            "(here.cumsum(-1) - 1).clamp(min=0) → here.cumsum(-1) - 1",
        "Counts down the batch. The last axis is the text.": "cumsum(-1) → cumsum(0)",
    },
    as_good={"here.cumsum(-1) → here.cumsum(1)": "A mask of padding has two axes."},
)


def cached(places: list[list[int]], *fillers: int) -> Case:
    """Positions of rows as they stand in a cache, and their mask."""
    return call(places=torch.tensor(places), here=padded(len(places[0]), *fillers))


next_id = Check(
    "next_id",
    reference=lambda places, here: places[:, -1:] + 1,
    properties={
        "one place behind the last, row by row": [
            cached([[0, 1, 2, 3]], 2),
            cached([[0, 0, 0, 1]], 2),
            cached([[0, 0, 0, 1], [0, 1, 2, 3]], 2, 0),
            cached([[0, 1, 2, 3], [7, 8, 9, 10]], 2, 0),
            cached([[0, 1], [0, 0], [40, 41]], 0, 1, 0),
            cached([[0, 0, 0, 1, 2, 3], [0, 0, 0, 0, 0, 1]], 2, 4),
        ]
    },
    mistakes={
        "Counts the columns, which a row counted from its own first word has not.":
            lambda places, here: torch.full_like(places[:, :1], places.shape[-1]),
        "Counts the words. These rows may count their fillers, too.":
            lambda places, here: here.sum(-1, keepdim=True),
        "Stands on the last word instead of behind it.": "places[:, -1:] + 1 → places[:, -1:]",
        "The shape is (batch,): heads would take the places of rows. Keep the axis.":
            "places[:, -1:] → places[:, -1]",
    },
    as_good={
        "returned flipped along the last axis": "One column has no order.",
        **{f"argument 1 with {part} for all": "The mask is not needed." for part in ("its first row", "the first of each row")},
    },
)

sees = Check(
    "sees",
    reference=lambda new, total: torch.ones(new, total).tril(total - new).bool(),
    properties={
        "each new token sees itself and all before it": [
            call(new=new, total=total) for new, total in ((2, 5), (1, 4), (3, 3), (18, 40))
        ]
    },
    mistakes={
        "Starts at the top left, as `is_causal=True` does.": "tril(total - new) → tril()",
        "A token does not see itself.": "total - new → total - new - 1",
        "Hides nothing.": "tril(total - new) → clone()",
        "True is what is hidden. In PyTorch it is what is seen.": "tril(total - new) → triu(total - new + 1)",
    },
)


def text(words: int, rows: int, columns: int, more: int = 0) -> Tensor:
    """Words, a picture and more words, each token with its time, row and column."""
    grid = torch.cartesian_prod(torch.arange(1), torch.arange(rows), torch.arange(columns))
    after = words + max(rows, columns) + torch.arange(more)
    return torch.cat([torch.arange(words)[:, None].expand(-1, 3), words + grid, after[:, None].expand(-1, 3)])


behind = Check(
    "behind",
    reference=lambda row: (row.max() + 1).expand(3),
    properties={
        "one place behind the largest coordinate": [
            call("4 words, 3 × 4 patches", row=text(4, 3, 4)),
            call("4 words, 2 × 5 patches", row=text(4, 2, 5)),
            call("30 words, 4 × 2 patches", row=text(30, 4, 2)),
            call("2 words, 2 × 3 patches, 2 words", row=text(2, 2, 3, 2)),
        ]
    },
    mistakes={
        "Counts tokens. A picture takes fewer places.": lambda row: torch.tensor([len(row)] * 3),
        "Stands on the largest coordinate instead of behind it.": "row.max() + 1 → row.max()",
        "Goes on from each axis by itself. A word has one place on all three.":
            ("(row.max() + 1).expand(3) → row.amax(0) + 1", "(row.max() + 1).expand(3) → row[-1] + 1"),
        "Goes on from time alone. A picture moves rows and columns.": "row.max() → row[:, 0].max()",
    },
    as_good={
        **{f"returned flipped along the {axis} axis": "All three are equal." for axis in ("first", "last")},
        **{f"returned with {part} for all": "All three are equal." for part in ("its first row", "the first of each row")},
        "argument 0 sorted": "The largest has no order.",
    },
)


def angles_of(dtype: torch.dtype, omega: list[float], *shape: int) -> Case:
    label = f"x {shape} in {str(dtype).removeprefix('torch.')}, omega = {omega}"
    x = torch.linspace(-1, 1, math.prod(shape)).view(shape).to(dtype)
    return exact_dtype(call(label, x=x, omega=torch.tensor(omega)))


float_angles = Check(
    "float_angles",
    reference=lambda x, omega: torch.arange(x.shape[-2])[:, None] * omega,
    properties={
        "angles in float32, whatever x is": [
            angles_of(torch.float32, [1.0, 0.3], 2, 5, 4),
            angles_of(torch.bfloat16, [1.0, 0.3], 2, 5, 4),
            angles_of(torch.bfloat16, [0.3, 1.0, 0.01], 2, 300, 6),
            angles_of(torch.float16, [0.3], 3000, 8),
        ]
    },
    mistakes={
        "Positions take the type of x. Above 256, bfloat16 has no odd numbers.":
            "x.shape[-2] → x.shape[-2], dtype=x.dtype",
        "Angles are rounded to the type of x. Round cosine and sine, or what they turn.":
            "torch.arange(x.shape[-2])[:, None] * omega → (torch.arange(x.shape[-2])[:, None] * omega).to(x.dtype)",
        "Frequencies are rounded to the type of x.": "* omega → * omega.to(x.dtype).float()",
        "Counts features. Tokens are the last axis but one.": "x.shape[-2] → x.shape[-1]",
    },
    as_good={
        f"argument 0 {what}": "Only the shape of x counts."
        for what in ("in whole numbers", "with its first row for all", "with the first of each row for all", "without signs")
    },
)


def pair_case(sliding_window: int) -> Case:
    """A pair is a tuple, a list or two numbers of a tensor."""
    return read_as(
        call(sliding_window=sliding_window),
        lambda outcome: tuple(several(outcome, "left", "right")),
    )


flash_window = Check(
    "flash_window",
    reference=lambda sliding_window: (sliding_window - 1, 0),
    properties={"as many keys as sliding_window": [pair_case(w) for w in (4, 1, 8192)]},
    mistakes={
        "One key too many: left counts the keys before the token.":
            "sliding_window - 1, 0 → sliding_window, 0",
        "Sees as far to the right, unless causal=True cuts it off. Write 0.":
            "- 1, 0 → - 1, sliding_window - 1",
        "−1 means all keys. To the right Mistral sees none.": "- 1, 0 → - 1, -1",
        "Half on each side is ModernBERT's window, and Mistral's lies behind.":
            "sliding_window - 1, 0 → sliding_window // 2, sliding_window // 2",
    },
    as_good={f"returned as a {kind}": "Equal in value." for kind in ("float", "tensor of one number")},
)


def quarter(x: Tensor) -> Tensor:
    """A turn of each pair of neighbors by a right angle, which is exact."""
    return torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)


def rms(x: Tensor) -> Tensor:
    return x.square().mean(-1, keepdim=True).sqrt()


def norm_case(q: list[list[float]], weight: list[float], turn: Callable = quarter) -> Case:
    """The RMS of each query is a whole number, or a half more."""
    return call(q=torch.tensor(q), weight=torch.tensor(weight), turn=turn)


def halves(x: Tensor) -> Tensor:
    """A turn by a right angle, and back for every second token, where the partners lie half a row apart."""
    one, other = x.chunk(2, dim=-1)
    return torch.cat([-other, one], dim=-1) * (1 - 2 * (torch.arange(len(x)) % 2))[:, None]


LONG, SHORT, W = [7.0, 1.0, -1.0, 7.0], [2.0, 0.0, 0.0, 0.0], [1.0, 2.0, 4.0, 0.5]
norm_and_turn = Check(
    "norm_and_turn",
    reference=lambda q, weight, turn: turn(q / rms(q) * weight),
    properties={
        "norm, weight, turn": [
            norm_case([LONG], W),
            norm_case([LONG, SHORT], [1.0, 1.0, 1.0, 1.0]),
            norm_case([LONG, SHORT] * 8, W),
            norm_case([[0.5, 3.5], [0.25, -0.25], [2.0, 2.0]], [0.5, -2.0]),
            norm_case(
                [[4.0, 2.0, 1.0, 1.0, -1.0, 1.0], [7.0, 1.0, -1.0, 1.0, 1.0, 1.0]],
                [1.0, 2.0, 4.0, 0.5, 3.0, 1.5],
                halves,
            ),
        ]
    },
    mistakes={
        "Turns first. The weights meet other features then.":
            "turn(q / rms(q) * weight) → turn(q) / rms(q) * weight",
        "The weights are left out.": "rms(q) * weight → rms(q)",
        "Norms what is weighted. The weights come behind the norm.":
            "q / rms(q) * weight → q * weight / rms(q * weight)",
        "Divides by the length. An RMS norm takes the mean of the squares.":
            "rms(q) → q.norm(dim=-1, keepdim=True)",
        "One norm for all tokens. Each has its own: the mean runs over the features alone.":
            ("rms(q) → q.square().mean().sqrt()", "rms(q) → rms(q[:1])"),
    },
    as_good={"x.square().mean(-1, keepdim=True) → x.square().mean(1, keepdim=True)": "Queries have two axes here."},
    fixed={"q.shape[-1] is weight.shape[-1]": "The weight has a number for each feature."},
)


def scores_case(scores: list, factor: float) -> Case:
    return call(scores=torch.tensor(scores), factor=factor)


sharpened = Check(
    "sharpened",
    reference=lambda scores, factor: scores * (0.1 * math.log(factor) + 1) ** 2,
    properties={
        "YaRN's scores of these": [
            scores_case([[1.0, -2.0], [0.5, 8.0]], 4.0),
            scores_case([[1.0, -2.0], [0.5, 8.0]], 40.0),
            scores_case([[3.0, 0.0, -0.5]], 1.0),
            scores_case([[[0.25], [2.0], [-4.0]], [[1.5], [6.0], [0.75]]], 1.5),
        ],
    },
    mistakes={
        "Multiplies once. The factor is in the query and in the key.":
            "(0.1 * math.log(factor) + 1) ** 2 → (0.1 * math.log(factor) + 1)",
        "Divides. YaRN makes scores larger.": "scores * → scores /",
        "Multiplies by the stretch. Only its logarithm counts.": "(0.1 * math.log(factor) + 1) ** 2 → factor",
        "The square takes the logarithm alone. Square all of 0.1 ln s + 1.":
            "math.log(factor) + 1) ** 2 → math.log(factor) ** 2 + 1)",
    },
)


def powers(pairs: int, over: int, base: float, turning: int) -> Tensor:
    """Frequencies of pairs with exponents over so many features; the first `turning` of them move."""
    index = torch.arange(pairs)
    return base ** (-2 * index / over) * (index < turning)


proportional = Check(
    "proportional",
    reference=lambda head, turning, base: powers(head // 2, head, base, turning // 2),
    properties={
        "exponents of the whole head, slow pairs still": [
            call(head=head, turning=turning, base=base)
            for head, turning, base in ((8, 4, 16.0), (16, 4, 255.0), (8, 8, 16.0), (10, 6, 99.5), (4, 0, 9.0))
        ]
    },
    mistakes={
        "The exponent runs over what turns, as GPT-NeoX has it.": "head // 2, head → head // 2, turning",
        "Pairs that stand still are left out. They have frequency 0.":
            "powers(head // 2, head, base, turning // 2) → powers(turning // 2, head, base, turning)",
        "All pairs turn.": "base, turning // 2 → base, head",
        "Turning counts features, two to a pair.": "base, turning // 2 → base, turning",
    },
    as_good={f"{size} // 2 → {size} / 2": "Features come in pairs." for size in ("head", "turning")},
)

line_by_line = Check(
    "line_by_line",
    reference=lambda rows, columns: torch.cartesian_prod(torch.arange(rows), torch.arange(columns)),
    properties={
        "row and column of each patch": [
            call(rows=rows, columns=columns) for rows, columns in ((2, 3), (20, 2), (1, 20))
        ]
    },
    mistakes={
        "Runs down the columns. The second patch stands in row 0.": (
            "torch.cartesian_prod(torch.arange(rows), torch.arange(columns)) → "
            "torch.cartesian_prod(torch.arange(columns), torch.arange(rows)).flip(-1)"
        ),
        "Column comes before row.": "torch.arange(columns)) → torch.arange(columns)).flip(-1)",
        "Counts from 1.": "torch.arange(columns)) → torch.arange(columns)) + 1",
        "Keeps the grid. Patches come in one line: flatten.":
            "torch.arange(columns)) → torch.arange(columns)).view(rows, columns, 2)",
    },
)
