"""Encodings that a reader registers, here and in other processes."""

import math
import sys
from dataclasses import replace
from functools import cached_property, partial
from textwrap import dedent
from types import MethodType

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from d2lpos import ALiBi, Encoding, RoPE
from d2lpos.figures import STYLE
from d2lpos.lab import STUDIES, Run, Store, encodings, execute, export, frame, register, sweep
from d2lpos.lab.__main__ import main
from d2lpos.lab.encodings import ENCODINGS, FAMILY, SQUARE, mark, unpack
from d2lpos.lab.fingerprint import fingerprint
from d2lpos.lab.models import EncodingWrapper
from d2lpos.lab.plot import describe, plot
from d2lpos.rotary import scaling
from d2lpos.transformer import attend, causal_mask
from tests.lab.results import result

TINY = Run("order", length=4, steps=2, batch_size=4, dim=16, layers=1, heads=2)


def bell(factor=1.0):
    """An encoding that other processes cannot import, whose code and whose factor count."""

    class Bell(Encoding):
        def score(self, q, k, q_positions, k_positions):
            return -factor * (q_positions[:, None] - k_positions).to(q).square()

    return lambda run: Bell()


@pytest.mark.parametrize("way", [{}, {"jobs": 2}, {"cluster": "local:2"}], ids=str)
def test_an_own_encoding_runs_wherever_runs_do(store, way):
    register("bell", bell(), family="alibi")
    runs = [replace(TINY, encoding=name, seed=seed) for seed in range(2) for name in ("bell", "alibi")]
    assert sweep(runs, store, **way) == {"finished": 4, "failed": 0}, store.errors()
    assert {record["key"] for record in store.records()} == {run.key for run in runs}
    (record,) = store.records([runs[0].key])
    assert record["metrics"] == execute(runs[0])["metrics"] != execute(runs[1])["metrics"]


SCRIPT = """
from d2lpos.lab import *
from d2lpos import Encoding
class Push(Encoding):
    def embed(self, x, positions):
        return x + {push} * positions.to(x)[:, None]
register("push", lambda run: Push())
if __name__ == "__main__":
    store = Store("lab.sqlite")
    runs = [Run("order", "push", s, length=4, steps=1, batch_size=4, dim=16, layers=1) for s in (0, 1)]
    print(len(store.records()), sweep(runs, store, jobs={jobs}), len(store.records()))
"""


