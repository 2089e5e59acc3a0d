"""The figure "ranks" shows what the small reader with RoPE makes of wrong positions, and nothing else."""

from base64 import b64decode
from functools import partial
from itertools import permutations

import pytest
import torch

from d2lpos.figures.hero import COUNTERS, data, hero
from d2lpos.figures.machine import PASSAGES
from d2lpos.figures.ranks import CHUNKS, SIZE, TEXT, first, measured, starts, table, ways
from d2lpos.lab.text import SPLITS, characters, decode
from d2lpos.pretrained.reader import load, tokens
from d2lpos.rotary.rope import frequencies
from tests.figures.hero.drawn import fixed, walked

PLAIN, ZIGZAG, DEALT = (0, 1, 2, 3, 4, 5, 6, 7), (0, 7, 1, 6, 2, 5, 3, 4), (0, 4, 1, 5, 2, 6, 3, 7)
SOME = [PLAIN, ZIGZAG, DEALT, *list(ways())[7::503]]
NUMBERS = data("ranks")
LEVELS = dict(zip(ways(), b64decode(NUMBERS["row"]), strict=True))


def loss(order, rule):
    """The loss on record, in nats a character."""
    if rule == "row":
        return (NUMBERS["least"] + LEVELS[order]) / 100
    return (NUMBERS["right"] if rule == "text" else NUMBERS["each"][first(order)]) / 100


def offsets(order, rule):
    """Of each query and each key before it, whether the offset is wrong; the processors that have the queries."""
    at = (torch.tensor(starts(order, rule))[:, None] + torch.arange(SIZE)).flatten()
    count = torch.arange(CHUNKS * SIZE)
    off = (at - at[:, None] != count - count[:, None]).tril()
    return off, torch.tensor(order).argsort().repeat_interleave(SIZE) // 2


@pytest.fixture(scope="module")
def read():
    model, card = load("rope")
    return partial(measured, model, tokens(card, NUMBERS["text"]))


def test_the_ways_are_all_orders_in_which_processors_hold_the_earlier_chunk_first():
    every = permutations(range(CHUNKS))
    assert list(ways()) == sorted(w for w in every if all(w[n] < w[n + 1] for n in range(0, CHUNKS, 2)))


def test_the_text_is_of_a_chapter_that_the_reader_was_not_trained_on():
    text = NUMBERS["text"]
    assert text == TEXT == PASSAGES["austen"][1][: CHUNKS * SIZE]
    assert text in decode(characters("test", flowing=True)) and 55 in SPLITS["test"][1]
    assert "chapters 1 to 48" in load("rope")[1]["trained_on"]


def test_losses_on_record_are_what_the_reader_gives_now(read):
    assert NUMBERS["right"] == pytest.approx(read(starts(PLAIN, "text")), abs=1)
    for order in SOME:
        for rule in COUNTERS:
            assert 100 * loss(order, rule) == pytest.approx(read(starts(order, rule)), abs=1), (order, rule)
    assert len(LEVELS) == 2520
    assert NUMBERS["each"].keys() == {first(order) for order in ways()}
    for order in ways():
        assert starts(order, "each") == [0 if str(n) in first(order) else SIZE for n in range(CHUNKS)]


def test_the_command_writes_the_table(monkeypatch):
    few = SOME[:2]
    monkeypatch.setattr("d2lpos.figures.ranks.ways", lambda: iter(few))
    now, data = table(), NUMBERS
    assert {key: now[key] for key in ("text", "right", "least")} == {
        "text": data["text"],
        "right": pytest.approx(data["right"], abs=1),
        "least": data["least"],
    }
    assert now["each"] == {first(order): pytest.approx(data["each"][first(order)], abs=1) for order in few}


def test_the_clocks_show_a_pair_of_the_reader_that_does_not_get_around():
    _, card = load("rope")
    omegas = frequencies(card["d_model"] // card["heads"])
    assert omegas[3].item() == pytest.approx(10_000 ** (-6 / 16))
    assert CHUNKS * SIZE * omegas[3] < 2 * torch.pi < CHUNKS * SIZE * omegas[2]


WALK = """orders => {
  const root = document.querySelector('[data-hero]').shadowRoot, of = name => root.querySelector(`[aria-label="${name}"]`), chunks = [0, 1, 2, 3, 4, 5, 6, 7], all = {};
  const inputs = chunks.map(c => of('chunk ' + c)), radios = [...root.querySelectorAll('[type=radio]')], names = ['text', 'row', 'each'];
  for (const order of orders) {
    for (let slot = 0; slot < 8; slot += 2) for (const chunk of order.slice(slot, slot + 2)) { // processor after processor
      const input = of('chunk ' + chunk), others = inputs.filter(e => e.value >> 1 === slot >> 1 && !order.slice(slot, slot + 2).includes(inputs.indexOf(e)));
      if (input.value >> 1 !== slot >> 1) { input.value = others[0].value; input.dispatchEvent(new Event('input')); }
    }
    radios.forEach((radio, n) => {
      radio.click();
      all[[order.join(''), names[n]]] = { out: [...root.querySelectorAll('.out b')].map(e => e.textContent), work: [...root.querySelectorAll('.over svg > .a')].slice(-4).map(e => e.textContent),
        bad: chunks.filter(c => root.querySelector(`svg .c${c}.bad`)), off: root.querySelectorAll('.off').length - 1, held: [...chunks].sort((a, b) => inputs[a].value - inputs[b].value),
        first: inputs.map(e => e.getAttribute('aria-valuetext').match(/from (\\d+)/)[1]) };
    });
  }
  return all;
}"""


def test_every_state_tells_its_numbers():
    seen_all = walked(hero("ranks"), WALK, [list(order) for order in SOME])
    assert len(seen_all) == 3 * len(SOME)
    for order in SOME:
        for rule in COUNTERS:
            state, at = seen_all[f"{''.join(map(str, order))},{rule}"], starts(order, rule)
            off, processors = offsets(order, rule)
            work = [int((processors == n).nonzero().add(1).sum()) for n in range(4)]
            losses = [fixed(loss(order, by), 2) for by in (rule, "text")]
            share = off.sum().item() / (off.shape[0] * (off.shape[0] - 1) / 2)
            assert state["held"] == list(order)
            assert state["out"] == [*losses, f"{fixed(100 * share, 0)} %", fixed(max(work) * 4 / sum(work), 2)]
            assert state["work"] == [f"{pairs:,}" for pairs in work]
            assert state["first"] == [str(position) for position in at]
            assert state["bad"] == [n for n, position in enumerate(at) if position != SIZE * n]
            assert state["off"] * SIZE**2 == off.sum()
