"""Pack the built pages into a zip for reading without a network: python -m book.archive.

The same pages give the same bytes, so that the checksum beside the zip says something.
"""

from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from book.downloads import FRONT, PDF, SHA256, SITE, ZIP, fill, offer


def pack(site: Path) -> Path:
    """Write the zip and its checksum into `site`; return the path of the zip."""
    out = site / ZIP
    files = (path for path in site.rglob("*") if path.is_file() and path.name not in (PDF, ZIP, SHA256))
    with ZipFile(out, "w") as archive:
        for name, path in sorted((path.relative_to(site).as_posix(), path) for path in files):
            data = path.read_bytes()
            if name == FRONT:  # what it offers is not inside
                data = fill(data.decode("utf-8"), "").encode("utf-8")
            entry = ZipInfo(f"{out.stem}/{name}")  # in the year 1980
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, ZIP_DEFLATED)
    digest = sha256(out.read_bytes()).hexdigest()
    (site / SHA256).write_text(f"{digest}  {out.name}\n", "utf-8")
    return out


if __name__ == "__main__":
    print("The pages for reading without a network are in", pack(SITE))
    offer(SITE)
