"""An encoding that opens one door is called; what is called in a wrong way says how it is meant."""

import pytest
import torch

from d2lpos import KERPLE, RoPE, Shaw, Sinusoidal, Swin
from d2lpos.content import CoPE, FoX
from d2lpos.encoding import DOORS, ELSEWHERE, Encoding
from d2lpos.positions import grid
from d2lpos.rotary import Mixed, MRoPE, PoPE
from d2lpos.transformer import attend
from d2lpos.transformer.flex import attend_flex
from tests.core.conftest import ENCODINGS, LAYERS

P, X = torch.arange(6), torch.randn(2, 6, 16)
Q, K = torch.randn(2, 2, 2, 6, 8)
KEYS = torch.randn(2, 2, 9, 8)
INPUT = [name for name, make in ENCODINGS.items() if make().doors == ("embed",)]
PAIRS = [name for name, make in (ENCODINGS | LAYERS).items() if make().doors in (("rotate",), ("score",))]
SEVERAL = ["none", "shaw", "rope, values"]


def hidden(encoding, x):
    features = encoding.hidden_features(x)
    return () if features is None else (features,)


def same(one, other):
    torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("encoding", INPUT, indirect=True)
def test_door_one_is_called_with_embeddings_and_positions(encoding):
    encoding = encoding.float()
    same(encoding(X, P), encoding.embed(X, P))
    same(encoding(X, positions=P), encoding.embed(X, P))


@pytest.mark.parametrize("encoding", PAIRS, indirect=True)
def test_keys_stand_where_queries_do_unless_the_call_says_otherwise(encoding):
    encoding = encoding.float()
    door = getattr(encoding, encoding.doors[0])
    more, names = hidden(encoding, X), DOORS["score"]
    want = door(Q, K, P, P, *more)
    same(encoding(Q, K, P, P, *more), want)
    if not more:
        same(encoding(Q, K, P), want)
        same(encoding(Q, K, positions=P), want)
    else:
        same(encoding(Q, K, P, hidden_features=more[0]), want)
    here, there = P + 3, torch.arange(9)
    more = hidden(encoding, torch.cat([X, X[:, :3]], dim=1))
    want = door(Q, KEYS, here, there, *more)
    same(encoding(Q, KEYS, here, there, *more), want)
    if not more:
        same(encoding(**dict(zip(names, (Q, KEYS, here, there), strict=True))), want)


@pytest.mark.parametrize("encoding", SEVERAL, indirect=True)
def test_an_encoding_with_no_door_or_several_says_so(encoding):
    with pytest.raises(TypeError, match=r"opens the doors \(.*and one that is called opens one: call a method"):
        encoding(Q, K, P)


ROPE = r"RoPE\(dim=8, rotary=8\) is called as \(q, k, positions\) or \(q, k, q_positions, k_positions\); got"


@pytest.mark.parametrize(("arguments", "named", "got"), [
    ((), {}, r"\(\)"),
    ((Q, K, P, P, P), {}, r"\(Tensor, Tensor, Tensor, Tensor, Tensor\)"),
    ((Q, K), {"position_ids": P}, r"\(Tensor, Tensor, position_ids=…\)"),
    ((Q, K), {"k_positions": P}, r"\(Tensor, Tensor, k_positions=…\)"),
    ((Q, K), {"positions": P, "k_positions": P}, r"\(Tensor, Tensor, positions=…, k_positions=…\)"),
])
def test_a_wrong_call_says_which_is_meant(arguments, named, got):
    with pytest.raises(TypeError, match=f"^{ROPE} {got}$"):
        RoPE(8)(*arguments, **named)


def test_a_wrong_call_of_door_one_says_which_is_meant():
    with pytest.raises(TypeError, match=r"Sinusoidal\(dim=16\) is called as \(x, positions\); got \(Tensor\)"):
        Sinusoidal(16)(X)


# (batch, sequence, head, feature), as flash-attn and torchtune have it

BEHIND = torch.randn(2, 6, 3, 8)
CELLS = grid.cells(2, 3)
REFUSE = {
    "rope": lambda q: RoPE(8)(q, q, P),
    "rope, rotate_at": lambda q: RoPE(8).rotate_at(q, P),
    "mixed": lambda q: Mixed(8, 6)(q, q, CELLS),
    "pope": lambda q: PoPE(8, 6)(q, q, P),
    "kerple": lambda q: KERPLE(6)(q, q, P),
    "shaw": lambda q: Shaw(8, 2).score(q, q, P, P),
    "cope": lambda q: CoPE(8, 3)(q, q, P),
    "attend": lambda q: attend(q, q, q, P, P, RoPE(8)),
    "attend_flex": lambda q: attend_flex(q, q, q, P, P, RoPE(8)),
}


@pytest.mark.parametrize("call", REFUSE.values(), ids=REFUSE)
def test_heads_behind_tokens_are_refused_by_the_names_of_the_axes(call):
    name = "[qx] must be"
    axes = r"\(batch, head, sequence, feature\), with a sequence of 6, as positions has; got \(2, 6, 3, 8\): "
    with pytest.raises(ValueError, match=name + " " + axes + r"of \(batch, sequence, head, feature\) take [qx].transpose\(1, 2\)"):
        call(BEHIND)


@pytest.mark.parametrize("encoding", [FoX(16, 2), CoPE(8, 3), KERPLE(2), RoPE(8), Swin(2, 2, 3)], ids=lambda e: type(e).__name__)
def test_what_has_no_heads_is_refused(encoding):
    positions, q = P if encoding.axes == 1 else CELLS, Q[0, 0]
    with pytest.raises((TypeError, ValueError), match=r"must be \(batch, head, sequence, feature\)|hidden_features must"):
        encoding(q, q, positions)


# Names that other libraries use

HAS = "its arguments are dim, base, layout, rotary, scaling, axes"


@pytest.mark.parametrize(("make", "message"), [
    (lambda: RoPE(8, theta=5e5), f"RoPE has no argument theta: it calls it base; {HAS}"),
    (lambda: RoPE(8, rope_theta=5e5), f"RoPE has no argument rope_theta: it calls it base; {HAS}"),
    (lambda: RoPE(head_dim=8), f"RoPE has no argument head_dim: it calls it dim; {HAS}"),
    (
        lambda: RoPE(8, max_position_embeddings=4096),
        f"RoPE has no argument max_position_embeddings: it has neither that nor length; {HAS}",
    ),
    (lambda: MRoPE(8, [0, 1], theta=5e5), "MRoPE has no argument theta: it calls it base; its arguments are dim, deal"),
    (lambda: KERPLE(num_heads=8), "KERPLE has no argument num_heads: it calls it heads; its arguments are heads, form"),
])
def test_usual_names_of_other_libraries_say_ours(make, message):
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_an_encoding_of_ones_own_may_use_any_name():
    class Own(Encoding):
        def __init__(self, theta, num_heads=2):
            super().__init__()
            self.theta = theta

    class Any(Own):
        def __init__(self, **named):
            super().__init__(**named)

    assert Own(theta=3).theta == Any(theta=3).theta == 3
    assert not {name for names in ELSEWHERE.values() for name in names} & ELSEWHERE.keys()
