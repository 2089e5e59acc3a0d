"""A page of Chromium that holds figures: what its tests ask of it, and what a hand does there."""

import pytest

# What a reader finds in the first (or n-th) figure of a page, for the page's own use.
INSIDE = """<script>
var shadow = (n = 0) => document.querySelectorAll('[data-hero]')[n].shadowRoot;
var all = (selector, n) => [...shadow(n).querySelectorAll(selector)];
var box = e => e.getBoundingClientRect();
var ink = n => all('svg', n).map(e => e.innerHTML).join();
var out = n => all('.out b, .says b', n).map(e => e.textContent);
var spoken = () => all('.sr')[0].textContent;
var focused = () => {
  const e = shadow().activeElement;
  return e && (e.ariaLabel || (e.closest('label') ?? e).textContent).trim();
};
var seen = (n = 0) => all('text, p, b, small, button, label, legend, summary', n)
  .filter(e => e.textContent.trim() && +getComputedStyle(e).opacity && e.getClientRects().length);
var outside = (n = 0) => seen(n).filter(e => {
  const a = box(e), b = box(all('.fig', n)[0]);
  return a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1;
}).map(e => e.textContent);
var sizes = (n = 0) => seen(n).filter(e => e.matches('text'))
  .map(e => Math.round(e.getScreenCTM().d * parseFloat(getComputedStyle(e).fontSize)));
var places = n => all('.fig *', n).map(e => Object.values(box(e).toJSON()).map(Math.round).join());
var colors = n => seen(n).map(e => getComputedStyle(e)[e.matches('text') ? 'fill' : 'color']);
var marks = n => all('svg *', n).flatMap(e => [getComputedStyle(e).fill, getComputedStyle(e).stroke]);
var missed = () => all('button, label').filter(e => e.getClientRects().length && [-21, 21].some(d => { // 21 px above and below its middle
  const { left, top, width, height } = box(e);
  return shadow().elementFromPoint(left + width / 2, top + height / 2 + d)?.closest('button, label') !== e;
})).map(e => e.textContent);
var frame = () => new Promise(requestAnimationFrame);
var film = async (count, n) => {
  const seen = [];
  while (seen.length < count) { await frame(); seen.push(ink(n)); }
  return seen;
};
var inks = () => [...document.querySelectorAll('[data-hero]')].map((_, n) => ink(n));
var rest = async () => { // a redraw after a change of width may begin two frames late
  for (let was, now, same = 0; same < 4; was = now) { await frame(); now = inks().join(); same = now === was ? same + 1 : 0; }
};
</script>"""


# Opens what the figures of a page fold, for the tests that look inside.
UNFOLD = "inks().forEach((_, n) => all('details', n).forEach(e => { e.open = true; }))"


class Host:
    """A page with figures on it, and all that it asked for or complained about."""

    def __init__(self, context):
        self.page, self.trouble = context.new_page(), []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda request: self.trouble.append(request.url))

    def show(self, *figures, css=""):
        body = "\n".join(figure if isinstance(figure, str) else figure.html for figure in figures)
        style = f"<style>body{{margin:0;padding:12px}}{css}</style>"
        meta = '<meta name="viewport" content="width=device-width">'
        self.page.set_content(
            f'<!doctype html><html lang="en"><head>{meta}{style}{INSIDE}</head><body>{body}</body></html>'
        )
        return self

    def __call__(self, expression):
        return self.page.evaluate(f"() => {expression}")

    def rest(self):
        """Wait until the ink has come to rest."""
        self("rest()")

    def label(self, words):
        """What has just this label."""
        return self.page.get_by_label(words, exact=True)

    def press(self, words, *keys):
        """Press keys on what has just this label."""
        for key in keys:
            self.label(words).press(key)

    def stop_time(self):
        """Let the clock of the page stand, until a test runs it on."""
        self.page.clock.install(time=0)
        self.page.clock.pause_at(1)

    def drag(self, label, start, end):
        """Drag the thumb of a slider with the mouse, as a hand does: press, pass over the way, let go."""
        slider = self.label(label)
        box, top = slider.bounding_box(), float(slider.get_attribute("max"))
        low = float(slider.get_attribute("min") or 0)
        thumb = 44
        x = [box["x"] + thumb / 2 + (v - low) / (top - low) * (box["width"] - thumb) for v in (start, end)]
        y = box["y"] + box["height"] / 2
        self.pull((x[0], y), (x[1], y), steps=12)

    def pull(self, start, *ends, steps=8):
        """Press the mouse at a point, move it over others, let go."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        for end in ends:
            self.page.mouse.move(*end, steps=steps)
        self.page.mouse.up()


def on(**options):
    """A test on a page whose context has these options."""
    return pytest.mark.parametrize("host", [options], indirect=True)


def phone(height):
    return on(viewport={"width": 390, "height": height}, has_touch=True)


still = on(reduced_motion="reduce")
