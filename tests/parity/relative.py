import torch
from torch.nn.functional import normalize
from transformers import (
    DebertaConfig,
    Swinv2Config,
    Wav2Vec2BertConfig,
    XLNetConfig,
    XLNetModel,
)
from transformers.models.deberta.modeling_deberta import DisentangledSelfAttention as Disentangled
from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import Wav2Vec2BertSelfAttention
from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

from d2lpos.bias.swin_v2 import SwinV2
from d2lpos.offset.deberta import DeBERTa
from d2lpos.offset.shaw import ShawKeys
from d2lpos.offset.skew import skew
from d2lpos.offset.transformer_xl import TransformerXL
from d2lpos.positions.grid import cells
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
    return our_attention(project, pair(layer.linear_out), encoding)(x, POSITIONS), layer(x)[0]


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
    attention = our_attention((torch.cat([q, k, v]), None), (layer.o.flatten(1), None), encoding)
    return layer.layer_norm(x + attention(x, POSITIONS)), theirs


@table.row("Attention weights with `SwinV2`, a window of 6 × 6 after one of 4 × 4", "transformers", "Swin V2", 1e-6)
def swin_v2():
    """The temperatures are theirs, and end at 100."""
    places, x = cells(6, 6), torch.randn(1, 36, DIM).double()
    layer = random_model(Swinv2SelfAttention(Swinv2Config(), DIM, HEADS, (6, 6), [4, 4]))
    layer.logit_scale.copy_(torch.linspace(0, 5, HEADS)[:, None, None])
    layer.relative_coords_table = layer.create_coords_table_and_index()[0]  # in float64, as the weights are by now
    ours, (first, _, second) = SwinV2(HEADS, 6, 6, trained=4).double(), layer.continuous_position_bias_mlp
    ours.load_state_dict({"first.weight": first.weight, "first.bias": first.bias, "second.weight": second.weight})
    q, k = (project(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for project in (layer.query, layer.key))
    cosines = normalize(q, dim=-1) @ normalize(k, dim=-1).mT
    scores = cosines * layer.logit_scale.exp().clamp(max=100) + ours.score(q, k, places, places)
    return scores.softmax(-1), layer(x, output_attentions=True)[1]


TWO = {"hidden_size": DIM, "num_attention_heads": HEADS, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}


@table.row("Attention weights with `DeBERTa`", "transformers", "DeBERTa", 1e-5)
def deberta():
    clip, x = 6, torch.randn(1, LENGTH, DIM)
    layer = random_model(Disentangled(DebertaConfig(**TWO, max_relative_positions=clip))).float().eval()
    vectors, mask = torch.randn(2 * clip, DIM), torch.ones(1, 1, LENGTH, LENGTH)
    offsets = (POSITIONS[:, None] - POSITIONS)[None]
    theirs = layer(x, mask, output_attentions=True, relative_pos=offsets, rel_embeddings=vectors)[1]
    q, k, _ = layer.in_proj(x).unflatten(-1, (HEADS, 3, -1)).transpose(1, 2).unbind(dim=-2)
    q = q + layer.q_bias.view(HEADS, 1, FEATURES)
    ours = DeBERTa(HEADS, FEATURES, clip)
    ours.keys.copy_(layer.pos_proj(vectors).unflatten(-1, (HEADS, -1)).transpose(0, 1))
    ours.queries.copy_(layer.pos_q_proj(vectors).unflatten(-1, (HEADS, -1)).transpose(0, 1))
    scores = q @ k.mT / FEATURES**0.5 + ours.score(q, k, POSITIONS, POSITIONS)
    return (scores / 3**0.5).softmax(-1), theirs
