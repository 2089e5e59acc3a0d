import pytest
import torch

from d2lpos.lab.hybrid import Hybrid

TEXT = torch.randint(32, (28,), generator=torch.Generator().manual_seed(0))
LAYERS = ["full", "latent", "indexer", "state", ("window", 5), ("chunk", 4), ("convolution", 3)]


@pytest.mark.parametrize("erase", [False, True])
def test_a_text_goes_on_exactly_where_it_was_left(erase):
    hybrid = Hybrid(LAYERS, erase)
    whole, memory = hybrid.read(TEXT)[0], None
    for start, stop in (0, 1), (1, 17), (17, 18), (18, 28):
        y, memory = hybrid.read(TEXT[start:stop], start, memory)
        assert (y - whole[start:stop]).abs().max() < 1e-12


@pytest.mark.parametrize("layer", [*LAYERS[:4], ("window", 6), ("chunk", 6), ("convolution", 6)], ids=str)
def test_all_but_a_full_layer_know_where_tokens_stand(layer):
    hybrid, swapped = Hybrid([layer]), TEXT[[0, 2, 1, 3, 4, 5]]
    one, other = (hybrid.read(text)[0][-1] for text in (TEXT[:6], swapped))
    assert torch.allclose(one, other) == (layer == "full")


def test_a_convolution_has_a_weight_for_each_of_the_last_tokens():
    hybrid = Hybrid([("convolution", 3)])
    x, weights = hybrid.embed(TEXT), hybrid.layers[0].weights
    inputs = torch.nn.functional.rms_norm(x, (16,))
    y = sum(weights[back] * inputs[9 - back] for back in range(3))
    torch.testing.assert_close(hybrid.read(TEXT)[0][9], x[9] + y)


def test_layers_hold_what_the_next_token_needs_and_no_more():
    _, memory = Hybrid(LAYERS).read(TEXT)
    held = [one[0].tolist() for number, one in enumerate(memory) if LAYERS[number] != "state"]
    assert held == [list(range(28))] * 3 + [[24, 25, 26, 27], [], [26, 27]]


def test_a_seed_gives_the_same_weights_and_leaves_random_numbers_alone():
    state = torch.get_rng_state()
    one, other = (Hybrid(LAYERS, seed=seed).read(TEXT)[0] for seed in (1, 1))
    assert torch.equal(one, other) and not torch.equal(one, Hybrid(LAYERS, seed=2).read(TEXT)[0])
    assert torch.equal(torch.get_rng_state(), state)
    lengths = [Hybrid([layer]).read(TEXT)[0][-1].norm().item() for layer in LAYERS] + [Hybrid(["state"], True).read(TEXT)[0][-1].norm().item()]
    assert lengths == pytest.approx([5.253508, 5.025365, 5.123561, 4.860007, 5.328656, 5.414723, 7.30365, 4.802132], abs=1e-6)
