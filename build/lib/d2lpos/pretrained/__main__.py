"""Download the weights of the trained models: `python -m d2lpos.pretrained [NAME ...]`."""

import sys

from .weights import WEIGHTS, fetch


def main(names: list[str]) -> str | None:
    """Return a sentence where the weights could not be had."""
    try:
        fetch(names or WEIGHTS)
    except (ValueError, OSError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
