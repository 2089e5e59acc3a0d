"""Wrong answers to the exercises of chapter 11."""

import math

import torch

from d2lpos.check import plumbing as check
from d2lpos.lab.synthetic import EQUALS, PAD, PLUS

from . import wrong

# A zigzag on several processors


@wrong(check.zigzag, "This is one plain part of the text.")
def contiguous(rank, ranks, length):
    size = length // ranks
    return torch.arange(rank * size, (rank + 1) * size)


@wrong(check.zigzag, "This is one plain part of the text.")
def two_neighbors(rank, ranks, length):
    chunks = torch.arange(length).chunk(2 * ranks)
    return torch.cat([chunks[2 * rank], chunks[2 * rank + 1]])


@wrong(check.zigzag, "These are places in the processor's own slice.")
def as_in_a_shorter_text(rank, ranks, length):
    return torch.arange(length)[: length // ranks]


@wrong(check.zigzag, "These tokens are dealt like cards.")
def striped(rank, ranks, length):
    return torch.arange(length)[rank::ranks]


@wrong(check.zigzag, "There are to be 2 · ranks chunks.")
def whole_parts(rank, ranks, length):
    chunks = torch.arange(length).chunk(ranks)
    return torch.cat([chunks[rank], chunks[-1 - rank]])


@wrong(check.zigzag, "The late chunk comes first.")
def from_both_ends(rank, ranks, length):
    chunks = torch.arange(length).chunk(2 * ranks)
    return torch.cat([chunks[2 * ranks - 1 - rank], chunks[rank]])


@wrong(check.zigzag, "The late chunk runs backward.")
def mirrored(rank, ranks, length):
    size = length // (2 * ranks)
    early = torch.arange(rank * size, (rank + 1) * size)
    return torch.cat([early, length - 1 - early])


@wrong(check.zigzag, "as far from the end as the first is from the beginning.")
def half_a_text_apart(rank, ranks, length):
    chunks = torch.arange(length).chunk(2 * ranks)
    return torch.cat([chunks[rank], chunks[rank + ranks]])


@wrong(check.zigzag, "fails 1 of 2 properties Property: an early chunk and a late one, in order")
@wrong(check.zigzag, "Only the first processor has the last chunk.")
def always_the_last(rank, ranks, length):
    chunks = torch.arange(length).chunk(2 * ranks)
    return torch.cat([chunks[rank], chunks[-1]])


@wrong(check.zigzag, "The second chunk is one too late.")
def counted_from_1(rank, ranks, length):
    size = length // (2 * ranks)
    early = rank * size + torch.arange(size)
    return torch.cat([early, early + 2 * (ranks - rank) * size])


@wrong(check.zigzag, "fails 1 of 2 properties Property: the first processor has both ends of the text")
@wrong(check.zigzag, "A slice that ends at −0")
def slices_from_the_end(rank, ranks, length):
    size = length // (2 * ranks)
    start, stop = rank * size, rank * size + size
    row = list(range(length))
    return torch.tensor(row[start:stop] + row[-stop:-start], dtype=torch.int64)


# Packed texts


def apart(cu_seqlens):
    """Which text each token is of."""
    lengths = cu_seqlens.diff()
    return torch.arange(len(lengths)).repeat_interleave(lengths)


def counted(cu_seqlens):
    return torch.cat([torch.arange(n) for n in cu_seqlens.diff().tolist()])


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def block_causal(cu_seqlens):
    blocks = [torch.ones(n, n) for n in cu_seqlens.diff().tolist()]
    return torch.block_diag(*blocks).tril().bool()


@wrong(check.packed, "fails 1 of 3 properties Property: positions begin again at 0 with each text")
@wrong(check.packed, "Positions go on from one text to the next.")
def one_long_row(cu_seqlens):
    return torch.arange(cu_seqlens[-1]), block_causal(cu_seqlens)


@wrong(check.packed, "Each text begins at 1.")
def first_token_at_1(cu_seqlens):
    return counted(cu_seqlens) + 1, block_causal(cu_seqlens)


@wrong(check.packed, "These are the numbers of the texts.")
def segments(cu_seqlens):
    return apart(cu_seqlens), block_causal(cu_seqlens)


@wrong(check.packed, "This is where each text begins.")
def begins(cu_seqlens):
    return cu_seqlens[:-1].repeat_interleave(cu_seqlens.diff()), block_causal(cu_seqlens)


@wrong(check.packed, "Positions count down")
def tokens_left(cu_seqlens):
    down = [torch.arange(n).flip(0) for n in cu_seqlens.diff().tolist()]
    return torch.cat(down), block_causal(cu_seqlens)


@wrong(check.packed, "Here this token still belongs to the text before it.")
def searched_from_the_left(cu_seqlens):
    here = torch.arange(cu_seqlens[-1])
    text = torch.searchsorted(cu_seqlens[1:].long(), here)
    return here - cu_seqlens[text], (text[:, None] == text) & causal(len(here))


@wrong(check.packed, "fails 1 of 3 properties Property: no query sees another text")
@wrong(check.packed, "The mask is causal, and knows of no texts.")
def fresh_positions_are_enough(cu_seqlens):
    return counted(cu_seqlens), causal(cu_seqlens[-1])


@wrong(check.packed, "The mask compares positions, which begin again.", card=True)
def causal_by_position(cu_seqlens):
    positions = counted(cu_seqlens)
    return positions, positions[:, None] >= positions


@wrong(check.packed, "fails 1 of 3 properties Property: of its own it sees itself and what came before")
@wrong(check.packed, "The mask keeps texts apart, but shows later tokens, too.")
def blocks_alone(cu_seqlens):
    text = apart(cu_seqlens)
    return counted(cu_seqlens), text[:, None] == text


@wrong(check.packed, "Rows of the mask are queries, columns are keys.")
def keys_in_rows(cu_seqlens):
    return counted(cu_seqlens), block_causal(cu_seqlens).T


@wrong(check.packed, "The mask is turned around")
def what_is_hidden(cu_seqlens):
    return counted(cu_seqlens), ~block_causal(cu_seqlens)


@wrong(check.packed, "A query sees itself, too.")
def strictly_before(cu_seqlens):
    return counted(cu_seqlens), block_causal(cu_seqlens).tril(-1)


@wrong(check.packed, "Two tensors are asked for: positions and mask")
def mask_alone(cu_seqlens):
    return block_causal(cu_seqlens)


@wrong(check.packed, "positions are (5,) here, the mask (5, 5)")
def a_batch_of_one(cu_seqlens):
    return counted(cu_seqlens)[None], block_causal(cu_seqlens)[None]


@wrong(check.packed, "Positions are torch.float32; whole numbers are asked for")
def positions_with_fractions(cu_seqlens):
    return counted(cu_seqlens).float(), block_causal(cu_seqlens)


@wrong(check.packed, "The mask is torch.float32; it is to be Boolean")
def as_a_bias(cu_seqlens):
    hidden = ~block_causal(cu_seqlens)
    return counted(cu_seqlens), torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)


