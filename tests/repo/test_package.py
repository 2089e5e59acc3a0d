"""Who installs the package gets all of it, and the folder that it is built from stays as it was."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LARGEST = 4_500_000  # bytes of the wheel, most of them records and two novels
# Where the wheel has what the book publishes. Pictures stay away, and so do tables that repeat a record.
DATA = {"book/benchmarks/": ["*.csv"], "book/models/": ["*.csv"], "book/results/": ["extrapolation-test.csv", "*.js", "*.json", "*.jsonl"]}
README = (ROOT / "d2lpos" / "runtime" / "README.md").read_text("utf-8")


def tracked() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    return [name for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0") if (ROOT / name).is_file()]


def packed(name: str) -> str | None:
    """Where the wheel has a file of the repository, or None."""
    if name.startswith("d2lpos/"):
        return name
    folder = name[: name.rfind("/") + 1]
    if any(fnmatch.fnmatch(name.removeprefix(folder), pattern) for pattern in DATA.get(folder, ())):
        return name.replace("book/", "d2lpos/", 1)
    return None


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """What a clone has of the package, with a file that git ignores."""
    folder = tmp_path_factory.mktemp("package") / "clone"
    for name in tracked():
        if packed(name) or "/" not in name or name.startswith("book/results/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "d2lpos" / "lab.sqlite").touch()
    return folder


def contents(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def build(what: str, clone: Path, folder: Path) -> Path:
    """The one file that the backend makes from the clone, as pip and `python -m build` ask for it."""
    folder.mkdir(exist_ok=True)
    code = f"import hatchling.build as backend, sys; backend.{what}(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, folder], cwd=clone, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(clone) -> Path:
    """As `pip install` from a clone builds it."""
    folder, before = clone.parent / "wheels", contents(clone)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, clone]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
    assert contents(clone) == before, "a build leaves something behind"
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(files.read(name))


def test_the_wheel_has_all_code_and_records_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as files:
        inside = {name for name in files.namelist() if ".dist-info/" not in name}
    assert inside == {place for name in tracked() if (place := packed(name))}
    assert {"d2lpos/py.typed", "d2lpos/results/order.jsonl", "d2lpos/lab/data/persuasion.txt"} <= inside


def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size < LARGEST


def test_an_archive_of_the_source_builds_the_same_wheel(clone, wheel, tmp_path):
    before = contents(clone)
    with tarfile.open(build("build_sdist", clone, tmp_path / "sdist")) as files:
        files.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    with zipfile.ZipFile(wheel) as files, zipfile.ZipFile(build("build_wheel", source, tmp_path / "again")) as others:
        assert set(others.namelist()) == set(files.namelist())
    assert contents(clone) == before


def test_who_works_on_the_package_runs_the_files_of_the_clone(clone, tmp_path):
    before = contents(clone)
    with zipfile.ZipFile(build("build_editable", clone, tmp_path / "editable")) as files:
        (path,) = (name for name in files.namelist() if name.endswith(".pth"))
        assert Path(files.read(path).decode().strip()).resolve() == clone.resolve()
    assert contents(clone) == before


def test_what_is_installed_reads_its_records_without_the_book(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "site")
    code = """
from d2lpos.lab import speeds
from d2lpos.lab.record import records
from d2lpos.pretrained.census import families
import d2lpos
print(d2lpos.__file__, len(records("order")) > 0, len(families()) > 0, len(speeds("alibi")) > 0)
"""
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    file = tmp_path / "site" / "d2lpos" / "__init__.py"
    assert done.stdout == f"{file} True True True\n", done.stderr


def test_encodings_ask_for_torch_and_numpy_alone(metadata):
    lines = map(Requirement, metadata.get_all("Requires-Dist"))
    assert {requirement.name for requirement in lines if not requirement.marker} == {"numpy", "torch"}
    assert set(metadata.get_all("Provides-Extra")) == {"cluster", "lab", "notebooks"}


def test_the_description_stands_by_itself(metadata):
    """On PyPI a link or a picture with a relative address leads nowhere."""
    assert metadata.get_payload(decode=True).decode("utf-8").strip() == README.strip()
    links = re.findall(r"\]\(([^)]*)\)|(?:src|srcset|href)=\"([^\"]*)", README)
    assert len(links) > 1 and {address for pair in links for address in pair if address and "://" not in address} == set()


def test_the_description_names_every_extra():
    assert set(re.findall(r"`d2lpos\[(\w+)\]`", README)) == set(PROJECT["optional-dependencies"])
    assert f"git+{PROJECT['urls']['Repository']}\"" in README


def test_the_example_of_the_description_runs():
    names = {}
    exec(README.split("```python\n")[1].split("```")[0], names)  # noqa: S102 (our own)
    assert names["y"].shape == (1, 10, 512)
