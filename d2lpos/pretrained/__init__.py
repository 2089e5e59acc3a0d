"""What a configuration says about position, and four trained models to open.

`encoding_of` reads a `config.json` of the Hugging Face Hub, and nothing is downloaded or run for it. What it does not
understand it refuses by name, because a wrong encoding raises no error: the model only writes worse.

`SmolLM2`, `MiniLM`, `Whisper` and `Albert` are plain PyTorch; `load_smollm2` and its like fill them with the weights that
`fetch` has downloaded. Their positions are arguments.
"""

from typing import TYPE_CHECKING

from ..runtime.lazy import lazily

if TYPE_CHECKING:
    from .albert import Albert, load_albert
    from .build import encoding_of
    from .gemma3 import Gemma3, gemma3_tokenizer, load_gemma3
    from .layer import Layer, Reading
    from .minilm import MiniLM, load_minilm, minilm_tokenizer
    from .smollm2 import SmolLM2, load_smollm2, losses, smollm2_tokenizer, stand_in
    from .weights import WEIGHTS, Weights, WeightsMissing, at_hand, fetch, find, folder
    from .whisper import Whisper, load_whisper
else:  # a list of models or a file is read without PyTorch
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "albert": ("Albert", "load_albert"),
            "build": ("encoding_of",),
            "gemma3": ("Gemma3", "gemma3_tokenizer", "load_gemma3"),
            "layer": ("Layer", "Reading"),
            "minilm": ("MiniLM", "load_minilm", "minilm_tokenizer"),
            "smollm2": ("SmolLM2", "load_smollm2", "losses", "smollm2_tokenizer", "stand_in"),
            "weights": ("WEIGHTS", "Weights", "WeightsMissing", "at_hand", "fetch", "find", "folder"),
            "whisper": ("Whisper", "load_whisper"),
        },
    )

__all__ = [
    "WEIGHTS",
    "Albert",
    "Gemma3",
    "Layer",
    "MiniLM",
    "Reading",
    "SmolLM2",
    "Weights",
    "WeightsMissing",
    "Whisper",
    "at_hand",
    "encoding_of",
    "fetch",
    "find",
    "folder",
    "gemma3_tokenizer",
    "load_albert",
    "load_gemma3",
    "load_minilm",
    "load_smollm2",
    "load_whisper",
    "losses",
    "minilm_tokenizer",
    "smollm2_tokenizer",
    "stand_in",
]
