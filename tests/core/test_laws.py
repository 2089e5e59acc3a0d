"""Laws that hold across encodings: what each can see of order, and that positions are data."""

from importlib import import_module
from itertools import permutations
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos import Encoding, Transformer
from d2lpos.transformer.attention import attend, segment_mask
from tests.core.conftest import ENCODINGS, LAYERS, SEES, that_see
from tests.house import ENCODERS, ROOT, modules, room

ALSO = ("rope, values", "cope", "fox", "path", "inkling")
N = 5
TOKENS = torch.tensor([[1, 5, 2, 0, 3], [4, 0, 6, 1, 2]])
ABSOLUTE, OWN = that_see("places"), that_see("order")  # OWN: a ruler that the text lays
RELATIVE = that_see("offsets", "order")
SHUFFLE = torch.tensor([3, 0, 4, 1, 2])
causal_or_not = pytest.mark.parametrize("causal", [False, True])


# Classes that wrap another encoding, or whose positions have several coordinates, and the file with their laws.
ELSEWHERE = {
    "BEiT": "core/test_axes.py",
    "Bias": "core/test_base.py",
    "DeBERTa": "core/test_deberta.py",
    "Decomposed": "core/test_axes.py",
    "Dropped": "core/test_dropout.py",
    "LastRow": "figures/hero/test_hero_math.py",
    "MRoPE": "core/test_mrope.py",
    "Mixed": "core/test_axes.py",
    "Normed": "core/test_pope.py",
    "PoPE": "core/test_pope.py",
    "Swin": "core/test_swin.py",
    "SwinV2": "core/test_swin_v2.py",
}


BASES = {"PositionBias", "Rotary"}  # of which others are made


def subclasses(parent: type) -> set[type]:
    return {parent}.union(*map(subclasses, parent.__subclasses__()))


def test_every_encoding_of_the_package_is_under_the_laws():
    for module in modules(ROOT):
        if room(module) in (*ENCODERS, "pretrained"):
            import_module(module)
    # The lab's variants are no encodings of the package.
    kinds = {kind.__name__ for kind in subclasses(Encoding) if room(kind.__module__) in (*ENCODERS, "pretrained")}
    under = {type(make()).__name__ for make in (ENCODINGS | LAYERS).values()}
    assert not kinds - under - BASES - set(ELSEWHERE), "no law has seen it: add it to TABLE in tests/core/conftest.py"
    for name, file in ELSEWHERE.items():
        assert name in kinds - under and name in Path(__file__).parents[1].joinpath(file).read_text("utf-8"), name


def test_every_name_has_its_laws():
    """Else those that hold for some kinds would pass it by."""
    for name, (sees, *more) in SEES.items():
        known = sees in ("nothing", "places", "offsets", "order", "share") and {*more} <= {"whole", "mirrored"}
        assert known, f"the row of {name!r} in TABLE of tests/core/conftest.py says what it sees, in the words above it"


def only(*names):
    return pytest.mark.parametrize("encoding", names, indirect=True)


def model(encoding, causal=False):
    return Transformer(7, 3, dim=16, heads=2, encoding=encoding, causal=causal).double()


# Tokens move, positions stay.


@given(order=st.permutations(range(N)))
def test_without_position_the_transformer_is_equivariant(order):
    net = model(Encoding())
    assert_close(net(TOKENS[:, order], torch.arange(N)), net(TOKENS, torch.arange(N))[:, order])


@only("none")
def test_a_causal_mask_sees_order(encoding):
    net, p = model(encoding, causal=True), torch.arange(N)
    moved = (net(TOKENS[:, SHUFFLE], p) - net(TOKENS, p)[:, SHUFFLE]).abs().amax(dim=(0, 2))
    assert moved.min() > 1e-3


COMMUTES = {name: {(0, 1, 2, 3, 4), (4, 3, 2, 1, 0)} for name in that_see("mirrored")}
COMMUTES["none"] = set(permutations(range(N)))


