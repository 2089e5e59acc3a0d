"""The novels are whole, their splits apart, and what is asked is what stands there."""

import re
from pathlib import Path

import pytest
import torch

from d2lpos.lab import text
from d2lpos.lab.text import ALPHABET, CLS, MASK, SEP, SPLITS, UNKNOWN, characters, language, masked

DATA = Path(text.__file__).parent / "data"
BOOKS = ("pride-and-prejudice.txt", "persuasion.txt")


def read(split):
    """The text of a split, with a stroke for what is unknown."""
    return "".join(ALPHABET[token] if token < UNKNOWN else "|" for token in characters(split).tolist())


def test_the_splits_are_apart_and_leave_out_the_titles_only():
    whole = {book: (DATA / book).read_text("utf-8") for book in BOOKS}
    pride = "".join(read(split) for split in ("train", "validation", "test"))
    assert whole["pride-and-prejudice.txt"] == "PRIDE AND PREJUDICE\n\nBy Jane Austen\n\n\n\n" + pride
    unseen = re.sub("[Q&]", "|", whole["persuasion.txt"])
    assert unseen == "Persuasion\n\n\nby\n\nJane Austen\n\n(1818)\n\n\n\n\n" + read("unseen")


@pytest.mark.parametrize(
    ("split", "first", "last"),
    [("train", 1, 48), ("small", 1, 2), ("validation", 49, 54), ("test", 55, 61), ("unseen", 1, 24)],
)
def test_a_split_is_whole_chapters(split, first, last):
    numbers = re.findall(r"^Chapter (\d+)$", read(split), flags=re.MULTILINE)
    assert [int(number) for number in numbers] == list(range(first, last + 1))
    assert read(split).startswith("Chapter")


@pytest.mark.parametrize("split", SPLITS)
def test_flowing_text_has_the_same_words_and_ends_lines_where_paragraphs_end(split):
    flowing = "".join(ALPHABET[t] if t < UNKNOWN else "|" for t in characters(split, flowing=True).tolist())
    paragraphs = [part for part in re.split(r"\n(?:[ \t]*\n)+", read(split)) if part]
    assert [line.split() for line in flowing.splitlines()] == [part.split() for part in paragraphs]
    assert not re.search(r"\s\s", flowing) and flowing.endswith("\n")


def test_language_does_not_ask_for_an_unknown_character():
    count = len(characters("unseen"))
    tokens, targets = language(1, count - 1, torch.Generator(), split="unseen")
    assert torch.equal(tokens[0], characters("unseen")[:-1])
    assert torch.equal(targets[0] == -100, characters("unseen")[1:] == UNKNOWN)


@pytest.mark.parametrize("split", SPLITS)
def test_passages_begin_anywhere(split):
    """A passage that is one character shorter than the longest has two places to begin."""
    tokens, targets = language(32, len(characters(split)) - 2, torch.Generator().manual_seed(0), split=split)
    assert {tuple(row) for row in tokens[:, :40].tolist()} == {
        tuple(characters(split)[start : start + 40].tolist()) for start in (0, 1)
    }
    assert targets[tokens[:, 0] == characters(split)[1]][0, -1] == characters(split)[-1]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("length", [5, 6, 24, 103])
def test_masked_holds_two_passages(split, length):
    book = read(split)
    tokens, targets = masked(64, length, torch.Generator().manual_seed(0), split=split)
    rows = targets.where(targets != -100, tokens).tolist()
    assert len({row.index(SEP) for row in rows}) > min(length - 5, 9), "the first ends anywhere"
    apart = 0
    for row in rows:
        assert row[0] == CLS and row[-1] == SEP and row.count(SEP) == 2 and row.count(CLS) == 1
        between = row.index(SEP)
        one, other = ("".join(ALPHABET[t] if t < UNKNOWN else "|" for t in part) for part in (row[1:between], row[between + 1 : -1]))
        assert one and other and one in book and other in book
        apart += book.find(other) != book.find(one) + len(one) + 1
    assert apart > 56, "they are two, and seldom does one go on where the other ends"


@pytest.mark.parametrize(("length", "count"), [(5, 1), (13, 2), (24, 3), (103, 15)])
def test_fifteen_percent_are_asked_for(length, count):
    _, targets = masked(256, length, torch.Generator().manual_seed(0))
    assert ((targets != -100).sum(dim=1) == count).all()


def test_what_becomes_of_the_asked():
    """As in BERT: 80 % masked, 10 % any character (one in 75 of them the right one), 10 % left alone."""
    tokens, targets = masked(4096, 103, torch.Generator().manual_seed(0))
    asked = targets != -100
    hidden, there = tokens[asked], targets[asked]
    assert (tokens[~asked] != MASK).all() and (hidden != CLS).all() and (hidden != SEP).all()
    assert abs((hidden == MASK).double().mean() - 0.8) < 0.01
    assert abs((hidden == there).double().mean() - (0.1 + 0.1 / 75)) < 0.01
    wrong = hidden[(hidden != MASK) & (hidden != there)]
    assert torch.bincount(wrong, minlength=75).amin() > 0.5 * len(wrong) / 75


def test_an_unknown_character_is_never_masked():
    """About one row in a thousand has one; three others are asked for there, too."""
    tokens, targets = masked(100_000, 24, torch.Generator().manual_seed(0), split="unseen")
    rare = (tokens == UNKNOWN).any(dim=1)
    assert rare.sum() > 20
    assert (targets[tokens == UNKNOWN] == -100).all()
    assert ((targets[rare] != -100).sum(dim=1) == 3).all() and (targets < UNKNOWN).all()
