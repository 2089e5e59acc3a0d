"""The four doors through which position can enter attention."""

from collections.abc import Callable, Collection
from functools import partial
from inspect import Parameter, signature
from typing import Self

import torch
from torch import Tensor, nn

from .positions.arguments import check_floating, check_size, check_tensor
from .positions.checks import check_by_head, check_places, check_positions

__all__ = ["Encoding"]

DOORS: dict[str, tuple[str, ...]] = {  # what each takes
    "embed": ("x", "positions"),
    "rotate": ("q", "k", "q_positions", "k_positions"),
    "score": ("q", "k", "q_positions", "k_positions"),
    "value": ("weights", "q_positions", "k_positions"),
}
BLOCK = 1024  # queries that share a bias: so long that PyTorch computes the same numbers as for all at once
HIDDEN = ("hidden_features", "visible")  # what `score` takes besides, for an encoding that `needs_hidden`
ELSEWHERE: dict[str, tuple[str, ...]] = {  # names of other libraries, by ours
    "base": ("theta", "rope_theta", "rope_base", "rotary_emb_base"),
    "dim": ("head_dim", "d_model", "hidden_size", "embed_dim", "embedding_dim"),
    "heads": ("num_heads", "n_heads", "nhead", "num_attention_heads"),
    "length": ("max_position_embeddings", "max_seq_len", "max_len", "num_embeddings"),
    "rotary": ("rotary_dim", "partial_rotary_factor"),
    "layout": ("interleaved", "is_neox_style"),
    "scaling": ("rope_scaling", "scaling_factor", "rope_parameters"),
}


