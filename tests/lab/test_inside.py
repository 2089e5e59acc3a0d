"""Probes say the truth about vectors that are known, and are asked about texts that they have not seen."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from d2lpos import Encoding, Learned, Transformer
from d2lpos.lab.inside import first_token, learned_table, probes
from d2lpos.lab.tasks import TASKS
from d2lpos.lab.training import UNSEEN

LANGUAGE = TASKS["language"]


class Known(nn.Module):
    """A model of one layer, with vectors that are a function of tokens and positions."""

    def __init__(self, vectors):
        super().__init__()
        self.vectors, self.blocks, self.norm = vectors, nn.ModuleList([nn.Identity()]), nn.Identity()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, tokens, positions):
        return self.norm(self.blocks[0](self.vectors(tokens, positions)))


def late(tokens):
    """Which texts are in the second half, that of the test; (texts, 1)."""
    return torch.arange(len(tokens))[:, None] >= len(tokens) // 2


def exact(tokens, positions):
    assert not torch.is_grad_enabled(), "a probe asks for no gradients, which would fill the memory"
    return (5 + 3 * positions).float().expand(tokens.shape)[..., None]


def one_off(tokens, positions):
    """Right in the texts of the fit; in the others one too many and one too few by turns."""
    wrong = late(tokens) * (1 - 2 * (torch.arange(len(tokens))[:, None] % 2))
    return (positions + wrong).float()[..., None]


@pytest.mark.parametrize(("vectors", "error", "r2"), [
    (exact, 0, 1),
    (lambda tokens, positions: torch.ones(*tokens.shape, 3), 8 / 4, 0),  # a guess of the middle
    (one_off, 1, 1 - 1 / 5.25),  # positions 0 … 7 have variance 5.25
])
def test_error_and_share(vectors, error, r2):
    want = {"error": pytest.approx(error, abs=1e-5), "r2": pytest.approx(r2, abs=1e-5)}
    assert probes(Known(vectors), LANGUAGE, 8, texts=4) == [{"layer": layer} | want for layer in (0, 1)]


class Leaning(Encoding):
    """The first token's key counts three times."""

    def score(self, q, k, q_positions, k_positions):
        return torch.where(k_positions == 0, math.log(3), 0.0).expand(len(q_positions), -1)


def test_the_first_token_of_a_model_that_leans_on_it_and_else_attends_evenly_takes_its_share():
    model = Transformer(vocabulary=18, outputs=17, encoding=Leaning(), causal=True)
    for block in model.blocks:
        block.attention.project.weight.data.zero_()
        block.attention.project.bias.data.zero_()
    share = sum(3 / (place + 3) for place in range(8, 16)) / 8
    assert first_token(model, TASKS["echo"], 16, texts=2) == pytest.approx([share, share])
    for block in model.blocks:
        block.attention.sinks = nn.Parameter(torch.full((4,), 9.0))  # a key that gives nothing out
    assert max(first_token(model, TASKS["echo"], 16, texts=2)) < share / 100
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_256_texts_are_asked_that_no_training_draws():
    """Probes are fitted to as many others."""
    asked = []

    def sampler(size, length, generator):
        asked.append((size, length, generator.initial_seed()))
        return torch.zeros(size, length, dtype=torch.long), None

    task, model = SimpleNamespace(tests={"test": sampler}), Transformer(vocabulary=18, outputs=17, dim=8, causal=True)
    for more in {}, {"texts": 1, "seed": 3}:
        probes(Known(exact), task, 8, **more)
        first_token(model, task, 8, **more)
    assert asked == [(512, 8, UNSEEN), (256, 8, UNSEEN), (2, 8, UNSEEN + 3), (1, 8, UNSEEN + 3)]


def test_the_table_is_a_copy_that_training_does_not_change():
    for dtype in torch.float32, torch.float64:
        model = Transformer(vocabulary=6, outputs=2, encoding=Learned(5, 64)).to(dtype)
        table, start = learned_table(model), model.encoding.table.detach().clone()
        model.encoding.table.data += 1
        assert table.dtype == torch.float64 and torch.equal(table, start.double()) and not table.requires_grad
    assert learned_table(Transformer(vocabulary=6, outputs=2)) is None
