"""What the README promises: its commands are the ones that CI rehearses, and every chapter opens in Colab."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_ci_rehearses_the_commands():
    block = README.split("```")[1]
    commands = re.findall(r"^make \w+", block, re.MULTILINE)
    assert len(commands) == 2
    rehearsed = re.findall(r"'(.+?)'", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert [command for command in rehearsed if command in commands] == commands


def test_the_time_of_the_tests_is_the_one_measured_last():
    """`tests/times.txt` has the last line of a `make test` on a quiet machine."""
    measured = re.findall(r"[\d.]+ s\b", (ROOT / "tests" / "times.txt").read_text("utf-8"))
    claim = README.partition("`make test` took ")[2].partition("`python3 -m tests.speed`")[0]
    assert re.findall(r"[\d.]+ s\b", claim) == measured
    assert float(measured[0].split()[0]) <= 300


def test_every_chapter_opens_in_colab():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    repo = project["urls"]["Repository"].removeprefix("https://github.com/")
    base = re.escape(f"https://colab.research.google.com/github/{repo}/blob/main/chapters/")
    opened = re.findall(rf"\]\({base}(\S+)\)", README)
    assert opened == sorted(path.name for path in ROOT.glob("chapters/*.ipynb"))
