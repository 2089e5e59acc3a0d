"""A default is a promise: it is what a paper, a checkpoint or a published record has, and may not change by chance."""

import inspect
from importlib import import_module

import pytest

DEFAULTS = {
    "bias.alibi.ALiBi": {"rule": "released", "octaves": 8.0},
    "bias.alibi.slopes": {"rule": "released", "octaves": 8.0},
    "transformer.attention.Attention": {"causal": False, "sinks": False},
    "content.distance.gated_distance": {"own": False},
    "transformer.dropout.Dropped": {"placement": "sum", "rate": 0.1},
    "transformer.dropout.combine": {"placement": "sum", "rate": 0.1},
    "transformer.dropout.drop": {"entire": False},
    "bias.fire.FIRE": {"hidden": 32, "c": 0.1, "threshold": 512.0},
    "content.inkling.Inkling": {"rank": 16, "extent": 1024},
    "bias.kerple.KERPLE": {"form": "logarithmic"},
    "input.learned.Learned": {"std": 1.0},
    "rotary.mixed.Mixed": {"base": 10.0, "layout": "interleaved"},
    "input.mlp.FourierFeatures": {"n": 32, "hidden": 64, "gamma": 10.0},
    "input.mlp.PositionMLP": {"hidden": 64},
    "rotary.mrope.MRoPE": {"base": 10_000.0, "layout": "half"},
    "rotary.normed.Normed": {"eps": 1e-6},
    "rotary.pope.PoPE": {"base": 10_000.0},
    "bias.t5.T5Bias": {"buckets": 32, "max_distance": 128, "bidirectional": True},
    "bias.t5.bucket": {"buckets": 32, "max_distance": 128, "bidirectional": True},
    "rotary.rope.RoPE": {"base": 10_000.0, "layout": "half", "axes": 1},
    "rotary.rope.rotate": {"layout": "half", "scale": 1.0},
    "rotary.rope.rotate_fast": {"layout": "half", "scale": 1.0},
    "bias.sandwich.Sandwich": {"dim": 128},
    "rotary.scaling.llama3": {"low": 1.0, "high": 4.0},
    "rotary.scaling.longrope": {"factor": 1.0},
    "rotary.scaling.mscale": {"weight": 1.0},
    "rotary.scaling.proportional": {"factor": 1.0},
    "rotary.scaling.yarn": {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True},
    "input.sinusoids.Sinusoidal": {"base": 10_000.0, "layout": "interleaved", "endpoint": False},
    "input.sinusoids.frequencies": {"base": 10_000.0, "endpoint": False},
    "input.sinusoids.sinusoidal": {"base": 10_000.0, "layout": "interleaved", "endpoint": False},
    "bias.swin_v2.SwinV2": {"hidden": 512},
    "transformer.temperature.logarithm": {"scale": 1.0},
    "transformer.temperature.power": {"exponent": 0.1},
    "transformer.temperature.steps": {"scale": 0.1, "counted": False},
    "transformer.model.Transformer": {"dim": 64, "heads": 4, "layers": 2, "causal": False, "sinks": False},
    "lab.inside.probes": {"texts": 256, "seed": 0},
    "lab.store.Store": {"patience": 60.0, "look": False},
    "lab.training.accuracy": {"size": 2048, "seed": 0},
    "lab.training.test": {"rows": 1024, "seed": 0, "whole": False},
    "lab.training.train": {"steps": 200, "size": 128, "rate": 3e-3, "seed": 0, "precision": "float32"},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    module, _, name_there = name.rpartition(".")
    parameters = inspect.signature(getattr(import_module(f"d2lpos.{module}"), name_there)).parameters.values()
    plain = {p.name: p.default for p in parameters if isinstance(p.default, bool | int | float | str)}
    assert plain == DEFAULTS[name]
