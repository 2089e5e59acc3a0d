"""The modules' mathematics equals numpy's (in node), and numpy's equals d2lpos's."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
import torch

from d2lpos.bias.alibi import bias, slopes
from d2lpos.bias.t5 import bucket
from d2lpos.content.fox import FoX
from d2lpos.figures.board import BASE, DIM, LENGTH, slow
from d2lpos.figures.gates import PRESETS, distances, slope
from d2lpos.figures.hero import hero
from d2lpos.figures.patch import BASE as SLOWEST
from d2lpos.figures.patch import FITTED, PAIRS, aimed, omega, places, side
from d2lpos.figures.patch import numbers as fits
from d2lpos.figures.patch import weights as looks
from d2lpos.figures.ranks import starts, work, wrong
from d2lpos.figures.stack import LEAD, TRAINED, WINDOW, reach, weight
from d2lpos.input import Learned, frequencies, sinusoidal
from d2lpos.lab import Run
from d2lpos.lab.models import Blocks, LastRow, Sharper, Stretched, Wrapped, build
from d2lpos.offset.shaw import clipped_index
from d2lpos.positions.grid import cells, coordinates
from d2lpos.pretrained import SmolLM2
from d2lpos.rotary import Mixed, RoPE
from d2lpos.rotary.scaling import dynamic_ntk, linear, llama3, ntk, unscaled, yarn
from d2lpos.transformer import attention_weights, causal_mask, combine, window_mask
from tests.figures.hero import expected
from tests.node import passed

HERE = Path(__file__).parent
STORED = json.loads(expected.JSON.read_text())
CLOSE = {"rtol": 0, "atol": 1e-6}


def test_in_node():
    assert passed(*sorted(HERE.glob("*.test.mjs"))) >= 50


@pytest.mark.parametrize(
    "name", ["board", "buckets", "cliff", "clocks", "dial", "gates", "patch", "ranks", "shuffle", "slopes", "stack", "stretch"]
)
def test_the_stored_values_are_what_numpy_says(name):
    now = json.loads(json.dumps(list(getattr(expected, name)())))
    assert len(now) == len(STORED[name])
    for case, stored in zip(now, STORED[name], strict=True):
        assert case.keys() == stored.keys()
        for key, value in case.items():
            if isinstance(value, str):
                assert value == stored[key]
                continue
            torch.testing.assert_close(torch.tensor(value), torch.tensor(stored[key]), **CLOSE)


@pytest.mark.parametrize("case", STORED["cliff"])
def test_the_cliff_reads_a_table_as_the_lab_does(case):
    learned = Learned(8, 6)
    learned.table.data = torch.from_numpy(expected.uniform(11, 48).reshape(8, 6)).float()
    stretched = Stretched(learned, case["length"])
    readings = (learned, LastRow(learned), Wrapped(learned), stretched, Blocks(learned))
    x, position = torch.zeros(1, 1, 6), torch.tensor([case["p"]])
    if not case["vector"]:
        with pytest.raises(ValueError, match="rows of the table"):
            learned.embed(x, position)
        return
    vector = readings[case["remedy"]].embed(x, position)[0, 0].detach()
    torch.testing.assert_close(vector, torch.tensor(case["vector"]), rtol=0, atol=1e-5)


@pytest.mark.parametrize("case", STORED["buckets"], ids=lambda case: f"{case['kind']}-{case['length']}")
def test_buckets_are_those_of_t5_and_shaw(case):
    offsets = torch.arange(-127, 1 if case["kind"] == "causal" else 128)
    if case["kind"] == "shaw":
        ours = clipped_index(offsets, case["clip"])
    else:
        ours = bucket(offsets, case["buckets"], case["far"], bidirectional=case["kind"] == "both")
    assert ours.tolist() == case["numbers"]


def test_the_board_turns_like_the_model_whose_numbers_it_shows():
    with torch.device("meta"):
        encoding = SmolLM2().encoding
    assert (encoding.base, encoding.dim) == (BASE, DIM)
    stored = torch.tensor([case["radians"] for case in STORED["board"]], dtype=torch.float64)
    torch.testing.assert_close(frequencies(DIM, BASE).double(), stored, **CLOSE)
    assert slow() == sum(case["lap"] <= LENGTH for case in STORED["board"])


@pytest.mark.parametrize("case", STORED["clocks"], ids=lambda case: f"{case['p']}-{case['base']}")
def test_the_clocks_tell_what_sinusoidal_encodes(case):
    hands, others = sinusoidal(torch.tensor([case["p"], case["q"]], dtype=torch.float64), 12, case["base"])
    torch.testing.assert_close(hands, torch.tensor(case["hands"], dtype=torch.float64), **CLOSE)
    torch.testing.assert_close((hands @ others).item() / 6, case["alike"], **CLOSE)


@pytest.mark.parametrize("case", STORED["dial"])
def test_the_dial_turns_like_rope(case):
    rope = RoPE(64, layout="interleaved")
    vectors = torch.zeros(2, 1, 1, 1, 64, dtype=torch.float64)
    pair = slice(2 * case["i"], 2 * case["i"] + 2)
    vectors[0, ..., pair], vectors[1, ..., pair] = torch.tensor(case["q"]), torch.tensor(case["k"])
    m, n = (torch.tensor([float(case[key])], dtype=torch.float64) for key in "mn")
    q, k = rope.rotate(*vectors, m, n)
    torch.testing.assert_close((q * k).sum().item(), case["score"], **CLOSE)


@pytest.mark.parametrize("case", STORED["slopes"], ids=lambda case: f"{case['heads']}-{case['length']}")
def test_the_slopes_are_those_of_alibi(case):
    ours = slopes(case["heads"], "paper" if case["paper"] else "released").double()
    torch.testing.assert_close(ours, torch.tensor(case["slopes"], dtype=torch.float64), **CLOSE)
    weights = (-ours[:, None] * torch.arange(case["length"])).softmax(dim=-1)
    for head, window in zip(weights, case["windows"], strict=True):
        assert head[:window].sum() > 0.99 - 1e-9 and head[: window - 1].sum() < 0.99
    scores = -ours[:, None] * torch.arange(case["length"])
    scores[:, case["back"]] += case["match"]
    shares = scores.softmax(dim=-1)[:, case["back"]]
    torch.testing.assert_close(shares, torch.tensor(case["shares"], dtype=torch.float64), **CLOSE)


def test_dropout_encodes_like_sinusoidal():
    stored = torch.tensor(STORED["encode"]["v"], dtype=torch.float64)
    position = torch.tensor(STORED["encode"]["p"], dtype=torch.float64)
    torch.testing.assert_close(sinusoidal(position, len(stored)), stored, **CLOSE)


@pytest.mark.parametrize("case", STORED["drop"], ids=lambda case: f"{case['place']}-{case['rate']}")
def test_dropout_falls_as_combine_lets_it_fall(case):
    places = torch.tensor([expected.FIRST, expected.FIRST + case["offset"]])
    positions = sinusoidal(places, expected.UNITS)
    pairs = combine(torch.zeros(10_000, 2, expected.UNITS), positions, case["place"], case["rate"])
    alike = pairs.prod(dim=1).sum(dim=1)
    assert abs(alike.mean() - case["mean"]) < 5 * case["sd"] / 100 + 1e-4
    assert abs(alike.std() - case["sd"]) < 0.06 * case["sd"] + 1e-4


@pytest.mark.parametrize("case", STORED["shuffle"], ids=lambda case: str(case["order"]))
def test_shuffle_attends_like_d2lpos(case):
    tables = (STORED["layer"][name] for name in ("words", "query", "key", "value"))
    words, query, key, value = (torch.tensor(table, dtype=torch.float64) for table in tables)
    place = torch.arange(6, dtype=torch.float64)
    x = words[[(0, 1, 2, 3, 0, 4)[word] for word in case["order"]]]
    if case["positions"]:
        x = x + sinusoidal(place, 8)
    mask = causal_mask(place, place) if case["causal"] else None
    weights = attention_weights((x @ query)[None, None], (x @ key)[None, None], place, place, mask=mask)[0, 0]
    outputs = weights @ x @ value
    for have, stored in ((weights, "weights"), (outputs, "outputs"), (outputs.mean(0), "mean")):
        torch.testing.assert_close(have, torch.tensor(case[stored], dtype=torch.float64), **CLOSE)


@pytest.mark.parametrize("case", STORED["shuffle"], ids=lambda case: str(case["order"]))
def test_the_still_picture_shows_the_same_weights(case):
    html = hero("shuffle", **{key: case[key] for key in ("order", "positions", "causal")}).html
    sides = [float(side) for side in re.findall(r'<rect x=.*? width="([\d.]+)"', html)]
    weights = [weight for row in case["weights"] for weight in row]
    assert sides == pytest.approx([42 * weight**0.5 for weight in weights], abs=0.051)


@pytest.mark.parametrize("case", STORED["gates"])
def test_gates_make_the_ruler_that_fox_makes_and_alibis_where_they_are_equal(case):
    gates, query, here = case["gates"], torch.tensor([case["query"]]), torch.arange(12)
    if case["preset"]:
        assert gates == pytest.approx(PRESETS[case["preset"]])
    q, k = torch.zeros(1, 1, 1, 4).double(), torch.zeros(1, 1, 12, 4).double()
    read = torch.tensor(gates).double().log()[None, None, :, None]
    scores = FoX(dim=4, heads=1).score(q, k, query, here, read)[0, 0]
    weights = scores.masked_fill(~causal_mask(query, here), -torch.inf).softmax(-1)[0, : query + 1]
    torch.testing.assert_close(weights, torch.tensor(case["weights"]).double(), **CLOSE)
    stored = torch.tensor([torch.inf if d < 0 else d for d in case["far"]]).double()
    ours = distances(gates, case["query"])
    for far in (-scores[0, : query + 1], ours):
        torch.testing.assert_close(far, stored, **CLOSE)
    m = slope(gates, case["query"])
    assert (-1 if m is None else m) == pytest.approx(case["slope"])
    if m is not None:
        toll = bias(query, here, torch.tensor([m]).double())[0, 0, : query + 1]
        torch.testing.assert_close(-toll.double(), ours, **CLOSE)


@pytest.mark.parametrize("case", STORED["ranks"], ids=lambda case: f"{case['order']}-{case['rule']}")
def test_chunks_on_processors_have_the_positions_pairs_and_work_of_whole_matrices(case):
    order = [int(chunk) for chunk in case["order"]]
    assert starts(order, case["rule"]) == case["starts"]
    assert wrong(order, case["rule"]) == pytest.approx(case["wrong"])
    assert work(order) == case["work"]


def head(kind):
    """One head of the package: RoPE on two axes, or Mixed whose pairs turn in the four directions of the figure."""
    if kind == "axial":
        return RoPE(2 * PAIRS, base=SLOWEST, layout="interleaved", axes=2)
    mixed = Mixed(2 * PAIRS, heads=1, base=SLOWEST).double()
    mixed.omega.data = omega("mixed")[:, None]
    return mixed


def test_axial_pairs_turn_as_those_of_rope_on_two_axes():
    x = torch.tensor([1.0, 0], dtype=torch.float64).repeat(PAIRS)[None, None, None]
    for place in ([1.0, 0.0], [0.0, 1.0], [3.0, -2.5]):
        place = torch.tensor([place], dtype=torch.float64)
        turned = head("axial").rotate(x, x, place, place)[0].unflatten(-1, (PAIRS, 2)).squeeze()
        angles = (place @ omega("axial")).squeeze(0)
        torch.testing.assert_close(turned, torch.stack([angles.cos(), angles.sin()], -1))


@pytest.mark.parametrize(
    "case", STORED["patch"], ids=lambda case: "-".join(str(case[key]) for key in ("aim", "kind", "view", "row"))
)
def test_a_patch_gets_the_weight_that_attention_gives(case):
    kind, aim, view, n = case["kind"], case["aim"], case["view"], side(case["view"])
    at = (FITTED / 2 * coordinates(n, n) if view == "to scale" else cells(n, n)).double()
    a, b = torch.tensor(fits()[aim][kind], dtype=torch.float64)
    key = torch.stack([a, -b], dim=-1).flatten().expand(1, 1, n * n, -1)
    query = torch.tensor([1.0, 0], dtype=torch.float64).repeat(PAIRS).mul(len(key[0, 0, 0]) ** 0.5)
    one = n * case["row"] + case["column"]
    with torch.no_grad():
        found = attention_weights(query.expand(1, 1, 1, -1), key, at[one : one + 1], at, head(kind)).flatten()
    torch.testing.assert_close(looks(kind, aim, view, one), found, **CLOSE)
    square = found.view(n, n)
    for ours, stored in (
        (found[:: 13 if n == 8 else 61], case["some"]),
        (square.sum(1), case["rows"]),
        (square.sum(0), case["columns"]),
    ):
        torch.testing.assert_close(ours, torch.tensor(stored, dtype=torch.float64), **CLOSE)
    hits = aimed(aim, places(view) - places(view)[one])
    assert hits.nonzero().flatten().tolist() == case["targets"]
    assert found[hits].sum().item() == pytest.approx(sum(case["hit"]), abs=1e-6)
    torch.testing.assert_close(places(view), at)


@pytest.mark.parametrize("case", STORED["stack"], ids=lambda case: f"{case['layers']}-{case['length']}")
def test_a_stack_gives_a_needle_the_weight_that_attention_gives(case):
    length, layers, last = case["length"], case["layers"].split(), torch.tensor([case["length"] - 1])
    keys = torch.arange(length)
    scale = Sharper(RoPE(4), TRAINED).factor(last) if case["sharper"] else 1.0
    for kind, stored in zip(layers, case["weights"], strict=True):
        ours = weight(kind, length, bool(case["sharper"]))
        if ours is None:
            assert stored == -1
            continue
        windowed = kind == "window"
        mask = window_mask(last, keys, WINDOW) if windowed else causal_mask(last, keys)
        scores = LEAD * (1.0 if windowed else scale) * (keys == 0).double()
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        torch.testing.assert_close(weights.flatten()[0].item(), stored, **CLOSE)
        assert ours == pytest.approx(stored, abs=1e-9)
    assert reach(layers, length) == case["reaches"]


@pytest.mark.parametrize("stack", [("window",) * 4, ("window", "none", "window", "window")])
def test_the_last_token_has_heard_of_as_much_in_the_model_of_the_lab(stack):
    run = Run("needle", "rope", length=TRAINED, dim=8, heads=2, layers=4, stack=stack)
    model, length, embedded = build(run).double(), 80, []
    model.tokens.register_forward_hook(lambda _module, _inputs, out: embedded.append(out))
    out = model(torch.arange(length)[None], torch.arange(length))
    [slope] = torch.autograd.grad(out[0, -1].square().sum(), embedded)
    first = slope[0].abs().sum(dim=-1).nonzero().min().item()
    assert length - 1 - first == reach(stack, length)[-1]


@pytest.mark.parametrize("case", STORED["stretch"], ids=lambda case: f"{case['rule']}-{case['length']}")
def test_stretch_divides_as_the_rules_do(case):
    new, _ = {
        "as trained": unscaled,
        "linear": partial(linear, factor=8),
        "ntk": partial(ntk, factor=8),
        "dynamic ntk": partial(dynamic_ntk, factor=1, length=64, current=case["length"]),
        "yarn": partial(yarn, factor=8, length=64),
        "llama3": partial(llama3, factor=8, length=64),
    }[case["rule"]](frequencies(16))
    stored = torch.tensor(case["divisors"], dtype=torch.float64)
    torch.testing.assert_close(frequencies(16) / new, stored, **CLOSE)