class Encoding(nn.Module):
    """No encoding at all: every door is closed, and attention sees no order but that of a causal mask (NoPE).

    A subclass opens a door by overriding its method. Shapes: x is (batch, sequence, dim); q and k are
    (batch, head, sequence, feature); positions are (sequence,) or (batch, sequence), and where `axes` is not
    1, as for images, their coordinates stand last. A door trusts that there is one for each token; `attend`
    and the layers see to it.

    An encoding that opens one door may be called: `Sinusoidal(8)(x, positions)`, `ALiBi(2)(q, k, positions)`. Programs
    whose queries are (batch, sequence, head, feature), as those of flash-attn and torchtune, give `q.transpose(1, 2)`,
    a view. As they are, an encoding refuses them, but not where there are as many heads as tokens: there it takes
    heads for tokens, and nothing can notice.

    Raises TypeError for an argument of the constructor that other libraries have and this one calls otherwise.

    Sources: NoPE is studied by Haviv et al. 2022 (arXiv 2203.16634), Chi et al. 2023 (arXiv 2305.13571) and
    Kazemnejad et al. 2023 (arXiv 2305.19466).

    >>> Encoding().doors
    ()
    """

    axes = 1  # coordinates of a position
    needs_hidden = False  # whether door 3 also takes `hidden_features`, and which keys a query sees
    shared = ""  # the method of q_positions and k_positions whose result `precompute` keeps
    wide: tuple[str, ...] = ()  # tensors that positions are multiplied by: `.to(torch.bfloat16)` leaves them as they are

    def __new__(cls, *arguments: object, **named: object) -> Self:
        check_usual_names(cls, named)
        return super().__new__(cls)

    def forward(self, *arguments: Tensor, **named: Tensor) -> Tensor | tuple[Tensor, Tensor] | None:
        """What the one open door returns: `RoPE(8)(q, k, positions)` is `rotate`, with keys where queries stand.

        Where keys stand elsewhere, positions are two arguments, as the door has them. Arguments have the door's names, and may
        be given by them. Raises TypeError where no door or several are open, and for other arguments than those of the door.
        """
        names = DOORS[self.doors[0]] if len(self.doors) == 1 else ()
        more = HIDDEN if self.needs_hidden else ()
        forms = [(*names[:-2], "positions"), names] if "k_positions" in names else [names]
        for form in reversed(forms):
            by_name = dict(zip((*form, *more), arguments, strict=False)) | named
            once = len(by_name) == len(arguments) + len(named)
            if names and once and {*form} <= by_name.keys() <= {*form, *more}:
                door, hidden = getattr(self, self.doors[0]), {name: by_name[name] for name in more if name in by_name}
                return door(*(by_name.get(name, by_name.get("positions")) for name in names), **hidden)
        several = f"opens the doors {self.doors}, and one that is called opens one: call a method, such as `rotate`"
        ways = " or ".join(f"({', '.join(form)})" for form in forms)
        came = ", ".join([*(type(x).__name__ for x in arguments), *(f"{name}=…" for name in named)])
        raise TypeError(f"{self!r} {f'is called as {ways}' if names else several}; got ({came})")

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Door 1, the input: the token embeddings x with position added; (batch, sequence, dim)."""
        return x

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        """Door 2, queries and keys: both, turned by their positions; shapes unchanged."""
        return q, k

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        """Door 3, the scores: what is added to the logits after the 1/√d scale.

        Broadcasts to (batch, head, query, key); None adds nothing.
        """
        return None

    def value(self, weights: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        """Door 4, the values: what is added to the output, given the attention weights.

        weights are (batch, head, query, key), the result (batch, head, query, feature); None adds nothing.
        """
        return None

    def rotate_values(self, v: Tensor, k_positions: Tensor) -> Tensor:
        """Door 4 for a turn, on the way in: values, turned by their positions; shape unchanged."""
        return v

    def unrotate_output(self, y: Tensor, q_positions: Tensor) -> Tensor:
        """Door 4 for a turn, on the way out: the output y of each query, turned back by the query's position."""
        return y

    def hidden_features(self, x: Tensor) -> Tensor | None:
        """What a text's own ruler needs of the hidden states x, (batch, sequence, dim), besides queries and keys.

        (batch, head, sequence, number), which a cache keeps; None where an encoding needs nothing. One that
        `needs_hidden` has two more arguments of `score`: these numbers of all keys, of which the queries are the
        last, and the Boolean mask of the keys that a query sees, None for all.
        """
        return None

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Encoding":
        """As of any module, but a slope or frequency that was rounded would be wrong by more, the larger a position."""
        exact = [x for x in (getattr(self, name) for name in self.wide) if x is not None]
        exact = {id(x) for x in (*exact, *(x.grad for x in exact if x.is_leaf and x.grad is not None))}

        def apply(x: Tensor) -> Tensor:
            new = fn(x)
            return x.to(new.device) if id(x) in exact and new.dtype.itemsize < 4 else new

        return super()._apply(apply, recurse)

    def precompute(self, q_positions: Tensor, k_positions: Tensor) -> "Encoding":
        """This encoding for one forward pass, in which all layers ask for the same positions.

        It gives the same numbers for these positions and keeps what follows from them alone, such as cosines or biases, so
        that each is computed once; so what a rule or a bias draws at random is drawn once, too. For other tensors of
        positions it computes what it needs, as ever.

        What is kept is what the method `shared` gives. Without one the encoding itself comes back. So it does where it has
        parameters or positions have a gradient, because a layer may be computed anew in the backward pass, or bring its
        weights itself. Raises as the doors do.
        """
        for name, x in ("q_positions", q_positions), ("k_positions", k_positions):
            check_tensor(name, x)
        learned = any(x.requires_grad for x in (q_positions, k_positions, *self.parameters()))
        if not self.shared or learned or torch.compiler.is_compiling():
            return self
        method = getattr(self, self.shared)
        kept = method(q_positions, k_positions)

        def shared(here: Tensor, there: Tensor) -> object:
            return kept if here is q_positions and there is k_positions else method(here, there)

        return twin(self, **{self.shared: shared})

    @property
    def doors(self) -> tuple[str, ...]:
        """The names of the doors that this encoding opens."""
        opened = {name for name in (*DOORS, "rotate_values") if opens(self, name)}
        return tuple(door for door in DOORS if door in opened or door == "value" and "rotate_values" in opened)

    def extra_repr(self) -> str:
        """Arguments of the constructor that are kept by their names and are no defaults."""
        shown = []
        for name, argument in signature(type(self)).parameters.items():
            value = getattr(self, name, argument.default)
            if not isinstance(value, Tensor | nn.Module) and value != argument.default:
                shown.append(f"{name}={described(value)}")
        return ", ".join(shown)


