"""The checks of the project that builds a language model: each reference beside another way to compute the same."""

import pytest
import torch
from scipy.stats import ttest_rel
from torch.nn.functional import cross_entropy

from d2lpos import ALiBi, RoPE
from d2lpos.check import model as check
from d2lpos.lab import TASKS, frame, records
from d2lpos.lab.text import characters
from d2lpos.transformer.attention import attention_weights, causal_mask


def equal(a, b):
    torch.testing.assert_close(a, b)


@pytest.mark.parametrize("positions", [[0, 1, 2, 3], [4, 0, 9, 2]])
def test_attention_is_that_of_the_package(positions):
    positions, encoding = torch.tensor(positions), ALiBi(2)
    q, k, v = torch.randn(3, 2, 2, 4, 8, generator=torch.Generator().manual_seed(0))
    mask = causal_mask(positions, positions)
    wanted = attention_weights(q, k, positions, positions, encoding, mask) @ v
    output = check.attend.reference(q, k, v, positions, lambda a, b: encoding.score(q, k, a, b))
    equal(output, wanted)


def test_the_loss_of_a_whole_row_is_that_of_the_labs_targets():
    tokens, targets = TASKS["language"].train(3, 9, torch.Generator().manual_seed(0))
    row = torch.cat([tokens, targets[:, -1:]], dim=1)
    logits = torch.randn(3, 10, 80, generator=torch.Generator().manual_seed(1))
    wanted = cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten())
    equal(check.next_loss.reference(logits, row, padding=79), wanted)


def test_rows_of_all_lengths_are_asked_for_the_same_characters():
    text, ends = characters("test"), torch.tensor([700, 900])
    rows = [check.fair_rows.reference(text, ends, length, 64) for length in (64, 512)]
    equal(rows[0][0], rows[1][0][:, -64:])
    equal(rows[0][1], rows[1][1][:, -64:])
    assert (rows[1][1][:, :-64] == -100).all()


def test_the_law_is_kept_by_a_turn_and_broken_where_queries_alone_turn():
    q, k = torch.randn(2, 1, 3, 4, generator=torch.Generator().manual_seed(0))
    rope = RoPE(4)

    def turned(q, k, p):
        q, k = rope.rotate(q[None], k[None], p, p)
        return (q @ k.mT)[0]

    assert check.offsets_alone.reference(turned, q, k, 50)
    assert not check.offsets_alone.reference(lambda q, k, p: turned(q, k, p) + p, q, k, 50)


def test_the_interval_is_that_of_scipy():
    table = frame(records("extrapolation")).query("split == 'test' and length == 64 and reading == 'as trained'")
    mine, theirs = (
        dict(zip(rows.seed, rows.loss_last, strict=True))
        for rows in (table[table.encoding == name] for name in ("kerple", "alibi"))
    )
    mean, half = check.beside.reference(mine, theirs)
    low, high = ttest_rel(*([side[seed] for seed in mine] for side in (mine, theirs))).confidence_interval(0.95)
    assert (low, high) == pytest.approx((mean - half, mean + half))


def test_a_number_may_be_pythons():
    assert check.next_loss(lambda *arguments: check.next_loss.reference(*arguments).item())


def test_tensors_of_two_shapes_are_named_and_no_error_of_the_check():
    verdict = repr(check.fair_rows(lambda *arguments: [torch.ones(2, 3).long(), torch.ones(2).long()]))
    assert "Returns shapes (2, 3) and (2,); tokens and targets are (1, 3) and (1, 3) here" in " ".join(verdict.split())