def test_a_script_does_what_its_code_says_now(tmp_path, monkeypatch, python):
    """A second call does nothing again; a change of the code under the same name does all, and a comment nothing."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for jobs, push, comment in ((2, 1, ""), (1, 1, "# a comment"), (1, 2, "")):
        (tmp_path / "mine.py").write_text(SCRIPT.format(jobs=jobs, push=push) + comment)
        done = python("mine.py")
        lines += done.stdout.splitlines() or [done.stderr]
    both = "{'finished': 2, 'failed': 0}"
    assert lines == [f"0 {both} 2", f"2 {both} 2", f"2 {both} 4"]


def test_each_name_makes_its_class_and_lends_a_color_of_the_book():
    others = {"none": "encoding", "axial": "rope"}
    arguments = {
        "learned": {"length": 64, "dim": 16}, "mlp": {"length": 64}, "shaw": {"features": 8, "clip": 16}, "shaw wide": {"clip": 63},
        "t5": {"bidirectional": True, "buckets": 32, "max_distance": 128}, "t5 short": {"bidirectional": True, "max_distance": 64},
        "t5 near": {"bidirectional": True, "buckets": 8, "max_distance": 5}, "axial": {"dim": 8, "base": 100, "axes": 2},
    }
    for name, make in ENCODINGS.items():
        word = others.get(name, name.split()[0].replace("-", ""))
        encoding = make(replace(TINY, length=64))
        assert word in type(encoding).__name__.lower() and vars(encoding).items() >= arguments.get(name, {}).items(), name
    assert ENCODINGS["fire"](replace(TINY, length=64)).threshold == 16 and len(ENCODINGS["cope"](TINY).table) == TINY.length
    assert not any(ENCODINGS[name](replace(TINY, causal=True, length=64)).bidirectional for name in ("t5", "t5 short"))
    assert FAMILY.keys() == ENCODINGS.keys() and {*FAMILY.values()} <= STYLE.keys()


def test_a_wrapper_without_a_change_is_its_encoding():
    torch.manual_seed(0)
    x, here, there = torch.randn(2, 64, TINY.dim), torch.arange(1, 65), torch.arange(64)
    q, k, v = torch.randn(3, 2, TINY.heads, 64, TINY.dim // TINY.heads)
    for name in (name for name in ENCODINGS if name not in SQUARE):
        inner = ENCODINGS[name](replace(TINY, length=64))
        one, other = (
            attend(q, k, v, here, there, encoding, causal_mask(here, there), hidden_features=encoding.hidden_features(x))
            for encoding in (EncodingWrapper(inner), inner)
        )
        torch.testing.assert_close(one, other, msg=name)


def test_what_a_change_changes():
    keys = []
    for made, version in ((bell(), None), (bell(2.0), None), (bell(), 1), (bell(), 2), (bell(), "2")):
        register("bell", made, version=version)
        keys.append(Run("order", "bell").key)
    assert len(set(keys)) == 5
    register("bell", bell(), family="rope")
    assert Run("order", "bell").key == keys[0]
    run = Run("order", "bell")
    register("bell", bell(3.0))
    assert run.key not in keys, "a run of an earlier cell stands for the code of now"


def test_what_another_process_sends_is_known_unless_it_was_registered_here():
    register("bell", bell(), "alibi", version=1)
    sent = encodings.packed("bell")
    assert sent.code == mark("bell")[1] and encodings.packed("rope") is None is mark("rope")
    unpack("bell", replace(sent, code="another"))
    assert mark("bell") == [1, sent.code]
    encodings.OWN.clear()
    for own in sent, replace(sent, code="another"):
        unpack("bell", own)
        unpack("rope", None)
    assert mark("bell") == [1, "another"] and encodings.OWN == {"bell": own}


def changed(old, new, source):
    """The names that a source defines, before and after a change, as in a cell that runs again."""
    for text in (source, source.replace(old, new)):
        assert text != source or text is source
        names = {"__name__": "__main__", "torch": torch, "Encoding": Encoding}
        exec(dedent(text), names)  # noqa: S102, as a cell is
        yield fingerprint(names["make"])


@pytest.mark.parametrize(("old", "new", "source"), [
    ("2", "3", "make = lambda run: run.dim * 2"),
    ("+", "-", "make = lambda run: [size + 1 for size in (run.dim,)]"),
    ("2", "3", "WIDTH = 2\ndef make(run): return WIDTH"),
    ("2", "3", "def helper(x): return 2\ndef make(run): return helper(run)"),
    ("2", "3", "def make(run, width=2): return width"),
    ("2", "3", "def make(run, *, width=2): return width"),
    ("run, width", "run, *, width", "def make(run, width): return width"),
    ("'a'", "'b'", "def make(run): return run.dim in {'a', 'c', 'd'}"),
    ("2", "3", "class E(Encoding):\n  rate = 2\nmake = lambda run: E()"),
    ("n == 0", "n == 1", "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n and even(n - 1)\nmake = even"),
    ("2", "3", "class E(Encoding):\n  def embed(self, x, positions): return x * 2\nmake = E"),
    ("2", "3", "class A:\n  def f(self): return 2\nclass E(A, Encoding): pass\nmake = lambda run: E()"),
    ("2", "3", "class E:\n  @staticmethod\n  def f(): return 2\nmake = E"),
    ("2", "3", "from abc import ABC\nclass E(ABC):\n  def __call__(self, run): return 2\nmake = E"),
    ("2", "3", "class M:\n  def width(self): return 2\nm = M()\nmake = lambda run: m.width()"),
    ("2", "3", "class M:\n  def make(self, run): return self.x\nm = M()\nm.x = 2\nmake = m.make"),
    ("2", "3", "def outer():\n  def make(run): return later if run else 2\n  return make\n  later = 1\nmake = outer()"),
    ("torch.sin", "torch.cos", "make = lambda run: torch.sin"),
    ("linear", "ntk", "from d2lpos.rotary.scaling import linear\nmake = lambda run: linear"),
])
def test_every_change_of_the_code_is_seen(old, new, source):
    before, after = changed(old, new, source)
    assert before != after
    same, commented = changed("\n", "  # as before\n", source + "\n")
    assert same == commented == before


def test_what_has_no_code_has_the_same_hash_for_good():
    """A reader's store has runs under such hashes."""
    kind = type("Kind", (), {"__module__": "__main__", "__doc__": "not read", "rate": 2})
    one, descriptors = kind(), [property(abs), cached_property(abs), staticmethod(abs), classmethod(abs)]
    values = ["a", b"b", None, ..., (1.5, True), {3}, {"k": 4}, torch.tensor([5]), np.array([6.0]), torch.float16, math.pi, math]
    values += [partial(abs, 7, k=8), MethodType(abs, 9), kind, one, one, *descriptors, "".join, RoPE, scaling.linear]
    assert fingerprint(values) == "36a98ff643b64b0f"


