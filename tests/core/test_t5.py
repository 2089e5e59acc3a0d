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


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(4, 3), (8, 64), (8, 324), (32, 128), (16, 2**16)])
def test_equals_exact_thresholds_near_and_far(buckets, max_distance, bidirectional):
    offsets = [*range(-400, 401), *(step - 2**power for power in range(9, 20) for step in (-1, 0, 1))]
    want = [by_thresholds(offset, buckets, max_distance, bidirectional) for offset in offsets]
    assert bucket(torch.tensor(offsets), buckets, max_distance, bidirectional).tolist() == want


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(8, 20), (4, 3), (4, 324)])
def test_score_is_the_table_at_key_minus_query(buckets, max_distance, bidirectional):
    encoding = T5Bias(3, buckets, max_distance, bidirectional)
    torch.nn.init.normal_(encoding.table)
    q, k = torch.zeros(2, 3, 2, 4), torch.zeros(2, 3, 5, 4)
    here, there = torch.tensor([[0, 7], [40, 3]]), torch.tensor([0, 1, 5, 9, 30])
    score = encoding.score(q, k, here, there).expand(2, 3, 2, 5)
    for i in range(2):
        for row in range(2):
            for column in range(5):
                index = by_thresholds((there[column] - here[i, row]).item(), buckets, max_distance, bidirectional)
                assert torch.equal(score[i, :, row, column], encoding.table[index])
