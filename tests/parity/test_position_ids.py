"""What position ids do in transformers besides telling positions: rows of the errata."""

from functools import partial

import torch
from torch import Tensor
from transformers import EsmConfig, LlamaConfig, LlamaForCausalLM
from transformers.models.beam.modeling_beam import compute_attention_scaling
from transformers.models.esm.modeling_esm import EsmEmbeddings, create_position_ids_from_input_ids
from transformers.models.vjepa2.modeling_vjepa2 import rotate_queries_or_keys

from d2lpos.positions import from_padding
from d2lpos.runtime.threads import one_thread
from d2lpos.transformer.temperature import power
from tests.parity import tiny

WORDS = 4 + torch.arange(40)[None]
HERE = torch.arange(40)[None]


def reply(family: str, position_ids: Tensor, **more: object) -> Tensor:
    """The states that a tiny model of this family ends with."""
    config = tiny.configuration(family, **more)
    torch.manual_seed(0)
    model = tiny.transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    with one_thread(), torch.no_grad():
        return model(input_ids=WORDS, position_ids=position_ids, use_cache=False).last_hidden_state


def moved(family: str, by: int, **more: object) -> float:
    """How far a shift of all positions moves the states, of their size."""
    here = reply(family, HERE, **more)
    return ((reply(family, HERE + by, **more) - here).norm() / here.norm()).item()


def test_deepseek_v4_places_compressed_keys_by_index_and_queries_by_their_ids():
    rates = {"compressed_sparse_attention": 4, "heavily_compressed_attention": 8}
    kinds = ["heavily_compressed_attention"] * 2
    assert moved("deepseek_v4", 8, num_hidden_layers=2, layer_types=kinds, compress_rates=rates) > 0.01
    assert moved("deepseek_v4", 8, num_hidden_layers=2, layer_types=["sliding_attention"] * 2) < 1e-4


def test_recurrent_gemma_forgets_where_an_id_is_zero():
    kinds = {"num_hidden_layers": 2, "block_types": ["recurrent"]}
    assert moved("recurrent_gemma", 1, **kinds) > 0.01  # the first token counts less where its id is not 0
    again = HERE.clone()
    again[:, 20] = 0
    whole, forgot = reply("recurrent_gemma", HERE, **kinds), reply("recurrent_gemma", again, **kinds)
    assert torch.equal(whole[:, :20], forgot[:, :20]) and (whole[:, 20:] - forgot[:, 20:]).abs().max() > 0.01


def test_a_gap_in_the_ids_begins_a_new_document_unless_a_mask_is_given():
    """The first word is another one; does the last token, behind a gap, see it?"""
    config = tiny.configuration("llama", num_hidden_layers=1)
    model = LlamaForCausalLM(config).eval()
    gap, other = HERE + 1000 * (HERE >= 20), WORDS.clone()
    other[:, 0] += 1

    def sees(**mask: Tensor) -> bool:
        with torch.no_grad():
            run = partial(model, position_ids=gap, use_cache=False, **mask)
            one, two = (run(input_ids=words).logits[:, -1] for words in (WORDS, other))
        return not torch.equal(one, two)

    assert isinstance(config, LlamaConfig)
    assert sees(attention_mask=torch.ones_like(WORDS)) and not sees()


def test_beam_takes_the_position_after():
    """Its docstring has p, its code p + 1."""
    positions = torch.arange(5000)
    theirs = compute_attention_scaling(positions[None])[0, 0, :, 0]
    assert torch.allclose(theirs, power(positions, length=2048)) and theirs[0] > 1
    assert not torch.allclose(theirs, (1 + positions / 2048) ** 0.1, rtol=1e-7, atol=1e-5)


def test_vjepa_2_turns_nothing():
    """Its map changes lengths, and scores of one step differ from place to place: its sines lie in halves, its pairs
    beside each other.
    """
    x = torch.linspace(-1, 2, 16, dtype=torch.float64).view(2, 1, 1, 1, 8)

    def at(place: float) -> list[Tensor]:
        places = (torch.tensor([[[place + step]]]).double() for step in (0, 3))
        return [rotate_queries_or_keys(t, pos=pos) for t, pos in zip(x, places, strict=True)]

    lengths = at(5.0)[0].norm() / x[0].norm()
    scores = [(q * k).sum() for q, k in map(at, (0.0, 5.0))]
    assert abs(lengths - 1) > 0.01 and abs(scores[0] - scores[1]) > 0.01


def test_esm_counts_residues_from_tokens_and_everything_from_embeddings():
    """As in 13B: the ids agree with padding on the right, and differ with padding on the left."""
    tokens = torch.tensor([[5, 6, 7, 8, 1, 1], [1, 1, 5, 6, 7, 8]])
    real = tokens != 1
    ours = torch.where(real, from_padding(real) + 2, 1)
    assert torch.equal(create_position_ids_from_input_ids(tokens, 1), ours)
    config = EsmConfig(
        vocab_size=33, hidden_size=8, pad_token_id=1, mask_token_id=32, position_embedding_type="absolute",
        max_position_embeddings=20,
    )
    table = EsmEmbeddings(config)
    blind = table.create_position_ids_from_inputs_embeds(torch.zeros(2, 6, 8))
    assert blind.tolist() == [[2, 3, 4, 5, 6, 7]] * 2
    assert torch.equal(blind[0, :4], ours[0, :4]) and not (blind[1, 2:] == ours[1, 2:]).any()
