"""A table of results says in words what its numbers are."""

import pandas as pd

from d2lpos.figures import table


def test_a_named_index_becomes_the_first_column_and_another_is_left_out():
    frame = pd.DataFrame({"64": [1.5], "seeds": [5]}, index=pd.Index(["RoPE"], name="encoding"))
    bundle = table(frame, digits=1)._repr_mimebundle_()
    assert bundle["text/plain"].split() == ["encoding", "64", "seeds", "RoPE", "1.5", "5"]
    assert bundle["text/html"].startswith('<table class="dataframe results">')
    plain = table(frame.reset_index(drop=True))._repr_mimebundle_()["text/plain"]
    assert plain.split() == ["64", "seeds", "1.50", "5"]


def test_pivoted_columns_have_one_head():
    long = pd.DataFrame({"encoding": ["none", "none"], "length": [64, 512], "loss": [1.9, 2.6]})
    bundle = table(long.pivot(index="encoding", columns="length", values="loss"), 1)._repr_mimebundle_()
    assert bundle["text/plain"].split() == ["encoding", "64", "512", "none", "1.9", "2.6"]


def test_missing_values_and_signs():
    bundle = table(pd.DataFrame({"a": [-0.25, float("nan")], "b": ["<", "x"]}))._repr_mimebundle_()
    assert bundle["text/plain"].split() == ["a", "b", "−0.25", "<", "–", "x"]
    assert "<td>&lt;</td>" in bundle["text/html"]
