"""Figures inside the page: an SVG in an <img> cannot take the page's colors, an inlined one can."""

import re

MARKERS = re.compile(r'<g([^>]*)>((?:\s*<use [^>]*style="[^"]*"[^>]*/>){2,})\s*</g>')
STYLE = re.compile(r' style="([^"]*)"')


def share(group: re.Match) -> str:
    """Say once what Matplotlib says of each marker of a group."""
    styles = set(STYLE.findall(group[2]))
    if len(styles) > 1 or "style=" in group[1]:
        return group[0]
    return f'<g{group[1]} style="{styles.pop()}">{STYLE.sub("", group[2])}</g>'


def inline(svg: str, prefix: str) -> str:
    """Return one SVG document as an element for an HTML page.

    Every id gets `prefix`, since Matplotlib gives the same ids to parts of different figures. Its style
    element speaks of every element of the page; the two properties that it sets move to the root instead.
    """
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"(?s)<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", "", svg)
    svg = re.sub(r'(\sid="|href="#|url\(#|aria-\w+by=")', rf"\g<1>{prefix}", svg)
    svg = MARKERS.sub(share, svg)
    root = re.match(r'<svg(?:[^">]|"[^"]*")*', svg)[0]
    style = "max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt"
    styled, found = re.subn(r'\sstyle="', f' style="{style};', root)
    return (styled if found else f'{root} style="{style}"') + svg[len(root) :]