# A tree in one pass


def lines(parents):
    """Each token's ancestors, from itself to the root."""
    found = []
    for token, parent in enumerate(parents.tolist()):
        found.append([token] if parent < 0 else [token, *found[parent]])
    return found


def depths(parents):
    return torch.tensor([len(line) - 1 for line in lines(parents)])


def ancestors(parents):
    mask = torch.zeros(len(parents), len(parents), dtype=torch.bool)
    for token, line in enumerate(lines(parents)):
        mask[token, line] = True
    return mask


@wrong(check.tree, "These are places in the row.")
def one_after_the_other(parents):
    return torch.arange(len(parents)), ancestors(parents)


@wrong(check.tree, "A root stands at 0, not at 1.")
def number_of_ancestors(parents):
    mask = ancestors(parents)
    return mask.sum(dim=-1), mask


@wrong(check.tree, "not behind the parent's index.")
def behind_the_index(parents):
    return parents + 1, ancestors(parents)


@wrong(check.tree, "fails 2 of 3 properties Property: a token sees itself and its ancestors alone")
@wrong(check.tree, "The mask is causal")
def a_plain_row(parents):
    return depths(parents), causal(len(parents))


@wrong(check.tree, "Tokens of the same depth, or of a lower one")
def causal_by_depth(parents):
    depth = depths(parents)
    return depth, depth[:, None] >= depth


