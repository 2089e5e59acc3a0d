"""The checks of chapter 7: special tokens, protected dropout, what code erases, and how much noise a rate buys."""

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from ..transformer import dropout as package
from .cases import by_hand, either, number, several
from .verdict import Answer, Case, Check, call, nothing

# Which tokens are special -----------------------------------------------------------------------------------


def spared(tokens: Tensor, special: Tensor, attention: Tensor, mask_token: int) -> Tensor:
    return (special.bool() & attention.bool()) | (tokens == mask_token)


def special_case(tokens: list, special: list, attention: list, mask_token: int = 9) -> Case:
    return call(
        tokens=torch.tensor(tokens),
        special_tokens_mask=torch.tensor(special),
        attention_mask=torch.tensor(attention),
        mask_token=mask_token,
    )


def drawn_sentences(seed: int, left: bool = False, masked: bool = False) -> Case:
    """Three pairs of sentences, padded on one side, whose tokens have other numbers each time."""
    stream = Random(seed)
    cls, sep, padding, mask_token, *words = stream.sample(range(100), 9)
    rows = []
    for _ in range(3):
        first, second = (
            stream.choices([*words, *[mask_token] * masked], k=stream.randint(1, 3)) for _ in "ab"
        )
        tokens = [cls, *first, sep, *second, sep]
        special = [int(token in (cls, sep)) for token in tokens]
        more = 9 - len(tokens)
        sides = ([padding] * more, tokens), ([1] * more, special), ([0] * more, [1] * len(tokens))
        rows.append([one + other if left else other + one for one, other in sides])
    return special_case(*map(list, zip(*rows, strict=True)), mask_token)


special = Check(
    "special",
    reference=spared,
    properties={
        "what the tokenizer calls special, but not padding": [
            special_case([1, 5, 2], [1, 0, 1], [1, 1, 1]),
            special_case([[1, 5, 2]], [[1, 0, 1]], [[1, 1, 1]]),
            special_case([[1, 5, 6, 2], [1, 5, 2, 2]], [[1, 0, 0, 1], [1, 0, 1, 1]], [[1] * 4] * 2),
            special_case([1, 5, 2, 0, 0], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]),
            special_case([3, 0, 4, 7, 7], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]),
            special_case([0, 0, 1, 5, 2], [1, 1, 1, 0, 1], [0, 0, 1, 1, 1]),
            special_case([1, 5, 2, 2, 2], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]),
            special_case([[1, 5, 2, 0], [1, 5, 6, 2]], [[1, 0, 1, 1], [1, 0, 0, 1]], [[1, 1, 1, 0], [1] * 4]),
            *(drawn_sentences(seed, left) for seed in range(2) for left in (False, True)),
        ],
        "and [MASK]": [
            special_case([1, 9, 5, 2], [1, 0, 0, 1], [1, 1, 1, 1]),
            special_case([1, 9, 5, 2], [1, 0, 0, 1], [1, 1, 1, 1], mask_token=5),
            special_case([1, 9, 9, 2], [1, 0, 0, 1], [1, 1, 1, 1]),
            *(drawn_sentences(seed, masked=True) for seed in range(2)),
        ],
        "written by hand": [
            by_hand("two tokens", package, "flags", "special_tokens", (*torch.ones(3, 1, 2).long(), 9))
        ],
    },
    mistakes={
        "Padding is spared. Tokenizers call it special; the attention mask is 0 there.": (
            lambda tokens, special, attention, mask: special.bool() | (tokens == mask)
        ),
        "This is right where padding is on the right. It may stand on the left; the attention mask is 0 there.": (
            lambda tokens, special, attention, mask: (
                special.bool() & (torch.arange(tokens.shape[-1]) < attention.sum(-1, keepdim=True))
                | (tokens == mask)
            )
        ),
        "[MASK] is missing. To the tokenizer it is a word.": (
            lambda tokens, special, attention, mask: special.bool() & attention.bool()
        ),
        "This is the other way around: True is for the tokens to spare.": (
            lambda tokens, special, attention, mask: ~spared(tokens, special, attention, mask)
        ),
        "The attention mask tells padding from the rest, and knows no special tokens.": (
            lambda tokens, special, attention, mask: attention.bool()
        ),
        "The attention mask is turned around: it is 0 for padding.": (
            lambda tokens, special, attention, mask: (special.bool() & ~attention.bool()) | (tokens == mask)
        ),
        "No special token is left: to be special to the tokenizer, or [MASK], is enough.": (
            lambda tokens, special, attention, mask: special.bool() & attention.bool() & (tokens == mask)
        ),
        "These are numbers. Dropout wants True and False: .bool().": (
            lambda tokens, special, attention, mask: spared(tokens, special, attention, mask).long()
        ),
    },
)


