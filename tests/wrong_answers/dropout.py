"""Wrong answers to the exercises of chapter 7."""

import math

import torch
from torch.nn import functional

from d2lpos.check import dropout as check
from d2lpos.transformer.dropout import special_tokens

from . import wrong

# Which tokens are special


@wrong(check.special, "Padding is spared.")
def with_padding(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask == 1) | (tokens == mask_token)


@wrong(check.special, "and [MASK]")
def mask_is_nine(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask & attention_mask).bool() | (tokens == 9)


@wrong(check.special, "This is right where padding is on the right.")
def padding_on_the_right(tokens, special_tokens_mask, attention_mask, mask_token):
    length = attention_mask.sum(dim=-1, keepdim=True)
    inside = torch.arange(tokens.shape[-1]) < length
    return special_tokens_mask.bool() & inside | (tokens == mask_token)


@wrong(check.special, "tokens = [0, 0, 1, 5, 2]")
def up_to_the_first_padding(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask * attention_mask.cumprod(dim=-1)).bool() | (tokens == mask_token)


@wrong(check.special, "tokens = [[1, 5, 2, 0], [1, 5, 6, 2]]")
def padding_of_the_first_sentence(tokens, special_tokens_mask, attention_mask, mask_token):
    first = attention_mask if attention_mask.dim() == 1 else attention_mask[0]
    return special_tokens_mask.bool() & first.bool() | (tokens == mask_token)


@wrong(check.special, "and [MASK]")
def first_mask_alone(tokens, special_tokens_mask, attention_mask, mask_token):
    found = tokens == mask_token
    return special_tokens_mask.bool() & attention_mask.bool() | (found & (found.cumsum(-1) == 1))


@wrong(check.special, "[MASK] is missing.")
def without_mask(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask * attention_mask).bool()


@wrong(check.special, "the other way around")
def words(tokens, special_tokens_mask, attention_mask, mask_token):
    keep = (special_tokens_mask == 0) | (attention_mask == 0)
    return keep & (tokens != mask_token)


@wrong(check.special, "knows no special tokens")
def attention_alone(tokens, special_tokens_mask, attention_mask, mask_token):
    return attention_mask == 1


