"""Whole models with random weights, in float64. Weights are large, so that position decides the outcome."""

import torch
from torch import Tensor, nn
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    MptConfig,
    MptForCausalLM,
)
from x_transformers import Decoder, Encoder, TransformerWrapper

from d2lpos import ALiBi, Attention, Encoding, Learned, RoPE, Sinusoidal, T5Bias, Transformer
from tests.parity.comparison import agreement

table = agreement("models")
WORDS, DIM, HEADS, LAYERS, LENGTH = 50, 48, 6, 2, 20
FEATURES = DIM // HEADS
NAMES = {"vocab_size": WORDS, "hidden_size": DIM, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
Layer = tuple[Tensor, Tensor | None]  # weight (out, in) and bias


def random_model(model: nn.Module) -> nn.Module:
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def sentences() -> Tensor:
    return torch.randint(WORDS, (2, LENGTH))


def pair(linear: nn.Module) -> Layer:
    return linear.weight, getattr(linear, "bias", None)


def load(linear: nn.Module, layer: Layer) -> None:
    weight, bias = layer
    linear.weight.copy_(weight)
    linear.bias.copy_(torch.zeros_like(linear.bias) if bias is None else bias)


def stacked(*layers: nn.Linear) -> Layer:
    """The projections to queries, keys and values as one."""
    weights, biases = zip(*map(pair, layers), strict=True)
    return torch.cat(weights), None if biases[0] is None else torch.cat(biases)


def by_head(fused: nn.Linear) -> Layer:
    """The same from rows in the order head, then query, key, value."""
    weight, bias = (x.unflatten(0, (HEADS, 3, -1)).transpose(0, 1).flatten(0, 2) for x in pair(fused))
    return weight, bias


def transposed(convolution: nn.Module) -> Layer:
    return convolution.weight.T, convolution.bias


def our_attention(project: Layer, out: Layer, encoding: Encoding) -> Attention:
    attention = Attention(DIM, HEADS, encoding).double()
    load(attention.project, project)
    load(attention.out, out)
    return attention


def compare_visible(blind: Tensor, theirs: Tensor) -> None:
    """A model whose output position does not move proves nothing."""
    assert (blind - theirs).abs().max() > 0.01


def our_transformer(tokens, theirs, encoding, weights, causal=True):
    """The logits of our Transformer, and theirs.

    weights are (word embeddings, blocks, last norm, head), a block (norm, project, out, norm, up, down).
    """
    outputs = []
    for chosen in Encoding(), encoding:
        ours = Transformer(WORDS, WORDS, DIM, HEADS, LAYERS, chosen, causal).double()
        words, blocks, norm, head = weights
        ours.tokens.weight.copy_(words)
        for block, (norm1, project, out, norm2, up, down) in zip(ours.blocks, blocks, strict=True):
            attention, feed_forward = block.attention, block.feed_forward
            homes = block.norm1, attention.project, attention.out, block.norm2, feed_forward[0], feed_forward[2]
            for home, layer in zip(homes, (norm1, project, out, norm2, up, down), strict=True):
                load(home, layer)
        load(ours.norm, norm)
        load(ours.head, head)
        outputs.append(ours(tokens, torch.arange(tokens.shape[1])))
    compare_visible(outputs[0], theirs)
    return outputs[1], theirs


@table.row("Logits of `Transformer` with `Learned`", "transformers", "GPT-2 with exact GELU", 1e-9)
def gpt2():
    config = GPT2Config(**NAMES, n_positions=LENGTH, activation_function="gelu")
    model, tokens = random_model(GPT2LMHeadModel(config)), sentences()
    inner = model.transformer
    encoding = Learned(LENGTH, DIM)
    encoding.table.copy_(inner.wpe.weight)
    blocks = [
        (pair(block.ln_1), transposed(block.attn.c_attn), transposed(block.attn.c_proj), pair(block.ln_2),
         transposed(block.mlp.c_fc), transposed(block.mlp.c_proj))
        for block in inner.h
    ]
    weights = inner.wte.weight, blocks, pair(inner.ln_f), pair(model.lm_head)
    return our_transformer(tokens, model(tokens).logits, encoding.double(), weights)


@table.row("Logits of `Transformer` with `RoPE`, half, on half of the features", "transformers", "GPT-NeoX", 1e-5)
def gpt_neox():
    rope = {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}
    config = GPTNeoXConfig(
        **NAMES, intermediate_size=4 * DIM, rope_parameters=rope, use_parallel_residual=False
    )
    model, tokens = random_model(GPTNeoXForCausalLM(config)), sentences()
    inner = model.gpt_neox
    blocks = [
        (pair(layer.input_layernorm), by_head(layer.attention.query_key_value), pair(layer.attention.dense),
         pair(layer.post_attention_layernorm), pair(layer.mlp.dense_h_to_4h), pair(layer.mlp.dense_4h_to_h))
        for layer in inner.layers
    ]
    weights = inner.embed_in.weight, blocks, pair(inner.final_layer_norm), pair(model.lm_head)
    return our_transformer(tokens, model(tokens).logits, RoPE(FEATURES, 100.0, rotary=FEATURES // 2), weights)


@table.row("Logits of `Transformer` with `ALiBi`", "transformers", "MPT", 1e-5)
def mpt():
    config = MptConfig(d_model=DIM, n_heads=HEADS, n_layers=LAYERS, max_seq_len=LENGTH, vocab_size=WORDS)
    model, tokens = random_model(MptForCausalLM(config)), sentences()
    inner = model.transformer
    blocks = [
        (pair(block.norm_1), pair(block.attn.Wqkv), pair(block.attn.out_proj), pair(block.norm_2),
         pair(block.ffn.up_proj), pair(block.ffn.down_proj))
        for block in inner.blocks
    ]
    weights = inner.wte.weight, blocks, pair(inner.norm_f), pair(model.lm_head)
    return our_transformer(tokens, model(tokens).logits, ALiBi(HEADS), weights)


def unbiased(norm) -> Layer:
    return norm.gamma + norm.unit_offset, None


def x_transformers(kind, encode, causal=True, scaled_sinu_pos_emb=False, **options):
    """Our Transformer and x-transformers'; encode makes our encoding from their model."""
    inner = kind(dim=DIM, depth=LAYERS, heads=HEADS, attn_dim_head=FEATURES, verbose=False, **options)
    model = TransformerWrapper(
        num_tokens=WORDS,
        max_seq_len=LENGTH,
        attn_layers=inner,
        use_abs_pos_emb=scaled_sinu_pos_emb,
        scaled_sinu_pos_emb=scaled_sinu_pos_emb,
    )
    model, tokens = random_model(model), sentences()
    modules = [(norms[0], module) for norms, module, _ in inner.layers]
    blocks = [
        (unbiased(norm1), stacked(attention.to_q, attention.to_k, attention.to_v), pair(attention.to_out),
         unbiased(norm2), pair(feed_forward.ff[0][0]), pair(feed_forward.ff[-1]))
        for (norm1, attention), (norm2, feed_forward) in zip(modules[0::2], modules[1::2], strict=True)
    ]
    weights = model.token_emb.emb.weight, blocks, unbiased(inner.final_norm), pair(model.to_logits)
    encoding = encode(model)
    return our_transformer(tokens, model(tokens), encoding, weights, causal)


@table.row("Logits of `Transformer` with `RoPE`, interleaved", "x-transformers", "Decoder", 1e-4)
def x_transformers_rotary():
    rotary = {"rotary_pos_emb": True, "rotary_emb_dim": FEATURES}
    return x_transformers(Decoder, lambda _: RoPE(FEATURES, layout="interleaved"), **rotary)


@table.row("Logits of `Transformer` with `ALiBi`, both directions", "x-transformers", "Encoder", 1e-4)
def x_transformers_alibi():
    return x_transformers(Encoder, lambda _: ALiBi(HEADS), causal=False, alibi_pos_bias=True)


@table.row("Logits of `Transformer` with `Sinusoidal`, concatenated", "x-transformers", "Decoder", 1e-4)
def x_transformers_sinusoidal():
    def encode(model):
        model.pos_emb.scale.fill_(1.0)
        return Sinusoidal(DIM, layout="concatenated")

    return x_transformers(Decoder, encode, scaled_sinu_pos_emb=True)


@table.row("Logits of `Transformer` with `T5Bias`, both directions", "x-transformers", "Encoder", 1e-4)
def x_transformers_t5():
    def encode(model):
        encoding = T5Bias(HEADS)
        theirs = model.attn_layers.rel_pos  # multiplies its table by √d
        encoding.table.copy_(theirs.relative_attention_bias.weight * theirs.scale)
        return encoding.double()

    return x_transformers(Encoder, encode, causal=False, rel_pos_bias=True)
