"""One number, three ways."""


import torch
from torch import Tensor

from ..cases import quarters, read_as, two_tensors
from ..verdict import Answer, Case, Check, call
from .material import without


def read_as_it_goes(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    y = []
    for query, key, value, gate in zip(q, k, v, gates, strict=True):
        state = gate * state + torch.outer(key, value)
        y.append(query @ state)
    return torch.stack(y), state


def by_quotients(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    decay = gates.cumprod(dim=0)[:, None]
    pairs = (k / decay)[:, :, None] * v[:, None]
    states = decay[..., None] * (state + pairs.cumsum(dim=0))
    return (q[:, None] @ states)[:, 0], states[-1]


def text(tokens: int, d: int, e: int, gates: list[float] | None = None, begun: bool = False) -> tuple:
    """q, k, v, gates and the state before them."""
    draw = [quarters(tokens, size, seed=tokens + size + n) for n, size in enumerate((d, d, e))]
    quarter = torch.randint(1, 5, (tokens,), generator=torch.Generator().manual_seed(tokens)) / 4
    state = quarters(d, e, seed=d) if begun else torch.zeros(d, e)
    return *draw, torch.tensor(gates) if gates else quarter, state


def read_case(part: int, tokens: int, d: int, e: int, gates: list | None = None, begun: bool = False) -> Case:
    """Asks for y, part 0, or for the state at the end, part 1."""
    arguments = dict(zip(("q", "k", "v", "gates", "state"), text(tokens, d, e, gates, begun), strict=True))
    label = f"{tokens} tokens, d = {d}, e = {e}, gates of {arguments['gates'][0]:.0e}"
    return read_as(
        call(label if tokens > 10 else "", **arguments),
        lambda outcome: two_tensors(outcome, "y and the state", (tokens, e), (d, e))[part],
    )


def read_first(q, k, v, gates, state):
    y = torch.zeros(len(q), v.shape[1])
    for t in range(len(q)):
        y[t] = q[t] @ state
        state = gates[t] * state + k[t][:, None] * v[t]
    return y, state


recurrent = Check(
    "recurrent",
    reference=read_as_it_goes,
    properties={
        "y: what each query reads": [
            read_case(0, 3, 2, 3),
            read_case(0, 6, 3, 2),
            read_case(0, 4, 2, 3, begun=True),
            read_case(0, 5, 2, 2, begun=True),
            read_case(0, 5, 2, 3, [0.5, 0.25, 0.0, 0.5, 0.75], begun=True),
            read_case(0, 64, 2, 3, [2.0**-20] * 64),
            read_case(0, 100, 3, 2, [0.3, 0.999, 0.6, 0.77] * 25),
        ],
        "the state behind the last token": [
            read_case(1, 3, 2, 3), read_case(1, 4, 3, 2, begun=True), read_case(1, 3, 2, 2, begun=True),
            read_case(1, 100, 3, 2),
        ],
        "1,000 tokens, and no tensor of all pairs": [
            without("1,000 tokens, d = e = 2", 1000**2, *text(1000, 2, 2))
        ],
    },
    mistakes={
        "A query reads its own token, too: first add, then read.": read_first,
        "Here the token's own pair decays, too: first multiply by the gate, then add.":
            "gate * state + torch.outer(key, value) → gate * (state + torch.outer(key, value))",
        "Nothing decays here.": "gate * state + → state +",
        "A gate says how much of the state is kept, not how much of the token is added.":
            ("gate * state + → state + gate *", "gate * state + → gate * state + (1 - gate) *"),
        "The state that is given is where the text goes on. Here it begins with zeros.":
            "y = [] → y, state = [], torch.zeros_like(state)",
        "This is the state before the last token.":
            lambda *parts: (read_as_it_goes(*parts)[0], read_as_it_goes(*(x[:-1] for x in parts[:4]), parts[4])[1]),
        "A product of gates becomes 0, and nothing can be divided by it. Go token by token.": by_quotients,
        "A matrix for all pairs grows with the square of the text. Go token by token.":
            "torch.stack(y), state → torch.stack(y) + 0 * (q @ k.mT).sum(), state",
    },
    answers=(Answer("break_even", 64, {
        "A cache holds a key and a value for each token.": 128,
        "These are the numbers of the state. How many does a cache hold for one token?": 128 * 128,
        "These are the numbers that a cache holds for one token.": 256,
    }),),
    cards=(read_first,),
    as_good={
        "zip(q, k, v, gates, strict=True) → zip(q, k, v, gates)": "All four have a row for each token.",
        "zip(q, k, v, gates, strict=True) → zip(q, k, v, gates, strict=False)": "All four have a row for each token.",
    },
)
