"""The figures' mathematics is that of d2lpos, and their words say what it gives: node computes, and Python compares."""

import json
import math
from functools import partial
from pathlib import Path

import pytest
import torch

from d2lpos.bias.alibi import slopes as slopes_of
from d2lpos.bias.t5 import bucket
from d2lpos.config import read
from d2lpos.config.names import releases
from d2lpos.content.fox import FoX
from d2lpos.figures.lengths import MODELS, numbers
from d2lpos.figures.machine import uniform
from d2lpos.input import Learned, frequencies, sinusoidal
from d2lpos.lab import Run, frame, records
from d2lpos.lab.models import Blocks, LastRow, Stretched, Wrapped, build
from d2lpos.lab.plot import named
from d2lpos.offset.shaw import clipped_index
from d2lpos.rotary import RoPE
from d2lpos.rotary.scaling import dynamic_ntk, linear, llama3, ntk, unscaled, yarn
from d2lpos.transformer import attention_weights, causal_mask, combine, window_mask
from tests.node import node, passed

HERE = Path(__file__).parent
UNITS, FIRST, DRAWS = 24, 8, 20_000
TRAINED, SIGHT, LEAD = 32, 16, 5  # of the figure "longer": tokens of training and of a window, and nats
double = partial(torch.tensor, dtype=torch.float64)


def tables(seed, *shapes):
    """Tables of random numbers, all from one stream."""
    stream = uniform(seed)
    return [double([[next(stream) for _ in range(n)] for _ in range(m)]) for m, n in shapes]


# Each yields a name of the figure's module, arguments, and the value that d2lpos has; `None` in place of arguments
# asks for what has the name.


def buckets():
    """Which offsets share a place, and which places training has touched."""
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
            places = [
                {"number": n, "first": some[0].item(), "last": some[-1].item(), "seen": bool((some.abs() < length).any())}
                for n in numbers.unique().tolist()
                for some in [offsets[numbers == n]]
            ]
            yield "places", [{"kind": kind, "buckets": count, "far": far, "clip": clip, "length": length}], places


def cliff():
    """What the lab's remedies embed, all positions of a text compared with all."""
    learned = Learned(8, 6).double()
    [learned.table.data] = tables(11, (8, 6))
    remedies = {
        "error": learned,
        "last row": LastRow(learned),
        "wrapped": Wrapped(learned),
        "stretched": Stretched(learned, 16),
        "blocks": Blocks(learned),
    }
    for name, remedy in remedies.items():
        rows = 8 if remedy is learned else 16
        vectors = remedy.embed(torch.zeros(1, rows, 6).double(), torch.arange(rows))[0].detach()
        apart = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
        for p in range(16):
            of, lost = [p, name], p >= rows
            yield ("rowAt", of, None) if lost else ("vectorAt", [{"call": ["rowAt", of]}], vectors[p].tolist())
            yield "twins", of, [] if lost else [i for i in range(rows) if i != p and apart[p, i] < 1e-9]


def clocks():
    for base in (8, 64, 1000, 10_000, 100_000):
        for p, q in ((0, 1), (7, 8), (11.25, 40.5), (31, 32), (63, 2)):
            hands, others = sinusoidal(double([p, q]), 12, base)
            bits, those = (f"{int(x):06b}" for x in (p, q))
            agree = sum(map(str.__eq__, bits, those))
            written = {"call": ["digits", [int(p)]]}
            yield "digits", [int(p)], list(map(int, reversed(bits)))
            yield "code", [p, written, [1] * 6, base], hands.tolist()
            yield "code", [int(p), written, [0] * 6, base], [2 * int(bit) - 1 for bit in reversed(bits) for _ in "ab"]
            yield "likeness", [True, p, q, base], (hands @ others).item() / 6
            yield "likeness", [False, int(p), int(q), base], (2 * agree - 6) / 6


