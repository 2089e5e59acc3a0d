"""A file means what its class makes of it: keys that are dropped, null or changed, and scaling in either spelling."""

import logging

import pytest
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.pretrained import encoding_of
from d2lpos.pretrained.defaults import entries
from d2lpos.pretrained.families import FAMILIES
from d2lpos.pretrained.own import OWN
from tests.parity import defaults, tiny
from tests.parity.families import fitted
from tests.parity.readings import told

READ = sorted(set(FAMILIES) & set(CONFIG_MAPPING))
TURN = [name for name in READ if "rope_theta" in entries().get(name, {}).get("keys", {}) or name in ("beam", "laguna")]
LENGTH, TOKENS = 64, 100
SAID = {"rope_theta": 300.0, "factor": 4.0}
LISTS = {"short_factor": [1.0] * 4 + [1.5] * 4, "long_factor": [1.0] * 4 + [8.0] * 4}
RULES = {
    "default": {"rope_theta": 300.0},
    "linear": SAID,
    "dynamic": SAID,
    "yarn": SAID | {"original_max_position_embeddings": LENGTH},
    "llama3": SAID
    | {"original_max_position_embeddings": LENGTH, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "longrope": SAID | {"original_max_position_embeddings": LENGTH} | LISTS,
}


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def read(said):
    """What is read; a word of the refusal where it is refused."""
    try:
        return told(encoding_of(said, tokens=TOKENS))
    except ValueError as error:
        return str(error)


def wrong(family, files):
    """The names of those files that are not read as what transformers makes of them."""
    found = []
    for name, said in files.items():
        whole = defaults.made(family, **said)
        if not whole:
            continue
        expected, got = read(whole), read(said)
        if not isinstance(expected, str) and got != expected:
            found.append(f"{name}: {got}" if isinstance(got, str) else name)
    return found


@pytest.mark.parametrize("family", READ)
def test_a_missing_key_means_what_the_class_takes_for_it(family):
    """Every key of the default file is dropped; those that the reader's code knows are dropped, null and doubled."""
    whole = defaults.made(family)
    files = {
        f"no {key}": {k: v for k, v in whole.items() if k != key} for key in whole if key != "model_type"
    }
    files["nothing"] = {"model_type": family}
    small = tiny.data(fitted(family))
    for key in defaults.words().intersection(small):
        files[f"no {key}, small"] = {k: v for k, v in small.items() if k != key}
        files[f"null {key}, small"] = small | {key: None}
        if type(small[key]) in (int, float) and small[key] > 0:
            files[f"twice {key}, small"] = small | {key: 2 * small[key]}
    assert wrong(family, files) == []


def sections(small):
    """The pairs of each coordinate, which a family's code takes by default for heads of the usual size alone."""
    said = small.get("rope_parameters") or {}
    return {key: said[key] for key in ("mrope_section",) if key in said}


@pytest.mark.parametrize("family", TURN)
def test_scaling_in_either_spelling(family):
    """As transformers 4 writes it, with and without types of layers, and as 5 does."""
    small = tiny.data(fitted(family))
    bare = {key: value for key, value in small.items() if key not in ("rope_parameters", *defaults.ODD)}
    files = {}
    for rule, said in RULES.items():
        said = said | sections(small)
        old = {key: value for key, value in said.items() if key != "rope_theta"}
        files[f"{rule}, 4"] = bare | {"rope_theta": 300.0, "rope_scaling": {"type": rule} | old}
        files[f"{rule}, late 4"] = bare | {"rope_theta": 300.0, "rope_scaling": {"rope_type": rule} | old}
        files[f"{rule}, 5"] = bare | {"rope_parameters": {"rope_type": rule} | said}
        files[f"{rule}, half"] = files[f"{rule}, 4"] | {"partial_rotary_factor": 0.5}
        kinds = set(small.get("layer_types") or ()) & {"full_attention", "sliding_attention"}
        if kinds:
            files[f"{rule}, by layers"] = bare | {
                "rope_parameters": {k: {"rope_type": rule} | said for k in kinds}
            }
    assert [name for name in wrong(family, files) if ":" not in name] == []


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", TURN)
def test_frequencies_are_those_of_its_code(family, rule):
    """Numbers, not names: what the file says may not be what its code does."""
    small = tiny.data(fitted(family)) | {"max_position_embeddings": LENGTH}
    small.pop("rope_scaling_layers", None)
    said = small | {"rope_parameters": {"rope_type": rule} | RULES[rule] | sections(small)}
    made, rotary, got = defaults.made(family, **said), defaults.rotary(family), read(said)
    if not made or rotary is None or isinstance(got, str) or "layer_rope_theta" in small:
        pytest.skip("theirs or ours refuses it")
    try:
        theirs = rotary(CONFIG_MAPPING[family](**made))
        theirs(torch.zeros(1), torch.arange(TOKENS)[None])
    except Exception as error:  # noqa: BLE001, because its code raises many kinds
        pytest.skip(f"its code fails: {type(error).__name__}")
    if family == "mistral4" and rule == "default":
        pytest.skip("its code makes angles for more features than turn")
    for encoding in {
        id(one): one for one in encoding_of(said, tokens=TOKENS).encodings if one is not None
    }.values():
        omega, factor = getattr(encoding, "rope", encoding).scaled()
        both = (one.float().abs().sort().values for one in (omega, theirs.inv_freq))  # ERNIE deals them first
        assert torch.allclose(*both, rtol=1e-5)
        assert factor == pytest.approx(theirs.attention_scaling)


def test_the_file_of_defaults_is_what_the_command_writes():
    assert defaults.FILE.read_text("utf-8") == defaults.written(defaults.entries())


def test_every_family_has_defaults_or_code_of_its_own():
    assert {name for name in FAMILIES if name not in entries()} == set(OWN) | {"kimi_k2", "phi3_v"}
