"""The encodings and inputs that the tests of the core share."""

import pytest
import torch
from hypothesis import settings
from torch import nn

from d2lpos import ALiBi, Encoding, Learned, RoPE, Sinusoidal, T5Bias
from d2lpos.positions import offsets
from d2lpos.threads import one_thread

settings.register_profile("core", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("core")

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


ENCODINGS = {
    "none": Encoding,
    "sinusoidal": lambda: Sinusoidal(DIM),
    "learned": lambda: Learned(LENGTH, DIM),
    "rope, half": lambda: RoPE(FEATURES),
    "rope, interleaved": lambda: RoPE(FEATURES, layout="interleaved"),
    "t5": lambda: T5Bias(HEADS, buckets=8, max_distance=20),
    "t5, causal": lambda: T5Bias(HEADS, buckets=8, max_distance=20, bidirectional=False),
    "alibi": lambda: ALiBi(HEADS),
    "values": lambda: Values(clip=3, features=FEATURES),
}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
    with one_thread():
        yield


@pytest.fixture(params=ENCODINGS)
def encoding(request, seeded):
    """Each encoding in float64, with random tables; parametrize with indirect=True to choose some."""
    encoding = ENCODINGS[request.param]().double()
    for parameter in encoding.parameters():
        nn.init.normal_(parameter)
    return encoding


@pytest.fixture
def place(encoding):
    """Makes positions that the encoding takes: integers where it indexes a table, else float64."""
    dtype = torch.int64 if list(encoding.parameters()) else torch.float64
    return lambda values: torch.as_tensor(values).to(dtype)


@pytest.fixture
def qkv(seeded):
    """Queries, keys and values of 2 sequences, 2 heads, 6 tokens, 8 features; float64."""
    return tuple(torch.randn(2, HEADS, 6, FEATURES, dtype=torch.float64) for _ in range(3))
