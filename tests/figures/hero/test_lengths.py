"""The figure "lengths": what moves is ink, what is first is marked, and paper has the first length and the last."""

from d2lpos.figures.hero import hero
from tests.figures.hero.host import still

WINDOW = (390, 844)
FIRST = "all('svg.live g').filter(e => e.children[1].checkVisibility({ visibilityProperty: true })).map(e => e.firstChild.textContent)"


@still
def test_a_longer_text_moves_dots_and_no_label(host):
    host.show(hero("lengths"))
    host.rest()
    labels = "seen().filter(e => e.matches('text')).filter(e => e.textContent !== 'first').map(e => Math.round(box(e).y))"
    before = host(f"[{labels}, all('.dot').map(e => e.getAttribute('cx')), {FIRST}]")
    host.label("length of the text").press("End")
    host.rest()
    after = host(f"[{labels}, all('.dot').map(e => e.getAttribute('cx')), {FIRST}]")
    assert before[0] == after[0] and before[1] != after[1]
    assert [before[2], after[2]] == [["T5"], ["KERPLE"]]


def test_each_loss_is_spoken_though_the_sentence_has_none(host):
    host.show(hero("lengths", length=512))
    host.page.wait_for_function("() => spoken()")
    assert "Losses from the lowest on: KERPLE 1.334, ALiBi 1.436, none 2.579, T5 3.678, RoPE 4.300." in host("spoken()")
    assert "1.334" not in host("all('.says')[0].textContent")


def test_paper_has_the_first_length_and_the_last(host):
    host.show(hero("lengths"))
    host.page.emulate_media(media="print")
    host.rest()
    assert host("all('p, svg').filter(e => e.getClientRects().length).map(e => e.ariaLabel ?? e.textContent)") == [
        "64 characters, as in training",
        "The loss of each model at 64 characters",
        "512 characters, eight times the training length",
        "The loss of each model at 512 characters",
    ]
