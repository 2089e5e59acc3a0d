"""MiniLM is transformers' BERT, whose table is an encoding of the book."""

import pytest
import torch
from transformers import BertConfig, BertModel

from d2lpos.pretrained import MiniLM, load_minilm, minilm_tokenizer
from d2lpos.pretrained.minilm import renamed
from tests.weights import need


def bert() -> BertModel:
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    return BertModel(BertConfig(**sizes), add_pooling_layer=False).eval()


TEXT = torch.tensor([[101, 1996, 2158, 2978, 1996, 3899, 1012, 102], [101, 1037, 2158, 102, 0, 0, 0, 0]])


def same(ours: MiniLM, theirs: BertModel) -> float:
    real = TEXT > 0
    with torch.no_grad():
        return (ours(TEXT, real=real) - theirs(TEXT, real.long()).last_hidden_state)[real].abs().max().item()


def test_vectors_are_those_of_transformers():
    theirs, ours = bert(), MiniLM().eval()
    ours.load_state_dict(renamed(theirs.state_dict()))
    assert same(ours, theirs) < 1e-5


@pytest.mark.parametrize("wrong", [512, -1])
def test_a_row_that_was_never_trained_does_not_exist(wrong):
    with pytest.raises(
        ValueError, match=f"positions must lie in 0 … 511, the rows of the table; got {wrong}"
    ):
        MiniLM()(TEXT[:1], torch.arange(8) * 0 + wrong)


# With its weights


@pytest.fixture(scope="module")
def trained() -> MiniLM:
    need("minilm")
    return load_minilm()


def test_vectors_know_what_a_sentence_is_about(trained):
    tokenizer = minilm_tokenizer()
    sentences = ("The man bit the dog.", "A man sank his teeth into a dog.", "Interest rates rose again.")
    bit, teeth, rates = (trained.vectors(torch.tensor([tokenizer.encode(text).ids]))[0] for text in sentences)
    assert bit.norm().item() == pytest.approx(1)
    assert bit @ teeth > 0.6 and bit @ rates < 0.2


def test_the_tokenizer_cuts_nothing_off():
    need("minilm")
    assert len(minilm_tokenizer().encode("word " * 600).ids) == 602
