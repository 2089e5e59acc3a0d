"""The checks of chapter 11: who holds which part of a text, packed texts, a tree of drafts, turns in two axes, digits."""

from collections.abc import Callable

import torch
from torch import Tensor

from .cases import either
from .verdict import Answer, Case, Check, Misconduct, call, nothing

# A zigzag on several processors -----------------------------------------------------------------------------


def chunks_of(rank: int, ranks: int, length: int) -> Tensor:
    return torch.arange(length).view(2 * ranks, -1)[[rank, 2 * ranks - 1 - rank]].flatten()


def held(chunks: Callable, parts: int = 2, turn: Callable = lambda second: second) -> Callable:
    """As the right answer, of parts · ranks chunks those that chunks(rank, ranks) names; turn is done to the second."""

    def answer(rank: int, ranks: int, length: int) -> Tensor:
        size = length // (parts * ranks)
        first, second = (n * size + torch.arange(size) for n in chunks(rank, ranks))
        return torch.cat([first, turn(second)])

    return answer


def plain_part(rank: int, ranks: int, length: int) -> Tensor:
    return torch.arange(length).chunk(ranks)[rank]


def cut_from_the_end(rank: int, ranks: int, length: int) -> Tensor:
    """A slice that ends at −0 is empty."""
    row, size = torch.arange(length), length // (2 * ranks)
    return torch.cat([row[rank * size : (rank + 1) * size], row[-(rank + 1) * size : -rank * size]])


def zigzag_cases(*given: tuple[int, int, int]) -> list[Case]:
    return [either(call(rank=rank, ranks=ranks, length=length), torch.int64) for rank, ranks, length in given]


