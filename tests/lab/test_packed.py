"""Packed keys: fp8, and blocks as llama.cpp's own code packs them; what is decided is what the records say."""

import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

from d2lpos import RoPE
from d2lpos.lab import Probe, packed, records
from d2lpos.lab.bits import StoredKeys
from d2lpos.lab.packed import E4M3, E5M2, blocks, by_layer, fp8, mixed
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.shift import CAPACITY, CASES, HALF, shifting
from d2lpos.pretrained import losses

KEYS = torch.randn(2, 3, 12, 64, generator=torch.Generator().manual_seed(0))
HERE = torch.arange(12)


@pytest.mark.parametrize(("dtype", "most", "error"), [(E4M3, 448, 1 / 16), (E5M2, 57344, 1 / 8)])
def test_fp8_errs_by_a_share_of_each_number(dtype, most, error):
    large = KEYS[KEYS.abs() > 0.05]
    assert ((fp8(large, dtype) / large - 1).abs() <= error).all()
    assert fp8(torch.tensor([2.0 * most, -2.0 * most]), dtype).tolist() == [most, -most]
    assert torch.equal(fp8(KEYS, dtype, 4.0), fp8(KEYS / 4, dtype) * 4)


def test_the_scale_of_a_layer_reaches_its_largest_number():
    assert by_layer(KEYS, E4M3).abs().max().item() == pytest.approx(KEYS.abs().max().item())
    assert by_layer(KEYS, E4M3, past=4).abs().max().item() == pytest.approx(KEYS.abs().max().item() / 4)


@pytest.mark.parametrize("bits", [8, 4])
def test_blocks_are_llama_cpps(bits):
    kind = GGMLQuantizationType[f"Q{bits}_0"]
    theirs = dequantize(quantize(KEYS.numpy(), kind), kind)
    torch.testing.assert_close(blocks(KEYS, bits), torch.from_numpy(theirs).view_as(KEYS))


def test_mixing_spreads_one_long_number():
    long = KEYS + 20 * (torch.arange(64) == 5)
    assert (mixed(long, 4) - long).norm() < 0.7 * (blocks(long, 4) - long).norm()
    torch.testing.assert_close(mixed(KEYS[..., :8], 8), KEYS[..., :8], atol=0.05, rtol=0)


def test_stored_before_is_turned_afterwards():
    own = RoPE(64)
    before, after = (StoredKeys(own, fp8, before).rotate(KEYS, KEYS, HERE, HERE)[1] for before in (True, False))
    torch.testing.assert_close(before, own.rotate_at(fp8(KEYS), HERE))
    torch.testing.assert_close(after, fp8(own.rotate_at(KEYS, HERE)))


def test_values_are_stored_and_the_model_is_left_as_it_was():
    model, text = loaded("stand-in"), torch.randint(256, (1, 12), generator=torch.Generator().manual_seed(1))
    plain = losses(model, text)
    assert torch.equal(packed.values_too(model, text, lambda x: x), plain)
    assert not torch.equal(packed.values_too(model, text, fp8), losses(model, text, encoding=StoredKeys(model.encoding, fp8)))
    assert torch.equal(losses(model, text), plain)


def test_a_function_stores_as_its_dtype_does():
    model, text = loaded("stand-in"), tokens(Probe("real-shift", model="stand-in", text="rule", length=CAPACITY + HALF))
    case = CASES["shifted in bfloat16"]
    other = (lambda x: x.bfloat16().float(), *case[1:])
    by_case = shifting(model, text, {"as a dtype": case, "as a function": other})
    assert torch.equal(by_case["as a dtype"], by_case["as a function"])


def test_bad_calls():
    with pytest.raises(ValueError, match="dtype must be"):
        fp8(KEYS, torch.float16)
    with pytest.raises(ValueError, match="scale must be"):
        fp8(KEYS, scale=0.0)
    with pytest.raises(ValueError, match="bits must be"):
        blocks(KEYS, 5)
    with pytest.raises(ValueError, match="x must have a multiple of 32 features; got 48"):
        blocks(KEYS[..., :48], 8)


def test_verdicts_are_told_of_all_records():
    table = packed.decided(records("real-packed-shift"))
    assert len(table) == 2 * len(packed.FORMATS) and (table["n"] == 15).all()
    for one in table.itertuples():
        assert one.verdict == ("holds" if one.high < 0 else "fails" if one.low > 0 else "open")
