"""The checks of the project of a fused program: rules for one pair, the blocks that it skips, and a fair stopwatch."""

from collections.abc import Callable
from functools import partial
from operator import truediv
from statistics import fmean, median

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.overrides import TorchFunctionMode

from ..bias.t5 import bucket
from .cases import several
from .verdict import Answer, Case, Check, Misconduct, call, nothing


def drawn(*shape: int, seed: int) -> Tensor:
    """Quarters, drawn by seed."""
    return torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed)) / 4


# Rules for one pair -----------------------------------------------------------------------------------------

ASKED = "a function is asked for, of the {} four indices"


def at_all_pairs(rule: Callable, score: Tensor | None, sizes: tuple[int, int, int, int]) -> Tensor:
    """What a rule says of each pair, (batch, head, query, key); it is called once, with all indices."""
    if not callable(rule):
        of = "score and" if score is not None else ""
        raise Misconduct(f"Returns type {type(rule).__name__}; {' '.join(ASKED.format(of).split())}")
    places = [torch.arange(n).view([-1 if axis == at else 1 for at in range(4)]) for axis, n in enumerate(sizes)]
    found = rule(*places) if score is None else rule(score.clone(), *places)
    if not isinstance(found, Tensor):
        raise Misconduct(f"The function returns type {type(found).__name__}; a tensor is asked for")
    return (found.to(score.dtype) if score is not None and found.is_floating_point() else found).expand(sizes)


def pairs_case(
    heads: int, q_positions: list, k_positions: list, scores: int | None = None, masks: bool = False, **given: object
) -> Case:
    """What the rule says that an answer makes of `given` and the positions, with scores of 0 or drawn by a seed."""
    here, there = torch.tensor(q_positions), torch.tensor(k_positions)
    sizes = (len(here), heads, here.shape[1], there.shape[1])
    score = torch.zeros(sizes) if scores is None else drawn(*sizes, seed=scores)
    positions = {"q_positions": here, "k_positions": there}
    texts = {name: given.pop(name) for name in ("q_texts", "k_texts") if name in given}
    case = call(**given, **positions, **texts)
    kind = "" if masks else f"scores {'0' if scores is None else 'drawn'}, "

    def ask(answer: Callable) -> object:
        def said(*arguments: object) -> object:
            rule = answer(*arguments)
            return rule if nothing(rule) else at_all_pairs(rule, None if masks else score, sizes)

        return case.ask(said)

    return Case(kind + case.text, ask)


