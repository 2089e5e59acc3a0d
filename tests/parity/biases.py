from types import SimpleNamespace

import torch
from torch import nn
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.inkling.modeling_inkling import InklingRelativeLogits
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention
from x_transformers.x_transformers import AlibiPositionalBias, RelativePositionBias

from d2lpos.bias.alibi import slopes
from d2lpos.bias.t5 import bucket
from d2lpos.content.inkling import Inkling
from d2lpos.transformer.attention import attend
from d2lpos.transformer.masks import Mask
from tests.parity.comparison import agreement

table = agreement("biases")
HEADS, LENGTH = 12, 300
OFFSETS = torch.cat([torch.arange(-300, 301), torch.arange(-100_000, 100_001, 97)])
BUCKETS = [(32, 128), (64, 256), (8, 20)]  # and the distance from which all share one


def scores(encoding, heads=HEADS, length=LENGTH):
    """What the encoding adds to the scores of a sentence; (head, query, key)."""
    q = torch.zeros(1, heads, length, 4)
    positions = torch.arange(length)
    return encoding.score(q, q, positions, positions)


def buckets(causal, find, which):
    """Ours and theirs; which says to their function whether they are causal, or are not."""
    ours = [bucket(OFFSETS, *sizes, bidirectional=not causal) for sizes in BUCKETS]
    return torch.stack(ours), torch.stack([find(OFFSETS, which, *sizes) for sizes in BUCKETS])


for causal, direction in (False, "both directions"), (True, "causal"):

    @table.row(f"T5 buckets, {direction}", "transformers", "T5")
    def hf_bucket(causal=causal):
        return buckets(causal, T5Attention._relative_position_bucket, not causal)

    @table.row(f"T5 buckets, {direction}", "x-transformers", "RelativePositionBias")
    def xt_bucket(causal=causal):
        return buckets(causal, RelativePositionBias._relative_position_bucket, causal)


HEAD_COUNTS = range(1, 81)


def our_slopes(**options):
    return torch.cat([slopes(heads, **options) for heads in HEAD_COUNTS])


@table.row("ALiBi slopes, 1 to 80 heads", "transformers", "BLOOM", 1e-6)
def bloom_slopes():
    steps = torch.ones(1, 2, dtype=torch.long)  # the bias of the second key is one slope
    theirs = [build_alibi_tensor(steps, heads, torch.float32)[:, 0, 1] for heads in HEAD_COUNTS]
    return our_slopes(), torch.cat(theirs)


@table.row("ALiBi slopes over 4 octaves, 1 to 80 heads", "transformers", "MPT, alibi_bias_max 4", 1e-6)
def mpt_octaves():
    theirs = [-build_mpt_alibi_tensor(heads, 2, alibi_bias_max=4)[:, 0, 0] for heads in HEAD_COUNTS]
    return our_slopes(octaves=4), torch.cat(theirs)


@table.row("ALiBi slopes, 1 to 80 heads", "x-transformers", "AlibiPositionalBias", 1e-6)
def xt_slopes():
    return our_slopes(), torch.cat([AlibiPositionalBias(heads).slopes[:, 0, 0] for heads in HEAD_COUNTS])


@table.row("Bias read from the query, over 64 of 300 distances", "transformers", "Inkling", 1e-5)
def inkling():
    theirs = InklingRelativeLogits(16, 64)
    nn.init.normal_(theirs.proj)
    ours = Inkling(24, HEADS, rank=16, extent=64)
    ours.profiles.copy_(theirs.proj)
    numbers, here = torch.randn(2, HEADS, LENGTH, 16), torch.arange(LENGTH)
    q = torch.zeros(2, HEADS, LENGTH, 4)
    return ours.score(q, q, here, here, numbers), theirs(numbers.transpose(1, 2), here, here)


@table.row("Learned sinks, output of causal attention", "transformers", "gpt-oss", 1e-5)
def sinks():
    q, (k, v), here = torch.randn(2, HEADS, 50, 16), torch.randn(2, 2, 4, 50, 16), torch.arange(50)
    layer = SimpleNamespace(sinks=torch.randn(HEADS), num_key_value_groups=HEADS // 4, training=False)
    ahead = torch.full((50, 50), -torch.inf).triu(1)
    theirs, _ = modeling_gpt_oss.eager_attention_forward(layer, q, k, v, ahead, 16**-0.5)
    return attend(q, k, v, here, here, mask=Mask(here), sinks=layer.sinks), theirs.transpose(1, 2)
