"""The hero figures inside the pages that hold them: a theme, a notebook, a sandboxed frame, hostile CSS."""

import math
import re
from base64 import b64encode
from html import escape

import pytest
from playwright.sync_api import expect

from book.essay import BOOK
from d2lpos.figures.hero import BEFORE, OPTIONS, data, hero
from tests.figures.hero.host import UNFOLD, on, phone, still

WINDOW = (760, 900)
FIGURES = [*OPTIONS, "plain clocks"]


def figure(name, **options):
    return hero("clocks", plain=True, **options) if name == "plain clocks" else hero(name, **options)


OTHER = {
    "buckets": {"kind": "both", "length": 64, "offset": 40},
    "cliff": {"p": 15, "remedy": "blocks"},
    "clocks": {"p": 63, "base": 100_000},
    "dial": {"m": 3, "n": 20},
    "dropout": {"place": "whole position"},
    "gates": {"gate": 0.1},
    "lengths": {"length": 256},
    "longer": {"length": 100},
    "packed": {"way": "begin again"},
    "pairs": {"pair": 0},
    "plain clocks": {"p": 63, "base": 8},
    "patch": {"target": "ring", "view": "to scale", "row": 7, "column": 0},
    "shuffle": {"order": [5, 4, 3, 2, 1, 0], "positions": True, "causal": True},
    "slopes": {"heads": 16, "rule": "paper"},
    "stretch": {"rule": "yarn"},
}

# The slider to move, from where to where, and what the readout says afterwards.
DRAGS = {
    "buckets": ("offset", -40, -110, "−112 … −99"),
    "cliff": ("position p", 11, 7, "7"),
    "clocks": ("position p", 11, 31, "31"),
    "dial": ("position n of the key", 6, 26, "26"),
    "dropout": ("offset between the two positions", 4, 20, "20"),
    "gates": ("gate at the full stop", 90, 40, "0.40"),
    "lengths": ("length of the text", 0, 2, "256"),
    "longer": ("length of the text", 256, 64, "64"),
    "pairs": ("pair that stands still", 32, 8, "Pair 8"),
    "plain clocks": ("position in the text", 11, 31, "31"),
    "patch": ("column of the query", 3, 6, "row 3, column 6"),
    "shuffle": ("dog", 5, 1, "0.00"),
    "slopes": ("place of the word that matches", 24, 28, "128"),
    "stretch": ("length of the text", 256, 512, "8.0 ×"),
}

each = pytest.mark.parametrize("name", FIGURES)


def key(name):
    """What moves the slider of DRAGS in the figure's first state; one begins at its left end."""
    return "ArrowRight" if name == "lengths" else "ArrowLeft"


def hand(where, name):
    """What moves a figure: a slider, or the choice that is made, from which arrow keys go on."""
    if name not in DRAGS:
        return where.get_by_role("radio", checked=True)
    return where.get_by_label(DRAGS[name][0], exact=True)


def show_all(host, css="", **options):
    """Show every figure on one page, unfolded, so that they wait together."""
    host.show(*(figure(name, **options.get(name, {})) for name in FIGURES), css=css)
    host(UNFOLD)


def of_each(host, expression):
    """What a function of the figure's number is worth, by the figure's name."""
    return dict(zip(FIGURES, host(f"inks().map((_, n) => {expression})"), strict=True))


@each
@still
def test_several_on_a_page_are_drawn_once_and_stay_apart(host, name):
    host.show(figure(name), figure(name), figure(name, **OTHER[name]))
    assert host("document.querySelectorAll('[data-hero]').length") == 3
    before = [host(f"out({n})") for n in range(3)]
    assert before[0] == before[1]
    hand(host.page, name).first.press(key(name))
    host.rest()
    if name != "shuffle":  # whose numbers stay while its words move
        assert host("out(0)") != before[0]
    assert host("ink()") != host("ink(1)")
    assert [host(f"out({n})") for n in (1, 2)] == before[1:]


@still
def test_at_every_width_the_text_can_be_read_and_is_inside(host):
    show_all(host, **OTHER)
    for width in (320, 360, 390, 480, 560, 576, 640, 768, 930, 1024, 1124):
        host.page.set_viewport_size({"width": width, "height": 900})
        host.rest()
        assert host("document.documentElement.scrollWidth") <= width
        size = 13 if width < 840 + 24 else 15
        assert of_each(host, "[outside(n), [...new Set(sizes(n))]]") == {name: [[], [size]] for name in FIGURES}, width
        least = of_each(host, "Math.min(...seen(n).map(e => parseFloat(getComputedStyle(e).fontSize)))")
        assert min(least.values()) >= 12, (least, width)


