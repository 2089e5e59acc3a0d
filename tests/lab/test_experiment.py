"""A run gives the same record each time, and its record says what was run."""

import json
import math
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import torch

from d2lpos import Encoding, RoPE
from d2lpos.bias import Bias
from d2lpos.lab import TASKS, Run, experiment, inside, models, train
from d2lpos.lab.experiment import execute
from d2lpos.lab.inside import states
from d2lpos.lab.machine import peak_bytes
from d2lpos.lab.models import (
    DROPOUTS,
    EVAL_MODES,
    ONLY,
    REGROUPED,
    build,
    eval_mode,
    place,
)
from d2lpos.rotary import scaling
from d2lpos.transformer import attention_weights, causal_mask
from tests.lab.again import tiny

TINY = Run("language", "rope", length=12, tested=(12, 24), steps=4, batch_size=4, checks=2, dim=16, layers=1)
MEASURED = ("metrics", "curve")


def measured(run):
    record = execute(run)
    return {name: record[name] for name in MEASURED}


def test_the_same_run_gives_the_same_digits():
    first = measured(TINY)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    second = measured(TINY)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)
    assert first == second != measured(replace(TINY, seed=1))


def test_a_run_leaves_the_random_numbers_of_others_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    execute(TINY)
    assert torch.equal(torch.rand(3), expected)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_row_of_the_curve_has_the_mean_loss_since_the_row_before():
    each, two = ([row["train"] for row in execute(replace(TINY, checks=checks))["curve"]] for checks in (4, 2))
    assert two == pytest.approx([(each[0] + each[1]) / 2, (each[2] + each[3]) / 2]) and len(each) == 4
    assert [row["step"] for row in execute(replace(TINY, steps=5))["curve"]] == [2, 4, 5]


def test_a_record_tells_what_was_run_and_where():
    start = time.perf_counter()
    record = execute(TINY)
    assert 0 < record["seconds"] <= time.perf_counter() - start + 0.01
    assert abs(datetime.fromisoformat(record["started"]) - datetime.now(UTC)) < timedelta(minutes=5) and len(record["started"]) == 25
    assert record == json.loads(json.dumps(record))
    assert Run.from_fields(record["run"]) == TINY and record["key"] == TINY.key
    assert [(row["length"], row["split"]) for row in record["metrics"]] == [
        (12, "test"), (12, "unseen"), (24, "test"), (24, "unseen")
    ]  # fmt: skip
    assert [m["loss_last"] == m["loss"] for m in record["metrics"]] == [True, True, False, False]
    assert [row.keys() for row in record["curve"]] == 2 * [{"step", "train", "validation", "test", "unseen"}]
    assert [row["step"] for row in record["curve"]] == [2, 4]
    assert record["parameters"] == sum(p.numel() for p in build(TINY).parameters())
    about = record["machine"]
    assert about["device"] == "cpu" and about["threads"] == 1 and about["compiled"] is False
    assert record["versions"] == TINY.versions and record["peak_bytes"] == pytest.approx(peak_bytes("cpu"), rel=0.5)


@pytest.mark.parametrize(("task", "tested", "asked"), [
    ("copy", (64,), {(64, 1024, 64, None)}),
    ("copy", (64, 512), {(64, 512, 64, None), (512, 512, 64, None)}),
    ("language", (64, 512), {(64, 128, 64, 512), (512, 128, 64, 512)}),
    ("needle in a novel", (64, 512), {(64, 128, 64, 512), (512, 128, 64, 512), (64, 512, 64, None), (512, 512, 64, None)}),
])
def test_longer_rows_are_fewer_and_a_window_has_the_same_last_tokens_whatever_its_length(monkeypatch, task, tested, asked):
    """Length, rows, last tokens and the rows' own length, of all tests; a needle is in a row, not in a window of one."""
    seen = set()

    def test(model, sampler, length, rows, last=None, within=None, **how):
        seen.add((length, rows, last, within))
        return {"loss": 1.0, "accuracy": 0.5, "loss_last": 1.0, "accuracy_last": 0.5}

    monkeypatch.setattr("d2lpos.lab.experiment.test", test)
    execute(Run(task, "alibi", length=64, tested=tested, steps=1, batch_size=2, dim=8, heads=2, layers=1))
    assert {one for one in seen if one[2]} == asked


def test_a_length_that_a_task_does_not_have_is_refused_before_training(monkeypatch):
    monkeypatch.setattr(experiment, "train", None)
    with pytest.raises(ValueError, match="length must be 64, .* got 17"):
        execute(Run("digits", length=16, tested=(16, 17)))


