"""Run every notebook as Colab would: python tests/rehearsals/colab.py [NOTEBOOK ...]

An environment is made with Colab's versions and without d2lpos. The first cell of a notebook installs it from
the book's address, where git answers with the last commit of this repository. No cell may fail. Outputs are not
compared: other versions print and draw a little differently.

What one notebook has installed, others find: all install by the same line, which the linter sees to. After that they run
side by side.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import every

# Colab's own list of 19 August 2026. Python is 3.13 there, and here whichever runs this file; PyTorch is 2.11 there,
# and here the one in constraints.txt, because a machine without a GPU may have a small build of that one only.
COLAB = """
    ipykernel==6.17.1 ipython==7.34.0 ipywidgets==7.7.1 jupyter_client==7.4.9 matplotlib==3.10.0 nbclient==0.10.4
    notebook==6.5.7 numpy==2.1.3 pandas==2.2.3 pip==24.1.2 scikit-learn==1.6.1 scipy==1.16.3 tornado==6.5.7
    tqdm==4.67.3 traitlets==5.7.1
"""


def main(*names: str) -> str | None:
    """Return a sentence when a notebook fails."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [torch] = [
        line for line in (ROOT / "constraints.txt").read_text("utf-8").split() if line.startswith("torch==")
    ]
    with tempfile.TemporaryDirectory() as folder:
        colab = Path(folder, "colab")
        venv.create(colab, with_pip=True)
        pip = [colab / "bin/python", "-m", "pip", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", *COLAB.split(), torch], check=True)
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
    sys.exit(main(*sys.argv[1:]))
