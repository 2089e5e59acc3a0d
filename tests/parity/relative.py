import torch
from torch import nn
from transformers import Wav2Vec2BertConfig, XLNetConfig, XLNetModel
from transformers.models.swin.modeling_swin import SwinRelativePositionBias
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import Wav2Vec2BertSelfAttention
from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

from d2lpos.shaw import ShawKeys
from d2lpos.skew import skew
from d2lpos.swin import Swin
from d2lpos.transformer_xl import TransformerXL
from tests.parity.comparison import agreement
from tests.parity.models import DIM, FEATURES, HEADS, LENGTH, our_attention, pair, random_model, stacked

table = agreement("relative")
POSITIONS = torch.arange(LENGTH)


@table.row("Attention layer with `ShawKeys`, clip 5", "transformers", "Wav2Vec2-BERT", 1e-9)
def wav2vec2_bert():
    clip = {"left_max_position_embeddings": 5, "right_max_position_embeddings": 5}
    config = Wav2Vec2BertConfig(
        hidden_size=DIM, num_attention_heads=HEADS, position_embeddings_type="relative_key", **clip
    )
    layer, x = random_model(Wav2Vec2BertSelfAttention(config)), torch.randn(2, LENGTH, DIM).double()
    encoding = ShawKeys(FEATURES, clip=5).double()
    encoding.keys.copy_(layer.distance_embedding.weight)
    project = stacked(layer.linear_q, layer.linear_k, layer.linear_v)
    return our_attention(project, pair(layer.linear_out), encoding, causal=False)(x, POSITIONS), layer(x)[0]


@table.row("Skew, up to the diagonal", "transformers", "XLNet, whose columns begin one offset earlier", 1e-7)
def skewed():
    products = torch.randn(2, 3, LENGTH, 2 * LENGTH)
    theirs = XLNetRelativeAttention.rel_shift_bnij(products, klen=LENGTH)
    return skew(products[..., 1 : LENGTH + 1]).tril(), theirs.tril()


@table.row("Attention layer with `TransformerXL`, residual and LayerNorm included", "transformers", "XLNet", 1e-5)
def xlnet():
    config = XLNetConfig(vocab_size=2, d_model=DIM, n_head=HEADS, n_layer=1, d_inner=DIM)
    model, x = random_model(XLNetModel(config)), torch.randn(2, LENGTH, DIM).double()
    layer = model.layer[0].rel_attn
    r = model.relative_positional_encoding(LENGTH, LENGTH, bsz=2).double()
    theirs = layer(x.transpose(0, 1), None, None, None, r, None)[0].transpose(0, 1)
    q, k, v, of_offsets = (it.flatten(1).T for it in (layer.q, layer.k, layer.v, layer.r))
    encoding = TransformerXL(DIM, HEADS).double()
    encoding.u.copy_(layer.r_w_bias)
    encoding.v.copy_(layer.r_r_bias)
    encoding.project.weight.copy_(of_offsets)
    attention = our_attention((torch.cat([q, k, v]), None), (layer.o.flatten(1), None), encoding, causal=False)
    return layer.layer_norm(x + attention(x, POSITIONS)), theirs


@table.row("`Swin`, a window of 3 × 5", "transformers", "Swin", 1e-7)
def swin():
    theirs, ours = SwinRelativePositionBias(HEADS, (3, 5)), Swin(HEADS, height=3, width=5)
    nn.init.normal_(theirs.relative_position_bias_table)
    ours.table.copy_(theirs.relative_position_bias_table)
    q, cells = torch.zeros(1, HEADS, 15, 4), torch.cartesian_prod(torch.arange(3), torch.arange(5))
    return ours.score(q, q, cells, cells), theirs()[0]