def test_lengths_are_drawn_when_the_shortest_is_told():
    drawn = []

    def sampler(size, length, generator):
        drawn.append(length)
        return TASKS["copy"].train(size, length, generator)

    train(build(TINY), sampler, 12, steps=60, size=1, shortest=9)
    assert set(drawn) == {9, 10, 11, 12}


def test_a_compiled_model_learns_the_same(monkeypatch):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))  # no C++ compiler needed
    record, compiled = execute(TINY), execute(TINY, compiled=True)
    assert compiled["machine"]["compiled"] and not record["machine"]["compiled"]
    for row, other in zip(record["metrics"], compiled["metrics"], strict=True):
        assert row["loss"] == pytest.approx(other["loss"], abs=1e-3)


LEARNED = replace(TINY, encoding="learned", eval_modes=("as trained", "last row"))


def logits(model, length):
    return model(torch.arange(length)[None] % 7, torch.arange(length))[0]


def test_the_last_row_serves_all_that_follow():
    model = build(LEARNED)
    with eval_mode(model, LEARNED, "last row", 24):
        short, long = logits(model, 12), logits(model, 24)
    torch.testing.assert_close(short, logits(model, 12))
    torch.testing.assert_close(long[:12], short)  # what comes later is not seen


def test_a_wrapped_table_starts_again():
    model = build(LEARNED)
    with eval_mode(model, LEARNED, "wrapped", 24):
        (added,) = model.encoding.embed(torch.zeros(1, 24, 16), torch.arange(24))
    assert torch.equal(added, model.encoding.table.repeat(2, 1))


def test_a_block_is_read_on_its_own():
    model = build(LEARNED)
    tokens = torch.arange(24)[None] % 7
    with eval_mode(model, LEARNED, "blocks", 24):
        long = model(tokens, torch.arange(24))
    for part, logits_of_part in zip(tokens.split(12, dim=1), long.split(12, dim=1), strict=True):
        torch.testing.assert_close(logits_of_part, model(part, torch.arange(12)))


def test_a_stretched_table_keeps_its_ends_and_mixes_neighbors():
    model = build(LEARNED)
    table = model.encoding.table
    with eval_mode(model, LEARNED, "stretched", 23):
        (added,) = model.encoding.embed(torch.zeros(1, 23, 16), torch.arange(23))
    torch.testing.assert_close(added[::2], table)
    torch.testing.assert_close(added[1::2], (table[1:] + table[:-1]) / 2)
    for length in 12, 1:
        with eval_mode(model, LEARNED, "stretched", length):
            torch.testing.assert_close(logits(model, length), logits(build(LEARNED), length))


@pytest.mark.parametrize("encoding", ["sinusoidal", "learned"])
def test_scale_multiplies_what_is_added(encoding):
    run = replace(TINY, encoding=encoding, scale=3)
    x, positions = torch.randn(1, 12, 16), torch.arange(12)
    alone = build(replace(run, scale=1)).encoding.embed(torch.zeros(1, 12, 16), positions)
    torch.testing.assert_close(build(run).encoding.embed(x, positions), x + 3 * alone)


def test_an_encoding_that_is_added_again_reaches_every_block():
    once, again = (build(replace(TINY, encoding="learned", layers=3, add_every_layer=a)) for a in (False, True))
    for model in (once, again):
        for block in model.blocks:  # a block that passes on what it gets
            block.forward = lambda x, *others: x
    tokens = torch.arange(12)[None] % 7
    words, table = again.tokens(tokens), again.encoding.table
    for model, times in ((once, (1, 1, 1, 1)), (again, (1, 2, 3, 3))):
        for state, n in zip(states(model, tokens), times, strict=True):
            torch.testing.assert_close(state, words + n * table)


DROPPED = replace(TINY, task="masked small", encoding="learned", causal=False)


def arms(run, rate):
    return [replace(run, dropout=name, drop=rate) for name in DROPOUTS if name != "none"]


def test_arms_of_dropout_differ_in_nothing_else():
    """A rate too small to drop anything leaves every digit of the record as it is."""
    assert len(arms(DROPPED, 0.1)) == 8
    expected = measured(DROPPED)
    for run in arms(DROPPED, 1e-12):
        assert measured(run) == expected
    different = [measured(run)["curve"][-1]["test"] for run in arms(DROPPED, 0.5)]
    assert len({expected["curve"][-1]["test"], *different}) == 9


def test_dropout_falls_on_what_enters_the_first_block():
    tokens, _ = TASKS["masked small"].train(8, 12, torch.Generator().manual_seed(0))
    for run in arms(DROPPED, 0.5):
        model = build(run)
        whole = states(model.eval(), tokens)[0]
        assert torch.equal(whole, model.tokens(tokens) + model.encoding.encoding.table)
        dropped = (states(model.train(), tokens)[0] != whole).any(dim=-1)
        assert dropped[tokens < 76].all() == (run.dropout != "others protected")
        assert dropped[tokens >= 76].any() == (run.dropout != "protected")
        with eval_mode(model.eval(), run, "last row", 24):
            long = model(torch.cat([tokens, tokens], dim=1), torch.arange(24))
        assert long.shape == (8, 24, 75) and torch.equal(states(model, tokens)[0], whole)


