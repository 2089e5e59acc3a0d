"""Mend the cache."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...transformer.model import Transformer
from ..verdict import Answer, Case, Check, count
from .material import programs


def their_read_on(model, tokens, prompt):
    """Logits of all tokens; those after the prompt come singly."""
    caches, here = model.new_caches(), torch.arange(prompt)
    rows = [model(tokens[None, :prompt], here, caches=caches)]
    for n, token in enumerate(tokens[prompt:], prompt + 1):
        one, here = token.view(1, 1), torch.tensor([n])
        rows.append(model(one, here, caches=caches))
    return torch.cat(rows, dim=1)[0]


def read_further(model: Transformer, tokens: Tensor, prompt: int) -> Tensor:
    caches = model.new_caches()
    rows = [model(tokens[None, :prompt], torch.arange(prompt), caches=caches)]
    for at in range(prompt, len(tokens)):
        rows.append(model(tokens[None, [at]], torch.tensor([at]), caches=caches))
    return torch.cat(rows, dim=1)[0]


class Counted:
    """A model that counts the tokens that it is given, and looks whether they come singly behind the prompt."""

    def __init__(self, model: Transformer, prompt: int):
        self.model, self.prompt, self.read, self.singly, self.cached = model, prompt, 0, True, True

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def __call__(self, tokens: Tensor, *arguments: object, **options: object) -> Tensor:
        self.read += tokens.numel()
        self.singly &= self.read <= self.prompt or tokens.numel() == 1
        self.cached &= options.get("caches") is not None or any(isinstance(one, list) for one in arguments)
        return self.model(tokens, *arguments, **options)


def read_case(tokens: int, prompt: int) -> Case:
    def ask(answer: Callable) -> object:
        with torch.no_grad():
            return answer(programs()["right"], (5 * torch.arange(tokens) + 1) % 12, prompt)

    return Case(f"{count(tokens, 'token')}, prompt = {prompt}", ask)


def reading(tokens: int, prompt: int) -> Case:
    def ask(answer: Callable) -> str:
        model = Counted(programs()["right"], prompt)
        with torch.no_grad():
            answer(model, torch.arange(tokens), prompt)
        singly = "" if model.singly else ", several behind the prompt at once"
        return f"the model to read {count(model.read, 'token')}{singly}{'' if model.cached else ' without its caches'}"

    return Case(f"{count(tokens, 'token')}, prompt = {prompt}", ask)


read_on = Check(
    "read_on",
    reference=read_further,
    properties={
        "the logits of a text that is read at once": [
            read_case(2, 1), read_case(6, 3), read_case(17, 2), read_case(4, 4),
        ],
        "each token is read once": [reading(6, 3)],
    },
    mistakes={
        "The tokens behind the prompt stand one position too far. Positions count from 0.": their_read_on,
        "Each new token stands at position 0.": "torch.tensor([at]) → torch.tensor([0])",
        "New tokens count from 0 again. They follow the prompt.":
            "torch.tensor([at]) → torch.tensor([at - prompt])",
        "The new tokens stand one position too early: the first of them at that of the prompt's last.":
            "torch.tensor([at]) → torch.tensor([at - 1])",
        "The logits of the prompt are missing.":
            lambda model, tokens, prompt: read_further(model, tokens, prompt)[prompt:],
        "This reads the text anew for each token. The cache is there to spare that.": (
            lambda model, tokens, prompt: torch.stack(
                [model(tokens[None, : n + 1], torch.arange(n + 1))[0, -1] for n in range(len(tokens))]
            )
        ),
    },
    answers=(Answer("first_wrong", 4, {
        "The prompt has four tokens, 0 to 3. The next one is decoded already.": 5,
        "The prompt is read at once, by the positions of `arange`.": 0,
        "This is the last token of the prompt.": 3,
    }),),
    as_good={
        "torch.cat(rows, dim=1)[0] → torch.cat(rows, dim=1)[-1]": "A batch of one has one text.",
        "argument 1 spoiled": "Each case has a text of its own, and nobody asks for it again.",
    },
)
