"""Run every notebook as Colab would: python tests/rehearsals/colab.py --help

An environment is made with Colab's Python and versions, or the newest, without d2lpos. The first cell of a notebook installs it from
the book's address, where git answers with the last commit of this repository. What must hold of the cells is in
tests/rehearsals/execute.py. Pictures and words are not compared: other versions draw and print a little differently.

COLAB_PYTHON names Colab's Python where it is in an unusual place.

What one notebook has installed, others find: all install by the same line, which the linter sees to. After that they run
side by side.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT), str(ROOT / "book" / "_ext")]
from notebooks import every

from tests.pythons import find

# Colab's own list of 19 August 2026; that of transformers, which it has too, is one from the spring of the year.
PYTHON = "3.13"
COLAB = """
    ipykernel==6.17.1 ipython==7.34.0 ipywidgets==7.7.1 jupyter_client==7.4.9 matplotlib==3.10.0 nbclient==0.10.4
    notebook==6.5.7 numpy==2.1.3 pandas==2.2.3 pip==24.1.2 scikit-learn==1.6.1 scipy==1.16.3 tornado==6.5.7
    torch==2.11.0 tqdm==4.67.3 traitlets==5.7.1 transformers==5.5.4
"""


def main(*names: str, packages: str = COLAB) -> str | None:
    """Return a sentence when a notebook fails."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if not (found := find(PYTHON, os.environ.get("COLAB_PYTHON"))):
        return f"Colab has Python {PYTHON}, and this machine has none: install it, or name it with COLAB_PYTHON."
    with tempfile.TemporaryDirectory() as folder:
        colab = Path(folder, "colab")
        subprocess.run([found, "-m", "venv", colab], check=True)
        pip = [colab / "bin/python", "-m", "pip", "-qq", "--disable-pip-version-check"]
        start = time.perf_counter()
        subprocess.run([*pip, "install", *packages.split()], check=True)
        print(f"Python {PYTHON} and {' '.join(packages.split())}: {time.perf_counter() - start:.0f} s", flush=True)
        environment = os.environ | {
            "COLAB_RELEASE_TAG": "rehearsal",
            "OMP_NUM_THREADS": "1",  # they run side by side
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # the kernel warns about itself
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{ROOT}.insteadOf",
            "GIT_CONFIG_VALUE_0": project["urls"]["Repository"],
        }

        paths = [Path(path).resolve() for path in names or every(ROOT)]
        execute = [colab / "bin/python", "-m", "tests.rehearsals.execute", str(os.cpu_count() or 1), *paths]
        failed = subprocess.run(execute, cwd=ROOT, env=environment, check=False).returncode
    return "Not all notebooks run as on Colab." if failed else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run notebooks, or all of them, as Colab would.")
    parser.add_argument("--newest", action="store_true", help="with the newest versions of everything")
    parser.add_argument("names", nargs="*", metavar="NOTEBOOK")
    asked = parser.parse_args()
    sys.exit(main(*asked.names, packages=re.sub("==\\S+", "", COLAB) if asked.newest else COLAB))
