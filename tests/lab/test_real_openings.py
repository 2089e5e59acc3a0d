"""Passages without a heading: where they begin, and which token gets most, on the stand-in."""

import pytest
import torch

from d2lpos.lab import Probe, real_openings
from d2lpos.lab.passages import passage
from d2lpos.lab.probe import loaded
from d2lpos.lab.real_inside import masks
from d2lpos.lab.real_openings import AFTER, begun, openings
from tests.lab.test_real_inside import weights_of

HOW = {"study": "real-openings", "model": "stand-in", "text": "rule", "length": 32}


@pytest.mark.parametrize("part", AFTER)
@pytest.mark.parametrize("text", ["persuasion", "pride", "code"])
def test_a_passage_begins_with_a_whole_line_that_is_no_heading(text, part):
    for seed in range(5):
        opening = bytes(begun(Probe("real-openings", part, "stand-in", text, seed, 1000))[0].tolist()).decode("latin-1")
        whole = passage(text, seed, 20_000).encode().decode("latin-1")
        at = whole.index(opening)
        assert whole[at - 1] == "\n" and opening[0] != "\n"
        assert AFTER[part] < at < AFTER[part] + 1500
        assert "Chapter" not in opening


def test_another_part_and_a_text_that_ends_are_refused():
    with pytest.raises(ValueError, match="part"):
        begun(Probe(part="from the end", **HOW))
    last = Probe("real-openings", "from further on", "stand-in", "code", 4, 50_000)
    with pytest.raises(ValueError, match="tokens left"):
        begun(last)


@pytest.mark.parametrize("part", AFTER)
def test_the_heaviest_token_is_found_under_each_mask(part):
    code = HOW | {"text": "code"}  # in which tokens behind those that are asked get more
    probe, model = Probe(part=part, **code), loaded("stand-in")
    by_case = {row["case"]: row for row in openings(probe, "cpu")}
    assert by_case["begins"]["words"] == [chr(one) for one in begun(probe)[0, :3].tolist()]

    def mean_weight(mask: torch.Tensor) -> torch.Tensor:
        return weights_of(model, begun(probe), mask=mask)[..., 19:, :].mean(dim=(0, 1, 2, 3))

    for name, mask in masks(32, "cpu").items():
        mean, row = mean_weight(mask), by_case[f"most: {name}"]
        assert row["share"] == pytest.approx(mean[:19].max().item(), abs=1e-4)
        assert row["second"] == pytest.approx(mean[1].item(), abs=1e-4)
        assert row["at"] == mean[:19].argmax() and row["word"] == chr(begun(probe)[0, row["at"]])
        assert row["usual"] == pytest.approx(mean_weight(masks(32, "cpu")["as it is"])[row["at"]].item(), abs=1e-4)


def test_words_that_the_second_token_repeats(monkeypatch):
    monkeypatch.setattr(real_openings, "begun", lambda probe: torch.tensor([list(b"7.\nIt was to be the end of it all.")]))
    [begins, *_] = openings(Probe(part="from further on", **HOW), "cpu")
    assert begins == {"case": "begins", "words": ["7", ".", "\n"], "repeats": ["."]}
