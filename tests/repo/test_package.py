"""Who installs the package gets all of it."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]


def test_every_folder_of_modules_is_installed():
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.glob("d2lpos/**/__init__.py")}
    assert folders | SETUP["package-dir"].keys() == set(SETUP["packages"])
