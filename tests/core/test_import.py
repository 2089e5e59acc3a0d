import json
import subprocess
import sys

import pytest

PLOTS = {"matplotlib", "ipywidgets", "IPython"}
TABLES = {"pandas", "scipy", "sklearn", "loky", "distributed"}
SCRIPT = """
import json, sys
import torch
before = set(sys.modules)
import {module}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def brought(module):
    """The modules that an import brings along, beyond torch's own."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(module=module)], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout))


def test_the_package_is_light():
    modules = brought("d2lpos")
    assert not modules & (PLOTS | TABLES | {"d2lpos.check", "d2lpos.figures", "d2lpos.lab"})
    assert len(modules) < 30


@pytest.mark.parametrize("module", ["d2lpos.lab", "d2lpos.check", "d2lpos.lab.sweep", "d2lpos.lab.summary"])
def test_others_bring_what_they_need_when_they_need_it(module):
    assert not brought(module) & (PLOTS | TABLES)
