"""The settings for transformers 4, loaded by transformers 4: python -m tests.rehearsals.transformers4

It needs an environment with transformers 4, which the weekly workflow makes. Every release that has settings at four
times the length of its training is loaded by the class of its whole file, the settings of each rule are run on it, and the
frequencies that the code of its text turns by are compared with those that the reader finds in the stretched configuration.
"""

import inspect
import sys
from collections.abc import Iterator
from copy import deepcopy
from itertools import product

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.config import read, settings
from d2lpos.config.outer import plain, text_of
from d2lpos.config.tables import table
from d2lpos.pretrained import encoding_of
from tests.parity.releases import releases


def rotary(config: transformers.PretrainedConfig) -> torch.nn.Module | None:
    """What makes cosines and sines in the code of its family; None where nothing is made of a configuration alone."""
    name = type(config).__name__.removesuffix("Config")
    module = inspect.getmodule(getattr(transformers, f"{name}Model", None))
    names = (f"{name}RotaryEmbedding", f"{name.removesuffix('Text')}RotaryEmbedding")
    made = next((getattr(module, one) for one in names if hasattr(module, one)), None)
    return made(config=config) if made and "config" in inspect.signature(made).parameters else None


def differences() -> Iterator[tuple[str, str]]:
    """A release and a rule, and what differs; an empty word where nothing does."""
    for one, rule in product(releases(), table("settings")["rules"]):
        said, family = one["config"], one["config"]["model_type"]
        reading = read(said)
        lengths = reading["lengths"]
        trained = max(one["trained"]) if one.get("trained") else lengths["original"] or lengths["allowed"]
        told = text_of(plain(said), ()).values
        if family not in CONFIG_MAPPING or not trained or "rope_parameters" in told:  # which 4 does not read
            continue
        try:
            lines = settings(reading, 4 * trained, "transformers4", trained, rule)["line"]
        except ValueError:
            continue
        config = CONFIG_MAPPING[family].from_dict(deepcopy(said))
        exec(lines, {"config": config})  # noqa: S102
        text = config.get_text_config(decoder=True)
        try:
            theirs = None if lines.startswith("#") else rotary(text)
        except Exception as error:  # noqa: BLE001, because its code raises many kinds
            yield f"{one['name']}, {rule}", f"{type(error).__name__}: {error}"
            continue
        if theirs is None:
            continue
        known = set(told) | {"rope_scaling", "rope_theta", "max_position_embeddings"}
        changed = {key: value for key, value in text.to_dict().items() if key in known}
        if "rotary_emb_base" in told:  # once loaded, its code turns by rope_theta
            changed["rotary_emb_base"] = text.rope_theta
        if changed.get("rope_scaling"):
            changed["rope_scaling"].pop("type", None)  # of the file; its code looks at rope_type first
        layers = encoding_of(changed | {"model_type": one["family"]}).layers
        ropes = (getattr(layer.encoding, "rope", layer.encoding) for layer in sorted(layers, key=lambda layer: bool(layer.window)))
        turning = [rope for rope in ropes if hasattr(rope, "scaled")]  # first of layers without a window, which the rule is for
        if not turning:  # slopes, which need only a longer length
            continue
        omega, factor = turning[0].scaled()
        same = torch.allclose(theirs.inv_freq.double(), omega.double(), rtol=1e-5)
        yield f"{one['name']}, {rule}", "" if same and abs(factor - theirs.attention_scaling) < 1e-6 else f"{theirs.inv_freq[:9]} and {omega[:9]}"


def main() -> str | None:
    found = list(differences())
    for name, what in found:
        print(f"{name}: {what or 'agrees'}")
    wrong = [name for name, what in found if what]
    return f"transformers {transformers.__version__}: {len(wrong)} of {len(found)} differ" if wrong or not found else None


if __name__ == "__main__":
    sys.exit(main())
