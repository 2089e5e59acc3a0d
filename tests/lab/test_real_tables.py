"""How rows and positions of a learned table are changed, on tables that are known."""

from types import SimpleNamespace

import pytest
import torch
from scipy.linalg import orthogonal_procrustes

from d2lpos.input import sinusoidal
from d2lpos.lab import Probe, real_tables
from d2lpos.lab.passages import passage
from d2lpos.lab.real_tables import changed, decided, of_rank, past, reactions, rotation, tables

TABLE = sinusoidal(torch.arange(448), 32)


class Known:
    """Its logits at a place are of the row and the token there alone, and so are its weights."""

    def __init__(self, rows, tokens):
        self.positions = SimpleNamespace(table=torch.nn.Parameter(torch.randn(rows, 8), requires_grad=False))
        self.words, self.out = torch.randn(tokens, 8), torch.randn(8, tokens)

    def hear(self, spectrogram):
        return spectrogram

    def __call__(self, ids, *rest):
        *_, positions, watch = rest if len(rest) > 1 else (*rest, None)
        if watch:
            n = ids.shape[1]
            watch(torch.stack([torch.arange(float(n))[:, None] + 3 * torch.arange(n), torch.ones(n, n)])[None])
        return (self.words[ids] + self.positions.table[positions]) @ self.out


def lost(model, token, row, wanted):
    """What a known model loses where it reads a token with a row of a table and another token is right."""
    return -((model.words[token] + row) @ model.out).log_softmax(dim=-1)[wanted].item()


@pytest.mark.parametrize("part", ["", "past"])
def test_a_loss_is_of_what_the_text_asks_and_reads_the_rows_of_its_case(monkeypatch, part):
    model, n = Known(448, 12), 600 if part else 200
    text = torch.randint(12, (1, n))
    monkeypatch.setattr(real_tables, "BEGIN", (5, 7))
    monkeypatch.setattr(real_tables, "loaded", lambda name, *_: {"whisper": model}[name])
    monkeypatch.setattr(real_tables, "tokens", lambda *_: text)
    rows = {row["case"]: row for row in tables(Probe("real-tables", part, "whisper", seed=3), "cpu")}
    ids, table = [5, 7, *text[0].tolist()], model.positions.table
    first = 448 if part else 2  # the last 154 of 602 tokens have no rows
    ways = {case: own[at] for case, at, own in (past(table, 602) if part else changed(table, 202, 3))}
    for case, own in ways.items():
        losses = [lost(model, ids[at - 1], own[at - 1], ids[at]) for at in range(first, n + 2)]
        assert rows[case]["loss"] == pytest.approx(sum(losses) / len(losses), abs=2e-5), case
    if part:
        anew = [5, 7, *ids[448:]]
        losses = [lost(model, anew[at - 1], table[at - 1], anew[at]) for at in range(2, 156)]
        assert rows["read anew"]["loss"] == pytest.approx(sum(losses) / 154, abs=2e-5)
    else:
        assert rows["shifted by 100"]["previous"] == [[sum(at + 3 * (at - 1) for at in range(3, 202)) / 199, 1.0]]
    assert len(rows) == len(ways) + bool(part) and model.positions.table.data is not ways["the mean row for all"]


def test_each_token_of_a_reaction_is_masked_alone(monkeypatch, tmp_path):
    text = ["[CLS]", *passage("reactions", 2, 1000).split(), "[SEP]"]
    known = ["[MASK]", *dict.fromkeys(text)]
    (tmp_path / "words").write_text("\n".join(known))
    model = Known(512, len(known))
    monkeypatch.setattr(real_tables, "find", lambda name: (None, tmp_path / "words"))

    def whole(ids, at):
        """Each logit also knows which tokens the whole row has, and where they stand."""
        read = (model.words[ids] + model.positions.table[at]).mean(dim=(1, 2))
        return model(ids, at) + read[:, None, None] * torch.arange(len(known))

    monkeypatch.setattr(real_tables, "loaded", lambda name, *_: {"albert": whole}[name])
    n, wanted = len(text), [known.index(token) for token in text]
    places = {f"shifted by {by}": range(by, n + by) for by in (1, 100, 200, 300, 350, 400, 430)}
    places |= {f"shifted by {by}, in place": [0, *range(by + 1, n + by)] for by in (1, 100, 350, 430)}
    places |= {"as trained": range(n), "all at 100": [100] * n, "reversed": range(n)[::-1]}
    rows = {row["case"]: row["loss"] for row in reactions(Probe("real-reactions", model="albert", text="reactions", seed=2), "cpu")}
    assert rows.keys() == places.keys()
    for case, at in places.items():
        losses = []
        for place in range(1, n - 1):
            ids = torch.tensor([[*wanted[:place], 0, *wanted[place + 1 :]]])
            losses.append(-whole(ids, torch.tensor([*at]))[0, place].log_softmax(dim=-1)[wanted[place]].item())
        assert rows[case] == pytest.approx(sum(losses) / len(losses), abs=2e-5), case


def test_one_rotation_takes_each_sinusoid_to_the_next_and_no_noise():
    assert rotation(TABLE, 32)["turned"] == pytest.approx(1, abs=1e-3)
    noise = torch.randn(448, 8).double()
    noise -= noise.mean(dim=0)
    turn, _ = orthogonal_procrustes(noise[:-1], noise[1:])
    left = (noise[:-1] @ torch.tensor(turn) - noise[1:]).square().sum() / noise.diff(dim=0).square().sum()
    assert rotation(noise + 3, 8)["turned"] == pytest.approx(1 - left.item(), abs=1e-4)


