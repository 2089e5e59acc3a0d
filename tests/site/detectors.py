"""Open a page in a browser and list what a reader would call broken."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe

SCRIPT = Path(__file__).with_name("detectors.js").read_text("utf-8")
# All rules that it has by default, its best practices among them, and how large controls are. It judges one text and one link of
# each look: see `mark`.
AXE = f"""if (!window.axe) {{
    {Axe().axe_script};
    axe.configure({{rules: [
        {{id: "color-contrast", selector: "[data-kind]"}}, {{id: "link-in-text-block", selector: "[data-link]"}},
        {{id: "target-size", enabled: true, selector: "button, input, select, summary"}},
    ]}});
}}"""
HERE = {"localhost", "127.0.0.1", ""}
# Until what observes sizes has had its turn, and then what it asked to draw: the third frame shows it.
FRAMES = """(async () => {
    for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
})()"""
KEYS = ("ArrowRight", "ArrowLeft", "Space")
LIKELY = """e => e.matches('button, summary, [type=checkbox]') ? 'Space'
    : e.type === 'range' && +e.value >= +(e.max || 100) ? 'ArrowLeft' : 'ArrowRight'"""


@dataclass
class Visit:
    """One page in one window, and the faults it told of by itself: foreign requests, errors in the console.

    `looks` are those of texts and links on their grounds that axe has judged, and does not judge again.
    """

    page: object
    looks: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._response)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))

    def _request(self, request):
        if urlsplit(request.url).hostname not in (None, *HERE):
            self.faults.append(f"request to another host: {request.url}")

    def _failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the reader left before the answer came
            self.faults.append(f"request failed: {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.faults.append(f"answer {response.status}: {response.url}")

    def _console(self, message):
        if message.type == "error":
            self.faults.append(f"console error: {message.text}")

    def open(self, url: str) -> None:
        """Load the page, and open all folds."""
        self.page.goto(url)
        self.settle()

    def settle(self) -> None:
        self.page.evaluate("document.fonts.ready")
        self.page.evaluate(SCRIPT)
        self.page.evaluate("detect.unfold()")
        self.page.evaluate("dispatchEvent(new Event('beforeprint'))")  # so that nothing waits to come near
        self.page.evaluate(FRAMES)

    def resize(self, width: int, height: int = 800) -> None:
        """Give the window another size, and the figures and formulas time to fit it."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate(FRAMES)

    def look(self, *names: str) -> list[str]:
        """Run the detectors of detectors.js that are named."""
        return [fault for name in names for fault in self.page.evaluate(f"detect.{name}()")]

    def fonts(self, selector: str) -> set[str]:
        """The families that draw the elements' own text."""
        tools = self.page.context.new_cdp_session(self.page)
        tools.send("DOM.enable")
        tools.send("CSS.enable")
        root = tools.send("DOM.getDocument")["root"]["nodeId"]
        nodes = tools.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]
        drawn = [tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"] for node in nodes]
        return {font["familyName"] for fonts in drawn for font in fonts}

    def axe(self, rules: list[str] | None = None) -> list[str]:
        """Run axe with all of its rules, best practices too, or with some."""
        self.page.evaluate(AXE)
        known = [list(self.looks), rules]
        faults, judged = self.page.evaluate("([looks, rules]) => detect.axe(looks, rules)", known)
        self.looks.update(judged)
        return faults

    def contrast(self) -> list[str]:
        """Run axe's rule on contrast alone."""
        return self.axe(["color-contrast"])

    def skip(self) -> list[str]:
        """Press Tab, Enter, Tab: the first stop is a link in sight, and the next one comes after what it leads to."""
        self.page.keyboard.press("Tab")
        target = self.page.evaluate_handle("detect.leadsTo()").as_element()
        if not target or not target.evaluate("e => e.closest('main, article')"):
            return ["the first stop of the keyboard is no link to the text"]
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Tab")
        # Where nothing else takes the focus, it comes round to the link itself.
        before = """e => e.compareDocumentPosition(document.activeElement) === Node.DOCUMENT_POSITION_PRECEDING
            && document.activeElement.hash !== location.hash"""
        lost = target.evaluate(before)
        self.page.evaluate("document.activeElement.blur()")  # or a button's tooltip comes half a second later
        return ["the link to the text does not lead there"] if lost else []

    def keyboard(self) -> list[str]:
        """Press keys on every control of every interactive figure; what the figure shows must change."""
        return [
            fault
            for figure in _handles(self.page.evaluate_handle("detect.figures()"))
            for fault in self._press(figure)
        ]

    def _press(self, figure) -> list[str]:
        if figure.evaluate("e => detect.waits(e)"):
            return []
        name = figure.evaluate("e => e.outerHTML.slice(0, 50)")
        if figure.evaluate("e => 'hero' in e.dataset && !e.shadowRoot"):
            return [f"not drawn: {name}"]
        waiting = _handles(figure.evaluate_handle("e => detect.controls(e)"))
        if not waiting:
            return [f"no control that the keyboard reaches: {name}"]
        # A control may have nothing to do until another one has moved (a reset button), so all get a second turn; or
        # once another one has moved (the base, where digits are chosen), so sliders come first, and what folds others
        # away comes last.
        waiting.sort(key=lambda control: control.evaluate("e => (e.localName === 'summary') - (e.type === 'range')"))
        for _ in range(2):
            waiting = [control for control in waiting if not self._answers(figure, control)]
        return [
            f"no answer to the keyboard: {c.evaluate('e => e.outerHTML.slice(0, 80)')} of {name}"
            for c in waiting
        ]

    def _answers(self, figure, control) -> bool:
        if not control.evaluate("e => e.isConnected && detect.focused(e)"):
            return False
        figure.evaluate("e => detect.remember(e)")
        likely = control.evaluate(LIKELY)  # comes first: a key that does nothing takes as long as an answer may
        for key in sorted(KEYS, key=likely.__ne__):
            self.page.keyboard.press(key)
            if figure.evaluate("e => detect.changes(e)"):
                return True
        return False


def _handles(array) -> list:
    return [handle.as_element() for handle in array.get_properties().values()]


@contextmanager
def visit(browser, width: int = 1280, scheme: str = "light", looks: set[str] | None = None) -> Iterator[Visit]:
    """Yield an empty window of `width` px for a reader who asked for `scheme` and for little motion.

    `looks` that other visits have judged are not judged again, and those of this visit are added.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        yield Visit(context.new_page(), set() if looks is None else looks)
    finally:
        context.close()


def status(page) -> str:
    """What the filter of a page says it shows."""
    return page.inner_text("form.filter output")
