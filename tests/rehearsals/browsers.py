"""The figures that move, the first screen, formulas, the search and *Your model*, in Firefox and WebKitGTK:
python -m tests.rehearsals.browsers

The suite knows Chromium only. Here every hero is drawn, its slider dragged by the mouse and moved by a key, two models
read a text, a page of the built book, full of formulas, is looked over, a result of the search is opened, and *Your model*
reads a release and a file. Each browser is driven by what Debian's package brings: Firefox by Marionette, its own protocol
of JSON, and WebKitGTK by WebDriver over HTTP, on a screen that xvfb-run pretends.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from glob import glob
from itertools import chain
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from d2lpos.figures.machine import machine
from tests.figures.hero.host import INSIDE
from tests.figures.hero.test_hero_host import DRAGS, figure

ROOT = Path(__file__).parents[2]
FORMULAS = ROOT / "_build" / "html" / "chapters" / "04-rope.html"
DETECTORS = (ROOT / "tests" / "site" / "detectors.js").read_text("utf-8")
HELPERS = (
    INSIDE.removeprefix("<script>").removesuffix("</script>")
    + """
var slider = label => all('[type=range]').find(
  e => (e.ariaLabel || e.closest('label').textContent).trim().startsWith(label));
var drawn = () => all('svg').some(e => box(e).width > 100 && e.querySelector('*') && box(e.querySelector('*')).width);
"""
)
ARROW_LEFT, ARROW_DOWN = "\ue012", "\ue015"  # WebDriver's names for the keys
LIMIT = 60  # seconds for a browser to start
MARIONETTE = {"url": "Navigate", "execute/async": "ExecuteAsyncScript", "actions": "PerformActions"}


class Firefox:
    """Marionette: each message is its length, a colon, and JSON of [kind, number, name or error, content]."""

    def __init__(self, home: str):
        self.port = free_port()
        Path(home, "user.js").write_text(f'user_pref("marionette.port", {self.port});\n', "utf-8")
        self.command = [
            found("firefox-esr", "firefox"), "--headless", "--marionette", "--no-remote", "--profile", home,
        ]

    def connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.stream = self.socket.makefile("rb")
        self.receive()
        self.ask("", "NewSession")

    def ask(self, path: str, name: str = "", **content: object) -> object:
        message = json.dumps([0, 1, f"WebDriver:{name or MARIONETTE[path]}", content]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, answer = self.receive()
        if error:
            raise RuntimeError(error["message"])
        return answer.get("value")

    def receive(self) -> list:
        length = b"".join(iter(lambda: self.stream.read(1), b":"))
        return json.loads(self.stream.read(int(length)))


class WebKit:
    """WebDriver, as the W3C has it."""

    def __init__(self, home: str):
        port = free_port()
        self.address, self.path = f"http://127.0.0.1:{port}", "/session"
        driver = [found("WebKitWebDriver"), "--host=127.0.0.1", f"--port={port}"]
        self.command = [found("xvfb-run"), "--auto-servernum", *driver]
        self.browser = found("MiniBrowser", *glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser"))

    def connect(self) -> None:
        options = {"webkitgtk:browserOptions": {"binary": self.browser, "args": ["--automation"]}}
        session = self.ask("", capabilities={"alwaysMatch": options})
        self.path += f"/{session['sessionId']}/"

    def ask(self, path: str, **content: object) -> object:
        request = Request(self.address + self.path + path, json.dumps(content).encode())
        try:
            with urlopen(request, timeout=LIMIT) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:  # what went wrong stands in the body
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message']}") from None


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def found(*names: str) -> str:
    """The path of a program. Ends with a sentence where there is none."""
    for path in map(shutil.which, names):
        if path:
            return path
    sys.exit(
        f"This rehearsal needs {names[0]}: Debian's packages are firefox-esr, webkit2gtk-driver and xvfb."
    )


def inside(browser: Firefox | WebKit, expression: str, helpers: str = HELPERS) -> object:
    """What a JavaScript expression is worth in the page, once its promise is kept."""
    script = f"""const done = arguments[arguments.length - 1];
        {helpers}
        (async () => ({expression}))().then(done, error => done('failed: ' + error));"""
    answer = browser.ask("execute/async", script=script, args=[])
    if isinstance(answer, str) and answer.startswith("failed: "):
        raise RuntimeError(f"{expression}: {answer}")
    return answer


def drag(browser: Firefox | WebKit, label: str, start: float, end: float) -> None:
    """As a hand does it: press on the thumb, pass over the way, let go."""
    left, width, y, low, high = inside(
        browser,
        f"""(() => {{ const e = slider('{label}'); e.scrollIntoView({{block: 'center'}});
        const b = box(e); return [b.left, b.width, b.top + b.height / 2, +e.min, +e.max]; }})()""",
    )
    thumb = 44
    first, last = (left + thumb / 2 + (v - low) / (high - low) * (width - thumb) for v in (start, end))
    pull(browser, first, last, y)


def pull(browser: Firefox | WebKit, first: float, last: float, y: float) -> None:
    """Press the mouse at `first`, pass over the way to `last`, and let go; px of the window."""
    way = [first + (last - first) * step / 12 for step in range(13)]
    moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 10} for x in way]
    press, release = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
    hand = {"type": "pointer", "id": "hand", "parameters": {"pointerType": "mouse"}}
    browser.ask("actions", actions=[hand | {"actions": [moves[0], press, *moves[1:], release]}])


def strike(browser: Firefox | WebKit, key: str) -> None:
    """Press a key and let it go."""
    keys = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
    browser.ask("actions", actions=[{"type": "key", "id": "keys", "actions": keys}])


def show(browser: Firefox | WebKit, page: Path, html: str) -> None:
    """Open a page with a figure alone."""
    page.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8"><body>{html}</body></html>', "utf-8")
    browser.ask("url", url=page.as_uri())


def attempt(browser: Firefox | WebKit, trial: Callable[[Firefox | WebKit], None]) -> str:
    """Try something, once more if it fails, and return what fails then: the driver's words, and the page that is open."""
    for again in (True, False):
        try:
            trial(browser)
            break
        except (AssertionError, RuntimeError, OSError) as error:
            if not again:
                return f"at {inside(browser, 'location.href', '')}: {error}"
    return ""


