import pytest
import torch

from d2lpos import T5Bias
from d2lpos.bias.t5 import bucket


def by_thresholds(offset, buckets, max_distance, bidirectional):
    """The bucket in exact integers: far bucket exact + j starts where d^n ≥ exact^(n−j) · max_distance^j."""
    start = 0
    if bidirectional:
        buckets //= 2
        start = buckets if offset > 0 else 0
        distance = abs(offset)
    else:
        distance = max(-offset, 0)
    exact = buckets // 2
    if distance < exact:
        return start + distance
    far = buckets - exact
    passed = [j for j in range(far) if distance**far >= exact ** (far - j) * max_distance**j]
    return start + exact + max(passed)


def first_distances(buckets):
    """The smallest distance of each bucket, nearest first."""
    return [buckets.index(value) for value in sorted(set(buckets))]


def test_reference_numbers_bidirectional():
    distances = torch.arange(300)
    past, future = bucket(-distances).tolist(), bucket(distances).tolist()
    assert past[:8] == list(range(8))
    assert first_distances(past)[8:] == [8, 12, 16, 23, 32, 46, 64, 91]
    assert future == [0, *(value + 16 for value in past[1:])]
    assert max(past) == 15


def test_reference_numbers_causal():
    past = bucket(-torch.arange(300), bidirectional=False).tolist()
    assert past[:16] == list(range(16))
    assert first_distances(past)[16:] == [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    assert max(past) == 31
    assert not bucket(torch.arange(300), bidirectional=False).any()


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(4, 3), (8, 64), (8, 324), (32, 128), (16, 2**16)])
def test_equals_exact_thresholds_near_and_far(buckets, max_distance, bidirectional):
    offsets = [*range(-400, 401), *(step - 2**power for power in range(9, 20) for step in (-1, 0, 1))]
    want = [by_thresholds(offset, buckets, max_distance, bidirectional) for offset in offsets]
    assert bucket(torch.tensor(offsets), buckets, max_distance, bidirectional).tolist() == want


@pytest.mark.parametrize("bidirectional", [True, False])
def test_score_is_the_table_at_key_minus_query(bidirectional):
    encoding = T5Bias(3, buckets=8, max_distance=20, bidirectional=bidirectional)
    torch.nn.init.normal_(encoding.table)
    q, k = torch.zeros(2, 3, 2, 4), torch.zeros(2, 3, 5, 4)
    here, there = torch.tensor([[0, 7], [40, 3]]), torch.tensor([0, 1, 5, 9, 30])
    score = encoding.score(q, k, here, there).expand(2, 3, 2, 5)
    for i in range(2):
        for row in range(2):
            for column in range(5):
                index = by_thresholds((there[column] - here[i, row]).item(), 8, 20, bidirectional)
                assert torch.equal(score[i, :, row, column], encoding.table[index])


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("max_distance", [3, 20, 324])
def test_score_is_the_formula_near_and_far(max_distance, bidirectional):
    encoding = T5Bias(3, 4, max_distance, bidirectional).double()
    torch.nn.init.normal_(encoding.table)
    q, k = torch.zeros(2, 3, 40, 4), torch.zeros(2, 3, 50, 4)
    here, there = torch.randint(-500, 500, (2, 40)), torch.randint(-500, 500, (50,))
    offset = (there - here[..., None])[:, None]
    want = encoding.at(offset, torch.arange(3)[:, None, None])
    assert want.shape == (2, 3, 40, 50)
    assert torch.equal(encoding.score(q, k, here, there), want)
