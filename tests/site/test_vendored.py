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


def test_a_changed_a_missing_and_a_foreign_file_are_found(tmp_path):
    for name in ("_static/fonts/changed", "_static/fonts/same", "_vendor/foreign"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    known = {"changed": b"before", "same": b"_static/fonts/same", "missing": b""}
    lines = [f"{sha256(data).hexdigest()}  _static/fonts/{name}" for name, data in known.items()]
    (tmp_path / "SHA256SUMS").write_text("# a comment\n" + "\n".join(lines) + "\n")
    assert differences(tmp_path) == ["_static/fonts/changed", "_static/fonts/missing", "_vendor/foreign"]
