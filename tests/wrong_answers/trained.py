"""Wrong answers to the exercises of chapter 9."""

from d2lpos.check import trained as check

from . import wrong

wrong(check.layout, "fails 2 of 3 properties Property: heads of any size")(
    "met(wq, wk, heads, kv_heads) → met(wq, wk, len(wq) // 64, len(wk) // 64)"
)
wrong(check.padded, "Returns shapes (1, 5) and (1, 5, 5)")(
    "past & real[:, None, None] | torch.eye(len(here)).bool() → (past & real[:, None, None] | torch.eye(len(here)).bool())[:, 0]"
)
wrong(check.padded, "whole numbers are asked for")("cumsum(dim=1) - 1 → cumsum(dim=1) - 1.0")
wrong(check.padded, "Two tensors are asked for: positions and mask")(
    "return positions, past & real[:, None, None] | torch.eye(len(here)).bool() → return positions"
)
wrong(check.cuts, "Property: the last row, unlike its one neighbor")(
    "torch.ones(1).bool() → cosine_similarity(table[-1:], table[:1]) < below"
)
wrong(check.cuts, "degrees of the last two of 5 features")(
    "unlike = cosine_similarity → table = table[:, :2]\n    unlike = cosine_similarity"
)


@wrong(check.frozen, "32 pairs, too much below 31")
def five_questions(loss, pairs, allowed):
    limit, low, high = loss(pairs) + allowed, -1, pairs
    for _ in range(5):
        middle = (low + high) // 2 if high - low > 1 else high
        low, high = (low, middle) if loss(middle) <= limit else (middle, high)
    return high
wrong(check.frozen, "64 pairs, too much below 49")("limit = loss(pairs) → pairs = 32\n    limit = loss(pairs)")
wrong(check.cuts, "missing 14")("unlike[row - 1] and unlike[row]] → unlike[row - 1] and unlike[row]][:3]")
wrong(check.cuts, "0, 0, 30, 225, 90, 90 degrees")("and unlike[row]] → and unlike[row] and cosine_similarity(table[row - 1], table[(row + 1) % len(table)], dim=0) >= below * (row + 1 < len(table))]")
wrong(check.previous_head, "no mask, (3, 3, 5, 5)")("dim2=3).mean(dim=-1) → dim2=3).sum(dim=-1) + weights[:, :, 0, 0]")
