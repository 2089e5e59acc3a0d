"""The figure "packed" shows what the small reader with RoPE makes of two texts in one row, and nothing else."""

import pytest
import torch

from d2lpos.figures.hero import PACKED, data, hero
from d2lpos.figures.machine import PASSAGES
from d2lpos.figures.packed import FIRST, SECOND, WAYS, even, laid, measured, table
from d2lpos.positions import from_segments
from d2lpos.pretrained.char_models import attention, load, tokens
from d2lpos.transformer import segment_mask
from tests.figures.hero.drawn import fixed, walked

NUMBERS = data("packed")


def test_positions_and_masks_are_those_of_packed_texts():
    segments = torch.tensor([0] * 5 + [1] * 3)
    count = torch.arange(8)
    causal = count <= count[:, None]
    wanted = {
        "count on": (count, causal),
        "begin again": (from_segments(segments), causal),
        "mask by text": (from_segments(segments), causal & segment_mask(segments, segments)),
    }
    assert set(WAYS) == set(PACKED) == set(wanted)
    for way, (positions, mask) in wanted.items():
        assert laid(5, 3, way)[0].equal(positions) and laid(5, 3, way)[1].equal(mask), way


def test_the_record_is_what_the_reader_gives_now():
    now = table()
    assert {key: now[key] for key in ("first", "second", "even")} == {key: NUMBERS[key] for key in ("first", "second", "even")}
    for way, stored in NUMBERS["ways"].items():
        measured_now = now["ways"][way]
        assert measured_now["share"] == pytest.approx(stored["share"], abs=0.002), way
        assert measured_now["shades"] == pytest.approx(stored["shades"], abs=0.0005), way
        assert measured_now["losses"] == pytest.approx(stored["losses"], abs=0.011), way
        assert sum(stored["shades"]) == pytest.approx(stored["share"], abs=0.003), way


def test_loss_and_weights_are_those_of_the_model():
    model, card = load("rope")
    row = tokens(card, FIRST[1] + SECOND)
    positions, mask = laid(len(FIRST[1]), len(SECOND), "begin again")
    with torch.no_grad():
        log_p = model(row[None], positions, mask)[0].log_softmax(-1)
    loss, shades = measured(model, card, FIRST[1], SECOND, "begin again")
    asked = range(len(FIRST[1]) + 1, len(row))
    assert loss == pytest.approx(-sum(log_p[n - 1, row[n]].item() for n in asked) / len(asked), rel=1e-5)
    weights = attention(model, row, positions, mask)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 3, len(row)))
    assert shades.sum() == pytest.approx(weights[..., len(FIRST[1]) :, : len(FIRST[1])].sum(-1).mean().item(), rel=1e-5)


def test_even_weights_are_those_of_a_model_that_does_not_look():
    _, mask = laid(len(FIRST[0]), len(SECOND), "count on")
    weights = mask / mask.sum(-1, keepdim=True)
    share = weights[len(FIRST[0]) :, : len(FIRST[0])].sum(-1).mean().item()
    assert even(len(FIRST[0]), len(SECOND)) == pytest.approx(share) and NUMBERS["even"] == round(share, 3)


def test_other_texts_tell_the_same():
    """Beginnings of the machine's passages, each behind each other: little where positions count on, about as much as even weights again."""
    model, card = load("rope")
    texts = [text for _, text in PASSAGES.values()]
    pairs = [(a[: len(FIRST[0])], b[: len(SECOND)]) for a in texts for b in texts if a != b]
    shares = {way: [measured(model, card, *pair, way)[1].sum().item() for pair in pairs] for way in WAYS}
    assert 0.03 < min(shares["count on"]) and max(shares["count on"]) < 0.05
    assert 0.65 < min(shares["begin again"]) and max(shares["begin again"]) < 0.73
    assert set(shares["mask by text"]) == {0}


WALK = """() => {
  const root = document.querySelector('[data-hero]').shadowRoot, words = selector => [...root.querySelectorAll(selector)].map(e => e.textContent);
  return Object.fromEntries([...root.querySelectorAll('[type=radio]')].map(radio => { radio.click(); return [radio.value, [words('.says')[0], words('.live svg text:not(.mono)'), words('.live .mono')]]; }));
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_every_state_tells_its_numbers(width):
    shown = walked(hero("packed"), WALK, viewport={"width": width, "height": 800}, reduced_motion="reduce")
    assert list(shown) == list(WAYS)
    for way, (words, labels, lines) in shown.items():
        numbers, start = NUMBERS["ways"][way], laid(len(FIRST[0]), len(SECOND), way)[0][len(FIRST[0])].item()
        share = f"{fixed(100 * numbers['share'], 0)} % of"
        assert share in words and any(share in label for label in labels)
        assert all(fixed(loss, 2) in words for loss in numbers["losses"])
        assert [f"positions {start}", str(start + len(SECOND) - 1)] == [label for label in labels if label[-1].isdigit()][2:]
        assert "".join(lines) == FIRST[0] + SECOND
