"""The checks of chapter 12: gates that forget, counts of what matters, two mirrors, a state, an absorbed matrix."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch.overrides import TorchFunctionMode

from ..input.sinusoids import frequencies
from ..rotary.rope import rotate
from .cases import either
from .verdict import Answer, Case, Check, Misconduct, call, nothing


def quarters(*shape: int, seed: int = 0) -> Tensor:
    """Numbers whose sums and products are exact."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(seed)) / 4


def two(found: object, names: str, *shapes: tuple) -> tuple[Tensor, Tensor]:
    """Two tensors of these shapes, as float64."""
    if not isinstance(found, tuple | list) or [*map(type, found)] != [Tensor, Tensor]:
        raise Misconduct(f"Two tensors are asked for: {names}")
    got = tuple(tuple(part.shape) for part in found)
    if got != shapes:
        raise Misconduct(f"Returns shapes {got[0]} and {got[1]}; {names} are {shapes[0]} and {shapes[1]}")
    return found[0].double(), found[1].double()


class Watch(TorchFunctionMode):
    """Refuses an answer that makes a tensor of `too_many` numbers or more."""

    def __init__(self, too_many: int) -> None:
        super().__init__()
        self.too_many = too_many

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else [made]:
            if isinstance(tensor, Tensor) and tensor.numel() >= self.too_many:
                raise Misconduct(f"Builds a tensor of {self.too_many:,} numbers or more")
        return made


def without(label: str, too_many: int, *arguments: Tensor) -> Case:
    """Refuses an answer that builds so large a tensor on its way."""

    def ask(answer: Callable) -> str:
        with Watch(too_many):
            answer(*arguments)
        return f"no tensor of {too_many:,} numbers"

    return Case(label, ask)


# A gate at each word ----------------------------------------------------------------------------------------