class Largest(TorchFunctionMode):
    """The numbers of the largest tensor that torch returns."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        found = function(*args, **(kwargs or {}))
        if isinstance(found, Tensor):
            self.numbers = max(self.numbers, found.numel())
        return found


def lean_case(*given: object, n: int = 64) -> Case:
    """Refuses an answer that makes a number for each pair before it is asked."""

    def ask(answer: Callable) -> str:
        with Largest() as largest:
            answer(*given)
        return f"{'a' if largest.numbers >= n * n else 'no'} tensor with a number for each pair"

    return Case(f"{n} queries and {n} keys", ask)


LINE = torch.arange(64)[None]


# ALiBi ------------------------------------------------------------------------------------------------------


def alibi_rule(slopes: Tensor, q_positions: Tensor, k_positions: Tensor) -> Callable:
    def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        offset = k_positions[batch, key] - q_positions[batch, query]
        return score - slopes[head] * offset.abs()

    return add


def line(at: Callable) -> Callable:
    """As the right answer, with another rule: at(score, slope, here, there, query, key)."""

    def answer(slopes: Tensor, q_positions: Tensor, k_positions: Tensor) -> Callable:
        return lambda score, batch, head, query, key: at(
            score, slopes[head], q_positions[batch, query], k_positions[batch, key], query, key
        )

    return answer


def alibi_case(slopes: list[float], q_positions: list, k_positions: list, scores: int | None = None) -> Case:
    return pairs_case(len(slopes), q_positions, k_positions, scores, slopes=torch.tensor(slopes))


alibi_mod = Check(
    "alibi_mod",
    reference=alibi_rule,
    properties={
        "the score less the slope times the distance": [
            alibi_case([0.5], [[0, 1, 2]], [[0, 1, 2]]),
            alibi_case([0.5, 0.25], [[5]], [[3, 4, 5]]),
            alibi_case([1.0, 0.5], [[2, 9]], [[9, 0, 4]], scores=0),
        ],
        "each row of a batch has positions of its own": [
            alibi_case([0.5], [[0, 1], [0, 4]], [[0, 1], [0, 4]]),
            alibi_case([0.5, 0.25], [[0, 1, 2], [0, 3, 9]], [[0, 1, 2], [0, 3, 9]], scores=1),
        ],
        "no number for each pair is made before": [lean_case(torch.tensor([0.5]), LINE, LINE)],
    },
    mistakes={
        "This counts places in the row. In a cache, and after a gap, a position is another number.": line(
            lambda score, slope, here, there, query, key: score - slope * (key - query).abs()
        ),
        "A far key loses more: take the slope times the distance away.": line(
            lambda score, slope, here, there, query, key: score + slope * (there - here).abs()
        ),
        "A distance has no sign. Here keys after the query get a reward.": line(
            lambda score, slope, here, there, query, key: score + slope * (there - here)
        ),
        "The score itself is lost: the function returns what becomes of it.": line(
            lambda score, slope, here, there, query, key: -slope * (there - here).abs()
        ),
        "Queries have positions of their own. In a cache they are not those of the first keys.": (
            lambda slopes, q_positions, k_positions: lambda score, batch, head, query, key: (
                score - slopes[head] * (k_positions[batch, key] - k_positions[batch, query]).abs()
            )
        ),
        "All rows of the batch get the positions of the first.": (
            lambda slopes, q_positions, k_positions: lambda score, batch, head, query, key: (
                score - slopes[head] * (k_positions[0, key] - q_positions[0, query]).abs()
            )
        ),
    },
)


# A mask -----------------------------------------------------------------------------------------------------


def sight_rule(
    window: int, q_positions: Tensor, k_positions: Tensor, q_texts: Tensor, k_texts: Tensor
) -> Callable:
    def see(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        back = q_positions[batch, query] - k_positions[batch, key]
        own = q_texts[batch, query] == k_texts[batch, key]
        return own & (back >= 0) & (back < window)

    return see


def seen(at: Callable) -> Callable:
    """As the right answer, with another rule: at(window, back, own, steps), where steps counts places in the row."""

    def answer(
        window: int, q_positions: Tensor, k_positions: Tensor, q_texts: Tensor, k_texts: Tensor
    ) -> Callable:
        return lambda batch, head, query, key: at(
            window,
            q_positions[batch, query] - k_positions[batch, key],
            q_texts[batch, query] == k_texts[batch, key],
            query - key,
        )

    return answer


def first_row(
    window: int, q_positions: Tensor, k_positions: Tensor, q_texts: Tensor, k_texts: Tensor
) -> Callable:
    rule = sight_rule(window, q_positions, k_positions, q_texts, k_texts)
    return lambda batch, head, query, key: rule(0 * batch, head, query, key)


def sight_case(
    window: int,
    q_positions: list,
    k_positions: list | None = None,
    q_texts: list | None = None,
    k_texts: list | None = None,
) -> Case:
    k_positions = q_positions if k_positions is None else k_positions
    here, there = torch.tensor(q_positions), torch.tensor(k_positions)
    texts = {
        "q_texts": torch.zeros_like(here) if q_texts is None else torch.tensor(q_texts),
        "k_texts": torch.zeros_like(there) if k_texts is None else torch.tensor(k_texts),
    }
    return pairs_case(1, q_positions, k_positions, masks=True, window=window, **texts)


sight = Check(
    "sight",
    reference=sight_rule,
    properties={
        "no key after the query": [
            sight_case(9, [[0, 1, 2]]),
            sight_case(9, [[3, 4]], [[4, 1, 6, 3]]),
        ],
        "`window` positions, the query's own among them": [
            sight_case(2, [[5]], [[2, 3, 4, 5]]),
            sight_case(6, [[8, 20]], [[0, 2, 3, 8]]),
        ],
        "its own text alone": [
            sight_case(9, [[2]], [[0, 1, 2, 0, 1, 2]], [[1]], [[0, 0, 0, 1, 1, 1]]),
            sight_case(9, [[2, 2]], [[0, 1, 2, 0, 1, 2]], [[1, 0]], [[0, 0, 0, 1, 1, 1]]),
            sight_case(9, [[2], [2]], [[0, 1, 2], [0, 1, 2]], [[1], [2]], [[1, 1, 1], [1, 2, 2]]),
        ],
        "each row of a batch has positions of its own": [
            sight_case(3, [[5], [3]], [[0, 4, 5], [2, 1, 3]]),
            sight_case(3, [[5, 6, 9], [13, 14, 17]], [[1, 4, 5], [8, 12, 13]]),
        ],
        "no number for each pair is made before": [lean_case(8, LINE, LINE, 0 * LINE, 0 * LINE)],
    },
    mistakes={
        "`and`, `not` and `if` ask for one truth value. `&` and `~` work for all pairs at once.": seen(
            lambda window, back, own, steps: own and back >= 0 and back < window
        ),
        "This counts places in the row. In a cache a new query is place 0.": seen(
            lambda window, back, own, steps: own & (steps >= 0) & (steps < window)
        ),
        "This hides the past and shows the future.": seen(
            lambda window, back, own, steps: own & (back <= 0) & (-back < window)
        ),
        "The window has two sides here. No key after the query may be seen.": seen(
            lambda window, back, own, steps: own & (back.abs() < window)
        ),
        "The window is one too wide: the query's own key is the first of them.": seen(
            lambda window, back, own, steps: own & (back >= 0) & (back <= window)
        ),
        "Another text in the row is seen, too.": seen(
            lambda window, back, own, steps: (back >= 0) & (back < window)
        ),
        "All rows of the batch get the first one's positions and texts.": first_row,
    },
)


# T5 ---------------------------------------------------------------------------------------------------------


def t5_rule(table: Tensor, size: int, q_positions: Tensor, k_positions: Tensor) -> Callable:
    def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        offset = k_positions[batch, key] - q_positions[batch, query]
        number = bucket(offset, len(table), bidirectional=False)
        return score * size**0.5 + table[number, head]

    return add


def shelf(at: Callable) -> Callable:
    """As the right answer, with another rule: at(score, table, size, head, offset, steps)."""

    def answer(table: Tensor, size: int, q_positions: Tensor, k_positions: Tensor) -> Callable:
        return lambda score, batch, head, query, key: at(
            score, table, size, head, k_positions[batch, key] - q_positions[batch, query], key - query
        )

    return answer


def behind(offset: Tensor, table: Tensor) -> Tensor:
    return bucket(offset, len(table), bidirectional=False)


def t5_case(
    size: int, q_positions: list, k_positions: list, table: Tensor, scores: int | None = None
) -> Case:
    return pairs_case(table.shape[1], q_positions, k_positions, scores, table=table, size=size)


def steps_of(buckets: int, heads: int) -> Tensor:
    """A table whose numbers all differ."""
    return torch.arange(buckets * heads).view(buckets, heads) / 4


t5_mod = Check(
    "t5_mod",
    reference=t5_rule,
    properties={
        "the number of the offset's bucket, of this head": [
            t5_case(1, [[2]], [[0, 1, 2]], steps_of(4, 1)),
            t5_case(1, [[9, 300]], [[0, 5, 9, 299]], steps_of(8, 2)),
            t5_case(1, [[4, 60]], [[0, 40, 4]], steps_of(16, 3), scores=2),
        ],
        "scores that T5 does not divide": [
            t5_case(4, [[1, 2]], [[1, 2]], torch.zeros(8, 1), scores=3),
            t5_case(16, [[1, 2]], [[1, 2]], torch.ones(8, 2), scores=4),
        ],
        "each row of a batch has positions of its own": [
            t5_case(1, [[0, 1], [0, 2]], [[0, 1], [0, 2]], steps_of(8, 2)),
            t5_case(1, [[0, 1, 2], [0, 1, 3]], [[0, 1, 2], [0, 1, 3]], steps_of(8, 1)),
        ],
        "no number for each pair is made before": [lean_case(steps_of(8, 1), 4, LINE, LINE)],
    },
    mistakes={
        "An offset is key minus query. With the other sign, all that may be seen falls into bucket 0.": shelf(
            lambda score, table, size, head, offset, steps: score * size**0.5 + table[behind(-offset, table), head]
        ),
        "This counts places in the row. Buckets go by positions.": shelf(
            lambda score, table, size, head, offset, steps: score * size**0.5 + table[behind(steps, table), head]
        ),
        "A decoder spends no bucket on the future: bidirectional=False.": shelf(
            lambda score, table, size, head, offset, steps: (
                score * size**0.5 + table[bucket(offset, len(table)), head]
            )
        ),
        "The table is (buckets, heads).": shelf(
            lambda score, table, size, head, offset, steps: score * size**0.5 + table[head, behind(offset, table)]
        ),
        "The table says how many buckets there are: len(table).": shelf(
            lambda score, table, size, head, offset, steps: (
                score * size**0.5 + table[bucket(offset, bidirectional=False), head]
            )
        ),
        "The score has been divided by the root of the size. T5 does not divide.": shelf(
            lambda score, table, size, head, offset, steps: score + table[behind(offset, table), head]
        ),
        "The score has been divided already. Undo that, do not do it again.": shelf(
            lambda score, table, size, head, offset, steps: score / size**0.5 + table[behind(offset, table), head]
        ),
        "Only the score was divided. The table's number stays as it is.": shelf(
            lambda score, table, size, head, offset, steps: (score + table[behind(offset, table), head]) * size**0.5
        ),
    },
)


# Blocks -----------------------------------------------------------------------------------------------------


def cut(seen: Tensor, size: int) -> Tensor:
    """(rows, columns, size²): what each block shows; behind the edges nobody is seen."""
    queries, keys = seen.shape
    padded = pad(seen, (0, -keys % size, 0, -queries % size))
    return padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, 2).flatten(2)


def states(seen: Tensor, size: int) -> Tensor:
    blocks = cut(seen, size)
    return blocks.any(dim=2).long() + blocks.all(dim=2)


def by_existing(seen: Tensor, size: int) -> Tensor:
    """A block that is cut short counts as whole where all that is there is seen."""
    return cut(seen, size).any(dim=2).long() + cut(~seen, size).any(dim=2).logical_not()


def corners(seen: Tensor, size: int) -> Tensor:
    blocks = cut(seen, size)
    near, far = blocks[..., -size], blocks[..., size - 1]
    return (near | far).long() + (near & far)


def blocks_case(seen: Tensor, size: int) -> Case:
    return call(seen=seen, size=size)


def apart(queries: int, keys: int | None = None) -> Tensor:
    """How far back each key stands."""
    return torch.arange(queries)[:, None] - torch.arange(queries if keys is None else keys)


block_states = Check(
    "block_states",
    reference=states,
    properties={
        "0 for none, 1 for some, 2 for all of its pairs": [
            blocks_case(apart(4) >= 0, 2),
            blocks_case((apart(6) >= 0) & (apart(6) < 3), 2),
            blocks_case(apart(6) == 1, 3),
            blocks_case(apart(12) % 5 != 2, 4),
            blocks_case(apart(2, 6) < 1, 2),
            blocks_case(apart(6, 3) >= 2, 3),
        ],
        "behind the edge nobody is seen": [
            blocks_case(apart(2, 3) > -8, 2),
            blocks_case(apart(5, 8) > -8, 4),
            blocks_case(apart(8, 5) > -8, 4),
        ],
    },
    mistakes={
        "A block whose pairs are all seen is a 2. There the program need not ask the mask.": (
            lambda seen, size: cut(seen, size).any(dim=2).long()
        ),
        "1 and 2 have changed places.": lambda seen, size: torch.tensor([0, 2, 1])[states(seen, size)],
        "Two corners do not tell of a block. Somebody in between may see, or not see.": corners,
        "Rows are blocks of queries, columns blocks of keys.": lambda seen, size: states(seen, size).mT,
        "The last block is cut short. Fill it up: behind the edge nobody is seen.": (
            lambda seen, size: states(seen[: len(seen) // size * size, : seen.shape[1] // size * size], size)
        ),
        "A block that is cut short is not whole: its missing pairs must stay hidden.": by_existing,
    },
    answers=(
        Answer(
            "left",
            150 / 1024,
            {
                "This is the share of the pairs. A block with one visible pair is computed whole.": 1_966_336
                / 4096**2,
                "These are the blocks seen in part alone. Whole ones are work as well.": 60 / 1024,
                "These are the whole blocks alone. Those seen in part are work as well.": 90 / 1024,
                "This is the share of the causal blocks. Asked for is that of all blocks.": 150 / 528,
            },
            within=0.001,
        ),
    ),
)


# A stopwatch ------------------------------------------------------------------------------------------------

LAUNCH = 1 / 64  # seconds until a call has told a device what to do


class Machine:
    """A pretended computer, whose seconds are numbers.

    programs: name -> (seconds of its first call to compile, seconds of each call). queue: whether a call returns
    when the work is ordered, as on a GPU, or when it is done. busy: how many times longer each call takes, in turn,
    because of other programs. left: seconds of work that is still in the queue at first.
    """

    def __init__(
        self,
        programs: dict[str, tuple[float, float]],
        queue: bool = False,
        busy: tuple[float, ...] = (1,),
        left: float = 0,
    ):
        self.programs, self.queue, self.busy = programs, queue, busy
        self.now, self.idle, self.calls, self.known = 0.0, float(left), 0, set()

    def contenders(self) -> dict[str, Callable[[], None]]:
        return {name: partial(self.call, name) for name in self.programs}

    def call(self, name: str) -> None:
        compiling, seconds = self.programs[name]
        self.now += LAUNCH + compiling * (name not in self.known)
        self.known.add(name)
        self.idle = max(self.idle, self.now) + seconds * self.busy[self.calls % len(self.busy)]
        self.calls += 1
        if not self.queue:
            self.wait()

    def clock(self) -> float:
        return self.now

    def wait(self) -> None:
        self.now = max(self.now, self.idle)


def seconds_of(program: Callable, clock: Callable, wait: Callable) -> float:
    wait()
    start = clock()
    program()
    wait()
    return clock() - start


def in_turns(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> tuple[dict, dict]:
    """The first call of each contender, and the times of its rounds."""
    firsts = {name: seconds_of(program, clock, wait) for name, program in contenders.items()}
    times = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, program in contenders.items():
            times[name].append(seconds_of(program, clock, wait))
    return firsts, times


def told(
    firsts: dict, times: dict, middle: Callable = median, ratio: Callable | None = None
) -> dict[str, tuple[float, float, float]]:
    """First call, seconds, and speed against the first contender, of each."""
    base = next(iter(times.values()))
    ratio = ratio or (lambda base, own: middle([a / b for a, b in zip(base, own, strict=True)]))
    return {name: (firsts[name], middle(own), ratio(base, own)) for name, own in times.items()}


def fair(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> dict:
    firsts, times = in_turns(contenders, rounds, clock, wait)
    base = next(iter(times.values()))
    return {
        name: (firsts[name], median(own), median(map(truediv, base, own))) for name, own in times.items()
    }


def timed(change: Callable = told, sleep: Callable | None = None) -> Callable:
    """As the right answer, with another reckoning, or another way to wait."""

    def answer(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> dict:
        return change(*in_turns(contenders, rounds, clock, sleep or wait))

    return answer


def firsts_too(firsts: dict, times: dict) -> dict:
    return told(firsts, {name: [firsts[name], *own] for name, own in times.items()})


def compiling_alone(firsts: dict, times: dict) -> dict:
    return told({name: firsts[name] - median(own) for name, own in times.items()}, times)


def one_after_the_other(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> dict:
    firsts = {name: seconds_of(program, clock, wait) for name, program in contenders.items()}
    times = {
        name: [seconds_of(program, clock, wait) for _ in range(rounds)] for name, program in contenders.items()
    }
    return told(firsts, times)


def never_stopped(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> dict:
    """Waits before the clock starts, and not before it stops."""

    def seconds(program: Callable) -> float:
        wait()
        start = clock()
        program()
        return clock() - start

    firsts = {name: seconds(program) for name, program in contenders.items()}
    times = [[seconds(program) for program in contenders.values()] for _ in range(rounds)]
    return told(firsts, {name: [one[at] for one in times] for at, name in enumerate(contenders)})


def never_cleared(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> dict:
    """Waits before the clock stops, and not before it starts."""
    start = clock()
    _ = [program() for program in list(contenders.values())[:1]], wait()
    first = clock() - start
    names = list(contenders)
    firsts = {names[0]: first} | {name: seconds_of(contenders[name], clock, wait) for name in names[1:]}
    times = [[seconds_of(program, clock, wait) for program in contenders.values()] for _ in range(rounds)]
    return told(firsts, {name: [one[at] for one in times] for at, name in enumerate(names)})


def machine_case(
    label: str, rounds: int, programs: dict, first: bool = False, names: tuple = ("first", "seconds", "speed"), **how
) -> Case:
    """What an answer says of a pretended machine: of the first calls, or of all else."""

    def ask(answer: Callable) -> object:
        machine = Machine(programs, **how)
        found = answer(machine.contenders(), rounds, machine.clock, machine.wait)
        if nothing(found):
            return found
        if not isinstance(found, dict) or [*found] != [*programs]:
            raise Misconduct(f"Returns type {type(found).__name__}; a dictionary is asked for, with an entry a contender")
        rows = torch.tensor([several(found[name], *names) for name in programs], dtype=torch.float64)
        return rows[:, 0] if first else rows[:, 1:]

    return Case(f"{label}, rounds = {rounds}", ask)


STEADY = {"formula": (0, 3), "fused": (15, 1)}
EQUAL = {"formula": (0, 2), "fused": (0, 1)}

measure = Check(
    "measure",
    reference=fair,
    properties={
        "the first call, told apart": [
            machine_case("a machine of its own", 1, STEADY, first=True),
            machine_case("a device with work in its queue", 2, STEADY, first=True, queue=True, left=7),
        ],
        "medians of rounds in which all take turns": [
            machine_case("a machine of its own", 2, STEADY),
            machine_case("other programs run now and then", 3, EQUAL, busy=(1, 1, 1, 1, 2, 2, 3, 1)),
            machine_case("other programs run later", 5, EQUAL, busy=(1,) * 6 + (4,) * 4 + (1, 1)),
            machine_case("other programs run once", 4, EQUAL | {"third": (4, 4)}, busy=(1,) * 9 + (9,) * 3 + (1,) * 3),
        ],
        "a device that works on when the call returns": [
            machine_case("a device with a queue", 3, STEADY, queue=True),
            machine_case("a device with a queue", 2, EQUAL | {"third": (4, 4)}, queue=True),
        ],
    },
    mistakes={
        "The call returns before the device is done: wait before you stop the clock.": never_stopped,
        "The device still has work from before: wait before you start the clock.": never_cleared,
        "The first call compiles. It belongs to no round.": timed(firsts_too),
        "This is the compiling alone. Asked for are the seconds of the first call.": timed(compiling_alone),
        "A mean lets one slow round speak for all. Take the median.": timed(partial(told, middle=fmean)),
        "The fastest round is one of luck. Take the median.": timed(
            lambda firsts, times: {
                name: (firsts[name], min(own), told(firsts, times)[name][2]) for name, own in times.items()
            }
        ),
        "What slows the machine meets all contenders only if they take turns.": one_after_the_other,
        "Divide within each round, then take the median: a round has one machine.": timed(
            partial(told, ratio=lambda base, own: median(base) / median(own))
        ),
        "A speed above 1 is faster: the first contender's time over its own.": timed(
            partial(told, ratio=lambda base, own: median([b / a for a, b in zip(base, own, strict=True)]))
        ),
    },
)
