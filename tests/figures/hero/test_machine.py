"""The machine that reads, on its pages: it shows what its models compute, and answers each hand."""

import json
import re
from base64 import b64decode
from functools import cache, partial
from html import escape
from shutil import copy

import nbformat
import pytest
import torch
from d2lpos_ext.policy import policy
from d2lpos_ext.svg import drawn

from book.execute import CHAR_MODELS as STORED
from d2lpos.figures.machine import NAMES, PASSAGES, STATES, losses, machine
from d2lpos.pretrained.char_models import CHAR_MODELS, load, parsed, path
from tests.figures.hero.host import INSIDE, on, still
from tests.site.detectors import Visit

WINDOW = (1000, 900)
BLIND, TURNS = "none", "rope"
START, END = "start at position", "length of the text"
TEXT = PASSAGES["austen"][1][:160]  # longer than in training, and soon read


def full(figure) -> str:
    """The figure as a notebook that is run shows it, with its models."""
    return drawn(figure._repr_mimebundle_()["text/html"])


def models(figure) -> str:
    """The script that brings the models of a figure."""
    return STORED.search(full(figure))[0].removeprefix("<script data-readers>").removesuffix("</script>")


def offered(host, n: int = 0) -> list[list[str]]:
    """The models that can be chosen on each side."""
    options = "[...e.options].filter(o => !o.disabled).map(o => o.value)"
    return host(f"all('.name select', {n}).map(e => {options})")


def ready(host, n: int = 0) -> None:
    """Wait until both models have read and the numbers are told."""
    host.page.wait_for_function(f"() => all('.read', {n}).length")


def outs(host) -> list[str]:
    return host("all('.mean b').map(e => e.textContent)")


def description(host) -> str:
    return host("all('.verdict')[0].textContent")


def choose(host, side: str, name: str) -> None:
    host.page.get_by_role("combobox", name=f"{side} model").select_option(name)


def do(host, act) -> str:
    """Let a hand do something that is computed anew; return the sentence."""
    act()
    ready(host)
    return description(host)


def nats(loss: torch.Tensor, start: int, end: int) -> str:
    return f"{loss[start:end].nanmean().item():.2f} nats"


def at_once(host, *deeds: str | tuple[str, object]) -> str:
    """Let a hand click, slide and choose, too fast for a model to read in between; return the last sentence."""
    find = "all('input, select').find(e => (e.ariaLabel ?? e.closest('label').textContent).startsWith(name))"
    move = "if (value === undefined) e.click(); else { e.value = value; e.oninput?.(); e.onchange?.(); }"
    pairs = json.dumps([[deed] if isinstance(deed, str) else deed for deed in deeds])
    return do(host, lambda: host(f"{pairs}.forEach(([name, value]) => {{ const e = {find}; {move} }})"))


@cache
def losses_of(name: str, state: str) -> torch.Tensor:
    return losses(name, machine(text=TEXT, state=state).options)


def compared(before: str, after: str, end: int | None = None) -> str:
    """What the sentence says after its colon, of two states as `machine` has them, up to a character."""
    parts = []
    for name in (BLIND, TURNS):
        was, now = (losses_of(name, state)[:end].nanmean().item() for state in (before, after))
        more = f"is {'more' if now > was else 'less'} surprised, {now:.2f} instead of {was:.2f} nats"
        parts.append(f"{NAMES[name]} {'does not notice' if abs(now - was) < 0.005 else more}")
    return "; ".join(parts) + "."


# What is sent.


def test_what_is_stored_is_small_and_holds_no_model():
    figure = machine("none", "rope ntk", state="longer")
    assert len(figure.html) < 60_000 and "DecompressionStream" not in figure.html
    sent = full(figure)
    assert re.findall(r'd2lposReaders\["(\w+)"\] = ', sent) == ["none", "rope"]
    assert STORED.sub(r"\1\2", sent) == figure.html


def test_a_stored_notebook_and_a_new_run_are_compared_without_the_models(pytestconfig):
    from nbval.plugin import get_sanitize_patterns

    settings = pytestconfig.rootpath / "tests/notebooks/sanitize.cfg"
    patterns = get_sanitize_patterns(settings.read_text("utf-8"))
    figure = machine(text=TEXT)
    clean = lambda text: [text := re.sub(*pattern, text) for pattern in patterns][-1]
    assert clean(full(figure)) == clean(figure.html)
    assert clean(full(figure)) != clean(full(machine(text=TEXT, state="longer")))