STATE = "[out(), all('input').map(e => [e.value, e.checked])]"


@each
def test_it_plays_when_half_of_it_is_in_view_once_and_in_silence(host, name):
    host.stop_time()
    host.show('<div style="height: 100vh"></div>', figure(name, play=True))
    host.page.clock.run_for(1000)
    before, plays = host("[spoken(), ink()]"), "all('.plays').length"
    assert before[0]
    host("scrollTo(0, 0.3 * box(all('.fig')[0]).height)")
    host("new Promise(done => new IntersectionObserver(done).observe(document.body))")
    assert host(plays) == 0
    into_view = "document.querySelector('[data-hero]').scrollIntoView()"
    host(into_view)
    host.page.wait_for_function("() => all('.play')[0].textContent === 'Stop'")
    pictures = {before[1]}
    for _ in range(9):
        host.page.clock.run_for(540)
        pictures.add(host("ink()"))
        assert host(plays) == 1 and host("spoken()") == before[0]
    assert len(pictures) > 3
    host.page.clock.run_for(240)
    assert host(plays) == 0 and host("all('.play')[0].textContent") == "Play"
    host.page.clock.run_for(1000)
    assert host("out().every(value => spoken().includes(value))")
    end = host(STATE)
    host("scrollTo(0, 0)")
    host("new Promise(done => new IntersectionObserver(done).observe(document.body))")
    host(into_view)
    host("new Promise(done => new IntersectionObserver(done).observe(document.body))")
    assert host(plays) == 0
    # With reduced motion it stands there from the beginning.
    host.page.emulate_media(reduced_motion="reduce")
    host.show(figure(name, play=True))
    assert host(STATE) == end
    assert host(plays) == 0 and not host.page.get_by_role("button", name="Play").is_visible()


# A figure that asks, its first and its last number, what would tell the answer, and what it says to two guesses.
ASKS = [
    ("lengths", "64", "512", "1.334|3.678|KERPLE is", {"RoPE": "You said RoPE. It is KERPLE: its loss is 1.334", "KERPLE": "You said KERPLE. Yes: its loss is 1.334"}),
    ("packed", "4 %", "68 %", "68|65|3.18", {"as much": "You said as much. It is more: 68 %", "more": "You said more. Yes: 68 %"}),
    ("pairs", "No pair", "Pair 0", "0.365|0.050|4.19", {"slow": "You said slow. It is fast: pair 0", "fast": "You said fast. Yes: pair 0"}),
]


@pytest.mark.parametrize(("name", "first", "last", "answer", "guesses"), ASKS)
@phone(844)
def test_a_figure_that_asks_waits_for_a_guess_and_then_plays_the_answer(host, name, first, last, answer, guesses):
    host.stop_time()
    host.show(hero(name), asks=True)
    host.page.clock.run_for(3000)
    assert host("[all('.plays').length, out()[0]]") == [0, first]
    assert not host(f"seen().some(e => /{answer}/.test(e.textContent))")
    assert not host.page.get_by_role("button", name="Play").is_visible()
    places = host("all('.asks, .fig > :not(.asks)').map(e => box(e).top)")
    for said, told in guesses.items():
        host.page.get_by_role("button", name=said, exact=True).click()
        host.page.clock.run_for(200)
        assert told in host("all('legend')[0].textContent")
        assert host("[all('.plays').length, out()[0]]") == [1, first]
        host.page.clock.run_for(6000)
        assert host("[all('.plays').length, out()[0]]") == [0, last]
        assert host("all('.asks, .fig > :not(.asks)').map(e => box(e).top)") == places  # no jump
    assert host.page.get_by_role("button", name="Play").is_visible()


