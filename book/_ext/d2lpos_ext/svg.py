"""Figures inside the page: an SVG in an <img> cannot take the page's colors, an inlined one can."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from html import unescape
from itertools import count
from urllib.parse import unquote

# As d2lpos/figures/image.py writes it.
IMAGE = re.compile(r'<img alt="[^"]*" src="data:image/svg\+xml,([^"]*)"(?: onload="[^"]*" onerror="[^"]*" data-figure="([^"]*)")?>')
PICTURE = re.compile(r"<script(?![^>]*svg)[^>]*>.*?</script>|(<svg\b.*?</svg>)", re.DOTALL)
UNSEEN = re.compile(r'<path d="[^"]*" style="fill: none" />\s*')  # Matplotlib's grounds where they are transparent
MARKERS = re.compile(r'<g([^>]*)>((?:\s*<use [^>]*style="[^"]*"[^>]*/>){2,})\s*</g>')
PART = re.compile(r'(<(?!svg\b)\w+(?:(?! class=)[^>])*?) style="([^"]*)"')
STYLE = re.compile(r' style="([^"]*)"')
ID = re.compile(r'(\sid="|href="#|url\(#|aria-\w+by=")([^")]+)')


def drawn(html: str) -> str:
    """Return an output whose images are figures: drawings in the page, and what scripts put there.

    >>> drawn('<img alt="A line." src="data:image/svg+xml,%3Csvg%3E%3C/svg%3E">')
    '<svg style="max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt"></svg>'
    """

    def one(image: re.Match) -> str:
        svg = unquote(image[1])
        return unescape(image[2]).replace("<!-- still -->", svg) if image[2] else inline(svg)

    return IMAGE.sub(one, html)


def inline(svg: str) -> str:
    """Return an SVG that fits a page, with the two properties that Matplotlib sets in a style element."""
    svg = svg.strip()
    root = re.match(r'<svg(?:[^">]|"[^"]*")*', svg)[0]
    style = "max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt"
    styled, styles = re.subn(r'\sstyle="', f' style="{style};', root)
    return (styled if styles else f'{root} style="{style}"') + svg[len(root) :]


def shorten(page: str) -> str:
    """Return a page in which pictures say once what they repeat, and no two of them share an id.

    >>> print(shorten('<head></head><svg><path style="top: 0"/><path id="m1ca4" style="top: 0"/></svg>'))
    <head><style>._0{top: 0}</style></head><svg><path class="_0"/><path id="_0" class="_0"/></svg>
    """
    numbers, styles = count(), Counter()  # no id of Sphinx begins with an underscore

    def number(svg: str) -> str:
        ids = defaultdict(lambda: f"_{next(numbers)}")
        svg = MARKERS.sub(share, UNSEEN.sub("", svg))
        svg = ID.sub(lambda match: match[1] + ids[match[2]], svg)
        styles.update(style for _, style in PART.findall(svg))
        return svg

    page = each(number, page)
    classes = {style: f"_{i}" for i, (style, times) in enumerate(styles.most_common()) if times > 1}

    def name(part: re.Match) -> str:
        return f'{part[1]} class="{classes[part[2]]}"' if part[2] in classes else part[0]

    page = each(partial(PART.sub, name), page)
    rules = "".join(f".{name}{{{unescape(style)}}}" for style, name in classes.items())
    return page.replace("</head>", f"<style>{rules}</style></head>", 1) if rules else page


def each(change: Callable[[str], str], page: str) -> str:
    """Return a page with its pictures changed; those that a slider keeps for later are in scripts."""
    return PICTURE.sub(lambda match: change(match[1]) if match[1] else match[0], page)


def share(group: re.Match) -> str:
    """Say once what Matplotlib says of each marker of a group."""
    styles = set(STYLE.findall(group[2]))
    if len(styles) > 1 or "style=" in group[1]:
        return group[0]
    return f'<g{group[1]} style="{styles.pop()}">{STYLE.sub("", group[2])}</g>'
