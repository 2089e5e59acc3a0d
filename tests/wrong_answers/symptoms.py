"""Wrong answers to the ten exercises of the page of symptoms: one mistake of each, as a student would write it."""

import math

import torch

from d2lpos.check import symptoms as check

from . import wrong


@wrong(check.word_ids, "A filler gets −1")
def less_one(here):
    return here.long().cumsum(1) - 1


@wrong(check.next_id, "Counts the columns")
def behind_the_cache(places, here):
    return torch.tensor([[places.shape[1]]] * len(places))


@wrong(check.sees, "Starts at the top left")
def by_indices(new, total):
    return torch.arange(total) <= torch.arange(new)[:, None]


@wrong(check.behind, "Counts tokens.")
def so_many_tokens(row):
    return torch.full((3,), row.shape[0])


@wrong(check.float_angles, "Positions take the type of x.")
def outer(x, omega):
    t = torch.arange(x.size(-2), dtype=x.dtype)
    return torch.outer(t.float(), omega)


@wrong(check.flash_window, "One key too many")
def as_it_stands(sliding_window):
    return sliding_window, 0


@wrong(check.norm_and_turn, "Turns first.")
def behind_the_turn(q, weight, turn):
    turned = turn(q)
    return weight * turned * turned.pow(2).mean(-1, keepdim=True).rsqrt()


@wrong(check.sharpened, "Multiplies once.")
def one_of_the_two(scores, factor):
    return (1 + math.log(factor) / 10) * scores


@wrong(check.proportional, "The exponent runs over what turns")
def over_the_part(head, turning, base):
    moving = 1 / base ** (torch.arange(0, turning, 2) / turning)
    return torch.cat([moving, torch.zeros((head - turning) // 2)])


@wrong(check.line_by_line, "Runs down the columns.")
def as_xy(rows, columns):
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="xy")
    return torch.stack([y.flatten(), x.flatten()], dim=-1)
