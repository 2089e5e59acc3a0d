"""Keys that are kept and used again, and caches that shift, on the stand-in; what is decided is what the records say."""

import re
import sys
from functools import partial

import pytest
import torch

from d2lpos.lab import PROBES, Probe, packed, run_probe, shift
from d2lpos.lab.bits import StoredKeys
from d2lpos.lab.passages import made, passage
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.real import hidden
from d2lpos.lab.regroup import InParts
from d2lpos.lab.reuse import AFTER, MOST, NEEDLES, PIECES, PROMPT, changed, judged, read_through
from d2lpos.lab.shift import CAPACITY, CASES, HALF, UNTURNED, anew, decided, shifting
from d2lpos.pretrained import losses

close = partial(torch.testing.assert_close, atol=1e-4, rtol=1e-4)


def kept_of(model, row):
    at = torch.arange(row.shape[1])
    return read_through(model, row, at >= 0, at, at, at <= at[:, None])


def in_two_copies(model, document, prompt, branches, pieces, anew, gone, old=False, lead="", away=0):
    """What leaves the last layer at the branches, in one pass over a row that has the document twice.

    The first copy is read piece by piece, each behind its own lead, and where old each at the row's beginning. Of the
    second, behind the prompt, tokens are seen that are anew; others of the document are seen in the first, unless gone.
    """
    n, at = len(document) // pieces, torch.arange(len(document))
    parts = [(lead + document[i * n :][:n], i, 100 + (0 if old else PROMPT + i * n) - len(lead)) for i in range(pieces)]
    parts += [(prompt + document, -1, 100)]
    parts += [(branch, 10 + i, 100 + PROMPT + len(document) - away) for i, branch in enumerate(branches)]
    row = torch.tensor([list("".join(part for part, *_ in parts).encode())])
    who = torch.cat([torch.full((len(part),), number) for part, number, _ in parts])
    positions = torch.cat([start + torch.arange(len(part)) for part, _, start in parts])
    place = torch.full_like(who, -1)  # in the document
    for _, number, _ in parts[:pieces]:
        place[(who == number).nonzero()[len(lead) :, 0]] = number * n + at[:n]
    place[(who == -1).nonzero()[PROMPT:, 0]] = at
    first, prompted = (who >= 0) & (who < 10), (who == -1) & (place < 0)
    shown = prompted | (place >= 0) & torch.where(first, ~(anew | gone)[place], anew[place])
    rank = torch.where(place >= 0, place + PROMPT, torch.where(who >= 10, 10**6 + positions, positions - 10**6))
    mask = (rank <= rank[:, None]) & ((who == who[:, None]) & (who != -1) | shown & ~first[:, None])
    x = model.logits(model.read(model.embed(row), positions=positions, mask=mask))[0]
    return [x[who == 10 + i].log_softmax(dim=-1) for i in range(len(branches))]


