"""How fast this machine is: python -m tests.speed. Times of the tests are told beside it, since machines differ."""

import time

PROGRAM = compile("total = 0\nfor number in range(10_000_000):\n    total += number", "additions", "exec")


def ten_million_additions() -> str:
    """How long a program of Python takes to add the numbers below ten million, the best of three, in words."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        exec(PROGRAM, {})  # noqa: S102 (our own)
        seconds.append(time.perf_counter() - start)
    return f"ten million additions in Python take {min(seconds):.2f} s"


if __name__ == "__main__":
    print(f"Here {ten_million_additions()}.")
