"""A stopwatch."""

from collections.abc import Callable
from functools import partial
from operator import truediv
from statistics import median

import torch

from ..cases import several
from ..verdict import Case, Check, Misconduct, is_empty

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


def fair(contenders: dict, rounds: int, clock: Callable, wait: Callable) -> dict:
    firsts, times = in_turns(contenders, rounds, clock, wait)
    base = next(iter(times.values()))
    return {name: (firsts[name], median(own), median(map(truediv, base, own))) for name, own in times.items()}


def machine_case(
    label: str, rounds: int, programs: dict, first: bool = False, names: tuple = ("first", "seconds", "speed"), **how
) -> Case:
    """What an answer says of a pretended machine: of the first calls, or of all else."""

    def ask(answer: Callable) -> object:
        machine = Machine(programs, **how)
        times = answer(machine.contenders(), rounds, machine.clock, machine.wait)
        if is_empty(times):
            return times
        if not isinstance(times, dict) or times.keys() != programs.keys():
            raise Misconduct(f"A dictionary is asked for, with an entry for each of {', '.join(programs)}")
        if machine.calls != (calls := (rounds + 1) * len(programs)):
            raise Misconduct(f"Calls contenders {machine.calls} times; each of them once first, and once in each round, makes {calls}")
        rows = torch.tensor([several(times[name], *names) for name in programs], dtype=torch.float64)
        return rows[:, 0] if first else rows[:, 1:]

    columns = "first calls" if first else "seconds and speeds"
    return Case(f"{label}, rounds = {rounds}; {columns} of {', '.join(programs)}", ask)


STEADY = {"plain": (0, 3), "fused": (15, 1)}
EQUAL = {"plain": (0, 2), "fused": (0, 1)}
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
            machine_case("other programs run now and then", 3, EQUAL, busy=(1, 1, 1, 1, 2, 4, 3, 1)),
            machine_case("other programs run later", 5, EQUAL, busy=(1,) * 6 + (4,) * 4 + (1, 1)),
            machine_case("other programs run for two rounds", 4, EQUAL | {"third": (4, 4)}, busy=(1,) * 9 + (9,) * 6),
        ],
        "a device that works on when the call returns": [
            machine_case("a device with a queue", 3, STEADY, queue=True),
            machine_case("a device with a queue", 2, EQUAL | {"third": (4, 4)}, queue=True),
        ],
    },
    mistakes={
        "The call returns before the device is done: wait before you stop the clock.":
            "program()\n    wait() → program()",
        "The device still has work from before: wait before you start the clock.":
            "wait()\n    start → start",
        "The first call compiles. It belongs to no round.":
            "times = {name: [] for → times = {name: [firsts[name]] for",
        "A mean lets one slow round speak for all. Take the median.":
            "median(own), median(map(truediv, base, own)) → sum(own) / rounds, sum(map(truediv, base, own)) / rounds",
        "What slows the machine meets all contenders only if they take turns.": (
            "for _ in range(rounds):\n        for name, program in contenders.items(): → "
            "for name, program in contenders.items():\n        for _ in range(rounds):"
        ),
        "Divide within each round, then take the median: a round has one machine.":
            "median(map(truediv, base, own)) → median(base) / median(own)",
        "A speed above 1 is faster: the first contender's time over its own.":
            "truediv, base, own → truediv, own, base",
    },
    as_good={"argument 0 spoiled": "Each machine has a dictionary of its own, and nobody asks for it again."},
)
