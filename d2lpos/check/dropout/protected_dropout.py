"""Protected dropout."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check, call


def factors(coins: Tensor, rate: float) -> Tensor:
    return (coins >= rate) / (1 - rate)


def protect(x: Tensor, coins: Tensor, rate: float, protected: Tensor, training: bool) -> Tensor:
    return x * factors(coins, rate).masked_fill(protected[..., None], 1) if training else x


def divide_and_multiply(x: Tensor, coins: Tensor, rate: float, protected: Tensor, training: bool) -> Tensor:
    """Spares tokens from the coins, divides all of them, and multiplies the spared ones back."""
    divided = x * ((coins >= rate) | protected[..., None]) / (1 - rate)
    return torch.where(protected[..., None], divided * (1 - rate), divided) if training else x


X = torch.arange(1, 13).reshape(1, 3, 4) / 4
COINS = torch.tensor([[[1, 7, 3, 5], [6, 2, 3, 1], [3, 5, 0, 7]]]) / 8


def protect_case(protected: list, rate: float = 0.5, training: bool = True) -> Case:
    x, coins = (torch.cat([part, part.flip(0, 2)])[: len(protected)] for part in (X, COINS))
    return call(x=x, coins=coins, rate=rate, protected=torch.tensor(protected), training=training)


def drawn_tokens(batch: int, sequence: int, d: int, rate: float) -> dict:
    numbers = torch.Generator().manual_seed(7)
    x, coins = (torch.rand(batch, sequence, d, generator=numbers) for _ in range(2))
    protected = torch.rand(batch, sequence, generator=numbers) < 0.5
    return {"x": 6 * x - 3, "coins": coins, "rate": rate, "protected": protected, "training": True}


def to_the_last_bit(rate: float) -> Case:
    arguments = drawn_tokens(2, 5, 64, rate)
    x, protected, case = arguments["x"], arguments["protected"], call(**arguments)

    def ask(answer: Callable) -> object:
        got = case.ask(answer)
        if not isinstance(got, Tensor) or got.shape != x.shape:
            return got
        return "the same" if torch.equal(got[protected].to(x), x[protected]) else "not quite the same"

    return Case(case.text, ask)


NO, SOME = [False, False, False], [True, False, True]
def kept(coins, rate):
    return (coins >= rate).float()


def adds_what_was_lost(x, coins, rate, protected, training):
    if not training:
        return x
    dropped = x * kept(coins, rate) / (1 - rate)
    return dropped + protected[..., None] * (x - dropped)


protected_dropout = Check(
    "protected_dropout",
    reference=protect,
    properties={
        "nothing falls in evaluation": [
            protect_case([NO], training=False),
            protect_case([SOME], training=False),
        ],
        "in training, words lose numbers and grow, and protected tokens stay": [
            protect_case([NO]),
            protect_case([NO], rate=0.25),
            protect_case([SOME]),
            protect_case([SOME], rate=0.25),
            protect_case([SOME, [False, True, False]]),
            protect_case([NO], rate=0.0),
            call(**drawn_tokens(4, 17, 5, 0.3)),
        ],
        "to the last bit": [to_the_last_bit(0.1), to_the_last_bit(0.9)],
    },
    mistakes={
        "This erases what it should protect. masked_fill(…, 0) can only take away.":
            "protected[..., None], 1) → protected[..., None], 0)",
        "The other tokens are spared. True in protected means that a token stays.":
            "protected[..., None] → ~protected[..., None]",
        "The protected tokens are dropped like all others.":
            "factors(coins, rate).masked_fill(protected[..., None], 1) → factors(coins, rate)",
        "The protected tokens lose nothing, but they are divided by 1 − rate.":
            "protected[..., None], 1) → protected[..., None], 1 / (1 - rate))",
        "The survivors are not divided by 1 − rate, so the mean shrinks.":
            "(coins >= rate) / (1 - rate) → (coins >= rate).float()",
        "The rate is the chance to be lost: a coin below it loses.": "coins >= rate → coins < rate",
        "Dividing and multiplying back rounds twice. Choose with torch.where or masked_fill.":
            divide_and_multiply,
        "Coins fall in evaluation. Return x there.": "1) if training else x → 1)",
    },
    cards=(adds_what_was_lost,),
)
