"""Wrong answers to the ten exercises of the page of symptoms: one mistake of each, as a student would write it, and some of one size alone."""

import math

import torch

from d2lpos.check import symptoms as check

from . import wrong

wrong(check.word_ids, "A filler gets −1")(lambda here: here.long().cumsum(1) - 1)


@wrong(check.word_ids, "Input: here = [[0, 1, 1], [1, 1, 1], [0, 0, 1]] (bool) Expected shape (3, 3), got (3, 4)")
def less_the_fillers_of_four(here):
    return (torch.arange(4) - 4 + here.sum(-1, keepdim=True)).clamp(min=0)


wrong(check.next_id, "Counts the columns")(
    lambda places, here: torch.tensor([[places.shape[1]]] * len(places))
)
wrong(check.next_id, "Input: places = [[0, 1], [0, 0], [4, 5]]")(lambda places, here: places[:, 3:4] + 1)
wrong(check.sees, "Starts at the top left")(
    lambda new, total: torch.arange(total) <= torch.arange(new)[:, None]
)
wrong(check.behind, "Counts tokens.")(lambda row: torch.full((3,), row.shape[0]))


@wrong(check.float_angles, "Positions take the type of x.")
def outer(x, omega):
    t = torch.arange(x.size(-2), dtype=x.dtype)
    return torch.outer(t.float(), omega)


wrong(check.flash_window, "One key too many")(lambda sliding_window: (sliding_window, 0))


wrong(check.norm_and_turn, "One norm for all tokens.")(
    lambda q, weight, turn: turn(q / torch.sqrt(torch.mean(q**2)) * weight)
)


wrong(check.sharpened, "Multiplies once.")(lambda scores, factor: (1 + math.log(factor) / 10) * scores)


@wrong(check.proportional, "The exponent runs over what turns")
def over_the_part(head, turning, base):
    moving = 1 / base ** (torch.arange(0, turning, 2) / turning)
    return torch.cat([moving, torch.zeros((head - turning) // 2)])


@wrong(check.line_by_line, "Runs down the columns.")
def as_xy(rows, columns):
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="xy")
    return torch.stack([y.flatten(), x.flatten()], dim=-1)
