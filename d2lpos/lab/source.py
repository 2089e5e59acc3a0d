"""Source code as a task: predict the next byte of Python, and bring back a string that was assigned long ago.

The text is the code of packages as they are published, `python -m d2lpos.lab.source` packs those that are installed
here into one file, and its hash says whether they are the pinned ones. The packages of `TEST` are in no row of training.
A token is a byte; 0 ends a file.
"""

import hashlib
import random
import string
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import distribution
from pathlib import Path

import numpy
import torch
from torch import Tensor

from ..positions.arguments import check_name, check_positive
from . import text

FILE = Path("source.bin")  # in the folder where one stands, as the store of runs
SHA256 = "119d00927a297748dfd845cf185a636f97ed5b8ef5022bafd3407845db923664"
VOCABULARY = 256
TRAIN = {
    "scipy": "1.17.1", "pandas": "3.1.1", "numpy": "2.4.6", "matplotlib": "3.11.2", "networkx": "3.6.1",
    "distributed": "2026.8.0", "dask": "2026.8.0", "Sphinx": "7.4.7", "SQLAlchemy": "2.1.9",
}  # fmt: skip
TEST = {"scikit-learn": "1.9.1", "sympy": "1.14.0"}
MOST = 3_880_000  # bytes of a package: the whole is at most 40 MB
GENERATED = {"_version.py", "version.py", "__config__.py"}  # differ from machine to machine

LETTERS = 12  # that a needle hides, and that are asked for
# Before the letters and after them, where they are hidden; the same words ask for them at the row's end.
IN_SOURCE = "\n{name} = '", "'\n"
IN_NOVELS = "\nThe {name} is ", ".\n"


def pack() -> bytes:
    """The code of the installed packages, training before test; raises ValueError where a version is another."""
    train, test = (
        b"".join(code_of(name, version)[:MOST] for name, version in packages.items())
        for packages in (TRAIN, TEST)
    )
    return len(train).to_bytes(8, "little") + train + test


def code_of(name: str, version: str) -> bytes:
    """The Python files of a distribution, shuffled the same way each time, so that a part is of all its folders."""
    package = distribution(name)
    if package.version != version:
        raise ValueError(f"{name} must be {version}, which was packed for the study; got {package.version}")
    files = sorted(str(path) for path in package.files if path.suffix == ".py" and path.name not in GENERATED)
    random.Random(0).shuffle(files)
    return b"".join(package.locate_file(path).read_bytes() + b"\0" for path in files)


@cache
def source(split: str) -> Tensor:
    """The bytes of a split, uint8; read once. Raises ValueError where the file is not there, or another one."""
    check_name("split", split, ("train", "test"))
    if not FILE.is_file():
        raise ValueError(f"there is no {FILE} here: pack it with python -m d2lpos.lab.source")
    data = FILE.read_bytes()
    if (digest := hashlib.sha256(data).hexdigest()) != SHA256:
        raise ValueError(f"{FILE} must have the hash {SHA256}; got {digest}: pack it anew")
    end = 8 + int.from_bytes(data[:8], "little")
    part = data[8:end] if split == "train" else data[end:]
    return torch.from_numpy(numpy.frombuffer(part, numpy.uint8).copy())


def next_byte(
    size: int, length: int, generator: torch.Generator, split: str = "train"
) -> tuple[Tensor, Tensor]:
    """Rows of `length` bytes that begin anywhere in the split; each token is asked for the next one."""
    check_positive(size=size, length=length)
    rows = text.rows(source(split), size, length, generator)
    return rows[:, :-1], rows[:, 1:]


def needle(
    size: int,
    length: int,
    generator: torch.Generator,
    words: Callable[[], Tensor],
    tokens: dict[str, int],
    frame: tuple[str, str],
) -> tuple[Tensor, Tensor]:
    """A name and its letters anywhere in a text, and in the end the name again: its letters are asked for.

    words: gives the text as a row of tokens. tokens: of each character. frame: what stands before the letters and
    after them. Raises ValueError for a length that does not hold the name twice.

    >>> row, asked = needle_in_novels(1, 80, torch.Generator().manual_seed(0))
    >>> text.decode(row[0])
    >>> text.decode(asked[0, -LETTERS:])
    """
    check_positive(size=size, length=length)
    before, after = (
        torch.tensor([tokens[c] for c in part.format(name="key_" + 6 * "a")]) for part in frame
    )
    planted, asking = len(before) + LETTERS + len(after), len(before) + LETTERS - 1
    if length < planted + asking:
        raise ValueError(f"length must be at least {planted + asking}, to hold a needle; got {length}")
    rows = text.rows(words(), size, length, generator)[:, :-1]
    letters = torch.tensor([tokens[c] for c in string.ascii_lowercase])
    name, value = (
        letters[torch.randint(26, (size, n), generator=generator)] for n in (6, LETTERS)
    )
    begin = frame[0].index("{name}") + len("key_")
    before = before.repeat(size, 1)
    before[:, begin : begin + 6] = name
    whole = torch.cat([before, value, after.expand(size, -1)], dim=1)
    places = torch.randint(length - asking - planted + 1, (size, 1), generator=generator)
    rows.scatter_(1, places + torch.arange(planted), whole)
    rows[:, -asking:] = torch.cat([before, value[:, :-1]], dim=1)
    targets = torch.full_like(rows, -100)
    targets[:, -LETTERS:] = value
    return rows, targets


BYTES = {chr(number): number for number in range(128)}
NOVELS = {character: token for token, character in enumerate(text.ALPHABET)}
needle_in_source = partial(needle, words=partial(source, "test"), tokens=BYTES, frame=IN_SOURCE)
needle_in_novels = partial(needle, words=partial(text.characters, "test"), tokens=NOVELS, frame=IN_NOVELS)


if __name__ == "__main__":
    packed = pack()
    FILE.write_bytes(packed)
    digest = hashlib.sha256(packed).hexdigest()
    print(f"{FILE}: {len(packed)} bytes, {digest}" + ", as in the study" * (digest == SHA256))
    sys.exit(digest != SHA256)