def test_a_module_of_the_readers_own_is_read(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    prints = []
    for width in (2, 2, 3):
        (tmp_path / "reader_s_own.py").write_text(f"UNUSED = object()\ndef half(): return {width}\n")
        sys.modules.pop("reader_s_own", None)
        import reader_s_own

        names = {"__name__": "__main__", "reader_s_own": reader_s_own}
        exec("make = lambda run: reader_s_own.half()", names)  # noqa: S102
        prints.append(fingerprint(names["make"]))
    assert prints[0] == prints[1] != prints[2]


def test_what_no_hash_can_tell_needs_a_version():
    numbers = torch.Generator()
    with pytest.raises(
        ValueError, match="^a hash cannot tell when <torch.*Generator.* changes; give a version"
    ):
        register("drawn", lambda run: numbers)
    assert not encodings.OWN
    register("drawn", lambda run: numbers, version=1)


@pytest.mark.parametrize(("arguments", "error", "words"), [
    (("rope", bell()), ValueError, "name must not be one of none, .*, which the book has; got 'rope'"),
    (("bell", Encoding()), TypeError, r"make must be a function from a run to an encoding; got Encoding"),
    (("bell", 7), TypeError, "make must be a function from a run to an encoding; got 7"),
])
def test_bad_registrations(arguments, error, words):
    with pytest.raises(error, match=words):
        register(*arguments)
    assert not encodings.OWN
    register("seven", lambda run: 7)
    with pytest.raises(TypeError, match="make of 'seven' must return an Encoding; got 7"):
        encodings.new(TINY, "seven")


@pytest.mark.parametrize("length", [(8,), (8, 16)])
def test_figures_show_an_own_encoding_in_its_family_s_colors(length):
    register("wide", lambda run: ALiBi(run.heads), family="alibi")
    register("bell", bell())
    names = ("alibi", "wide", "bell", "rope")
    runs = [replace(TINY, encoding=name, length=8, tested=length, seed=s) for s in (0, 1) for name in names]
    table = frame(map(result, runs))
    figure = plot(table)
    drawn = {text.get_text() for ax in figure.axes for text in (*ax.texts, *ax.get_yticklabels())}
    assert {"wide", "bell", "ALiBi", "RoPE"} <= drawn
    if len(length) > 1:
        assert [ax.get_title("left") for ax in figure.axes] == [
            "At queries and keys", "At the scores", "bell",
        ]
        lines = {line.get_label(): line for ax in figure.axes for line in ax.lines}
        assert lines["wide"].get_color() == lines["ALiBi"].get_color() == STYLE["alibi"].color
        assert lines["wide"]._dash_pattern != lines["ALiBi"]._dash_pattern
        assert lines["bell"].get_color() not in {style.color for style in STYLE.values()}
    plt.close(figure)
    assert "bell" in describe(table)
    encodings.OWN.clear()  # as where records are read that another session made
    plt.close(plot(table))


FILE = """
from d2lpos import ALiBi
from d2lpos.lab import register
register("wide", lambda run: ALiBi(run.heads), "alibi")
if __name__ == "__main__":
    raise SystemExit("a script of its own, too")
"""


def test_a_study_runs_with_the_encodings_of_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    runs = STUDIES["order"].runs(range(1))
    published = Store("kept.sqlite")
    for run in runs:
        published.finish(result(run))
    export(published, tmp_path / "order.jsonl")
    call = ["order", "--seeds", "1", "--results", ".", "--encodings", "mine.py"]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert f"1 of {len(runs) + 1} runs to do: about 60 s on cpu" in out and "\nwide  " in out
    (own,) = [run for run in Store("lab.sqlite").states() if run not in published.states()]
    register("wide", lambda run: ALiBi(run.heads), "alibi")
    assert own == replace(runs[0], encoding="wide").key
    encodings.OWN.clear()
    assert main([*call, "--summary", "--plot", "order.svg"]) == 0
    assert "wide" in (tmp_path / "order.svg").read_text()


@pytest.mark.parametrize(("arguments", "words"), [
    (["--encodings", "mine.py"], "--encodings needs the name of a study, and goes without --publish"),
    (["order", "--publish", "--encodings", "mine.py"], "--encodings needs the name of a study, and goes"),
    (["order", "--encodings", "yours.py"], "there is no file yours.py"),
    (["order", "--encodings", "none.py"], "none.py registers no encoding: it must call d2lpos.lab.register"),
])
def test_bad_files_of_encodings(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "none.py").write_text("print")
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(words)
