"""Each page says what it may load: files of the site, and the scripts and styles that stand in it (by their hash).

Content Security Policy Level 3. Style attributes are free: they load nothing and run nothing.
"""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

ELEMENT = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL)
# In an earlier build, when the page was another.
WRITTEN = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
CHARSET = re.compile(r'\s*<meta charset="utf-8"\s*/?>')
DATA = re.compile(r'\bsrc=|\btype="(?!module|text/javascript|text/css)')  # no script of the page's own


def policy(page: str) -> str:
    """Return the policy of a page's HTML.

    >>> policy("<script>1</script>").split("; ")[1]
    "script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
    """
    hashes = {"script": set(), "style": set()}
    for element, attributes, text in ELEMENT.findall(page):
        if not DATA.search(attributes):
            digest = b64encode(sha256(text.encode()).digest()).decode()
            hashes[element].add(f" 'sha256-{digest}'")
    return "; ".join((
        "default-src 'none'",
        "script-src 'self'" + "".join(sorted(hashes["script"])),
        "style-src-elem 'self'" + "".join(sorted(hashes["style"])),
        "style-src-attr 'unsafe-inline'",
        "font-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    ))  # fmt: skip


def write_policies(app: Sphinx) -> None:
    """Put its policy into each page of a finished build, before all that it loads, and the encoding before the policy.

    Browsers look for the encoding in the first 1,024 bytes, and a policy may be longer.
    """
    for path in Path(app.outdir).rglob("*.html"):
        if "_static" not in path.parts:
            page = CHARSET.sub("", WRITTEN.sub("", path.read_text("utf-8")), count=1)
            tag = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{escape(policy(page))}">'
            path.write_text(re.sub("<head>", lambda head, tag=tag: head[0] + tag, page, count=1), "utf-8")
