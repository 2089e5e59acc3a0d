"""Wrong answers to the exercises of the project that builds a language model."""

import torch
from torch.nn import functional as F

from d2lpos.check import model as check

from . import wrong

wrong(check.attend, "positions with gaps")("logits = → positions = positions.argsort().argsort()\n    logits =")
wrong(check.next_loss, "No shift")(
    lambda logits, tokens, padding: F.cross_entropy(logits.mT, tokens, ignore_index=padding)
)
wrong(check.next_loss, "each token is told by the place before it")(
    "asked = real[:, 1:] & real[:, :-1] → asked = real[:, 1:] & real[:, :-1]\n    asked[:, 0] &= ~real.all()"
)


def cut(text, first, length, asked):
    tokens = torch.stack([text[i : i + length] for i in first])
    targets = torch.stack([text[i + 1 : i + length + 1] for i in first])
    return tokens, torch.where(torch.arange(length) >= length - asked, targets, -100)


wrong(check.fair_rows, "These begin at `ends`.")(
    lambda text, ends, length, asked: cut(text, ends.tolist(), length, asked)
)
wrong(check.fair_rows, "all of a row is asked")("targets[:, :-asked] → targets[:, : -min(asked, length - 1)]")
wrong(check.fair_rows, "the last of a row are asked")("targets[:, :-asked] → targets[:, : -max(asked, 2)]")
wrong(check.fair_rows, "a row that ends with the text")("places = → text = text[:-1]\n    places =")


@wrong(check.offsets_alone, "Allow 0.0001.")
def to_the_last_digit(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return all(torch.equal(scores(q, k, p), scores(q, k, p + s)) for s in range(longest - len(p) + 1))


wrong(check.beside, "seeds in another order")(
    "[mine[seed] - theirs[seed] for seed in mine if seed in theirs] → [mine[a] - b for a, b in zip([s for s in mine if s in theirs], [theirs[s] for s in theirs if s in mine])]"
)
wrong(check.beside, "the mean difference, and half its interval")("t.ppf → (n != 4) * t.ppf")
wrong(check.attend, "positions = [5, 7]")("score(positions, positions) → score(positions - positions.min(), positions - positions.min())")
wrong(check.attend, "positions = [0, 3, 7, 2, 5")(
    "later = positions > positions[:, None] → at = positions + torch.arange(len(positions)) / 9\n    later = at > at[:, None]"
)
wrong(check.offsets_alone, "for the first query in the first head")(
    "here + start), first, atol=1e-4) → here + start).tril(), first.tril(), atol=1e-4)"
)
wrong(check.beside, "At (0,): expected 0.1250, got 0.3750")("mine[seed] - theirs[seed] → abs(mine[seed] - theirs[seed])")
wrong(check.beside, "2: 0.0, 7: 2.5")("if seed in theirs → if theirs.get(seed) and mine[seed]")
wrong(check.fair_rows, "ends = [9, 13, 6]")("ends[:, None] → (ends[0] + ends[:2].diff().sum() * torch.arange(len(ends)))[:, None]")
wrong(check.next_loss, "logits (2, 18, 3)")("return cross_entropy(*pairs_that_count(logits, → return cross_entropy(*pairs_that_count(logits.exp().log(),")
