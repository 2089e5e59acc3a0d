"""What the page makes of a docstring: a tiny package, which cannot be imported."""

import sys

import pytest
from d2lpos_ext.api import expand, listed

PACKAGE = '''"""The package."""
from .turn import Turn
__all__ = ["Turn"]
'''
TURN = '''"""Turns.

Su et al. 2021, section 3.2 (arXiv 2104.09864); Chi and Fan 2022 (arXiv 2205.09921).
"""
import torch_that_is_not_there
__all__ = ["Turn", "turn", "TURNS"]

TURNS = 2
"""How many.

>>> TURNS
2
"""

def turn(x: Tensor, layout: str = "half") -> Tensor:
    """Turn x by `bias.slope`, as `Turn` and `helper` do; raises nothing else. Raises ValueError
    as `slope` does.

    >>> turn(1)
    1
    """

class Turn(Encoding):
    """Turns.

    >>> Turn().doors
    2
    """

    def embed(self, x: Tensor) -> Tensor:
        """Turn x."""

    @property
    def doors(self) -> int:
        """How many."""

    def forward(self): ...

def helper():
    """Help."""
'''
BIAS = '''"""Biases."""
__all__ = ["slope"]
def slope() -> float:
    """A slope.

    >>> torch.tensor(slope())
    tensor(1.)
    """
'''
# What the page has of it, in this order.
PARTS = (
    "{py:obj}`TURNS <d2lpos.turn.TURNS>`\n- {py:mod}`d2lpos.bias`: {py:obj}`slope <d2lpos.bias.slope>`\n",
    "## `d2lpos.turn`\n\n```{py:module} d2lpos.turn\n```\n\nTurns.\n",
    "[Su et al. (2021)](https://arxiv.org/abs/2104.09864), section 3.2; [Chi and Fan (2022)](https://arxiv.org/abs/2205.09921).",
    "```python\nfrom d2lpos import Turn\nfrom d2lpos.turn import turn, TURNS\n```",
    "`````{py:class} Turn\n:no-contents-entry:\n",
    "```pycon\n>>> Turn().doors\n2\n```\n\n````{py:method} embed(x: Tensor) -> Tensor\n",
    "````{py:property} doors\n:type: int\n",
    "`````{py:function} turn(x: Tensor, layout: str = 'half') -> Tensor\n",
    "{py:obj}`bias.slope <d2lpos.bias.slope>`, as {py:obj}`Turn <d2lpos.turn.Turn>` and `helper` do; raises nothing else.\n",
    "\n{.errors}\nRaises ValueError\nas {py:obj}`slope <d2lpos.bias.slope>` does.\n",
    "`````{py:data} TURNS\n",
    "```python\nimport torch\nfrom d2lpos.bias import slope\n```\n\n`````{py:function} slope() -> float\n",
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "d2lpos", None)
    (tmp_path / "d2lpos").mkdir()
    for name, source in (("__init__", PACKAGE), ("turn", TURN), ("bias", BIAS)):
        (tmp_path / "d2lpos" / f"{name}.py").write_text(source, "utf-8")
    return tmp_path


def test_page(root):
    page = expand("Before.\n\n```{api}\nturn bias\n```\n\nAfter.\n", root)
    places = [page.index(part) for part in ("Before.\n\n", *PARTS, "\n\nAfter.\n")]
    assert places == sorted(places)
    assert "forward" not in page and "} helper" not in page


def test_a_new_module_of_a_room_is_on_the_page(tmp_path):
    (tmp_path / "d2lpos" / "bias").mkdir(parents=True)
    for name in ("__init__", "wave", "base", "t5"):
        (tmp_path / "d2lpos" / "bias" / f"{name}.py").touch()
    assert listed("encoding\nbias.t5 bias.*", tmp_path) == ["encoding", "bias.t5", "bias.base", "bias.wave"]


def test_long_imports_fit_a_phone(root):
    (root / "d2lpos" / "bias.py").write_text(
        '"""Many."""\n__all__ = ["alpha", "beta", "gamma", "delta"]\n'
        + "".join(
            f'def {name}():\n    """A.\n\n    >>> 1\n    1\n    """\n'
            for name in ("alpha", "beta", "gamma", "delta")
        ),
        "utf-8",
    )
    page = expand("```{api}\nbias\n```", root)
    assert "from d2lpos.bias import (\n    alpha, beta, gamma, delta,\n)\n```" in page


def test_page_without_block_stays(tmp_path):
    assert expand("A `{api}` of words.", tmp_path) == "A `{api}` of words."
