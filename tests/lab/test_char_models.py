"""Trained models in 8 bits, and the files that pages load them from."""

import json
import math
from dataclasses import replace

import pytest
import torch

from d2lpos import T5Bias, Transformer
from d2lpos.lab import execute, records, training
from d2lpos.lab.char_models import card, char_model, losses, pack, script
from d2lpos.lab.models import build
from d2lpos.lab.studies import LITTLE, STUDIES
from d2lpos.lab.text import UNKNOWN, characters, decode
from d2lpos.pretrained.char_models import CHAR_MODELS, load, path, read, surprise, tokens, unpack

RUNS = {run.encoding: run for run in STUDIES["readers"].full}
RECORDS = {record["run"]["encoding"]: record for record in records("readers")}
TEXT = characters("test", flowing=True)[:513]


def test_every_number_is_within_half_a_step_and_as_it_was_in_rows_of_fewer_than_16():
    torch.manual_seed(0)
    model = Transformer(vocabulary=6, outputs=20, dim=16, heads=2, layers=1, encoding=T5Bias(2))
    packed = pack(model)
    assert all((kind == "q8") == (columns > 15) for _, _, columns, kind in packed["shapes"])
    weights = unpack(packed)
    for name, parameter in model.named_parameters():
        rows = parameter.detach().reshape(-1, parameter.shape[-1])
        step = rows.abs().amax(1) / 127 * (rows.shape[1] > 15)
        assert ((weights[name] - rows).abs().amax(1) <= step / 2 + 1e-7).all(), name
    assert not torch.equal(weights["head.weight"], model.head.weight)
    for bad in torch.tensor([math.inf]), torch.ones(1, 1, 1):
        model.head.bias = torch.nn.Parameter(bad)
        with pytest.raises(ValueError, match=r"head\.bias must be a finite vector or matrix; got \(1,"):
            pack(model)


def test_a_loss_is_what_the_lab_measures():
    model = build(LITTLE).eval()

    def sampler(size, length, generator):
        return TEXT[None, :length], TEXT[None, 1 : length + 1]

    wanted = training.test(model, sampler, 32)["loss"]
    assert losses(model, TEXT[None, :33]).mean().item() == pytest.approx(wanted, abs=1e-6)
    assert losses(model, torch.tensor([[1, 2, UNKNOWN, 3]])).isnan().tolist() == [[False, True, False]]


def test_a_record_keeps_what_a_file_needs(monkeypatch):
    monkeypatch.setattr("d2lpos.lab.char_models.TEXTS", 8)
    run = replace(LITTLE, encoding="learned", eval_modes=("as trained", "last row"))
    record = execute(run)
    assert len(record["reader"]["places"]) == 512
    model, about = read(script(json.loads(json.dumps(record))))
    assert about == card(record) and about["beyond"] == "last row"
    on_card, losses_read = about["passage"]["8 bits"], surprise(model, TEXT, torch.arange(513))[1:]
    assert losses_read.mean().item() == pytest.approx(on_card["whole"], abs=1e-5)
    assert losses_read[:32].mean().item() == pytest.approx(on_card["within"], abs=1e-5)
    assert "reader" not in execute(replace(run, keep=False))


def test_each_seed_reads_passages_of_its_own(monkeypatch):
    monkeypatch.setattr("d2lpos.lab.char_models.TEXTS", 1)
    run = replace(LITTLE, encoding="learned", eval_modes=("as trained", "last row"))
    model = build(run).eval()
    one, again, other = (char_model(model, replace(run, seed=seed))["places"] for seed in (0, 0, 1))
    assert one == again != other
    monkeypatch.setattr("d2lpos.lab.char_models.TEXTS", 2)
    assert char_model(model, run)["places"] != one, "the second passage is another one"


@pytest.mark.parametrize("name", CHAR_MODELS)
def test_a_published_reader_reads_as_its_card_says(name):
    """The record is the float model's; the file is loaded as a page loads it."""
    assert path(name).stat().st_size <= 150_000
    model, about = load(name)
    assert about == card(RECORDS[name]) and about["key"] == RUNS[name].key
    assert torch.equal(tokens(about, decode(TEXT)), TEXT)
    on_card, losses_read = about["passage"], surprise(model, TEXT, torch.arange(513))[1:]
    assert losses_read.mean().item() == pytest.approx(on_card["8 bits"]["whole"], abs=1e-4)
    assert losses_read[:128].mean().item() == pytest.approx(on_card["8 bits"]["within"], abs=1e-4)
    for part in ("within", "whole"):
        assert on_card["8 bits"][part] == pytest.approx(on_card["float"][part], abs=0.01)
    assert on_card["8 bits"]["within"] < 1.7