def dial():
    torch.manual_seed(0)
    rope, thetas = RoPE(64, layout="interleaved"), frequencies(64).tolist()
    for i in (0, 8, 16, 31):
        yield "theta", [i], thetas[i]
        for m, n in ((14, 6), (30, 9), (0, 32), (20, 20)):
            q, k = torch.randn(2, 2).double()
            vectors = torch.zeros(2, 1, 1, 1, 64).double()
            vectors[..., 2 * i : 2 * i + 2] = torch.stack([q, k])[:, None, None, None]
            turned, other = rope.rotate(*vectors, double([m]), double([n]))
            yield "score", [m, n, thetas[i], q.tolist(), k.tolist()], (turned * other).sum().item()


def dropout():
    """Mean and standard deviation of the similarity of two positions, over draws of masks."""
    torch.manual_seed(1)
    yield "encode", [FIRST, UNITS], sinusoidal(double(FIRST), UNITS).tolist()
    for place in ("none", "sum", "token", "position", "independent", "whole position"):
        for rate in (0.1, 0.5):
            for offset in (1, 22):
                x, y = positions = sinusoidal(double([FIRST, FIRST + offset]), UNITS)
                pairs = combine(torch.zeros(DRAWS, 2, UNITS).double(), positions, place, rate)
                spread = pytest.approx(pairs.prod(dim=1).sum(dim=1).std().item(), rel=0.04, abs=1e-9)
                yield "stats", [place, rate, FIRST, FIRST + offset], {"mean": (x @ y).item(), "sd": spread}


def gates():
    """Distances and weights as FoX has them."""
    fox, here = FoX(dim=4, heads=1), torch.arange(12)
    q, k = torch.zeros(1, 1, 1, 4).double(), torch.zeros(1, 1, 12, 4).double()
    torch.manual_seed(12)
    for chosen in [[0.02 if i == 6 else 0.9 for i in range(12)], *torch.rand(3, 12).double().tolist()]:
        scores = fox.score(q, k, torch.tensor([11]), here, double(chosen).log()[None, None, :, None])[0, 0, 0]
        yield "distances", [chosen], (-scores).tolist()
        yield "shares", [{"call": ["distances", [chosen]]}], scores.softmax(0).tolist()


def lengths():
    """The order of the models by the means of the records, and these as the figure has them."""
    rows = named(frame(records("extrapolation")))
    means = rows[rows["split"] == "test"].groupby(["name", "length"])["loss_last"].mean()
    for at, length in enumerate((64, 128, 256, 512)):
        assert {name: losses[at] for name, losses in LOSSES.items()} == {name: round(means[name, length], 3) for name in MODELS}
        yield "ranked", [LOSSES, at], sorted(MODELS, key=lambda name: means[name, length])


def longer():
    """Weights of the needle under the masks of the layers."""
    for name, value in {"TRAINED": TRAINED, "SIGHT": SIGHT, "LEAD": LEAD}.items():
        yield name, None, value
    for length in (32, 33, 62, 256):
        keys = torch.arange(length)
        scores = LEAD * (keys == 0).double()
        for kind, mask in {"full": causal_mask, "window": partial(window_mask, window=SIGHT), "none": causal_mask}.items():
            weights = scores.masked_fill(~mask(keys, keys)[-1], -torch.inf).softmax(-1).flatten()
            yield "weight", [kind, length], None if kind == "full" and length > TRAINED else weights[0].item()


def pairs():
    """Pairs turn as those of the model whose records are shown."""
    [config] = [one["config"] for one in releases() if one["name"] == "SmolLM2 135M"]
    [encoding] = [layer["encoding"] for layer in read(config)["kinds"]]
    for pair, radians in enumerate(frequencies(encoding["rotary"], encoding["base"]).tolist()):
        yield "radians", [pair], radians


