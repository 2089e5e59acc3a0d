"""Fonts and Temml are the files that SHA256SUMS names, and nothing else lies beside them."""

from hashlib import sha256

from tests.site.pages import ROOT

BOOK = ROOT / "book"


def differences(folder) -> list[str]:
    lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {path: known for known, path in (line.split("  ") for line in lines if not line.startswith("#"))}
    there = {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for name in ("_static/fonts", "_vendor")
        for path in (folder / name).rglob("*")
        if path.is_file()
    }
    return sorted(path for path in sums.keys() | there.keys() if sums.get(path) != there.get(path))


def test_vendored_files_are_unchanged():
    assert differences(BOOK) == []
