"""The answers are right, and cannot be had without positions."""

from collections import Counter
from functools import partial

import pytest
import torch

from d2lpos.lab.synthetic import addition, back, copy, count, echo, lookup, needle, order, recall, reverse

SIZE = 2048


def sample(sampler, length, size=SIZE):
    """Tokens and targets as lists, and of targets only what is asked: {place: target} for each row."""
    tokens, targets = sampler(size, length, torch.Generator().manual_seed(3))
    asked = [{place: t for place, t in enumerate(row) if t != -100} for row in targets.tolist()]
    return tokens.tolist(), asked


@pytest.mark.parametrize("length", [2, 3, 8, 40])
def test_order_asks_whether_a_came_first(length):
    tokens, labels = order(SIZE, length, torch.Generator().manual_seed(3))
    for row, label in zip(tokens.tolist(), labels.tolist(), strict=True):
        assert label == (row.index(0) < row.index(1))


@pytest.mark.parametrize(("sampler", "turn"), [(copy, 1), (reverse, -1)])
@pytest.mark.parametrize("length", [2, 3, 8, 9, 40, 41])
def test_copy_and_reverse(sampler, turn, length):
    count = length // 2
    for row, asked in zip(*sample(sampler, length, 64), strict=True):
        digits, answer = row[:count], row[:count][::turn]
        assert row == (digits + [10] + answer)[:length]
        assert asked == {count + i: digit for i, digit in enumerate(answer)}


@pytest.mark.parametrize("lowest_first", [True, False])
@pytest.mark.parametrize("length", [5, 6, 7, 8, 20, 21, 22, 62])
def test_addition(length, lowest_first):
    count = (length - 2) // 3
    turn = -1 if lowest_first else 1

    def number(digits):
        return int("".join(map(str, digits[::turn])))

    for row, asked in zip(*sample(partial(addition, lowest_first=lowest_first), length, 256), strict=True):
        a, b = row[:count], row[count + 1 : 2 * count + 1]
        total = str(number(a) + number(b)).zfill(count + 1)
        total = [int(digit) for digit in total[::turn]]
        assert row == (a + [10] + b + [11] + total + [12])[:length]
        assert asked == {2 * count + 1 + i: digit for i, digit in enumerate(total)}


