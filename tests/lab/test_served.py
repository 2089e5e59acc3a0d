"""What is asked of a model that is served: keys in few bits, drafts that stand elsewhere."""

import pytest
import torch

from d2lpos import RoPE
from d2lpos.check import plumbing as check
from d2lpos.lab.bits import RoundedKeys, rounded
from d2lpos.lab.drafts import ROUND, acceptance, draft, misplaced
from d2lpos.lab.probe import loaded

KEYS = torch.randn(2, 3, 12, 8, generator=torch.Generator().manual_seed(0))
HERE = torch.arange(12)


@pytest.mark.parametrize("by", ["token", "channel"])
def test_so_many_levels(by):
    levels = rounded(KEYS, 2, by)
    groups = levels if by == "token" else levels.mT
    assert max(len(group.unique()) for group in groups.flatten(0, 2)) == 4
    assert torch.allclose(rounded(KEYS, 16, by), KEYS, atol=1e-3)


def test_levels_as_the_exercise_has_them():
    assert torch.allclose(rounded(KEYS, 3, "channel", 4)[0, 0], check.levels.reference(KEYS[0, 0], 3, 4))


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_before_and_after_differ_by_the_turn_alone(layout):
    own = RoPE(8, layout=layout)
    still = torch.zeros(12)
    before, after = (RoundedKeys(own, 2, "channel", before).rotate(KEYS, KEYS, still, still)[1] for before in (True, False))
    assert torch.allclose(before, after, atol=1e-6)
    turned = RoundedKeys(own, 2, "channel", before=True).rotate(KEYS, KEYS, HERE, HERE)[1]
    assert torch.allclose(turned, own.rotate_at(rounded(KEYS, 2, "channel"), HERE))


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_spared_tokens_and_pairs_keep_their_keys(layout):
    one = RoundedKeys(RoPE(8, layout=layout), 1, "channel", before=True, first=2, pairs=slice(2))
    stored = one.stored(KEYS)
    assert torch.equal(stored[:, :, :2], KEYS[:, :, :2])
    spared = [2, 3, 6, 7] if layout == "half" else [4, 5, 6, 7]
    assert torch.equal(stored[..., spared], KEYS[..., spared])
    assert not torch.isclose(stored[:, :, 2:], KEYS[:, :, 2:])[..., [0, 1]].all()


def test_bad_calls():
    with pytest.raises(ValueError, match="by must be"):
        rounded(KEYS, 2, "head")
    with pytest.raises(ValueError, match="bits must be"):
        rounded(KEYS, 0, "token")
    with pytest.raises(ValueError, match="group must be"):
        rounded(KEYS, 2, "channel", 0)


TEXT = torch.randint(256, (1, 16), generator=torch.Generator().manual_seed(1))


def test_a_draft_in_place_is_the_model():
    model = loaded("stand-in")
    assert torch.allclose(model.logits(draft(model, TEXT, torch.arange(16))), model(TEXT), atol=1e-4)


def test_a_round_one_later_is_a_gap_for_the_first_round():
    model = loaded("stand-in")
    here, ahead, of = misplaced(16)["round one later"]
    gap, *_ = misplaced(16)["one gap before the drafts"]
    first = slice(0, 8 + ROUND)
    off, other = draft(model, TEXT, here, ahead, of), draft(model, TEXT, gap)
    assert torch.allclose(off[:, first], other[:, first], atol=1e-4)
    assert not torch.allclose(off[:, 8 + ROUND :], other[:, 8 + ROUND :], atol=1e-4)


def test_positions_of_rounds():
    ways = misplaced(16)
    assert ways["still within a round"][0].tolist() == [*range(8), 8, 8, 8, 8, 12, 12, 12, 12]
    assert ways["one more gap each round"][0].tolist() == [*range(8), 9, 10, 11, 12, 14, 15, 16, 17]


def test_accepted_is_what_both_expect():
    logits = torch.randn(5, 9, generator=torch.Generator().manual_seed(2))
    assert torch.allclose(acceptance(logits, logits), torch.ones(5))
    p, q = logits.softmax(dim=-1), logits.flip(0).softmax(dim=-1)
    assert torch.allclose(acceptance(logits, logits.flip(0)), 1 - (p - q).abs().sum(dim=-1) / 2, atol=1e-6)
