"""Whole models with random weights, in float64. Weights are large, so that position decides the outcome."""

from functools import partial

import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertModel,
    BloomConfig,
    BloomForCausalLM,
    CohereConfig,
    CohereForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTJConfig,
    GPTJForCausalLM,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MptConfig,
    MptForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)
from x_transformers import Decoder, Encoder, TransformerWrapper

from d2lpos import ALiBi, Attention, Encoding, Learned, RoPE, Sinusoidal, T5Bias, Transformer
from d2lpos.rotary.scaling import dynamic_ntk, linear, llama3, unscaled, yarn
from d2lpos.transformer.attention import attention_weights
from tests.parity.comparison import agreement
from tests.parity.disputes import falcon as falcon_layer

table = agreement("models")
WORDS, DIM, HEADS, LAYERS, LENGTH = 50, 48, 6, 2, 20
TRAINED = 8  # tokens, for the rules that scale frequencies
FEATURES = DIM // HEADS
NAMES = {"vocab_size": WORDS, "hidden_size": DIM, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
ROPE = {"rope_theta": 100.0, "num_key_value_heads": HEADS // 2, "intermediate_size": 2 * DIM}
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
    """The projections to queries, keys and values as one; fewer heads of keys and values are repeated."""

    def grown(x: Tensor) -> Tensor:
        return x.unflatten(0, (-1, FEATURES)).repeat_interleave(DIM // len(x), 0).flatten(0, 1)

    weights, biases = zip(*map(pair, layers), strict=True)
    return torch.cat(list(map(grown, weights))), None if biases[0] is None else torch.cat(biases)


def by_head(fused: nn.Linear) -> Layer:
    """The same from rows in the order head, then query, key, value."""
    weight, bias = (x.unflatten(0, (HEADS, 3, -1)).transpose(0, 1).flatten(0, 2) for x in pair(fused))
    return weight, bias


def transposed(convolution: nn.Module) -> Layer:
    return convolution.weight.T, convolution.bias


def our_attention(project: Layer, out: Layer, encoding: Encoding, causal: bool) -> Attention:
    attention = Attention(DIM, HEADS, encoding, causal).double()
    load(attention.project, project)
    load(attention.out, out)
    return attention


class InTheirPlace(nn.Module):
    """Our attention where a model calls its own; `answer` makes from our output what the model expects."""

    def __init__(self, attention: Attention, answer):
        super().__init__()
        self.attention, self.answer = attention, answer

    def forward(self, hidden_states: Tensor, *arguments, **_):
        y = self.attention(hidden_states, torch.arange(hidden_states.shape[1]))
        return self.answer(y, *arguments)


def compare_visible(blind: Tensor, theirs: Tensor) -> None:
    """A model whose output position does not move proves nothing."""
    assert (blind - theirs).abs().max() > 0.01


def with_our_attention(model, places, encoding, causal=True, answer=lambda y, *_: (y, None), **inputs):
    """Their logits with our attention in place of theirs, and with theirs.

    places yields (module, name of its attention, weights in, weights out).
    """
    theirs = model(**inputs)[0]
    outputs = []
    for chosen in Encoding(), encoding:
        for module, name, project, out in places:
            setattr(module, name, InTheirPlace(our_attention(project, out, chosen, causal), answer))
        outputs.append(model(**inputs)[0])
    compare_visible(outputs[0], theirs)
    return outputs[1], theirs


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


def gpt_neox(turning):
    """Of each head's features, the first `turning` turn."""
    rope = {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": turning / FEATURES}
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
    return our_transformer(tokens, model(tokens).logits, RoPE(FEATURES, 100.0, rotary=turning), weights)


@table.row("Logits of `Transformer` with `RoPE`, half", "transformers", "GPT-NeoX", 1e-5)
def gpt_neox_whole():
    return gpt_neox(FEATURES)


@table.row("Logits of `Transformer` with `RoPE`, half, on half of the features", "transformers", "GPT-NeoX", 1e-5)
def gpt_neox_partial():
    return gpt_neox(FEATURES // 2)


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


def x_transformers_t5(kind, causal):
    def encode(model):
        encoding = T5Bias(HEADS, bidirectional=not causal)
        theirs = model.attn_layers.rel_pos  # multiplies its table by √d
        encoding.table.copy_(theirs.relative_attention_bias.weight * theirs.scale)
        return encoding.double()

    return x_transformers(kind, encode, causal, rel_pos_bias=True)


@table.row("Logits of `Transformer` with `T5Bias`, causal", "x-transformers", "Decoder", 1e-4)
def x_transformers_t5_causal():
    return x_transformers_t5(Decoder, causal=True)


@table.row("Logits of `Transformer` with `T5Bias`, both directions", "x-transformers", "Encoder", 1e-4)
def x_transformers_t5_both():
    return x_transformers_t5(Encoder, causal=False)


def rotary_places(layers, name="self_attn", out="o_proj"):
    return [
        (layer, name, stacked(it.q_proj, it.k_proj, it.v_proj), pair(getattr(it, out)))
        for layer in layers
        for it in [getattr(layer, name)]
    ]


def llama(rule, **parameters):
    config = LlamaConfig(**NAMES, **ROPE, max_position_embeddings=TRAINED)
    config.rope_parameters = {"rope_theta": 100.0, **parameters}
    model = random_model(LlamaForCausalLM(config))
    encoding = RoPE(FEATURES, 100.0, scaling=rule)
    return with_our_attention(model, rotary_places(model.model.layers), encoding, input_ids=sentences())


@table.row("Logits with our `Attention` and `RoPE`, half; grouped queries", "transformers", "Llama", 1e-5)
def llama_unscaled():
    return llama(unscaled, rope_type="default")


@table.row("Logits with our `Attention` and `RoPE`, `linear`", "transformers", "Llama", 1e-5)
def llama_linear():
    return llama(partial(linear, factor=4), rope_type="linear", factor=4.0)


@table.row("Logits with our `Attention` and `RoPE`, `dynamic_ntk`", "transformers", "Llama", 1e-5)
def llama_dynamic():
    rule = partial(dynamic_ntk, factor=4, length=TRAINED, current=LENGTH)
    return llama(rule, rope_type="dynamic", factor=4.0)


@table.row("Logits with our `Attention` and `RoPE`, `yarn` with its attention factor", "transformers", "Llama", 1e-5)
def llama_yarn():
    rule = partial(yarn, factor=4, length=TRAINED, beta_fast=2, beta_slow=0.5)
    settings = {"original_max_position_embeddings": TRAINED, "beta_fast": 2.0, "beta_slow": 0.5}
    return llama(rule, rope_type="yarn", factor=4.0, **settings)


@table.row("Logits with our `Attention` and `RoPE`, `llama3`", "transformers", "Llama", 1e-5)
def llama_llama3():
    settings = {"original_max_position_embeddings": TRAINED, "low_freq_factor": 0.5, "high_freq_factor": 2.0}
    rule = partial(llama3, factor=4, length=TRAINED, low=0.5, high=2)
    return llama(rule, rope_type="llama3", factor=4.0, **settings)


@table.row("Logits with our `Attention` and `RoPE`, interleaved, on half of the features", "transformers", "GPT-J", 1e-5)
def gptj():
    config = GPTJConfig(**NAMES, rotary_dim=FEATURES // 2, n_positions=LENGTH)
    model = random_model(GPTJForCausalLM(config))
    places = rotary_places(model.transformer.h, "attn", "out_proj")
    encoding = RoPE(FEATURES, layout="interleaved", rotary=FEATURES // 2)
    return with_our_attention(model, places, encoding, input_ids=sentences())


@table.row("Logits with our `Attention` and `RoPE`, interleaved; grouped queries", "transformers", "Cohere", 1e-5)
def cohere():
    model = random_model(CohereForCausalLM(CohereConfig(**NAMES, **ROPE)))
    encoding = RoPE(FEATURES, 100.0, "interleaved")
    return with_our_attention(model, rotary_places(model.model.layers), encoding, input_ids=sentences())


@table.row("Logits with our `Attention` and `ALiBi`", "transformers", "BLOOM", 1e-5)
def bloom():
    model = random_model(BloomForCausalLM(BloomConfig(**NAMES)))
    places = [
        (block, "self_attention", by_head(it.query_key_value), pair(it.dense))
        for block in model.transformer.h
        for it in [block.self_attention]
    ]

    def answer(y, residual, *_):
        return y + residual, None

    return with_our_attention(model, places, ALiBi(HEADS), answer=answer, input_ids=sentences())


@table.row("Last hidden state with our `Attention` and `Learned`", "transformers", "BERT", 1e-9)
def bert():
    config = BertConfig(**NAMES, intermediate_size=2 * DIM, max_position_embeddings=LENGTH)
    model, tokens = random_model(BertModel(config, add_pooling_layer=False)), sentences()
    theirs = model(tokens)[0]
    encoding = Learned(LENGTH, DIM).double()
    encoding.table.copy_(model.embeddings.position_embeddings.weight)
    model.embeddings.position_embeddings.weight.zero_()
    words = model.embeddings.word_embeddings(tokens)
    compare_visible(model(inputs_embeds=words)[0], theirs)
    for layer in model.encoder.layer:
        it, nothing = layer.attention.self, (torch.eye(DIM), None)  # its out projection stands elsewhere
        attention = our_attention(stacked(it.query, it.key, it.value), nothing, Encoding(), causal=False)
        layer.attention.self = InTheirPlace(attention, lambda y, *_: (y, None))
    return model(inputs_embeds=encoding.embed(words, torch.arange(LENGTH)))[0], theirs


def t5(stack_name):
    """T5's attention does not divide by √d, ours does: its query weights are multiplied by √d."""
    config = T5Config(vocab_size=WORDS, d_model=DIM, d_kv=FEATURES, d_ff=2 * DIM, num_heads=HEADS, num_layers=2)
    model, tokens = random_model(T5ForConditionalGeneration(config)), sentences()
    stack = getattr(model, stack_name)
    first = stack.block[0].layer[0].SelfAttention.relative_attention_bias
    encoding = T5Bias(HEADS, bidirectional=stack_name == "encoder").double()
    encoding.table.copy_(first.weight)
    inputs = {"input_ids": tokens, "decoder_input_ids": sentences()}
    places = []
    for block in stack.block:
        it = block.layer[0].SelfAttention
        weight, _ = stacked(it.q, it.k, it.v)
        scale = torch.ones(3 * DIM, 1)
        scale[:DIM] = FEATURES**0.5
        places.append((block.layer[0], "SelfAttention", (scale * weight, None), pair(it.o)))
    causal = stack_name == "decoder"
    return with_our_attention(model, places, encoding, causal, lambda y, *_: (y, None, None), **inputs)


@table.row("Logits with our `Attention` and `T5Bias` in the encoder, both directions", "transformers", "T5", 1e-5)
def t5_encoder():
    return t5("encoder")


@table.row("Logits with our `Attention` and `T5Bias` in the decoder, causal", "transformers", "T5", 1e-5)
def t5_decoder():
    return t5("decoder")


class OverRoot(ALiBi):
    """ALiBi with slopes divided by √d, as Falcon has it."""

    def score(self, q, k, q_positions, k_positions):
        return super().score(q, k, q_positions, k_positions) / q.shape[-1] ** 0.5


@table.row("Attention weights with `ALiBi`, slopes divided by √d", "transformers", "Falcon", 1e-5)
def falcon():
    (q, k, positions, mask), theirs = falcon_layer()
    return attention_weights(q, k, positions, positions, OverRoot(q.shape[1]), mask), theirs
