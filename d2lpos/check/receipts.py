"""What a reader shows the book for an exercise that is done.

The pages read this file, too, so it imports the standard library alone.
"""

from hashlib import sha256

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # 32 that nobody takes for one another


def receipt(name: str) -> str:
    """What a reader shows the book for an exercise that is done: it names the exercise, and proves nothing.

    >>> receipt("attention")
    '9BZJ9J'
    """
    number = int.from_bytes(sha256(name.encode()).digest()[:4], "big")
    return "".join(LETTERS[number >> 5 * place & 31] for place in range(6))
