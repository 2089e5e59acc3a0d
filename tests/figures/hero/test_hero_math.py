"""The modules' mathematics is that of d2lpos: node compares it with the values that are made here."""

import json
import math
from functools import cache, partial
from pathlib import Path

import pytest
import torch

from d2lpos.bias.alibi import bias
from d2lpos.bias.alibi import slopes as slopes_of
from d2lpos.bias.t5 import bucket
from d2lpos.config import read
from d2lpos.config.names import releases
from d2lpos.content.fox import FoX
from d2lpos.figures import gates as ruler
from d2lpos.figures import ranks as deals
from d2lpos.figures import stack as stacks
from d2lpos.figures.board import BASE, DIM, LENGTH, slow
from d2lpos.figures.hero import OPTIONS, module
from d2lpos.figures.machine import uniform
from d2lpos.figures.patch import BASE as SLOWEST
from d2lpos.figures.patch import FITTED, HEADINGS, PAIRS, aimed, omega, side
from d2lpos.figures.patch import numbers as fits
from d2lpos.figures.patch import weights as looks
from d2lpos.input import Learned, frequencies, sinusoidal
from d2lpos.lab import Run
from d2lpos.lab.models import Blocks, LastRow, Sharper, Stretched, Wrapped, build
from d2lpos.offset.shaw import clipped_index
from d2lpos.positions.grid import cells, coordinates
from d2lpos.rotary import Mixed, RoPE
from d2lpos.rotary.scaling import dynamic_ntk, linear, llama3, ntk, unscaled, yarn
from d2lpos.transformer import attention_weights, causal_mask, combine, window_mask
from tests.node import passed

HERE = Path(__file__).parent
UNITS, FIRST, DRAWS = 24, 8, 20_000
CLOSE = {"rtol": 0, "atol": 1e-6}
double = partial(torch.tensor, dtype=torch.float64)


def tables(seed, *shapes):
    """Tables of random numbers, all from one stream."""
    stream = uniform(seed)
    return [double([[next(stream) for _ in range(n)] for _ in range(m)]) for m, n in shapes]


def board():
    """Radians a token by which a pair turns, and tokens in which it gets around."""
    for pair, radians in enumerate(frequencies(DIM, BASE).tolist()):
        yield {"pair": pair, "radians": radians, "lap": 2 * math.pi / radians}


def buckets():
    for kind, count, far, clip in (
        ("causal", 32, 128, 1),
        ("causal", 64, 40, 1),
        ("both", 32, 128, 1),
        ("both", 8, 256, 1),
        ("shaw", 8, 40, 1),
        ("shaw", 8, 40, 32),
    ):
        offsets = torch.arange(-127, 1 if kind == "causal" else 128)
        if kind == "shaw":
            numbers = clipped_index(offsets, clip)
        else:
            numbers = bucket(offsets, count, far, bidirectional=kind == "both")
        for length in (20, 64, 128):
            fresh = len(numbers.unique()) - len(numbers[offsets.abs() < length].unique())
            case = {"kind": kind, "buckets": count, "far": far, "clip": clip, "length": length}
            yield case | {"numbers": numbers.tolist(), "fresh": fresh}


def cliff():
    """What the lab's remedies embed, all positions of a text compared with all. What is not there is []."""
    learned = Learned(8, 6).double()
    [learned.table.data] = tables(11, (8, 6))
    for length in (8, 9, 20, 32):
        remedies = (learned, LastRow(learned), Wrapped(learned), Stretched(learned, length), Blocks(learned))
        for number, remedy in enumerate(remedies):
            rows = 8 if remedy is learned else length
            vectors = remedy.embed(torch.zeros(1, rows, 6).double(), torch.arange(rows))[0].detach()
            apart = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
            for p in {0, 3, 7, min(8, length - 1), min(11, length - 1), length - 1}:
                lost = p >= rows
                alone = lost or p == 0 or (number == 4 and p % 8 == 0)
                yield {
                    "remedy": number,
                    "length": length,
                    "p": p,
                    "vector": [] if lost else vectors[p].tolist(),
                    "twins": [] if lost else [i for i in range(rows) if i != p and apart[p, i] < 1e-9],
                    "gap": [] if alone else [apart[p, p - 1].item()],
                }


def clocks():
    for base in (8, 64, 1000, 10_000, 100_000):
        for p, q in ((0, 1), (7, 8), (11.25, 40.5), (31, 32), (63, 2)):
            hands, others = sinusoidal(double([p, q]), 12, base)
            case = {"base": base, "p": p, "q": q, "hands": hands.tolist()}
            digits, those = (f"{int(x):06b}" for x in (p, q))
            case |= {"digits": list(map(int, digits)), "agreeing": sum(map(str.__eq__, digits, those))}
            yield case | {"alike": (hands @ others).item() / 6}


