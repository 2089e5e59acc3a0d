"""Wrong answers to the exercises of chapter 1."""

from itertools import permutations
from math import sqrt

import torch
import torch.nn.functional as F

from d2lpos.check import permutation as check

from . import wrong

# Which layers commute

RIGHT = {
    "layer norm": True,
    "feed-forward": True,
    "residual sum": True,
    "batch norm over tokens": True,
    "subtract the mean token": True,
    "cumulative sum": False,
    "convolution of width 3": False,
    "sort tokens by first feature": False,
}
wrong(check.layers, "Layer norm treats each token by itself.")(RIGHT | {"layer norm": False})
wrong(check.layers, "A feed-forward layer treats each token by itself.")(RIGHT | {"feed-forward": False})
wrong(check.layers, "because both of its terms do")(RIGHT | {"residual sum": False})
wrong(check.layers, "The mean and the deviation")(RIGHT | {"batch norm over tokens": False})
wrong(check.layers, "The mean token is the same")(RIGHT | {"subtract the mean token": False})
wrong(check.layers, "A cumulative sum adds the tokens before.")(RIGHT | {"cumulative sum": True})
wrong(check.layers, "A convolution adds the neighbors.")(RIGHT | {"convolution of width 3": True})
wrong(check.layers, "That is invariant")(RIGHT | {"sort tokens by first feature": True})
wrong(check.layers, "Expected type bool, got type str")(RIGHT | {"layer norm": "yes"})
wrong(check.layers, "Raises KeyError: 'layer norm'")({})

# Attention


@wrong(check.attention, "The logits are not divided by √d.")
def no_scale(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


@wrong(check.attention, "divided by d instead of √d")
def scale_by_d(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1) / q.size(-1), dim=-1) @ v


@wrong(check.attention, "divided by √T")
def scale_by_queries(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1) / sqrt(q.size(-2)), dim=-1) @ v


@wrong(check.attention, "The scale takes the width of v.")
def scale_by_width_of_values(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1) / sqrt(v.size(-1)), dim=-1) @ v


@wrong(check.attention, "The softmax runs over the queries")
def softmax_over_queries(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1) / sqrt(q.size(-1)), dim=-2) @ v


@wrong(check.attention, "The division by √d comes after the softmax.")
def scale_after_softmax(q, k, v):
    weights = F.softmax(q @ k.transpose(-2, -1), dim=-1)
    return weights @ v / sqrt(q.size(-1))


@wrong(check.attention, "The keys are not transposed")
def no_transpose(q, k, v):
    return F.softmax(torch.matmul(q, k) / sqrt(q.size(-1)), dim=-1) @ v


@wrong(check.attention, "never go through exp")
def no_exponential(q, k, v):
    logits = torch.einsum("...td,...sd->...ts", q, k) / sqrt(q.size(-1))
    return (logits / logits.sum(-1, keepdim=True)) @ v


@wrong(check.attention, "The sum lost its axis")
def sum_without_its_axis(q, k, v):
    logits = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    e = torch.exp(logits - logits.max())
    return e / e.sum(-1) @ v


@wrong(check.attention, "Rows are queries")
def keys_as_rows(q, k, v):
    return F.softmax(k @ q.transpose(-2, -1) / sqrt(q.size(-1)), dim=-1) @ v


@wrong(check.attention, "Expected shape (3, 2), got (3, 5) Hint: These are the weights.")
def forgets_the_values(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1) / sqrt(q.size(-1)), dim=-1)


@wrong(check.attention, "The exponential of a large logit is infinite.", card=True)
def overflow(q, k, v):
    exponentials = torch.exp(torch.einsum("...td,...sd->...ts", q, k) / sqrt(q.size(-1)))
    return exponentials @ v / exponentials.sum(-1, keepdim=True)


@wrong(check.attention, "Exactly one batch dimension is expected.")
def one_batch_dimension(q, k, v):
    weights = F.softmax(torch.bmm(q, k.transpose(1, 2)) / sqrt(q.size(-1)), dim=-1)
    return torch.bmm(weights, v)


@wrong(check.attention, "Dimensions 0 and 1 are the last two only without a batch.")
def no_batch_dimension(q, k, v):
    return F.softmax(q @ k.transpose(0, 1) / sqrt(q.size(1)), dim=1) @ v


@wrong(check.attention, "Input: q = [[[0.0, 0.25, 0.5, 0.75], [1.0,")
def no_or_two_dimensions_in_front(q, k, v):
    keys = k.T if k.dim() == 2 else k.permute(0, 1, 3, 2)
    return F.softmax(q @ keys / sqrt(q.size(-1)), dim=-1) @ v


