"""Figures inside the page: an SVG in an <img> cannot take the page's colors, an inlined one can."""

import re


def inline(svg: str, prefix: str) -> str:
    """Return one SVG document as an element for an HTML page.

    Every id gets `prefix`, since Matplotlib gives the same ids to parts of different figures. Its style
    element speaks of every element of the page; the two properties that it sets move to the root instead.
    """
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"(?s)<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", "", svg)
    svg = re.sub(r'(\sid="|href="#|url\(#|aria-\w+by=")', rf"\g<1>{prefix}", svg)
    root = re.match(r'<svg(?:[^">]|"[^"]*")*', svg)[0]
    style = "max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt"
    styled, found = re.subn(r'\sstyle="', f' style="{style};', root)
    return (styled if found else f'{root} style="{style}"') + svg[len(root) :]