@pytest.mark.parametrize("length", [3, 4, 5, 20, 21, 64, 65, 514])
def test_recall(length):
    places = set()
    for row, asked in zip(*sample(recall, length, 256), strict=True):
        front, *pairs, query = [None] * (length % 2) + row
        assert front in (None, 16)
        keys, values = pairs[::2], pairs[1::2]
        assert len(set(keys)) == len(keys) == (length - 1) // 2
        assert all(17 <= key < 273 for key in keys) and all(0 <= value < 16 for value in values)
        assert asked == {length - 1: dict(zip(keys, values, strict=True))[query]}
        places.add(keys.index(query))
    assert len(places) >= min(9, (length - 1) // 2), "any pair is asked for"


@pytest.mark.parametrize("distance", [None, 2, 5, 8])
@pytest.mark.parametrize("length", [9, 40])
def test_needle(length, distance):
    for row, asked in zip(*sample(partial(needle, distance=distance), length, 256), strict=True):
        place = row.index(row[-1])
        assert place == length - 1 - distance if distance else place < length - 2
        values = row[:place] + row[place + 1 : -1]
        assert row[place] >= 17 and all(0 <= value < 16 for value in values)
        assert asked == {length - 1: row[place + 1]}


@pytest.mark.parametrize("length", [2, 3, 5, 9, 32, 200])
def test_count(length):
    """As one counts by hand; and the last begin is anywhere but at the end."""
    rows, asked = sample(count, length)
    begins = []
    for row, answer in zip(rows, asked, strict=True):
        begins.append(max(place for place, token in enumerate(row) if token == 18))
        assert answer == {length - 1: sum(token == 17 for token in row[begins[-1] :])}
        assert set(row) <= {*range(16), 17, 18}
    counts = torch.bincount(torch.tensor(begins), minlength=length)
    assert counts[-1] == 0 and (length > 9 or (abs(counts[:-1] * (length - 1) / SIZE - 1) < 0.3).all())


@pytest.mark.parametrize("length", [32, 200])
def test_marks_and_begins_that_do_not_count_stand_before_the_last_begin(length):
    rows, asked = sample(count, length, 4 * SIZE)
    before = [row[: length - 1 - row[::-1].index(18)] for row in rows]
    tokens = torch.tensor([token for part in before for token in part])
    assert (tokens == 17).double().mean() * length == pytest.approx(3.5, rel=0.05)
    assert (tokens == 18).double().mean() * length == pytest.approx(2, rel=0.05)
    right = sum(row.count(17) in answer.values() for row, answer in zip(rows, asked, strict=True))
    assert right < 0.5 * len(rows), "who counts all marks is right too often"


@pytest.mark.parametrize("length", [2, 9, 64])
def test_back(length):
    rows, asked = sample(back, length)
    for row, answer in zip(rows, asked, strict=True):
        assert row.count(17) == 1 and all(0 <= token < 16 for token in row if token != 17)
        assert answer == {length - 1: row[::-1].index(17)}
    counts = torch.bincount(torch.tensor([far for answer in asked for far in answer.values()]))
    assert counts[0] == 0 and len(counts) == length
    assert length > 9 or (abs(counts[1:] * (length - 1) / SIZE - 1) < 0.25).all()


@pytest.mark.parametrize("length", [2, 9, 257])
def test_lookup(length):
    rows, asked = sample(lookup, length)
    for (*values, key), answer in zip(rows, asked, strict=True):
        assert all(0 <= value < 16 for value in values)
        assert answer == {length - 1: values[key - 17]}
    counts = torch.bincount(torch.tensor([row[-1] - 17 for row in rows]))
    assert len(counts) == length - 1 and (length > 9 or (abs(counts * (length - 1) / SIZE - 1) < 0.25).all())


@pytest.mark.parametrize(("sampler", "drawn", "values"), [
    (lookup, 8, 8),
    (lookup, 33, 33),
    (recall, 4, 4),
    (recall, 16, 16),
    (recall, 33, 33),
    (needle, 9, 7),
    (needle, 33, 31),
    (needle, 67, 65),
])
def test_the_bag_of_tokens_does_not_tell_the_value(sampler, drawn, values):
    """Which value belongs to the key is a matter of places. All that a bag tells is the commonest value, and
    the values of a row, `drawn` as evenly as can be, leave it small: `values` of them stand in the row."""
    tokens, asked = sample(sampler, {recall: 2 * drawn + 1, lookup: drawn + 1}.get(sampler, drawn))
    counts = [Counter(t for t in row if t < 16) for row in tokens]
    assert all(count.total() == values and max(count.values()) <= -(-drawn // 16) for count in counts)
    right = sum(c.most_common(1)[0][0] in t.values() for c, t in zip(counts, asked, strict=True))
    assert right / SIZE < max(max(count.values()) for count in counts) / values + 0.02


@pytest.mark.parametrize("length", [3, 8, 32])
def test_echo_repeats_behind_a_mark_what_stood_before_it(length):
    rows, asked = sample(partial(echo, asked="echo"), length)
    assert all(row[0] == 17 and 17 not in row[1:] and row[1] < 16 for row in rows)
    for row, answers in zip(rows, asked, strict=True):
        marks = {place for place, token in enumerate(row) if token == 16}
        assert answers == {place: row[place - 1] for place in marks}
        assert all(row[place + 1] == row[place - 1] for place in marks if place + 1 < length)


def test_what_follows_a_value_depends_on_it_alone():
    tokens, targets = echo(SIZE, 32, torch.Generator().manual_seed(3))
    assert torch.equal(tokens[:, 1:], targets[:, :-1])
    plain = (tokens < 16) & (tokens.roll(1, dims=1) != 16)
    last, after = tokens[plain], targets[plain]
    assert abs((after == 16).double().mean() - 0.1) < 0.01
    for value in range(16):
        shares = torch.bincount(after[last == value], minlength=17)[:16] / (last == value).sum()
        assert abs(shares.max() - (0.4 + 0.5 / 16)) < 0.03 and shares.sort().values[-2] < 0.06
