"""Who hands out positions: what they are, and that they reach the model."""

from dataclasses import replace

import pytest
import torch
from torch.nn import Embedding
from torch.nn.functional import one_hot

from d2lpos import Encoding
from d2lpos.lab import Run, encodings, execute
from d2lpos.lab.models import build, eval_mode, reads
from d2lpos.lab.places import LIMITED, PLACES, begun, counted, coupled, drawn, in_squares, jittered, side
from d2lpos.lab.synthetic import addition
from d2lpos.lab.training import test as measure

ROWS = torch.zeros(512, 5)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_counted_rows_and_squares():
    assert counted(ROWS).tolist() == [0, 1, 2, 3, 4]
    assert in_squares(torch.zeros(2, 9)).tolist() == [[place // 3, place % 3] for place in range(9)]
    assert [side(n) for n in (1, 4, 64, 576)] == [1, 2, 8, 24]


def test_rows_begin_anywhere_below_the_limit():
    positions = begun(ROWS, seeded(), limit=8)
    assert (positions.diff(dim=1) == 1).all() and positions[:, 0].unique().tolist() == [0, 1, 2, 3]
    assert begun(ROWS, seeded(), limit=5).tolist() == [[0, 1, 2, 3, 4]] * 512


def test_drawn_positions_rise_below_the_limit():
    positions = drawn(ROWS, seeded(), limit=7)
    assert (positions.diff(dim=1) > 0).all() and positions.min() == 0 and positions.max() == 6
    assert len(positions.unique(dim=0)) == 21, "five of seven"


def slowly(row):
    """The place of each digit in its number, from 1 on; signs and pads have 0."""
    places, place = [], 0
    for token in row:
        place = place + 1 if token < 10 else 0
        places.append(place)
    return places


@pytest.mark.parametrize("length", [5, 6, 7, 8, 27, 28, 40])
def test_digits_of_one_place_share_a_position(length):
    tokens, _ = addition(64, length, seeded())
    number = (length - 2) // 3
    positions = coupled(tokens, seeded(), limit=40)
    assert 0 <= positions.min() and positions.max() < 40
    for row, ids in zip(tokens.tolist(), positions.tolist(), strict=True):
        begin = ids[number]
        assert row[number] == 10 and [place - begin for place in ids] == slowly(row)
        places = [place - begin for place in ids]
        a, b, total = places[:number], places[number + 1 : 2 * number + 1], places[2 * number + 2 :]
        assert a == b == total[:number] == list(range(1, number + 1))
    assert len(positions[:, number].unique()) > 10, "rows begin anywhere"


def test_jitter_moves_cells_from_the_middle():
    """By a factor for each row, whose logarithm is as often below 0 as above."""
    places = jittered(torch.zeros(4096, 16), seeded())
    assert places.shape == (4096, 16, 2) and places.dtype == torch.float32
    torch.testing.assert_close(places.mean(dim=1), torch.full((4096, 2), 1.5))
    cells = in_squares(torch.zeros(1, 16)) - 1.5
    factors = (places - 1.5) / cells
    factor = factors[:, :1, :1]
    torch.testing.assert_close(factors, factor.expand_as(factors))
    assert 0.5 <= factor.min() < 0.51 and 1.98 < factor.max() <= 2
    for share in (0.25, 0.5, 0.75):
        assert factor.log2().quantile(share).item() == pytest.approx(2 * share - 1, abs=0.05)


class Spy(Encoding):
    """Keeps the positions that it is given, and whether the model is in training then."""

    def __init__(self, axes=1):
        super().__init__()
        self.axes, self.seen = axes, {True: [], False: []}

    def embed(self, x, positions):
        self.seen[self.training].append(positions)
        return x

    def __deepcopy__(self, memo):  # a copy of a model is watched, too
        return self


SUMS = Run("sums", "learned", length=8, tested=(8, 20), steps=3, batch_size=4, checks=1, dim=16, heads=2, layers=1)


@pytest.mark.parametrize("places", LIMITED)
def test_positions_reach_the_model_in_training_and_in_tests(monkeypatch, places):
    spy = Spy()
    monkeypatch.setitem(encodings.ENCODINGS, "learned", lambda run: spy)
    execute(replace(SUMS, places=places, limit=30))
    assert len(spy.seen[True]) == 3 and {p.shape for p in spy.seen[True]} == {(4, 8)}
    generator = seeded()
    for positions in spy.seen[True]:
        tokens, _ = addition(4, 8, generator)
        assert torch.equal(positions, PLACES[places](tokens, generator, limit=30))
    assert {p.shape[1] for p in spy.seen[False]} == {8, 20}
    for positions in spy.seen[False]:
        assert positions.max() < 30 and len(positions[:, 0].unique()) > 2
        assert (positions.diff(dim=1) > 0).all() == (places != "coupled")


@pytest.mark.parametrize("places", ["counted", "jittered"])
def test_pictures_are_jittered_in_training_alone(monkeypatch, places):
    spy = Spy(axes=2)
    monkeypatch.setitem(encodings.ENCODINGS, "axial", lambda run: spy)
    run = Run("digits", "axial", length=16, steps=2, batch_size=4, checks=1, dim=16, heads=2, layers=1)
    execute(replace(run, places=places))
    cells = in_squares(torch.zeros(1, 16))
    assert all(torch.equal(positions, cells) for positions in spy.seen[False]) and spy.seen[False]
    assert len(spy.seen[True]) == 2
    if places == "counted":
        assert all(torch.equal(positions, cells) for positions in spy.seen[True])
    else:
        assert {p.shape for p in spy.seen[True]} == {(4, 16, 2)}


def test_a_row_counts_as_a_whole():
    """Of two rows with three answers each, one has a wrong one; the last answers are both right."""

    class Told(Embedding):
        def forward(self, tokens, positions):
            return one_hot(tokens, 4).float()

    def sampler(size, length, generator):
        targets = torch.tensor([[1, -100, 2, 3], [1, 2, -100, 3]])
        return torch.tensor([[1, 0, 2, 3], [1, 1, 0, 3]]), targets

    def label(size, length, generator):
        return torch.tensor([[1, 1], [2, 2], [3, 3]]), torch.tensor([1, 2, 0])

    parts, whole = (measure(Told(1, 1), sampler, 4, rows=2, last=1, whole=whole) for whole in (False, True))
    assert parts["accuracy"] == pytest.approx(5 / 6) and whole["accuracy"] == 0.5
    assert {**parts, "accuracy": 0} == {**whole, "accuracy": 0} and whole["accuracy_last"] == 1
    assert measure(Told(1, 1), label, 2, rows=3, whole=True)["accuracy"] == pytest.approx(2 / 3)


COUPLED = replace(SUMS, places="coupled", limit=30, tested=(8,))


def changes(model, tokens, positions, place):
    """At which places the output is another one where the token at `place` is."""
    other = tokens.clone()
    other[:, place] = (other[:, place] + 1) % 10
    return (model(tokens, positions) != model(other, positions)).any(dim=-1)[0].tolist()


@pytest.mark.parametrize("layers", [1, 2])
def test_a_coupled_token_sees_what_stands_before_it_in_the_row(layers):
    model = build(replace(COUPLED, layers=layers)).eval()
    tokens, _ = addition(1, 11, seeded())
    positions = coupled(tokens, seeded(), limit=30)
    assert (positions.diff() < 0).any()
    for place in range(11):
        assert changes(model, tokens, positions, place) == [False] * place + [True] * (11 - place)


def test_a_table_has_a_row_for_each_position_below_the_limit():
    assert len(build(COUPLED).encoding.table) == 30 and len(build(SUMS).encoding.table) == 8
    assert reads(COUPLED, "as trained", 29) and not reads(SUMS, "as trained", 9)


PICTURE = Run("digits", "learned", length=64, tested=(64, 256), eval_modes=("interpolated",), dim=8, heads=2)


@pytest.mark.parametrize(("length", "factor"), [(256, 2), (576, 3)])
def test_an_interpolated_table_mixes_the_cells_around(length, factor):
    """Bilinearly: by how far the middle of a fine cell lies from those of the coarse ones; at the rim they end."""
    model = build(PICTURE)
    table = model.encoding.table.detach().reshape(8, 8, 8)
    with eval_mode(model, PICTURE, "interpolated", length):
        added = model.encoding.embed(torch.zeros(1, length, 8), torch.arange(length))[0]
    edge = 8 * factor
    for place in range(length):
        middles = [(at + 0.5) / factor - 0.5 for at in divmod(place, edge)]
        wanted = torch.zeros(8)
        for row in range(8):
            for column in range(8):
                near = [min(max(at, 0), 7) for at in middles]
                share = [max(0, 1 - abs(at - cell)) for at, cell in zip(near, (row, column), strict=True)]
                wanted += share[0] * share[1] * table[row, column]
        torch.testing.assert_close(added[place], wanted)
    if factor == 3:  # the middle of nine is where the coarse cell is
        torch.testing.assert_close(added.reshape(24, 24, 8)[1::3, 1::3], table)


AXES = replace(PICTURE, encoding="axial", eval_modes=("as trained", "to scale"), dim=16)


@pytest.mark.parametrize("encoding", ["axial", "mixed"])
def test_finer_cells_stand_to_scale(encoding):
    """A cell's middle is where it is in the coarse picture: cells 0 and 1 of a half lie 1/4 to both sides of 0."""
    run = replace(AXES, encoding=encoding)
    model, trained = build(run), build(run).encoding
    q, k = torch.randn(2, 1, 2, 256, 8)
    fine = in_squares(torch.zeros(1, 256))
    coarse = torch.stack([(fine[:, axis] - 0.5) / 2 for axis in (0, 1)], dim=1)
    assert coarse[0].tolist() == [-0.25, -0.25] and coarse[17].tolist() == [0.25, 0.25]
    with eval_mode(model, run, "to scale", 256):
        turned = model.encoding.rotate(q, k, fine, fine)
        assert model.encoding.axes == 2 and model.encoding.doors == ("rotate",)
        moved = model.encoding.rotate(q, k, fine, fine + 2)
    torch.testing.assert_close(turned, trained.rotate(q, k, coarse, coarse))
    torch.testing.assert_close(moved[1], trained.rotate(q, k, coarse, coarse + 1)[1])


@pytest.mark.parametrize("name", ["fox", "cope", "path"])
def test_a_ruler_that_reads_may_be_read_otherwise(name):
    run = Run(
        "count", name, length=8, tested=(24,), dim=16, heads=2, layers=1, eval_modes=("window", "sharper")
    )
    model, tokens, positions = build(run).eval(), torch.arange(24)[None] % 16, torch.arange(24)
    with eval_mode(model, run, "window", 24):
        assert changes(model, tokens, positions, 0) == [True] * 8 + [False] * 16
    with eval_mode(model, run, "sharper", 24):
        sharp = model(tokens, positions)
    plain = model(tokens, positions)
    torch.testing.assert_close(sharp[:, :8], plain[:, :8])
    assert (sharp[:, 9:] != plain[:, 9:]).any(dim=-1).all()