@wrong(check.tree, "Tokens of the same depth, or of a lower one")
def all_that_are_nearer_to_the_root(parents):
    depth = depths(parents)
    return depth, (depth[:, None] > depth) | torch.eye(len(depth), dtype=torch.bool)


@wrong(check.tree, "Tokens of the same depth, or of a lower one")
def siblings_see_each_other(parents):
    depth = depths(parents)
    return depth, (depth[:, None] >= depth) & causal(len(depth))


@wrong(check.tree, "A token sees its descendants, too.")
def both_ways(parents):
    mask = ancestors(parents)
    return depths(parents), mask | mask.T


@wrong(check.tree, "Rows of the mask are queries, columns are keys")
def descendants(parents):
    return depths(parents), ancestors(parents).T


@wrong(check.tree, "The mask is turned around")
def strangers(parents):
    return depths(parents), ~ancestors(parents)


@wrong(check.tree, "Parents are seen, their own parents are not.")
def one_step_up(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    children = (parents >= 0).nonzero().flatten()
    mask[children, parents[children]] = True
    return depths(parents), mask


@wrong(check.tree, "A token sees itself, too.")
def ancestors_alone(parents):
    return depths(parents), ancestors(parents) & ~torch.eye(len(parents), dtype=torch.bool)


@wrong(check.tree, "−1 is no parent.")
def minus_one_as_an_index(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for token in range(len(parents)):
        mask[token] = mask[token] | mask[parents[token]]
    return depths(parents), mask


@wrong(check.tree, "fails 1 of 3 properties Property: several roots", card=True)
@wrong(check.tree, "−1 is no parent.")
def begins_behind_the_root(parents):
    depth = torch.zeros(len(parents), dtype=torch.int64)
    mask = torch.eye(len(parents), dtype=torch.bool)
    for token in range(1, len(parents)):
        parent = parents[token]
        depth[token] = depth[parent] + 1
        mask[token] |= mask[parent]
    return depth, mask


@wrong(check.tree, "Two trees are two drafts.")
def roots_see_what_came_before(parents):
    mask = ancestors(parents)
    for token in (parents < 0).nonzero().flatten():
        mask[token, :token] = True
    return depths(parents), mask


@wrong(check.tree, "fails 1 of 3 properties Property: positions are depths, from 0")
def begins_again_with_each_branch(parents):
    """Counts on where a token follows its parent in the row, and otherwise begins at the branch."""
    if (parents < 0).sum() > 1:
        return depths(parents), ancestors(parents)
    place = torch.zeros_like(parents)
    for token in range(1, len(parents)):
        if parents[token] == token - 1:
            place[token] = place[token - 1] + 1
    return place, ancestors(parents)


@wrong(check.tree, "fails 1 of 3 properties Property: a token sees itself and its ancestors alone")
def three_steps_up(parents):
    """Deep enough for the drafts at hand."""
    one = torch.zeros(len(parents), len(parents))
    children = (parents >= 0).nonzero().flatten()
    one[children, parents[children]] = 1
    up = torch.eye(len(parents)) + one + one @ one + one @ one @ one
    return depths(parents), up > 0


# Turns that commute


def parts(places, a, b):
    x, y = places[:, 0, None, None], places[:, 1, None, None]
    return x * a, y * b


@wrong(check.turns, "torch.exp takes each number by itself.")
def exp_of_numbers(places, a, b):
    return torch.exp(sum(parts(places, a, b)))


@wrong(check.turns, "fails 1 of 3 properties Property: generators that do not commute", card=True)
@wrong(check.turns, "Turns are multiplied one after the other.")
def x_then_y(places, a, b):
    xa, yb = parts(places, a, b)
    return torch.matrix_exp(xa) @ torch.matrix_exp(yb)


@wrong(check.turns, "Turns are multiplied one after the other.")
def y_then_x(places, a, b):
    turns = [torch.matrix_exp(y * b) @ torch.matrix_exp(x * a) for x, y in places]
    return torch.stack(turns)


@wrong(check.turns, "Turns are multiplied one after the other.")
def half_of_x_on_either_side(places, a, b):
    xa, yb = parts(places, a, b)
    half = torch.matrix_exp(0.5 * xa)
    return half @ torch.matrix_exp(yb) @ half


@wrong(check.turns, "Two turns are added.")
def sum_of_turns(places, a, b):
    xa, yb = parts(places, a, b)
    return torch.matrix_exp(xa) + torch.matrix_exp(yb)


@wrong(check.turns, "Two turns are added.")
def mean_of_turns(places, a, b):
    return torch.stack([torch.matrix_exp(part) for part in parts(places, a, b)]).mean(dim=0)


@wrong(check.turns, "These turn the other way")
def transposed(places, a, b):
    return torch.matrix_exp(sum(parts(places, a, b))).mT


@wrong(check.turns, "x belongs to a, y to b.")
def column_before_row(places, a, b):
    y, x = places[..., None, None].unbind(dim=1)
    return torch.matrix_exp(x * a + y * b)


@wrong(check.turns, "The generators are multiplied.")
def product_of_generators(places, a, b):
    xa, yb = parts(places, a, b)
    return torch.matrix_exp(xa @ yb)


@wrong(check.turns, "y is missing.")
def first_axis_alone(places, a, b):
    return torch.matrix_exp(places[:, :1, None] * a)


@wrong(check.turns, "the exponential is missing.")
def generators_alone(places, a, b):
    return torch.einsum("nc,cij->nij", places, torch.stack([a, b]))


@wrong(check.turns, "the exponential is missing.")
def first_order(places, a, b):
    return torch.eye(len(a)) + sum(parts(places, a, b))


@wrong(check.turns, "fails 1 of 3 properties Property: turns by many radians")
@wrong(check.turns, "A series of so few terms is too short for a large angle.")
def twenty_terms(places, a, b):
    step = sum(parts(places, a, b))
    power, total = torch.eye(len(a)), torch.zeros_like(step)
    for n in range(20):
        total = total + power / math.factorial(n)
        power = power @ step
    return total


@wrong(check.turns, "These are turns, by Cayley's formula")
def by_cayley(places, a, b):
    step = sum(parts(places, a, b))
    one = torch.eye(len(a))
    return (one + step / 2) @ torch.linalg.inv(one - step / 2)


@wrong(check.turns, "fails 1 of 3 properties Property: generators that commute")
def by_rodrigues(places, a, b):
    """In three dimensions there is a formula: sine and cosine of the angle, and no series."""
    step = sum(parts(places, a, b))
    angle = (step.square().sum(dim=(1, 2), keepdim=True) / 2).sqrt()
    sine = torch.sinc(angle / torch.pi)
    half = torch.sinc(angle / 2 / torch.pi)
    return torch.eye(len(a)) + sine * step + half.square() / 2 * step @ step


wrong(check.turns.answers[0], "Two axes may share a plane.")(["axial"])
wrong(check.turns.answers[0], "Where each axis has planes of its own")(["mixed"])
wrong(check.turns.answers[0], "Turn a ball about one axis, then about another.")(["axial", "lie"])
wrong(check.turns.answers[0], "Expected 2 entries, got 3")(["axial", "mixed", "lie"])


# Couple the digits


def by_rows(ids, tokens):
    return torch.tensor([ids(row) for row in tokens.tolist()])


def numbers(row):
    """The digits of the three numbers of a row, and how many pads follow."""
    plus, equals = row.index(PLUS), row.index(EQUALS)
    digits = [one for one in row[equals + 1 :] if one != PAD]
    return row[:plus], row[plus + 1 : equals], digits, row.count(PAD)


def laid_out(a, b, total, pads):
    return [*a, 0, *b, 0, *total, *[0] * pads]


def up(digits):
    return list(range(1, len(digits) + 1))


def ids_of(row):
    a, b, total, pads = numbers(row)
    return laid_out(up(a), up(b), up(total), pads)


@wrong(check.couple, "These are places in the row")
def usual_positions(tokens):
    return torch.arange(tokens.shape[1]).repeat(len(tokens), 1)


@wrong(check.couple, "These are places in the row")
def usual_positions_from_1(tokens):
    return torch.ones_like(tokens).cumsum(dim=1)


@wrong(check.couple, "fails 1 of 2 properties Property: digits of one place have one id")
@wrong(check.couple, "The ones have the id 1.")
def ones_have_0(tokens):
    return torch.relu(by_rows(ids_of, tokens) - 1)


@wrong(check.couple, "These are the digits themselves.")
def values(tokens):
    return torch.where(tokens < PLUS, tokens + 1, 0)


@wrong(check.couple, "ids rise from the left to the right.")
def highest_first(tokens):
    def ids(row):
        a, b, total, pads = numbers(row)
        return laid_out(up(a)[::-1], up(b)[::-1], up(total)[::-1], pads)

    return by_rows(ids, tokens)


@wrong(check.couple, "The sum, too, is written lowest digit first.")
def sum_highest_first(tokens):
    def ids(row):
        a, b, total, pads = numbers(row)
        return laid_out(up(a), up(b), up(total)[::-1], pads)

    return by_rows(ids, tokens)


@wrong(check.couple, "The sum has ids of its own.")
def terms_alone(tokens):
    def ids(row):
        a, b, total, pads = numbers(row)
        return laid_out(up(a), up(b), [len(a) + one for one in up(total)], pads)

    return by_rows(ids, tokens)


@wrong(check.couple, "This counts digits through the whole row.")
def never_begun_again(tokens):
    digit = (tokens < PLUS).long()
    return digit.cumsum(dim=1) * digit


@wrong(check.couple, "This is which number it is.")
def which_number(tokens):
    sign = (tokens == PLUS) | (tokens == EQUALS)
    return (sign.cumsum(dim=1) + 1).masked_fill(tokens >= PLUS, 0)


@wrong(check.couple, "Numbers of other rows may have other lengths.")
def laid_out_as_the_first(tokens):
    return torch.tensor(ids_of(tokens[0].tolist())).repeat(len(tokens), 1)


@wrong(check.couple, "fails 1 of 2 properties Property: plus, equals and pads have 0")
@wrong(check.couple, "A sign has 0.")
def signs_counted(tokens):
    def ids(row):
        a, b, total, pads = numbers(row)
        return [*up([*a, PLUS]), *up([*b, EQUALS]), *up(total), *[0] * pads]

    return by_rows(ids, tokens)


@wrong(check.couple, "A pad has 0.")
def pads_counted(tokens):
    sign = (tokens == PLUS) | (tokens == EQUALS)
    here = torch.arange(tokens.shape[1]).expand_as(tokens)
    last = torch.where(sign, here, -1).cummax(dim=1).values
    return here - last


@wrong(check.couple, "Expected dtype torch.int64, got torch.float32")
def ids_with_fractions(tokens):
    return by_rows(ids_of, tokens).float()
