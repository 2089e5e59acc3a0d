"""What a release says of itself: notes from the changelog, and a list of its parts."""

import pytest

from book.release import notes, with_parts

CHANGELOG = "# Changelog\n\n## 2.0.0: second (not yet released)\n\n- New.\n\n## 1.1.0: first\n\n- A.\n- B.\n\n## 1.0.0\n"


def test_notes_are_what_the_changelog_says_of_a_version():
    assert notes(CHANGELOG, "1.1.0") == "- A.\n- B.\n"


@pytest.mark.parametrize("version", ["2.0.0", "1.1", "3.0.0"])
def test_what_is_not_released_has_no_notes(version):
    with pytest.raises(ValueError, match=r"has no section '## .*' of a version that is released"):
        notes(CHANGELOG, version)


def test_parts_of_a_page_are_listed_beside_packages():
    font = {"name": "Serif", "version": "5.3", "package": "npm/@fonts/serif", "license": "OFL-1.1"}
    bom = with_parts({"components": [{"name": "torch"}]}, [font, font | {"package": "pypi/sphinx"}])
    assert [part["name"] for part in bom["components"]] == ["torch", "Serif"]
    assert bom["components"][1]["purl"] == "pkg:npm/%40fonts/serif@5.3"