def test_no_stored_output_holds_a_model(pytestconfig):
    for notebook in (pytestconfig.rootpath / "chapters").rglob("*.ipynb"):
        assert "d2lposReaders ??=" not in json.dumps(nbformat.read(notebook, as_version=4)), notebook


def test_words_and_picture_follow_the_state():
    texts = {name: machine(text=TEXT, state=name).description for name in STATES}
    assert len(set(texts.values())) == len(STATES)
    assert "read 160 characters, “One morning" in texts["longer"] and "on those after them" in texts["longer"]
    assert "begins at position 600" in texts["late"] and "at double pace" in texts["doubled"]
    plain, longer = (losses(TURNS, machine(text=TEXT, state=state).options) for state in ("plain", "longer"))
    assert len(plain) == load(TURNS)[1]["train_length"] and len(longer) == 160
    torch.testing.assert_close(longer[1 : len(plain)], plain[1:])
    assert f"RoPE: {plain.nanmean():.2f} nats a character" in texts["plain"]
    still = machine(text="austen", state="longer").html.split("<script type")[0]
    assert len(still) < 30_000 and "preceded it" in still
    assert still.count("<path") > 16
    unknown = machine(text="中" * 200, state="longer").html
    assert "nan" not in unknown[unknown.index("<text") : unknown.index("</svg>")]


@pytest.mark.parametrize(("option", "value", "message"), [
    ("left", "nope", "left must be one of none, .*; got 'nope'"),
    ("text", "x", "text must be austen, .*, or a text of 2 to 512 characters; got 'x'"),
    ("state", "longer far", "state must be one of plain, longer, .*; got 'far'"),
    ("play", 1, "play must be True or False; got 1"),
    ("brief", "yes", "brief must be True or False; got 'yes'"),
])
def test_bad_input_is_refused(option, value, message):
    with pytest.raises(TypeError if "True or False" in message else ValueError, match=message):
        machine(**{option: value})


# On a page.


def test_it_reads_what_python_reads_and_answers_each_hand(host):
    figure = machine(BLIND, TURNS, TEXT, "longer")
    host.show(full(figure), full(figure), f"<script>{models(machine('alibi', 'alibi'))}</script>")
    ready(host)
    both = [losses(name, figure.options) for name in (BLIND, TURNS)]
    edge = load(TURNS)[1]["train_length"]
    assert outs(host) == [nats(loss, *part) for loss in both for part in ((0, edge), (edge, len(TEXT)))]
    inks = host(
        "all('.ink').map(ink => [...ink.querySelectorAll('i')].map("
        "e => parseFloat(e.style.backgroundColor.match(/([\\d.]+)%/)?.[1] ?? 0)))"
    )
    for ink, loss in zip(inks, both, strict=True):
        assert ink == pytest.approx([min(62, 62 * v / 5) for v in loss.nan_to_num().tolist()], abs=0.51)
    assert "RoPE goes from" in description(host)

    host.page.get_by_text("More", exact=True).first.click()

    def stop_the_clock():
        host.page.get_by_label("stands still").first.check()

    sentence = do(host, stop_the_clock)
    assert sentence.startswith("The clock stands still: none does not notice; RoPE is ")
    stopped = losses(TURNS, machine(text=TEXT, state="longer stopped").options)
    assert outs(host)[2] == nats(stopped, 0, edge)
    host.page.wait_for_function("told => spoken().startsWith(told)", arg=sentence)
    assert host("all('.limit').length") == 1

    sentence = do(host, lambda: host.label("runs").first.check())
    assert "RoPE is less surprised" in sentence or "does not notice" in sentence
    sentence = do(host, lambda: host.page.get_by_label("start at position").first.press("End"))
    assert sentence.startswith("The text begins at position 1000, not 0: none does not notice")
    sentence = do(host, lambda: host.page.get_by_label("shuffle the words").first.check())
    assert sentence.startswith("The words are shuffled: none is more surprised")
    assert sorted(host("all('textarea')[0].value.split(' ')")) == sorted(figure.options["words"].split(" "))
    assert host("all('textarea')[0].readOnly")
    do(host, lambda: host.page.get_by_label("shuffle the words").first.uncheck())

    # A shorter text is read already: the end moves, and nothing is computed.
    host.page.get_by_label("start at position").first.press("Home")
    ready(host)
    before = host("all('.line', 0).map(e => e.getAttribute('d'))")
    for _ in range(3):
        host.page.get_by_label("length of the text").first.press("ArrowLeft")
    assert host("all('.flag')[0].nextSibling.textContent") == "157 characters"
    assert host("all('.line', 0).map(e => e.getAttribute('d'))") != before
    assert host("all('.ink i.un').length") == 6

    # The second model becomes another one; the other figure has noticed nothing of all this.
    do(host, lambda: host.page.get_by_role("combobox", name="second model").first.select_option("alibi"))
    alibi = losses("alibi", figure.options)
    assert outs(host)[2:] == [nats(alibi, 0, edge), nats(alibi, edge, 157)]
    ready(host, 1)
    assert host("all('.mean b', 1).map(e => e.textContent)")[2] == nats(both[1], 0, edge)


