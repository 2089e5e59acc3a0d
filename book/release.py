"""Put what a release offers into _build/release: python -m book.release, which `make release` calls after the book is built.

With --check it tells at once whether the changelog has a section for the version, and makes nothing.

The wheel and the source, the pages as a zip, the PDF, the list of parts in CycloneDX, the notes, and the checksums of all.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "book" / "_ext"))
from d2lpos_ext.third_party import parts

from book.downloads import PDF, SITE, ZIP

OUT = ROOT / "_build" / "release"
CYCLONEDX = ROOT / "_build" / "cyclonedx"  # where `make release` installs the tool


def notes(changelog: str, version: str) -> str:
    """Return what the changelog says of a version.

    Raises ValueError for a version that has no section or that its heading calls not yet released.
    """
    found = re.search(rf"^## {re.escape(version)}(?=:|$)(.*)\n((?:(?!## ).*\n)*)", changelog, re.MULTILINE)
    if not found or "not yet released" in found[1]:
        raise ValueError(f"book/changelog.md has no section '## {version}: …' of a version that is released.")
    return found[2].strip() + "\n"


def with_parts(bom: dict, others: Iterable[dict[str, str]]) -> dict:
    """Return a bill of materials with what a page brings besides Python packages."""
    added = [
        {
            "type": "library",
            "name": part["name"],
            "version": part["version"],
            "purl": f"pkg:{part['package'].replace('/@', '/%40')}@{part['version']}",
            "licenses": [{"expression": part["license"]}],
        }
        for part in others
        if part["package"].startswith("npm/")
    ]
    return bom | {"components": [*bom["components"], *added]}


def main() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    try:
        said = notes((ROOT / "book" / "changelog.md").read_text("utf-8"), version)
    except ValueError as error:
        sys.exit(str(error))
    if sys.argv[1:] == ["--check"]:
        return
    shutil.rmtree(OUT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "--directory", OUT], cwd=ROOT, check=True)
    for name in (PDF, ZIP):
        shutil.copy(SITE / name, OUT)
    (OUT / "notes.md").write_text(said, "utf-8")
    listed = subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", "requirements", "constraints.txt", "--output-reproducible"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(CYCLONEDX)}, check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    bom = with_parts(json.loads(listed.stdout), parts(ROOT / "book"))
    (OUT / f"d2lpos-{version}.cdx.json").write_text(json.dumps(bom, indent=1) + "\n", "utf-8")
    sums = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(OUT.iterdir())]
    (OUT / "SHA256SUMS").write_text("".join(sums), "utf-8")
    print("The release is in", OUT)


if __name__ == "__main__":
    main()
