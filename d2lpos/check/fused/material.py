"""What several exercises of this chapter ask about."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..cases import quarters
from ..verdict import Case, Misconduct, call, is_empty

drawn = partial(quarters, low=-4, high=5)
ASKED = "a function is asked for, of the {} four indices"


def at_all_pairs(rule: Callable, score: Tensor | None, sizes: tuple[int, int, int, int]) -> Tensor:
    """What a rule says of each pair, (batch, head, query, key); it is asked as FlexAttention asks it, for one pair."""
    from torch.nn.attention.flex_attention import create_mask  # takes its time

    if not callable(rule):
        of = "score and" if score is not None else ""
        raise Misconduct(f"Returns type {type(rule).__name__}; {' '.join(ASKED.format(of).split())}")

    def one(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        pair = batch, head, query, key
        said = rule(*pair) if score is None else rule(score[pair].clone(), *pair)
        if not isinstance(said, Tensor):
            raise Misconduct(f"The function returns type {type(said).__name__}; a tensor is asked for")
        return said.to(score.dtype) if score is not None and said.is_floating_point() else said

    return create_mask(one, *sizes, device="cpu")


def pairs_case(
    heads: int, q_positions: list, k_positions: list, scores: int | None = None, masks: bool = False, **others: object
) -> Case:
    """What the rule says that an answer makes of `given` and the positions, with scores of 0 or drawn by a seed."""
    here, there = torch.tensor(q_positions), torch.tensor(k_positions)
    sizes = (len(here), heads, here.shape[1], there.shape[1])
    score = torch.zeros(sizes) if scores is None else drawn(*sizes, seed=scores)
    positions = {"q_positions": here, "k_positions": there}
    texts = {name: others.pop(name) for name in ("q_texts", "k_texts") if name in others}
    case = call(**others, **positions, **texts)
    kind = "" if masks else f"scores {'0' if scores is None else 'drawn'}, "

    def ask(answer: Callable) -> object:
        def answered(*arguments: object) -> object:
            rule = answer(*arguments)
            return rule if is_empty(rule) else at_all_pairs(rule, None if masks else score, sizes)

        return case.ask(answered)

    return Case(kind + case.text, ask)


class Largest(TorchFunctionMode):
    """The numbers of the largest tensor that torch returns."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


def lean_case(*arguments: object, n: int = 64) -> Case:
    """Refuses an answer that makes a number for each pair before it is asked."""

    def ask(answer: Callable) -> str:
        with Largest() as largest:
            answer(*arguments)
        return f"{'a' if largest.numbers >= n * n else 'no'} tensor with a number for each pair"

    return Case(f"{n} queries and {n} keys", ask)


LINE = torch.arange(64)[None]