# A figure that asks waits for a guess, and then plays its story, which ends where a hand takes the slider.
GUESS = """all('.asks button')[0] && (all('.asks button')[0].click(), await rest(), slider('%s').value = %s,
    all('[type=range]').forEach(one => one.dispatchEvent(new Event('input', {bubbles: true}))), await rest())"""


def try_hero(browser: Firefox | WebKit, page: Path, name: str) -> None:
    """Raise an AssertionError where the figure does not draw, or does not answer the hand."""
    label, start, end, value = DRAGS[name]
    show(browser, page, figure(name).html)
    inside(browser, "rest()")
    assert inside(browser, "drawn()"), "nothing is drawn"
    inside(browser, GUESS % (label, start))
    drag(browser, label, start, end)
    inside(browser, "rest()")
    reached, told = inside(browser, f"[+slider('{label}').value, out()]")
    assert reached == end, f"dragged from {start} to {end}, it stands at {reached}"
    assert value in told, f"the readout lacks {value}: {told}"
    before = inside(browser, f"[slider('{label}').focus(), ink()][1]")
    strike(browser, ARROW_LEFT)
    inside(browser, "rest()")
    moved, after = inside(browser, f"[+slider('{label}').value, ink()]")
    assert moved < end and after != before, f"a key leaves it at {moved}"


