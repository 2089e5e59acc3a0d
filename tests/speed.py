"""How fast this machine is: python -m tests.speed. Times of the tests are told beside it, since machines differ."""

import timeit


def ten_million_additions() -> str:
    """How long Python takes to add ten million numbers, the best of three, in words."""
    seconds = min(timeit.repeat("total += 1", "total = 0", number=10_000_000, repeat=3))
    return f"ten million additions in Python take {seconds:.2f} s"


if __name__ == "__main__":
    print(f"Here {ten_million_additions()}.")
