"""Thousands of bad calls: each public name with one argument that it cannot mean, and what comes of it.

A call is clear where a TypeError or ValueError names the argument or shows what came, and silent where it returns
nonsense as if nothing had been wrong. What a value may do is told by its kind: half-precision, empty, meta and shorter
tensors may be meant, and what is not finite in data may go through, as long as it shows.
"""

import inspect
import re
import resource
import signal
import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from d2lpos import Encoding, RoPE, Sinusoidal
from d2lpos.bias.alibi import slopes
from d2lpos.input.sinusoids import frequencies
from d2lpos.rotary.scaling import unscaled
from d2lpos.transformer import Cache, Mask, attend
from d2lpos.transformer.temperature import logarithm
from tests.api.names import PUBLIC
from tests.house import ENCODERS

NAN, INF, HUGE = float("nan"), float("inf"), 2**62 + 2**61
P = torch.arange(5)
X, Q, T = torch.ones(2, 5, 16), torch.ones(2, 2, 5, 8), torch.zeros(2, 5, dtype=torch.int64)
LOOK = torch.ones(5, 5, dtype=torch.bool)
CELLS = torch.tensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]])
OMEGA, ONE, GATES = frequencies(8), torch.tensor(0.5), -torch.ones(5)
C, UP = torch.ones(2, 1, 5, 3), torch.ones(2, 8, 3)
DOOR = {"q": Q, "k": Q, "q_positions": P, "k_positions": P}
SPREAD = DOOR | {"q_positions": CELLS, "k_positions": CELLS}
MLA = {"q": Q, "c": C, "up": UP}
LINEAR = {"q": Q, "k": Q, "v": Q, "log_gates": GATES}
FULL = DOOR | {"v": Q, "encoding": RoPE(8)}
FEW = {"frequencies": OMEGA, "factor": 8.0}
LONG = FEW | {"length": 64}

