"""Packed keys: fp8, and blocks as llama.cpp's own code packs them; what is decided is what the records say."""

from functools import partial

import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from scipy.linalg import hadamard
from torch.nn.functional import pad

from d2lpos.lab import PROBES, Probe, run_probe
from d2lpos.lab.bits import StoredKeys
from d2lpos.lab.packed import E4M3, E5M2, blocks, fp8, mixed
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.shift import CAPACITY, CASES, HALF, STEP, shifting
from d2lpos.pretrained import losses
from tests.lab.test_served import nearest

KEYS = torch.randn(2, 3, 12, 64, generator=torch.Generator().manual_seed(0))
HERE = torch.arange(12)


@pytest.mark.parametrize(("dtype", "most", "error"), [(E4M3, 448, 1 / 16), (E5M2, 57344, 1 / 8)])
def test_fp8_errs_by_a_share_of_each_number(dtype, most, error):
    large = KEYS[KEYS.abs() > 0.05]
    assert ((fp8(large, dtype) / large - 1).abs() <= error).all()
    assert fp8(torch.tensor([2.0 * most, -2.0 * most]), dtype).tolist() == [most, -most]
    assert torch.equal(fp8(KEYS, dtype, 4.0), fp8(KEYS / 4, dtype) * 4)


@pytest.mark.parametrize("bits", [8, 4])
def test_blocks_are_llama_cpps(bits):
    kind = GGMLQuantizationType[f"Q{bits}_0"]
    theirs = dequantize(quantize(KEYS.numpy(), kind), kind)
    torch.testing.assert_close(blocks(KEYS, bits), torch.from_numpy(theirs).view_as(KEYS))


def in_blocks(x, bits):
    """As gguf packs blocks of 32, of which zeros fill up what these lack: they change no scale."""
    kind = GGMLQuantizationType[f"Q{bits}_0"]
    blocks_of_32 = pad(x, (0, 24)).numpy()
    return torch.from_numpy(dequantize(quantize(blocks_of_32, kind), kind)).view(*x.shape[:-1], 32)[..., :8]


def in_fp8(x, dtype, most, scale=1.0):
    return (x / scale).clamp(-most, most).to(dtype).float() * scale


def in_mixed_blocks(x, bits):
    matrix = torch.from_numpy(hadamard(8)).float() / 8**0.5
    return in_blocks(x @ matrix, bits) @ matrix.T


def test_each_way_is_a_pass_with_keys_that_are_packed_so(monkeypatch):
    [probe] = PROBES["real-packed"].runs(range(1), smoke=True)
    text, model, other = tokens(probe), loaded("stand-in"), loaded("stand-in", layout="interleaved")
    ways = {"as trained": (model, lambda k: k), "as trained, pairs as neighbors": (other, lambda k: k)}
    values = {}
    for name, dtype, most in (("e4m3", E4M3, 448), ("e5m2", E5M2, 57344)):
        one = partial(in_fp8, dtype=dtype, most=most)
        for turn in ("before", "after"):
            ways[f"{name}, scale 1, {turn} the turn"] = model, one, turn == "before"
            ways[f"{name}, layer's scale, {turn} the turn"] = (
                model, lambda k, one=one, most=most: one(k, scale=k.abs().max() / most), turn == "before",
            )
        ways[f"{name}, scale 1, values too"] = model, one
        values[f"{name}, scale 1, values too"] = one
    for past in (2, 8):
        ways[f"e4m3, {past} times too large"] = model, lambda k, past=past: in_fp8(k, E4M3, 448, k.abs().max() / 448 / past)
    for bits in (8, 4):
        ways[f"{bits} bits by token"] = model, partial(nearest, bits=bits, axis=-1)
        ways[f"q{bits}_0, pairs as halves"] = model, partial(in_blocks, bits=bits)
        ways[f"q{bits}_0, pairs as neighbors"] = other, partial(in_blocks, bits=bits)
        ways[f"q{bits}_0, mixed"] = other, partial(in_mixed_blocks, bits=bits)
    rows = run_probe(probe)["rows"]
    assert {row["case"] for row in rows} == ways.keys() and len(rows) == len(ways)
    for row in rows:
        one, *how = ways[row["case"]]
        with monkeypatch.context() as patch:
            if store := values.get(row["case"]):
                for block in one.blocks:
                    projected = block.projected
                    patch.setattr(block, "projected", lambda x, of=projected, store=store: (*(made := of(x))[:2], store(made[2])))
            loss = losses(one, text, encoding=StoredKeys(one.encoding, *how)).mean().item()
        assert row["loss"] == pytest.approx(loss, abs=2e-6)
    largest = []
    losses(model, text, encoding=StoredKeys(model.encoding, lambda k: largest.append(k.abs().max().item()) or k))
    assert rows[0]["largest"] == [round(most, 2) for most in largest]


def test_packed_keys_turn_as_others_do():
    [probe] = PROBES["real-packed-shift"].runs(range(1), smoke=True)
    formats = {"q8_0": partial(mixed, bits=8), "q4_0": partial(mixed, bits=4), "e4m3": fp8}
    ways = {"positions count on": 0, "at once": 64, "by ones": 1}
    cases = {f"{name}, {way}": (store, True, by) for name, store in formats.items() for way, by in ways.items()}
    cases["float32, positions count on"] = torch.float32, True, 0
    by_case = shifting(loaded("stand-in", layout="interleaved"), tokens(probe), cases)
    assert {row["case"]: row["loss"] for row in run_probe(probe)["rows"]} == pytest.approx(
        {case: each.mean().item() for case, each in by_case.items()}, abs=2e-6
    )


def test_a_function_stores_as_its_dtype_does():
    model, text = loaded("stand-in"), tokens(Probe("real-shift", model="stand-in", text="rule", length=CAPACITY + HALF))
    case, calls = CASES["shifted in bfloat16, one at a time"], []
    other = (lambda x: calls.append(x) or x.bfloat16().float(), *case[1:])
    by_case = shifting(model, text, {"as a dtype": case, "as a function": other})
    assert torch.equal(by_case["as a dtype"], by_case["as a function"])
    assert len(calls) == len(model.blocks) * ((CAPACITY + HALF) // STEP + HALF)  # when they come, and behind each turn


def test_bad_calls():
    with pytest.raises(ValueError, match="dtype must be"):
        fp8(KEYS, torch.float16)
    with pytest.raises(ValueError, match="scale must be"):
        fp8(KEYS, scale=0.0)
    with pytest.raises(ValueError, match="bits must be"):
        blocks(KEYS, 5)
    with pytest.raises(ValueError, match="x must have a multiple of 32 features; got 48"):
        blocks(KEYS[..., :48], 8)