# Protected dropout ------------------------------------------------------------------------------------------


def factors(coins: Tensor, rate: float) -> Tensor:
    return (coins >= rate) / (1 - rate)


def protect(x: Tensor, coins: Tensor, rate: float, protected: Tensor, training: bool) -> Tensor:
    return x * factors(coins, rate).masked_fill(protected[..., None], 1) if training else x


def divide_and_multiply(x: Tensor, coins: Tensor, rate: float, protected: Tensor, training: bool) -> Tensor:
    """Spares tokens from the coins, divides all of them, and multiplies the spared ones back."""
    divided = x * ((coins >= rate) | protected[..., None]) / (1 - rate)
    return torch.where(protected[..., None], divided * (1 - rate), divided) if training else x


def in_training(change: Callable) -> Callable:
    """An answer that makes a mistake in training, and none in evaluation."""

    def answer(x: Tensor, coins: Tensor, rate: float, protected: Tensor, training: bool) -> Tensor:
        return change(x, coins, rate, protected) if training else x

    return answer


X = torch.arange(1, 13).reshape(1, 3, 4) / 4
COINS = torch.tensor([[[1, 7, 3, 5], [6, 2, 3, 1], [3, 5, 0, 7]]]) / 8


def protect_case(protected: list, rate: float = 0.5, training: bool = True) -> Case:
    x, coins = (torch.cat([part, part.flip(0, 2)])[: len(protected)] for part in (X, COINS))
    case = call(x=x, coins=coins, rate=rate, protected=torch.tensor(protected), training=training)
    return either(case, torch.float32)


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
            either(call(**drawn_tokens(4, 4, 5, 0.3)), torch.float32),
        ],
        "to the last bit": [to_the_last_bit(0.1), to_the_last_bit(0.9)],
    },
    mistakes={
        "This erases what it should protect. masked_fill(…, 0) can only take away.": in_training(
            lambda x, coins, rate, protected: (x * factors(coins, rate)).masked_fill(protected[..., None], 0)
        ),
        "The other tokens are spared. True in protected means that a token stays.": in_training(
            lambda x, coins, rate, protected: protect(x, coins, rate, ~protected, True)
        ),
        "The protected tokens are dropped like all others.": in_training(
            lambda x, coins, rate, protected: x * factors(coins, rate)
        ),
        "The protected tokens lose nothing, but they are divided by 1 − rate.": in_training(
            lambda x, coins, rate, protected: x * ((coins >= rate) | protected[..., None]) / (1 - rate)
        ),
        "The survivors are not divided by 1 − rate, so the mean shrinks.": in_training(
            lambda x, coins, rate, protected: x * ((coins >= rate) | protected[..., None])
        ),
        "The survivors are multiplied by 1 − rate. They must grow: divide.": in_training(
            lambda x, coins, rate, protected: torch.where(
                protected[..., None], x, x * (coins >= rate) * (1 - rate)
            )
        ),
        "The survivors are divided by the rate. Divide by the chance to survive, 1 − rate.": in_training(
            lambda x, coins, rate, protected: torch.where(protected[..., None], x, x * (coins >= rate) / rate)
        ),
        "A coin equal to the rate survives: only a coin below it loses.": in_training(
            lambda x, coins, rate, protected: torch.where(
                protected[..., None], x, x * (coins > rate) / (1 - rate)
            )
        ),
        "The rate is the chance to be lost: a coin below it loses.": in_training(
            lambda x, coins, rate, protected: torch.where(
                protected[..., None], x, x * (coins < rate) / (1 - rate)
            )
        ),
        "One coin decides for the whole token. Each number has its own.": in_training(
            lambda x, coins, rate, protected: protect(x, coins[..., :1].expand_as(x), rate, protected, True)
        ),
        "Dividing and multiplying back rounds twice. Choose with torch.where or masked_fill.": (
            divide_and_multiply
        ),
        "Coins fall in evaluation. Return x there.": (
            lambda x, coins, rate, protected, training: protect(x, coins, rate, protected, True)
        ),
        "Nothing is multiplied in evaluation: the division in training has kept the mean.": (
            lambda x, coins, rate, protected, training: (
                protect(x, coins, rate, protected, True) if training else x * (1 - rate)
            )
        ),
    },
)


# What a function erases -------------------------------------------------------------------------------------

PLACES = torch.arange(1, 5)[:, None, None] * torch.ones(4, 1, 3)  # (sequence, 1, dim)
PADDING = torch.tensor([[True] * 4, [True, True, False, False]]).T  # (sequence, batch), False for padding