@pytest.mark.parametrize("part", PIECES)
def test_each_way_is_one_pass_over_two_copies_of_the_document(part):
    model, probe, needle = loaded("stand-in"), Probe("real-reuse", part, "stand-in", "rule", length=320), r"\nThe .* is (\d+)\.\n"
    document, pieces = bytes(hidden(probe, NEEDLES)[0]).decode(), PIECES[part]
    hay, place = re.sub(needle, "", document), torch.arange(320) % (320 // pieces)
    goes_on = made(0, len(hay) + AFTER).removeprefix(hay)
    asked = [one[0].removesuffix(".\n") for one in re.finditer(needle, document)]
    digits = torch.tensor([list(one[-5:].encode()) for one in asked])
    texts = document, passage("persuasion", 0, PROMPT), [goes_on, *asked]
    row = torch.tensor([list("".join(texts[1::-1]).encode())])
    fresh = [x[:, :, PROMPT:] for pair in kept_of(model, row)[1] for x in pair]
    split = [kept_of(model, one[None])[1] for one in row[0, PROMPT:].chunk(pieces)]
    alone = [torch.cat([one[layer][i] for one in split], dim=2) for layer in range(2) for i in range(2)]
    far = sum((a - b).norm(dim=-1).sum(dim=1)[0] / a.norm(dim=-1).mean() for a, b in zip(fresh, alone, strict=True))
    none, most = place < 0, far >= far.sort().values[-MOST * pieces]
    ways = {
        "computed fresh": (~none, none),
        "absent": (none, ~none, False, "", 320),
        "left where it was": (none, none, True),
        "turned on": (none, none),
        "turned on, its first token left out": (none, place == 0),
        **{f"first {first} anew": (place < first, none) for first in (1, 4, 16, 64)},
        "last 16 anew": (place >= 320 // pieces - 16, none),
        "the 16 that change most anew": (most, none),
        "read behind a lead that is dropped": (none, none, False, "The text begins here:\n"),
    }
    rows = run_probe(probe)["rows"]
    assert [row["case"] for row in rows] == list(ways)
    for row in rows:
        after, *questions = in_two_copies(model, *texts, pieces, *ways[row["case"]])
        wanted = torch.tensor(list(goes_on[1:].encode()))
        answers = torch.stack([one[-6:-1] for one in questions])
        assert row["loss"] == pytest.approx(-after[:-1].gather(1, wanted[:, None]).mean().item(), abs=2e-6)
        assert row["asked"] == pytest.approx(-answers.gather(2, digits[..., None]).mean().item(), abs=2e-6)
        assert (row["right"], row["of"]) == ((answers.argmax(dim=-1) == digits).sum(), digits.numel())
    assert len({row["loss"] for row in rows}) == len(rows)


@pytest.mark.parametrize(("case", "first", "moves"), [
    ("positions count on", 4, 0), ("shifted", 4, HALF), ("shifted, first four lost", 0, 0),
    ("shifted one at a time", 4, HALF), (UNTURNED, 4, HALF),
])
def test_a_shift_is_a_mask_and_moves_queries_nearer_to_the_first_four_alone(case, first, moves, monkeypatch):
    monkeypatch.setattr(shift, "BF16", torch.float32)  # so that nothing rounds
    model, n = loaded("stand-in"), CAPACITY + 2 * HALF
    text, here = tokens(Probe("real-shift", model="stand-in", text="rule", length=n)), torch.arange(n)
    shifts, fixed = ((here - HALF) // HALF).clamp(min=0), (here < first).expand(n, n)
    mask = (here <= here[:, None]) & (fixed | (here >= (HALF * shifts + first * (shifts > 0))[:, None]))
    nearer = InParts(model.encoding, lambda q, k: [(q - moves * shifts, k, fixed), (q, k, ~fixed)])
    close(shifting(model, text)[case], losses(model, text, encoding=nearer, mask=mask)[0, CAPACITY - 1 :])


def test_keys_are_stored_in_few_bits_once_they_come():
    """Before the first shift that is a pass with such keys; the loss at its first token tells."""
    model, text = loaded("stand-in"), tokens(Probe("real-shift", model="stand-in", text="rule", length=CAPACITY + HALF))
    by_case = shifting(model, text)
    for case, dtype, before in (
        ("shifted", torch.float32, False), ("shifted in bfloat16", torch.bfloat16, False),
        ("shifted in float16, one at a time", torch.float16, False), (UNTURNED, torch.bfloat16, True),
    ):
        keys = StoredKeys(model.encoding, partial(shift.stored, dtype=dtype), before)
        torch.testing.assert_close(by_case[case][0], losses(model, text, encoding=keys)[0, CAPACITY - 1], atol=2e-6, rtol=0)
    assert len({losses_of[0].item() for losses_of in by_case.values()}) == 4


def test_rows_tell_all_and_each_shift():
    assert shift.as_rows({"a": torch.arange(192.0)}) == [{"case": "a", "loss": 95.5, "shifts": [31.5, 95.5, 159.5]}]
    [probe] = PROBES["real-shift"].runs(range(1), smoke=True)
    assert [row["case"] for row in run_probe(probe)["rows"]] == ["read anew", "read anew, first four lost", *CASES, UNTURNED]


def test_read_anew_reads_what_is_left():
    model, text = loaded("stand-in"), tokens(Probe("real-shift", model="stand-in", text="rule", length=CAPACITY + 2 * HALF))
    by_case = anew(model, text)
    part = torch.cat([text[:, :4], text[:, HALF + 4 : CAPACITY + HALF]], dim=1)
    close(by_case["read anew"][:HALF], losses(model, part)[0, HALF - 1 :])
    close(by_case["read anew, first four lost"][HALF:], losses(model, text[:, 2 * HALF :])[0, HALF - 1 :])


def test_what_changes_most_is_measured_where_float16_overflows():
    fresh, far = torch.full((1, 1, 3, 4), 60_000.0).half(), torch.ones(1, 1, 3, 4).half()
    moved, little = fresh.clone(), far.clone()
    moved[0, 0, 0], little[0, 0, 1] = 0, 1.5  # the first token by all of its length, the second by half
    assert changed([(fresh, far)], [(moved, little)], torch.ones(3).bool(), 1).tolist() == [True, False, False]


LIMITS = {  # losses that the sentences hold at, where what is turned, or kept as it is, loses 3 nats; and fail at
    decided: (
        {"shifted": 3.0, "positions count on": 2.981, "read anew": 2.981, "shifted, first four lost": 3.101}
        | {"shifted in bfloat16": 3.019, "shifted in bfloat16, one at a time": 3.019},
        {"shifted": 3.0, "positions count on": 2.979, "read anew": 2.979, "shifted, first four lost": 3.099}
        | {"shifted in bfloat16": 3.021, "shifted in bfloat16, one at a time": 3.021},
        {"shifted": 3.0, "positions count on": 3.021, "read anew": 2.979, "shifted, first four lost": 2.8}
        | {"shifted in bfloat16": 3.021, "shifted in bfloat16, one at a time": 3.021},
    ),
    judged: (
        {"computed fresh": 3.0, "left where it was": 3.001, "turned on": 3.019}
        | dict.fromkeys(("first 4 anew", "last 16 anew", "read behind a lead that is dropped"), 3.0094),
        {"computed fresh": 3.0, "left where it was": 2.999, "turned on": 3.021}
        | dict.fromkeys(("first 4 anew", "last 16 anew", "read behind a lead that is dropped"), 3.0106),
    ),
    packed.decided: tuple(
        {f"{name}, positions count on": 3.0 for name in ("q8_0", "q4_0", "e4m3")}
        | {f"{name}, at once": 3 + little for name in ("q8_0", "q4_0", "e4m3")}
        | {"q8_0, by ones": 3 + little, "q4_0, by ones": 3 + much, "e4m3, by ones": 3 + much}
        for little, much in ((0.019, 0.101), (0.021, 0.099))
    ),
}  # fmt: skip


@pytest.mark.parametrize("decide", LIMITS, ids=lambda decide: decide.__module__)
def test_sentences_hold_on_one_side_of_their_limits(decide):
    for number, losses_by_case in enumerate(LIMITS[decide]):
        rows = [{"case": case, "loss": loss} for case, loss in losses_by_case.items()]
        run = {"part": "one piece", "text": "rule", "length": 128}
        table = decide([{"run": run | {"seed": seed}, "rows": rows} for seed in (0, 1)])
        assert set(table["verdict"]) == {"fails" if number else "holds"}
    numbered = re.findall(r'^\d\. "(.*?)"', sys.modules[decide.__module__].__doc__, re.MULTILINE)
    assert table["sentence"].tolist() == numbered or decide is packed.decided and len(table) == 6
    assert decide is not judged or table[["part", "length"]].drop_duplicates().to_numpy().tolist() == [["one piece", 128]]
