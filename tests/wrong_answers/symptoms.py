"""Wrong answers to the ten exercises of the page of symptoms: one mistake of each, as a student would write it, and some of one size alone."""

import torch

from d2lpos.check import symptoms as check

from . import wrong

wrong(check.word_ids, "Input: here = [[0, 1, 1], [1, 1, 1], [0, 0, 1]] (bool) Expected shape (3, 3), got (3, 4)")(
    lambda here: (torch.arange(4) - 4 + here.sum(-1, keepdim=True)).clamp(min=0)
)
wrong(check.next_id, "Input: places = [[0, 1], [0, 0], [40, 41]]")(lambda places, here: places[:, 3:4] + 1)
wrong(check.norm_and_turn, "Input: q = [[0.5, 3.5], [0.25, -0.25], [2.0, 2.0]]")(
    "rms(q) → (q.norm(dim=-1, keepdim=True) / 2)"
)
wrong(check.norm_and_turn, "0.5, 3.0, 1.5]")("turn(q / rms(q) * weight) → torch.cat([turn(row[None]) for row in q / rms(q) * weight])")
wrong(check.word_ids, "here (2, 40)")(".clamp(min=0) → .clamp(0, 15)")
wrong(check.sees, "new = 18, total = 40")(".tril(total - new) → .tril(total - new).triu(total - new - 15)")
wrong(check.behind, "30 words")("row.max() → row[-16:, 1:].max().clamp(max=16)")
wrong(check.flash_window, "sliding_window = 8192")("sliding_window - 1 → min(sliding_window, 4096) - 1")
wrong(check.sharpened, "factor = 1.5")("** 2 → ** (2 if factor > 2 else 0)")
wrong(check.proportional, "turning = 0")("turning // 2 → max(turning // 2, 1)")
wrong(check.line_by_line, "columns = 20")("torch.arange(columns) → torch.arange(columns) % 8")
