
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d2lpos.lab import Store, export, records, run_probe
from d2lpos.lab.lines import read, write
from tests.lab.errands import errands, record
from tests.lab.test_probe import PUBLISHED, SMOKE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@pytest.fixture
def runs(tmp_path):
    return errands(12, tmp_path)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=JSON, two=JSON)
def test_an_export_read_back_is_the_same(tmp_path_factory, runs, one, two):
    folder = tmp_path_factory.mktemp("export")
    made = [record(runs[0], found=one), record(runs[1], found=two)]
    store = Store(folder / "lab.sqlite")
    for each in reversed(made):
        store.finish(each)
    assert export(store, folder / "one.jsonl") == 2
    assert read(folder / "one.jsonl") == made
    again = Store(folder / "again.sqlite")
    for each in read(folder / "one.jsonl"):
        again.finish(each)
    assert again.records() == store.records()
    export(again, folder / "two.jsonl")
    assert (folder / "two.jsonl").read_bytes() == (folder / "one.jsonl").read_bytes()


def test_given_runs_alone(tmp_path, runs):
    store = Store(tmp_path / "lab.sqlite")
    for run in runs:
        store.finish(record(run))
    with store.driver() as owner:
        store.claim({"unfinished": runs[0]}, owner)
        assert export(store, tmp_path / "all.jsonl") == 12
        assert export(store, tmp_path / "two.jsonl", runs[4:6]) == 2
    assert read(tmp_path / "two.jsonl") == [record(run) for run in runs[4:6]]


def test_an_export_that_fails_leaves_the_file(tmp_path, runs, monkeypatch):
    store = Store(tmp_path / "lab.sqlite")
    export(store, tmp_path / "all.jsonl")
    store.finish(record(runs[0]))
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr("pathlib.Path.write_text", full)
        export(store, tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_text() == ""
    assert {file.name for file in tmp_path.iterdir()} == {"lab.sqlite", "all.jsonl"}


def test_lines_are_sorted_by_run_and_then_by_key(tmp_path):
    write([{"run": run, "key": key} for run, key in ((2, "a"), (1, "c"), (1, "b"))], tmp_path / "some.jsonl")
    assert (tmp_path / "some.jsonl").read_text() == '{"key": "b", "run": 1}\n{"key": "c", "run": 1}\n{"key": "a", "run": 2}\n'


def full(path, *_, **__):
    path.write_bytes(b'{"half": ')
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("study", [study for study in PUBLISHED if study in SMOKE])
def test_a_small_model_has_some_of_the_published_cases_in_their_order(study):
    rows = {record["run"]["part"]: record["rows"] for record in reversed(records(study))}
    for probe in SMOKE[study]:
        ours, theirs = (dict.fromkeys(row.get("case") for row in some) for some in (run_probe(probe)["rows"], rows.get(probe.part, [])))
        assert [case for case in ours if case in theirs] == [case for case in theirs if case in ours]