zigzag = Check(
    "zigzag",
    reference=chunks_of,
    properties={
        "an early chunk and a late one, in order": zigzag_cases(
            (1, 4, 24), (2, 4, 24), (3, 4, 24), (1, 2, 12), (2, 3, 6), (5, 8, 64)
        ),
        "the first processor has both ends of the text": zigzag_cases((0, 4, 24), (0, 2, 12), (0, 1, 6)),
    },
    mistakes={
        "This is one plain part of the text. Each processor has two chunks, of 2 · ranks.": plain_part,
        "These are places in the processor's own slice. A position is counted in the text.": (
            lambda rank, ranks, length: torch.arange(length // ranks)
        ),
        "These tokens are dealt like cards. A chunk is a run of neighbors.": (
            lambda rank, ranks, length: torch.arange(rank, length, ranks)
        ),
        "There are to be 2 · ranks chunks. Here there are half as many.": held(
            lambda rank, ranks: (rank, ranks - 1 - rank), parts=1
        ),
        "The late chunk comes first. They are asked for in order.": held(
            lambda rank, ranks: (2 * ranks - 1 - rank, rank)
        ),
        "The late chunk runs backward. Only the order of chunks is a zigzag.": held(
            lambda rank, ranks: (rank, 2 * ranks - 1 - rank), turn=lambda second: second.flip(0)
        ),
        "The second chunk is to be as far from the end as the first is from the beginning.": held(
            lambda rank, ranks: (rank, ranks + rank)
        ),
        "Only the first processor has the last chunk.": held(lambda rank, ranks: (rank, 2 * ranks - 1)),
        "The second chunk is one too late. They are counted from 0, so the last is 2 · ranks − 1.": held(
            lambda rank, ranks: (rank, 2 * ranks - rank)
        ),
        "A slice that ends at −0 ends before the first token: it is empty.": cut_from_the_end,
    },
    answers=(
        Answer(
            "most",
            7169 / 1025,
            {
                "Nearly. A query sees itself, too, so it is a little less: count the pairs.": 7,
                "A query sees itself, too.": 7167 / 1023,
                "So it is in a zigzag. Here each processor has one plain quarter.": 1,
                "That is what the very last query sees, beside the last one of the first quarter.": 4,
                "The last processor has more. Divide its pairs by those of the first.": 1025 / 7169,
                "This is the last processor beside the mean of all four.": 4 * 7169 / 16388,
            },
            within=0.001,
        ),
    ),
)


# Positions and a mask together ------------------------------------------------------------------------------


def both(case: Case, n: int, look: Callable) -> Case:
    """The case, of whose positions (n,) and mask (n, n) look(positions, mask) is compared."""

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        if nothing(found):
            return found
        listed = found if isinstance(found, tuple | list) else []
        if len(listed) != 2 or not all(isinstance(part, Tensor) for part in listed):
            raise Misconduct("Two tensors are asked for: positions and mask")
        positions, mask = listed
        if positions.shape != (n,) or mask.shape != (n, n):
            shown = f"{tuple(positions.shape)} and {tuple(mask.shape)}"
            raise Misconduct(f"Returns shapes {shown}; positions are ({n},) here, the mask ({n}, {n})")
        if positions.is_floating_point() or positions.dtype == torch.bool:
            raise Misconduct(f"Positions are {positions.dtype}; whole numbers are asked for")
        if mask.dtype != torch.bool:
            raise Misconduct(f"The mask is {mask.dtype}; it is to be Boolean, True where a query sees a key")
        return look(positions.long(), mask)

    return Case(case.text, ask)


def the_positions(positions: Tensor, mask: Tensor) -> Tensor:
    return positions


def seen_among(pairs: Tensor) -> Callable:
    return lambda positions, mask: mask & pairs


# Packed texts -----------------------------------------------------------------------------------------------


def in_texts(cu_seqlens: Tensor) -> tuple[Tensor, Tensor]:
    lengths = cu_seqlens.diff()
    text = torch.arange(len(lengths)).repeat_interleave(lengths)
    here = torch.arange(len(text))
    return here - cu_seqlens[text], (text == text[:, None]) & (here <= here[:, None])


def row_of(cu_seqlens: Tensor) -> tuple[Tensor, Tensor]:
    """Each token's text, and its place in the row."""
    here = torch.arange(cu_seqlens[-1])
    return torch.bucketize(here, cu_seqlens[1:], right=True), here


def placed(place: Callable) -> Callable:
    """As the right answer, with the positions place(text, here, cu_seqlens)."""
    return lambda cu_seqlens: (place(*row_of(cu_seqlens), cu_seqlens), in_texts(cu_seqlens)[1])


def shown_if(see: Callable) -> Callable:
    """As the right answer, with the mask see(text, here, cu_seqlens)."""
    return lambda cu_seqlens: (in_texts(cu_seqlens)[0], see(*row_of(cu_seqlens), cu_seqlens))


def late(cu_seqlens: Tensor) -> tuple[Tensor, Tensor]:
    """The first token of a text is the last of the one before it."""
    here = torch.arange(cu_seqlens[-1])
    text = torch.bucketize(here, cu_seqlens[1:])
    return here - cu_seqlens[text], (text == text[:, None]) & (here <= here[:, None])


def by_position(text: Tensor, here: Tensor, cu_seqlens: Tensor) -> Tensor:
    positions = here - cu_seqlens[text]
    return positions <= positions[:, None]


ROWS = [[0, 2, 5], [0, 7], [0, 4, 6, 11], [0, 1, 2, 6]]


def packed_cases(pairs: Callable | None = None) -> list[Case]:
    """All rows; of the mask the pairs (text, place) that are looked at, and without them the positions."""
    cases = []
    for row in ROWS:
        cu_seqlens = torch.tensor(row, dtype=torch.int32)
        look = seen_among(pairs(*row_of(cu_seqlens))) if pairs else the_positions
        cases.append(both(call(cu_seqlens=cu_seqlens), row[-1], look))
    return cases


packed = Check(
    "packed",
    reference=in_texts,
    properties={
        "positions begin again at 0 with each text": packed_cases(),
        "no query sees another text": packed_cases(lambda text, here: text != text[:, None]),
        "of its own it sees itself and what came before": packed_cases(
            lambda text, here: text == text[:, None]
        ),
    },
    mistakes={
        "Positions go on from one text to the next. Each text begins at 0.": placed(
            lambda text, here, cu_seqlens: here
        ),
        "Each text begins at 1. It is to begin at 0.": placed(
            lambda text, here, cu_seqlens: here - cu_seqlens[text] + 1
        ),
        "These are the numbers of the texts. A position is a place in a text.": placed(
            lambda text, here, cu_seqlens: text
        ),
        "This is where each text begins. Take it from the place in the row.": placed(
            lambda text, here, cu_seqlens: cu_seqlens[text]
        ),
        "Positions count down, to the end of each text.": placed(
            lambda text, here, cu_seqlens: cu_seqlens[text + 1] - 1 - here
        ),
        "Text k begins with token cu_seqlens[k]. Here this token still belongs to the text before it.": late,
        "The mask is causal, and knows of no texts.": shown_if(
            lambda text, here, cu_seqlens: here <= here[:, None]
        ),
        "The mask compares positions, which begin again. Compare texts, and places in the row.": shown_if(
            by_position
        ),
        "The mask keeps texts apart, but shows later tokens, too.": shown_if(
            lambda text, here, cu_seqlens: text == text[:, None]
        ),
        "Rows of the mask are queries, columns are keys.": shown_if(
            lambda text, here, cu_seqlens: (text == text[:, None]) & (here >= here[:, None])
        ),
        "The mask is turned around: True is where a query sees a key.": shown_if(
            lambda text, here, cu_seqlens: (text != text[:, None]) | (here > here[:, None])
        ),
        "A query sees itself, too.": shown_if(
            lambda text, here, cu_seqlens: (text == text[:, None]) & (here < here[:, None])
        ),
    },
    answers=(
        Answer(
            "leaks",
            38,
            {
                "So many pairs both masks show.": 28,
                "So many pairs the causal mask shows, those within a text included.": 66,
                "Half of these are later than their query, and the causal mask hides them.": 76,
                "So many pairs this mask hides. Most of them the causal mask hides, too.": 93,
            },
        ),
    ),
)


# A tree in one pass -----------------------------------------------------------------------------------------


def along_branches(parents: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.eye(len(parents)).bool()
    for token, parent in enumerate(parents):
        if parent >= 0:
            mask[token] |= mask[parent]
    return mask.sum(dim=1) - 1, mask


def standing(place: Callable) -> Callable:
    """As the right answer, with the positions place(depth, parents)."""

    def answer(parents: Tensor) -> tuple[Tensor, Tensor]:
        depth, mask = along_branches(parents)
        return place(depth, parents), mask

    return answer


def seeing(see: Callable) -> Callable:
    """As the right answer, with the mask see(line, depth, parents); line is the right one."""

    def answer(parents: Tensor) -> tuple[Tensor, Tensor]:
        depth, line = along_branches(parents)
        return depth, see(line, depth, parents)

    return answer


def index_of_no_parent(parents: Tensor) -> tuple[Tensor, Tensor]:
    """At −1 stands the last token."""
    mask = torch.eye(len(parents)).bool()
    for token, parent in enumerate(parents):
        mask[token] |= mask[parent]
    return along_branches(parents)[0], mask


def root_at_0_alone(parents: Tensor) -> tuple[Tensor, Tensor]:
    depth, mask = torch.zeros_like(parents), torch.eye(len(parents)).bool()
    for token, parent in enumerate(parents.tolist()[1:], start=1):
        depth[token] = depth[parent] + 1
        mask[token] |= mask[parent]
    return depth, mask


def earlier(parents: Tensor) -> Tensor:
    here = torch.arange(len(parents))
    return here <= here[:, None]


TREES = [[-1, 0, 0, 1, 1, 2], [-1, 0, 1, 2, 1, 0, 5], [-1, 0, 1, 2, 3]]
WOODS = [[-1, -1, 0, 1, 1], [-1, 0, -1, 2, 3, 1, -1], [-1, -1, -1]]


def tree_cases(look: Callable, trees: list[list[int]] = TREES) -> list[Case]:
    return [both(call(parents=torch.tensor(one)), len(one), look) for one in trees]


def the_mask(positions: Tensor, mask: Tensor) -> Tensor:
    return mask


tree = Check(
    "tree",
    reference=along_branches,
    properties={
        "positions are depths, from 0": tree_cases(the_positions),
        "a token sees itself and its ancestors alone": tree_cases(the_mask),
        "several roots": [*tree_cases(the_positions, WOODS), *tree_cases(the_mask, WOODS)],
    },
    mistakes={
        "These are places in the row. Tokens of two branches may stand at one position.": standing(
            lambda depth, parents: torch.arange(len(parents))
        ),
        "A root stands at 0, not at 1.": standing(lambda depth, parents: depth + 1),
        "A token stands one behind its parent's position, not behind the parent's index.": standing(
            lambda depth, parents: parents + 1
        ),
        "The mask is causal: a token sees its siblings and other branches.": seeing(
            lambda line, depth, parents: earlier(parents)
        ),
        "Tokens of the same depth, or of a lower one, may stand on another branch.": (
            seeing(lambda line, depth, parents: depth <= depth[:, None]),
            seeing(lambda line, depth, parents: (depth < depth[:, None]) | torch.eye(len(depth)).bool()),
            seeing(lambda line, depth, parents: (depth <= depth[:, None]) & earlier(parents)),
        ),
        "A token sees its descendants, too. They come after it.": seeing(
            lambda line, depth, parents: line | line.mT
        ),
        "Rows of the mask are queries, columns are keys: a token sees who came before it.": seeing(
            lambda line, depth, parents: line.mT
        ),
        "The mask is turned around: True is where a token sees another.": seeing(
            lambda line, depth, parents: ~line
        ),
        "Parents are seen, their own parents are not.": seeing(
            lambda line, depth, parents: line & (depth[:, None] - depth < 2)
        ),
        "A token sees itself, too.": seeing(
            lambda line, depth, parents: line & ~torch.eye(len(depth)).bool()
        ),
        "−1 is no parent. As an index it names the last token.": (index_of_no_parent, root_at_0_alone),
        "Two trees are two drafts. Here one sees the other.": seeing(
            lambda line, depth, parents: line | (parents[:, None] < 0) & earlier(parents)
        ),
    },
)


# Turns that commute -----------------------------------------------------------------------------------------


def turned(places: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.matrix_exp(places[:, 0, None, None] * a + places[:, 1, None, None] * b)


def made_of(make: Callable) -> Callable:
    """As the right answer, where make(xa, yb) is made of two matrices for each place."""

    def answer(places: Tensor, a: Tensor, b: Tensor) -> Tensor:
        x, y = places[:, :, None, None].unbind(dim=1)
        return make(x * a, y * b)

    return answer


def series(terms: int) -> Callable:
    def exponential(xa: Tensor, yb: Tensor) -> Tensor:
        term = total = torch.eye(xa.shape[-1]).to(xa).expand_as(xa)
        for n in range(1, terms):
            term = term @ (xa + yb) / n
            total = total + term
        return total

    return exponential


def cayley(xa: Tensor, yb: Tensor) -> Tensor:
    one, half = torch.eye(xa.shape[-1]).to(xa), (xa + yb) / 2
    return torch.linalg.solve(one - half, one + half)


exp = torch.linalg.matrix_exp


def generator(d: int, **speeds: float) -> Tensor:
    """Skew-symmetric (d, d); a speed of the plane of features 0 and 1 is called _01."""
    made = torch.zeros(d, d)
    for plane, speed in speeds.items():
        i, j = map(int, plane[1:])
        made[i, j], made[j, i] = -speed, speed
    return made


AXIAL = generator(4, _01=1.0), generator(4, _23=0.5)
MIXED = generator(4, _01=1.0, _23=0.25), generator(4, _01=-0.5, _23=0.75)
BALL = generator(3, _01=1.0), generator(3, _12=0.5)
TILTED = generator(3, _01=0.5, _02=1.0), generator(3, _01=0.25, _02=-0.5, _12=1.0)
NEAR = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [-1.0, 1.5]]
FAR = [[40.0, 0.0], [24.0, 32.0], [-16.0, 40.0]]


def turns_case(name: str, generators: tuple[Tensor, Tensor], places: list[list[float]]) -> Case:
    a, b = generators
    label = f"places = {places}, a, b {tuple(a.shape)}, {name}"
    return either(call(label, places=torch.tensor(places), a=a, b=b))


turns = Check(
    "turns",
    reference=turned,
    properties={
        "generators that commute": [
            turns_case("in two planes", AXIAL, [[1.0, 2.0], [2.0, 1.0]]),
            turns_case("in two planes", AXIAL, NEAR),
            turns_case("in the same planes", MIXED, NEAR),
        ],
        "generators that do not commute": [
            turns_case("in planes with a common feature", BALL, [[1.0, 2.0], [2.0, 1.0]]),
            turns_case("in planes with a common feature", BALL, NEAR),
            turns_case("in tilted planes", TILTED, NEAR),
        ],
        "turns by many radians": [
            turns_case("in one plane", (BALL[0], 0.5 * BALL[0]), FAR),
            turns_case("in one plane", (TILTED[1], -0.25 * TILTED[1]), FAR),
        ],
    },
    mistakes={
        "torch.exp takes each number by itself. Of a matrix it is torch.linalg.matrix_exp.": made_of(
            lambda xa, yb: torch.exp(xa + yb)
        ),
        "Turns are multiplied one after the other. That is exp(xA + yB) only where AB = BA.": (
            made_of(lambda xa, yb: exp(xa) @ exp(yb)),
            made_of(lambda xa, yb: exp(yb) @ exp(xa)),
            made_of(lambda xa, yb: exp(xa / 2) @ exp(yb) @ exp(xa / 2)),
            made_of(lambda xa, yb: exp(yb / 2) @ exp(xa) @ exp(yb / 2)),
        ),
        "Two turns are added. Add their generators, then take the exponential.": (
            made_of(lambda xa, yb: exp(xa) + exp(yb)),
            made_of(lambda xa, yb: (exp(xa) + exp(yb)) / 2),
        ),
        "These turn the other way: exp(−xA − yB).": made_of(lambda xa, yb: exp(-xa - yb)),
        "x belongs to a, y to b.": lambda places, a, b: turned(places, b, a),
        "The generators are multiplied. Their sum is asked for.": made_of(lambda xa, yb: exp(xa @ yb)),
        "y is missing.": made_of(lambda xa, yb: exp(xa)),
        "This is no turn yet: the exponential is missing.": (
            made_of(lambda xa, yb: xa + yb),
            made_of(series(2)),
        ),
        "A series of so few terms is too short for a large angle. There is torch.linalg.matrix_exp.": (
            *(made_of(series(terms)) for terms in (10, 15, 16, 20, 21, 24, 25, 30, 31, 32)),
        ),
        "These are turns, by Cayley's formula, and by other angles.": made_of(cayley),
    },
    answers=(
        Answer(
            "relative",
            {"axial", "mixed"},
            {
                "Two axes may share a plane. Then turns in it add up.": lambda names: names == ["axial"],
                "Where each axis has planes of its own, their turns commute, too.": (
                    lambda names: names == ["mixed"]
                ),
                "Turn a ball about one axis, then about another. The other order ends otherwise.": (
                    lambda names: "lie" in names
                ),
            },
        ),
    ),
)


# Couple the digits ------------------------------------------------------------------------------------------


PLUS, EQUALS, PAD = 10, 11, 12  # as `d2lpos.lab.synthetic` has them


def coupled(tokens: Tensor) -> Tensor:
    digit = tokens < PLUS
    digits = digit.cumsum(dim=1)
    return digits - digits.masked_fill(digit, 0).cummax(dim=1).values


def numbered(ids: Callable) -> Callable:
    """As the right answer, where the digits of row r have ids(place, number, row), and all other tokens 0.

    place counts a number's digits from 0, number is 0, 1 or 2, and row has the lengths of the three.
    """

    def answer(tokens: Tensor) -> Tensor:
        digit, place = tokens < PLUS, coupled(tokens) - 1
        number = ((tokens == PLUS) | (tokens == EQUALS)).cumsum(dim=1)
        lengths = torch.stack([(digit & (number == n)).sum(dim=1) for n in range(3)], dim=1)
        return ids(place, number, lengths) * digit

    return answer


def otherwise(change: Callable) -> Callable:
    """As the right answer, with change(tokens, ids)."""
    return lambda tokens: change(tokens, coupled(tokens))


def length_of(number: Tensor, lengths: Tensor) -> Tensor:
    return lengths.gather(1, number.clamp(max=2))


def columns(tokens: Tensor) -> Tensor:
    return torch.arange(tokens.shape[1]).expand_as(tokens)


def row(*numbers: str, length: int = 0) -> list[int]:
    """The tokens of three numbers, written as they are to be read, each lowest digit first."""
    a, b, total = ([int(digit) for digit in number] for number in numbers)
    tokens = [*a, PLUS, *b, EQUALS, *total]
    return tokens + [PAD] * (length - len(tokens))


SUMS = [
    [row("49", "30", "790"), row("81", "83", "650")],
    [row("741", "352", "0040", length=14), row("5", "70", "21", length=14), row("9", "9", "81", length=14)],
    [row("0001", "1234", "12350", length=16), row("12", "5", "620", length=16)],
]


def couple_cases(of_digits: bool) -> list[Case]:
    """What is compared: the ids of digits, or those of all other tokens."""
    cases = []
    for rows in SUMS:
        tokens = torch.tensor(rows)
        here = (tokens < PLUS) == of_digits
        cases.append(looked_at(either(call(tokens=tokens), torch.int64), here))
    return cases


def looked_at(case: Case, here: Tensor) -> Case:
    """The case, in which only ids here are compared."""

    def ask(answer: Callable) -> object:
        ids = case.ask(answer)
        fits = isinstance(ids, Tensor) and ids.shape == here.shape and not ids.is_floating_point()
        return torch.where(here, ids, 0) if fits else ids

    return Case(case.text, ask)


couple = Check(
    "couple",
    reference=coupled,
    properties={
        "digits of one place have one id, in all three numbers": couple_cases(of_digits=True),
        "plus, equals and pads have 0": couple_cases(of_digits=False),
    },
    mistakes={
        "These are places in the row, as in any text. A digit's id is its place in its number.": (
            otherwise(lambda tokens, ids: columns(tokens)),
            otherwise(lambda tokens, ids: columns(tokens) + 1),
        ),
        "The ones have the id 1. 0 is for signs and pads.": numbered(lambda place, number, lengths: place),
        "These are the digits themselves. Their places are asked for.": otherwise(
            lambda tokens, ids: tokens.masked_fill(tokens >= PLUS, 0) + (tokens < PLUS)
        ),
        "The lowest digit comes first here, so ids rise from the left to the right.": numbered(
            lambda place, number, lengths: length_of(number, lengths) - place
        ),
        "The sum, too, is written lowest digit first.": numbered(
            lambda place, number, lengths: torch.where(number < 2, place, lengths[:, 2:] - 1 - place) + 1
        ),
        "The sum has ids of its own. It is to share those of the terms.": numbered(
            lambda place, number, lengths: torch.where(number < 2, place, place + lengths[:, :1]) + 1
        ),
        "This counts digits through the whole row. Begin again with each number.": otherwise(
            lambda tokens, ids: (tokens < PLUS).cumsum(dim=1) * (tokens < PLUS)
        ),
        "This is which number it is. Asked is the place of a digit in it.": numbered(
            lambda place, number, lengths: number + 1
        ),
        "Numbers of other rows may have other lengths. Look at each row.": otherwise(
            lambda tokens, ids: ids[:1].expand_as(ids)
        ),
        "A sign has 0. Here it gets the id that another digit would have.": otherwise(
            lambda tokens, ids: ids + ((tokens == PLUS) | (tokens == EQUALS)) * (ids.roll(1, dims=1) + 1)
        ),
        "A pad has 0. Here the count goes on behind the sum.": (
            lambda tokens: coupled(tokens.masked_fill(tokens == PAD, 0))
        ),
    },
)