@wrong(check.attention, "Input: q (2, 2, 3, 5, 4)")
def up_to_two_dimensions_in_front(q, k, v):
    axes = {2: (1, 0), 3: (0, 2, 1), 4: (0, 1, 3, 2)}[k.dim()]
    return F.softmax(q @ k.permute(axes) / sqrt(q.size(-1)), dim=-1) @ v


@wrong(check.attention, "k (2, 5, 4), v = [[[0.0, 0.25]")
def values_as_wide_as_queries_in_a_batch(q, k, v):
    if q.dim() == 2:
        return F.softmax(q @ k.T / sqrt(q.size(-1)), dim=-1) @ v
    out = torch.empty_like(q)
    for b in range(len(q)):
        out[b] = values_as_wide_as_queries_in_a_batch(q[b], k[b], v[b])
    return out


@wrong(check.attention, "The softmax needs dim=-1.")
def softmax_over_dimension_1(q, k, v):
    return F.softmax(q @ k.transpose(-2, -1) / sqrt(q.size(-1)), dim=1) @ v


@wrong(check.attention, "squeeze drops a dimension", card=True)
def squeezed(q, k, v):
    logits = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / sqrt(q.size(-1))
    return (F.softmax(logits, dim=-1) @ v).squeeze()


@wrong(check.attention, "Changes its argument q in place")
def scales_queries_in_place(q, k, v):
    q /= sqrt(q.size(-1))
    return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


@wrong(check.attention, "The result is in float32, whatever came in.")
def in_float32(q, k, v):
    return F.scaled_dot_product_attention(*(x.to(torch.float32) for x in (q, k, v)))


@wrong(check.attention, "Property: in the dtype of the input Input: q, k, v in float64")
def computed_in_float32(q, k, v):
    return in_float32(q, k, v).type_as(v)


@wrong(check.attention, "Returns something else when called again")
def drops_out(q, k, v):
    weights = F.dropout(F.softmax(q @ k.transpose(-2, -1) / sqrt(q.size(-1)), dim=-1))
    return weights @ v


@wrong(check.attention, "is a return missing?")
def returns_nothing(q, k, v):
    F.softmax(q @ k.transpose(-2, -1) / sqrt(q.size(-1)), dim=-1) @ v


# Is a layer equivariant?


@wrong(check.is_equivariant, "is invariance")
def invariant(f, x, order):
    return torch.allclose(f(x[order]), f(x), atol=1e-6)


@wrong(check.is_equivariant, "Only the result is permuted.")
def permutes_the_result(f, x, order):
    return torch.allclose(f(x)[order], f(x), atol=1e-6)


@wrong(check.is_equivariant, "One side takes the inverse order.")
def inverse_on_one_side(f, x, order):
    unshuffled = torch.empty_like(f(x))
    unshuffled[order] = f(x)
    return torch.allclose(f(x[order]), unshuffled, atol=1e-6)


@wrong(check.is_equivariant, "The order permutes the features.")
def permutes_features(f, x, order):
    return torch.allclose(f(x[:, order]), f(x)[:, order], atol=1e-6)


@wrong(check.is_equivariant, "Compare them token by token.")
def compares_means(f, x, order):
    return torch.allclose(f(x[order]).mean(0), f(x)[order].mean(0), atol=1e-6)


@wrong(check.is_equivariant, "Each token is reduced to one number")
def compares_lengths(f, x, order):
    return torch.allclose(f(x[order]).pow(2).sum(-1).sqrt(), f(x)[order].pow(2).sum(-1).sqrt(), atol=1e-6)


@wrong(check.is_equivariant, "Each token is reduced to one number")
def compares_sums_of_features(f, x, order):
    return torch.allclose(f(x[order]).sum(-1), f(x)[order].sum(-1), atol=1e-6)


@wrong(check.is_equivariant, "f is a swap of the features at odd places")
def compares_absolute_values(f, x, order):
    return torch.allclose(f(x[order]).abs(), f(x)[order].abs(), atol=1e-6)


@wrong(check.is_equivariant, "Only some tokens are compared.")
def first_token_only(f, x, order):
    return torch.allclose(f(x[order])[0], f(x)[order[0]], atol=1e-6)


@wrong(check.is_equivariant, "Only some tokens are compared.")
def last_token_only(f, x, order):
    return torch.allclose(f(x[order])[-1], f(x)[order[-1]], atol=1e-6)


