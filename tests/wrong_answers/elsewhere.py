"""Wrong answers to the exercises of chapter 13."""

from d2lpos.check import elsewhere as check

from . import wrong

wrong(check.film_ids, "A pair is asked for: the ids and the next id")("return ids, int(ids.max()) + 1 → return ids")
wrong(check.chunk_mask, "is asked for here, of queries and keys")(
    "return (back >= 0) & (back <= left // chunk) → return back[0] >= 0"
)
wrong(check.merged, "dtype = torch.float64")("ids.to(dtype) → ids.float().to(dtype)")
wrong(check.merged, "At (3,): expected False, got True")("rounded = ids.to(dtype) → rounded = ids[:, :3].to(dtype)")
wrong(check.axis_angles, "[300.5, 0.5, 0.0]")("positions[:, axis, None] → positions[:, axis, None].bfloat16()")
wrong(check.film_ids, "start = 300")("return ids, → return ids.bfloat16().long(),")
