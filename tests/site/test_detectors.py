"""Deliberately broken pages: each fault has a detector that finds it, and a sound page has none."""

import pytest

from tests.site.detectors import visit

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{margin: 16px; font: 16px/1.5 sans-serif; overflow-wrap: break-word}} {style}</style></head>
<body><a class="skip" href="#text">Skip</a><nav><a href="#top">Top</a></nav>
<main id="text"><h1>A page</h1>{body}</main></body></html>"""

SLIDER = """<div data-explore="1"><label>Offset <input type="range" min="0" max="9" value="0"></label>
<output>0</output></div><script>{script}</script>"""
LIVE = "document.querySelector('input').oninput = e => document.querySelector('output').textContent = e.target.value;"

HERO = """<div data-hero="1">Words</div><script>
const root = document.querySelector('[data-hero]').attachShadow({{mode: 'open'}});
root.innerHTML = '<button>Shuffle</button> <button>Reset</button> <p>1 2 3</p>';
const [shuffle, reset] = root.querySelectorAll('button'), text = root.querySelector('p');
shuffle.onclick = () => text.textContent = '3 1 2'; {reset}
</script>"""

# Frames come at once, so what gives no answer is soon given up.
HASTE = "<script>requestAnimationFrame = done => setTimeout(done)</script>"

LOOKS = ["overflow", "text", "letters", "overlaps", "code", "listings", "pictures", "formulas", "motion", "focus"]
DETECTORS = {
    "told": lambda reader: reader.faults,
    "skip": lambda reader: reader.skip(),
    "axe": lambda reader: reader.axe(),
    "keyboard": lambda reader: reader.keyboard(),
    **{name: lambda reader, name=name: reader.look(name) for name in LOOKS},
}


def faults_in(browser, body: str, style: str = "", detectors=tuple(DETECTORS), **window) -> list[str]:
    """What the detectors find on a page with `body`."""
    with visit(browser, **window) as reader:
        reader.page.set_content(PAGE.format(body=body, style=style))
        reader.settle()
        return [fault for name in detectors for fault in DETECTORS[name](reader)]


def test_sound_page(browser):
    body = f"""<p>Words in a <a href="#x" id="x">line</a>.</p><img alt="A dot." src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
    <svg role="img" aria-label="A line." width="99" height="40" viewBox="0 0 99 40"><text x="5" y="20">fits</text></svg>
    <p tabindex="0" style="overflow:auto; white-space:pre">{"scrolls " * 99}</p>
    <span style="position:absolute;width:1px;height:1px;overflow:hidden">for ears only</span>
    {SLIDER.format(script=LIVE)}{HERO.format(reset="reset.onclick = () => text.textContent = '1 2 3';")}"""
    assert faults_in(browser, body, width=390) == []


def test_what_is_scrolled_out_of_sight_lies_on_nothing(browser):
    body = "<div tabindex='0'><p>first</p><p>second</p></div><p>below</p>"
    style = "div {height: 20px; overflow: OVERFLOW} p {margin: 0; line-height: 20px}"
    assert faults_in(browser, body, style.replace("OVERFLOW", "auto"), ["overlaps"]) == []
    assert faults_in(browser, body, style.replace("OVERFLOW", "visible"), ["overlaps"]) != []


@pytest.mark.parametrize(
    ("detector", "words", "body", "style"),
    [
        ("told", "request to another host", '<img alt="A dot." src="https://host.invalid/x.png">', ""),
        ("told", "console error: oh", "<script>console.error('oh')</script>", ""),
        ("told", "script error: boom", "<script>throw 'boom'</script>", ""),
        ("told", "request failed", '<script src="file:///nowhere.js"></script>', ""),
        ("overflow", "in a window of 390 px: <div>", '<div style="width:500px">wide</div>', ""),
        ("text", '"long" in <p> is cut off by <p>', "<p>long</p>", "p {width: 10px; overflow: hidden; overflow-wrap: normal}"),
        ("text", "is cut off by <p>", "<p>high<br>higher</p>", "p {height: 20px; overflow: hidden}"),
        ("text", "runs out of <p>", "<p>uncommonly long</p>", "p {width: 50px; overflow-wrap: normal}"),
        ("text", "is cut off by <svg>", '<svg role="img" aria-label="A." width="40"><text y="20">far too long</text></svg>', ""),
        ("text", "is cut off by the window", "<p>gone</p>", "p {margin-left: -30px}"),
        ("text", "a formula in <math> runs out of <p>", "<p><math><mi>long</mi></math></p>",
         "p {width: 50px} math {display: inline-block; width: 90px}"),
        ("text", "a formula in <math> is cut off by <div>",
         '<div tabindex="0"><math><mtext>far too long</mtext></math></div>',
         "div {width: 50px; overflow: auto; display: flex; flex-direction: row-reverse; white-space: nowrap}"),
        ("code", "a line of 99 characters is too long", f"<pre>a\n{'b' * 99}\nc</pre>", "pre {overflow: auto; overflow-wrap: normal}"),
        ("pictures", "no alt text: <img>", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', ""),
        ("pictures", "no alt text: <img>", '<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', ""),
        ("pictures", 'no role="img" with a label: <svg>', '<svg><circle r="9"/></svg>', ""),
        ("pictures", 'no role="img" with a label: <svg>', '<svg role="img"><circle r="9"/></svg>', ""),
        ("letters", 'letters of 8.0 px: "far"',
         '<svg role="img" aria-label="A." width="60" height="40" viewBox="0 0 120 80"><text y="20" font-size="16">far</text></svg>', ""),
        ("formulas", "formula not set", '<span class="math">\\(x\\)</span>', ""),
        ("formulas", 'a line begins with what follows a formula: ". And"',
         '<p>x <span class="math"><math></math></span>. And</p>',
         "p {width: 45px} math {display: inline-block; width: 30px}"),
        ("skip", "the first stop of the keyboard is no link to the text", "", ".skip {position: fixed; top: -99px}"),
        ("skip", "the link to the text does not lead there",
         "<script>document.querySelector('.skip').onclick = e => e.preventDefault()</script>", ""),
        ("overlaps", '"low" in <p> is under "high" in <p>', "<p>low</p><p>high</p>", "p + p {margin-top: -40px}"),
        ("listings", 'code of 11px: "x = 1"', "<pre>x = 1</pre>", "pre {font-size: 11px}"),
        ("listings", 'code that wraps: "x = 1"', "<pre>x = 1</pre>", "pre {font-size: 13px; white-space: pre-wrap}"),
        ("listings", "code that no key scrolls", f"<pre>{'b' * 99}</pre>", "pre {overflow: auto; overflow-wrap: normal}"),
        ("listings", "a name torn apart: uncommonly in", "<p><code>uncommonly</code></p>", "p {width: 50px}"),
        ("motion", "moves: <p>::before", "<p>words</p>", "p::before {content: ''; transition: color 1s}"),
        ("motion", "moves: <p>", "<p>words</p>", "@keyframes turn {to {rotate: 9deg}} p {animation: turn 1s infinite}"),
        ("motion", "moves: <html>", "", "html {scroll-behavior: smooth}"),
        ("focus", 'no mark of the focus: <button> "go"', "<button>go</button>", "button {outline: 0 !important}"),
        ("focus", "a pale mark of the focus, 1.6 to 1", "<button>go</button>", "button:focus {outline: 2px solid #ccc}"),
        ("axe", "axe color-contrast", "<p>pale</p>", "p {color: #ccc}"),
        ("axe", "axe label", "<input>", ""),
        ("axe", "axe target-size", "<p><button>a</button><button>b</button></p>", "button {width: 12px; height: 12px; padding: 0}"),
        ("axe", "axe heading-order", "<h4>a fourth after a first</h4>", ""),
        ("keyboard", "no answer to the keyboard: <input", HASTE + SLIDER.format(script=""), ""),
        ("keyboard", "no control that the keyboard reaches", SLIDER.format(script=LIVE).replace("<input", "<input disabled"), ""),
        ("keyboard", "no answer to the keyboard: <button>Reset", HASTE + HERO.format(reset=""), ""),
        ("keyboard", "not drawn: <div data-hero", '<div data-hero="1">Words</div>', ""),
    ],
)  # fmt: skip
def test_broken_page(browser, detector, words, body, style):
    assert words in "\n".join(faults_in(browser, body, style, [detector], width=390))


@pytest.mark.parametrize(
    "body",
    [
        "<p>first</p><p style='color:#ccc'>second</p>",
        "<p>first</p><div style='color:#ccc'><p>second</p></div>",
        "<p>first</p><div style='background:#555'><p>second</p></div>",
        "<p>first</p><div style='opacity:.3'><p>second</p></div>",
        "<p>first <i>word</i></p><p>second <i style='color:#ccc'>word</i></p>",
    ],
)
def test_contrast_is_judged_once_of_each_kind_of_text(browser, body):
    faults = faults_in(browser, body + body, detectors=["axe"])
    assert len([fault for fault in faults if "color-contrast" in fault]) == 1


def test_a_look_that_another_page_had_is_not_judged_again(browser):
    looks = set()
    pale = "<p style='color:#ccc'>pale</p>"
    assert "axe color-contrast" in faults_in(browser, pale, looks=looks)[0]
    assert faults_in(browser, pale, looks=looks) == []
    assert "axe color-contrast" in faults_in(browser, f"<div style='background:#eee'>{pale}</div>", looks=looks)[0]


def test_a_look_that_axe_could_not_judge_is_judged_again(browser):
    looks = set()
    veiled = "<p style='color:#ccc'>pale</p><div style='position:absolute; inset:0; background:#fffe'></div>"
    assert faults_in(browser, veiled, detectors=["axe"], looks=looks) == []
    assert "axe color-contrast" in faults_in(browser, "<p style='color:#ccc'>pale</p>", looks=looks)[0]


@pytest.mark.parametrize(
    ("inner", "judged"),
    [("background: #fff", True), ("background: #fff linear-gradient(#fff, #eee)", False), ("", False)],
)
def test_contrast_is_judged_where_no_picture_shows_through(browser, inner, judged):
    text = f"<div style='background: linear-gradient(#fff, #eee)'><p style='color: #ccc; {inner}'>pale</p></div>"
    assert bool(faults_in(browser, text, detectors=["axe"])) == judged


@pytest.mark.parametrize(("size", "faults"), [(20, 1), (26, 0)])
def test_large_letters_need_less_contrast_than_small_ones_of_their_color(browser, size, faults):
    looks = set()
    assert faults_in(browser, "<p style='color: #888; font-size: 30px'>large</p>", detectors=["axe"], looks=looks) == []
    text = f"<p style='color: #888; font-size: {size}px'>letters</p>"
    assert len(faults_in(browser, text, detectors=["axe"], looks=looks)) == faults


def test_a_link_amid_words_is_judged_although_one_of_its_look_stood_alone(browser):
    style = "a {color: #111; text-decoration: none} p {color: #000}"
    amid = "<p>Many words stand around <a href='#text'>one</a>, and more come.</p>"
    faults = faults_in(browser, f"<p><a href='#text'>alone</a></p>{amid}{amid}", style, detectors=["axe"])
    assert [fault.split(":")[0] for fault in faults] == ["axe link-in-text-block"]


def test_contrast_that_is_lost_in_the_dark(browser):
    style = "@media (prefers-color-scheme: dark) {html {background: #111; color: #222}}"
    assert faults_in(browser, "<p>words</p>", style) == []
    assert "axe color-contrast" in faults_in(browser, "<p>words</p>", style, scheme="dark")[0]


def test_a_request_that_the_reader_leaves_behind_is_no_fault(browser):
    with visit(browser) as reader:
        reader.page.route("**/slow", lambda route: None)
        reader.page.goto("data:text/html,<p>here</p>")
        with reader.page.expect_request("**/slow"):
            reader.page.evaluate("void fetch('http://localhost/slow').catch(() => {})")
        with reader.page.expect_event("requestfailed"):
            reader.page.goto("data:text/html,<p>there</p>")
        assert reader.faults == []


def test_faults_inside_folds_are_seen(browser):
    assert faults_in(browser, "<details><summary>More</summary><svg></svg></details>", detectors=["pictures"])