@on(viewport={"width": 390, "height": 844})
def test_a_brief_one_is_two_lines_two_menus_and_a_sentence_on_one_screen_of_a_phone(host):
    figure = machine(BLIND, TURNS, TEXT, "longer", brief=True)
    assert "a line along the text" in figure.description and "preceded it" not in figure.html.split("<script type")[0]
    host.show(full(figure))
    ready(host)
    shown = "all('textarea, .ink, .mean, .heads, [type=checkbox], [type=radio], select').filter(e => e.getClientRects().length)"
    assert host(f"{shown}.map(e => e.localName)") == ["select", "select"]
    assert host("box(all('.fig')[0]).height") < 600 and len(host("seen().filter(e => e.matches('text'))")) <= 12
    drawn = "all('.line', 0).map(e => e.getAttribute('d'))"
    before = host(drawn)
    host.label(END).press("Home")
    assert description(host).startswith(PLAIN) and host(drawn) != before


PLAIN = "This text is no longer than those of training."


def test_it_compares_what_the_last_deed_changed_and_nothing_else(host):
    host.show(full(machine(BLIND, TURNS, TEXT)))
    ready(host)
    assert at_once(host, "stands still") == f"The clock stands still: {compared('', 'stopped')}"
    # The clock runs again, and nobody waits: the models have read that before.
    sentence = at_once(host, "runs", "shuffle the words")
    assert sentence == f"The words are shuffled: {compared('', 'shuffled')}"
    assert "less surprised" not in sentence and sentence[-20:] != compared("stopped", "shuffled")[-20:]
    # Of two deeds in a row the last counts.
    sentence = at_once(host, "stands still")
    assert sentence == f"The clock stands still: {compared('shuffled', 'shuffled stopped')}"
    sentence = at_once(host, "shuffle the words")
    assert sentence == f"The words are back in order: {compared('shuffled stopped', 'stopped')}"
    # Another length changes both sides of a comparison.
    assert at_once(host, (END, 90)).startswith(PLAIN)
    assert at_once(host, "runs") == f"The clock runs: {compared('stopped', '', 90)}"
    assert at_once(host, ("second model", BLIND)).startswith(PLAIN)


def test_learned_says_where_it_uses_its_last_row_again(host):
    again = "learned has 128 rows: later positions get the last one again."
    assert parsed(path("learned").read_text("utf-8"))["shapes"][0][:2] == ["encoding.table", 128]
    host.show(full(machine("learned", TURNS, TEXT)))
    ready(host)
    assert again not in description(host)
    assert at_once(host, (END, 129)).endswith(again)
    assert again not in at_once(host, (END, 128))
    assert at_once(host, (START, 4)).endswith(again)
    assert again not in at_once(host, (END, 124))
    assert at_once(host, (START, 0), "runs at double pace").endswith(again)
    assert again not in at_once(host, (END, 64))
    assert again not in at_once(host, (END, 160), "stands still")
    assert at_once(host, "is shuffled").endswith(again)
    assert again not in at_once(host, ("first model", TURNS))


def test_the_character_under_the_pointer_and_at_the_cursor_shows_where_the_heads_look(host):
    host.show(full(machine(BLIND, TURNS, TEXT)))
    ready(host)
    spot = host(
        "(() => { const b = box(all('.ink i')[70]); return [b.left + b.width / 2, b.top + b.height / 2] })()"
    )
    host.page.mouse.move(*spot)
    words = machine().options["words"]
    assert host("all('.at').length") == 2
    text = host("all('.told').map(e => e.textContent)")
    assert all(line.startswith(f"Character 70, {words[70].replace(' ', 'space')}: ") for line in text)
    assert text[0].count("%") == 3
    looks = "all('.heads').map(e => [...e.querySelectorAll('path')].map(p => p.getAttribute('d').length))"
    first = host(looks)
    host.page.mouse.move(2, 2)
    assert host("all('.at').length") == 0
    area = host.page.get_by_label("text, as the first model reads it")
    area.focus()
    area.press("Control+Home")
    for _ in range(5):
        area.press("ArrowRight")
    assert "Character 5, " in host("all('.told')[0].textContent")
    assert host(looks) != first
    host.page.wait_for_function(
        "() => ['none', 'RoPE'].every(name => spoken().includes(name + ': Character 5, '))"
    )