@wrong(check.is_equivariant, "Only some tokens are compared.")
def first_two_tokens_only(f, x, order):
    return all(torch.allclose(f(x[order])[t], f(x)[order[t]], atol=1e-6) for t in range(2))


@wrong(check.is_equivariant, "Some numbers are not compared.")
def middle_token_only(f, x, order):
    t = len(x) // 2
    return torch.allclose(f(x[order])[t], f(x)[order[t]], atol=1e-6)


@wrong(check.is_equivariant, "Some numbers are not compared.")
def first_feature_only(f, x, order):
    return torch.allclose(f(x[order])[:, 0], f(x)[order, 0], atol=1e-6)


@wrong(check.is_equivariant, "f is token 1 added to token 2")
def all_but_the_last_token(f, x, order):
    return torch.allclose(f(x[order])[:-1], f(x)[order[:-1]], atol=1e-5)


@wrong(check.is_equivariant, "f is token 1 added to token 0")
def all_but_the_first_token(f, x, order):
    return torch.allclose(f(x[order])[1:], f(x)[order[1:]], atol=1e-5)


@wrong(check.is_equivariant, "The tolerance is so loose")
def rounded_to_tenths(f, x, order):
    return torch.equal(f(x[order]).round(decimals=1), f(x)[order].round(decimals=1))


@wrong(check.is_equivariant, "Another order is tried")
def rotated(f, x, order):
    return torch.allclose(f(x.roll(-1, 0)), f(x).roll(-1, 0), atol=1e-5)


@wrong(check.is_equivariant, "f is 1 added to the first feature of token 2")
def last_feature_only(f, x, order):
    return torch.allclose(f(x[order])[:, -1], f(x)[order, -1], atol=1e-6)


@wrong(check.is_equivariant, "f is tried on other tokens.")
def other_tokens(f, x, order):
    x = torch.randn(*x.shape)
    return torch.allclose(f(x[order]), f(x)[order], atol=1e-5)


@wrong(check.is_equivariant, "The comparison is exact.")
def exact(f, x, order):
    return bool((f(x[order]) == f(x)[order]).all())


@wrong(check.is_equivariant, "next to 0 it forgives nothing")
def default_tolerance(f, x, order):
    return torch.isclose(f(x)[order], f(x[order])).all().item()


@wrong(check.is_equivariant, "next to 0 it forgives nothing")
def relative_tolerance(f, x, order):
    return torch.allclose(f(x[order]), f(x)[order], rtol=1e-4, atol=0)


@wrong(check.is_equivariant, "The tolerance is so loose")
def loose(f, x, order):
    return bool((f(x[order]) - f(x)[order]).abs().max() < 0.1)


@wrong(check.is_equivariant, "The tolerance is so loose")
def loose_by_little(f, x, order):
    return torch.allclose(f(x[order]), f(x)[order], rtol=0, atol=3e-3)


@wrong(check.is_equivariant, "Property: True where f commutes, False where it does not")
def no_absolute_value(f, x, order):
    return (f(x[order]) - f(x)[order]).max().item() < 1e-5


@wrong(check.is_equivariant, "Property: True where f commutes, False where it does not")
def no_absolute_value_the_other_way(f, x, order):
    return (f(x)[order] - f(x[order])).max().item() < 1e-5


@wrong(check.is_equivariant, "Another order is tried, or all of them.")
def tries_all_orders(f, x, order):
    orders = [list(o) for o in permutations(range(x.size(0)))]
    return all(torch.allclose(f(x[o]), f(x)[o], atol=1e-6) for o in orders)


@wrong(check.is_equivariant, "The result is a tensor.")
def returns_a_tensor(f, x, order):
    return ((f(x[order]) - f(x)[order]).abs() < 1e-5).all()


@wrong(check.is_equivariant, "Changes its argument x in place")
def permutes_in_place(f, x, order):
    before = f(x)
    x[:] = x[order]
    return torch.allclose(f(x), before[order])


# Masks


@wrong(check.permute_mask, "The mask is unchanged")
def unchanged(mask, order):
    return mask.clone()


@wrong(check.permute_mask, "Only the keys are permuted.")
def keys_only(mask, order):
    return torch.index_select(mask, -1, order)


@wrong(check.permute_mask, "Only the queries are permuted.")
def queries_only(mask, order):
    return torch.index_select(mask, -2, order)


@wrong(check.permute_mask, "This is the inverse order.")
def inverse(mask, order):
    permuted = torch.empty_like(mask)
    permuted[..., order[:, None], order] = mask
    return permuted