def forgotten(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    behind = here[:, None] > here
    sums = torch.where(behind, gates.log()[..., None], 0).cumsum(dim=-2)
    return sums.masked_fill(behind.mT, -math.inf)


def token_by_token(counts: Callable) -> Callable:
    """As the right answer, where counts(t, i, j) tells whether token t's gate counts from key j to query i."""

    def answer(gates: Tensor) -> Tensor:
        t = torch.arange(gates.shape[-1])
        i, j = t[:, None, None], t[:, None]
        sums = torch.where(counts(t, i, j), gates.log()[:, None, None], 0).sum(dim=-1)
        return sums.masked_fill((j > i)[..., 0], -math.inf)

    return answer


def of_gates(change: Callable) -> Callable:
    """As the right answer, for other gates."""
    return lambda gates: forgotten(change(gates))


def of_bias(change: Callable) -> Callable:
    """What becomes of the right answer."""
    return lambda gates: change(forgotten(gates))


def from_the_start(gates: Tensor) -> Tensor:
    sums = gates.log().cumsum(dim=-1)
    return sums[..., :, None] - sums[..., None, :]


def by_one_quotient(gates: Tensor) -> Tensor:
    products = gates.cumprod(dim=-1)
    return (products[..., :, None] / products[..., None, :]).log()


def by_products(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    return torch.where(here[:, None] > here, gates[..., None], 1).cumprod(dim=-2).log()


def masked_by_a_product(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    return ((here[:, None] > here) * gates.log()[..., None]).cumsum(dim=-2)


def hidden_ahead(answer: Callable) -> Callable:
    def hidden(gates: Tensor) -> Tensor:
        here = torch.arange(gates.shape[-1])
        return answer(gates).masked_fill(here[:, None] < here, -math.inf)

    return hidden


def gates_case(gates: list[list[float]], label: str = "") -> Case:
    return either(call(label, gates=torch.tensor(gates)))


forget = Check(
    "forget",
    reference=forgotten,
    properties={
        "in each head the sum of ln gates behind the key, up to the query": [
            gates_case([[0.5, 0.25, 0.75]]),
            gates_case([[0.5, 0.25, 0.75, 0.125], [0.25, 1.0, 0.5, 0.75]]),
            gates_case([[0.75]]),
        ],
        "many small gates, and sums that stay finite": [
            gates_case([[2.0 ** -(18 + n % 5) for n in range(64)]], "gates (1, 64), of 2⁻¹⁸ … 2⁻²²")
        ],
        "a gate of 0 forgets all before it": [
            gates_case([[0.5, 0.0, 0.25]]),
            gates_case([[0.5, 0.25, 0.0, 0.5, 0.0, 0.75]]),
            gates_case([[0.0, 0.5]]),
        ],
    },
    mistakes={
        "The key's own gate counts here. A gate forgets what came before its token.": token_by_token(
            lambda t, i, j: (t >= j) & (t <= i)
        ),
        "The query's own gate counts, too: the sum ends with it.": token_by_token(
            lambda t, i, j: (t > j) & (t < i)
        ),
        "The gates before the key count here, too.": token_by_token(lambda t, i, j: t <= i),
        "These are factors. What is added to a score is their logarithm.": of_bias(torch.exp),
        "A later key stands ahead of the query: −∞, not 0.": of_bias(torch.tril),
        "Rows are queries, columns are keys.": of_bias(lambda bias: bias.mT),
        "The bias is the logarithm itself, which is at most 0.": of_bias(
            lambda bias: -bias.masked_fill(bias.isneginf() & (torch.ones_like(bias).triu(1) > 0), math.inf)
        ),
        "ln is the natural logarithm: torch.log.": of_bias(lambda bias: bias / math.log(2)),
        "A gate says how much is kept. Here it says how much goes.": of_gates(lambda gates: 1 - gates),
        "Each head has its own gates.": (
            of_gates(lambda gates: gates[:1].expand(gates.shape)),
            of_gates(lambda gates: gates.mean(dim=0, keepdim=True).expand(gates.shape)),
        ),
        "A product of many small gates is 0 in a float. Add their logarithms.": (
            *(hidden_ahead(by_one_quotient), hidden_ahead(by_products)),
            lambda gates: hidden_ahead(by_one_quotient)(gates.double()),
            lambda gates: hidden_ahead(by_products)(gates.double()),
        ),
        "ln 0 is −∞. −∞ less −∞ is nan, and so is 0 times −∞: choose with torch.where, and subtract nothing.": (
            hidden_ahead(from_the_start),
            hidden_ahead(masked_by_a_product),
        ),
        "A gate of 0 leaves nothing: −∞. Here it is kept above 0.": (
            *(of_gates(partial(torch.add, other=least)) for least in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)),
            *(of_gates(partial(torch.clamp, min=least)) for least in (1e-6, 1e-9, 1e-12, 1e-20, 1e-30)),
        ),
    },
    answers=(
        Answer(
            "gate",
            math.exp(-1 / 4),
            {
                "This is the slope. Which gate has the logarithm −1/4?": 1 / 4,
                "This is the gate's logarithm.": -1 / 4,
                "1 − m is near e⁻ᵐ, and only for small m.": 3 / 4,
                "ln is the natural logarithm.": 2 ** (-1 / 4),
                "A gate is at most 1. Which way does ALiBi's term go?": math.exp(1 / 4),
            },
            within=0.001,
        ),
    ),
)


# Count, and look between ------------------------------------------------------------------------------------


def counted_words(q: Tensor, k: Tensor, table: Tensor) -> Tensor:
    gates = torch.sigmoid(q @ k.mT / math.sqrt(q.shape[-1])).tril()
    p = gates.flip(-1).cumsum(dim=-1).flip(-1).clamp(max=len(table) - 1)
    terms = q @ table.mT
    below, above = (terms.gather(-1, row.long()) for row in (p.floor(), p.ceil()))
    return torch.lerp(below, above, p - p.floor()).tril()


def from_key_to_query(gates: Tensor) -> Tensor:
    return gates.tril().flip(-1).cumsum(dim=-1).flip(-1)


def looked_up(row: Callable) -> Callable:
    """Takes one row, row(p), and mixes none."""
    return lambda terms, p: terms.gather(-1, row(p).long())


def weighted(below: Callable, above: Callable) -> Callable:
    def look(terms: Tensor, p: Tensor) -> Tensor:
        rows = (terms.gather(-1, row.long()) for row in (p.floor(), p.ceil()))
        return next(rows) * below(p) + next(rows) * above(p)

    return look


between_rows = weighted(lambda p: 1 - p.frac(), lambda p: p.frac())


def counting(
    logits: Callable = lambda q, k: q @ k.mT / math.sqrt(q.shape[-1]),
    gate: Callable = torch.sigmoid,
    count: Callable = from_key_to_query,
    look: Callable = between_rows,
    asks: Callable = lambda q, k: q,
    last: Callable = lambda p, rows: p.clamp(max=rows - 1),
    end: Callable = lambda term, q, k: term,
) -> Callable:
    """As the right answer, with another way to do one of its steps."""

    def answer(q: Tensor, k: Tensor, table: Tensor) -> Tensor:
        p = last(count(gate(logits(q, k))), len(table))
        return end(look(asks(q, k) @ table.mT, p).tril(), q, k)

    return answer


def key_asks(q: Tensor, k: Tensor, table: Tensor) -> Tensor:
    """The key's vector meets the table, at what the query counts."""
    p = from_key_to_query(torch.sigmoid(q @ k.mT / math.sqrt(q.shape[-1]))).clamp(max=len(table) - 1)
    below, above = table[p.floor().long()], table[p.ceil().long()]
    return (torch.lerp(below, above, p.frac()[..., None]) * k).sum(dim=-1).tril()


def not_hidden(q: Tensor, k: Tensor, table: Tensor) -> Tensor:
    term = counted_words(q, k, table)
    return term + (q @ table[0])[:, None].expand(term.shape).triu(1)


def words_case(tokens: int, d: int, rows: int) -> Case:
    seed = 10 * tokens + d
    q, k = quarters(2, tokens, d, seed=seed)
    return either(call(q=q, k=k, table=quarters(rows, d, seed=seed + 1)))


def whole_case(counts: list[int], rows: int) -> Case:
    """Gates of 1 where `counts` says so, and of 0 elsewhere, to within 10⁻³⁰."""
    q = torch.stack([torch.full((len(counts),), 64.0), quarters(len(counts), seed=rows)], dim=-1)
    k = torch.tensor([[4.0 * count - 2, 0] for count in counts])
    label = f"keys that count {counts} for all queries, table ({rows}, 2)"
    return either(call(label, q=q, k=k, table=quarters(rows, 2, seed=len(counts))))


contextual = Check(
    "contextual",
    reference=counted_words,
    properties={
        "counts between two rows of the table": [
            words_case(3, 4, 6),
            words_case(5, 2, 8),
            words_case(6, 8, 9),
            words_case(1, 4, 3),
        ],
        "whole counts, and counts beyond the last row": [
            whole_case([1, 0, 1, 1], 6),
            whole_case([1, 1, 1, 0, 1], 3),
            whole_case([1, 1], 1),
        ],
    },
    mistakes={
        "The row below is taken alone. Mix it with the row above.": counting(look=looked_up(torch.floor)),
        "The row above is taken alone. Mix it with the row below.": counting(look=looked_up(torch.ceil)),
        "The nearest row is taken. Mix the row below with the row above.": counting(
            look=looked_up(torch.round)
        ),
        "The two rows have each other's weights. A count just above 3 is nearly row 3.": counting(
            look=weighted(lambda p: p.frac(), lambda p: 1 - p.frac())
        ),
        "Where the count is whole, both rows are the same, and their weights are to add up to 1.": counting(
            look=weighted(lambda p: p.ceil() - p, lambda p: p - p.floor())
        ),
        "The key itself counts, too.": counting(count=lambda gates: from_key_to_query(gates) - gates.tril()),
        "The query itself counts, too.": counting(count=lambda gates: from_key_to_query(gates.tril(-1))),
        "This counts from the first token up to the key. Count from the key up to the query.": counting(
            count=lambda gates: gates.tril().cumsum(dim=-1)
        ),
        "Tokens ahead of the query are counted.": counting(
            count=lambda gates: gates.flip(-1).cumsum(dim=-1).flip(-1)
        ),
        "A query counts by its own gates, a row of them. Here the sum runs over queries.": counting(
            count=lambda gates: gates.tril().cumsum(dim=0)
        ),
        "The gate is sigmoid(q · k / √d). The √d is missing.": counting(logits=lambda q, k: q @ k.mT),
        "A sigmoid asks of each key alone. A softmax lets all keys compete.": (
            counting(gate=lambda logits: logits.softmax(dim=-1)),
            counting(
                gate=lambda logits: logits.masked_fill(
                    logits.new_ones(logits.shape).triu(1) > 0, -math.inf
                ).softmax(dim=-1)
            ),
        ),
        "The term is the query's product with a row, and is not divided by √d.": counting(
            end=lambda term, q, k: term / math.sqrt(q.shape[-1])
        ),
        "Return the term alone, without q · k.": (
            counting(end=lambda term, q, k: term + (q @ k.mT / math.sqrt(q.shape[-1])).tril()),
            counting(end=lambda term, q, k: term + (q @ k.mT).tril()),
            counting(end=lambda term, q, k: term + q @ k.mT / math.sqrt(q.shape[-1])),
        ),
        "The query asks the table. Here the key does.": key_asks,
        "To a later key nothing is added: 0.": not_hidden,
        "A count beyond the last row is the last row. Here it begins again at the first.": counting(
            last=lambda p, rows: p % rows
        ),
        "A count may be beyond the last row, which has the number rows − 1. Clamp it there.": (
            counting(last=lambda p, rows: p),
            counting(last=lambda p, rows: p.clamp(max=rows)),
        ),
    },
)


# Two mirrors ------------------------------------------------------------------------------------------------


def toward(angle: Tensor) -> Tensor:
    return torch.stack([angle.cos(), angle.sin()], dim=-1)


def half_way(angle: Tensor) -> tuple[Tensor, Tensor]:
    return toward(0 * angle), toward(angle / 2)


def at(first: Callable, second: Callable) -> Callable:
    """Mirrors whose normals point at first(angle) and second(angle)."""
    return lambda angle: (toward(first(angle)), toward(second(angle)))


def by_half_angles(angle: Tensor) -> tuple[Tensor, Tensor]:
    cos = angle.cos()
    return toward(0 * angle), torch.stack([((1 + cos) / 2).sqrt(), ((1 - cos) / 2).sqrt()], dim=-1)


def bisector(angle: Tensor) -> tuple[Tensor, Tensor]:
    return toward(0 * angle), toward(0 * angle) + toward(angle)


def reflections(v: Tensor) -> Tensor:
    """I − 2vvᵀ for v of whatever length; (n, 2) gives (n, 2, 2)."""
    v = normalize(v, dim=-1)
    return torch.eye(2) - 2 * v[..., :, None] * v[..., None, :]


def one_after_the_other(u: Tensor, w: Tensor) -> Tensor:
    return reflections(w) @ reflections(u)


def lengths(u: Tensor, w: Tensor) -> Tensor:
    return torch.stack([u, w]).norm(dim=-1)


def mirror_case(angles: list[float], seen: Callable) -> Case:
    case = call(angle=torch.tensor(angles))

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        if nothing(found):
            return found
        return seen(*two(found, "u and w", *2 * ((len(angles), 2),)))

    return Case(case.text, ask)


mirrors = Check(
    "mirrors",
    reference=half_way,
    properties={
        "reflected at u and then at w, the plane turns by the angle": [
            mirror_case([0.5, 1.0, 2.0], one_after_the_other),
            mirror_case([-0.5, -2.0, 0.0, 4.0, 10.0], one_after_the_other),
            mirror_case([1.5], one_after_the_other),
        ],
        "u and w have length 1": [mirror_case([0.5, -1.0, 2.0, 0.0], lengths)],
    },
    mistakes={
        "Reflected at these two, the plane turns the other way. Which of the two comes first?": at(
            lambda angle: angle / 2, lambda angle: 0 * angle
        ),
        "Two mirrors turn by twice the angle between them.": at(lambda angle: 0 * angle, lambda angle: angle),
        "This turns by half of the angle.": at(lambda angle: 0 * angle, lambda angle: angle / 4),
        "What matters is the angle between the two mirrors, not where both stand.": at(
            lambda angle: angle / 2, lambda angle: angle / 2
        ),
        "This turns by half a circle besides. A vector is the normal of its mirror, and stands across it.": at(
            lambda angle: 0 * angle, lambda angle: angle / 2 + math.pi / 2
        ),
        "A root loses the sign. Take the cosine and the sine of half the angle.": by_half_angles,
        "w is on the right line, but its length is not 1.": bisector,
    },
    answers=(
        Answer(
            "fewest",
            64,
            {
                "So many turn one plane. RoPE turns 32 of them.": 2,
                "A reflection is no turn: one plane takes two.": 32,
                "One reflection changes one direction, and leaves 63 as they are.": 1,
                "One more direction would stay as it is, and RoPE's turn leaves none.": 63,
                "One plane takes two, and 64 features are 32 planes.": 128,
            },
        ),
    ),
)


# One number, three ways -------------------------------------------------------------------------------------


def read_as_it_goes(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    y = []
    for query, key, value, gate in zip(q, k, v, gates, strict=True):
        state = gate * state + torch.outer(key, value)
        y.append(query @ state)
    return torch.stack(y), state


def stepping(
    update: Callable = lambda state, pair, gate: gate * state + pair,
    read: Callable = lambda query, before, after: query @ after,
    start: Callable = lambda state: state,
    end: Callable = lambda y, state, before: (y, state),
) -> Callable:
    """As the right answer, with another way to do one of its steps."""

    def answer(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state, y = start(state), []
        for query, key, value, gate in zip(q, k, v, gates, strict=True):
            before, state = state, update(state, torch.outer(key, value), gate)
            y.append(read(query, before, state))
        return end(torch.stack(y), state, before)

    return answer


def gates_moved(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The pair of token t is decayed by gate t: gates from j up to i − 1, as a decay behind the addition does."""
    return read_as_it_goes(q, k, v, torch.cat([torch.ones(1), gates[:-1]]), state)


def by_quotients(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    kept = gates.cumprod(dim=0)[:, None]
    pairs = (k / kept)[:, :, None] * v[:, None]
    states = kept[..., None] * (state + pairs.cumsum(dim=0))
    return (q[:, None] @ states)[:, 0], states[-1]


def with_all_pairs(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    y, last = read_as_it_goes(q, k, v, gates, state)
    return y + 0 * (q @ k.mT).sum(), last


def decay_left_out(q: Tensor, k: Tensor, v: Tensor, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """What came in stays as it was for all queries, and decays only in the state."""
    y, _ = read_as_it_goes(q, k, v, gates, 0 * state)
    return y + q @ state, read_as_it_goes(q, k, v, gates, state)[1]


def text(tokens: int, d: int, e: int, gates: list[float] | None = None, begun: bool = False) -> tuple:
    """q, k, v, gates and the state before them."""
    draw = [quarters(tokens, size, seed=tokens + size + n) for n, size in enumerate((d, d, e))]
    quarter = torch.randint(1, 5, (tokens,), generator=torch.Generator().manual_seed(tokens)) / 4
    state = quarters(d, e, seed=d) if begun else torch.zeros(d, e)
    return *draw, torch.tensor(gates) if gates else quarter, state


def read_case(part: int, tokens: int, d: int, e: int, gates: list | None = None, begun: bool = False) -> Case:
    """Asks for y, part 0, or for the state at the end, part 1."""
    given = dict(zip(("q", "k", "v", "gates", "state"), text(tokens, d, e, gates, begun), strict=True))
    label = f"{tokens} tokens, d = {d}, e = {e}, gates of {given['gates'][0]:.0e}"
    case = call(label if tokens > 10 else "", **given)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        return found if nothing(found) else two(found, "y and the state", (tokens, e), (d, e))[part]

    return Case(case.text, ask)


recurrent = Check(
    "recurrent",
    reference=read_as_it_goes,
    properties={
        "y: what each query reads": [
            read_case(0, 3, 2, 3),
            read_case(0, 6, 3, 2),
            read_case(0, 4, 2, 3, begun=True),
            read_case(0, 5, 2, 2, begun=True),
            read_case(0, 5, 2, 3, [0.5, 0.25, 0.0, 0.5, 0.75]),
            read_case(0, 64, 2, 3, [2.0**-20] * 64),
        ],
        "the state behind the last token": [
            read_case(1, 3, 2, 3),
            read_case(1, 4, 3, 2, begun=True),
            read_case(1, 3, 2, 2, begun=True),
        ],
        "1,000 tokens, and no tensor of all pairs": [
            without("1,000 tokens, d = e = 2", 1000**2, *text(1000, 2, 2))
        ],
    },
    mistakes={
        "A query reads its own token, too: first add, then read.": stepping(
            read=lambda query, before, after: query @ before
        ),
        "Here the token's own pair decays, too: first multiply by the gate, then add.": stepping(
            update=lambda state, pair, gate: gate * (state + pair)
        ),
        "A gate acts before its own token is added, and before that token's query reads.": gates_moved,
        "Nothing decays here.": stepping(update=lambda state, pair, gate: state + pair),
        "A gate says how much of the state is kept, not how much of the token is added.": (
            stepping(update=lambda state, pair, gate: state + gate * pair),
            stepping(update=lambda state, pair, gate: gate * state + (1 - gate) * pair),
        ),
        "The state that is given is where the text goes on. Here it begins with zeros.": stepping(
            start=torch.zeros_like
        ),
        "The state from before decays for queries, too, gate by gate.": decay_left_out,
        "The state is (d, e): k has the rows, v the columns.": (
            stepping(
                update=lambda state, pair, gate: gate * state + pair.mT,
                read=lambda query, before, after: after @ query,
            ),
            stepping(end=lambda y, state, before: (y, state.mT)),
        ),
        "This is the state before the last token.": stepping(end=lambda y, state, before: (y, before)),
        "The sum is not divided: there is no softmax, and no mean.": (
            stepping(end=lambda y, state, before: (y / torch.arange(1, len(y) + 1)[:, None], state)),
            stepping(read=lambda query, before, after: query @ after / math.sqrt(len(query))),
        ),
        "A product of gates becomes 0, and nothing can be divided by it. Go token by token.": by_quotients,
        "A matrix for all pairs grows with the square of the text. Go token by token.": with_all_pairs,
    },
    answers=(
        Answer(
            "break_even",
            64,
            {
                "A cache holds a key and a value for each token.": 128,
                "These are the numbers of the state. How many does a cache hold for one token?": 128 * 128,
                "These are the numbers that a cache holds for one token.": 256,
            },
        ),
    ),
)


# Absorb, or not ---------------------------------------------------------------------------------------------


def absorbed(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    content = torch.einsum("hd,hrd->hr", q, up) @ c.mT
    clock = rotate(q_r, angle[-1]) @ rotate(k_r, angle).mT
    return (content + clock) / math.sqrt(q.shape[-1] + q_r.shape[-1])


def straight(q: Tensor, c: Tensor, up: Tensor) -> Tensor:
    return torch.einsum("hd,hrd->hr", q, up) @ c.mT


def turned(q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    return rotate(q_r, angle[-1]) @ rotate(k_r, angle).mT


def summing(
    content: Callable = straight,
    clock: Callable = turned,
    scale: Callable = lambda d, r, d_r: math.sqrt(d + d_r),
) -> Callable:
    """As the right answer, with another content, another clock, or another scale."""

    def answer(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
        d, r, d_r = q.shape[-1], c.shape[-1], q_r.shape[-1]
        return (content(q, c, up) + clock(q_r, k_r, angle)) / scale(d, r, d_r)

    return answer


def scaled_apart(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    content = straight(q, c, up) / math.sqrt(q.shape[-1])
    return content + turned(q_r, k_r, angle) / math.sqrt(q_r.shape[-1])


def turns_everywhere(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    """As RoPE without a clock beside: the content's queries and latents turn, too."""
    return absorbed(rotate(q, angle[-1]), rotate(c, angle), up, q_r, k_r, angle)


def query_turns(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    return absorbed(rotate(q, angle[-1]), c, up, q_r, k_r, angle)


def keys_turn(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    """RoPE as usual, on keys that are built for each head."""
    content = (rotate(c @ up, angle) @ rotate(q, angle[-1])[..., None])[..., 0]
    return (content + turned(q_r, k_r, angle)) / math.sqrt(q.shape[-1] + q_r.shape[-1])


def built(q: Tensor, c: Tensor, up: Tensor) -> Tensor:
    return (c @ up @ q[..., None])[..., 0]


def step_of(heads: int, tokens: int, d: int, r: int, d_r: int, first: int = 0, leave: str = "") -> dict:
    """The arguments; those whose names are in `leave` are zeros."""
    shapes = {
        "q": (heads, d),
        "c": (tokens, r),
        "up": (heads, r, d),
        "q_r": (heads, d_r),
        "k_r": (tokens, d_r),
    }
    made = {
        name: quarters(*shape, seed=n + tokens) * (name not in leave.split())
        for n, (name, shape) in enumerate(shapes.items())
    }
    places = torch.arange(first, first + tokens)
    return {**made, "angle": places[:, None] * frequencies(d_r, base=100.0).float()}


def step_case(heads: int, tokens: int, d: int, r: int, d_r: int, first: int = 0, leave: str = "") -> Case:
    label = f"{heads} head{'s' * (heads > 1)}, {tokens} tokens, d = {d}, r = {r}, d_r = {d_r}"
    label += f", positions from {first} on" * (first > 0) + f", {leave} = 0" * (leave > "")
    return either(call(label, **step_of(heads, tokens, d, r, d_r, first, leave)))


scores = Check(
    "scores",
    reference=absorbed,
    properties={
        "each head's content, where the clock is silent": [
            step_case(2, 3, 4, 4, 4, leave="q_r"),
            step_case(3, 4, 6, 5, 2, leave="q_r"),
            step_case(2, 5, 2, 3, 4, leave="k_r"),
        ],
        "the clock, one turned key for all heads": [
            step_case(2, 3, 4, 4, 4, leave="q"),
            step_case(3, 4, 6, 5, 2, first=7, leave="q"),
            step_case(1, 5, 6, 2, 4, first=2),
        ],
        "1,000 tokens, and no keys of any head": [
            without(
                "4 heads, 1,000 tokens, d = 128, r = 8, d_r = 4",
                1000 * 128,
                *step_of(4, 1000, 128, 8, 4).values(),
            )
        ],
    },
    mistakes={
        "Both parts are one score, and share one root: that of d + d_r.": (
            summing(scale=lambda d, r, d_r: math.sqrt(d)),
            scaled_apart,
        ),
        "The scores are those of keys with d + d_r features, whatever the cache holds.": (
            summing(scale=lambda d, r, d_r: math.sqrt(r + d_r)),
            summing(scale=lambda d, r, d_r: math.sqrt(r)),
        ),
        "The scores are not divided. Divide by the root of d + d_r.": summing(scale=lambda d, r, d_r: 1),
        "Each head has its own matrix to absorb.": (
            summing(content=lambda q, c, up: straight(q, c, up[:1].expand(up.shape))),
            summing(content=lambda q, c, up: straight(q, c, up.mean(dim=0).expand(up.shape))),
            summing(content=lambda q, c, up: straight(q, c, up.sum(dim=0).expand(up.shape))),
        ),
        "The content does not turn. Between the query and a matrix that it absorbs, no turn can stand.": (
            turns_everywhere,
            query_turns,
            keys_turn,
        ),
        "The clock is missing.": summing(clock=lambda q_r, k_r, angle: 0),
        "The clock's queries and keys come unturned.": summing(clock=lambda q_r, k_r, angle: q_r @ k_r.mT),
        "The clock's query turns, too: it stands at the last token.": summing(
            clock=lambda q_r, k_r, angle: q_r @ rotate(k_r, angle).mT
        ),
        "The clock's keys turn, too, each by its own angle.": summing(
            clock=lambda q_r, k_r, angle: rotate(q_r, angle[-1]) @ k_r.mT
        ),
        "The query stands at the last token. Here it turns as the first.": summing(
            clock=lambda q_r, k_r, angle: rotate(q_r, angle[0]) @ rotate(k_r, angle).mT
        ),
        "The pairs are neighbors here. In this exercise they lie half a vector apart.": summing(
            clock=lambda q_r, k_r, angle: (
                rotate(q_r, angle[-1], "interleaved") @ rotate(k_r, angle, "interleaved").mT
            )
        ),
        "The keys are built from the cache. Let the query absorb the matrix instead.": summing(content=built),
    },
    answers=(
        Answer(
            "times",
            2 * 128 * 128 / (512 + 64),
            {
                "The clock's key is kept, too.": 2 * 128 * 128 / 512,
                "All heads share the clock's key: it is kept once.": 2 * 128 * 128 / (512 + 128 * 64),
                "Without the latent, keys and values are kept.": 128 * 128 / (512 + 64),
                "All 128 heads have keys and values of their own.": 2 * 128 / (512 + 64),
                "How many times as many, not as few.": (512 + 64) / (2 * 128 * 128),
            },
            within=0.1,
        ),
    ),
)