def dial():
    torch.manual_seed(0)
    rope, thetas = RoPE(64, layout="interleaved"), frequencies(64).tolist()
    for i in (0, 8, 16, 31):
        for m, n in ((14, 6), (30, 9), (0, 32), (20, 20)):
            q, k = torch.randn(2, 2).double()
            vectors = torch.zeros(2, 1, 1, 1, 64).double()
            vectors[..., 2 * i : 2 * i + 2] = torch.stack([q, k])[:, None, None, None]
            turned, other = rope.rotate(*vectors, double([m]), double([n]))
            case = {"i": i, "theta": thetas[i], "m": m, "n": n, "q": q.tolist(), "k": k.tolist()}
            yield case | {"score": (turned * other).sum().item()}


def drop():
    """Mean and standard deviation of the similarity of two positions, over draws of masks."""
    torch.manual_seed(1)
    for place in ("none", "sum", "token", "position", "independent", "whole position"):
        for rate in (0.1, 0.5):
            for offset in (1, 22):
                x, y = positions = sinusoidal(double([FIRST, FIRST + offset]), UNITS)
                pairs = combine(torch.zeros(DRAWS, 2, UNITS).double(), positions, place, rate)
                z = pairs.prod(dim=1).sum(dim=1)
                case = {"place": place, "rate": rate, "offset": offset, "n": DRAWS}
                yield case | {"kernel": (x @ y).item(), "mean": z.mean().item(), "sd": z.std().item()}


def gates():
    """Distances and weights as FoX has them, and the slope of the ALiBi that has them, too; −1 stands for none."""
    torch.manual_seed(12)
    some = torch.rand(3, 12).double()
    shut = some[0].where(torch.arange(12) != 4, 0)
    plain = [*some, shut, torch.ones(12), torch.zeros(12), torch.full((12,), 0.61)]
    fox, here = FoX(dim=4, heads=1), torch.arange(12)
    q, k = torch.zeros(1, 1, 1, 4).double(), torch.zeros(1, 1, 12, 4).double()
    for preset, chosen in [*ruler.PRESETS.items(), *[("", gates.tolist()) for gates in plain]]:
        for query in (11, 8, 6, 1, 0):
            read = double(chosen).log()[None, None, :, None]
            scores = fox.score(q, k, torch.tensor([query]), here, read)[0, 0, 0, : query + 1]
            slope = ruler.slope(chosen, query)
            far = [-1 if score == -math.inf else -score for score in scores.tolist()]
            case = {"preset": preset, "gates": chosen, "query": query, "far": far}
            yield case | {"weights": scores.softmax(0).tolist(), "slope": -1 if slope is None else slope}


def head(kind):
    """One head of the package: RoPE on two axes, or Mixed whose pairs turn in the four directions of the figure."""
    if kind == "axial":
        return RoPE(2 * PAIRS, base=SLOWEST, layout="interleaved", axes=2)
    mixed = Mixed(2 * PAIRS, heads=1, base=SLOWEST).double()
    mixed.omega.data = omega("mixed")[:, None]
    return mixed


def patch():
    for aim, fitted in fits().items():
        for view, row, column in (("8 × 8", 3, 5), ("8 × 8", 0, 7), ("counted", 4, 15), ("to scale", 9, 6)):
            n = side(view)
            at = (FITTED / 2 * coordinates(n, n) if view == "to scale" else cells(n, n)).double()
            one = n * row + column
            hits = aimed(aim, at - at[one])
            for kind in HEADINGS:
                a, b = double(fitted[kind])
                keys = torch.stack([a, -b], dim=-1).flatten().expand(1, 1, n * n, -1)
                query = double([1, 0]).repeat(PAIRS).mul((2 * PAIRS) ** 0.5).expand(1, 1, 1, -1)
                with torch.no_grad():
                    shares = attention_weights(query, keys, at[one : one + 1], at, head(kind)).flatten()
                yield {
                    "aim": aim,
                    "kind": kind,
                    "view": view,
                    "row": row,
                    "column": column,
                    "some": shares[:: 13 if n == 8 else 61].tolist(),
                    "rows": shares.view(n, n).sum(1).tolist(),
                    "columns": shares.view(n, n).sum(0).tolist(),
                    "hit": [shares[hits].sum().item()] if hits.any() else [],
                    "targets": hits.nonzero().flatten().tolist(),
                }


