"""The command line, as a reader uses it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import torch

from d2lpos.lab import STUDIES, Run, Store, export, records
from d2lpos.lab.__main__ import EVERY, main
from d2lpos.lab.lines import line, read
from d2lpos.lab.publish import publish
from d2lpos.lab.report import pages
from d2lpos.runtime.published import RESULTS
from tests.lab.results import result

BOTH = len(STUDIES["order"].runs(range(2)))
COMMAND = [sys.executable, "-m", "d2lpos.lab"]


@pytest.fixture
def store(tmp_path):
    """Every run of the order task with two seeds, but the last."""
    store = Store(tmp_path / "some.sqlite")
    for run in STUDIES["order"].runs(range(2))[:-1]:
        store.finish(result(run))
    return store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_has_every_study_with_its_cost(folder, store, capsys):
    export(store, folder / "order.jsonl")
    assert main(["--seeds", "2", "--results", str(folder)]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == 2 * len(EVERY)
    assert listed[:4] == [
        "order: Which encodings let a small model say whether A came before B?",
        f"    {BOTH} runs with 2 seeds, about {BOTH} min on cpu; {BOTH - 1} published",
        f"extrapolation: {STUDIES['extrapolation'].question}",
        f"    {2 * len(STUDIES['extrapolation'].full)} runs with 2 seeds, not measured yet; 0 published",
    ]


def test_the_second_call_runs_nothing(folder, capsys):
    again = ["order", "--smoke", "--store", "mine.sqlite"]
    assert main(again) == 0
    first, before = capsys.readouterr().out, Store("mine.sqlite").records()
    assert main(again) == 0
    second, after = capsys.readouterr().out, Store("mine.sqlite").records()
    assert "1 of 1 runs to do: seconds\n" in first and "0 of 1 runs to do\n" in second
    assert before == after and first.splitlines()[2:] == second.splitlines()[2:]


def finish(store, seeds):
    for run in STUDIES["order"].runs(seeds):
        store.finish(result(run))


PUBLISH = ["order", "--publish", "--results", "out", "--store"]


def test_what_is_published_stays_and_what_is_new_joins_it(folder, store, capsys):
    (folder / "out").mkdir()
    finish(store, range(2))
    assert main([*PUBLISH, "some.sqlite", "--seeds", "2"]) == 0
    assert f"{BOTH} runs are published in out\n" in capsys.readouterr().out
    before = records("order", folder / "out")
    assert sorted(before, key=lambda record: record["key"]) == store.records()
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "order-about.csv", "order-test.csv", "order.jsonl", "order.svg",
    ]
    later = Store("later.sqlite")
    again, new = (result(run) | {"seconds": 1.0} for run in STUDIES["order"].runs((0, 2))[:: BOTH // 2])
    for record in (again, new):
        later.finish(record)
    assert publish("order", later, map(as_run, (again, new)), folder / "out") == BOTH + 1
    after = records("order", folder / "out")
    assert [record for record in after if record not in before] == [again, new]
    assert {record["key"] for record in after} == {record["key"] for record in [*before, new]}


def as_run(record):
    return Run.from_fields(record["run"])


def test_records_of_runs_that_the_study_no_longer_has_are_no_reason_to_lose_them(folder, store, capsys):
    (folder / "out").mkdir()
    old = line(result(Run("order", length=4))) + "\n"
    (folder / "out" / "order.jsonl").write_text(old)
    finish(store, range(2))
    assert main([*PUBLISH, "some.sqlite", "--seeds", "2"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"out/order.jsonl has records of runs that are not in the study, as {Run('order', length=4).key}; "
        "take them out first"
    )
    assert (folder / "out" / "order.jsonl").read_text() == old


def test_a_study_with_a_failed_run_is_not_published(folder, store, monkeypatch, capsys):
    (folder / "out").mkdir()
    monkeypatch.setattr("d2lpos.lab.experiment.execute", fail)
    assert main([*PUBLISH, "some.sqlite", "--seeds", "2"]) == 1
    assert main([*PUBLISH, "some.sqlite", "--seeds", "2", "--summary"]) == 1
    assert capsys.readouterr().err.count(f"Nothing is published: 1 of {BOTH} runs are not finished\n") == 2
    assert list((folder / "out").iterdir()) == []


def fail(run, device):
    raise RuntimeError("no more sheep to count")


def test_summary_and_plot_run_nothing(folder, store, capsys):
    for file in ("order.png", "order.svg"):
        assert main(["order", "--seeds", "2", "--store", "some.sqlite", "--summary", "--plot", file]) == 0
    output = capsys.readouterr()
    assert f"{BOTH - 1} of {BOTH} runs are finished, on cpu\n\nAccuracy, test: mean over" in output.out
    assert ", with its 95 % interval\n" in output.out and "ALiBi, causal" in output.out
    assert not output.err and len(store.records()) == BOTH - 1
    assert ET.parse("order.svg").getroot().get("aria-label").startswith("Accuracy at length 8. The means")
    assert (folder / "order.png").read_bytes()[1:4] == b"PNG"
    (folder / "order.svg").unlink()
    assert main(["order", "--seeds", "1", "--summary", "--results", "."]) == 2
    assert capsys.readouterr().err == "no run of order is finished yet\n"
    assert not (folder / "lab.sqlite").exists()


# Without this, root may write where nobody may.
PLAIN = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]


@pytest.mark.skipif(os.name != "posix" or not shutil.which("setpriv"), reason="no setpriv")
def test_a_look_into_a_folder_that_cannot_be_written(folder, store):
    """Records that lie on a read-only medium, or belong to somebody else, in a store of any name."""
    (folder / "order.jsonl").touch()
    (folder / "some.sqlite").rename(folder / "lab.sqlite")
    folder.chmod(0o500)
    run = [*PLAIN * (os.geteuid() == 0), *COMMAND, "order", "--seeds", "2"]
    look = [*run, "--summary", "--results", "."]
    try:
        *looks, tried = (
            subprocess.run(call, capture_output=True, text=True, check=False)
            for call in (look, [*look, "--store", "lab.sqlite"], run)
        )
    finally:
        folder.chmod(0o700)
    for done in looks:
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{BOTH - 1} of {BOTH} runs are finished, on cpu" in done.stdout
    assert (tried.returncode, "readonly" in tried.stderr) == (2, True), "the folder was not what the test needs"


def test_a_look_writes_nothing(folder, store, capsys):
    (folder / "some.sqlite").rename(folder / "lab.sqlite")
    before = (folder / "lab.sqlite").read_bytes()
    export(store := Store("lab.sqlite", look=True), folder / "order.jsonl")
    assert main(["order", "--seeds", "3", "--summary", "--results", "."]) == 0
    assert f"{BOTH - 1} of {BOTH // 2 * 3} runs are finished" in capsys.readouterr().out
    with pytest.raises(OSError, match="readonly"):
        store.retry(["0"])
    assert (folder / "lab.sqlite").read_bytes() == before


def test_a_look_counts_what_is_published_beside_the_store(folder, capsys):
    runs = STUDIES["order"].runs(range(1))
    for runs_of, name in ((runs[:5], "lab.sqlite"), (runs[3:9], "other.sqlite")):
        store = Store(name)
        for run in runs_of:
            store.finish(result(run))
    export(store, folder / "order.jsonl")
    assert main(["order", "--seeds", "1", "--summary", "--results", "."]) == 0
    assert "9 of 18 runs are finished" in capsys.readouterr().out
    assert main(["order", "--seeds", "1", "--summary", "--store", "lab.sqlite", "--results", "."]) == 0
    assert "5 of 18 runs are finished" in capsys.readouterr().out


def without(name):
    return lambda record: record.pop(name)


SPOILED = {
    "no machine": (without("machine"), "is no record: machine is missing"),
    "a poor machine": (lambda r: r.update(machine={}), "is no record: machine cannot be read: {}"),
    "a row without loss": (lambda r: r["metrics"][0].pop("loss"), "is no record: metrics cannot be read: [{"),
    "nan": (lambda r: r.update(seconds=float("nan")), "is no record: JSON has no NaN"),
    "another key": (lambda r: r.update(key="0" * 16), "is no record: the key of its run is "),
    "no such run": (
        lambda r: r["run"].update(encoding="bell"),
        "is no record: run cannot be read: encoding must",
    ),
    "words": (lambda r: r.update(run="order"), "is no record: run cannot be read: order"),
}


@pytest.mark.parametrize(
    ("spoil", "call"), [*((spoil, ["--summary"]) for spoil in SPOILED), ("words", ["--publish"]), ("words", [])]
)
def test_a_spoiled_record_is_told_with_its_file_and_line(folder, capsys, spoil, call):
    runs = STUDIES["order"].runs(range(1))
    pair = [result(run) for run in runs[:2]]
    change, words = SPOILED[spoil]
    change(pair[1])
    (folder / "order.jsonl").write_text("".join(json.dumps(record) + "\n" for record in pair))
    assert main(["order", "--seeds", "1", "--results", ".", *call]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1 and errors[0].startswith(f"order.jsonl, line 2, {words}")


def test_two_records_of_a_key_and_bytes_that_are_no_text(folder, capsys):
    again = [json.dumps(result(STUDIES["order"].full[0]) | {"seconds": s}).encode() for s in (1.0, 2.0)]
    for lines, words in (
        (again, f"line 2, has the key {STUDIES['order'].full[0].key} of line 1"),
        ([again[0], b"\xff"], "line 2, is no record: UnicodeDecodeError('utf-8', b'\\xff', 0, 1, "),
        ([again[0], b"", again[1]], "line 2, is no record: JSONDecodeError("),
        ([b"[]"], "line 1, is no record: TypeError("),
    ):
        (folder / "order.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        assert main(["order", "--summary", "--results", "."]) == 2
        assert capsys.readouterr().err.startswith(f"order.jsonl, {words}")


def test_a_failed_run_is_told_and_done_again_on_request(monkeypatch, capsys):
    call = ["order", "--smoke", "--store", "mine.sqlite"]
    with monkeypatch.context() as patch:
        patch.setattr("d2lpos.lab.experiment.execute", fail)
        assert main(call) == 1
    assert capsys.readouterr().err.endswith(
        "rope, seed 0, failed (try --retry): RuntimeError: no more sheep to count\n"
    )
    assert main(call) == 1
    assert main([*call, "--retry"]) == 0


BAD = {
    ("nothing",): f"study must be one of {', '.join(EVERY)}; got 'nothing'",
    ("order", "--jobs", "0"): "jobs must be positive; got 0",
    ("order", "--seeds", "-1"): "seeds must be positive; got -1",
    ("order", "--seeds", "9" * 20): f"seeds must be at most 10000; got {'9' * 20}",
    ("order", "--jobs", "2", "--cluster", "local:2"): "argument --cluster: not allowed with argument --jobs",
    ("order", "--jobs", "1", "--cluster", "local:2"): "argument --cluster: not allowed with argument --jobs",
    ("--summary",): "--summary, --plot and --publish need the name of a study",
    ("order", "--smoke", "--publish"): "argument --publish: not allowed with argument --smoke",
    ("order", "--smoke", "--cluster", "here"):
        'cluster must be like "local:4", "tcp://host:port" or "tls://host:port"; got \'here\'',
    ("order", "--plot", "order.pdf"): "--plot must name a file that ends in .svg or .png; got order.pdf",
    ("order", "--summary", "--store", "none.sqlite"): "there is no store none.sqlite",
    ("real-layout", "--compile"): "--encodings, --compile and --plot go with studies that train",
    ("order", "--store", "torn.sqlite"):
        "torn.sqlite is damaged, or no store of runs: database disk image is malformed",
    ("order", "--store", "no/folder.sqlite"):
        "the store no/folder.sqlite cannot be read or written: unable to open database file",
    ("order", "--results", "resluts"): "there is no folder resluts",
    ("order", "--publish", "--results", "words.txt"): "there is no folder words.txt",
    ("order", "--summary", "--results", "bad"): "bad/order.jsonl, line 1, is no record: KeyError('key')",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_arguments_get_one_sentence(folder, capsys, arguments):
    (folder / "words.txt").touch()
    (folder / "bad").mkdir()
    (folder / "bad" / "order.jsonl").write_text("{}\n")
    Store("torn.sqlite")
    whole = (folder / "torn.sqlite").read_bytes()
    (folder / "torn.sqlite").write_bytes(whole[:4096] + b"x" * (len(whole) - 4096))
    try:
        code = main(list(arguments))
    except SystemExit as end:
        code = end.code
    assert (code, capsys.readouterr().err) == (2, BAD[arguments] + "\n")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu(capsys):
    assert main(["order", "--device", "cuda"]) == 2
    assert capsys.readouterr().err == "--device cuda needs a GPU that PyTorch can use, and there is none\n"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_cluster_has_gpus_of_its_own(monkeypatch):
    devices = []
    monkeypatch.setattr(
        "d2lpos.lab.__main__.sweep", lambda *options: devices.append(options[4:6]) or {"failed": 0}
    )
    assert main(["order", "--smoke", "--device", "cuda", "--cluster", "tcp://gpus:8786"]) == 0
    assert devices == [("tcp://gpus:8786", "cuda")]


def test_no_dask(without, capsys):
    without("distributed")
    assert main(["order", "--smoke", "--cluster", "local:2"]) == 2
    assert capsys.readouterr().err == "d2lpos.lab.sweep needs distributed; install it with: pip install 'd2lpos[cluster]'\n"


def test_no_checkout(monkeypatch, folder, capsys):
    monkeypatch.setattr("d2lpos.lab.__main__.RESULTS", folder / "site-packages" / "book" / "results")
    assert main(["order", "--publish"]) == 2
    assert capsys.readouterr().err == (
        "--publish needs --results where d2lpos is not in a checkout of the book\n"
    )
    (folder / "out").mkdir()
    finish(Store("some.sqlite"), range(1))
    assert main([*PUBLISH, "some.sqlite", "--seeds", "1"]) == 0


AMID = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == os.environ["AMID"]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.skipif(os.name != "posix", reason="no signals like these")
@pytest.mark.parametrize("module", ["torch", "d2lpos.lab.sweep", "pandas"])
def test_ctrl_c_while_modules_load_ends_without_a_traceback(folder, module):
    (folder / "sitecustomize.py").write_text(AMID)
    env = os.environ | {"AMID": module, "PYTHONPATH": os.pathsep.join((str(folder), *sys.path))}
    done = subprocess.run(
        [*COMMAND, "order", "--summary"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr in ("", "\nStopped.\n")


def test_ctrl_c_promises_nothing_that_is_not_kept(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("d2lpos.lab.__main__.sweep", interrupt)
    assert main(["order", "--smoke"]) == 130
    assert capsys.readouterr().err == "\nStopped.\n"
    assert main(["order", "--seeds", "1"]) == 130
    assert capsys.readouterr().err == "\nStopped. The same command goes on from here.\n"


@pytest.mark.skipif(os.name != "posix", reason="no pipes like these")
def test_a_reader_may_have_enough():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(COMMAND, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


PUBLISHED = [name for name in STUDIES if (RESULTS / f"{name}.jsonl").is_file()]


LEFT = {"scale-gpu": 3}  # runs that wait for a card


def test_of_each_published_seed_there_is_the_whole_study():
    for study in PUBLISHED:
        published = records(study)
        seeds = {record["run"]["seed"] for record in published}
        missing = {run.key for run in STUDIES[study].runs(seeds)} - {record["key"] for record in published}
        assert len(missing) == LEFT.get(study, 0), study


@pytest.mark.parametrize("study", PUBLISHED)
def test_the_book_s_page_shows_what_the_records_say(study):
    order = [run.key for run in STUDIES[study].runs(range(100))]
    published = sorted(read(RESULTS / f"{study}.jsonl"), key=lambda record: order.index(record["key"]))
    page = "".join(path.read_text(encoding="utf-8") for path in RESULTS.parent.glob("results*.md"))
    assert STUDIES[study].question in page
    for name, text in pages(study, published, records(study, RESULTS / "again")).items():
        assert f":file: results/{name}\n" in page or name.endswith((".json", ".js"))  # which a figure reads
        stored = (RESULTS / name).read_text(encoding="utf-8")
        if name.endswith(".svg"):  # each version of matplotlib draws it a little differently
            stored, text = (ET.fromstring(svg).get("aria-label") for svg in (stored, text))
        assert stored == text, f"write it again: python -m d2lpos.lab {study} --publish"
