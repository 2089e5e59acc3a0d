"""Wrong answers to the exercises of chapter 13."""

from d2lpos.check import elsewhere as check

from . import wrong

wrong(check.film_ids, "A pair is asked for: the ids and the next id")("return ids, int(ids.max()) + 1 → return ids")
wrong(check.chunk_mask, "is asked for here, of queries and keys")(
    "return (back >= 0) & (back <= left // chunk) → return back[0] >= 0"
)