def try_machine(browser: Firefox | WebKit, page: Path) -> None:
    """Raise an AssertionError where the models do not read, or the end of the text does not answer a key."""
    readers = machine("none", "rope", text="dickens", state="longer")
    show(browser, page, readers._repr_mimebundle_()["text/html"])
    inside(
        browser,
        "(async () => { while (!shadow()?.querySelector('.read')) await new Promise(done => setTimeout(done, 50)); })()",
    )
    told = inside(browser, "all('.mean b').map(e => e.textContent)")
    wanted = [f"{v:.2f} nats" for loss in readers.losses for v in (loss[:128].nanmean(), loss[128:].mean())]
    assert told == wanted, f"it reads {told}, not {wanted}"
    apart = inside(
        browser, "all('.sheet').map(e => Math.abs(e.lastChild.scrollHeight - e.firstChild.offsetHeight))"
    )
    assert max(apart) < 4, f"the cursor's lines break elsewhere than the words': {apart} px"
    inside(browser, "slider('length of the text').focus()")
    strike(browser, ARROW_LEFT)
    assert inside(browser, "all('.flag')[0].nextSibling.textContent") == "511 characters"


def try_formulas(browser: Firefox | WebKit) -> None:
    """Raise an AssertionError where a formula has no size, a page is too wide or a detector of the suite finds a fault."""
    browser.ask("url", url=FORMULAS.as_uri())
    sizes = "[...document.querySelectorAll('math')].filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect())"
    flat, count = inside(
        browser, f"(s => [s.filter(b => b.width < 2 || b.height < 5).length, s.length])({sizes})"
    )
    assert count > 50 and not flat, f"{flat} of {count} formulas have no size"
    assert not (faults := inside(browser, "[...detect.overflow(), ...detect.formulas()]", DETECTORS)), faults


def try_front(browser: Firefox | WebKit) -> None:
    """Raise an AssertionError where a word of the first screen does not move by itself, by a key or by a hand."""
    browser.ask("url", url=(ROOT / "_build" / "html" / "index.html").as_uri())
    look = """const one = name => document.querySelector(`.front ${name}`), rest = () => new Promise(done => setTimeout(done, 900));
        const state = () => ({order: [...document.querySelectorAll('.front > svg .word')].map(e => e.getAttribute('aria-label')[0]).join(''),
          change: one('.most').textContent, says: one('.says').textContent, told: one('[role=status]').textContent});"""
    while inside(browser, "one('.play').textContent", look) != "Replay":
        time.sleep(0.1)
    played = inside(browser, "state()", look)
    assert played["change"] == "0.93" and played["order"] == "tdjotf", played
    inside(browser, "one('.word.k-jumps').focus()", look)
    strike(browser, ARROW_LEFT)
    moved = inside(browser, "rest().then(state)", look)
    assert moved["order"].index("j") == played["order"].index("j") - 1 and moved["told"], moved
    inside(browser, "[one('[role=switch]').click(), scrollTo(0, 0)].length", look)
    assert inside(browser, "rest().then(state)", look)["change"] == "0.00"
    x, y, last = inside(
        browser,
        "(b => [b.left + b.width / 2, b.top + b.height / 2, document.querySelector('.front svg').getBoundingClientRect().right - 20])(one('.word.k-dog').getBoundingClientRect())",
        look,
    )
    pull(browser, x, last, y)
    dragged = inside(browser, "rest().then(state)", look)
    assert dragged["order"].endswith("d"), dragged


def try_search(browser: Firefox | WebKit) -> None:
    """Raise an AssertionError where the dialog shows no result, or a result does not open in sight."""
    browser.ask("url", url=FORMULAS.as_uri())
    soon = """const soon = async met => { while (!met()) await new Promise(done => setTimeout(done, 50)); };
        const field = document.querySelector('#pst-search-dialog input');"""
    inside(browser, "document.querySelector('.search-button-field').click()", soon)
    inside(browser, "soon(() => document.getElementById('search-found'))", soon)
    inside(browser, "[field.value = 'padding', field.dispatchEvent(new Event('input'))][0]", soon)
    inside(browser, "soon(() => document.querySelector('[role=option]'))", soon)  # the index comes after the dialog
    strike(browser, ARROW_DOWN)
    chosen = inside(browser, "document.querySelector('[role=option][aria-selected=true]')?.href")
    assert chosen, "no result is chosen by a key"
    browser.ask("url", url=chosen)
    place = inside(browser, "document.querySelector(':target').getBoundingClientRect().top / innerHeight")
    assert 0 <= place < 1, f"the result opens out of sight: {place} windows below the top"