# What each public name may be given; arguments that are left out here keep their defaults.
CALLS = {
    "Encoding": [],
    "offsets": [{"q_positions": P, "k_positions": P}],
    "as_float": [{"positions": P}, {"positions": P / 2}],
    "as_index": [{"positions": P, "length": 9}],
    "next_positions": [{"positions": P, "length": 2}],
    "from_padding": [{"tokens": P > 1}],
    "from_segments": [{"segments": P}],
    "interpolate": [{"positions": P, "factor": 2.0}],
    "random_positions": [{"batch": 2, "length": 3, "limit": 9}],
    "shift": [{"positions": P, "largest": 3}],
    "cu_seqlens": [{"segments": P}],
    "segments_from_cu_seqlens": [{"cu_seqlens": P}],
    "segments_from_positions": [{"positions": P}],
    "contiguous": [{"length": 8, "ranks": 2}],
    "zigzag": [{"cu_seqlens": 2 * P, "ranks": 1}],
    "cells": [{"height": 2, "width": 3}],
    "coordinates": [{"height": 2, "width": 3}],
    "Sinusoidal": [{"dim": 16, "base": 10.0, "layout": "interleaved", "endpoint": False}],
    "angles": [{"positions": P, "frequencies": OMEGA}],
    "frequencies": [{"dim": 8, "base": 10.0, "endpoint": True}],
    "sinusoidal": [{"positions": P, "dim": 8, "base": 10.0, "layout": "interleaved", "endpoint": False}],
    "resize_table": [{"table": torch.ones(5, 8), "old": (2, 2), "new": (1, 3), "prefix": 1, "mode": "bicubic", "antialias": True}],
    "Learned": [{"length": 5, "dim": 16, "std": 1.0}],
    "FourierFeatures": [{"dim": 16, "n": 4, "hidden": 8, "gamma": 10.0}],
    "PositionMLP": [{"dim": 16, "length": 5, "hidden": 8}],
    "Convolutional": [{"dim": 16, "kernel": 4, "groups": 2}],
    "laplacian_features": [{"adjacency": LOOK, "k": 2}],
    "random_walk_features": [{"adjacency": LOOK, "steps": 2}],
    "fourier_features": [{"positions": P, "frequencies": OMEGA}],
    "RoPE": [{"dim": 8, "base": 10.0, "layout": "half", "rotary": 4, "scaling": unscaled, "axes": 1}],
    "convert": [{"x": Q, "layout": "half", "rotary": 4}],
    "permute_qk_rows": [{"weight": Q[0, 0].mT, "heads": 2, "layout": "half", "rotary": 2}],
    "rotate": [{"x": Q, "angles": torch.ones(5, 4), "layout": "half", "scale": 1.0}],
    "rotate_fast": [{"x": Q, "angles": torch.ones(5, 4), "layout": "half", "scale": 1.0}],
    "replace_rotary": [],  # needs a model of transformers: tests/parity
    "dynamic_ntk": [LONG | {"current": 128}],
    "interlaced": [{"frequencies": OMEGA}],
    "linear": [FEW],
    "llama3": [LONG | {"low": 1.0, "high": 4.0}],
    "longrope": [LONG | {"short": [1.0] * 4, "long": [2.0] * 4, "current": 65, "attention_factor": 1.0}],
    "mscale": [{"factor": 8.0, "weight": 1.0}],
    "negated": [{"frequencies": OMEGA}],
    "ntk": [FEW],
    "proportional": [{"frequencies": OMEGA, "share": 0.5, "factor": 2.0}],
    "freeze_pairs": [{"frequencies": OMEGA, "pairs": [1]}],
    "ring": [{"frequencies": OMEGA, "period": 8.0}],
    "unscaled": [{"frequencies": OMEGA}],
    "yarn": [LONG | {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True, "attention_factor": 1.0}],
    "MRoPE": [{"dim": 8, "deal": [0, 1], "base": 10.0, "layout": "half", "scaling": unscaled}],
    "blocks": [{"sizes": [2, 2]}],
    "in_turn": [{"sizes": [2, 1]}],
    "Mixed": [{"dim": 8, "heads": 2, "base": 10.0, "layout": "half"}],
    "RoPEValues": [{"dim": 8, "base": 10.0, "layout": "half", "rotary": 4, "axes": 1}],
    "Normed": [{"rope": RoPE(8), "eps": 1e-6}],
    "PoPE": [{"dim": 8, "heads": 2, "base": 10.0}],
    "Bias": [{"heads": 2}],
    "score_mod": [DOOR | {"at": logarithm}],
    "T5Bias": [{"heads": 2, "buckets": 8, "max_distance": 20, "bidirectional": True}],
    "bucket": [{"offsets": P, "buckets": 8, "max_distance": 20, "bidirectional": True}],
    "ALiBi": [{"heads": 2, "rule": "paper", "octaves": 8.0}, {"heads": 2, "slopes": slopes(2)}],
    "bias": [{"q_positions": P, "k_positions": P, "slopes": slopes(2)}],
    "slopes": [{"heads": 2, "rule": "paper", "octaves": 8.0}],
    "KERPLE": [{"heads": 2, "form": "power"}],
    "logarithmic": [{"offset": P, "r1": ONE, "r2": ONE}],
    "power": [{"offset": P, "r1": ONE, "r2": ONE}],
    "FIRE": [{"heads": 2, "hidden": 8, "c": 0.1, "threshold": 512.0}],
    "normalized_log_distance": [{"q_positions": P, "k_positions": P, "c": ONE, "threshold": ONE}],
    "Sandwich": [{"heads": 2, "dim": 8}],
    "cosines": [{"q_positions": P, "k_positions": P, "dim": 8}],
    "Swin": [{"heads": 2, "height": 2, "width": 3}],
    "relative_position_index": [{"q_positions": CELLS, "k_positions": CELLS, "height": 2, "width": 3}],
    "SwinV2": [{"heads": 2, "height": 2, "width": 3, "trained": 4, "hidden": 8}],
    "log_spaced": [{"steps": CELLS, "height": 2, "width": 3}],
    "BEiT": [{"heads": 2, "height": 2, "width": 3}],
    "Decomposed": [{"features": 8, "height": 2, "width": 3}],
    "Shaw": [{"features": 8, "clip": 2}],
    "ShawKeys": [{"features": 8, "clip": 2}],
    "clipped_index": [{"offset": P, "clip": 2}],
    "key_term": [{"q": Q, "vectors": torch.ones(9, 8)}],
    "skew": [{"products": torch.ones(2, 5, 5)}],
    "TransformerXL": [{"dim": 16, "heads": 2}],
    "offset_products": [{"p": Q[0, 0], "q_positions": P, "k_positions": P}],
    "DeBERTa": [{"heads": 2, "features": 8, "clip": 4, "largest": 16}],
    "gated_distance": [{"gates": torch.ones(1, 1, 5, 5), "q_positions": P, "k_positions": P, "visible": LOOK, "own": True}],
    "FoX": [{"dim": 16, "heads": 2}],
    "CoPE": [{"features": 8, "rows": 3}],
    "PaTH": [{"dim": 16, "heads": 2}],
    "householder_scores": [{"q": Q, "k": Q, "w": Q, "beta": Q[..., :1], "counted": LOOK}],
    "Inkling": [{"dim": 16, "heads": 2, "rank": 3, "extent": 4, "temperature": logarithm}],
    "chunks": [LINEAR | {"size": 2, "state": torch.ones(8, 8)}],
    "decays": [{"log_gates": GATES}],
    "delta": [LINEAR | {"beta": -GATES, "state": torch.ones(8, 8)}],
    "matrix": [LINEAR],
    "recurrence": [LINEAR | {"state": torch.ones(8, 8)}],
    "Mask": [{"q_positions": P, "k_positions": P, "allowed": LOOK, "segments": P, "causal": True, "window": 3}],
    "causal_mask": [{"q_positions": P, "k_positions": P}],
    "segment_mask": [{"q_segments": P, "k_segments": P}],
    "window_mask": [{"q_positions": P, "k_positions": P, "window": 2}],
    "multiply": [{"q": Q, "positions": P, "temperature": logarithm}],
    "steps": [{"positions": P, "length": 8.0, "scale": 0.1, "counted": True}],
    "absorbed": [MLA],
    "built": [MLA],
    "scores": [MLA | {"turned_q": Q, "turned_k": Q[:, :1]}],
    "PLACEMENTS": [],
    "Dropped": [{"encoding": Sinusoidal(16), "placement": "sum", "rate": 0.1}],
    "combine": [{"token": X, "position": X, "placement": "sum", "rate": 0.1, "protected": T > 0}],
    "drop": [{"x": X, "rate": 0.1, "entire": True, "protected": T > 0}],
    "segment_ends": [{"token_type_ids": T, "attention_mask": T}],
    "special_tokens": [{"special_tokens_mask": T, "attention_mask": T}],
    "Attention": [
        {"dim": 16, "heads": 2, "encoding": RoPE(8), "causal": True, "kv_heads": 1}
        | {"window": 3, "sinks": True, "temperature": logarithm}
    ],
    "attend": [FULL | {"mask": LOOK, "sinks": slopes(2)}, FULL | {"mask": Mask(P)}],
    "attention_weights": [DOOR | {"encoding": RoPE(8), "mask": LOOK, "sinks": slopes(2)}],
    "attend_flex": [FULL],
    "block_mask": [
        {"q_positions": P, "k_positions": P, "causal": True, "window": 3, "q_segments": P, "k_segments": P}
    ],
    "compiled": [],
    "Cache": [{"rotated": False, "capacity": 8, "axes": 1}],
    "crop": [{"cache": Cache(Q, Q, P), "length": 2}],
    "resume_at": [{"layers": ["full", ("window", 4), "state"], "place": 9, "checkpoints": [2, 5]}],
    "reorder": [{"cache": Cache(Q, Q, P), "rows": torch.tensor([1, 0])}],
    "evict": [{"cache": Cache(Q, Q, P), "sinks": 1, "window": 2}],
    "rebase": [{"cache": Cache(Q, Q, P), "positions": P, "encoding": RoPE(8)}],
    "Transformer": [
        {"vocabulary": 7, "outputs": 3, "dim": 16, "heads": 2, "layers": 2, "encoding": RoPE(8), "causal": True}
        | {"kv_heads": 1, "window": 3, "sinks": True, "temperature": logarithm}
    ],
}
# Two modules have a function of this name, and so do both forms of KERPLE and of temperature.
MORE = {
    "bias.kerple.logarithmic": CALLS["logarithmic"],
    "transformer.temperature.logarithm": [{"positions": P, "scale": 1.0, "length": 8.0}],
    "transformer.temperature.power": [{"positions": P, "length": 8.0, "exponent": 0.1}],
    "offset.deberta.row": [{"offset": P, "clip": 4, "largest": 16}],
}
# What is done with an object that was made so: an encoding of queries, keys or values is given to `attend`.
EMBEDS = ("Sinusoidal", "Learned", "FourierFeatures", "PositionMLP", "Dropped")
ATTENDS = ("RoPE", "MRoPE", "Mixed", "RoPEValues", "PoPE", "T5Bias", "ALiBi", "KERPLE", "FIRE", "Sandwich", "Swin", "SwinV2")
ATTENDS += ("BEiT", "Decomposed", "Shaw", "ShawKeys", "TransformerXL", "DeBERTa", "FoX", "CoPE", "PaTH", "Inkling")
HIDDEN = {"FoX": -torch.ones(2, 2, 5, 1), "PaTH": torch.ones(2, 2, 5, 9), "Inkling": torch.ones(2, 2, 5, 3)}
ON_A_GRID = ("MRoPE", "Mixed", "Swin", "SwinV2", "BEiT", "Decomposed")
LAYERS = {"Attention": {"x": X}, "Transformer": {"tokens": T}}


