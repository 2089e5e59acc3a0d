"""Keys that are kept and used again, and caches that shift, on the stand-in; what is decided is what the records say."""

from functools import partial

import pytest
import torch
from scipy.stats import sem, t
from torch.nn.functional import pad

from d2lpos.lab import PROBES, Probe, packed, records, run_probe
from d2lpos.lab.observed import by_text, reused, texts
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.reuse import FIRST, changed, judged, read_through
from d2lpos.lab.shift import CAPACITY, CASES, HALF, anew, decided, shifting
from d2lpos.pretrained import losses

close = partial(torch.testing.assert_close, atol=1e-4, rtol=1e-4)


def kept_of(model, row):
    at = torch.arange(row.shape[1])
    return read_through(model, row, at >= 0, at, at, at <= at[:, None])


def test_what_is_read_anew_is_what_the_model_reads():
    model, row = loaded("stand-in"), torch.randint(256, (1, 12))
    x, stored = kept_of(model, row)
    close(x, model.read(model.embed(row)))
    at = torch.arange(12)
    last = at >= 8
    y, _ = read_through(model, row, last, at, at, at <= at[:, None], stored)
    close(y, x[:, 8:])


def test_turned_on_keys_of_the_first_layer_are_those_of_their_places():
    model, row = loaded("stand-in"), torch.randint(256, (1, 12))
    _, whole = kept_of(model, row)
    _, alone = kept_of(model, row[:, 5:])
    close(whole[0][0][:, :, 5:], alone[0][0])
    assert (whole[1][0][:, :, 5:] - alone[1][0]).abs().max() > 1e-2


def test_a_document_that_nobody_sees_is_absent():
    """Its places are free, and what follows moves up."""
    model, row = loaded("stand-in"), torch.randint(256, (1, 12))
    at, own = torch.arange(12), (torch.arange(12) >= 4) & (torch.arange(12) < 9)
    stored = [tuple(pad(x, (0, 0, 4, 3)) for x in pair) for pair in kept_of(model, row[:, 4:9])[1]]
    places = torch.where(at < 9, at, at - 5)
    x, _ = read_through(model, row, ~own, places, places, (at <= at[:, None]) & ~own, stored)
    without = torch.cat([row[:, :4], row[:, 9:]], dim=1)
    close(x, model.read(model.embed(without)))


def test_those_that_change_most_are_of_the_document():
    model, row = loaded("stand-in"), torch.randint(256, (1, 12))
    fresh = kept_of(model, row)[1]
    other = [(k + 1.0 * (torch.arange(12) == 6)[:, None], v) for k, v in fresh]
    own = torch.arange(12) >= 5
    assert changed(fresh, other, own, 1).nonzero().tolist() == [[6]]


@pytest.mark.parametrize("part", ["one piece", "four pieces"])
def test_the_more_is_computed_the_nearer_it_comes(part):
    [probe] = [one for one in PROBES["real-reuse"].runs(range(1), smoke=True) if one.part == part]
    rows = {row["case"]: row for row in run_probe(probe)["rows"]}
    fresh = rows["computed fresh"]["loss"]
    assert {f"first {first} anew" for first in FIRST} < rows.keys()
    assert len({row["loss"] for row in rows.values()}) == len(rows)
    assert rows["absent"]["of"] == 20
    nearest = abs(rows["first 64 anew"]["loss"] - fresh)
    assert nearest < abs(rows["left where it was"]["loss"] - fresh)


def test_a_cache_whose_positions_count_on_is_a_mask():
    model, text = loaded("stand-in"), tokens(Probe("real-shift", model="stand-in", text="rule", length=CAPACITY + HALF))
    here = torch.arange(CAPACITY + HALF)
    mask = here <= here[:, None]
    mask[CAPACITY:, 4 : 4 + HALF] = False
    by_case = shifting(model, text)
    close(by_case["positions count on"], losses(model, text, mask=mask)[0, CAPACITY - 1 :])
    close(by_case["shifted"], by_case["shifted one at a time"])
    moved = torch.where(here < 4, here, here - HALF)
    # What was read before the shift stood where it stood; its keys turn to the new places.
    assert not torch.allclose(by_case["shifted"], losses(model, text, positions=moved, mask=mask)[0, CAPACITY - 1 :], atol=1e-4)


def test_read_anew_reads_what_is_left():
    model, text = loaded("stand-in"), tokens(Probe("real-shift", model="stand-in", text="rule", length=CAPACITY + 2 * HALF))
    by_case = anew(model, text)
    part = torch.cat([text[:, :4], text[:, HALF + 4 : CAPACITY + HALF]], dim=1)
    close(by_case["read anew"][:HALF], losses(model, part)[0, HALF - 1 :])
    close(by_case["read anew, first four lost"][HALF:], losses(model, text[:, 2 * HALF :])[0, HALF - 1 :])


@pytest.mark.parametrize(("study", "verdicts"), [("real-reuse", judged), ("real-shift", decided)])
def test_verdicts_are_open_without_an_interval_and_told_of_all_records(study, verdicts):
    published = records(study)
    assert len(published) == len(PROBES[study].full) * 5
    table = verdicts(published)
    assert set(table["verdict"]) <= {"holds", "fails", "open"} and (table["n"] == 15).all()
    assert set(verdicts(published[:1])["verdict"]) == {"open"}
    for one in table[table["sentence"] != "where the count goes on"].itertuples():
        assert one.verdict == ("holds" if one.high < 0 else "fails" if one.low > 0 else "open")
    assert set(texts(study, published)) == {f"{study}.csv", f"{study}-about.csv"}


def test_the_table_tells_nats_and_digits_of_each_text():
    """Code loses with keys read in four pieces, and the novels need not: no column is a mean over unlike texts."""
    study = records("real-reuse")
    table = reused(study)
    assert table.index[0] == ("1 × 128", "computed fresh") and table.shape == (36, 6)
    assert all(cell.endswith(" of 100") for cell in table.filter(like="digits").to_numpy().flat)
    some = [one for one in study if one["run"]["part"] == "four pieces" and one["run"]["text"] == "code"]
    cases = [{row["case"]: row["loss"] for row in one["rows"]} for one in some]
    rises = [one["turned on"] - one["computed fresh"] for one in cases]
    mean = sum(rises) / 5
    half = sem(rises) * t.ppf(0.975, 4)
    assert table.loc[("4 × 128", "turned on"), "code: nats"] == f"+{mean:.3f} ± {half:.3f}" == "+0.207 ± 0.091"
    assert len(CASES) == 7


@pytest.mark.parametrize(
    ("study", "decide"), [("real-reuse", judged), ("real-shift", decided), ("real-packed-shift", packed.decided)]
)
def test_a_rule_for_all_texts_keeps_its_verdicts_beside_those_of_each_text(study, decide):
    runs = records(study)
    verdicts = by_text(decide, runs)
    assert list(verdicts) == ["together", "persuasion", "pride", "code"]
    assert verdicts["together"].tolist() == decide(runs)["verdict"].tolist()
    for text in list(verdicts)[1:]:
        alone = decide([one for one in runs if one["run"]["text"] == text])
        assert (alone["n"] == 5).all()
        assert verdicts[text].to_dict() == alone.set_index(verdicts.index.names)["verdict"].to_dict()
