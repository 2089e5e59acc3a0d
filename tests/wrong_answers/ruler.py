"""Wrong answers to the exercises of chapter 12."""

from d2lpos.check import ruler as check

from . import wrong

wrong(check.mirrors, "Two tensors are asked for: u and w")(
    "return toward(0 * angle), toward(angle / 2) → return torch.stack([toward(0 * angle), toward(angle / 2)])"
)
wrong(check.mirrors, "Returns shapes (2, 3) and (2, 3); u and w are (3, 2) and (3, 2) here")(
    "return toward(0 * angle), toward(angle / 2) → return toward(0 * angle).T, toward(angle / 2).T"
)
wrong(check.recurrent, "Two tensors are asked for: y and the state")(
    "return torch.stack(y), state → return torch.stack(y)"
)
wrong(check.forget, "fails 1 of 3 properties Property: in each head the sum of ln gates")("here = → gates = gates.clamp(max=0.9)\n    here =")
wrong(check.forget, "gates = [[0.25, 0.0]]")("here = → gates = torch.cat([gates[:, :-1], gates[:, -1:].clamp(min=1e-9)], dim=1)\n    here =")
wrong(check.recurrent, "Property: the state behind the last token Input: 100 tokens")(
    "return torch.stack(y), state → return torch.stack(y), state if len(y) < 65 else 0 * state"
)
wrong(check.recurrent, "Property: y: what each query reads Input: 100 tokens")("gate * state → gate.bfloat16() * state")
