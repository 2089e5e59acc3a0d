"""What PyTorch computes with the published readers, for the tests of the engine that runs in the page.

python -m tests.figures.readers.golden [ENCODING …]     prints JSON; all readers where none is named
"""

import json
import sys

import torch

from d2lpos.lab.models import READINGS, place
from d2lpos.lab.readers import LONGEST, load, surprise
from d2lpos.lab.studies import STUDIES
from d2lpos.lab.text import characters

LENGTH = 96
SHOWN = [0, 1, 2, 31, 63, 94, 95]  # places whose logits are told; the surprise is told of all
HERE = torch.arange(LENGTH)
CASES = {"as trained": HERE, "start at 200": HERE + 200, "all equal": 0 * HERE, "double pace": 2 * HERE}
RULES = ("linear", "ntk", "dynamic ntk", "yarn")  # of rope, each for four times its training length


@torch.no_grad()
def golden(name: str) -> dict:
    """By case: tokens (96,), positions (96,), logits {place: (75,)}, and surprise (95,), of each token but the first."""
    model, _ = load(name)
    run = next(run for run in STUDIES["readers"].full if run.encoding == name)
    tokens, trained = characters("test")[1000 : 1000 + LENGTH][None], model.encoding
    found = {}
    for case in (*CASES, *(RULES if name == "rope" else ())):
        positions = CASES.get(case, HERE)
        place(model, READINGS[case](run, LONGEST)(trained) if case in RULES else trained)
        logits = model(tokens, positions, torch.ones(LENGTH, LENGTH).tril().bool())[0]
        found[case] = {
            "tokens": tokens[0].tolist(),
            "positions": positions.tolist(),
            "logits": {at: logits[at].tolist() for at in SHOWN},
            "surprise": surprise(model, tokens, positions)[0].tolist(),
        }
    return found


if __name__ == "__main__":
    names = sys.argv[1:] or [run.encoding for run in STUDIES["readers"].full]
    json.dump({name: golden(name) for name in names}, sys.stdout)
