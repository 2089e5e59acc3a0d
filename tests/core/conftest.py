"""The encodings and inputs that the tests of the core share."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from d2lpos import ALiBi, Encoding, Learned, RoPE, Sinusoidal, T5Bias
from d2lpos.bias import FIRE, KERPLE, BEiT, Decomposed, Sandwich, Swin, SwinV2
from d2lpos.content import CoPE, FoX, Inkling, PaTH
from d2lpos.input.mlp import FourierFeatures, PositionMLP
from d2lpos.offset import Shaw, ShawKeys, TransformerXL
from d2lpos.positions.checks import offsets
from d2lpos.rotary import Mixed, MRoPE
from d2lpos.rotary.mrope import blocks
from d2lpos.rotary.rope_values import RoPEValues
from d2lpos.rotary.scaling import yarn
from d2lpos.runtime.threads import one_thread

DIM, HEADS, LENGTH = 16, 2, 64
FEATURES = DIM // HEADS


class Values(Encoding):
    """Opens the fourth door: adds table[clipped offset] to each value before they are averaged."""

    def __init__(self, clip: int, features: int):
        super().__init__()
        self.clip = clip
        self.table = nn.Parameter(torch.randn(2 * clip + 1, features))

    def value(self, weights, q_positions, k_positions):
        rows = self.table[offsets(q_positions, k_positions).clamp(-self.clip, self.clip) + self.clip]
        return torch.einsum("bhqk, bqkf -> bhqf", weights, rows.expand(len(weights), -1, -1, -1))


# An encoding's name -> how the tests make it, and what it sees of positions, from which its laws follow (test_laws.py):
# "nothing", "places", "offsets", "order" (which position comes before which, and not how far) or "share" (of what the
# query sees). Behind that stands "whole" where positions index a table, and "mirrored" where left is like right.
TABLE = {
    "none": (Encoding, "nothing"),
    "sinusoidal": (lambda: Sinusoidal(DIM), "places"),
    "learned": (lambda: Learned(LENGTH, DIM), "places", "whole"),
    "rope, half": (lambda: RoPE(FEATURES), "offsets"),
    "rope, interleaved": (lambda: RoPE(FEATURES, layout="interleaved"), "offsets"),
    "rope, scaled": (lambda: RoPE(FEATURES, rotary=6, scaling=partial(yarn, factor=4, length=64)), "offsets"),
    "t5": (lambda: T5Bias(HEADS, buckets=8, max_distance=20), "offsets", "whole"),
    "t5, causal": (lambda: T5Bias(HEADS, buckets=8, max_distance=20, bidirectional=False), "offsets", "whole"),
    "alibi": (lambda: ALiBi(HEADS), "offsets", "mirrored"),
    "values": (lambda: Values(clip=3, features=FEATURES), "offsets", "whole"),
    "mlp": (lambda: PositionMLP(DIM, length=8, hidden=8), "places"),
    "fourier": (lambda: FourierFeatures(DIM, n=4, hidden=8), "places"),
    "shaw's keys": (lambda: ShawKeys(FEATURES, clip=3), "offsets", "whole"),
    "shaw": (lambda: Shaw(FEATURES, clip=3), "offsets", "whole"),
    "transformer-xl": (lambda: TransformerXL(DIM, HEADS), "offsets"),
    "kerple, logarithmic": (lambda: KERPLE(HEADS), "offsets", "mirrored"),
    "kerple, power": (lambda: KERPLE(HEADS, "power"), "offsets", "mirrored"),
    "fire": (lambda: FIRE(HEADS, hidden=8), "share"),
    "sandwich": (lambda: Sandwich(HEADS, dim=8), "offsets", "mirrored"),
}
# Those whose values turn, and whose score asks for what a query sees or what a layer has read. A module that computes
# nothing behind a layer's back names in ALSO which of them it tests.
TABLE_OF_LAYERS = {
    "rope, values": (lambda: RoPEValues(FEATURES), "offsets"),
    "cope": (lambda: CoPE(FEATURES, rows=3), "order"),
    "fox": (lambda: FoX(DIM, HEADS), "order"),
    "path": (lambda: PaTH(DIM, HEADS), "order"),
    "inkling": (lambda: Inkling(DIM, HEADS, rank=3, extent=4), "offsets", "whole"),
}
# Those of several axes; windows are for 5 × 6 cells.
GRIDS = {
    "rope, two axes": lambda: RoPE(FEATURES, axes=2),
    "mixed": lambda: Mixed(FEATURES, HEADS),
    "m-rope": lambda: MRoPE(FEATURES, blocks([2, 1, 1])),
    "swin": lambda: Swin(HEADS, 5, 6),
    "swin v2": lambda: SwinV2(HEADS, 5, 6, hidden=8),
    "beit": lambda: BEiT(HEADS, 5, 6),
    "decomposed": lambda: Decomposed(FEATURES, 5, 6),
}
ENCODINGS = {name: row[0] for name, row in TABLE.items()}
LAYERS = {name: row[0] for name, row in TABLE_OF_LAYERS.items()}
SEES = {name: row[1:] for name, row in (TABLE | TABLE_OF_LAYERS).items()}


def that_see(*words):
    """The names of the encodings with one of these words in their row."""
    return tuple(name for name, row in SEES.items() if not {*words}.isdisjoint(row))


@pytest.fixture(autouse=True)
def threads():
    with one_thread():
        yield


@pytest.fixture
def default_dtype():
    """Sets the dtype of new tensors, until the test is over."""
    yield torch.set_default_dtype
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def randomized():
    """Turns an encoding to float64 and fills its tables with random numbers, since some begin at zero."""

    def randomize(encoding):
        for parameter in encoding.double().parameters():
            nn.init.normal_(parameter)
        return encoding

    return randomize


def pytest_generate_tests(metafunc):
    chosen = any("encoding" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "encoding" in metafunc.fixturenames and not chosen and not hasattr(metafunc.module, "encoding"):
        metafunc.parametrize("encoding", [*ENCODINGS, *getattr(metafunc.module, "ALSO", ())], indirect=True)


@pytest.fixture
def encoding(request, randomized):
    """Each encoding in float64, with random tables; parametrize with indirect=True to choose some."""
    return randomized((ENCODINGS | LAYERS)[request.param]())


@pytest.fixture
def place(encoding, request):
    """Makes positions that the encoding takes: integers where it indexes a table, else float64."""
    dtype = torch.int64 if "whole" in SEES[request.node.callspec.params["encoding"]] else torch.float64
    return lambda values: torch.as_tensor(values).to(dtype)


@pytest.fixture
def qkv():
    """Queries, keys and values of 2 sequences, 2 heads, 6 tokens, 8 features; float64."""
    return tuple(torch.randn(2, HEADS, 6, FEATURES, dtype=torch.float64) for _ in range(3))


@pytest.fixture
def largest():
    """How many numbers, or bytes, the largest tensor holds that a call makes on its way."""

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            made = op(*args, **(kwargs or {}))
            if isinstance(made, torch.Tensor):
                size = made.untyped_storage().nbytes() // (1 if self.in_bytes else made.element_size())
                self.largest = max(self.largest, size)
            return made

    def measure(call, in_bytes=False):
        sizes = Sizes()
        sizes.largest, sizes.in_bytes = 0, in_bytes
        with sizes:
            call()
        return sizes.largest

    return measure


class Graphs(list):
    """The graphs that torch.compile has made with the backend `count`, which runs them as they are."""

    def count(self, graph, example_inputs):
        self.append(graph)
        return graph.forward


@pytest.fixture
def graphs():
    torch.compiler.reset()
    return Graphs()
