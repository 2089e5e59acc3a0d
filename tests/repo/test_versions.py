"""constraints.txt pins everything that gets installed, and no other file pins anything."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OTHERS = "tests/rehearsals/programs.txt"  # what the book runs beside its own environment
PIN = re.compile(r"[a-z0-9][a-z0-9-]*==[0-9][0-9a-z.]*")


def read_pins(lines: list[str]) -> dict[str, str]:
    """Name to version; a line that is no exact pin fails."""
    pins = {}
    for line in lines:
        pin, _, _ = line.partition(" ; ")
        assert PIN.fullmatch(pin), f"{line!r} is no exact pin"
        name, _, version = pin.partition("==")
        assert name not in pins, f"{name} stands twice"
        pins[name] = version
    return pins


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return read_pins([line for line in lines if not line.startswith("#")])


def requirements() -> list[Requirement]:
    """What pyproject.toml asks for by name."""
    groups = resolve_dependency_groups(PROJECT["dependency-groups"], *PROJECT["dependency-groups"])
    extras = chain.from_iterable(PROJECT["project"]["optional-dependencies"].values())
    lines = map(Requirement, [*PROJECT["project"]["dependencies"], *extras, *groups])
    return [requirement for requirement in lines if requirement.name != PROJECT["project"]["name"]]


def installed() -> dict[str, str]:
    """Name to version of all that the requirements bring along here, themselves included."""
    versions, done = {}, set()
    waiting = [(requirement, "") for requirement in requirements()]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in done:
                continue
            done.add((name, extra))
            try:
                package = distribution(name)
            except PackageNotFoundError:  # a group that this environment does without
                continue
            versions[name] = Version(package.version).public
            waiting += [(Requirement(line), extra) for line in package.requires or []]
    return versions


pinned = pytest.mark.skipif(
    os.environ.get("CONSTRAINTS") == os.devnull, reason="this run takes the newest versions"
)


@pinned
def test_what_is_installed_is_what_is_pinned():
    pins = constraints()
    # PyTorch's Linux wheels choose their CUDA libraries themselves.
    of_cuda = lambda name: name.startswith(("cuda-", "nvidia-")) or name == "triton"
    here = {name: version for name, version in installed().items() if not of_cuda(name)}
    assert here == {name: pins.get(name) for name in here}


@pinned
def test_every_package_runs_on_the_oldest_python():
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=") + ".0"
    needs = {name: distribution(name).metadata.get("Requires-Python", "") for name in installed()}
    assert {name: need for name, need in needs.items() if oldest not in SpecifierSet(need)} == {}


def test_the_groups_that_run_the_tests_are_installed():
    names = resolve_dependency_groups(PROJECT["dependency-groups"], "test")
    assert {canonicalize_name(Requirement(name).name) for name in names} <= installed().keys()


def test_hashes_are_of_the_pinned_versions():
    lines = (ROOT / "hashes.txt").read_text(encoding="utf-8").splitlines()
    hashed = read_pins([line.removesuffix(" \\") for line in lines if not line.startswith(("#", " "))])
    # PyTorch has several builds of one version, and the machine chooses among them.
    pinned = {name: version for name, version in constraints().items() if name != "torch"}
    assert hashed == pinned, "run the command at the top of hashes.txt"


def test_conda_installs_the_same_versions():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    lines = conda["dependencies"][-1]["pip"]
    assert lines[:2] == ["--constraint constraints.txt", "--editable .[notebooks]"]
    pins = constraints()
    names = [canonicalize_name(requirement.name) for requirement in requirements()]
    assert read_pins(lines[2:]) == {name: pins[name] for name in names}


def test_no_other_file_pins():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    suffixes = {"", ".toml", ".yml", ".md", ".ipynb", ".cfg", ".in", ".txt"}
    files = {ROOT / name for name in names.splitlines() if Path(name).suffix in suffixes}
    pinning = [
        str(path.relative_to(ROOT))
        for path in files - {ROOT / name for name in ("constraints.txt", "environment.yml", "hashes.txt", OTHERS)}
        if path.is_file() and re.search(r"[A-Za-z][\w.-]*(\[\w+\])?==\d", path.read_text(encoding="utf-8"))
    ]
    assert pinning == []


def test_pip_finds_no_conflict():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
