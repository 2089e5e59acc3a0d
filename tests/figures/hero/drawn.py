"""What a figure shows in a page that holds it alone."""

from decimal import ROUND_HALF_UP, Decimal

from tests.browser import chromium

GUESSED = "() => document.querySelectorAll('[data-hero]').forEach(e => e.shadowRoot?.querySelectorAll('input').forEach(hand => { hand.disabled = false; }))"


def walked(figure, script: str, *args, **options):
    """What a script says that runs in a page, of a context with options, that holds the figure alone."""
    with chromium() as browser:
        page = browser.new_page(**options)
        page.set_content(figure.html)
        page.evaluate(GUESSED)
        return page.evaluate(script, *args)


def printed(figure, script: str):
    """What a script says where the figure stands on paper of the book's width."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 662, "height": 800})
        page.emulate_media(media="print")
        page.set_content(f"<body style='margin:0'>{figure.html}")
        return page.evaluate(script)


def fixed(value: float, places: int) -> str:
    """A number as a figure rounds it: Python would write 0.625 as 0.62, and JavaScript 0.63."""
    rounded = Decimal(value).quantize(Decimal(10) ** -places, ROUND_HALF_UP)
    return f"{rounded + 0:f}".replace("-", "−")
