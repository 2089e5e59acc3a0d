"""Download the weights of the trained models, or read a configuration: `python -m d2lpos.pretrained --help`."""

import sys

from .. import pretrained
from ..config.__main__ import attempt
from ..config.__main__ import main as configure

EPILOG = "without a command: names of weights to download into your cache; by default all that the book uses"


def main(arguments: list[str]) -> str | None:
    """Return a sentence where a file could not be read or the weights could not be had.

    What begins with `read` or `schema` is `python -m d2lpos.config`, which needs no PyTorch.
    """
    if arguments and arguments[0] in ("read", "schema", "-h", "--help"):
        return configure(arguments, "python -m d2lpos.pretrained", EPILOG)
    return attempt(lambda: pretrained.fetch(arguments or pretrained.WEIGHTS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
