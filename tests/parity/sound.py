"""What hears: positions of Whisper, wav2vec 2, HuBERT and the Conformer."""

import torch
from transformers import HubertConfig, Wav2Vec2Config, Wav2Vec2ConformerConfig
from transformers.models.hubert.modeling_hubert import HubertPositionalConvEmbedding
from transformers.models.wav2vec2.modeling_wav2vec2 import Wav2Vec2PositionalConvEmbedding
from transformers.models.wav2vec2_conformer import modeling_wav2vec2_conformer as conformer
from transformers.models.whisper.modeling_whisper import WhisperPositionalEmbedding, sinusoids

from d2lpos import Learned
from d2lpos.input import Convolutional
from d2lpos.input.sinusoids import sinusoidal
from d2lpos.offset.transformer_xl import TransformerXL
from tests.parity.comparison import agreement
from tests.parity.models import DIM, HEADS, LENGTH, our_attention, pair, random_model, stacked

table = agreement("sound")
FRAMES = 200  # more than the 128 of the kernel
SIZES = {"hidden_size": DIM, "num_attention_heads": HEADS}


@table.row("All 1,500 rows of 768 features, from float32 angles", "transformers", "Whisper, encoder", 2e-4)
def whisper_encoder():
    return sinusoidal(torch.arange(1500).double(), 768, layout="concatenated", endpoint=True).float(), sinusoids(1500, 768)


@table.row("`Learned`, from row 300 on", "transformers", "Whisper, decoder", 1e-9)
def whisper_decoder():
    theirs, ours = random_model(WhisperPositionalEmbedding(448, DIM)), Learned(448, DIM).double()
    ours.table.copy_(theirs.weight)
    ids = torch.zeros(1, 148, dtype=torch.long)
    x = torch.zeros(1, 148, DIM).double()
    return ours.embed(x, 300 + torch.arange(148))[0], theirs(ids, past_key_values_length=300)


def convolved(theirs):
    """What is added to random frames, with their weights in ours."""
    ours, theirs = Convolutional(DIM).double(), random_model(theirs)
    ours.convolution.load_state_dict(theirs.conv.state_dict())
    x = torch.randn(2, FRAMES, DIM).double()
    return ours(x), x + theirs(x)


@table.row("`Convolutional`", "transformers", "Wav2Vec2, 200 frames", 1e-9)
def wav2vec2():
    return convolved(Wav2Vec2PositionalConvEmbedding(Wav2Vec2Config(**SIZES)))


@table.row("`Convolutional`", "transformers", "HuBERT, 200 frames", 1e-9)
def hubert():
    return convolved(HubertPositionalConvEmbedding(HubertConfig(**SIZES)))


@table.row("Attention layer with `TransformerXL`", "transformers", "Wav2Vec2-Conformer, relative", 1e-5)
def wav2vec2_conformer():
    """Their sinusoids are interleaved, so that the columns of W change places."""
    config = Wav2Vec2ConformerConfig(**SIZES, position_embeddings_type="relative")
    layer, x = random_model(conformer.Wav2Vec2ConformerSelfAttention(config)), torch.randn(2, LENGTH, DIM).double()
    offsets = conformer.Wav2Vec2ConformerRelPositionalEmbedding(config)(x)
    encoding = TransformerXL(DIM, HEADS).double()
    encoding.u.copy_(layer.pos_bias_u)
    encoding.v.copy_(layer.pos_bias_v)
    encoding.project.weight.copy_(torch.cat([layer.linear_pos.weight[:, ::2], layer.linear_pos.weight[:, 1::2]], dim=1))
    project = stacked(layer.linear_q, layer.linear_k, layer.linear_v)
    ours = our_attention(project, pair(layer.linear_out), encoding)
    return ours(x, torch.arange(LENGTH)), layer(x, relative_position_embeddings=offsets)[0]
