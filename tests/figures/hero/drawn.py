"""The HTML of a figure, made once in a process: the picture in it that stands still takes matplotlib half a second."""

MADE: dict[str, str] = {}


def html(figure) -> str:
    """`figure.html`, which is always the same for the same options: `test_hero.py` holds that."""
    name = repr((type(figure), getattr(figure, "name", None), figure.options))
    if name not in MADE:
        MADE[name] = figure.html
    return MADE[name]
