import pytest
from d2lpos_ext.api import load

from tests.api.names import ROOT


@pytest.fixture(scope="session")
def package():
    """The source of the package, as the pages read it."""
    return load(ROOT)