@wrong(check.special, "The attention mask is turned around")
def attention_reversed(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens_mask.bool() & (attention_mask == 0) | (tokens == mask_token)


@wrong(check.special, "No special token is left: ")
def all_at_once(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens_mask.bool() & attention_mask.bool() & (tokens == mask_token)


@wrong(check.special, "These are numbers.")
def integers(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens_mask & attention_mask | (tokens == mask_token)


@wrong(check.special, "Expected shape (1, 3), got (1,)")
def one_sentence(tokens, special_tokens_mask, attention_mask, mask_token):
    rows = zip(tokens.tolist(), special_tokens_mask.tolist(), attention_mask.tolist(), strict=True)
    return torch.tensor(
        [bool(special and attention) or token == mask_token for token, special, attention in rows]
    )


@wrong(check.special, "tokens = [3, 0, 4, 7, 7]")
def by_their_numbers(tokens, special_tokens_mask, attention_mask, mask_token):
    return (tokens == 1) | (tokens == 2) | (tokens == 9)


@wrong(check.special, "tokens = [3, 0, 4, 7, 7]")
def padding_is_zero(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask.bool() & (tokens != 0)) | (tokens == mask_token)


@wrong(check.special, "Calls the package's special_tokens")
def by_the_package(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens(special_tokens_mask, attention_mask) | (tokens == mask_token)


# Protected dropout


def kept(coins, rate):
    return (coins >= rate).float()


@wrong(check.protected_dropout, "in training, words lose numbers")
def divides_by_the_share_that_survived(x, coins, rate, protected, training):
    keep = kept(coins, rate)
    dropped = x * keep / keep.float().mean()
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "in training, words lose numbers")
def protects_as_in_the_first_sentence(x, coins, rate, protected, training):
    y = x * kept(coins, rate) / (1 - rate)
    y[:, protected[0]] = x[:, protected[0]]
    return y if training else x


@wrong(check.protected_dropout, "in training, words lose numbers")
def coins_of_the_first_sentence(x, coins, rate, protected, training):
    dropped = x * kept(coins[:1], rate) / (1 - rate)
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "fails 1 of 3 properties Property: to the last bit", card=True)
def adds_what_was_lost(x, coins, rate, protected, training):
    if not training:
        return x
    dropped = x * kept(coins, rate) / (1 - rate)
    return dropped + protected[..., None] * (x - dropped)


@wrong(check.protected_dropout, "This erases what it should protect.")
def like_the_listing(x, coins, rate, protected, training):
    if not training:
        return x
    x = x.masked_fill(protected.unsqueeze(-1), 0)
    return x * kept(coins, rate) / (1 - rate)


@wrong(check.protected_dropout, "The other tokens are spared.")
def spares_the_others(x, coins, rate, protected, training):
    dropped = x * kept(coins, rate) / (1 - rate)
    return torch.where(protected[..., None], dropped, x) if training else x


@wrong(check.protected_dropout, "dropped like all others")
def spares_nothing(x, coins, rate, protected, training):
    return x * kept(coins, rate) / (1 - rate) if training else x


@wrong(check.protected_dropout, "but they are divided by 1 − rate")
def divides_everything(x, coins, rate, protected, training):
    if not training:
        return x
    mask = kept(coins, rate)
    mask[protected] = 1
    return x * mask / (1 - rate)


@wrong(check.protected_dropout, "so the mean shrinks")
def no_division(x, coins, rate, protected, training):
    return x.masked_fill((coins < rate) & ~protected[..., None], 0) if training else x


@wrong(check.protected_dropout, "They must grow: divide.")
def multiplies(x, coins, rate, protected, training):
    dropped = x * kept(coins, rate) * (1 - rate)
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "are divided by the rate")
def divides_by_the_rate(x, coins, rate, protected, training):
    dropped = x * kept(coins, rate) / rate
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "The rate is the chance to be lost")
def rate_of_survival(x, coins, rate, protected, training):
    dropped = x * (coins < rate) / (1 - rate)
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "A coin equal to the rate survives")
def above_the_rate(x, coins, rate, protected, training):
    dropped = x * (coins > rate) / (1 - rate)
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "One coin decides for the whole token.")
def whole_tokens(x, coins, rate, protected, training):
    dropped = x * kept(coins[:, :, 0:1], rate) / (1 - rate)
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "rounds twice")
def back_and_forth(x, coins, rate, protected, training):
    if not training:
        return x
    mask = kept(coins, rate)
    mask[protected] = 1
    y = x * mask / (1 - rate)
    y[protected] *= 1 - rate
    return y


@wrong(check.protected_dropout, "Coins fall in evaluation.")
def always(x, coins, rate, protected, training):
    return torch.where(protected[..., None], x, x * kept(coins, rate) / (1 - rate))


@wrong(check.protected_dropout, "Nothing is multiplied in evaluation")
def shrinks_in_evaluation(x, coins, rate, protected, training):
    if not training:
        return x * (1 - rate)
    return torch.where(protected[..., None], x, x * kept(coins, rate) / (1 - rate))


@wrong(check.protected_dropout, "Coins fall in evaluation.")
def exchanged(x, coins, rate, protected, training):
    if training:
        return x
    return torch.where(protected[..., None], x, x * kept(coins, rate) / (1 - rate))


@wrong(check.protected_dropout, "Returns something else when called again")
def coins_of_its_own(x, coins, rate, protected, training):
    return torch.where(protected[..., None], x, functional.dropout(x, rate, training))


@wrong(check.protected_dropout, "Changes its argument x in place")
def in_place(x, coins, rate, protected, training):
    if training:
        lost = (coins < rate) & ~protected[..., None]
        x[~protected] /= 1 - rate
        x[lost] = 0
    return x


# What a function erases


def same(forward, x):
    """Which numbers do not answer, whatever happens to x."""
    y = forward(x)
    return torch.stack([y == forward(x + step) for step in (-1000, -50, 50, 1000)]).all(0)


@wrong(check.erased, "deaf to a small step")
def one_more(forward, x):
    return (forward(x) == forward(x + 1)).all(-1)


@wrong(check.erased, "A gradient tells of small steps", card=True)
def by_gradient(forward, x):
    x = x.clone().requires_grad_()
    forward(x).sum().backward()
    return (x.grad == 0).all(dim=-1)


@wrong(check.erased, "deaf in one direction: torch.relu")
def downward(forward, x):
    return (forward(x) == forward(x - 50)).all(-1)


