"""Tasks made of random numbers: a model solves them only if it knows where its tokens stand.

A sampler draws `size` rows of exactly `length` tokens from `generator`, and gives tokens (size, length) and
targets, both int64. Targets are one label for the row, (size,), or one for each token, (size, length), with
−100 where nothing is asked. Raises ValueError where the row is too short or too long for the task.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..positions.arguments import check_positive

LETTERS = 512  # of the order task
SYMBOLS = 10  # the digits of copy, reverse and addition
SEPARATOR = 10
PLUS, EQUALS, PAD = 10, 11, 12
VALUES, KEYS = 16, 256  # of recall, needle and lookup: first the values, then the filler, then the keys
FILLER = VALUES
FIRST_KEY = VALUES + 1
MARKS, MARK, BEGIN = 7, VALUES + 1, VALUES + 2  # of count: at most so many marks since the last begin
ECHO, START = VALUES, VALUES + 1  # of echo: the mark, and what every row begins with
FOLLOWS = torch.randperm(VALUES, generator=torch.Generator().manual_seed(0))  # the likeliest value after each, of echo
LONGEST = 64  # of back: tokens in a row, and answers that the model has

Sample = tuple[Tensor, Tensor]


def order(size: int, length: int, generator: torch.Generator) -> Sample:
    """Did A come before B? Each row has the letters 0 … length − 1 in a random order, where A is 0 and B is 1.

    Returns tokens (size, length) and labels (size,), both int64. A label is 1 if A comes first.
    Raises ValueError for a length below 2 or above 512.

    >>> generator = torch.Generator().manual_seed(0)
    >>> tokens, labels = order(2, 5, generator)
    >>> tokens[0], labels[0]
    (tensor([2, 3, 4, 0, 1]), tensor(1))
    """
    check_sizes(size, length, 2, "to hold A and B", LETTERS, "the number of letters")
    tokens = _shuffled(size, length, generator)
    places = tokens.argsort(dim=-1)  # the inverse permutation: where each letter stands
    return tokens, (places[:, 0] < places[:, 1]).long()


def copy(size: int, length: int, generator: torch.Generator) -> Sample:
    """Random digits, a separator (10), and the same digits again, each asked of the token before it.

    There are length // 2 digits. The last of them closes a row of odd length, asks nothing, and is left out
    of an even one. For causal models: with a view of the next token there is nothing to copy.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(copy(1, 7, generator))
    tensor([[   4,    9,    3,   10,    4,    9,    3],
            [-100, -100, -100,    4,    9,    3, -100]])
    """
    check_sizes(size, length, 2, "to hold a digit and the separator")
    digits = torch.randint(SYMBOLS, (size, length // 2), generator=generator)
    return _ask(length, digits, _column(digits, SEPARATOR), answer=digits)


def reverse(size: int, length: int, generator: torch.Generator) -> Sample:
    """As `copy`, and the digits come back last to first.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(reverse(1, 7, generator))
    tensor([[   4,    9,    3,   10,    3,    9,    4],
            [-100, -100, -100,    3,    9,    4, -100]])
    """
    check_sizes(size, length, 2, "to hold a digit and the separator")
    digits = torch.randint(SYMBOLS, (size, length // 2), generator=generator)
    return _ask(length, digits, _column(digits, SEPARATOR), answer=digits.flip(1))


def addition(size: int, length: int, generator: torch.Generator, lowest_first: bool = True) -> Sample:
    """a + b = sum, numbers of (length − 2) // 3 digits each and a sum of one more, with leading zeros.

    Each digit of the sum is asked of the token before it. With `lowest_first` all three numbers are written
    from the right to the left, as carries run. Of the tokens that the digits leave over, the first is the
    last digit of the sum and the second a pad (12); they ask nothing. For causal models.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(addition(1, 8, generator))  # 94 + 3 = 97
    tensor([[   4,    9,   10,    3,    0,   11,    7,    9],
            [-100, -100, -100, -100, -100,    7,    9,    0]])
    """
    check_sizes(size, length, 5, "to hold a digit, plus, a digit, equals and a digit of the sum")
    terms = torch.randint(SYMBOLS, (2, size, (length - 2) // 3), generator=generator)
    carry, total = torch.zeros(size, dtype=torch.int64), []
    for column in terms.sum(dim=0).T:
        total.append((column + carry) % 10)
        carry = (column + carry) // 10
    numbers = [*terms, torch.stack([*total, carry], dim=1)]
    a, b, total = numbers if lowest_first else (number.flip(1) for number in numbers)
    return _ask(length, a, _column(a, PLUS), b, _column(a, EQUALS), answer=total)


def recall(size: int, length: int, generator: torch.Generator) -> Sample:
    """Pairs of a key and a value, then one of the keys: which was its value? Asked at the last token.

    Values are 0 … 15, keys are 17 … 272 and differ within a row. A row of even length begins with a filler
    (16). Values are spread as evenly as they can be, so that somebody who knows which tokens there are, and
    not where, guesses right once in min(pairs, 16) rows, or a little more where 16 does not divide the pairs.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(recall(1, 8, generator))
    tensor([[  16,  100,   15,  111,   14,  262,   13,  100],
            [-100, -100, -100, -100, -100, -100, -100,   15]])
    """
    check_sizes(size, length, 3, "to hold a pair and the query", 2 * KEYS + 2, "so that each pair has its own key")
    pairs = (length - 1) // 2
    keys = FIRST_KEY + _shuffled(size, KEYS, generator)[:, :pairs]
    values = _spread(size, pairs, generator)
    asked = torch.randint(pairs, (size, 1), generator=generator)
    front = torch.full((size, (length - 1) % 2), FILLER)
    tokens = torch.cat([front, torch.stack([keys, values], dim=2).flatten(1), keys.gather(1, asked)], dim=1)
    return tokens, _at_the_end(length, values.gather(1, asked))


def needle(size: int, length: int, generator: torch.Generator, distance: int | None = None) -> Sample:
    """A key among values, and the same key at the end: which value followed it? Asked at the last token.

    The first key stands `distance` tokens before the last token, 2 … length − 1; without a distance each row
    draws its own. Bind one with `functools.partial(needle, distance=32)`. Tokens are those of `recall`, and
    as there the values are spread evenly.
    Raises ValueError for a distance out of range.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(needle(1, 8, generator, distance=5))
    tensor([[  13,   14,  228,    3,    1,    0,   12,  228],
            [-100, -100, -100, -100, -100, -100, -100,    3]])
    """
    check_sizes(size, length, 3, "to hold a key, its value and the query")
    if distance is not None:
        check_positive(distance=distance)
        if not 2 <= distance < length:
            raise ValueError(f"distance must be 2 … {length - 1}, one less than length; got {distance}")
    tokens = _spread(size, length, generator)
    key = FIRST_KEY + torch.randint(KEYS, (size,), generator=generator)
    if distance is None:
        distance = torch.randint(2, length, (size,), generator=generator)
    row, place = torch.arange(size), length - 1 - distance
    tokens[row, place] = tokens[:, -1] = key
    return tokens, _at_the_end(length, tokens[row, place + 1, None])


def count(size: int, length: int, generator: torch.Generator) -> Sample:
    """Values, marks (17) and begins (18): how many marks since the last begin? Asked at the last token.

    The last begin stands 1 … length − 1 tokens back, anywhere with the same chance. Behind it are 0 … 7
    marks, or as many as there is room for, each number with the same chance; the last token may be one.
    Before it, each token is a mark with chance 3.5 / length and a begin with chance 2 / length.

    >>> generator = torch.Generator().manual_seed(1)
    >>> torch.cat(count(1, 12, generator))
    tensor([[   5,   18,   17,    8,   15,    9,   11,   17,   17,   17,    0,    1],
            [-100, -100, -100, -100, -100, -100, -100, -100, -100, -100, -100,    4]])
    """
    check_sizes(size, length, 2, "to hold a begin and the last token")
    values = torch.randint(VALUES, (size, length), generator=generator)
    tokens, chance = values.clone(), torch.rand(size, length, generator=generator) * length
    tokens[chance < MARKS / 2 + 2] = BEGIN
    tokens[chance < MARKS / 2] = MARK
    index, begin = torch.arange(length), torch.randint(length - 1, (size, 1), generator=generator)
    room = (length - 1 - begin).clamp(max=MARKS)
    marks = (torch.rand(size, 1, generator=generator) * (room + 1)).long()
    rank = torch.rand(size, length, generator=generator).masked_fill(index <= begin, 2).argsort().argsort()
    tokens = torch.where(index > begin, values, tokens)  # what does not count stands before the begin alone
    tokens[rank < marks] = MARK  # of those behind the begin, because there are no more marks than room
    tokens[index == begin] = BEGIN
    return tokens, _at_the_end(length, marks)


def back(size: int, length: int, generator: torch.Generator) -> Sample:
    """Values and one mark (17): how many tokens back does it stand? Asked at the last token.

    The mark stands 1 … length − 1 tokens back, anywhere with the same chance. Raises ValueError for a length
    above 64.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(back(1, 6, generator))
    tensor([[  12,   15,   17,    0,    3,   11],
            [-100, -100, -100, -100, -100,    3]])
    """
    check_sizes(size, length, 2, "to hold a mark and the last token", LONGEST, "so that each place has an answer")
    tokens = torch.randint(VALUES, (size, length), generator=generator)
    far = torch.randint(1, length, (size, 1), generator=generator)
    tokens.scatter_(1, length - 1 - far, MARK)
    return tokens, _at_the_end(length, far)


def lookup(size: int, length: int, generator: torch.Generator) -> Sample:
    """Values, and a key that numbers a place: which value stands there? Asked at the last token, the key.

    Key 17 is for the first place, 18 for the second, and so on. Values are spread as evenly as in `needle`:
    nothing but its position tells the wanted one from the others.

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(lookup(1, 8, generator))  # the fifth place
    tensor([[  13,   14,   15,    1,    0,   12,    2,   21],
            [-100, -100, -100, -100, -100, -100, -100,    0]])
    """
    check_sizes(size, length, 2, "to hold a value and a key", KEYS + 1, "so that each place has a key")
    values = _spread(size, length - 1, generator)
    place = torch.randint(length - 1, (size, 1), generator=generator)
    return torch.cat([values, FIRST_KEY + place], dim=1), _at_the_end(length, values.gather(1, place))


def check_sizes(
    size: int, length: int, shortest: int, why: str, longest: float = float("inf"), most: str = ""
) -> None:
    check_positive(size=size, length=length)
    if length < shortest:
        raise ValueError(f"length must be at least {shortest}, {why}; got {length}")
    if length > longest:
        raise ValueError(f"length must be at most {longest}, {most}; got {length}")


def _shuffled(size: int, count: int, generator: torch.Generator) -> Tensor:
    """Random orders of 0 … count − 1; (size, count)."""
    return torch.rand(size, count, generator=generator).argsort(dim=-1)


def _spread(size: int, count: int, generator: torch.Generator) -> Tensor:
    """Random values (size, count), in each row as many of one value as of another, or one more."""
    first = torch.randint(VALUES, (size, 1), generator=generator)
    return (first + _shuffled(size, count, generator)) % VALUES


def echo(size: int, length: int, generator: torch.Generator, asked: str = "all") -> Sample:
    """A chain of values, whose next one depends on the last alone; but behind a mark stands what stood before it.

    A row begins with a token of its own (17). A value, 0 … 15, is followed by the mark (16) in a tenth of the cases, by
    one value in four tenths, else by any. All next tokens are asked for or, with asked="echo", those behind a mark. So
    attention has work at the marks and none elsewhere: the Bigram-Backcopy task of Guo et al. 2024 (arXiv 2410.13835).

    >>> generator = torch.Generator().manual_seed(0)
    >>> torch.cat(echo(1, 8, generator, asked="echo"))
    tensor([[  17,    5,   16,    5,    8,    6,   13,    8],
            [-100, -100,    5, -100, -100, -100, -100, -100]])
    """
    check_sizes(size, length, 3, "to hold the beginning, a value and a mark")
    row = torch.full((size, length + 1), START)
    drawn, any_value = torch.rand(row.shape, generator=generator), torch.randint(VALUES, row.shape, generator=generator)
    row[:, 1] = any_value[:, 1]
    for place in range(2, length + 1):
        last, before = row[:, place - 1], row[:, place - 2]
        usual = torch.where(drawn[:, place] < 0.5, FOLLOWS[last.clamp(max=VALUES - 1)], any_value[:, place])
        usual = usual.where(drawn[:, place] >= 0.1, ECHO)
        row[:, place] = torch.where(last == ECHO, before, usual)
    tokens, targets = row[:, :-1], row[:, 1:]
    return tokens, targets if asked == "all" else targets.where(tokens == ECHO, -100)


def _column(rows: Tensor, token: int) -> Tensor:
    return rows.new_full((len(rows), 1), token)


def _ask(length: int, *question: Tensor, answer: Tensor) -> Sample:
    """The question and its answer, cut or padded to `length`; each token asks for the next of the answer."""
    row = torch.cat([*question, answer], dim=1)
    targets = torch.full((len(row), length), -100)
    start = row.shape[1] - answer.shape[1] - 1
    targets[:, start : start + answer.shape[1]] = answer
    return pad(row, (0, length - row.shape[1]), value=PAD), targets


def _at_the_end(length: int, answer: Tensor) -> Tensor:
    """Targets that ask the last token for an answer (size, 1)."""
    return pad(answer, (length - 1, 0), value=-100)
