"""The versions of Python that a machine has. The standard library alone, so that any of them can ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def find(version: str, named: str | None = None) -> str | None:
    """Return the path of a Python such as "3.13": this one, one on the PATH or pyenv's. None where there is none.

    named: the only one to look at.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    known = [sys.executable, shutil.which(f"python{version}"), *map(str, pyenv.glob(f"{version}.*/bin/python"))]
    tell = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, [shutil.which(named)] if named else known):
        printed = subprocess.run([path, "-c", tell], capture_output=True, text=True, check=False).stdout
        if printed.strip() == version:
            return path
    return None