def added(x: Tensor) -> Tensor:
    return x + PLACES


def padding_to_zero(x: Tensor) -> Tensor:
    return added(x) * PADDING[..., None]


def features_to_zero(x: Tensor) -> Tensor:
    return added(x) * torch.tensor([0.0, 1.0, 0.0])


def padding_to_position(x: Tensor) -> Tensor:
    return torch.where(PADDING[..., None], added(x), PLACES)


def features_mixed(x: Tensor) -> Tensor:
    """Each number moves with x, and their sum does not."""
    return x * torch.tensor([1.0, 1.0, -2.0])


def unmoved(forward: Callable, x: Tensor) -> Tensor:
    """Which numbers stay as they are when x changes much, up and down."""
    return (forward(x) == forward(x + 100)) & (forward(x) == forward(x - 100))


def tried_by(*steps: float) -> Callable:
    """An answer that tries these steps alone."""
    return lambda forward, x: torch.stack([forward(x) == forward(x + step) for step in steps]).all(0).all(-1)


def by_gradient(forward: Callable, x: Tensor) -> Tensor:
    x = x.clone().requires_grad_()
    forward(x).sum().backward()
    return (x.grad == 0).all(dim=-1)


def erased_case(label: str, forward: Callable, x: Tensor | None = None) -> Case:
    x = 1 + torch.arange(24.0).reshape(4, 2, 3) if x is None else x
    return call(f"forward {label}, x {tuple(x.shape)}", forward=forward, x=x)


WIDE = torch.ones(2, 3, 16)
BY_ACCIDENT = torch.arange(1.0, 25.0).reshape(4, 2, 3)
BY_ACCIDENT[2, 0], BY_ACCIDENT[1, 1] = -PLACES[2, 0], 0.0
erased = Check(
    "erased",
    reference=lambda forward, x: unmoved(forward, x).all(dim=-1),
    properties={
        "tokens of which nothing is left": [
            erased_case("sets padding to 0", padding_to_zero),
            erased_case("sets a feature to 0", features_to_zero),
            erased_case("multiplies the features by 1, 1 and −2", features_mixed),
        ],
        "whatever x is": [
            erased_case("adds positions; one sum is 0, one word is 0", added, BY_ACCIDENT),
            erased_case("adds positions; all numbers are 1", added, torch.ones(4, 2, 3)),
            erased_case("is torch.relu; all numbers are −5", torch.relu, -5 * WIDE),
            erased_case("is torch.abs; all numbers are 0", torch.abs, 0 * WIDE),
            erased_case("is torch.clamp(max=1); all numbers are 5", lambda x: x.clamp(max=1), 5 * WIDE),
        ],
        "even where the position is left": [
            erased_case("leaves of padding the position alone", padding_to_position)
        ],
    },
    mistakes={
        "An output of 0 may be an accident. Change x, and see what stays.": (
            lambda forward, x: (forward(x) == 0).all(dim=-1)
        ),
        "An erased token need not be 0. Compare the two outputs with each other.": (
            lambda forward, x: (unmoved(forward, x) & (forward(x) == 0)).all(dim=-1)
        ),
        "One feature that stays is not yet a token that is gone: .all(dim=-1).": (
            lambda forward, x: unmoved(forward, x).any(dim=-1)
        ),
        "This is True for the tokens that are left.": lambda forward, x: ~unmoved(forward, x).all(dim=-1),
        "A function may be deaf to a small step: torch.relu is, at −5. Take large ones, up and down.": (
            tried_by(1)
        ),
        "A gradient tells of small steps: that of torch.relu is 0 at −5. Take large ones.": by_gradient,
        "A function may be deaf in one direction: torch.relu is, at −5. Change x much, up and down.": tried_by(
            -100
        ),
        "A function may be deaf in one direction: torch.clamp(max=1) is, at 5. Change x much, up and down.": (
            tried_by(100)
        ),
        "A function may take up for down: torch.abs does, at 0. Compare with what comes of x itself, too.": (
            lambda forward, x: (forward(x + 100) == forward(x - 100)).all(dim=-1)
        ),
        "A sum can stay while its numbers move. Compare number by number.": (
            lambda forward, x: (
                (forward(x).sum(-1) == forward(x + 100).sum(-1))
                & (forward(x).sum(-1) == forward(x - 100).sum(-1))
            )
        ),
        "A multiple of 0 is 0, and has not changed. Add something to x.": (
            lambda forward, x: (forward(x) == forward(2 * x)).all(dim=-1)
        ),
        "x may hold the numbers that you compare with. Change x, whatever it is.": (
            lambda forward, x: (forward(x) == forward(torch.ones_like(x))).all(dim=-1)
        ),
        "This is (batch, sequence). The listing's tokens are (sequence, batch).": (
            lambda forward, x: unmoved(forward, x).all(dim=-1).T
        ),
        "One answer for each token, not for each number: .all(dim=-1).": unmoved,
        "What the function leaves alone is compared with x itself. Compare two outputs.": (
            lambda forward, x: (forward(x) == x).all(dim=-1)
        ),
    },
    answers=(
        Answer(
            "which",
            "[PAD]",
            {
                "[CLS] loses nothing in evaluation: its mask is 1.": "[CLS]",
                "[SEP] loses nothing in evaluation: its mask is 1.": "[SEP]",
                "[MASK] loses nothing in evaluation: its mask is 1.": "[MASK]",
            },
        ),
    ),
)


