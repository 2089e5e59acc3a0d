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
