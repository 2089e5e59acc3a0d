"""The ten exercises of the page of symptoms: references against the package and PyTorch, right answers in other words."""

import math

import torch
from torch.nn.attention.bias import causal_lower_right

from d2lpos.check import symptoms as check
from d2lpos.input import angles, frequencies
from d2lpos.positions import cells, next_positions
from d2lpos.rotary import scaling
from tests.check.right import accepted


def test_references_are_the_packages():
    q, k, v = torch.randn(3, 1, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    attend = torch.nn.functional.scaled_dot_product_attention
    torch.testing.assert_close(
        attend(q[:, :, 3:], k, v, attn_mask=check.sees.reference(2, 5)),
        attend(q[:, :, 3:], k, v, attn_mask=causal_lower_right(2, 5)),
    )
    picture = torch.cat([torch.zeros(6, 1), cells(2, 3)], 1).long()
    assert torch.equal(check.behind.reference(picture), next_positions(picture, 1, axes=3)[0])
    omega = frequencies(8)
    places = angles(torch.arange(5), omega)
    torch.testing.assert_close(check.float_angles.reference(torch.ones(5, 8), omega.float()), places.float())


def test_a_window_has_as_many_keys_as_transformers_gives_it():
    for w in 1, 4:
        left, right = check.flash_window.reference(w)
        back = torch.arange(12)[:, None] - torch.arange(12)
        assert (((back <= left) & (back >= -right))[11]).sum() == w


def of_the_package(head, turning, base):
    return frequencies(head, base=base) * (torch.arange(head // 2) < turning // 2)


test_accepted = accepted({
    check.word_ids: [
        lambda here: (here.long().cumsum(1) - 1) * here, lambda here: ((here.int().cumsum(1) - 1) * here).int(),
    ],
    check.next_id: [
        lambda places, here: places.amax(1, keepdim=True) + 1, lambda places, here: places[:, -1:].int() + 1,
    ],
    check.sees: [lambda new, total: torch.arange(total) <= torch.arange(total - new, total)[:, None]],
    check.behind: [
        lambda row: torch.full((3,), row.max() + 1), lambda row: torch.full((3,), row.max() + 1, dtype=torch.int32),
    ],
    check.float_angles: [lambda x, omega: torch.outer(torch.arange(x.size(-2)).float(), omega)],
    check.flash_window: [lambda w: (w - 1, 0), lambda w: [w - 1, 0]],
    check.norm_and_turn: [
        lambda q, w, turn: turn(torch.nn.functional.rms_norm(q, q.shape[-1:], w)),
        lambda q, w, turn: turn(w * q.double() / q.double().square().mean(-1, True) ** 0.5),
    ],
    check.sharpened: [
        lambda scores, s: (1 + math.log(s) / 10) * (1 + math.log(s) / 10) * scores,
        lambda scores, s: scores.double() * scaling.mscale(s) ** 2,
    ],
    check.proportional: [
        of_the_package,
        lambda head, turning, base: torch.tensor([base ** (-i / head) * (i < turning) for i in range(0, head, 2)]),
    ],
    check.line_by_line: [
        lambda rows, columns: torch.tensor([(r, c) for r in range(rows) for c in range(columns)], dtype=torch.int32),
        lambda rows, columns: torch.stack(
            torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij"), -1
        ).flatten(0, 1),
    ],
})
