"""How rows and positions of a learned table are changed, on tables that are known."""

import pytest
import torch

from d2lpos.input import sinusoidal
from d2lpos.lab import records
from d2lpos.lab.observed import by_text
from d2lpos.lab.passages import passage
from d2lpos.lab.real_tables import changed, decided, of_rank, past, rotation, stretched

TABLE = sinusoidal(torch.arange(448), 32)


def test_a_table_is_stretched_from_its_first_row_to_its_last():
    wide = stretched(TABLE, 895)
    torch.testing.assert_close(wide[::2], TABLE)
    torch.testing.assert_close(wide[1::2], (TABLE[1:] + TABLE[:-1]) / 2)


def test_one_rotation_takes_each_sinusoid_to_the_next_and_no_noise():
    assert rotation(TABLE, 32)["turned"] == pytest.approx(1, abs=1e-3)
    assert rotation(torch.randn(448, 32), 32)["turned"] < 0.6


def test_first_rows_stay_and_the_others_keep_their_chief_directions():
    low = of_rank(TABLE, 3)
    assert torch.equal(low[:2], TABLE[:2]) and torch.linalg.matrix_rank(low[2:] - low[2:].mean(dim=0), atol=1e-3) == 3
    torch.testing.assert_close(of_rank(TABLE, 32, 0), TABLE)


def test_in_place_leaves_the_first_two_tokens_at_their_rows():
    ways = {case: table[positions] for case, positions, table in changed(TABLE, 202, 0)}
    for case, rows in ways.items():
        if case.endswith("in place"):
            assert torch.equal(rows[:2], TABLE[:2]), case
    assert torch.equal(ways["shifted by 240, in place"][2:], TABLE[242:442])
    torch.testing.assert_close(ways["stretched to 895 rows, in place"][2:4], torch.stack([TABLE[1:3].mean(dim=0), TABLE[2]]))
    assert {len(rows) for rows in ways.values()} == {202}


def test_past_the_last_row():
    ways = {case: table[positions] for case, positions, table in past(TABLE, 602)}
    assert torch.equal(ways["last row"][447:], TABLE[-1:].expand(155, -1))
    assert torch.equal(ways["wrapped"][448:], TABLE[:154])
    torch.testing.assert_close(ways["stretched"][[0, -1]], TABLE[[0, -1]])


def test_a_reaction_that_there_is_not_is_refused():
    assert passage("reactions", 15, 999).count(">>") == 1
    with pytest.raises(ValueError, match="number must be below 16, as many reactions as there are; got 16"):
        passage("reactions", 16, 999)


def test_code_is_judged_apart_from_the_novels():
    verdicts = by_text(decided, records("real-tables"))
    assert verdicts.loc["stretched is worse than blocks"].tolist() == ["holds", "holds", "open"]
    assert verdicts.loc["wrapped is less bad than the last row"].tolist() == ["open", "open", "fails"]
    assert verdicts.loc["a table tells a shift"].tolist() == ["open", "holds", "open"]
