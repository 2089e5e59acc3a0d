"""Download the weights of the trained models: `python -m d2lpos.pretrained NAME …`, by default all that the book uses."""

import sys

from .. import pretrained
from ..config.__main__ import attempt


def main(arguments: list[str]) -> str | None:
    """Return a sentence where the weights could not be had."""
    return attempt(lambda: pretrained.fetch(arguments or pretrained.WEIGHTS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