def described(value: object) -> str:
    """A value as a repr shows it; of a rule such as `partial(yarn, factor=8)`, its name and its numbers."""
    if isinstance(value, partial):
        return f"{value.func.__name__}({', '.join(f'{name}={part!r}' for name, part in value.keywords.items())})"
    return getattr(value, "__name__", repr(value))


def check_usual_names(cls: type, named: Collection[str]) -> None:
    """Raise a TypeError where a constructor gets a name that other libraries use, and say what it is here."""
    ours = signature(cls.__init__).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in ours.values()):
        return
    for name in named:
        for own, others in ELSEWHERE.items():
            if name in others and name not in ours:
                here = f"calls it {own}" if own in ours else f"has neither that nor {own}"
                raise TypeError(f"{cls.__name__} has no argument {name}: it {here}; its arguments are {', '.join([*ours][1:])}")


NOPE = Encoding()


def closed(axes: int) -> Encoding:
    """No encoding, for positions of so many axes."""
    if axes == 1:
        return NOPE
    encoding = Encoding()
    encoding.axes = axes
    return encoding


def opens(encoding: Encoding, method: str) -> bool:
    """Whether an encoding has a method of its own for a door."""
    return getattr(type(encoding), method) is not getattr(Encoding, method)


def twin(encoding: Encoding, **attributes: object) -> Encoding:
    """An encoding with the same parts and parameters that has these attributes in place of its own."""
    made = object.__new__(type(encoding))
    vars(made).update(vars(encoding), **attributes)
    return made


def adds_values(encoding: Encoding) -> bool:
    """Whether door 4 adds to what the weights mix: a turn opens it too, and adds nothing."""
    return "value" in encoding.doors and opens(encoding, "value")


def check_encoding(encoding: Encoding) -> None:
    """Raise a TypeError where encoding is none."""
    if not isinstance(encoding, Encoding):
        raise TypeError(f"encoding must be an Encoding, such as RoPE(64); got {encoding!r}")


def check_tokens(
    encoding: Encoding, name: str, x: Tensor, positions: Tensor, named: str = "", heads: int | None = None,
    features: int | None = None,
) -> None:
    """Raise a TypeError or ValueError where x is not (batch, head, sequence, feature) with a position for each token, or for all.

    So it does where x has other heads or features than the encoding. Errors call x by its name, and positions as `named`;
    their values are not looked at.
    """
    named = named or f"{name}_positions"
    check_by_head(name, x, positions, encoding.axes)
    owner, place = type(encoding).__name__, min(encoding.axes, 2)
    for size, want, what in (x.shape[-3], heads, "heads"), (x.shape[-1], features, "features a head"):
        check_size(name, size, size if want is None else want, f"{what}, as {owner} has")
    check_tensor(named, positions, x.device)
    check_places(positions, encoding.axes, owner, named)
    each, tokens = (*x.shape[:-3], x.shape[-2]), positions.shape[: positions.dim() - place + 1]
    if len(tokens) > len(each) or any(n not in (1, m) for n, m in zip(tokens[::-1], each[::-1], strict=False)):
        raise ValueError(f"{named} must be one for each token of {name}, {each}, or one for all; got {tuple(positions.shape)}")


def check_pairs(
    encoding: Encoding, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, heads: int | None = None,
    features: int | None = None,
) -> None:
    """As `check_tokens` for queries and keys, and raise a ValueError where they are not of one batch."""
    check_tokens(encoding, "q", q, q_positions, heads=heads, features=features)
    check_tokens(encoding, "k", k, k_positions, heads=heads, features=features)
    if q.shape[:-2] != k.shape[:-2]:
        raise ValueError(f"k must have the batch and the heads of q; got {tuple(k.shape)} and {tuple(q.shape)}")


def check_embeddings(x: Tensor, dim: int, positions: Tensor, axes: int = 1) -> None:
    """Raise a TypeError or ValueError where x is not (batch, sequence, dim) with a position for each token."""
    check_floating("x", x)
    if x.dim() != 3:
        raise ValueError(f"x must be (batch, sequence, dim); got {tuple(x.shape)}")
    check_size("x", x.shape[-1], dim, "features")
    check_positions("positions", positions, x.shape[:2], x.device, axes)
