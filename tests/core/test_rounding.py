"""Far positions: what float32 does not hold is computed in float64 or refused, and half precision rounds no slope."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from d2lpos import FIRE, KERPLE, ALiBi, Attention, Encoding, FourierFeatures, PositionMLP, RoPE, Sinusoidal
from d2lpos.bias.alibi import bias, slopes
from d2lpos.bias.base import distance
from d2lpos.bias.swin_v2 import SwinV2
from d2lpos.input.sinusoids import angles, frequencies, sinusoidal
from d2lpos.positions import as_float, cells, interpolate, offsets
from d2lpos.rotary.mixed import Mixed
from d2lpos.transformer import Mask, attend, attention_weights, window_mask
from d2lpos.transformer.temperature import steps
from tests.core.conftest import DIM, ENCODINGS, FEATURES, HEADS
from tests.core.test_laws import RELATIVE

FAR = 2**24
HERE = torch.arange(6)


@pytest.mark.parametrize("name", sorted(set(RELATIVE) & set(ENCODINGS)))
@pytest.mark.parametrize("shift", [FAR - 3, FAR, 2**31 + 5])
def test_integers_are_shifted_without_loss(name, shift):
    q, k, v = torch.randn(3, 1, HEADS, 6, FEATURES)
    encoding = ENCODINGS[name]()
    with torch.no_grad():
        got = attend(q, k, v, HERE + shift, HERE + shift, encoding)
        assert_close(got, attend(q, k, v, HERE, HERE, encoding), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("encoding", [Sinusoidal(DIM), FourierFeatures(DIM), PositionMLP(DIM, 8)], ids=repr)
def test_neighbors_far_out_get_vectors_of_their_own(encoding):
    x, places = torch.zeros(1, 3, DIM), FAR + torch.arange(3)
    with torch.no_grad():
        got = encoding.embed(x, places)
        assert_close(got.double(), encoding.double().embed(x.double(), places.double()), rtol=1e-5, atol=1e-5)


def test_angles_of_far_integers_are_those_of_float64():
    places = torch.tensor([FAR - 1, FAR, FAR + 1, 2**40 + 1])
    assert torch.equal(angles(places, frequencies(8)), angles(places.double(), frequencies(8)))
    assert torch.equal(sinusoidal(places, 8), sinusoidal(places.double(), 8).float())
    assert interpolate(places, 3).tolist() == [p / 3 for p in places.tolist()]
    assert steps(torch.tensor([FAR]), length=257, counted=True) == steps(torch.tensor([FAR + 1]).double(), length=257)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint32, torch.uint64])
def test_integers_become_the_least_float_that_holds_them(dtype):
    for most, want in (FAR - 1, torch.float32), (FAR, torch.float64), (FAR + 1, torch.float64):
        got = as_float(torch.tensor([0, most], dtype=dtype))
        assert got.dtype == want and got.tolist() == [0, most]
    if dtype.is_signed:
        assert as_float(torch.tensor([-FAR - 1, 0], dtype=dtype)).tolist() == [-FAR - 1, 0]


def test_offsets_of_integers_and_floats_do_not_round_the_integers():
    got = offsets(torch.tensor([FAR + 1]), torch.tensor([0.5, 1.0]))
    assert got.tolist() == [[-FAR - 0.5, -FAR]]
    assert offsets(torch.tensor([2**62]), torch.tensor([-(2**62)])).tolist() == [[-(2**63)]]


def test_distances_from_afar_are_told_apart():
    apart = torch.tensor([-FAR - 1, FAR, -FAR + 1])
    assert distance(apart).tolist() == [FAR + 1, FAR, FAR - 1]
    here, there = torch.tensor([2 * FAR]), torch.arange(4)
    got = bias(here, there, torch.tensor([0.5]))
    assert got.diff(dim=-1).tolist() == [[[0.5, 0.5, 0.5]]]
    q, k, v = torch.randn(1, HEADS, 1, FEATURES), *torch.randn(2, 1, HEADS, 4, FEATURES)
    assert_close(attend(q, k, v, here, there, ALiBi(HEADS)), attend(q, k, v, here - 2 * FAR + 4, there, ALiBi(HEADS)))


def test_a_window_ends_where_it_ends():
    """1 + 2²⁴ is 2²⁴ in float32."""
    here, there = torch.tensor([FAR - 1.0]), torch.tensor([0.0, -1.0, -2.0])
    assert window_mask(there, here, FAR)[:, 0].tolist() == [True, False, False]
    assert window_mask(torch.tensor([1.0]), torch.tensor([FAR, FAR + 1]), FAR).tolist() == [[True, False]]


# Half precision


@pytest.mark.parametrize(
    "encoding",
    [ALiBi(12, slopes=slopes(12)), ALiBi(12, slopes=nn.Parameter(slopes(12))), ALiBi(12), KERPLE(12), KERPLE(12, "power")],
    ids=["buffer", "learned", "rule", "logarithmic", "power"],
)
def test_half_precision_rounds_no_slope(encoding):
    q, k = torch.zeros(1, 12, 1, 8), torch.zeros(1, 12, 2, 8)
    here, there = torch.tensor([5000]), torch.tensor([0, 4999])
    want = encoding.score(q, k, here, there)
    for dtype in torch.bfloat16, torch.float16:
        assert torch.equal(encoding.to(dtype).score(q.to(dtype), k.to(dtype), here, there), want)
    for name in encoding.wide:
        assert getattr(encoding.double(), name) is None or getattr(encoding, name).dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make", [lambda: SwinV2(HEADS, 24, 24), *(ENCODINGS[name] for name in ("shaw's keys", "transformer-xl", "fire"))])
def test_scores_of_halves_are_computed_wide(make, dtype):
    """As wide as positions and steps need: only weights, queries and keys are rounded."""
    encoding = make().to(dtype)
    here = cells(24, 24) if encoding.axes == 2 else torch.tensor([256, 257, 300, 301, 302, 303])
    q = torch.randn(1, HEADS, len(here), FEATURES).to(dtype)
    got = encoding.score(q, q, here, here)
    assert got.dtype == torch.float32
    assert torch.equal(got, encoding.float().score(q.float(), q.float(), here, here))


def test_half_precision_rounds_no_frequency_and_no_threshold():
    with torch.no_grad():
        fire, mixed, fourier = FIRE(2, c=0.1, threshold=300.3), Mixed(8, 2), FourierFeatures(8)
    before = {x: {name: getattr(x, name).clone() for name in x.wide} for x in (fire, mixed, fourier)}
    for encoding, values in before.items():
        layers = nn.Sequential(encoding).to(torch.bfloat16)
        assert values and all(torch.equal(getattr(layers[0], name), value) for name, value in values.items())
    assert fire.first.weight.dtype == fourier.second.bias.dtype == torch.bfloat16


def test_a_learned_slope_that_stays_wide_keeps_its_gradient():
    encoding = KERPLE(2)
    encoding.score(*torch.zeros(2, 1, 2, 3, 8), HERE[:3], HERE[:3]).sum().backward()
    before = encoding.r1.grad.clone()
    encoding.to(torch.bfloat16)
    assert encoding.r1.dtype == encoding.r1.grad.dtype == torch.float32
    assert torch.equal(encoding.r1.grad, before)


# What is not finite shows.


@pytest.mark.parametrize("mask", [None, "in order", "pairs"])
@pytest.mark.parametrize("encoding", [Encoding(), RoPE(FEATURES), ALiBi(HEADS)], ids=repr)
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_a_query_or_key_that_is_no_number_shows(mask, encoding, kv_heads):
    q, k, v = torch.randn(1, HEADS, 6, FEATURES), *torch.randn(2, 1, kv_heads, 6, FEATURES)
    q[0, 0, 3, 1] = k[0, 0, 0, 2] = torch.nan  # one feature will do, of the only key that the first query sees, too
    visible = {None: None, "in order": Mask(HERE), "pairs": HERE <= HERE[:, None]}[mask]
    got = attend(q, k, v, HERE, HERE, encoding, visible)
    want = attention_weights(q, k, HERE, HERE, encoding, visible) @ v
    assert want.isnan().any() and got[want.isnan()].isnan().all()  # with pairs, keys that are hidden show, too


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_autocast_takes_x_in_any_dtype(dtype):
    layer, x = Attention(16, 2), torch.randn(1, 6, 16).to(dtype)
    with pytest.raises(TypeError, match="x must be torch.float32, as the weights are; got"):
        layer(x, HERE)
    if dtype == torch.bfloat16:
        with torch.autocast("cpu", dtype=dtype):
            assert layer(x, HERE).dtype == dtype