def ranks():
    for order in ("01234567", "07162534", "04152637", "57012634", "56240317"):
        row = list(map(int, order))
        for rule in deals.RULES:
            at = deals.starts(row, rule)
            astray = [int(at[q] - at[k] != 16 * (q - k)) for q in range(8) for k in range(q + 1)]
            case = {"order": order, "rule": rule, "starts": at, "astray": astray}
            yield case | {"wrong": deals.wrong(row, rule), "work": deals.work(row)}


def layer():
    """The fixed layer of shuffle: embeddings of five words, then the projections."""
    words, query, key, value = (2 * table - 1 for table in tables(94970, (5, 8), (8, 8), (8, 8), (8, 4)))
    return {"words": 1.5 * words, "query": 0.6 * query, "key": 0.6 * key, "value": 0.45 * value}


def shuffle():
    """Weights and outputs by place."""
    words, query, key, value = layer().values()
    place = torch.arange(6).double()
    for order in ([0, 1, 2, 3, 4, 5], [0, 5, 2, 3, 4, 1], [5, 4, 3, 2, 1, 0], [2, 0, 4, 5, 1, 3]):
        for positions in (False, True):
            for causal in (False, True):
                x = words[[(0, 1, 2, 3, 0, 4)[word] for word in order]] + positions * sinusoidal(place, 8)
                mask = causal_mask(place, place) if causal else None
                q, k = (x @ query)[None, None], (x @ key)[None, None]
                weights = attention_weights(q, k, place, place, mask=mask)[0, 0]
                outputs = weights @ x @ value
                case = {"order": order, "positions": positions, "causal": causal, "weights": weights.tolist()}
                yield case | {"outputs": outputs.tolist(), "mean": outputs.mean(0).tolist()}


def slopes():
    """Slopes, and windows and shares counted on the weights themselves."""
    for heads in (1, 3, 8, 12, 16):
        for paper, rule in enumerate(("released", "paper")):
            slope = slopes_of(heads, rule).double()[:, None]
            for length in (4, 91, 4096):
                scores, back, match = -slope * torch.arange(length), length // 3, 5
                held = scores.softmax(1).cumsum(1)
                windows = ((held < 0.99 - 1e-9).sum(1) + 1).tolist()
                scores[:, back] += match
                shares = scores.softmax(1)[:, back].tolist()
                case = {"heads": heads, "paper": paper, "length": length, "slopes": slope[:, 0].tolist()}
                case |= {"back": back, "match": match, "shares": shares}
                yield case | {"windows": windows, "nearest": held[:, 2].tolist()}


def stack():
    """Weights of the needle under the masks of the layers, and how far the last token has heard of."""
    for layers in ("window window window window", "window window window none", "none full window full"):
        for length in (32, 33, 62, 256):
            last, keys = torch.tensor([length - 1]), torch.arange(length)
            for sharper in (False, True):
                scale = Sharper(RoPE(4), stacks.TRAINED).factor(last).double() if sharper else 1.0
                weights, reaches, heard = [], [], torch.eye(length).double()
                for kind in layers.split():
                    windowed = kind == "window"
                    sees = window_mask(keys, keys, stacks.WINDOW) if windowed else causal_mask(keys, keys)
                    heard = sees.double() @ heard
                    reaches.append(length - 1 - heard[-1].nonzero().min().item())
                    scores = stacks.LEAD * (1.0 if windowed else scale) * (keys == 0).double()
                    weight = scores.masked_fill(~sees[-1], -torch.inf).softmax(-1)[0].item()
                    weights.append(-1 if kind == "full" and length > stacks.TRAINED else weight)
                case = {"layers": layers, "length": length, "sharper": int(sharper)}
                yield case | {"weights": weights, "reaches": reaches}


def stretch():
    """What scaling rules divide the frequencies of eight pairs by, after training on 64 tokens, for 512."""
    speeds = frequencies(16)
    turned = 64 * speeds
    for length in (64, 100, 128, 256, 512):
        rules = {
            "as trained": unscaled,
            "linear": partial(linear, factor=8),
            "ntk": partial(ntk, factor=8),
            "dynamic ntk": partial(dynamic_ntk, factor=1, length=64, current=length),
            "yarn": partial(yarn, factor=8, length=64),
            "llama3": partial(llama3, factor=8, length=64),
        }
        for rule, scale in rules.items():
            new, _ = scale(speeds)
            fresh = (turned < 2 * math.pi) & (length * new > turned * (1 + 1e-6))
            case = {"rule": rule, "length": length, "divisors": (speeds / new).tolist()}
            case["furthest"] = max([1.0, *(length * new / turned)[fresh].tolist()])
            case["step"] = (new / speeds)[turned >= 2 * math.pi].min().item()
            yield case | {"unseen": fresh.nonzero().flatten().tolist()}


