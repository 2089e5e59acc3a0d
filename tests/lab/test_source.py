"""Source code as a task, on a small file; and the recipe of the large one, which is packed where its packages are."""

import hashlib
import re
import sys
from collections import Counter
from importlib.metadata import version

import pytest
import torch

from d2lpos.lab import source
from d2lpos.lab.text import characters, decode

TRAIN, TEST = b"x = 1\n" * 100, b"y = 2\n" * 100


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A file of two splits, where the task looks for it."""
    data = len(TRAIN).to_bytes(8, "little") + TRAIN + TEST
    (tmp_path / "source.bin").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "SHA256", hashlib.sha256(data).hexdigest())
    source.source.cache_clear()
    yield tmp_path / "source.bin"
    source.source.cache_clear()


def row(sampler, length, **options):
    return sampler(2, length, torch.Generator().manual_seed(0), **options)


@pytest.mark.parametrize(("split", "text"), [("train", TRAIN), ("test", TEST)])
def test_each_byte_is_asked_for_the_next_one(packed, split, text):
    tokens, targets = row(source.next_byte, 50, split=split)
    assert torch.equal(tokens[:, 1:], targets[:, :-1])
    assert all(bytes(part) in text for part in tokens.tolist())


@pytest.mark.parametrize(("sampler", "frame"), [
    ("needle_in_source", r"\nkey_([a-z]{6}) = '(.*)"), ("needle_in_novels", r"\nThe key_([a-z]{6}) is (.*)"),
])
def test_the_letters_of_a_needle_stand_in_the_row_once_before_they_are_asked_for(packed, sampler, frame):
    """Of a row with room for three more characters, a needle begins at one of four places."""
    novels = sampler == "needle_in_novels"
    ending, asking = (".\n", 30) if novels else ("'\n", 26)
    of_test = decode(characters("test")) if novels else TEST.decode()
    length = 2 * asking + 1 + len(ending) + 3
    tokens, targets = getattr(source, sampler)(64, length, torch.Generator().manual_seed(0))
    places, whole = Counter(), set()
    for line, asked in zip(tokens, targets, strict=True):
        row, letters = (decode(x) if novels else bytes(x.tolist()).decode() for x in (line, asked[asked >= 0]))
        assert (asked[:-12] == -100).all() and len(letters) == 12
        (first, again) = re.finditer(frame, row)
        assert first[2] == letters + ending[0] and again[2] == letters[:-1] and first[1] == again[1]
        begin, end = first.start(), first.end() + 1
        assert again.end() == length and row[end - 1] == "\n"
        assert row[:begin] in of_test and row[end : again.start()] in of_test
        places[begin] += 1
        whole.add((first[1], letters))
    assert set(places) == {0, 1, 2, 3} and min(places.values()) > 5 and len(whole) == 64
    assert len({name for name, _ in whole}) == len({letters for _, letters in whole}) == 64
    assert all(len(set(drawn)) > 9 for drawn in zip(*("".join(one) for one in whole), strict=True))
    assert getattr(source, sampler)(2, length - 3, torch.Generator())[0].shape == (2, length - 3)
    for line in getattr(source, sampler)(4, 500, torch.Generator().manual_seed(0))[0]:
        row = decode(line) if novels else bytes(line.tolist()).decode()
        assert row[: re.search(frame, row).start()] in of_test
    with pytest.raises(ValueError, match=f"length must be at least {length - 3}, to hold a needle; got {length - 4}"):
        getattr(source, sampler)(2, length - 4, torch.Generator())


def test_without_its_file_or_with_another_one_it_says_what_to_do(packed):
    with pytest.raises(ValueError, match="split must be one of"):
        source.source("validation")
    packed.write_bytes(packed.read_bytes() + b"z")
    with pytest.raises(ValueError, match="must have the hash .*: pack it anew"):
        source.source("train")
    packed.unlink()
    with pytest.raises(ValueError, match="there is no source.bin here: pack it with python -m d2lpos.lab.source"):
        source.source("train")


def test_another_version_of_a_package_is_refused():
    with pytest.raises(ValueError, match=f"numpy must be 0.1, which was packed for the study; got {version('numpy')}"):
        source.code_of("numpy", "0.1")


@pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info[:2] != (3, 11), reason="wheels of other systems have other files"
)
def test_the_pinned_packages_make_the_file_of_the_study():
    data = source.pack()
    assert len(data) <= 40_000_000
    assert hashlib.sha256(data).hexdigest() == source.SHA256