def shuffle():
    """Outputs of the fixed layer, by word: embeddings of five words, then the projections."""
    words, query, key, value = (2 * table - 1 for table in tables(94970, (5, 8), (8, 8), (8, 8), (8, 4)))
    layer = {"words": 1.5 * words, "query": 0.6 * query, "key": 0.6 * key, "value": 0.45 * value}
    yield "LAYER", None, {name: table.tolist() for name, table in layer.items()}
    words, query, key, value = layer.values()
    place = torch.arange(6).double()
    for order in ([0, 1, 2, 3, 4, 5], [0, 5, 2, 3, 4, 1], [5, 4, 3, 2, 1, 0], [2, 0, 4, 5, 1, 3]):
        for positions in (False, True):
            for causal in (False, True):
                x = words[[(0, 1, 2, 3, 0, 4)[word] for word in order]] + positions * sinusoidal(place, 8)
                mask = causal_mask(place, place) if causal else None
                q, k = (x @ query)[None, None], (x @ key)[None, None]
                weights = attention_weights(q, k, place, place, mask=mask)[0, 0]
                outputs, at = weights @ x @ value, torch.tensor(order).argsort()
                yield "layer", [order, {"positions": positions, "causal": causal}], outputs[at].tolist()


def slopes():
    """Slopes, and shares counted on the weights themselves."""
    for heads in (1, 3, 8, 12, 16):
        for rule in ("released", "paper"):
            slope = slopes_of(heads, rule).double()
            yield "slopes", [heads, rule], slope.tolist()
            for back, match in ((1, 0), (30, 5), (431, 12)):
                scores = -slope[:, None] * torch.arange(512)
                scores[:, back] += match
                for m, share in zip(slope.tolist(), scores.softmax(1)[:, back].tolist(), strict=True):
                    yield "share", [m, back, match], share


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
            for pair, divisor in enumerate((speeds / new).tolist()):
                yield "divisor", [rule, pair, length], divisor
            yield "furthest", [rule, length], max([1.0, *(length * new / turned)[fresh].tolist()])
            yield "step", [rule, length], (new / speeds)[turned >= 2 * math.pi].min().item()
            yield "unseen", [rule, length], fresh.nonzero().flatten().tolist()


T5 = {"kind": "causal", "buckets": 32, "far": 128, "clip": 16, "length": 64}
SWAPPED, TWINS = [0, 5, 2, 3, 4, 1], [4, 1, 2, 3, 0, 5]
RULER = {"call": ["slopes", [8, "released"]]}
LOSSES = numbers()
# A figure, a function of it, its arguments, and what is in its words.
WORDS = [
    ("gates", "verdict", [0.02], "3.8 farther away than at first, no word after it has moved, and the six words before it get 1 %"),
    ("lengths", "verdict", [LOSSES, 0], ", as in training: T5 is first, and RoPE second."),
    ("lengths", "verdict", [LOSSES, 3], ", eight times the training length: KERPLE is first. T5, the winner at 64, is fourth of the five."),
    ("buckets", "explain", [T5, -3], "Only 3 to the left uses bucket 3. A text of 128 tokens uses 5 buckets that training never"),
    ("buckets", "explain", [T5 | {"far": 64}, -120], "Training has touched all that a text of 128 tokens uses."),
    ("cliff", "price", [11, "error"], "asks for row 11, and the table ends at row 7: an error."),
    ("cliff", "price", [11, "wrapped"], "gets row 3, as does position 3: without"),
    ("cliff", "price", [9, "last row"], "gets row 7, as do positions 7 to 15: without"),
    ("cliff", "price", [9, "stretched"], "gets a mix of two rows at 4.20. Each position has a vector of its own, but steps are 0.47 times"),
    ("cliff", "price", [11, "blocks"], "gets row 3 and sees positions 8 to 15,"),
    ("clocks", "verdict", [False, 11, 64], "From 11 to 12 three digits flip at once."),
    ("clocks", "verdict", [False, 31, 64], "all six digits flip at once: no code is less like that of 31 than its"),
    ("clocks", "verdict", [False, 63, 64], "all six digits flip at once: the odometer is back at 0."),
    ("clocks", "verdict", [True, 11.25, 10_000], "57°, 12°, 2.7°, 0.57°, 0.12°, and 0.027°, wherever p is"),
    ("longer", "verdict", [32], "as in training: with RoPE or without position the needle gets 83\xa0% of the weight, and the window misses it."),
    ("longer", "verdict", [256], "RoPE meets new angles, the window misses the needle, and without position its weight falls from 83\xa0% to 37\xa0%."),
    ("pairs", "angle", [31], "less than 0.1°"),
    ("pairs", "verdict", [3.8251, 0.3649], "rises from 3.83 to 4.19"),
    ("pairs", "verdict", [3.8251, -0.0063], "falls from 3.83 to 3.82"),
    ("pairs", "verdict", [3.8251, 0.0049], "stays at 3.83"),
    ("shuffle", "compare", [[0, 1, 2, 3, 4, 5], {}], "The original order. The bars of the two “the” are alike."),
    ("shuffle", "compare", [[0, 1, 2, 3, 4, 5], {"causal": True}], "The bars of the two “the” are not alike."),
    ("shuffle", "compare", [SWAPPED, {}], "Another order, and every word has kept its bars."),
    ("shuffle", "compare", [TWINS, {}], "the same sentence again, and no number has noticed"),
    ("shuffle", "compare", [TWINS, {"positions": True}], "each has the other’s bars"),
    ("shuffle", "compare", [SWAPPED, {"positions": True, "causal": True}], ": positions and mask tell the layer"),
    ("slopes", "seen", [RULER, 64, 6], "6 of 8 heads give it at least 1 % of the weight, head 6 the most: 70 %."),
    ("slopes", "seen", [RULER, 400, 0], "No head gives it at least 1 % of the weight."),
    ("slopes", "remark", [8, "paper"], "With 8 heads both rules agree."),
    ("slopes", "remark", [12, "released"], "The released slopes are those of 8 heads, and some of those of 16."),
    ("stretch", "trouble", ["as trained", 512], "Pairs 3, 4, 5, 6, and 7 come to angles"),
    ("stretch", "trouble", ["linear", 512], "as little as 13 %."),
]  # fmt: skip