def test_as_many_other_tokens_are_spared():
    special = torch.tensor([[True, False, False, True, False], [False] * 5]).repeat(500, 1)
    spared = models.others(special)
    assert not (spared & special).any()
    assert torch.equal(spared.sum(dim=1), special.sum(dim=1))
    assert spared[::2].double().mean(dim=0) == pytest.approx([0, 2 / 3, 2 / 3, 0, 2 / 3], abs=0.1)


def test_a_record_tells_what_is_inside_where_it_is_asked():
    record = execute(replace(LEARNED, probe=True))
    assert record == json.loads(json.dumps(record))
    assert [row["layer"] for row in record["probes"]] == [0, 1]
    for name in "similarity", "change":
        cosines = torch.tensor(record[name])
        assert cosines.shape == (12, 12) and torch.equal(cosines, cosines.T) and (cosines.diag() == 1).all()
    start = inside.similarity(inside.learned_table(build(LEARNED)))
    assert torch.allclose(torch.tensor(start), torch.tensor(record["similarity"]), atol=0.1)
    assert not torch.allclose(torch.tensor(start), torch.tensor(record["change"]), atol=0.1)
    assert "probes" not in execute(TINY)
    plain = execute(replace(TINY, probe=True))
    assert plain["similarity"] is None and plain["change"] is None and len(plain["first"]) == 1
    assert execute(replace(TINY, task="order", causal=False, probe=True))["first"] is None


def test_a_scaled_reading_is_the_rule_of_that_name():
    names = tuple(name for name in EVAL_MODES if "rope" in ONLY.get(name, ("rope",)))
    run = replace(TINY, eval_modes=names, length=128, tested=(512,), dim=64)
    model = build(run)
    plain = logits(model, 256)
    by_mode = {}
    for name in run.eval_modes:
        with eval_mode(model, run, name, 192):
            by_mode[name] = logits(model, 256)
    assert torch.equal(by_mode["as trained"], plain) and torch.equal(logits(model, 256), plain)
    rules = {
        "linear": partial(scaling.linear, factor=4),
        "ntk": partial(scaling.ntk, factor=4),
        "dynamic ntk": partial(scaling.ntk, factor=1.5),
        "yarn": partial(scaling.yarn, factor=4, length=128),
        "llama 3": partial(scaling.llama3, factor=4, length=128),
        "yarn, length overwritten": partial(scaling.yarn, factor=4, length=512),
        "yarn, twice": twice,
        "yarn, scores as they were": partial(scaling.yarn, factor=4, length=128, attention_factor=1.0),
        "yarn, factor alone": lambda omega: (omega, 0.1 * math.log(4) + 1),
    }
    for name, rule in rules.items():
        place(model, [RoPE(16, scaling=rule)] * run.layers)
        torch.testing.assert_close(logits(model, 256), by_mode[name])
    bases = {"larger base": (500_000, scaling.unscaled), "yarn, another base": (100_000, rules["yarn"])}
    for name, (base, rule) in bases.items():
        place(model, [RoPE(16, base, scaling=rule)] * run.layers)
        torch.testing.assert_close(logits(model, 256), by_mode[name])
    place(model, [Encoding()] * run.layers)
    torch.testing.assert_close(logits(model, 256), by_mode["no rotation"])
    sharper = {"sharper", "ntk, sharper", "yarn, sharper"}
    assert by_mode.keys() == rules.keys() | bases.keys() | sharper | {"as trained", "window", "no rotation", *REGROUPED}


def twice(omega):
    slower, factor = scaling.yarn(omega, factor=4, length=128)
    return slower**2 / omega, factor**2


