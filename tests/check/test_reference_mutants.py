"""Every reference answer, changed a little, is refused, or is listed in `equivalents/` with the reason why not.

The lists are one file a module of checks: the name of the check, the mutant as this test prints it, the reason.
"""

from importlib import import_module
from pathlib import Path

import pytest
import yaml

from d2lpos.check.verdict import Check
from tests.check.mutants import survivors
from tests.check.test_wrong_answers import CHAPTERS, name

MODULES = {chapter: import_module(f"d2lpos.check.{chapter}") for chapter in CHAPTERS}
FOUND = [
    (module, check)
    for module in MODULES.values()
    for check in vars(module).values()
    if isinstance(check, Check)
]


def excused(module):
    path = Path(__file__).parent / "equivalents" / f"{module.__name__.rpartition('.')[2]}.yml"
    return yaml.safe_load(path.read_text("utf-8")) or {} if path.exists() else {}


@pytest.mark.parametrize(("module", "check"), FOUND, ids=name)
def test_every_mutant_is_refused_or_explained(module, check):
    found = set(survivors(check, module))
    known = set(excused(module).get(check.name, {}))
    assert not found - known, "add a case that refuses these, or say why each is as good as the reference"
    assert not known - found, "these are refused, or are no mutants any more: take them off the list"


@pytest.mark.parametrize("module", MODULES.values(), ids=name)
def test_the_lists_name_checks_and_reasons(module):
    checks = {check.name for found, check in FOUND if found is module}
    assert set(excused(module)) <= checks
    assert all(reason for listed in excused(module).values() for reason in listed.values())
