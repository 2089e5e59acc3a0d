"""A file means what its class makes of it: keys that are dropped, null or changed, and scaling in either spelling."""

from pathlib import Path

import pytest
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos import config
from d2lpos.config import apply, edits
from d2lpos.config.tables import rows, table
from d2lpos.pretrained import encoding_of
from tests.parity import defaults, tiny
from tests.parity.families import fitted
from tests.parity.readings import facts
from tests.parity.variants import LENGTH, RULES, dropped, scaled, sections

READ = sorted(set(rows()) & set(CONFIG_MAPPING))
TURN = [name for name in READ if "rope_theta" in table("defaults").get(name, {}).get("keys", {}) or name in ("beam", "laguna")]
OUTER = [name for name, entry in table("defaults").items() if "text_keys" in entry]
TOKENS = 100
# How many files with rules of scaling are refused: two kinds of layers under one rule in the new spelling, two original
# lengths, and Pixtral in the old spelling.
REFUSED = {"gemma3_text": 6, "gemma3n_text": 6, "olmo3": 6, "step3p5": 6, "phi3": 3, "phi4_multimodal": 3, "pixtral": 1}


pytestmark = pytest.mark.usefixtures("quiet")


def read(file):
    """What is read; a word of the refusal where it is refused."""
    try:
        return facts(encoding_of(file, tokens=TOKENS))
    except ValueError as error:
        return str(error)


def wrong(family, files):
    """The names of those files that are not read as what transformers makes of them."""
    faults = []
    for name, file in files.items():
        whole = defaults.made(family, **file)
        if not whole:
            continue
        if file.get("per_layer_config", 0) is None:  # heads alike, which what the class saves forgets
            whole["per_layer_config"] = None
        expected, got = read(whole), read(file)
        if not isinstance(expected, str) and got != expected:
            faults.append(f"{name}: {got}" if isinstance(got, str) else name)
    return faults


@pytest.mark.parametrize("family", READ)
def test_a_missing_key_means_what_the_class_takes_for_it(family):
    assert wrong(family, dropped(family)) == []


@pytest.mark.parametrize("text", [{"vocab_size": 7}, {"num_hidden_layers": 3}, {"hidden_size": 4096, "rope_theta": 300.0}])
@pytest.mark.parametrize("family", OUTER)
def test_a_missing_key_of_a_text_means_what_the_outer_class_takes_for_it(family, text):
    whole = defaults.made(family, text_config=text)["text_config"]
    file = {"model_type": family, "text_config": text}
    assert read(file) == read(whole)


@pytest.mark.parametrize("family", ["glmasr", "voxtral"])
def test_a_new_base_reaches_a_text_whose_outer_class_fills_it(family):
    file = {"model_type": family, "text_config": {"vocab_size": 7}}
    changed = apply(file, edits(config.read(file), 2**20, "ntk"))
    base = config.read(changed)["kinds"][0]["encoding"]["base"]
    assert base == defaults.made(family, **changed)["text_config"]["rope_parameters"]["rope_theta"] > 2e5


@pytest.mark.parametrize("family", TURN)
def test_scaling_in_either_spelling(family):
    faults = wrong(family, scaled(family))
    assert len(faults) == REFUSED.get(family, 0) and all(":" in fault for fault in faults), faults


def test_the_book_says_how_many_are_refused():
    page = (Path(__file__).parents[2] / "book" / "parity.md").read_text("utf-8")
    assert f"refuses {sum(REFUSED.values())} of them" in page


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", TURN)
def test_frequencies_are_those_of_its_code(family, rule):
    """Numbers, not names: what the file says may not be what its code does."""
    small = tiny.data(fitted(family)) | {"max_position_embeddings": LENGTH}
    small.pop("rope_scaling_layers", None)
    file = small | {"rope_parameters": {"rope_type": rule} | RULES[rule] | sections(small)}
    made, rotary, got = defaults.made(family, **file), defaults.rotary(family), read(file)
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
        id(one): one for one in encoding_of(file, tokens=TOKENS).encodings if one is not None
    }.values():
        omega, factor = getattr(encoding, "rope", encoding).scaled()
        both = (one.float().abs().sort().values for one in (omega, theirs.inv_freq))  # ERNIE deals them first
        assert torch.allclose(*both, rtol=1e-5)
        assert factor == pytest.approx(theirs.attention_scaling)


def test_the_file_of_defaults_is_what_the_command_writes():
    assert defaults.FILE.read_text("utf-8") == defaults.written(defaults.entries())


def test_every_family_has_defaults_or_code_of_its_own():
    assert {name for name in rows() if name not in table("defaults")} == {name for name, row in rows().items() if row["source"]} | {"kimi_k2", "phi3_v"}
