"""Each placement drops what its name says, keeps the mean, and spares what is protected."""

import pytest
import torch
from torch.nn.functional import dropout
from torch.testing import assert_close

from d2lpos import Dropped, Encoding, Learned, Sinusoidal, Transformer
from d2lpos.transformer.dropout import PLACEMENTS, combine, drop, segment_ends, special_tokens

TOKEN, POSITION = 3.0, 40.0  # of their sums one can tell what has survived
RANDOM = [name for name in PLACEMENTS if name != "none"]


def parts(placement, rate=0.5, shape=(50, 6, 20), protected=None):
    """How often the token and the position are in each number of a sum: twice, once or not at all."""
    token, position = torch.full(shape, TOKEN), torch.full(shape[1:], POSITION)
    total = combine(token, position, placement, rate, protected)
    return total % POSITION / TOKEN, total // POSITION


@pytest.mark.parametrize(("placement", "kinds"), [
    ("none", {(1, 1)}),
    ("sum", {(0, 0), (2, 2)}),
    ("token", {(0, 1), (2, 1)}),
    ("position", {(1, 0), (1, 2)}),
    ("independent", {(0, 0), (0, 2), (2, 0), (2, 2)}),
    ("whole token", {(0, 1), (2, 1)}),
    ("whole position", {(1, 0), (1, 2)}),
])
def test_what_falls_together(placement, kinds):
    token, position = parts(placement)
    assert set(zip(token.flatten().tolist(), position.flatten().tolist(), strict=True)) == kinds


@pytest.mark.parametrize("placement", RANDOM)
def test_whole_vectors_live_or_die_as_one(placement):
    token, position = parts(placement)
    alike = [(part == part[..., :1]).all().item() for part in (token, position)]
    assert alike == [placement in ("whole token", "position", "whole position"),
                     placement in ("whole position", "token", "whole token")]  # fmt: skip


@pytest.mark.parametrize("placement", RANDOM)
def test_each_sequence_and_each_token_has_its_own_mask(placement):
    which = parts(placement, shape=(50, 40, 4))[0 if "token" in placement else 1]
    assert len(which.flatten(1).unique(dim=0)) == 50
    assert len(which[:, 0].unique(dim=0)) > 1 and not torch.equal(which[:, 0], which[:, 1])


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.7])
def test_drop_is_dropout(rate):
    x = torch.randn(5, 8)
    torch.manual_seed(1)
    got = drop(x, rate)
    torch.manual_seed(1)
    assert_close(got, dropout(x, rate))


@pytest.mark.parametrize("placement", RANDOM)
def test_protected_tokens_stay_to_the_last_bit(placement):
    dtype = torch.bfloat16
    token, position = torch.randn(7, 5, 8, dtype=dtype), torch.randn(5, 8, dtype=dtype)
    protected = torch.rand(7, 5) < 0.4
    got = combine(token, position, placement, 0.5, protected)
    assert got.dtype == dtype
    assert torch.equal(got[protected], (token + position)[protected])
    assert (got != token + position)[~protected].any(dim=-1).all()


@pytest.mark.parametrize("inner", [Sinusoidal(8), Learned(5, 8)])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_nothing_happens_in_evaluation(inner, placement):
    encoding, x = Dropped(inner, placement, 0.5).eval(), torch.randn(2, 5, 8)
    state = torch.get_rng_state()
    assert torch.equal(encoding.embed(x, torch.arange(5)), inner.embed(x, torch.arange(5)))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("inner", [Sinusoidal(8), Learned(9, 8)])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_module_in_training_is_the_function(inner, placement):
    x, positions, protected = torch.randn(2, 5, 8), torch.tensor([[4, 0, 1, 2, 8]] * 2), torch.eye(5)[:2] > 0
    torch.manual_seed(1)
    got = Dropped(inner, placement, 0.5).embed(x, positions, protected)
    torch.manual_seed(1)
    vectors = inner.embed(torch.zeros(2, 5, 8), positions)
    assert torch.equal(got, combine(x, vectors, placement, 0.5, protected))


def test_positions_have_as_many_axes_as_those_of_the_encoding():
    class Cells(Encoding):
        axes = 2

        def embed(self, x, positions):
            return x + positions.sum(dim=-1, keepdim=True).to(x)

    cells, tokens = torch.cartesian_prod(torch.arange(2), torch.arange(3)), torch.zeros(2, 6).long()
    net = Transformer(1, 2, encoding=Dropped(Cells(), rate=0.5)).eval()
    bare = Transformer(1, 2, encoding=Cells())
    bare.load_state_dict(net.state_dict())
    assert torch.equal(net(tokens, cells), bare(tokens, cells))


BATCH = {  # transformers.BertTokenizer on ("the fox [MASK]", "the dog runs") and ("the dog", "fox")
    "special_tokens_mask": [[1, 0, 0, 0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 1, 1, 1, 1]],
    "attention_mask": [[1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 0, 0, 0]],
    "token_type_ids": [[0, 0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 0, 0]],
}
SPECIAL = torch.tensor([[1, 0, 0, 0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 1, 0, 0, 0]]).bool()


@pytest.fixture
def batch():
    return {name: torch.tensor(mask) for name, mask in BATCH.items()}


def test_special_tokens_by_either_output(batch):
    assert torch.equal(special_tokens(batch["special_tokens_mask"], batch["attention_mask"]), SPECIAL)
    assert torch.equal(segment_ends(batch["token_type_ids"], batch["attention_mask"]), SPECIAL)


def test_a_single_sentence_ends_where_its_padding_begins():
    """Padding has type 0, as all of a single sentence has."""
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])
    ends = [[1, 0, 1, 0, 0], [1, 0, 0, 0, 1], [0, 0, 1, 0, 1]]
    assert segment_ends(torch.zeros_like(mask), mask).int().tolist() == ends


def test_without_an_attention_mask_padding_counts(batch):
    assert torch.equal(special_tokens(batch["special_tokens_mask"]), batch["special_tokens_mask"] > 0)
    assert segment_ends(batch["token_type_ids"]).int().tolist() == [
        [1, 0, 0, 0, 1, 0, 0, 0, 1],
        [1, 0, 0, 1, 0, 1, 0, 0, 1],
    ]
