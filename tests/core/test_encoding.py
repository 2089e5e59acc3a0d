import pytest
import torch

from d2lpos import RoPE, Sinusoidal
from d2lpos.encoding import Encoding

OPEN = {
    "none": (),
    "sinusoidal": ("embed",),
    "learned": ("embed",),
    "rope, half": ("rotate",),
    "rope, interleaved": ("rotate",),
    "rope, scaled": ("rotate",),
    "t5": ("score",),
    "t5, causal": ("score",),
    "alibi": ("score",),
    "values": ("value",),
    "mlp": ("embed",),
    "fourier": ("embed",),
    "shaw's keys": ("score",),
    "shaw": ("score", "value"),
    "transformer-xl": ("score",),
    "kerple, logarithmic": ("score",),
    "kerple, power": ("score",),
    "fire": ("score",),
    "sandwich": ("score",),
}


OF_LAYERS = {
    "rope, values": ("rotate", "value"),
    "fox": ("score",),
    "cope": ("score",),
    "path": ("score",),
    "inkling": ("score",),
}


@pytest.mark.parametrize(
    ("encoding", "doors"), (OPEN | OF_LAYERS).items(), indirect=["encoding"], ids=OPEN | OF_LAYERS
)
def test_doors_of_each_encoding(encoding, doors):
    assert encoding.doors == doors


@pytest.mark.parametrize(("encoding", "doors"), OPEN.items(), indirect=["encoding"], ids=OPEN)
def test_closed_doors_change_nothing(encoding, doors, qkv):
    q, k, _ = qkv
    x, p = torch.randn(2, 6, 16, dtype=torch.float64), torch.arange(6)
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
