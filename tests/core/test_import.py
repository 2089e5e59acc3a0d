import json

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


@pytest.fixture
def brought(python):
    """The modules that an import brings along, beyond torch's own."""
    return lambda module: set(json.loads(python("-c", SCRIPT.format(module=module)).stdout))


def test_the_package_is_light(brought):
    modules = brought("d2lpos")
    assert not modules & (PLOTS | TABLES | {"d2lpos.check", "d2lpos.figures", "d2lpos.lab", "d2lpos.pretrained"})
    assert len(modules) < 60


@pytest.mark.parametrize("module", ["d2lpos.lab", "d2lpos.check", "d2lpos.lab.sweep", "d2lpos.lab.summary"])
def test_others_bring_what_they_need_when_they_need_it(module, brought):
    assert not brought(module) & (PLOTS | TABLES)