@wrong(check.erased, "deaf in one direction: torch.clamp(max=1)")
def upward(forward, x):
    return torch.isclose(forward(x), forward(x + 50)).all(-1)


@wrong(check.erased, "torch.abs does, at 0")
def up_against_down(forward, x):
    return (forward(x - 20) == forward(x + 20)).all(-1)


@wrong(check.erased, "Compare number by number.")
def sums(forward, x):
    total = forward(x).sum(-1)
    return (total == forward(x + 50).sum(-1)) & (total == forward(x - 50).sum(-1))


@wrong(check.erased, "may be an accident")
def zeros(forward, x):
    return (forward(x) == 0).all(-1)


@wrong(check.erased, "may be an accident")
def no_length(forward, x):
    return forward(x).norm(dim=-1) == 0


@wrong(check.erased, "need not be 0")
def zeros_twice(forward, x):
    outputs = torch.stack([forward(x), forward(x + 70), forward(x - 70)])
    return (outputs == 0).all(dim=0).all(dim=-1)


@wrong(check.erased, "One feature that stays")
def some_feature(forward, x):
    return same(forward, x).any(-1)


@wrong(check.erased, "One feature that stays")
def first_feature(forward, x):
    return same(forward, x)[..., 0]


@wrong(check.erased, "for the tokens that are left")
def left(forward, x):
    return ~same(forward, x).all(-1)


@wrong(check.erased, "A multiple of 0 is 0")
def doubled(forward, x):
    return (forward(x) == forward(2 * x)).all(-1)


@wrong(check.erased, "adds positions; one sum is 0, one word is 0", card=True)
def against_zeros(forward, x):
    return (forward(x) == forward(torch.zeros_like(x))).all(-1)


@wrong(check.erased, "may hold the numbers that you compare with")
def against_ones(forward, x):
    return (forward(x) == forward(torch.ones_like(x))).all(-1)


@wrong(check.erased, "adds positions; all numbers are 1")
def against_another_token(forward, x):
    return (forward(x) == forward(x.roll(1, dims=0))).all(-1)


@wrong(check.erased, "This is (batch, sequence).")
def batch_first(forward, x):
    return same(forward, x).all(-1).transpose(0, 1)


@wrong(check.erased, "One answer for each token")
def numbers(forward, x):
    return same(forward, x)


@wrong(check.erased, "compared with x itself")
def against_x(forward, x):
    return (forward(x) == x).all(-1)


# What a reader of positions sees


@wrong(check.reader, "The second is a variance.")
def variance(u, rate, entire):
    nu = rate / (1 - rate)
    energy = (u @ u).item()
    return energy, nu * (energy**2 if entire else (u**4).sum().item())


@wrong(check.reader, "With that, the mean stays.")
def plain_coins(u, rate, entire):
    energy = (u @ u).item()
    spread = energy**2 if entire else (u**4).sum().item()
    return (1 - rate) * energy, math.sqrt(rate * (1 - rate) * spread)


@wrong(check.reader, "The mean does not shrink")
def smaller_mean(u, rate, entire):
    energy = (u @ u).item()
    spread = energy**2 if entire else (u**4).sum().item()
    return (1 - rate) * energy, math.sqrt(rate / (1 - rate) * spread)


@wrong(check.reader, "a coin that is 0 or 1")
def bernoulli(u, rate, entire):
    energy = (u @ u).item()
    spread = energy**2 if entire else (u**4).sum().item()
    return energy, math.sqrt(rate * (1 - rate) * spread)


@wrong(check.reader, "not the rate")
def the_rate_itself(u, rate, entire):
    energy = (u @ u).item()
    spread = energy if entire else u.pow(4).sum().sqrt().item()
    return energy, math.sqrt(rate) * spread


@wrong(check.reader, "The root covers ν too")
def root_of_the_sum(u, rate, entire):
    nu, energy = rate / (1 - rate), (u @ u).item()
    return energy, nu * (energy if entire else u.pow(4).sum().sqrt().item())


@wrong(check.reader, "stands on its head")
def upside_down(u, rate, entire):
    energy = (u @ u).item()
    spread = energy if entire else u.pow(4).sum().sqrt().item()
    return energy, math.sqrt((1 - rate) / rate) * spread


