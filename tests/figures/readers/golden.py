"""What PyTorch computes with the published readers, for the tests of the engine that runs in the page.

python -m tests.figures.readers.golden [ENCODING …]     prints JSON; all readers where none is named
"""

import json
import sys

import torch

from d2lpos.lab.models import READINGS, place
from d2lpos.lab.studies import STUDIES
from d2lpos.lab.text import characters
from d2lpos.reader import LONGEST, READERS, load, surprise

LENGTH = 96
SHOWN = [0, 1, 2, 31, 63, 94, 95]  # places whose logits are told; the surprise is told of all
HERE = torch.arange(LENGTH)
CASES = {"as trained": HERE, "start at 200": HERE + 200, "all equal": 0 * HERE, "double pace": 2 * HERE}
RULES = ("linear", "ntk", "dynamic ntk", "yarn")  # of rope, each for four times its training length


@torch.no_grad()
def golden(name: str) -> dict:
    """By case: tokens (96,), positions (96,), logits {place: (75,)}, and surprise (95,), of each token but the first."""
    model, _ = load(name)
    (run,) = (run for run in STUDIES["readers"].full if run.encoding == name)
    tokens, trained = characters("test", flowing=True)[1000 : 1000 + LENGTH], model.encoding
    found = {}
    for case in (*CASES, *(RULES if name == "rope" else ())):
        positions = CASES.get(case, HERE)
        place(model, READINGS[case](run, LONGEST)(trained) if case in RULES else trained)
        logits = model(tokens[None], positions, torch.ones(LENGTH, LENGTH).tril().bool())[0]
        found[case] = {
            "tokens": tokens.tolist(),
            "positions": positions.tolist(),
            "logits": {at: logits[at].tolist() for at in SHOWN},
            "surprise": surprise(model, tokens, positions)[1:].tolist(),
        }
    return found


if __name__ == "__main__":
    json.dump({name: golden(name) for name in sys.argv[1:] or READERS}, sys.stdout)