CASES = (board, buckets, cliff, clocks, dial, drop, gates, patch, ranks, shuffle, slopes, stack, stretch)


@cache
def made(make) -> list[dict]:
    return list(make())


def test_the_modules_compute_what_d2lpos_does(tmp_path, monkeypatch):
    values = {make.__name__: made(make) for make in CASES}
    values["modules"] = {name: module(name) for name in OPTIONS} | {"clocks,plain": module("clocks", True)}
    values["encode"] = {"p": FIRST, "v": sinusoidal(double(FIRST), UNITS).tolist()}
    values["layer"] = {name: table.tolist() for name, table in layer().items()}
    (tmp_path / "values.json").write_text(json.dumps(values))
    monkeypatch.setenv("VALUES", str(tmp_path / "values.json"))
    assert passed(*sorted(HERE.glob("*.test.mjs"))) >= 50


def test_the_board_turns_like_the_model_whose_numbers_it_shows():
    [config] = [one["config"] for one in releases() if one["name"] == "SmolLM2 135M"]
    [encoding] = [layer["encoding"] for layer in read(config)["kinds"]]
    assert (encoding["base"], encoding["rotary"]) == (BASE, DIM)
    assert slow() == sum(case["lap"] <= LENGTH for case in made(board))


def test_gates_make_the_ruler_that_fox_makes_and_alibis_where_they_are_equal():
    for case in made(gates):
        ours = ruler.distances(case["gates"], case["query"])
        fox = double([math.inf if far < 0 else far for far in case["far"]])
        torch.testing.assert_close(ours, fox, **CLOSE)
        if case["slope"] >= 0:
            toll = bias(torch.tensor([case["query"]]), torch.arange(len(ours)), double([case["slope"]]))
            torch.testing.assert_close(-toll.flatten().double(), ours, **CLOSE)
    slopes = [case["slope"] for case in made(gates) if case["query"] == 11]
    assert slopes == pytest.approx([0.5, *[-1] * 6, 0, -1, -math.log(0.61)])


def test_axial_pairs_turn_as_those_of_rope_on_two_axes():
    x = torch.tensor([1.0, 0], dtype=torch.float64).repeat(PAIRS)[None, None, None]
    for place in ([1.0, 0.0], [0.0, 1.0], [3.0, -2.5]):
        place = torch.tensor([place], dtype=torch.float64)
        turned = head("axial").rotate(x, x, place, place)[0].unflatten(-1, (PAIRS, 2)).squeeze()
        angles = (place @ omega("axial")).squeeze(0)
        torch.testing.assert_close(turned, torch.stack([angles.cos(), angles.sin()], -1))


def test_a_patch_gets_the_weight_that_attention_gives():
    for case in made(patch):
        n = side(case["view"])
        ours = looks(case["kind"], case["aim"], case["view"], n * case["row"] + case["column"])
        torch.testing.assert_close(ours[:: 13 if n == 8 else 61], double(case["some"]), **CLOSE)
        torch.testing.assert_close(ours.view(n, n).sum(1), double(case["rows"]), **CLOSE)
        torch.testing.assert_close(ours.view(n, n).sum(0), double(case["columns"]), **CLOSE)


def test_a_stack_gives_a_needle_the_weight_that_attention_gives():
    for case in made(stack):
        layers, length = case["layers"].split(), case["length"]
        ours = [stacks.weight(kind, length, bool(case["sharper"])) for kind in layers]
        assert [-1 if weight is None else weight for weight in ours] == pytest.approx(
            case["weights"], abs=1e-6
        )
        assert stacks.reach(layers, length) == case["reaches"]


@pytest.mark.parametrize("stack", [("window",) * 4, ("window", "none", "window", "window")])
def test_the_last_token_has_heard_of_as_much_in_the_model_of_the_lab(stack):
    run = Run("needle", "rope", length=stacks.TRAINED, dim=8, heads=2, layers=4, stack=stack)
    model, length, embedded = build(run).double(), 80, []
    model.tokens.register_forward_hook(lambda _module, _inputs, out: embedded.append(out))
    out = model(torch.arange(length)[None], torch.arange(length))
    [slope] = torch.autograd.grad(out[0, -1].square().sum(), embedded)
    first = slope[0].abs().sum(dim=-1).nonzero().min().item()
    assert length - 1 - first == stacks.reach(stack, length)[-1]