@wrong(check.reader, "Number j enters the sum as")
def squares(u, rate, entire):
    energy = (u @ u).item()
    nu = rate / (1 - rate)
    return energy, math.sqrt(nu) * energy if entire else math.sqrt(nu * energy)


@wrong(check.reader, "nothing averages out")
def never_entire(u, rate, entire):
    return (u @ u).item(), (rate / (1 - rate) * u.pow(4).sum()).sqrt().item()


@wrong(check.reader, "the variances of the numbers add up")
def always_entire(u, rate, entire):
    energy = u.dot(u)
    return energy, energy * math.sqrt(rate / (1 - rate))


@wrong(check.reader, "the mean comes first")
def noise_first(u, rate, entire):
    energy = u.square().sum()
    spread = energy if entire else u.pow(4).sum().sqrt()
    return spread * math.sqrt(rate / (1 - rate)), energy


@wrong(check.reader, "A dot product is a sum.")
def averages(u, rate, entire):
    energy = u.square().mean()
    spread = energy if entire else u.pow(4).sum().sqrt() / len(u)
    return energy, spread * math.sqrt(rate / (1 - rate))


@wrong(check.reader, "Returns type float; 2 numbers are asked for")
def the_ratio(u, rate, entire):
    return math.sqrt((1 - rate) / rate)


# As much noise elsewhere


def dropped(token, position, placement):
    return {"token": token, "position": position, "independent": token + position}[placement]


@wrong(check.equal_noise, "on the position or the token only")
def two_thirds(rate, token, position, placement):
    odds = rate / (1 - rate) / {"token": 2 / 3, "position": 1 / 3, "independent": 1}[placement]
    return odds / (1 + odds)


@wrong(check.equal_noise, "not in proportion to the rate")
def proportional(rate, token, position, placement):
    return rate * (token + position) / dropped(token, position, placement)


@wrong(check.equal_noise, "This is ν.")
def still_nu(rate, token, position, placement):
    return rate / (1 - rate) * (token + position) / dropped(token, position, placement)


@wrong(check.equal_noise, "divide by the share")
def multiplied(rate, token, position, placement):
    nu = rate / (1 - rate) * dropped(token, position, placement) / (token + position)
    return nu / (1 + nu)


@wrong(check.equal_noise, "There is no root to take.")
def of_lengths(rate, token, position, placement):
    ratio = math.sqrt((token + position) / dropped(token, position, placement))
    return 1 - 1 / (1 + rate / (1 - rate) * ratio)


@wrong(check.equal_noise, "the chances equal that nothing is lost")
def chances(rate, token, position, placement):
    return 1 - (1 - rate) ** ((token + position) / dropped(token, position, placement))


@wrong(check.equal_noise, "falls on both parts: compare")
def against_the_other_part(rate, token, position, placement):
    nu = rate / (1 - rate)
    if placement == "position":
        nu *= token / position
    elif placement == "token":
        nu *= position / token
    return nu / (1 + nu)


@wrong(check.equal_noise, "This is for the token")
def for_the_token(rate, token, position, placement):
    nu = rate / (1 - rate) * (token + position) / token
    return nu / (1 + nu)


@wrong(check.equal_noise, "This is for the position")
def for_the_position(rate, token, position, placement):
    nu = rate / (1 - rate) * (token + position) / position
    return nu / (1 + nu)


@wrong(check.equal_noise, "on the position or the token only")
def positions_only(rate, token, position, placement):
    nu = rate / (1 - rate) * (1 if placement == "independent" else (token + position) / position)
    return nu / (1 + nu)


@wrong(check.equal_noise, "on the position or the token only")
def tokens_only(rate, token, position, placement):
    nu = rate / (1 - rate) * (1 if placement == "independent" else (token + position) / token)
    return nu / (1 + nu)


@wrong(check.equal_noise, "Token and position are exchanged.")
def swapped(rate, token, position, placement):
    nu = rate / (1 - rate) * (token + position) / dropped(position, token, placement)
    return nu / (1 + nu)


@wrong(check.equal_noise, "and so have the noise of the sum")
def two_cases(rate, token, position, placement):
    energy = token if placement == "token" else position
    nu = rate / (1 - rate) * (token + position) / energy
    return nu / (1 + nu)


@wrong(check.equal_noise, "Equal rates are not equal noise.")
def the_same(rate, token, position, placement):
    return rate
