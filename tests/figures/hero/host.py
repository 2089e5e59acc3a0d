"""A page of Chromium that holds figures: what its tests ask of it, and what a hand does there."""

import pytest

from tests.figures.hero.drawn import GUESSED

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

# What is wrong with the words that elements hold: too small, over other words, too many lines beside a button, alone in a row.
FAULTS = r"""elements => {
  const clip = e => { // what of the page an element may show itself in; null where it is pale
    const [left, right, top, bottom] = [-1e9, 1e9, -1e9, 1e9], room = { left, right, top, bottom };
    for (let shown = 1; e; e = e.parentElement) {
      const { opacity, overflowX } = getComputedStyle(e);
      if ((shown *= +opacity) < .3) return null;
      if (overflowX === 'visible') continue;
      const b = e.getBoundingClientRect();
      for (const side in room) room[side] = Math[side === 'left' || side === 'top' ? 'max' : 'min'](room[side], b[side]);
    }
    return room;
  };
  const range = document.createRange(), small = [], lines = [], top = e => Math.round(e.getBoundingClientRect().top / 6);
  for (const e of elements) {
    if (e.closest('style, script, option, .sr') || !e.checkVisibility({ visibilityProperty: true }) || ![...e.childNodes].some(node => node.nodeType === 3)) continue;
    const room = clip(e);
    if (room) for (const node of e.childNodes) {
      if (node.nodeType !== 3 || !node.data.trim()) continue;
      const size = parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement ? Math.hypot(e.getScreenCTM().b, e.getScreenCTM().d) : 1), words = node.data.trim();
      if (size < 11.99) small.push(`${words}: ${size.toFixed(1)} px`);
      range.selectNodeContents(node);
      for (const { left, right, top, bottom } of range.getClientRects()) {
        const middle = (top + bottom) / 2, half = .36 * size; // of letters; a line is higher
        lines.push({ node, words, left: Math.max(left + 1, room.left), right: Math.min(right - 1, room.right), top: Math.max(middle - half, room.top), bottom: Math.min(middle + half, room.bottom) });
      }
    }
  }
  const over = lines.flatMap((a, i) => lines.slice(i + 1).filter(b => a.node !== b.node && !(a.words === b.words && Math.abs(a.left - b.left) < 1) && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map(b => `${a.words} over ${b.words}`));
  const rows = elements.filter(e => e.matches('.head p')).flatMap(e => {
    range.selectNodeContents(e);
    const ends = [...range.getClientRects()].map(r => Math.round(r.bottom / 6)), last = e.lastChild, word = last.data.search(/\S+$/);
    range.setStart(last, word - 2); // of the word before it
    return [...new Set(ends).size > 2 ? ['Play and Try take three lines'] : [], ...new Set([...range.getClientRects()].map(r => Math.round(r.bottom / 6))).size > 1 ? ['a word alone below Try'] : []];
  });
  const alone = elements.filter(e => e.matches('fieldset')).flatMap(e => {
    const radios = [...e.querySelectorAll('label')].filter(label => label.getClientRects().length && label.querySelector('[type=radio]'));
    const at = radios.map(top), of = y => at.filter(other => other === y).length;
    return radios.filter((_, i) => of(at[i]) === 1 && at.some(y => of(y) > 1)).map(label => `${label.textContent} alone in a row`);
  });
  return [...small, ...over, ...rows, ...alone];
}"""


class Host:
    """A page with figures on it, and all that it asked for or complained about."""

    def __init__(self, context):
        self.page, self.trouble = context.new_page(), []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda request: self.trouble.append(request.url))

    def show(self, *figures, css="", asks=False):
        """Figures that ask have their guess already, unless `asks`."""
        body = "\n".join(figure if isinstance(figure, str) else figure.html for figure in figures)
        style = f"<style>body{{margin:0;padding:12px}}{css}</style>"
        meta = '<meta name="viewport" content="width=device-width">'
        self.page.set_content(
            f'<!doctype html><html lang="en"><head>{meta}{style}{INSIDE}</head><body>{body}</body></html>'
        )
        if not asks:
            self.page.evaluate(GUESSED)
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
