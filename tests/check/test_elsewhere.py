"""The checks of chapter 13: their references another way, and right answers written otherwise."""

import pytest
import torch

from d2lpos.check import elsewhere as check
from tests.check.right import accepted, right

# What the references are worth


def test_flux_angles_are_those_of_its_embedder():
    """FLUX's id (1, 63, 63): a sine or cosine of some features, which stand twice there, from diffusers 0.42.1."""
    found = check.axis_angles.reference(torch.tensor([[1.0, 63.0, 63.0]]), [16, 56, 56], 10_000.0)[0].repeat_interleave(2)
    sines = found[[0, 2, 16, 18]].sin()
    torch.testing.assert_close(sines, torch.tensor([0.8414710, 0.3109836, 0.1673557, 0.9774231]), atol=1e-5, rtol=0)
    torch.testing.assert_close(found[[72, 127]].cos(), torch.tensor([0.9858966, 0.9999617]), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("start", "seconds", "times", "following"), [(4, 1.0, [4, 29, 54, 79], 80), (4, 0.5, [4, 16, 29, 41], 42)])
def test_times_of_a_film_are_those_of_qwen_omni(start, seconds, times, following):
    """As transformers 5.23.0 gives them, from its get_rope_index."""
    ids, after = check.film_ids.reference(4, 2, 2, seconds, start)
    assert ids[::4, 0].tolist() == times and after == following


def test_rows_of_bfloat16_merge_from_257_on():
    ids = torch.arange(301)[:, None]
    assert check.merged.reference(ids, torch.bfloat16).nonzero()[:, 0].tolist() == [x for x in range(256, 301) if x % 4 != 2]


@pytest.mark.parametrize(("chunk", "left"), [(4, 8), (3, 3), (2, 5)])
def test_a_stack_sees_ahead_to_the_end_of_the_chunk(chunk, left):
    here = torch.arange(6 * chunk)
    seen = check.chunk_mask.reference(here, here, chunk, left).float()
    deep = torch.linalg.matrix_power(seen, 12) > 0
    ahead = [int(row.nonzero().max()) - q for q, row in enumerate(deep)]
    assert max(ahead) == chunk - 1
    assert right(check.chunk_mask, "ahead") == 8 - 1


# Right answers, written otherwise


def outer_products(positions, features, base):
    return torch.cat(
        [torch.outer(x.double(), base ** -(torch.arange(d // 2).double() * 2 / d)) for x, d in zip(positions.T, features, strict=True)],
        dim=1,
    )


def by_columns(positions, features, base):
    exponents = torch.cat([torch.arange(0, d, 2) / d for d in features])
    axis = torch.arange(len(features)).repeat_interleave(torch.tensor(features) // 2)
    return positions[:, axis] / base**exponents


def one_by_one(ids, dtype):
    before, after = ids.tolist(), ids.to(dtype).tolist()
    return torch.tensor([any(a == b and x != y for b, y in zip(after, before, strict=True)) for a, x in zip(after, before, strict=True)])


def by_loops(frames, height, width, seconds, start):
    ids = [
        [start + int(frame * seconds * 25), start + row, start + column]
        for frame in range(frames)
        for row in range(height)
        for column in range(width)
    ]
    return torch.tensor(ids), max(map(max, ids)) + 1


def from_first_to_last(q, k, chunk, left):
    first = (q // chunk - left // chunk) * chunk
    last = q // chunk * chunk + chunk - 1
    return (k >= first[:, None]) & (k <= last[:, None])


test_accepted = accepted({
    check.axis_angles: [outer_products, by_columns],
    check.merged: [one_by_one],
    check.film_ids: [by_loops],
    check.chunk_mask: [from_first_to_last],
})