@pytest.mark.parametrize("encoding", ["none", "rope", "t5", "alibi"])
def test_sharper_multiplies_all_logits_of_late_queries(encoding):
    run = replace(TINY, encoding=encoding, tested=(48,))
    layer = build(run).blocks[0].attention
    q, k = torch.randn(2, 1, 4, 48, 4)
    here, there = torch.arange(48), 2 * torch.arange(48)
    changed = EVAL_MODES["sharper"](run, 48)(layer.encoding)
    past = causal_mask(here, there)
    plain = attention_weights(q, k, here, there, layer.encoding, past).log()
    factors = (here + 1.0).log().div(math.log(12)).clamp(min=1)
    wanted = (plain * factors[:, None]).masked_fill(~past, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(attention_weights(q, k, here, there, changed, past), wanted)
    assert factors[11] == 1 < factors[12]


def test_a_stack_is_built_layer_by_layer():
    run = replace(TINY, layers=3, stack=("window", "full", "none"))
    model = build(run)
    assert [block.attention.window for block in model.blocks] == [6, None, None]
    assert [block.attention.encoding.doors for block in model.blocks] == [("rotate",), ("rotate",), ()]
    plain = build(replace(run, stack=()))
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    with eval_mode(model, run, "sharper", 24):
        sharper = [type(block.attention.encoding).__name__ for block in model.blocks]
    with eval_mode(model, run, "ntk", 24):
        slower = [block.attention.encoding for block in model.blocks]
    assert sharper == ["RoPE", "Sharper", "Sharper"]
    assert [one.doors for one in slower] == [("rotate",), ("rotate",), ()] and slower[0] is not slower[1]
    assert [block.attention.encoding.doors for block in model.blocks] == [("rotate",), ("rotate",), ()]


def test_a_gate_multiplies_what_attention_puts_out_and_a_logit_joins_each_softmax():
    run = replace(TINY, layers=3, stack=("gate", "logit", "full"))
    model = build(run)
    assert [layer.attention.sinks is None for layer in model.blocks] == [True, False, True]
    gated, x, here = model.blocks[0].attention, torch.randn(1, 5, run.dim), torch.arange(5)
    open_, gates = gated(x, here) - gated.out.bias, (x @ gated.gate.weight.mT).sigmoid()
    gated.gate.weight.data.zero_()
    half = gated(x, here) - gated.out.bias
    plain = build(replace(run, stack=())).blocks[0].attention
    heads = []
    plain.out.register_forward_pre_hook(lambda out, inputs: heads.append(inputs[0]))
    torch.testing.assert_close(half, (plain(x, here) - plain.out.bias) / 2)
    torch.testing.assert_close(open_, (heads[0] * gates) @ plain.out.weight.mT)
    assert execute(replace(run, probe=True))["first"] != execute(replace(run, stack=(), probe=True))["first"]


def test_training_goes_on_from_the_trained_model_and_leaves_it_alone():
    run = replace(TINY, eval_modes=("as trained", "yarn"), tested=(12, 48), probe=True)
    more = {"continue_training": ("as trained", "yarn"), "further_length": 48, "further_steps": 5}
    plain, record = execute(run), execute(replace(run, **more))
    assert record["probes"] == plain["probes"]
    trained, on = record["metrics"][: len(plain["metrics"])], record["metrics"][len(plain["metrics"]) :]
    assert trained == plain["metrics"]
    assert [row["reading"] for row in on] == ["as trained, trained on"] * 4 + ["yarn, trained on"] * 4
    assert [(row["reading"], row["step"], row["tokens"]) for row in record["further"]] == [
        (name, step, step * 48) for name in more["continue_training"] for step in (2, 4, 5)
    ]
    for row in record["further"]:
        assert row.keys() == {"reading", "step", "tokens", "validation", "test", "unseen"}
    before = {(row["reading"], row["length"], row["split"]): row["loss"] for row in trained}
    assert all(
        row["loss"] != before[row["reading"][: -len(", trained on")], row["length"], row["split"]]
        for row in on
    )


def test_a_fifth_of_the_rate_and_other_batches_train_on(monkeypatch):
    calls, compiled, plain = [], [], experiment.train

    def train(*some, seed, shortest, precision, **more):
        calls.append((*some[2:], seed, shortest, precision, torch.are_deterministic_algorithms_enabled()))
        plain(*some, seed=seed, shortest=shortest, precision=precision, **more)

    monkeypatch.setattr(experiment, "train", train)
    monkeypatch.setattr(torch, "compile", lambda model: compiled.append(1) or model)
    more = {"further_length": 24, "further_steps": 1, "lr": 1e-2, "shortest": 12, "precision": "bfloat16"}
    execute(replace(tiny("rope"), continue_training=("as trained",), **more), compiled=True)
    assert calls == [(18, 8, 8, 1e-2, 0, 12, "bfloat16", True), (24, 1, 6, 2e-3, 2**30, 12, "bfloat16", True)] and compiled == [1]
    execute(TINY)
    assert compiled == [1]


class Straight(Bias):
    def at(self, offset, head):
        return (head + 1.0) * offset


def test_a_window_hides_far_keys_and_leaves_the_bias_of_the_others():
    bias, q, here, there = Straight(2), torch.randn(1, 2, 6, 4), torch.arange(6), torch.arange(2, 8)
    near = (here[:, None] - there).abs() < 3
    within = models.Window(bias, 3).score(q, q, here, there)
    torch.testing.assert_close(within, torch.where(near, bias.score(q, q, here, there), -torch.inf))
