"""Wrong answers to the ten exercises of the page of symptoms: one mistake of each, as a student would write it, and some of one size alone."""

import torch

from d2lpos.check import symptoms as check

from . import wrong


@wrong(check.word_ids, "Input: here = [[0, 1, 1], [1, 1, 1], [0, 0, 1]] (bool) Expected shape (3, 3), got (3, 4)")
def less_the_fillers_of_four(here):
    return (torch.arange(4) - 4 + here.sum(-1, keepdim=True)).clamp(min=0)


wrong(check.next_id, "Input: places = [[0, 1], [0, 0], [4, 5]]")(lambda places, here: places[:, 3:4] + 1)
wrong(check.norm_and_turn, "Input: q = [[0.5, 3.5], [1.0, -1.0], [2.0, 2.0]]")(
    "rms(q) → (q.norm(dim=-1, keepdim=True) / 2)"
)