@phone(844)
@pytest.mark.parametrize("name", [name for name, before in BEFORE.items() if "guess" in before])
def test_before_a_guess_no_control_moves_and_a_hand_is_told_why(host, name):
    host.show(hero(name), asks=True)
    host.rest()
    before = host("[ink(), out(), all('input').map(e => [e.value, e.checked])]")
    assert host("Math.min(...all('.asks button:not([hidden])').map(e => box(e).height))") >= 44
    place = host("box(all('.over input, .ctl label').at(-1)).toJSON()")
    host.page.mouse.click(place["x"] + place["width"] / 2, place["y"] + 22)
    host.page.keyboard.press("Tab")
    host.page.keyboard.press("ArrowRight")
    host.rest()
    assert host("[ink(), out(), all('input').map(e => [e.value, e.checked])]") == before
    assert host("all('legend')[0].textContent").startswith("Guess first. ")
    host.page.locator(".asks button").first.click()
    assert host("all('input').some(e => e.disabled)") is False
    assert host("all('legend')[0].textContent").startswith("You said ")


def test_the_answer_is_out_of_sight_until_the_script_asks(browser):
    still, css = hero("packed").html.partition("<script")[0], (BOOK / "_static/book.css").read_text("utf-8")
    rule = re.search(r"@media screen and \(scripting:enabled\) \{\[data-hero\].*\}\}", css)[0]
    for scripts in (True, False):
        page = browser.new_page(java_script_enabled=scripts)
        page.set_content(f"<style>{rule}</style>{still}")
        assert page.get_by_text(hero("packed").description).is_visible() != scripts
        page.close()


HANDS = {
    "press": lambda page: page.mouse.click(300, 300),
    "key": lambda page: page.keyboard.press("Tab"),
    "again": lambda page: page.get_by_role("button", name="Stop").click(),
    "hidden tab": lambda page: page.evaluate("document.dispatchEvent(new Event('visibilitychange'))"),
}


@pytest.mark.parametrize("hand", HANDS)
def test_a_hand_stops_it_at_once(host, hand):
    host.show(hero("clocks"))
    host.page.get_by_role("button", name="Play").focus()
    host.page.keyboard.press("Enter")
    host.page.wait_for_function("() => out()[0] > 7")
    HANDS[hand](host.page)
    assert host("all('.plays').length") == 0
    host.rest()
    stands = host("ink()")
    host.page.wait_for_timeout(100)
    assert host("ink()") == stands
    assert host("all('.play')[0].textContent") == "Play"


def test_what_leaves_the_page_plays_no_more(host):
    host.show(hero("clocks"))
    host.page.get_by_role("button", name="Play").click()
    host.page.wait_for_function("() => out()[0] > 7")
    host("(window.fig = all('.fig')[0], document.querySelector('[data-hero]').remove())")
    host.page.wait_for_function("() => !fig.classList.contains('plays')", timeout=1500)
    path = "fig.querySelector('.hill').getAttribute('d')"
    host.page.wait_for_timeout(500)  # ink comes to rest
    stands = host(path)
    host.page.wait_for_timeout(100)
    assert host(path) == stands


def test_paper_shows_nothing_to_touch(host):
    show_all(host)
    host.page.emulate_media(media="print")
    host.rest()
    touched = "button, summary, select, [type=radio], [type=checkbox], .head"
    shown = f"all('{touched}', n).filter(e => e.getClientRects().length).map(e => e.outerHTML)"
    assert of_each(host, f"[{shown}, outside(n)]") == {name: [[], []] for name in FIGURES}


@still
def test_reduced_motion_takes_one_frame(host):
    host.show(*map(figure, FIGURES))
    host.rest()
    for n, name in enumerate(FIGURES):
        hand(host.page.locator("[data-hero]").nth(n), name).press(key(name))
        assert (name, len(set(host(f"film(8, {n})")[2:]))) == (name, 1)


