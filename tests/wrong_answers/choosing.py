"""Wrong answers to the exercises of chapter 8."""

import numpy as np

from d2lpos import ALiBi
from d2lpos.check import choosing as check

from . import wrong

wrong(check.compare, "fails 1 of 2 properties Property: the arm is chosen by validation")(
    "1 + validation[1:].mean(dim=1).argmin() → max(validation.mean(dim=1).argmin(), 1)"
)
wrong(check.rope_from, "features and base")(
    'config.get("head_dim") or config → max(config.get("head_dim") or 0, config["hidden_size"] // config["num_attention_heads"]) or config'
)
wrong(check.rope_from, "fails 1 of 6 properties Property: linear scaling")(
    'scaling.linear, factor=rope_parameters["factor"] → scaling.linear, factor=1.0'
)
wrong(check.rope_from, "fails 1 of 6 properties Property: a part that turns")(
    'or older(config) → or without(older(config), "partial_rotary_factor")'
)
wrong(check.rope_from, "a d2lpos.RoPE is asked for")(
    lambda config, kind: ALiBi(config["num_attention_heads"])
)


@wrong(check.memory, "tokens = 131072")
def integers_of_32_bits(layers, heads, kv_heads, features, tokens, size):
    keys = np.prod(np.array([layers, kv_heads, features, tokens, size], dtype=np.int32), dtype=np.int32)
    return 2 * int(keys), heads * tokens * tokens * size


wrong(check.memory.answers[0], "not their number in billions")((1.07, 4.29))
wrong(check.choose, "the lowest mean")("mean(losses[name]) → round(mean(losses[name]), 1)")