class Thing:
    """Of no use to anybody."""


def wrong(value: object) -> dict[str, object]:
    """What could come in place of a value, by the kind of mistake."""
    values = {"a thing": Thing(), "a word": "word", "nothing": None}
    if isinstance(value, Tensor):
        values |= {"numpy": value.numpy(), "a list": value.tolist(), "sparse": value.to_sparse()}
        values |= {"complex": value * 1j, "meta": value.to("meta"), "half": value.half(), "empty": value[..., :0] if value.dim() else value[None][:0]}
        values |= {"shorter": value[..., :-1] if value.dim() else value, "one axis more": value[None, None, None]}
        if value.dtype == torch.bool:
            return values | {"integers": value.long(), "floats": value.float()}
        values |= {"Boolean": value > 0, "not a number": value * NAN, "infinite": value + INF, "huge": value + HUGE}
        return values | {"tiny integers": value.to(torch.int8), "unsigned": torch.from_numpy(np.full(value.shape, 2**64 - 9, np.uint64))}
    if isinstance(value, bool):
        return values | {"a number": 2, "a half": 0.5, "numpy": np.ones(2), "not a number": NAN}
    if isinstance(value, int | float):
        values |= {"digits": "1e4", "a flag": True, "not a number": NAN, "infinite": INF, "below zero": -1, "complex": 2j}
        values |= {"a list": [value], "numpy": np.ones(2), "a tensor": torch.ones(2), "huge": HUGE if isinstance(value, int) else 1e300}
        return values | ({"a fraction": 2.5} if isinstance(value, int) else {"beyond": 10**400})
    if isinstance(value, str):
        return values | {"a number": 3, "a list": [], "not a number": NAN, "bytes": b"half", "a tensor": torch.ones(2)}
    if isinstance(value, list):
        values |= {"a number": 3, "words": ["a"] * len(value), "flags": [True] * len(value), "not numbers": [NAN] * len(value)}
        return values | {"below zero": [-1] * len(value), "huge": [HUGE] * len(value), "longer": value * 2}
    if isinstance(value, Encoding | Cache | Mask):
        return values | {"a class": type(value), "a list": [value], "a number": 3}
    return values | {"a number": 3, "says a word": lambda *_: "word", "says nothing": lambda *_: None}


