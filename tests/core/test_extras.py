"""The encodings need PyTorch and NumPy; what another room needs besides is named with the command that installs it."""

import ast
import re
import sys
import tomllib
from contextlib import nullcontext
from importlib import reload
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from d2lpos.figures import style
from d2lpos.figures.explore import Explorer
from d2lpos.lab.digits import pictures
from d2lpos.lab.summary import frame
from d2lpos.lab.sweep import _dask
from d2lpos.pretrained import at_hand, minilm, smollm2
from d2lpos.runtime import extras
from d2lpos.runtime.extras import EXTRAS, WEIGHTS
from tests.house import ENCODERS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INSTALLED = {"sklearn": "scikit-learn", "IPython": "ipywidgets"}  # what brings it, where it has another name
TRAINED = " ".join(WEIGHTS)


def missing(user: str, name: str, what: str) -> str:
    return f"d2lpos.{user} needs {name}; install it with: pip install {what}"


@pytest.mark.parametrize(("use", "name", "sentence"), [
    (lambda: frame([]), "pandas", missing("lab.summary", "pandas", "'d2lpos[lab]'")),
    (lambda: pictures.__wrapped__("test"), "sklearn", missing("lab.digits", "sklearn", "'d2lpos[lab]'")),
    (lambda: _dask("local:2", 1).__enter__(), "distributed", missing("lab.sweep", "distributed", "'d2lpos[cluster]'")),
    (lambda: reload(style), "matplotlib", missing("figures.style", "matplotlib", "'d2lpos[notebooks]'")),
    (lambda: Explorer(lambda value: style.figure()[0], (1, 2), "a", "b").live(), "ipywidgets", missing("figures.explore", "ipywidgets", "'d2lpos[notebooks]'")),
    (lambda: smollm2.opened.__wrapped__(Path()), "gguf", missing("pretrained.smollm2", "gguf", TRAINED)),
    (minilm.load_minilm, "safetensors", missing("pretrained.minilm", "safetensors", TRAINED)),
    (minilm.minilm_tokenizer, "tokenizers", missing("pretrained.minilm", "tokenizers", TRAINED)),
])
def test_what_is_missing_is_named_with_its_command(use, name, sentence, without, monkeypatch):
    monkeypatch.setattr(minilm, "find", lambda name: (Path(), Path()))
    without(name)
    with pytest.raises(ModuleNotFoundError, match=f"^{re.escape(sentence)}$") as caught:
        use()
    assert caught.value.name == name
    assert caught.value._render_traceback_() == [sentence]  # all that a notebook shows


def test_a_chapter_runs_on_without_what_reads_the_weights(without):
    without("gguf")
    model = at_hand(smollm2.opened.__wrapped__, Path())
    with pytest.raises(ModuleNotFoundError, match="needs gguf; install it with: pip install gguf"):
        model.config  # noqa: B018


@pytest.mark.parametrize(("here", "enough"), [("2.10.0+cu126", False), ("1.13.1", False), ("2.11.0", True), ("2.13.0+cpu", True), ("3.0.0a0", True)])
def test_a_pytorch_that_is_too_old_is_told_in_one_sentence(here, enough, monkeypatch):
    monkeypatch.setattr(extras, "version", lambda name: here)
    sentence = f"^d2lpos needs PyTorch 2.11 or newer, and this is {re.escape(here)}: on Colab choose the latest version .*"
    with nullcontext() if enough else pytest.raises(ImportError, match=sentence):
        extras.need_torch()


def test_pip_exchanges_no_pytorch_for_the_book():
    [torch] = [line for line in map(Requirement, PROJECT["project"]["dependencies"]) if line.name == "torch"]
    assert not torch.specifier


def test_extras_are_those_of_the_project():
    optional = PROJECT["project"]["optional-dependencies"]
    names = {extra: {INSTALLED.get(name, name) for name in names} for extra, names in EXTRAS.items()}
    own = {extra: {line.name for line in map(Requirement, lines)} - {"d2lpos"} for extra, lines in optional.items()}
    assert own == names
    assert {extra for extra, lines in optional.items() if "d2lpos[lab]" in lines} == {"notebooks", "cluster"}
    assert set(PROJECT["dependency-groups"]["pretrained"]) == set(WEIGHTS)


def test_every_package_that_the_code_imports_is_of_an_extra():
    # Without huggingface_hub the command that reads a configuration says so itself, and reads files.
    known = {*sys.stdlib_module_names, "torch", "numpy", "d2lpos", "huggingface_hub", *WEIGHTS, *(name for names in EXTRAS.values() for name in names)}
    used = {(path.parent.name, name) for path in (ROOT / "d2lpos").rglob("*.py") for name in imported(path)}
    assert {name for _, name in used} <= known
    assert {name for room, name in used if room in ENCODERS} <= {*sys.stdlib_module_names, "torch", "numpy"}


def imported(path: Path) -> set[str]:
    """The packages that a file imports by their full names."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    whole = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return whole | {node.module.split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