# What a reader of positions sees ----------------------------------------------------------------------------


def seen(u: Tensor, rate: float, entire: bool) -> tuple[float, float]:
    squares = u.square().sum()
    spread = squares**2 if entire else u.pow(4).sum()
    return squares.item(), math.sqrt(rate / (1 - rate) * spread)


def squares_alone(u: Tensor, rate: float, entire: bool) -> tuple[float, float]:
    """The variances are taken to be ν · u_j²."""
    return (
        seen(u, rate, entire)
        if entire
        else (seen(u, rate, entire)[0], u.norm().item() * math.sqrt(rate / (1 - rate)))
    )


def scaled(by_mean: Callable, by_sd: Callable) -> Callable:
    """An answer whose mean and standard deviation are wrong by a factor that the rate decides."""

    def answer(u: Tensor, rate: float, entire: bool) -> tuple[float, float]:
        mean, sd = seen(u, rate, entire)
        return mean * by_mean(rate), sd * by_sd(rate)

    return answer


def reader_case(u: list, rate: float, entire: bool) -> Case:
    case = call(f"u = {u}, rate = {rate:g}, entire = {entire}", u=torch.tensor(u), rate=rate, entire=entire)

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        return outcome if nothing(outcome) else torch.tensor(several(outcome, "mean", "standard deviation"))

    return Case(case.text, ask)


def one(rate: float) -> float:
    return 1.0


reader = Check(
    "reader",
    reference=seen,
    properties={
        "mean and standard deviation, a coin for each number": [
            reader_case([2.0, 1.0], 0.5, False),
            reader_case([1.5, -0.5, 1.0, 0.25], 0.2, False),
        ],
        "one coin for the whole vector": [
            reader_case([2.0, 1.0], 0.5, True),
            reader_case([1.5, -0.5, 1.0, 0.25], 0.2, True),
        ],
    },
    mistakes={
        "The second is a variance. Take its root.": (
            lambda u, rate, entire: (seen(u, rate, entire)[0], seen(u, rate, entire)[1] ** 2)
        ),
        "The survivors are not divided by 1 − rate here. With that, the mean stays.": scaled(
            lambda rate: 1 - rate, lambda rate: 1 - rate
        ),
        "The mean does not shrink: what survives has been divided by 1 − rate.": scaled(
            lambda rate: 1 - rate, one
        ),
        "rate · (1 − rate) is the variance of a coin that is 0 or 1. These are 0 or 1/(1 − rate).": scaled(
            one, lambda rate: 1 - rate
        ),
        "The variance of a coin is rate / (1 − rate), not the rate.": scaled(
            one, lambda rate: math.sqrt(1 - rate)
        ),
        "The root covers ν too: the variance is ν times a sum, and its root takes the root of both.": scaled(
            one, lambda rate: math.sqrt(rate / (1 - rate))
        ),
        "ν stands on its head: it is rate / (1 − rate).": scaled(one, lambda rate: (1 - rate) / rate),
        "Number j enters the sum as ξ_j · u_j², so its variance is ν · u_j⁴.": (squares_alone),
        "With one coin for all, nothing averages out: the variance is ν times the square of the sum.": (
            lambda u, rate, entire: seen(u, rate, False)
        ),
        "With a coin for each number, the variances of the numbers add up.": (
            lambda u, rate, entire: seen(u, rate, True)
        ),
        "This is the ratio's other side: the mean comes first.": (
            lambda u, rate, entire: seen(u, rate, entire)[::-1]
        ),
        "Both are divided by the number of features. A dot product is a sum.": (
            lambda u, rate, entire: tuple(value / len(u) for value in seen(u, rate, entire))
        ),
    },
    answers=(
        Answer(
            "ratios",
            (6.2, 19.3, 54.4),
            {
                "This is with one coin for the whole vector.": (3, 3, 3),
                "These are divided by the variance. Take its root.": (9.6, 11.6, 11.6),
                "These are the means. Divide them by the standard deviations.": (4, 32, 256),
                "Divide the mean by the standard deviation, not the other way around.": (0.16, 0.05, 0.02),
            },
            within=0.5,
        ),
    ),
)


