"""Ask pyright what an editor knows of the package: python -m tests.rehearsals.editor

pyright is no package of the book's: pip install --target types 'pyright[nodejs]', and PYTHONPATH=types. In the rooms of the encodings
each parameter and each returned value has a type, and so have the names that other rooms hand out. A reader's program gets the
types that it should, and an error for a name that there is not. The attributes of a class may take theirs from what they are set to.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import d2lpos
from d2lpos import config, figures, lab, pretrained
from tests.house import ENCODERS, ROOT

PROGRAM = """
from typing import assert_type

import torch
from torch import Tensor

import d2lpos
import d2lpos.pretrained
from d2lpos import ALiBi, Attention, RoPE, Transformer
from d2lpos.rotary import rotate

assert_type(RoPE(64), d2lpos.rotary.RoPE)
assert_type(d2lpos.positions.as_index(torch.arange(3)), Tensor)
assert_type(RoPE(64).rotate(torch.ones(1, 2, 3, 64), torch.ones(1, 2, 3, 64), torch.arange(3), torch.arange(3)), tuple[Tensor, Tensor])
assert_type(d2lpos.pretrained.SmolLM2(8, 8, 1, 1, 1, 8).training, bool)
Transformer(7, 7, encoding=ALiBi(4))
"""
WRONG = {"d2lpos.RoPe": "reportAttributeAccessIssue", "d2lpos.pretrained.SmolLM3": "reportAttributeAccessIssue", 'd2lpos.RoPE("64")': "reportArgumentType"}


def pyright(*arguments: object) -> dict:
    """Its report, of a run with this Python and this tree."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "pyright", "--outputjson", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path, "PATH": programs}, capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout) if done.stdout else sys.exit(done.stderr)


def unknown() -> list[str]:
    """What has no type, among what the rooms of the encodings show, and what others hand out."""
    symbols = pyright("--verifytypes", "d2lpos", "--ignoreexternal")["typeCompleteness"]["symbols"]
    rooms = {*ENCODERS, *d2lpos.__all__}
    exports = {f"{room.__name__}.{name}" for room in (config, figures, lab, pretrained) for name in room.__all__}
    public = [
        symbol
        for symbol in symbols
        if symbol["isExported"] and (symbol["name"].split(".")[1] in rooms or symbol["name"] in exports)
    ]
    assert len(public) > 300, f"pyright sees {len(public)} names of the encodings"
    return [f"{symbol['name']} has no type" for symbol in public if not (symbol["isTypeKnown"] or symbol["isTypeAmbiguous"])]


def misread() -> list[str]:
    """What pyright says of a program that is right, and leaves unsaid of lines that are wrong."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(PROGRAM + "\n".join(WRONG) + "\n", "utf-8")
        report = pyright(file)["generalDiagnostics"]
    first = PROGRAM.count("\n")
    rules = {fault["range"]["start"]["line"] - first: fault.get("rule") for fault in report if fault["severity"] == "error"}
    right = [fault["message"] for fault in report if fault["severity"] == "error" and fault["range"]["start"]["line"] < first]
    return right + [f"{line} is no {rule}" for at, (line, rule) in enumerate(WRONG.items()) if rules.get(at) != rule]


if __name__ == "__main__":
    faults = unknown() + misread()
    print("\n".join(faults) or "pyright finds a type for each name that the package hands out.")
    sys.exit(bool(faults))