def agree(value, wanted) -> bool:
    match wanted:
        case list():
            return len(value) == len(wanted) and all(map(agree, value, wanted))
        case dict():
            return all(agree(value[key], part) for key, part in wanted.items())
        case float():
            return value is not None and math.isclose(value, wanted, rel_tol=0, abs_tol=1e-6)
    return value == wanted


def test_figures_compute_what_d2lpos_does_and_say_what_they_compute():
    makers = (buckets, cliff, clocks, dial, dropout, gates, lengths, longer, pairs, shuffle, slopes, stretch)
    cases = [(make.__name__, *case) for make in makers for case in make()]
    values = json.loads(node(HERE / "calls.mjs", stdin=json.dumps([case[:3] for case in [*cases, *WORDS]])))
    assert len(cases) > 1000
    wrong = [(*case, value) for case, value in zip(cases, values, strict=False) if not agree(value, case[3])]
    assert wrong == []
    words = [value["verdict"] if isinstance(value, dict) else value for value in values[len(cases) :]]
    assert [(case, text) for case, text in zip(WORDS, words, strict=True) if case[3] not in text] == []


def test_in_node():
    assert passed(*sorted(HERE.glob("*.test.mjs"))) >= 23


@pytest.mark.parametrize("stack", [("window",) * 4, ("window", "none", "window", "window")])
def test_the_last_token_has_heard_of_as_much_in_the_model_of_the_lab(stack):
    run = Run("needle", "rope", length=TRAINED, dim=8, heads=2, layers=4, stack=stack)
    model, length, embedded = build(run).double(), 80, []
    model.tokens.register_forward_hook(lambda _module, _inputs, out: embedded.append(out))
    out = model(torch.arange(length)[None], torch.arange(length))
    [slope] = torch.autograd.grad(out[0, -1].square().sum(), embedded)
    first = slope[0].abs().sum(dim=-1).nonzero().min().item()
    steps = [SIGHT - 1 if kind == "window" else length - 1 for kind in stack]
    assert length - 1 - first == min(length - 1, sum(steps))
