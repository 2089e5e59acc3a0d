"""The small language models that run in the book's pages, with weights in 8 bits.

A file is a script that a page loads. It has a card, which says what the model is and how it was trained, the
shapes of its parameters, and their numbers: first all floats, among them the scale of each row of 8-bit numbers,
then all 8-bit numbers.
"""

import base64
import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..bias.alibi import ALiBi
from ..bias.t5 import T5Bias
from ..encoding import Encoding
from ..input.learned import Learned
from ..input.sinusoids import Sinusoidal
from ..positions.arguments import check_name
from ..rotary.rope import RoPE
from ..runtime.published import published
from ..transformer.attention import Attention, attention_weights
from ..transformer.model import Transformer

__all__ = ["CHAR_MODELS", "attention", "load", "surprise", "tokens"]

CHAR_MODELS = ("none", "sinusoidal", "learned", "rope", "t5", "alibi")
"""The models by name, alike but for their encoding.

>>> CHAR_MODELS[3]
'rope'
"""
LONGEST = 512  # characters that a page lets them read
LIKE = dict(zip("‘’“”–—…\t\u00a0", "''\"\"--.  ", strict=True))


class LastRow(Learned):
    """A table whose last row serves all positions past it."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, positions.clamp(max=len(self.table) - 1))


ENCODINGS = {
    "none": lambda card: Encoding(),
    "sinusoidal": lambda card: Sinusoidal(card["d_model"]),
    "learned": lambda card: LastRow(card["train_length"], card["d_model"]),
    "rope": lambda card: RoPE(card["d_model"] // card["heads"]),
    "t5": lambda card: T5Bias(card["heads"], bidirectional=False),
    "alibi": lambda card: ALiBi(card["heads"]),
}


def unpack(file: Mapping[str, Any]) -> dict[str, Tensor]:
    """The parameters by name, float32. Raises ValueError where weights do not fill the shapes."""
    data = bytearray(base64.b64decode(file["weights"], validate=True))
    shapes = file["shapes"]
    floats = [rows if kind == "q8" else rows * columns for _, rows, columns, kind in shapes]
    whole = [rows * columns if kind == "q8" else 0 for _, rows, columns, kind in shapes]
    if len(data) != 4 * sum(floats) + sum(whole):
        raise ValueError(f"weights must have {4 * sum(floats) + sum(whole)} bytes; got {len(data)}")
    numbers = torch.frombuffer(data, dtype=torch.float32, count=sum(floats)).split(floats)
    levels = torch.frombuffer(data, dtype=torch.int8, offset=4 * sum(floats)).split(whole)
    return {
        name: (scales[:, None] * part.view(rows, columns) if kind == "q8" else scales.view(rows, columns))
        for (name, rows, columns, kind), scales, part in zip(shapes, numbers, levels, strict=True)
    }


def filled(model: Transformer, file: Mapping[str, Any]) -> Transformer:
    """The model with the parameters of a file, ready to read."""
    weights = unpack(file)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name].view_as(parameter))
    return model.eval()


def parsed(script: str) -> dict[str, Any]:
    """Card, shapes and weights of a file's text."""
    return json.loads(script.partition("] = ")[2].rstrip().removesuffix(";"))


def read(script: str) -> tuple[Transformer, dict[str, Any]]:
    """The model of a file's text, and its card. Its layers see all that a mask lets them see."""
    file = parsed(script)
    card = file["card"]
    known = len(card["vocabulary"])
    sizes = [card[name] for name in ("d_model", "heads", "layers")]
    model = Transformer(known + 1, known, *sizes, encoding=ENCODINGS[card["encoding"]](card))
    return filled(model, file), card


def load(name: str) -> tuple[Transformer, dict[str, Any]]:
    """The model of the pages with this encoding, with the same weights as in the pages, and its card.

    Positions past the end of a learned table get its last row. Without a mask, the layers also see later tokens, so
    `surprise` passes one. Raises ValueError for a name that is not in CHAR_MODELS.

    >>> model, card = load("alibi")
    >>> card["train_length"]
    128
    """
    check_name("name", name, CHAR_MODELS)
    return read(path(name).read_text("utf-8"))


def path(name: str) -> Path:
    return published("results") / f"readers-{name}.js"


def best(character: str) -> tuple[str, ...]:
    """What a character may be read as, best first."""
    plain = unicodedata.normalize("NFD", LIKE.get(character, character))[0]
    return character, plain, plain.lower()


def tokens(card: Mapping[str, Any], text: str) -> Tensor:
    """The token of each character of a text, (characters,), int64.

    A character that is not in the vocabulary is replaced by a similar one, ’ by ', é by e, a capital by its small
    letter, or else by the card's unknown character.

    >>> tokens({"vocabulary": "\\n abc", "unknown": 5}, "abc BÄ?")
    tensor([2, 3, 4, 1, 3, 2, 5])
    """
    known = {character: token for token, character in enumerate(card["vocabulary"])}
    like = (best(character) for character in text)
    return torch.tensor([next((known[c] for c in each if c in known), card["unknown"]) for each in like])


def surprise(
    model: Transformer, tokens: Tensor, positions: Tensor, mask: Tensor | None = None
) -> Tensor:
    """−ln p of each token, given those before it, in nats; tokens and positions (length,) give (length,).

    The tokens before a token are those of smaller index, whatever their positions are. The first token has none before it,
    and an unknown character has no probability, so both are nan. A mask, (length, length), is Boolean, True
    where a query (row) sees a key; without a mask a query sees itself and all tokens before it.

    >>> model, card = load("none")
    >>> text = tokens(card, "To be or not to be")
    >>> surprise(model, text, torch.arange(len(text)))[1:].mean() < 5
    tensor(True)
    """
    with torch.no_grad():
        logits = model(tokens[None], positions, past(tokens) if mask is None else mask)[0]
    asked = torch.cat([tokens.new_tensor([-100]), tokens[1:].where(tokens[1:] < logits.shape[-1], -100)])
    before = torch.cat([logits[:1], logits[:-1]])
    return cross_entropy(before, asked, reduction="none").masked_fill(asked < 0, torch.nan)


def attention(model: Transformer, tokens: Tensor, positions: Tensor, mask: Tensor | None = None) -> Tensor:
    """The weights of attention while a model reads, (layer, head, query, key); arguments are those of `surprise`.

    >>> model, card = load("rope")
    >>> text = tokens(card, "To be or not to be")
    >>> attention(model, text, torch.arange(len(text))).shape
    torch.Size([3, 3, 18, 18])
    """
    weights = []

    def look(layer: Attention, inputs: tuple) -> None:
        x, here, visible, _ = inputs
        q, k, _ = layer.projected(x)
        weights.append(attention_weights(q, k, here, here, layer.encoding, visible)[0])

    hooks = [block.attention.register_forward_pre_hook(look) for block in model.blocks]
    try:
        surprise(model, tokens, positions, mask)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(weights)


def past(tokens: Tensor) -> Tensor:
    """The causal mask (length, length) of tokens (length,): a query sees itself and all before it."""
    return torch.ones(len(tokens), len(tokens), dtype=torch.bool).tril()