@wrong(check.permute_mask, "order = [2, 0, 3, 1]")
def rolled(mask, order):
    by = -int(order[0])
    return mask.roll((by, by), (-2, -1))


@wrong(check.permute_mask, "The mask is transposed")
def transposed(mask, order):
    return mask[..., order, order[:, None]]


@wrong(check.permute_mask, "The order permutes the first two dimensions.", card=True)
def first_dimensions(mask, order):
    return mask[order[:, None], order]


@wrong(check.permute_mask, "The dimensions are counted from the front.")
def only_with_heads(mask, order):
    return mask[:, :, order][:, :, :, order]


@wrong(check.permute_mask, "Raises IndexError: Dimension out of range")
def at_least_one_dimension_in_front(mask, order):
    return mask.flatten(0, -3)[:, order][:, :, order].view_as(mask)


@wrong(check.permute_mask, "Input: mask (3, 3, 3)")
def one_mask_or_with_heads(mask, order):
    if mask.dim() == 2:
        return mask[order][:, order]
    return mask[:, :, order][:, :, :, order]


@wrong(check.permute_mask, "Input: mask (4, 3, 3)")
def length_of_the_batch(mask, order):
    permuted = mask.clone()
    for i in range(len(mask)):
        for j in range(len(mask)):
            permuted[..., i, j] = mask[..., order[i], order[j]]
    return permuted


@wrong(check.permute_mask, "pick pairs, here the diagonal")
def both_indices_at_once(mask, order):
    return mask[..., order, order]


@wrong(check.permute_mask, "pick pairs, here the diagonal")
def both_indices_of_one_mask(mask, order):
    return mask[order, order]


@wrong(check.permute_mask, "It must stay Boolean.")
def numbers(mask, order):
    permutation = torch.eye(len(order))[order]
    return permutation @ mask.float() @ permutation.T


# Symmetries of a bias


def all_orders(bias):
    return permutations(range(len(bias)))


@wrong(check.symmetries, "A tuple indexes several axes at once.")
def tuples_as_indices(bias):
    found = []
    for order in all_orders(bias):
        change = bias[order][:, order] - bias
        if torch.allclose(change, change[:, :1], atol=1e-5):
            found.append(order)
    return found


@wrong(check.symmetries, "pick pairs, here the diagonal")
def both_axes_at_once(bias):
    changes = {order: bias[list(order), list(order)] - bias for order in all_orders(bias)}
    return [order for order, change in changes.items() if torch.allclose(change, change[:, :1], atol=1e-5)]


@wrong(check.symmetries, "Only one axis is permuted.")
def rows_only(bias):
    changes = {order: bias[list(order)] - bias for order in all_orders(bias)}
    return [order for order, change in changes.items() if torch.allclose(change, change[:, :1], atol=1e-5)]


@wrong(check.symmetries, "Only one axis is permuted.")
def columns_only(bias):
    changes = {order: bias[:, list(order)] - bias for order in all_orders(bias)}
    return [order for order, change in changes.items() if torch.allclose(change, change[:, :1], atol=1e-5)]


@wrong(check.symmetries, "The two axes take opposite orders.")
def opposite_orders(bias):
    found = []
    for order in all_orders(bias):
        inverse = [order.index(token) for token in range(len(order))]
        change = bias[list(order)][:, inverse] - bias
        if torch.allclose(change, change[:, :1], rtol=0, atol=1e-5):
            found.append(order)
    return found


@wrong(check.symmetries, "Softmax allows more")
def same_bias(bias):
    return [o for o in all_orders(bias) if torch.allclose(bias[list(o)][:, list(o)], bias, atol=1e-5)]


