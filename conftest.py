"""Compare stored outputs of notebooks (`pytest --nbval`), and say in the end which were ignored, and why.

Of pictures the coordinates may differ by a hundredth of a point, since two kinds of processors round a sum differently.
"""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

pytest_plugins = ["tests.distribution", "tests.kernels", "tests.tiers"]

SANITIZE = Path(__file__).parent / "tests" / "notebooks" / "sanitize.cfg"
PICTURE = "text/html"
COORDINATES = re.compile(r' (?:(?:d|x|y)="|transform="rotate)[^"]*"')
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

compare = IPyNbCell.compare_outputs


def compare_with_pictures(cell, test, ref, skip_compare=None):
    for new, stored in zip(test, ref, strict=False):
        drawn, old = (output.get("data", {}).get(PICTURE) for output in (new, stored))
        if drawn and old and same_picture(unquote(drawn), unquote(old)):
            new["data"][PICTURE] = old
    return compare(cell, test, ref, skip_compare)


IPyNbCell.compare_outputs = compare_with_pictures


def same_picture(one: str, other: str) -> bool:
    """Whether two pictures have the same parts and words, and no coordinate is apart by more than a hundredth."""
    if COORDINATES.sub("", one) != COORDINATES.sub("", other):
        return False
    places = [" ".join(COORDINATES.findall(picture)) for picture in (one, other)]
    if NUMBER.sub("0", places[0]) != NUMBER.sub("0", places[1]):
        return False
    numbers = [map(float, NUMBER.findall(place)) for place in places]
    return all(abs(a - b) < 0.011 for a, b in zip(*numbers, strict=True))


def lacking(notebook: IPyNbFile) -> str | None:
    """Why the cells of a notebook are left out: the trained models that its metadata name are not on this machine."""
    for name in notebook.nb.metadata.get("d2lpos", {}).get("weights", []):
        from tests.weights import lack, required  # late, because few notebooks need it

        if not required() and (reason := lack(name)):
            return reason
    return None


def pytest_configure(config):
    if config.option.nbval and not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(SANITIZE)


def pytest_collection_modifyitems(items):
    for item in items:
        if isinstance(item, IPyNbCell):
            if reason := lacking(item.parent):
                item.add_marker(pytest.mark.skip(reason))
            # Properties of an item travel with its report, also between the processes of pytest-xdist.
            compared = item.options["check"] and not item.options["skip"]
            reason = item.cell.metadata.get("d2lpos", {}).get("reason", "no reason is given")
            item.user_properties.append(("stored output", None if compared else reason))


def pytest_terminal_summary(terminalreporter):
    reports = [report for group in terminalreporter.stats.values() for report in group]
    outputs = {
        report.nodeid: reason
        for report in reports
        for name, reason in getattr(report, "user_properties", ())
        if name == "stored output"
    }
    ignored = {cell: reason for cell, reason in outputs.items() if reason}
    if outputs:
        terminalreporter.section("stored outputs")
        terminalreporter.line(f"{len(outputs) - len(ignored)} cells compared, {len(ignored)} ignored")
        for cell, reason in ignored.items():
            terminalreporter.line(f"{cell}: {reason}")