def try_your_model(browser: Firefox | WebKit) -> None:
    """Raise an AssertionError where a release or a file is not read, or the length does not answer a hand and a key."""
    browser.ask("url", url=(ROOT / "_build" / "html" / "book" / "your-model.html").as_uri())
    look = DETECTORS + """;const one = name => document.querySelector(`.yours ${name}`), rest = () => new Promise(done => setTimeout(done, 600));
        const give = text => [one('.what').value = text, one('.given').requestSubmit()].length;
        const state = () => ({name: one('.lead b').textContent, tokens: +one('.grip').getAttribute('aria-valuenow'),
          judged: one('.judged').textContent, says: one('.says').textContent, pane: one('.pane').textContent, layers: document.querySelectorAll('.bars i').length});"""
    inside(browser, "give('Qwen3 8B')", look)
    first = inside(browser, "rest().then(state)", look)
    assert (first["name"], first["layers"], first["tokens"]) == ("Qwen3 8B", 36, 131_072), first
    assert first["says"].startswith("24 of 64 hands turn past") and first["judged"].startswith("With a setting"), first
    inside(browser, "one('[data-r=yarn]').click()", look)
    assert '"rope_type": "yarn"' in inside(browser, "rest().then(state)", look)["pane"]
    x, y = inside(
        browser,
        "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })(one('.pill'))",
        look,
    )
    pull(browser, x, x - 200, y)
    dragged = inside(browser, "rest().then(state)", look)
    assert dragged["tokens"] < first["tokens"] / 4, dragged
    inside(browser, "one('.grip').focus()", look)
    strike(browser, ARROW_LEFT)
    assert inside(browser, "rest().then(state)", look)["tokens"] < dragged["tokens"], "a key leaves the length"
    inside(browser, "give(JSON.stringify({model_type: 'mpt', n_layers: 8}))", look)
    other = inside(browser, "rest().then(state)", look)
    assert other["layers"] == 8 and other["name"] == "The model (mpt)", other
    inside(browser, "give('{\"model_type\": \"spiral\"}')", look)
    assert "spiral" in inside(browser, "rest().then(() => one('.lead[role=alert]').textContent)", look)
    assert not (faults := inside(browser, "detect.overflow()", look)), faults


def rehearse(kind: type) -> list[str]:
    """What fails in a browser."""
    start, failed = time.perf_counter(), []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = kind(home)
        # The sandboxes of both need rights that a container does not have.
        alone = {
            "HOME": home,
            "MOZ_DISABLE_CONTENT_SANDBOX": "1",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        }
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(browser.command, env=os.environ | alone, start_new_session=True, **silent)
        try:
            while True:
                try:
                    browser.connect()
                    break
                except (OSError, RuntimeError):  # it is not there yet
                    if time.perf_counter() - start > LIMIT:
                        raise
                    time.sleep(0.1)
            tries = {name: partial(try_hero, page=Path(home, "hero.html"), name=name) for name in DRAGS}
            tries["machine"] = partial(try_machine, page=Path(home, "machine.html"))
            tries |= {"formulas": try_formulas, "front": try_front, "search": try_search, "your model": try_your_model}
            for name, trial in tries.items():
                if fault := attempt(browser, trial):
                    failed.append(f"{kind.__name__}, {name}, {fault}")
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
    print(f"{kind.__name__}: {time.perf_counter() - start:.0f} s", flush=True)
    return failed


def main() -> str | None:
    """Return a sentence for each failure."""
    if not FORMULAS.exists():
        return "This rehearsal looks at the built book: run `make book` first."
    with ThreadPoolExecutor() as both:
        return "\n".join(chain.from_iterable(both.map(rehearse, (Firefox, WebKit)))) or None


if __name__ == "__main__":
    sys.exit(main())
