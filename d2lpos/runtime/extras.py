"""What the encodings do without, and the sentence that names it where another room needs it and it is missing.

The rooms import it where they use it. So one finder, which Python asks when no other has found a module, answers for all.
"""

import re
import sys
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, version

# The extras of pyproject.toml, by the names that code imports. `notebooks` holds all of `lab`, and so does `cluster`.
EXTRAS = {
    "lab": {"loky", "pandas", "scipy", "sklearn", "tqdm"},
    "notebooks": {"IPython", "ipywidgets", "matplotlib"},
    "cluster": {"distributed"},
}
# The oldest PyTorch with which all tests of the core pass: with 2.9 and 2.10, `torch.compile` breaks graphs and some vmaps fail.
# No requirement says it, because pip would exchange the PyTorch of a hosted notebook.
TORCH = "2.11"
WEIGHTS = ("gguf", "safetensors", "tokenizers")  # what reads the files of trained models


class PackageMissing(ModuleNotFoundError):
    """A package is not installed, or too old; the message says what to do. A notebook shows the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Missing(MetaPathFinder):
    """Tells a module of this package how to install what it imports; nobody else meets it."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raises PackageMissing, with the command in its sentence, where Python by itself raises ModuleNotFoundError."""
        extra = next((extra for extra, names in EXTRAS.items() if fullname in names), None)
        if extra or fullname in WEIGHTS:
            frame = sys._getframe(1)
            while (user := frame.f_globals.get("__name__", "")).startswith("importlib.") and frame.f_back:
                frame = frame.f_back
            if user.startswith("d2lpos."):
                extra = "notebooks" if extra == "lab" and not user.startswith("d2lpos.lab.") else extra
                packages = f"'d2lpos[{extra}]'" if extra else " ".join(WEIGHTS)
                sentence = f"{user} needs {fullname}; install it with: pip install {packages}"
                raise PackageMissing(sentence, name=fullname)


def need_torch() -> None:
    """Raises PackageMissing where PyTorch is older than `TORCH`; it is not imported for that."""
    with suppress(PackageNotFoundError):
        here = version("torch")
        if [int(part) for part in re.findall(r"\d+", here)[:2]] < [int(part) for part in TORCH.split(".")]:
            raise PackageMissing(
                f"d2lpos needs PyTorch {TORCH} or newer, and this is {here}: on Colab choose the latest version under "
                "Runtime, Change runtime type; elsewhere: pip install --upgrade torch",
                name="torch",
            )


sys.meta_path.append(Missing())
need_torch()