def test_which_permutations_commute_with_attention(encoding, place, request):
    """A symmetric bias of |i − j| lets reversal pass; what tells directions apart lets none pass."""
    q, k, v = torch.randn(3, 1, 2, N, 8).double()
    x, p = torch.randn(1, N, 16).double(), place(range(N))

    def output(order):
        added = (
            encoding.embed(x[:, order], p).view(1, N, 2, 8).transpose(1, 2)
        )  # as values: order shows in all doors
        hidden = encoding.hidden_features(x[:, order])
        return attend(q[:, :, order], k[:, :, order], v[:, :, order] + added, p, p, encoding, None, hidden)

    straight = output(range(N))
    commuting = {o for o in permutations(range(N)) if torch.allclose(output(o), straight[:, :, o])}
    wanted = COMMUTES.get(request.node.callspec.params["encoding"], {tuple(range(N))})
    assert commuting == wanted, 'its row in TABLE of tests/core/conftest.py says whether it is "mirrored"'


# Positions are data.


@causal_or_not
def test_tokens_that_take_their_positions_with_them_change_nothing(encoding, place, causal):
    net, p = model(encoding, causal), place([0, 1, 2, 5, 9])
    assert_close(net(TOKENS[:, SHUFFLE], p[SHUFFLE]), net(TOKENS, p)[:, SHUFFLE])


@causal_or_not
@only("none", *RELATIVE)
def test_a_shift_of_all_positions_changes_nothing(encoding, place, causal):
    net = model(encoding, causal)
    for shift in (1, 17, 1_000_000):
        assert_close(net(TOKENS, place(range(shift, shift + N))), net(TOKENS, place(range(N))))


@causal_or_not
@only(*OWN)
def test_a_ruler_of_its_own_counts_tokens_and_no_places(encoding, place, causal):
    net = model(encoding, causal)
    assert_close(net(TOKENS, place([-7, 0, 0.5, 3, 1000])), net(TOKENS, place(range(N))))


@causal_or_not
@only(*(name for name in RELATIVE if name not in OWN))
def test_a_gap_changes_what_sees_places(encoding, place, causal):
    net = model(encoding, causal)
    assert (net(TOKENS, place([0, 1, 3, 4, 5])) - net(TOKENS, place(range(N)))).abs().max() > 1e-3


@causal_or_not
@only(*ABSOLUTE)
def test_a_shift_changes_absolute_encodings(encoding, place, causal):
    net = model(encoding, causal)
    assert (net(TOKENS, place(range(1, N + 1))) - net(TOKENS, place(range(N)))).abs().max() > 1e-3


@only(*(name for name, row in SEES.items() if "whole" not in row))
def test_positions_may_be_fractions(encoding, place):
    net, p = model(encoding, causal=True), place([0.0, 0.5, 1.25, 3, 7])
    assert net(TOKENS, p).isfinite().all()
    assert_close(net(TOKENS[:, SHUFFLE], p[SHUFFLE]), net(TOKENS, p)[:, SHUFFLE])


def test_positions_of_a_batch_are_those_of_its_sequences(encoding, place):
    net = model(encoding, causal=True)
    one, other = place([0, 1, 2, 3, 4]), place([7, 3, 5, 9, 8])
    want = net(TOKENS, one)
    assert_close(net(TOKENS, one[None]), want)
    assert_close(net(TOKENS, one.expand(2, N)), want)
    mixed = net(TOKENS, torch.stack([one, other]))
    assert_close(mixed[0], want[0])
    assert_close(mixed[1], net(TOKENS, other)[1])


def test_left_padding_changes_nothing_where_positions_come_from_the_mask(encoding, place):
    net = model(encoding, causal=True)
    real = torch.tensor([[False, False, True, True, True], [True] * 5])
    got = net(TOKENS, place((real.cumsum(dim=-1) - 1).clamp(min=0)), segment_mask(real, real))
    assert_close(got[0, 2:], net(TOKENS[:1, 2:], place(range(3)))[0])
    assert_close(got[1], net(TOKENS[1:], place(range(5)))[0])


def test_a_prefix_does_not_know_what_follows(encoding, place):
    net = model(encoding, causal=True)
    assert_close(net(TOKENS[:, :3], place(range(3))), net(TOKENS, place(range(N)))[:, :3])
