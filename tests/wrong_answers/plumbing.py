"""Wrong answers to the exercises of chapter 11."""


import torch

from d2lpos.check import plumbing as check

from . import wrong

# A zigzag on several processors


wrong(check.zigzag, "These are places in the processor's own slice.")(
    lambda rank, ranks, length: torch.arange(length)[: length // ranks]
)


# Packed texts


def counted(cu_seqlens):
    return torch.cat([torch.arange(n) for n in cu_seqlens.diff().tolist()])


def block_causal(cu_seqlens):
    blocks = [torch.ones(n, n) for n in cu_seqlens.diff().tolist()]
    return torch.block_diag(*blocks).tril().bool()


wrong(check.packed, "Each text begins at 1.")(
    lambda cu_seqlens: (counted(cu_seqlens) + 1, block_causal(cu_seqlens))
)
wrong(check.packed, "Two tensors are asked for: positions and mask")(
    lambda cu_seqlens: block_causal(cu_seqlens)
)
wrong(check.packed, "positions are (5,) here, the mask (5, 5)")(
    lambda cu_seqlens: (counted(cu_seqlens)[None], block_causal(cu_seqlens)[None])
)


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


wrong(check.tree, "These are places in the row.")(
    lambda parents: (torch.arange(len(parents)), ancestors(parents))
)


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


wrong(check.turns, "torch.exp takes each number by itself.")(
    lambda places, a, b: torch.exp(sum(parts(places, a, b)))
)


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


# Couple the digits


def up(digits):
    return list(range(1, len(digits) + 1))


wrong(check.couple, "These are places in the row")(
    lambda tokens: torch.arange(tokens.shape[1]).repeat(len(tokens), 1)
)


# Keys in few bits


@wrong(check.levels, "A number goes to the nearest level")
def cut_off(keys, bits, group):
    rows = []
    for start in range(0, len(keys), group):
        part = keys[start : start + group].clone()
        if len(part) == group:
            low, step = part.min(dim=0).values, (part.max(dim=0).values - part.min(dim=0).values) / (2**bits - 1)
            part = low + torch.nan_to_num((part - low) / step).int() * step
        rows.append(part)
    return torch.cat(rows)


# Where the next drafts stand


@wrong(check.next_round, "The counter still counts tokens that were not accepted.")
def never_rolled_back(length, accepted, drafted):
    counter = length + drafted
    return length + accepted, counter.unsqueeze(1) + torch.arange(1, drafted + 1)


wrong(check.next_round, "Two tensors are asked for: kept and positions")(
    lambda length, accepted, drafted: (length + accepted)[:, None] + 1 + torch.arange(drafted)
)


@wrong(check.next_round, "kept is to be a tensor of whole numbers")
def kept_as_a_list(length, accepted, drafted):
    return (length + accepted).tolist(), (length + accepted)[:, None] + 1 + torch.arange(drafted)


wrong(check.next_round, "Returns positions of shape")(
    lambda length, accepted, drafted: (length + accepted, (length + accepted)[0] + 1 + torch.arange(drafted))
)


# What two requests may share


@wrong(check.shared, "compare them by ==")
def one_and_the_same(old, new, block, adapters):
    return check.shared.reference(old, new, block, (None, None)) if adapters[0] is adapters[1] else 0


# Documents in one row


@wrong(check.joined, "the prompt takes them up")
def first_of_the_row(prompt, lengths, first, question):
    found = [-1] * prompt
    for length in lengths:
        start = len(found)
        found += [-1 if prompt + place < first else start for place in range(length)]
    return torch.tensor(found + [-1] * question)


@wrong(check.joined, "fails 1 of 2 properties Property: kept keys turn on to their places")
def as_long_as_the_first(prompt, lengths, first, question):
    parts = [torch.full((prompt,), -1)]
    for number, length in enumerate(lengths):
        by = torch.full((length,), prompt + number * lengths[0])
        by[:first] = -1
        parts.append(by)
    return torch.cat([*parts, torch.full((question,), -1)])


# How often a key turns


@wrong(check.turned, "do not turn")
def everything_moves(capacity, keep, discard, n):
    counts = []
    for _ in range(n):
        if len(counts) == capacity:
            del counts[keep : keep + discard]
            counts = [count + 1 for count in counts]
        counts.append(0)
    return counts


wrong(check.turned.answers[1], "no key turns into them")(4095)
