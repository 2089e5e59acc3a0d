"""Take a picture of every page at both widths and in both modes, folds open: python tests/site/shots.py FOLDER

The pages are those of the last `make book`. Words after FOLDER choose pages: `… FOLDER 01- preface`.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser import chromium
from tests.site.detectors import visit
from tests.site.pages import EVERYWHERE


def main(folder: str, *words: str) -> None:
    site, out = ROOT / "_build" / "html", Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    names = [name for name in EVERYWHERE if not words or any(word in name for word in words)]
    with chromium() as browser:
        for name in names:
            for width in (390, 1280):
                for scheme in ("light", "dark"):
                    with visit(browser, width, scheme) as reader:
                        reader.open((site / f"{name}.html").as_uri())
                        path = out / f"{Path(name).name}-{width}-{scheme}.png"
                        reader.page.screenshot(path=path, full_page=True)
                        print(path)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
