"""The HTML of a figure, made once in a process: the picture in it that stands still takes matplotlib half a second."""

from tests.browser import chromium

MADE: dict[str, str] = {}


def html(figure) -> str:
    """`figure.html`, which is always the same for the same options: `test_hero.py` holds that."""
    name = repr((type(figure), getattr(figure, "name", None), figure.options))
    if name not in MADE:
        MADE[name] = figure.html
    return MADE[name]


def walked(figure, script: str, *told, **options):
    """What a script says that runs in a page, of a context with options, that holds the figure alone."""
    with chromium() as browser:
        page = browser.new_page(**options)
        page.set_content(html(figure))
        return page.evaluate(script, *told)


def printed(figure, script: str):
    """What a script says where the figure stands on paper of the book's width."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 662, "height": 800})
        page.emulate_media(media="print")
        page.set_content(f"<body style='margin:0'>{html(figure)}")
        return page.evaluate(script)
