"""One look at a trained model: a frozen value, whose key names its record for good."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ..positions.arguments import check_count, check_name, check_positive
from ..pretrained.albert import load_albert
from ..pretrained.char_models import load, path
from ..pretrained.gemma3 import gemma3_tokenizer, load_gemma3
from ..pretrained.minilm import load_minilm, minilm_tokenizer
from ..pretrained.smollm2 import load_smollm2, smollm2_tokenizer, stand_in
from ..pretrained.weights import RECORDED, WEIGHTS, find
from ..pretrained.whisper import load_whisper
from .passages import TEXTS, passage

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Probe", "encoder", "loaded", "tokenizer", "tokens"]

PROTOCOL = 1  # raised when a probe is no longer the same experiment
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
MODELS = (*WEIGHTS, *RECORDED, "stand-in", "characters")
LOADERS = {"minilm": load_minilm, "whisper": load_whisper, "albert": load_albert, "gemma3": load_gemma3}
LONGEST = 8  # characters that a token has, on average, at most


@dataclass(frozen=True)
class Probe:
    """A measurement on a trained model: which model, which passage, and what is measured.

    study, part: what is measured. A study may have several parts, for example one for each layer.
    model: a name of `WEIGHTS`, "gemma3", "stand-in" (a tiny untrained model that reads bytes), or "characters" (the
        model with RoPE that runs in the book's pages, and reads characters).
    text, seed, length: the name of the text, the number of the passage, and how many tokens the passage has.
    dtype: the dtype in which the model computes.

    Raises ValueError for an unknown name, and for a size that is not positive.

    >>> probe = Probe("real-layout", model="stand-in", length=8)
    >>> Probe(**probe.fields()) == probe
    True
    """

    study: str
    part: str = ""
    model: str = "smollm2"
    text: str = "persuasion"
    seed: int = 0
    length: int = 512
    dtype: str = "float32"

    def __post_init__(self) -> None:
        check_name("model", self.model, MODELS)
        check_name("text", self.text, TEXTS)
        check_name("dtype", self.dtype, DTYPES)
        check_positive(length=self.length)
        check_count(seed=self.seed)

    @property
    def encoding(self) -> str:
        """The name of this probe in the reports of a sweep."""
        return " ".join(filter(None, (self.model, self.text, self.part)))

    @property
    def key(self) -> str:
        """16 hexadecimal digits: a hash of all fields, of the version, and of the weights."""
        settings = self.fields() | {"protocol": PROTOCOL, "weights": weights(self.model)}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]

    def fields(self) -> dict[str, Any]:
        """All fields in a dictionary, fit for JSON."""
        return asdict(self)


def weights(model: str) -> str:
    """The SHA-256 of a model's weights; of the stand-in, its name."""
    if model == "characters":
        return hashlib.sha256(path("rope").read_bytes()).hexdigest()
    known = WEIGHTS | RECORDED
    return known[model].main if model in known else model


@cache
def loaded(model: str, dtype: str = "float32", device: str = "cpu", layout: str = "half") -> nn.Module:
    """A model, loaded once. Raises WeightsMissing where its weights are not on this machine.

    >>> loaded("stand-in").encoding.dim
    8
    """
    if model == "characters":
        return load("rope")[0].requires_grad_(False)
    if model in LOADERS:
        return LOADERS[model](dtype=DTYPES[dtype]).to(device)
    if model == "smollm2":
        return load_smollm2(DTYPES[dtype], layout).to(device)
    return stand_in(layout).to(device, DTYPES[dtype])


@cache
def encoder(model: str) -> Callable[[str], list[int]]:
    if model == "stand-in":
        return lambda text: list(text.encode())
    special = model != "whisper"  # whose text begins in the middle of its own tokens
    return lambda text: tokenizer(model).encode(text, add_special_tokens=special).ids


@cache
def tokenizer(model: str) -> "Tokenizer":
    if model == "whisper":
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(find("whisper")[1]))
    by_model = {"smollm2": smollm2_tokenizer, "minilm": minilm_tokenizer, "gemma3": gemma3_tokenizer}
    return by_model[model]()


def tokens(probe: Probe, device: str = "cpu") -> Tensor:
    """The passage of a probe, (1, length), int64.

    Raises ValueError where the text ends before.

    >>> tokens(Probe("real-layout", model="stand-in", length=3))
    tensor([[67, 104,  97]])
    """
    text = passage(probe.text, probe.seed, probe.length * (1 if probe.model == "stand-in" else LONGEST))
    ids = encoder(probe.model)(text)[: probe.length]
    if len(ids) < probe.length:
        raise ValueError(
            f"passage {probe.seed} of {probe.text} has {len(ids)} tokens; got {probe.length}"
        )
    return torch.tensor([ids], device=device)