@wrong(check.symmetries, "A constant along each column is ignored.")
def constant_columns(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [order for order, change in changes.items() if torch.allclose(change, change[:1], atol=1e-5)]


@wrong(check.symmetries, "The tolerance grows with the row's constant")
def tolerance_beside_the_constant(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [order for order, change in changes.items() if torch.allclose(change, change[:, :1], atol=1e-5)]


@wrong(check.symmetries, "The tolerance grows with the row's constant")
def default_tolerance_of_a_change(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [order for order, change in changes.items() if torch.allclose(change, change[:, :1])]


@wrong(check.symmetries, "A rounding error looks like a change.")
def exact_symmetry(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [order for order, change in changes.items() if torch.equal(change, change[:, :1].expand_as(bias))]


@wrong(check.symmetries, "bias[i, j] = −|i − j|/1000")
def loose_symmetry(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [o for o, change in changes.items() if torch.allclose(change, change[:, :1], rtol=0, atol=0.05)]


@wrong(check.symmetries, "Expected type list, got type generator")
def as_a_generator(bias):
    for order in all_orders(bias):
        change = bias[list(order)][:, list(order)] - bias
        if torch.allclose(change, change[:, :1], rtol=0, atol=1e-5):
            yield order


@wrong(check.symmetries, "The identity is missing.")
def no_identity(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in list(all_orders(bias))[1:]}
    return [o for o, change in changes.items() if torch.allclose(change, change[:, :1], rtol=0, atol=1e-5)]


@wrong(check.symmetries, "Return the list.")
def counts(bias):
    changes = [bias[list(o)][:, list(o)] - bias for o in all_orders(bias)]
    return sum(torch.allclose(change, change[:, :1], atol=1e-5) for change in changes)


@wrong(check.symmetries, "Expected type list, got type set Hint: This is a set. Return a list of tuples.")
def as_a_set(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return {order for order, change in changes.items() if torch.allclose(change, change[:, :1], atol=1e-5)}


@wrong(check.symmetries, "got one of list Hint: These are lists. Return a list of tuples.")
def lists(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [
        list(order) for order, change in changes.items() if torch.allclose(change, change[:, :1], atol=1e-5)
    ]


@wrong(check.symmetries, "Returns something else when called again")
def guesses(bias):
    return [tuple(torch.randperm(len(bias)).tolist())]


# Positions out of a causal mean


@wrong(check.recover_positions, "This counts from 1")
def from_one(tokens, causal_mean):
    return torch.round(1 / causal_mean((tokens == 0).float())).long()


@wrong(check.recover_positions, "The positions are floats.")
def floats(tokens, causal_mean):
    share = causal_mean((tokens == 0).float())
    return (1 - share) / share


@wrong(check.recover_positions, ".long() cuts off", card=True)
def cut_off(tokens, causal_mean):
    return (1 / causal_mean((tokens == 0).float()) - 1).long()


@wrong(check.recover_positions, "not yet the position")
def shares(tokens, causal_mean):
    return causal_mean(torch.where(tokens == 0, 1.0, 0.0))


@wrong(check.recover_positions, "The mean of the token ids depends on the text.")
def averages_ids(tokens, causal_mean):
    return (1 / causal_mean(tokens.float()) - 1).round().long()


@wrong(check.recover_positions, "squeeze drops a dimension")
def squeezed_positions(tokens, causal_mean):
    share = causal_mean((tokens == 0).float().unsqueeze(-1)).squeeze()
    return (1 / share - 1).round().long()


@wrong(check.recover_positions, "attention did not find them")
def counts_without_attention(tokens, causal_mean):
    return torch.arange(len(tokens))


@wrong(check.recover_positions, "attention did not find them")
def sums_without_attention(tokens, causal_mean):
    return torch.ones_like(tokens).cumsum(0) - 1


@wrong(check.recover_positions, "attention did not find them")
def counts_what_comes_out(tokens, causal_mean):
    return causal_mean(torch.ones(len(tokens))).cumsum(0).round().long() - 1


@wrong(check.recover_positions, "The share only tells the first token from the others.")
def counts_shares_below_one(tokens, causal_mean):
    return (causal_mean((tokens == 0).float()) < 1).long().cumsum(0)


@wrong(check.recover_positions, "The share only tells the first token from the others.")
def counts_where_the_share_is_below_one(tokens, causal_mean):
    return torch.arange(len(tokens)) * (causal_mean((tokens == 0).float()) < 1)


@wrong(check.recover_positions, "These values know the position already.")
def brings_positions(tokens, causal_mean):
    return causal_mean(torch.arange(len(tokens)).float()).mul(2).round().long()


@wrong(check.recover_positions, "Gives causal_mean different values for equal tokens")
def brings_squares(tokens, causal_mean):
    squares = torch.arange(len(tokens)).float() ** 2
    sums = causal_mean(squares) * 6  # t (2t + 1)
    return ((torch.sqrt(1 + 8 * sums) - 1) / 4).round().long()


@wrong(check.recover_positions, "attention did not find them")
def asks_and_forgets(tokens, causal_mean):
    causal_mean((tokens == 0).float())
    return torch.tensor(range(len(tokens)))


wrong(check.symmetries.answers[0], "so the softmax does not see it")(1)
wrong(check.symmetries.answers[0], "so the softmax does not see it")(2)
wrong(check.symmetries.answers[0], "The tokens have 4! orders.")(256)
