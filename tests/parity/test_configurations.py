"""What transformers makes of a configuration that leaves a setting out: rows of the errata."""

import logging
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from d2lpos.input.sinusoids import frequencies
from d2lpos.pretrained import encoding_of
from d2lpos.rotary.scaling import yarn
from tests.parity.variants import LENGTH, without_one

DIM, BASE, TRAINED, LONGER = 64, 10_000.0, 4096, 16_384


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[..., tuple[LlamaConfig, bool]]]:
    """From RoPE's parameters to a configuration for `LONGER` tokens, and whether a warning was given."""
    logger = logging.getLogger("transformers")  # which hands nothing up to pytest's own
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.WARNING, logger.name)

    def configured(**keys: object) -> tuple[LlamaConfig, bool]:
        caplog.clear()
        sizes = {"hidden_size": DIM, "num_attention_heads": 1, "max_position_embeddings": LONGER}
        config = LlamaConfig(**sizes, rope_parameters={"rope_theta": BASE, "factor": 4.0, **keys})
        return config, bool(caplog.records)

    yield configured
    logger.removeHandler(caplog.handler)


def turned(config: LlamaConfig) -> Tensor:
    return ROPE_INIT_FUNCTIONS["yarn"](config)[0]


def test_yarn_takes_the_new_length_for_that_of_training_and_does_not_warn(warned):
    right, wrong = (yarn(frequencies(DIM, BASE), 4, length)[0] for length in (TRAINED, LONGER))
    config, warning = warned(rope_type="yarn", original_max_position_embeddings=TRAINED)
    assert torch.allclose(turned(config).double(), right) and not warning
    config, warning = warned(rope_type="yarn")
    assert config.rope_parameters["original_max_position_embeddings"] == LONGER
    assert torch.allclose(turned(config).double(), wrong) and not warning
    assert (wrong / right > 1.01).sum() == 17 and round((wrong / right).max().item(), 2) == 2.15
    # It could warn, and does for Llama 3's rule.
    assert warned(rope_type="llama3", low_freq_factor=1.0, high_freq_factor=4.0)[1]


@pytest.mark.parametrize("case", without_one())
def test_a_rule_that_lacks_a_key_turns_as_its_class_does_or_is_refused(case):
    file = without_one()[case]
    try:
        ours, factor = encoding_of(file, tokens=LENGTH).layers[0].encoding.scaled()
    except ValueError:
        return
    rule = file["rope_parameters"]["rope_type"]
    config = LlamaConfig(**{key: value for key, value in file.items() if key != "model_type"})
    theirs, same = ROPE_INIT_FUNCTIONS[rule](config, seq_len=LENGTH)
    assert torch.allclose(theirs.double(), ours, rtol=1e-4) and factor == pytest.approx(same)


def test_what_a_class_needs_is_named_where_it_is_missing():
    errors = {}
    for case, file in without_one().items():
        try:
            encoding_of(file, tokens=LENGTH)
        except ValueError as error:
            errors[case] = str(error)
    needed = {"linear": "factor", "dynamic": "factor", "yarn": "factor", "llama3": "factor low_freq_factor high_freq_factor"}
    needed["longrope"] = "short_factor long_factor"
    missing = {f"{rule}, no {key}": key for rule, keys in needed.items() for key in keys.split()}
    null = {case.replace("no", "null", 1): key for case, key in missing.items()}
    null |= {f"{rule}, null original_max_position_embeddings": "original_max_position_embeddings" for rule in ("yarn", "llama3", "longrope")}
    del null["yarn, null factor"]  # the quotient of its lengths
    assert errors.keys() == missing.keys() | null.keys()
    for case, key in (missing | null).items():
        article = "a " if key == "factor" else ""
        assert errors[case] == f'rope_type "{case.partition(",")[0]}" must have {article}{key}, and has none'
