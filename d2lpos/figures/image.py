"""A picture as a notebook keeps it: an image with its words.

JupyterLab takes scripts, styles and SVG out of a notebook that it does not trust, other hosts take some of them, and the words of
a drawing are left. An image stays whole, and scripts put the figure into its place where they run.
"""

from html import escape

# What an address must not hold. Line ends, which a browser leaves out of it, keep a notebook's lines short.
ADDRESS = {ord(sign): f"%{ord(sign):02X}" for sign in '%#"<>&'}
PLACE = "<!-- still -->"  # of the picture in a figure, which thus holds it once
REPLACE = (
    f"this.replaceWith(document.createRange().createContextualFragment(this.dataset.figure.replace('{PLACE}', "
    "() => decodeURIComponent(this.src.slice(19)))))"  # behind data:image/svg+xml,
)


def image(svg: str, alt: str, figure: str = "") -> str:
    """Return the HTML of an image that shows `svg` and is read as `alt`.

    Where scripts run, the HTML of `figure` takes its place. Without an `svg` the words stand there until then.

    >>> image("<svg/>", "A line.")
    '<img alt="A line." src="data:image/svg+xml,%3Csvg/%3E">'
    """
    then = ""
    if figure:
        held = (figure.replace(svg, PLACE, 1) if svg else figure).replace("&", "&amp;").replace('"', "&quot;")
        then = f' onload="{REPLACE}" onerror="{REPLACE}" data-figure="{held}"'
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml,{svg.translate(ADDRESS)}"{then}>'