# As much noise elsewhere ------------------------------------------------------------------------------------


def bought(rate: float, share: float) -> float:
    """The rate that buys as much noise on a part of the energy as `rate` buys on all of it."""
    noise = rate / (1 - rate) / share
    return noise / (1 + noise)


def equal_rate(rate: float, token: float, position: float, placement: str) -> float:
    parts = {"token": token, "position": position, "independent": token + position}
    return bought(rate, parts[placement] / (token + position))


def by_share(rule: Callable[[float, float], float]) -> Callable:
    """An answer that follows another rule of the rate and the share of the energy that is dropped."""

    def answer(rate: float, token: float, position: float, placement: str) -> float:
        parts = {"token": token, "position": position, "independent": token + position}
        return rule(rate, parts[placement] / (token + position))

    return answer


def noise_case(rate: float, token: float, position: float, placement: str) -> Case:
    case = call(
        f"rate = {rate:g}, token = {token:g}, position = {position:g}, placement = {placement!r}",
        rate=rate,
        token=token,
        position=position,
        placement=placement,
    )

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        if nothing(outcome):
            return outcome
        return torch.tensor(number(outcome, "the rate"), dtype=torch.float64)

    return Case(case.text, ask)


equal_noise = Check(
    "equal_noise",
    reference=equal_rate,
    properties={
        "on the position or the token only": [
            noise_case(0.5, 2.0, 1.0, "position"),
            noise_case(0.5, 2.0, 1.0, "token"),
            noise_case(0.1, 512.0, 256.0, "position"),
            noise_case(0.1, 512.0, 256.0, "token"),
            noise_case(0.2, 3.0, 1.0, "position"),
            noise_case(0.2, 3.0, 1.0, "token"),
        ],
        "with independent masks": [
            noise_case(0.5, 2.0, 1.0, "independent"),
            noise_case(0.3, 1.0, 8.0, "independent"),
        ],
    },
    mistakes={
        "The noise is not in proportion to the rate, but to ν = rate / (1 − rate).": by_share(
            lambda rate, share: rate / share
        ),
        "This is ν. Turn it back into a rate: ν / (1 + ν).": by_share(
            lambda rate, share: rate / (1 - rate) / share
        ),
        "The less energy is dropped, the larger its rate must be: divide by the share.": by_share(
            lambda rate, share: bought(rate, 1 / share)
        ),
        "Energies are squared lengths already. There is no root to take.": by_share(
            lambda rate, share: bought(rate, math.sqrt(share))
        ),
        "This makes the chances equal that nothing is lost. Noise goes with ν.": by_share(
            lambda rate, share: 1 - (1 - rate) ** (1 / share)
        ),
        "Dropout on the sum falls on both parts: compare with token + position.": (
            lambda rate, token, position, placement: bought(
                rate,
                {"token": token / position, "position": position / token, "independent": 1.0}[placement],
            )
        ),
        "This is for the token, whatever the placement.": (
            lambda rate, token, position, placement: equal_rate(rate, token, position, "token")
        ),
        "This is for the position, whatever the placement.": (
            lambda rate, token, position, placement: equal_rate(rate, token, position, "position")
        ),
        "Token and position are exchanged.": (
            lambda rate, token, position, placement: equal_rate(rate, position, token, placement)
        ),
        "Independent masks fall on both parts, and so have the noise of the sum.": (
            lambda rate, token, position, placement: equal_rate(
                rate, token, position, "token" if placement == "token" else "position"
            )
        ),
        "The rate stays the same here. Equal rates are not equal noise.": (
            lambda rate, token, position, placement: rate
        ),
    },
    answers=(
        Answer(
            "rates",
            (0.143, 0.25, 0.6, 0.75),
            {
                "Rates are not in proportion. Noise goes with ν = rate / (1 − rate).": (0.15, 0.3, 0.75, 1.5),
                "These are the position's before the token's.": (0.25, 0.143, 0.75, 0.6),
                "These are ν. Turn it back into a rate: ν / (1 + ν).": (0.167, 0.333, 1.5, 3.0),
            },
            within=0.005,
        ),
    ),
)