@pytest.mark.parametrize("host", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_the_hosts_theme_decides_not_the_systems(host):
    hues = ("rope", "sinusoidal", "none", "learned", "relative", "alibi")
    ink = "rgb(200,210,220)"  # of fox and dog, too
    colors = f"color:{ink};--fox:{ink};--dog:{ink}" + "".join(f";--enc-{hue}:#abc" for hue in hues)
    host.show(*map(figure, FIGURES), css=f"body{{background:#111;{colors}}}")
    letters_on_a_disc = {"dial": ["rgb(0, 0, 0)"]}
    for name, fills in of_each(host, "[...new Set(colors(n))].sort()").items():
        assert (name, fills) == (name, [*letters_on_a_disc.get(name, []), "rgb(200, 210, 220)"])
    marked = of_each(host, "marks(n).includes('rgb(170, 187, 204)')")
    assert all(marked.values()), marked


HOSTILE = """
svg{width:30px!important;transform:rotate(9deg)} input,label,button{display:none!important}
text{fill:red!important;font-size:40px!important} p{font-size:60px} .fig,.out{display:none}"""


@still
def test_hostile_css_changes_nothing(host):
    show_all(host)
    host.rest()
    calm = of_each(host, "places(n)")
    show_all(host, css=HOSTILE)
    host.rest()
    hurt = of_each(host, "places(n)")
    assert [name for name in FIGURES if hurt[name] != calm[name]] == []


def test_in_a_frame_that_allows_nothing_but_scripts(host):
    sandboxed = '<iframe sandbox="allow-scripts" width="700" height="800"'
    host.show(*(f'{sandboxed} srcdoc="{escape(figure(name)._repr_mimebundle_()["text/html"])}"></iframe>' for name in FIGURES))
    for n in range(len(FIGURES)):
        host.page.frame_locator("iframe").nth(n).locator(".fig svg").first.wait_for()


def test_a_hidden_tab_is_drawn_when_it_is_shown(host):
    figures = "\n".join(figure(name).html for name in FIGURES)
    host.show(f'<div id="tab" style="display:none">{figures}</div>')
    host.page.wait_for_function("() => inks().length")
    host("document.querySelector('#tab').style.display = ''")
    host.rest()
    hidden = of_each(host, "ink(n)")
    host.show(figures)
    host.rest()
    shown = of_each(host, "ink(n)")
    assert [name for name in FIGURES if hidden[name] != shown[name]] == []


REACHED = """e => {
  const figure = shadow(e), controls = [...figure.querySelectorAll('button, input, select, summary')].filter(c => c.getClientRects().length && !c.disabled);
  return controls.filter(c => { c.focus(); return c.tabIndex || figure.activeElement !== c || !c.matches(':focus-visible'); }).map(c => c.outerHTML);
}"""


def test_the_keyboard_reaches_every_part_in_the_order_in_which_it_stands(host):
    show_all(host)
    host.page.keyboard.press("Tab")
    assert of_each(host, f"({REACHED})(n)") == {name: [] for name in FIGURES}


@each
def test_the_figure_and_its_pictures_are_described_by_what_they_show_now(host, name):
    host.stop_time()
    host.show(figure(name))
    pictures = host.page.get_by_role("img").all()
    assert all(picture.get_attribute("aria-label") for picture in pictures)
    texts = []
    for _ in range(2):
        host.page.clock.run_for(1000)
        texts.append(host("spoken()"))
        assert host("out().every(value => spoken().includes(value))")
        for described in (host.page.get_by_role("group").first, *pictures):
            expect(described).to_have_accessible_description(texts[-1])
        hand(host.page, name).press(key(name))
    assert texts[0] != texts[1]
    assert figure(name).description not in host.page.locator("body").aria_snapshot()  # not read twice


@pytest.mark.parametrize("name", DRAGS)
def test_a_drag_of_the_mouse(host, name):
    host.show(figure(name))
    label, start, end, value = DRAGS[name]
    host.drag(label, start, end)
    assert float(host.label(label).input_value()) == end
    assert value in host("out()")


# The book's own font with the ascent and descent of those that need much room. Noto Sans has 107 % and 29 %, its form for
# Japanese 116 % and 29 %: the words of a neighbor then reach beyond their line.
FONT = b64encode((BOOK / "_static/fonts/source-sans-3-latin-wght-normal.woff2").read_bytes()).decode()
TALL = f"""@font-face {{font-family:tall; font-weight:200 900; src:url(data:font/woff2;base64,{FONT}); ascent-override:120%; descent-override:36%}}
:root {{--sans:tall}}"""


@each
@pytest.mark.parametrize("css", ["", TALL], ids=["plain", "tall"])
@on(viewport={"width": 760, "height": 1700})
def test_targets_are_44_px_high(host, name, css):
    host.show(figure(name), css=css)
    host.page.evaluate("document.fonts.ready")
    host(UNFOLD)
    assert host("missed()") == []


# The book draws the first state of the figures that it shows; another state has words alone.
PICTURED = [name for name in FIGURES if 'role="img"' in figure(name).html]


@on(java_script_enabled=False)
def test_without_scripts_the_words_remain(host):
    host.show(*map(figure, FIGURES))
    for n, name in enumerate(FIGURES):
        shown = host.page.locator("[data-hero]").nth(n)
        assert shown.get_by_text(figure(name).description).is_visible(), name
        if name in PICTURED:
            assert shown.get_by_role("img").bounding_box()["width"] > 200, name
    assert len(PICTURED) > 8


# A figure's state, what a hand moves or checks then, the option that says the same, and what the readout tells.
CHOICES = [
    ("cliff", {}, "stretched", True, {"remedy": "stretched"}, ["11"]),
    ("cliff", {"p": 12}, "blocks", True, {"remedy": "blocks"}, ["12"]),
    ("clocks", {}, "digits", True, {"mode": "digits"}, ["11", "0.00", "0.33"]),
    ("dropout", {}, "whole position", True, {"place": "whole position"}, ["4", "8.6", "6.5", "1.3"]),
    ("dropout", {}, "dropout rate", "0.5", {"rate": 0.5}, ["4", "8.6", "5.2", "1.6"]),
    ("packed", {}, "mask by text", True, {"way": "mask by text"}, ["0 %"]),
    ("shuffle", {"order": [0, 5, 2, 3, 4, 1]}, "add positions", True, {"positions": True}, ["0.43"]),
    ("shuffle", {"order": [0, 5, 2, 3, 4, 1]}, "causal mask", True, {"causal": True}, ["1.15"]),
    ("slopes", {"heads": 12}, "paper rule", True, {"rule": "paper"}, ["64"]),
    ("slopes", {}, "its score above the others", "12", {"match": 12}, ["64"]),
    ("stretch", {"length": 512}, "linear", True, {"rule": "linear"}, ["512", "0 of 8", "1.0 ×", "13 %"]),
    ("stretch", {"length": 512}, "NTK", True, {"rule": "ntk"}, ["512", "4 of 8", "3.3 ×", "55 %"]),
]


@still
def test_a_choice_by_hand_is_that_of_the_option(host):
    pairs = [(hero(name, **state), hero(name, **state | options)) for name, state, _, _, options, _ in CHOICES]
    host.show(*(figure for pair in pairs for figure in pair))
    host(UNFOLD)
    for n, (_, _, label, value, _, _) in enumerate(CHOICES):
        control = host.page.locator("[data-hero]").nth(2 * n).get_by_label(re.compile(f"^{label}"))
        control.check() if value is True else control.fill(value)
    host.rest()
    for n, (name, _, label, _, _, text) in enumerate(CHOICES):
        assert (name, label, host(f"out({2 * n})")) == (name, label, text)
        assert (name, label, host(f"ink({2 * n})")) == (name, label, host(f"ink({2 * n + 1})"))


def test_a_word_follows_the_pointer_and_tab_order_follows_the_sentence(host):
    host.show(hero("shuffle"))
    host.drag("fox", 1, 4.3)
    words = "all('[type=range]').map(e => e.ariaLabel)"
    order = ["the, the first", "jumps", "over", "the, the second", "fox", "dog"]
    assert host(words) == order
    assert host("focused()") == "fox"
    spoken = host("shadow().activeElement.getAttribute('aria-valuetext')")
    assert "place 4: the jumps over the fox dog" in spoken
    host.page.keyboard.press("ArrowRight")
    assert host(words)[-1] == "fox" and host("focused()") == "fox"


@still
def test_digits_have_whole_positions_and_no_base(host):
    host.show(hero("clocks", p=10))
    host.press("position p", *["ArrowLeft"] * 3)
    assert host("out()[0]") == "9.25"
    host.label("digits").check()
    assert host("out()[0]") == "9" and host.label("base").is_disabled()


# What the plain clocks show, in numbers.
ROW = """(() => {
  const numbers = (e, ...names) => names.map(name => +e.getAttribute(name)), path = e => e.getAttribute('d').match(/[-.\\d]+/g).map(Number);
  const words = seen().filter(e => e.matches('text') && e.checkVisibility({ opacityProperty: true })), [ring] = all('.over .ring');
  const lines = name => all('svg')[0].querySelectorAll(name), ends = e => numbers(e, 'x1', 'y1', 'x2', 'y2');
  return {
    words: words.map(e => e.textContent), at: Object.fromEntries(words.map(e => [e.textContent, numbers(e, 'x', 'y')])),
    hill: path(all('.hill')[0]), first: path(all('.first path')[0]), mark: numbers(all('.first circle')[0], 'cx', 'cy'),
    back: ring.parentElement.getAttribute('transform').match(/[-.\\d]+/g).map(Number), disc: numbers(all('.over .dot')[0], 'cx', 'cy'), line: ends(all('.at')[0]),
    now: [...lines('.hand')].map(ends), past: [...lines('.wave')].map(ends),
    rings: all('.ring').filter(e => e.checkVisibility({ opacityProperty: true })).length,
    slice(turn) { const [e] = lines('.area'), [x, y] = ends(lines('.hand')[0]);
      return e.isPointInFill(new DOMPoint(x + 9 * Math.sin(turn), y - 9 * Math.cos(turn))); },
  };
})()"""


@still
def test_the_plain_hill_moves_along_and_the_first_one_stays(host):
    host.show(hero("clocks", p=20, plain=True))
    slider = host.page.get_by_label("position in the text")

    def press(*keys):
        for key in keys:
            slider.press(key)
        host.rest()
        return host(ROW)

    before = press()
    assert {"hands at position 20", "position 20", "three words", "around in 201 words"} <= {*before["words"]}
    assert "at position 20" not in before["words"]  # there is one hill
    assert before["first"] == before["hill"] and before["mark"] == pytest.approx(before["back"])
    after = press(*["ArrowRight"] * 3)
    assert after["hill"][25::2] == pytest.approx(before["hill"][1:-24:2], abs=0.11)  # four points a position
    assert after["first"] == before["first"]
    step = (before["at"]["40"][0] - before["at"]["20"][0]) / 20
    for now, p in ((before, 20), (after, 23)):
        x, top = before["at"]["20"][0] + (p - 20) * step, now["at"]["alike"][1] - 4
        assert now["disc"] == pytest.approx([x, top]) and now["line"][::2] == pytest.approx([x, x])
        assert now["back"] == pytest.approx([x - 3 * step, before["back"][1]])
        assert top < now["back"][1] < now["at"]["not alike"][1] - 4
    for one, other in zip(before["now"], after["past"], strict=True):  # as the hands stood before
        a, b = (math.atan2(x1 - x0, y0 - y1) for x0, y0, x1, y1 in (one, other))
        assert one[:2] == other[:2] and a == pytest.approx(b)
    x0, y0, x1, y1 = after["now"][0]
    assert math.cos(math.atan2(x1 - x0, y0 - y1) - 23) > 0.999
    swept = [host(f"{ROW}.slice({turn})") for turn in (19, 20.3, 21.5, 22.7, 24)]
    assert swept == [False, True, True, True, False]
    far = press(*["ArrowRight"] * 15)
    assert {"hands at position 38", "at position 20"} <= set(far["words"])
    host.page.set_viewport_size({"width": 600, "height": 900})
    press()
    slider.press("ArrowLeft")
    narrow = press("ArrowRight")
    peak = min(zip(narrow["first"][1::2], narrow["first"][::2], strict=True))[1]
    assert peak == pytest.approx(narrow["at"]["20"][0], abs=0.11)
    near = press("Home", *["ArrowRight"] * 4)
    assert "three words back" in near["words"] and "three words" not in near["words"]  # no room for it
    assert near["rings"] == 8
    none = press("Home")
    assert "three words back" not in none["words"] and none["rings"] == 0


@still
def test_the_dial_counts_from_the_query_to_the_key_as_the_text_does(host):
    host.show(hero("dial", m=14, n=6))
    host.rest()
    assert {"n − m = −8", "−46°", "score 0.70"} <= set(host("seen().map(e => e.textContent)"))
    host.label("position m of the query, which takes the key along").press("End")
    host.rest()
    assert {"n − m = −8", "−46°", "score 0.70"} <= set(host("seen().map(e => e.textContent)"))
    assert "Query at 31, key at 23" in host("all('.says')[0].textContent")


@still
def test_draws_scatter_and_their_average_lies_on_the_mean(host):
    host.show(hero("dropout", rate=0.5))
    off = """(() => {
      const mean = all('path.mean')[0].getAttribute('d').slice(1).split('L').map(xy => +xy.split(' ')[1]);
      return Math.max(...all('.dot').map((dot, i) => Math.abs(dot.getAttribute('cy') - mean[i])));
    })()"""
    assert host(off) > 10
    host(UNFOLD)
    host.page.get_by_label("average of many").check()
    host.page.get_by_text("average of 400 draws").wait_for()
    assert host(off) < 10


def test_the_slider_that_moves_says_whose_buckets_are_shown(host):
    host.show(hero("buckets"))
    host(UNFOLD)
    for label, kind in (("Shaw’s clip", "Shaw"), ("buckets", "T5, causal")):
        host.label(label).press("ArrowLeft")
        assert host.label(kind).is_checked()


@still
def test_a_pair_stands_still_and_its_bar_stays_when_another_does(host):
    host.show(hero("pairs"))
    bars = "all('.bar').map(e => +e.getAttribute('height'))"
    leans = "all('.hand').map(e => { const of = n => e[n].baseVal.value; return Math.atan2(of('x2') - of('x1'), of('y1') - of('y2')); })"
    turns = [100_000 ** (-pair / 32) for pair in range(32)]
    pair, other = host.label("pair that stands still"), "all('.other').length"
    assert set(host(bars)) == {0} and host(leans) == pytest.approx(turns, abs=1e-5) and host(other) == 0
    pair.press("ArrowLeft")
    assert host("out()") == ["Pair 31"] and pair.get_attribute("aria-valuetext") == "pair 31, less than 0.1° a token"
    pair.press("Home")  # a tap, as a fast hand, passes over all others
    host.rest()
    rises = data("pairs")["rises"]
    tall = [height / max(host(bars)) for height in host(bars)]
    assert [part for part, rise in zip(tall, rises, strict=True) if rise > 0.005] == pytest.approx(
        [rise / rises[0] for rise in rises if rise > 0.005]
    )
    assert host(leans) == pytest.approx([0, *turns[1:]], abs=1e-5)
    assert host("all('.on').map(e => e.classList[0])") == ["bar", "hand"] and host(other) == 1
    assert "the text goes on “mat. ¶" in pair.get_attribute("aria-valuetext")
    pair.press("End")
    host.rest()
    assert max(host(bars)) > 100 and host(leans) == pytest.approx(turns, abs=1e-5)
    assert host("all('.on').length") == host(other) == 0


@still
def test_a_longer_text_brings_stripes_to_rope_and_takes_weight_where_there_is_no_position(host):
    host.show(hero("longer", length=32))
    host.rest()
    tokens = """['full', 'window', 'none'].map(kind => ['sight', 'fresh'].map(part => {
      const [e] = all(`.${kind} .${part}`), unit = all('.none .sight')[0], of = e => e.x2.baseVal.value - e.x1.baseVal.value;
      return Math.round(of(e) / of(unit) * parseInt(all('text').at(-1).textContent));
    }))"""
    bars = "all('rect[width=\"12\"]:not(.whole)').map(e => +e.getAttribute('height') / 44)"
    assert host(tokens) == [[32, 0], [16, 0], [32, 0]]
    assert host("all('text.mute').map(e => e.textContent)") == ["↑ the needle’s weight", "↑ what the last token sees"]
    assert host(bars) == pytest.approx([0.827, 0, 0.827], abs=1e-3)
    assert host("all('.unknown').length") == 0
    host.label("length of the text").press("End")
    host.rest()
    assert host(tokens) == [[32, 224], [16, 0], [256, 0]]
    assert host(bars) == pytest.approx([0, 0, 0.368], abs=1e-3)
    assert host("all('.unknown').map(e => e.classList[0])") == ["full"]


@pytest.mark.parametrize(("name", "options"), [("gates", {}), ("longer", {"length": 32}), ("pairs", {})])
@phone(900)
def test_one_picture_has_one_control_and_one_sentence_and_fits_on_a_phone(host, name, options):
    host.show(hero(name, **options))
    host.rest()
    assert host("['svg', 'input', '.says'].map(part => all(part).length)") == [1, 1, 1]
    assert host("box(all('.fig')[0]).height") < 570


@pytest.mark.parametrize(("name", "options", "end"), [("pairs", {}, "Home"), ("longer", {"length": 32}, "End")])
@still
def test_paper_shows_what_a_hand_would_have_brought_to_light(host, name, options, end):
    host.show(hero(name, **options), hero(name, **options))
    host.label(DRAGS[name][0]).first.press(end)
    host.page.emulate_media(media="print")
    host.rest()
    assert host("out(0)") == host("out(1)")
    # Only the knob, which paper leaves out, is where the hand has left it.
    drawn = "all('svg *', n).filter(e => !e.closest('.touch') && e.matches('line, rect')).map(e => e.outerHTML)"
    assert host(f"[0, 1].map(n => {drawn}.join())[0]") == host(f"[0, 1].map(n => {drawn}.join())[1]")
    host.page.emulate_media(media="screen")
    host.rest()
    assert host("out(0)") != host("out(1)")


@still
def test_a_gate_that_closes_moves_the_words_before_it_and_no_others(host):
    host.show(hero("gates"))
    host.rest()
    places = "all('circle').map(e => +e.getAttribute('cx'))"
    before = host(places)
    host.label("gate at the full stop").press("Home")
    host.rest()
    moved = [was - now for was, now in zip(before, host(places), strict=True)]
    unit = (before[0] - before[1]) / math.log(0.9)  # px for one nat
    assert moved == pytest.approx([unit * math.log(45)] * 6 + [0] * 6)
    assert host("out()") == ["0.02"] and "get 1 % of the weight" in host("all('.says')[0].textContent")


def titles(host):
    return host("all('.name').map(e => e.textContent)")


@still
def test_arrow_keys_take_the_query_through_the_picture_from_either_slider(host):
    host.show(hero("patch"))
    column, row = (host.label(f"{axis} of the query") for axis in ("column", "row"))
    column.press("ArrowUp")
    assert host("out()[0]") == "row 2, column 3"
    host.press("row of the query", "ArrowRight", "ArrowDown")
    assert host("out()[0]") == "row 3, column 4"
    assert [column.input_value(), row.input_value()] == ["4", "3"]
    assert column.get_attribute("aria-valuetext") == "column 4 of 0 to 7"
    host.press("row of the query", *["ArrowDown"] * 9)
    column.press("Home")
    assert host("out()[0]") == "row 7, column 0"
    assert host("getComputedStyle(all('.halo')[0]).stroke") != "none"


@still
def test_the_query_follows_the_pointer_in_both_pictures(host):
    host.show(hero("patch"))
    for picture, at in ((0, (1, 6)), (1, (5, 2))):
        frame = host(f"box(all('.frame')[{picture}]).toJSON()")
        x, y = (frame[low] + (v + 0.5) / 8 * frame["width"] for low, v in (("x", at[1]), ("y", at[0])))
        host.page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
        before = host("out()")
        host.page.mouse.down()
        host.page.mouse.move(x, y, steps=5)
        assert host("out()[0]") == f"row {at[0]}, column {at[1]}"
        host.page.mouse.up()
        host.page.mouse.move(frame["x"] - 9, frame["y"] - 9)
        assert host("out()[0]") == f"row {at[0]}, column {at[1]}" != before[0]
        assert host("focused()") == "column of the query"
        host.rest()
        for n in range(2):
            ring, frame = host(f"box(all('.query')[{n}]).toJSON()"), host(f"box(all('.frame')[{n}]).toJSON()")
            middle = [(ring[low] + ring["width"] / 2 - frame[low]) / frame["width"] * 8 for low in ("y", "x")]
            assert middle == pytest.approx([at[0] + 0.5, at[1] + 0.5], abs=0.05)


@phone(1200)
def test_a_patch_is_tapped_on_a_phone_and_keeps_its_place_when_the_picture_is_cut(host):
    host.show(hero("patch"))
    frame = host("box(all('.frame')[0]).toJSON()")
    host.page.touchscreen.tap(frame["x"] + 0.7 * frame["width"], frame["y"] + 0.2 * frame["height"])
    assert host("out()[0]") == "row 1, column 5"
    for label, where, count in (("16 × 16, counted", "row 2, column 10", 256), ("8 × 8", "row 1, column 5", 64)):
        host.label(label).tap()
        assert host("out()[0]") == where
        assert host("all('.cell').length") == 2 * count
    host.label("16 × 16, to scale").tap()
    ticks = host("all('text.mid').map(e => e.textContent)")
    assert ticks == ["−1", "0", "1"] * 2


@still
def test_without_a_target_in_the_picture_no_share_is_told(host):
    host.show(hero("patch", target="right", column=7))
    assert host("out()") == ["row 3, column 7", "–", "–"]
    assert titles(host) == ["axial", "mixed"]
    assert "out of the picture" in host("all('.said')[0].textContent")
    host.label("column of the query").press("ArrowLeft")
    assert titles(host) == ["axial: 99 % on target", "mixed: > 99 % on target"]
    assert len(host("all('.aim')")) == 2
