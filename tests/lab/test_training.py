"""Training is the loop that its docstring describes, and a test counts what is asked."""

from contextlib import nullcontext
from copy import deepcopy

import pytest
import torch
from torch.nn import Embedding
from torch.nn.functional import cross_entropy, one_hot
from torch.testing import assert_close

from d2lpos import Dropped, Learned, Transformer
from d2lpos.lab import TASKS, accuracy, train
from d2lpos.lab.training import test as measure
from d2lpos.runtime.threads import one_thread
from tests.core.test_devices import OneDevice

COPY = TASKS["copy"].train
TRAINING = {"length": 8, "steps": 40, "size": 4, "rate": 0.01, "seed": 3}


@pytest.fixture(autouse=True)
def threads():
    with one_thread():
        yield


@pytest.fixture
def model():
    return Transformer(11, 10, dim=8, heads=2, layers=1, encoding=Learned(8, 8), causal=True)


def by_hand(model, rates):
    """AdamW at these rates on fresh batches; the loss of each batch before its step."""
    generator, losses = torch.Generator().manual_seed(TRAINING["seed"]), []
    optimizer = torch.optim.AdamW(model.parameters())
    for rate in rates:
        optimizer.param_groups[0]["lr"] = rate
        tokens, targets = COPY(TRAINING["size"], 8, generator)
        loss = cross_entropy(model(tokens, torch.arange(8))[targets >= 0], targets[targets >= 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def assert_same(model, other):
    """Of the bias of the keys, whose gradient is 0, Adam makes steps of any size."""
    weights, others = model.state_dict(), other.state_dict()
    for name in [name for name in weights if not name.endswith("project.bias")]:
        assert_close(weights[name], others[name], atol=1e-4, rtol=1e-3)


def test_training_is_adamw_along_a_tent(model):
    """The rate is at its peak after a twentieth of the steps, 2 of 40, and would be 0 one step after the last."""
    same, watched = deepcopy(model), []
    rates = [0.005, *(0.01 * left / 39 for left in range(39, 0, -1))]
    losses = by_hand(same, rates)
    assert train(model, COPY, **TRAINING, watch=lambda *row: watched.append(row)) is model
    assert [step for step, _ in watched] == list(range(1, 41))
    assert [loss for _, loss in watched] == pytest.approx(losses, rel=1e-3)
    assert_same(model, same)


def test_a_model_that_comes_in_evaluation_is_trained_with_dropout(model):
    model = Transformer(11, 10, dim=8, heads=2, layers=1, encoding=Dropped(Learned(8, 8), rate=0.5)).eval()
    modes = []
    train(model, COPY, 8, steps=2, size=1, watch=lambda *_: modes.append(model.encoding.training))
    assert modes == [True, True] and not model.encoding.training


def test_bfloat16_is_autocast(model):
    modes = []
    model.register_forward_pre_hook(lambda *_: modes.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))))
    for precision in "bfloat16", "float32":
        train(model, COPY, 8, steps=1, size=1, precision=precision)
    assert modes == [(True, torch.bfloat16), (False, torch.bfloat16)]


class Echo(Embedding):
    """Answers each token with itself, in logits of 2."""

    def __init__(self):
        super().__init__(1, 1)

    def forward(self, tokens, positions):
        assert not torch.is_grad_enabled(), "a test asks for no gradients, which would fill the memory"
        return 2.0 * one_hot(tokens, 4)


def draw(size, length, generator):
    """Random tokens and targets, of which a third asks nothing."""
    tokens, targets = torch.randint(4, (2, size, length), generator=generator)
    return tokens, targets.masked_fill(torch.rand(size, length, generator=generator) < 1 / 3, -100)


@pytest.mark.parametrize(("last", "within"), [(None, None), (3, None), (3000, None), (3, 1500)])
def test_loss_and_accuracy_of_all_tokens_and_of_the_last(last, within):
    """20 rows of 1,000 tokens go through the model in three parts."""
    drawn = []

    def sampler(size, length, generator):
        drawn.append(draw(size, length, generator))
        return drawn[-1]

    got = measure(Echo(), sampler, 1000, rows=20, last=last, within=within)
    (tokens, targets), want = drawn[0], {}
    assert tokens.shape == (20, within or 1000)
    for name, count in ("", 1000), ("_last", min(last or 1000, 1000)):
        asked = targets[:, -count:] >= 0
        right = (tokens == targets)[:, -count:][asked].double().mean().item()
        want[f"accuracy{name}"] = right
        # A right answer costs log(1 + 3 e⁻²), a wrong one 2 more.
        want[f"loss{name}"] = torch.tensor(3.0).mul(torch.tensor(-2.0).exp()).log1p().item() + 2 * (1 - right)
    assert got == pytest.approx(want, abs=1e-6)


def test_of_a_label_the_mean_over_the_row_is_asked():
    """The row 0 0 1 says 0 in its mean, whatever its last token says."""

    def sampler(size, length, generator):
        return torch.tensor([[0, 0, 1], [1, 1, 0]]), torch.tensor([0, 2])

    assert 0 < measure(Echo(), draw, 8193, rows=2)["accuracy"] < 0.5  # a row at a time, however long
    got = measure(Echo(), sampler, 3, rows=2, last=1)
    assert got["accuracy"] == 0.5 and got["loss_last"] is None and got["accuracy_last"] is None
    logits = torch.tensor([[4.0, 2, 0, 0], [2, 4, 0, 0]]) / 3
    assert got["loss"] == pytest.approx(cross_entropy(logits, torch.tensor([0, 2])).item())


def test_accuracy_asks_fresh_rows_of_each_seed():
    drawn = []

    def sampler(size, length, generator):
        drawn.append((size, length, generator.initial_seed()))
        return draw(size, length, generator)

    for seed in 0, 1:
        accuracy(Echo(), sampler, 5, 7, seed=seed)
    assert drawn == [(7, 5, 2**31), (7, 5, 2**31 + 1)]


def test_rows_go_where_the_model_is(monkeypatch):
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # neither this nor AdamW knows a pretend device
    monkeypatch.setattr(torch.optim, "AdamW", lambda weights, lr, fused: torch.optim.SGD(weights, lr))
    model, given = Transformer(4, 2, dim=8, heads=2, layers=1).to("meta"), []
    model.register_forward_pre_hook(lambda _, all_given: given.extend(all_given))
    for call in (lambda *how: train(*how, watch=print)), measure:
        with OneDevice(), pytest.raises(RuntimeError, match="meta tensor"):  # its numbers cannot be read in the end
            call(model, TASKS["order"].train, 4, 1)
    assert [x.device.type for x in given] == 4 * ["meta"]