DATA = ("x", "q", "k", "v", "y", "w", "beta", "state", "c", "up", "turned_q", "turned_k", "p", "products", "vectors")
DATA += ("weights", "gates", "hidden_features", "token", "position", "angles", "frequencies", "weight", "log_gates", "sinks", "offset", "r1", "r2", "c", "threshold")
MAYBE = ("meta", "half", "empty", "shorter", "one axis more", "tiny integers", "huge", "longer", "below zero", "unsigned")
TRUTHS = ("a thing", "a word", "nothing", "a number", "a half", "numpy", "not a number")
# Where the wrong may be meant: name of the call, of the argument, kind of mistake.
MEANT = {
    # A new order of features, and of columns, is one of any numbers.
    *(("rotary.rope.convert", "x", kind) for kind in ("complex", "Boolean")),
    *(("rotary.rope.permute_qk_rows", "weight", kind) for kind in ("complex", "Boolean")),
    *(("offset.skew.skew", "products", kind) for kind in ("complex", "Boolean")),
    *(("transformer.masks.segment_mask", f"{side}_segments", "Boolean") for side in "qk"),
    # What a function gives is seen when it is asked, and a logarithm of infinity is larger than all others.
    *((f"transformer.{name}", "temperature", "says a word") for name in ("attention.Attention", "model.Transformer")),
    *((f"transformer.{name}", "temperature", "says nothing") for name in ("attention.Attention", "model.Transformer")),
    *(("content.inkling.Inkling", "temperature", f"says {what}") for what in ("a word", "nothing")),
    *(("bias.base.score_mod", "at", f"says {what}") for what in ("a word", "nothing")),
    *(("bias.base.score_mod", side, kind) for side in "qk" for kind in ("not a number", "infinite")),
    # Edges may be weighed by whole numbers, by others, or not at all.
    *((f"input.graph.{name}", "adjacency", kind) for name in ("laplacian_features", "random_walk_features") for kind in ("integers", "floats")),
    # Anything counts as True or False here.
    *(("transformer.cache.Cache", "turned", kind) for kind in TRUTHS),
    *(("transformer.flex.block_mask", "causal", kind) for kind in TRUTHS),
}