def test_rows_that_no_text_reaches_are_not_turned(monkeypatch):
    model = Known(448, 12)
    model.positions.table[2:432], model.tokens = 9 * sinusoidal(torch.arange(430), 8), torch.nn.Embedding(12, 8)
    monkeypatch.setattr(real_tables, "loaded", lambda *_: model)
    told = {row["case"]: row for row in real_tables.rows(Probe("real-rows", model="whisper"), "cpu")}
    assert len(told["rows"]["norms"]) == 448 and told["rows from 2 on"]["norms"] == told["rows"]["norms"][2:]
    assert [told[f"{keep} directions"]["turned"] for keep in (10, 16)] == [pytest.approx(1, abs=0.02)] * 2
    assert told["a token past the last row"]["error"].startswith("IndexError: index out of range")


def test_first_rows_stay_and_the_others_keep_their_chief_directions():
    low = of_rank(TABLE, 3)
    assert torch.equal(low[:2], TABLE[:2]) and torch.linalg.matrix_rank(low[2:] - low[2:].mean(dim=0), atol=1e-3) == 3
    torch.testing.assert_close(of_rank(TABLE, 32, 0), TABLE)


def test_in_place_leaves_the_first_two_tokens_at_their_rows():
    ways = {case: table[positions] for case, positions, table in changed(TABLE, 202, 3)}
    for case, rows in ways.items():
        if case.endswith("in place"):
            assert torch.equal(rows[:2], TABLE[:2]), case
    assert not torch.isclose(ways["rank 15"][:2], TABLE[:2]).all()
    assert torch.equal(ways["shifted by 240, in place"][2:], TABLE[242:442])
    torch.testing.assert_close(ways["row 50 is the mean row"], torch.cat([TABLE[:50], TABLE.mean(dim=0)[None], TABLE[51:202]]))
    mixed, rest = (torch.randperm(n, generator=torch.Generator().manual_seed(3)) for n in (202, 200))
    assert torch.equal(ways["shuffled"], TABLE[mixed]) and torch.equal(ways["shuffled, in place"][2:], TABLE[2:202][rest])
    torch.testing.assert_close(ways["stretched to 895 rows, in place"][2:4], torch.stack([TABLE[1:3].mean(dim=0), TABLE[2]]))
    assert {len(rows) for rows in ways.values()} == {202}
    names = {"as trained", "shifted by 1", "shifted by 100", "rank 15", "no table"}
    names |= {f"shifted by {by}, in place" for by in (1, 10, 50, 100, 150, 200, 240)}
    names |= {f"row {row} is the mean row" for row in (0, 1, 50, 100)} | {f"rank {rank}, in place" for rank in (10, 15, 97)}
    names |= {f"{way}{where}" for way in ("stretched to 895 rows", "shuffled", "the mean row for all") for where in ("", ", in place")}
    assert ways.keys() == names


def test_past_the_last_row():
    ways = {case: table[positions] for case, positions, table in past(TABLE, 602)}
    assert torch.equal(ways["last row"][447:], TABLE[-1:].expand(155, -1))
    assert torch.equal(ways["wrapped"][448:], TABLE[:154])
    torch.testing.assert_close(ways["stretched"][[0, -1]], TABLE[[0, -1]])


COSTS_MORE = {  # which case than which; what stands behind * is of the texts that are too long
    "a shift by 1 hurts": ("shifted by 1", "as trained"),
    "it hurts by the rows of words": ("shifted by 1, in place", "row 0 is the mean row"),
    "a table tells a shift": ("shifted by 100, in place", "as trained"),
    "row 0 is leaned on more than a word's": ("row 0 is the mean row", "row 50 is the mean row"),
    "mixed rows hurt": ("stretched to 895 rows, in place", "as trained"),
    "fifteen directions are not enough": ("rank 15, in place", "as trained"),
    "the last row is worse than blocks": ("*last row", "*read anew"),
    "wrapped is worse than blocks": ("*wrapped", "*read anew"),
    "stretched is worse than blocks": ("*stretched", "*read anew"),
    "stretched is less bad than the last row": ("*last row", "*stretched"),
    "wrapped is less bad than the last row": ("*last row", "*wrapped"),
    "stretched is worse than no position": ("*stretched", "*the mean row for all"),
    "a shift by 100 hurts": ("shifted by 100", "as trained"),
    "rarely trained rows are noise": ("shifted by 430", "shifted by 100"),
    "a shift hurts by [CLS]'s row": ("shifted by 100", "shifted by 100, in place"),
}


def test_each_sentence_says_that_one_case_costs_more_than_another():
    cases = sorted({case for both in COSTS_MORE.values() for case in both} | {"*stretched", "the mean row for all"})
    cost = {case: 2.0**number for number, case in enumerate(cases)}
    for many in 12, 3:  # of Whisper and of ALBERT
        sides = [[case for case in cases if case[0] != "*" and (many == 3 or "430" not in case)]]
        sides += [[case for case in cases if case[0] == "*"]] * (many == 12)
        made = [
            {"run": {"text": "code", "seed": seed, "part": part}, "rows": [{"case": c.strip("*"), "loss": seed + cost[c]} for c in side]}
            for seed in range(2) for part, side in zip(("", "past"), sides, strict=False)
        ]  # fmt: skip
        said = dict(decided(made)[["sentence", "mean"]].values.tolist())
        assert len(said) == many and said == {one: cost[COSTS_MORE[one][1]] - cost[COSTS_MORE[one][0]] for one in said}