def test_a_longer_text_has_its_control_and_shows_where_training_ended(host):
    text = PASSAGES["austen"][1][:200]
    host.show(full(machine(TURNS, BLIND, text, "longer")))
    ready(host)
    host.page.wait_for_function("() => all('.verdict')[0].textContent.includes('read alone')")
    parts = []
    for name in (TURNS, BLIND):
        apart = losses(name, machine(text=text[-128:]).options).nanmean().item()
        within = losses(name, machine(text=text, state="longer").options)[-127:].nanmean().item()
        parts.append(f"{NAMES[name]} {apart:.2f} instead of {within:.2f} nats")
    assert description(host).endswith(f"The last 128 characters read alone: {', '.join(parts)}.")
    assert host("all('.bound').map(e => [...e.parentNode.children].indexOf(e))") == [128, 128]
    # It begins where the two differ most, near the end.
    apart = (
        losses(TURNS, machine(text=text, state="longer").options)
        - losses(BLIND, machine(text=text, state="longer").options)
    ).abs()
    worst = 168 + apart[168:].argmax().item()
    assert all(
        line.startswith(f"Character {worst}, ") for line in host("all('.told').map(e => e.textContent)")
    )
    # As long as in training, there is nothing to compare with.
    assert "alone" not in at_once(host, (END, 128))


BOXES = """all('.over text').filter(e => e.textContent && e.getAttribute('visibility') !== 'hidden').map(e => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return [e.textContent, left, top + 3, right, bottom - 3];
})"""


def test_the_names_of_the_lines_lie_on_no_other_words(host):
    host.show(full(machine(BLIND, TURNS, TEXT, "longer")))
    ready(host)
    for width in (390, 1000):
        host.page.set_viewport_size({"width": width, "height": 900})
        for end in (20, 60, 100, 128, 140, 160):
            host(f"(() => {{ const e = all('.over input')[0]; e.value = {end}; e.oninput(); }})()")
            boxes = host(BOXES)
            names = [box for box in boxes if box[0] in ("none", "RoPE")]
            for name, *box in names:
                for other, left, top, right, bottom in boxes:
                    apart = box[2] <= left or right <= box[0] or box[3] <= top or bottom <= box[1]
                    assert apart or other == name, (width, end, name, other)


@on(viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True)
def test_a_finger_chooses_points_drags_and_scrolls(host):
    host.show(full(machine(BLIND, TURNS, TEXT, "longer")), "<p style='height:2000px'>")
    ready(host)
    client = host.page.context.new_cdp_session(host.page)

    def swipe(start, end, steps=8):
        x, y = (torch.linspace(a, b, steps + 1).tolist() for a, b in zip(start, end, strict=True))
        between = zip(x, y, strict=True)
        for kind, (x, y) in zip(["touchStart"] + ["touchMove"] * steps, between, strict=True):
            client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    host.page.get_by_text("More", exact=True).tap()
    sentence = do(host, lambda: host.page.get_by_text("stands still").tap())
    assert sentence.startswith("The clock stands still: none does not notice")
    host.page.get_by_text("runs", exact=True).tap()
    ready(host)

    host.page.get_by_label("text, as the first model reads it").scroll_into_view_if_needed()
    letter = host("(() => { const b = box(all('.ink i')[150]); return [b.left + 2, b.top + b.height / 2] })()")
    host.page.touchscreen.tap(*letter)
    assert "Character 150, " in host("all('.told')[0].textContent")

    slider = host.page.get_by_label("length of the text")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle, end = box["y"] + box["height"] / 2, box["x"] + box["width"] - 22
    swipe((end, middle), (end - 120, middle + 6))
    shorter = int(host("all('.flag')[0].nextSibling.textContent").split()[0])
    assert 60 < shorter < 120  # across: the end of the text follows, and the page stays under the finger
    assert slider.bounding_box()["y"] == pytest.approx(box["y"], abs=2)
    swipe((end - 120, middle), (end - 126, middle - 150))
    assert slider.bounding_box()["y"] < box["y"] - 50  # along the page: the page follows, the text stays
    assert host("all('.flag')[0].nextSibling.textContent") == f"{shorter} characters"