def tensors(x: object) -> list[Tensor]:
    """All tensors in what came back; of a layer, those that it holds."""
    if isinstance(x, nn.Module):
        return [*x.parameters(), *x.buffers()]
    if isinstance(x, list | tuple):
        return [t for part in x for t in tensors(part)]
    return [x] if isinstance(x, Tensor) else []


def finite(x: object) -> bool:
    return all(t.is_meta or bool(t.isfinite().all()) for t in tensors(x))


def attempt(call, name: str, arguments: dict, argument: str, kind: str, value: object) -> tuple[str, str]:
    """What comes of a bad call, and what it says."""
    try:
        result = call(**arguments | {argument: value})
    except (TypeError, ValueError) as error:
        message = str(error)
        named = any(re.search(rf"\b{name}\b", message) for name in (*arguments, argument.removeprefix("q_").removeprefix("k_")))
        ours = "d2lpos" in _raised_in(error)
        return "clear" if ours and (named or repr(value) in message) else "unclear", f"{type(error).__name__}: {message}"
    except (RuntimeError, LookupError, AttributeError, ArithmeticError, MemoryError, AssertionError) as error:
        return "unclear", f"{type(error).__name__}: {str(error)[:200]}"
    if kind in ("not a number", "infinite") and isinstance(value, Tensor) and argument in DATA:
        return ("silent", "finite") if finite(result) else ("shows", "")
    if kind in MAYBE and argument in DATA:
        return "shows", ""
    if kind in MAYBE:
        return ("shows", "") if finite(result) else ("silent", f"not finite: {str(result)[:80]}")
    return "silent", f"gave {str(result)[:80]!r}"


def _raised_in(error: BaseException) -> str:
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename


def calls():
    for module, name in PUBLIC:
        if module.partition(".")[0] not in ENCODERS:
            continue
        full = f"{module}.{name}"
        subject = getattr(import_module(f"d2lpos.{module}"), name)
        for arguments in MORE.get(full, CALLS.get(name, ())):
            yield full, subject, arguments
        if name in (*EMBEDS, *ATTENDS, *LAYERS):
            made = subject(**CALLS[name][0])
            if name in EMBEDS:
                yield f"{full}.embed", made.embed, {"x": X, "positions": P}
            elif name in LAYERS:
                yield f"{full}()", made, LAYERS[name] | {"positions": P, "mask": LOOK, "segments": P}
            else:
                arguments = SPREAD if name in ON_A_GRID else DOOR
                hidden = {"hidden_features": HIDDEN[name]} if name in HIDDEN else {}
                yield f"attend, {name}", partial(attend, encoding=made), arguments | {"v": Q} | hidden
                if hasattr(made, "hidden_features") and name in HIDDEN:
                    yield f"{full}.hidden_features", made.hidden_features, {"x": X}


def optional(call) -> set[str]:
    """The arguments that may be None."""
    return {name for name, parameter in inspect.signature(call.forward if isinstance(call, nn.Module) else call).parameters.items() if parameter.default is None}


def outcomes():
    for name, call, arguments in calls():
        for argument, right in arguments.items():
            for kind, value in wrong(right).items():
                if (name, argument, kind) in MEANT or kind == "nothing" and argument in optional(call):
                    continue
                yield name, argument, kind, *attempt(call, name, arguments, argument, kind, value)


@contextmanager
def bounded(seconds: int, gigabytes: float):
    """Ends what hangs, and gives no more memory than so much besides what the process has."""

    def late(*_):
        raise TimeoutError

    limits = resource.getrlimit(resource.RLIMIT_AS)
    had = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (had + int(gigabytes * 2**30), limits[1]))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by what Linux offers")
@pytest.mark.filterwarnings("ignore")
def test_bad_calls_are_refused_by_name_and_nothing_hangs():
    for name, args in ((name, args) for module, name in PUBLIC if (args := CALLS.get(name)) is not None):
        assert args or name in ("Encoding", "PLACEMENTS", "compiled", "replace_rotary"), name
    with bounded(seconds=300, gigabytes=1):
        cases = list(outcomes())
    faults = {outcome: [case for case in cases if case[3] == outcome] for outcome in ("silent", "unclear")}
    assert len(cases) > 1000
    assert faults["silent"] == []
    assert {case[0] for case in faults["unclear"]} <= {"transformer.flex.block_mask"}, faults["unclear"]


def test_every_public_name_of_the_core_is_called():
    names = {name for module, name in PUBLIC if module.partition(".")[0] in ENCODERS}
    assert names - set(CALLS) - {name.rpartition(".")[2] for name in MORE} == set()
