"""Change the repository's address wherever it stands: python book/address.py OWNER/NAME.

The one address is `project.urls.Repository` in pyproject.toml. Install cells, badges and links repeat it. The README
then says where the book is read online, between two comments that show nothing while it has no home.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
from home import home

ONLINE = re.compile("(?<=<!-- online -->).*(?=<!-- /online -->)")
SKIP = {".git", ".venv", "_build", "node_modules"}
HOSTS = r"(github\.com/|colab\.research\.google\.com/github/)"


def main(repo: str = "") -> str | None:
    """Rewrite the files below the root. Return a sentence when `repo` is no OWNER/NAME."""
    if not re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+", repo):
        return f"REPO must be OWNER/NAME, as in `make address REPO=ada/d2lpos`, not {repo!r}."
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    old = "/".join(project["urls"]["Repository"].split("/")[-2:])
    address = re.compile(rf"{HOSTS}{re.escape(old)}(?![\w-])")
    site = home(repo)
    online = f"**[Read it online]({site})**" if site else ""
    files = [path for path in ROOT.rglob("*") if path.is_file() and not SKIP & set(path.relative_to(ROOT).parts)]
    changed = 0
    for path in files:
        data = path.read_bytes()
        if b"\0" in data:  # no text: a font, a picture
            continue
        text = address.sub(rf"\g<1>{repo}", data.decode("utf-8", "surrogateescape"))
        new = (ONLINE.sub(online, text) if path.name == "README.md" else text).encode("utf-8", "surrogateescape")
        if new != data:
            path.write_bytes(new)
            changed += 1
    print(f"{old} is now {repo} in {changed} files: see `git diff`.")
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