def test_a_text_of_ones_own_is_read_while_it_is_typed(host):
    host.show(full(machine(BLIND, TURNS, TEXT)))
    ready(host)
    area = host.page.get_by_label("text, as the second model reads it")
    do(host, lambda: area.fill("A cat. Ω"))
    assert host("all('textarea').map(e => e.value)") == ["A cat. Ω"] * 2
    assert host("all('select')[0].value") == "your own words"
    assert description(host).endswith("The models do not know Ω: they count no surprise there.")
    do(host, lambda: area.press_sequentially("?"))
    assert host("all('.ink').map(e => e.textContent.slice(0, -1))") == ["A cat. Ω?"] * 2
    alone = machine(BLIND, TURNS, text="A cat. Ω?").options
    assert outs(host)[::2] == [nats(losses(name, alone), 0, 9) for name in (BLIND, TURNS)]
    area.fill("")
    host.page.wait_for_function("() => all('.verdict')[0].textContent.startsWith('Type a text')")
    assert set(outs(host)) <= {"– nats", ""}
    # More than fits is cut, and the reader is told.
    host("all('textarea')[0].focus()")
    host("""(() => { const e = all('textarea')[0], d = new DataTransfer(); d.setData('text', 'to be '.repeat(100));
        e.dispatchEvent(new ClipboardEvent('paste', { clipboardData: d, bubbles: true })) })()""")
    cut = "512 characters and leave out the rest"
    host.page.wait_for_function(f"() => all('.verdict')[0].textContent.includes('{cut}')")


@still
def test_at_every_width_it_can_be_read_by_everybody(host):
    host.show(full(machine(BLIND, "rope linear", text="dickens", state="longer late", play=True)))
    ready(host)
    assert host("all('.play').length") == 0  # its story is told at once
    for width in (320, 390, 576, 768, 930, 1124):
        host.page.set_viewport_size({"width": width, "height": 900})
        host.page.wait_for_timeout(60)
        assert host("document.documentElement.scrollWidth") <= width
        assert host("outside()") == [], width
        assert min(host("seen().map(e => parseFloat(getComputedStyle(e).fontSize))")) >= 12
        places = "all('.ink').map(p => [...p.children].map(e => Math.round(box(e).top - box(p).top)))"
        one, other = host(places)
        assert one == other and len(set(one)) > 5
        lines = host("all('textarea').map(e => [e.scrollHeight, e.clientHeight])")
        assert all(high <= room + 1 for high, room in lines)  # the cursor breaks its lines as the words do
    assert host("missed()") == []


@pytest.mark.parametrize(
    ("host", "end"), [({}, False), ({"reduced_motion": "reduce"}, True)], indirect=["host"]
)
def test_its_story_begins_when_the_models_have_read_and_a_hand_ends_it(host, end):
    host.show(full(machine(BLIND, TURNS, TEXT, play=True)))
    length = "all('.flag')[0].nextSibling.textContent"
    if end:  # with reduced motion it stands there at once
        host.page.wait_for_function(f"() => {length} === '160 characters'")
        return
    host.page.wait_for_function("() => all('.play')[0].textContent === 'Stop'")
    assert host("all('.read').length") == 1
    host.page.wait_for_function(f"() => parseInt({length}) > 40 && parseInt({length}) < 160")
    host.page.locator(".verdict").click()
    assert host("all('.play')[0].textContent") == "Play" and host(length) != "160 characters"


@on(color_scheme="dark")
def test_the_hosts_theme_decides_and_paper_gets_a_picture(host):
    hues = ("rope", "none", "relative")
    colors = "color:rgb(200,210,220)" + "".join(f";--enc-{hue}:#abc" for hue in hues)
    host.show(
        '<div style="height:3000px"></div>',
        full(machine(BLIND, "t5")),
        css=f"body{{background:#111;{colors}}}",
    )
    assert set(host("colors()")) == {"rgb(200, 210, 220)"}
    assert "rgb(170, 187, 204)" in host("marks()")
    # It is out of sight: nothing is computed, and paper shows the picture that Python drew.
    assert host("all('.read').length") == 0
    host.page.emulate_media(media="print")
    assert host("all('.fig')[0].getClientRects().length") == 0
    assert host.page.locator("[data-hero] > svg").bounding_box()["width"] > 200


