import pytest
import torch

from d2lpos import RoPE, Sinusoidal
from d2lpos.encoding import Encoding

OPEN = {
    "none": (),
    "sinusoidal": ("embed",),
    "rope, half": ("rotate",),
    "t5": ("score",),
    "values": ("value",),
    "shaw": ("score", "value"),
    "rope, values": ("rotate", "value"),
}


@pytest.mark.parametrize(("encoding", "doors"), OPEN.items(), indirect=["encoding"], ids=OPEN)
def test_doors_of_each_kind(encoding, doors):
    assert encoding.doors == doors


def test_closed_doors_change_nothing(encoding, qkv):
    q, k, _ = qkv
    x, p, doors = torch.randn(2, 6, 16, dtype=torch.float64), torch.arange(6), encoding.doors
    assert (encoding.embed(x, p) is x) == ("embed" not in doors)
    turned_q, turned_k = encoding.rotate(q, k, p, p)
    assert (turned_q is q and turned_k is k) == ("rotate" not in doors)
    assert (encoding.score(q, k, p, p) is None) == ("score" not in doors)
    assert (encoding.value(q @ k.mT, p, p) is None) == ("value" not in doors)
    assert encoding.rotate_values(k, p) is k and encoding.unrotate_output(q, p) is q
    assert encoding.hidden_features(x) is None and not encoding.needs_hidden


def test_doors_are_inherited_and_add_up():
    class Both(RoPE):
        embed = Sinusoidal.embed

    assert Both(8).doors == ("embed", "rotate")
    assert not Encoding().state_dict()
