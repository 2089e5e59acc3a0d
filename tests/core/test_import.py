import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import d2lpos

ROOT = Path(__file__).parents[2]
PLOTS = {"matplotlib", "ipywidgets", "IPython"}
TABLES = {"pandas", "scipy", "sklearn", "loky", "distributed"}
SCRIPT = """
import json, sys
import torch
before = set(sys.modules)
import {module}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


# Packages that load a module when one of its names is asked for, and modules that do without PyTorch.
LAZY = ["d2lpos", "d2lpos.pretrained"]
PLAIN = [*LAZY, "d2lpos.pretrained.census", "d2lpos.config", "d2lpos.config.__main__", "d2lpos.runtime.published"]


@pytest.fixture
def brought(python):
    """The modules that an import brings along, beyond torch's own."""
    return lambda module: set(json.loads(python("-c", SCRIPT.format(module=module)).stdout))


def test_the_package_is_light(brought):
    modules = brought("d2lpos, d2lpos.rotary, d2lpos.bias, d2lpos.offset, d2lpos.transformer")
    assert not modules & (PLOTS | TABLES | {"d2lpos.check", "d2lpos.figures", "d2lpos.lab", "d2lpos.pretrained"})
    assert len(modules) < 60


@pytest.mark.parametrize("module", ["d2lpos.lab", "d2lpos.check", "d2lpos.lab.sweep", "d2lpos.lab.summary"])
def test_others_bring_what_they_need_when_they_need_it(module, brought):
    assert not brought(module) & (PLOTS | TABLES)


def alone(code: str) -> list:
    """What the code prints as JSON in a new process, in which nothing is loaded yet."""
    command = [sys.executable, "-c", f"import json, sys\n{code}"]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def test_what_needs_no_torch_does_not_load_it():
    code = f"import {', '.join(PLAIN)}\nprint(json.dumps(sorted({{'torch', 'numpy'}} & {{*sys.modules}})))"
    assert alone(code) == []


@pytest.mark.parametrize("package", LAZY)
def test_completion_shows_every_name_before_it_is_loaded(package):
    code = f"import {package}\nprint(json.dumps([dir({package}), {package}.__all__, 'torch' in sys.modules]))"
    shown, names, loaded = alone(code)
    assert {*names} <= {*shown} and not loaded
    assert "TYPE_CHECKING" not in shown and "lazily" not in shown


def test_a_misspelt_name_is_an_error_that_names_the_right_one(python):
    done = python("-c", "import d2lpos\nd2lpos.RoPe")
    assert done.stderr.splitlines()[-1] == "AttributeError: module 'd2lpos' has no attribute 'RoPe'. Did you mean: 'RoPE'?"
    assert not hasattr(d2lpos, "__wrapped__")


def test_an_encoding_survives_a_pickle():
    assert repr(pickle.loads(pickle.dumps(d2lpos.RoPE(8)))) == repr(d2lpos.RoPE(8))