def test_in_a_frame_that_allows_nothing_but_scripts(host):
    frame = '<iframe sandbox="allow-scripts" width="900" height="800"'
    host.show(f'{frame} srcdoc="{escape(full(machine(text=TEXT)))}"></iframe>')
    host.page.frame_locator("iframe").locator(".fig.read").wait_for()


def test_what_cells_bring_is_what_the_files_hold(host):
    pairs = zip(CHAR_MODELS[::2], CHAR_MODELS[1::2], strict=True)
    host.show(*(f"<script>{models(machine(*pair))}</script>" for pair in pairs))
    for name in CHAR_MODELS:
        file = parsed(path(name).read_text("utf-8"))
        came = host.page.evaluate(
            "async name => { const file = await d2lposReaders[name]; return { ...file, weights: [...file.weights] } }",
            name,
        )
        assert bytes(came.pop("weights")) == b64decode(file.pop("weights"))
        assert came == file


def test_a_notebook_offers_the_models_that_its_cells_have_brought(host):
    host.show(full(machine(BLIND, "rope ntk", TEXT)))
    ready(host)
    assert offered(host) == [["none", "rope", "rope linear", "rope ntk"]] * 2
    assert len(set(host("all('.name option').map(e => getComputedStyle(e).color)"))) == 2
    way = host.page.get_by_text("Models that are gray in the menus")
    assert way.inner_text().endswith('as in machine("sinusoidal", "learned").')
    # A cell that runs later brings others.
    later = machine("t5", "alibi", TEXT)
    host.page.add_script_tag(content=models(later))
    host.page.get_by_role("combobox", name="first model").focus()
    assert offered(host) == [[name for name in NAMES if name not in ("sinusoidal", "learned")]] * 2
    for side, name in (("first", "t5"), ("second", "alibi")):
        do(host, partial(choose, host, side, name))
    assert outs(host)[::2] == [nats(loss, 0, None) for loss in later.losses]
    # With all of them there is nothing left to say.
    host.page.add_script_tag(content=models(machine("sinusoidal", "learned")))
    host.page.get_by_role("combobox", name="second model").focus()
    assert offered(host) == [list(NAMES)] * 2 and not way.is_visible()


def test_where_no_models_are_it_says_what_to_do(host):
    host.show(machine())
    host.page.wait_for_function("() => all('.verdict')[0].textContent.startsWith('Run this cell')")
    assert offered(host) == [[], []] and not host.page.get_by_text("Models that are gray").is_visible()


def test_from_a_folder_it_loads_what_is_asked_for_and_no_more(host, tmp_path):
    (tmp_path / "_static").mkdir()
    for name in CHAR_MODELS:
        copy(path(name), tmp_path / "_static")
    page = (
        '<!doctype html><html lang="en" data-content_root="./"><head><meta charset="utf-8"><title>Reads</title>'
        f'{INSIDE}</head><body><main><h1>Reads</h1><div style="height:2000px"></div>'
        f"{machine(BLIND, TURNS, TEXT).html}</main></body></html>"
    )
    file = tmp_path / "page.html"
    allowed = f'<head><meta http-equiv="Content-Security-Policy" content="{escape(policy(page))}">'
    file.write_text(page.replace("<head>", allowed))

    def asked() -> list[str]:
        return [url.rpartition("/")[2] for url in host.trouble]

    host.page.goto(file.as_uri())
    host.page.wait_for_timeout(200)
    assert asked() == ["page.html"]
    host("document.querySelector('[data-hero]').scrollIntoView()")
    ready(host)
    assert asked()[1:] == ["readers-none.js", "readers-rope.js"]
    visit = Visit(host.page)
    visit.settle()
    assert visit.axe() == []
    do(host, partial(choose, host, "second", "rope ntk"))
    assert offered(host) == [list(NAMES)] * 2
    assert not host.page.get_by_text("Models that are gray").is_visible()
    for number, name in enumerate(("learned", "sinusoidal", "t5"), 3):
        do(host, partial(choose, host, "first", name))
        assert asked()[number:] == [f"readers-{name}.js"]
    file = (tmp_path / "_static" / "readers-alibi.js").rename(tmp_path / "away.js")
    choose(host, "first", "alibi")
    host.page.wait_for_function("() => all('.verdict')[0].textContent.startsWith('A model did not arrive')")
    file.rename(tmp_path / "_static" / "readers-alibi.js")
    do(host, partial(choose, host, "first", "alibi"))
    host.trouble.clear()
