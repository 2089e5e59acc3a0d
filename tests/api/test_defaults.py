"""A default is a promise: it is what a paper, a checkpoint or a published record has, and may not change by chance."""

import inspect
from importlib import import_module

import pytest

DEFAULTS = {
    "alibi.ALiBi": {"rule": "released", "octaves": 8.0},
    "alibi.slopes": {"rule": "released", "octaves": 8.0},
    "attention.Attention": {"causal": False, "sinks": False},
    "content.since": {"own": False},
    "dropout.Dropped": {"placement": "sum", "rate": 0.1},
    "dropout.combine": {"placement": "sum", "rate": 0.1},
    "dropout.drop": {"entire": False},
    "fire.FIRE": {"hidden": 32, "c": 0.1, "threshold": 512.0},
    "inkling.Inkling": {"rank": 16, "extent": 1024},
    "kerple.KERPLE": {"form": "logarithmic"},
    "learned.Learned": {"std": 1.0},
    "mixed.Mixed": {"base": 10.0, "layout": "interleaved"},
    "mlp.FourierFeatures": {"n": 32, "hidden": 64, "gamma": 10.0},
    "mlp.PositionMLP": {"hidden": 64},
    "mrope.MRoPE": {"base": 10_000.0, "layout": "half"},
    "normed.Normed": {"eps": 1e-6},
    "pope.PoPE": {"base": 10_000.0},
    "relative.T5Bias": {"buckets": 32, "max_distance": 128, "bidirectional": True},
    "relative.bucket": {"buckets": 32, "max_distance": 128, "bidirectional": True},
    "rope.RoPE": {"base": 10_000.0, "layout": "half", "axes": 1},
    "rope.rotate": {"layout": "half", "scale": 1.0},
    "rope.rotate_fast": {"layout": "half", "scale": 1.0},
    "sandwich.Sandwich": {"dim": 128},
    "scaling.llama3": {"low": 1.0, "high": 4.0},
    "scaling.longrope": {"factor": 1.0},
    "scaling.mscale": {"weight": 1.0},
    "scaling.proportional": {"factor": 1.0},
    "scaling.yarn": {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True},
    "sinusoidal.Sinusoidal": {"base": 10_000.0, "layout": "interleaved", "endpoint": False},
    "sinusoidal.frequencies": {"base": 10_000.0, "endpoint": False},
    "sinusoidal.sinusoidal": {"base": 10_000.0, "layout": "interleaved", "endpoint": False},
    "swin_v2.SwinV2": {"hidden": 512},
    "temperature.logarithm": {"scale": 1.0},
    "temperature.power": {"exponent": 0.1},
    "temperature.steps": {"scale": 0.1, "counted": False},
    "transformer.Transformer": {"dim": 64, "heads": 4, "layers": 2, "causal": False, "sinks": False},
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
