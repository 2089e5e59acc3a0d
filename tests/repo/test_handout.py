"""`make handout`: the chapters without their solutions, which still run."""

import re
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from d2lpos_ext.cells import note, tags
from nbclient import NotebookClient
from nbformat import NotebookNode
from notebooks import answers, exercised, projects

from book.handout import write

ROOT = Path(__file__).parents[2]
CHAPTERS = exercised(ROOT)


@pytest.fixture(scope="module")
def handout(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("build") / "handout"
    with ZipFile(write(out)) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    assert packed == {f"handout/{path.relative_to(out)}" for path in out.rglob("*") if path.is_file()}
    return out


def file(path: Path) -> str:
    return path.relative_to(ROOT / "chapters").as_posix()


def lines(cells: list[NotebookNode]) -> set[str]:
    return {line.strip() for cell in cells for line in cell.source.splitlines()}


def shown(cells: list[NotebookNode]) -> set[str]:
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return {data["text/plain"] for data in outputs if "text/plain" in data}


def test_it_holds_the_chapters_the_licenses_and_how_to_begin(handout):
    files = {path.relative_to(handout).as_posix() for path in handout.rglob("*.*")}
    assert files == {file(path) for path in CHAPTERS} | {"README.md"}
    assert {path.name for path in handout.iterdir()} >= {"LICENSE", "LICENSE-TEXT"}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem[:3])
def test_solutions_are_gone_and_all_else_is_there(handout, path):
    book = nbformat.read(path, as_version=4).cells
    solved = [cell for cell in nbformat.read(answers(path), as_version=4).cells if "solution" in tags(cell)]
    copy = nbformat.read(handout / file(path), as_version=4)
    nbformat.validate(copy)
    open_cells = [cell for cell in book if "solution" not in tags(cell)]
    secret = lines(solved) - lines(open_cells)
    assert bool(secret) == any("exercise" in tags(cell) for cell in book)
    assert not secret & lines(copy.cells)
    assert [cell.id for cell in copy.cells] == [cell.id for cell in open_cells]
    asked = False
    for cell, old in zip(copy.cells, open_cells, strict=True):
        if cell.cell_type == "code":
            assert cell.source == old.source
            assert cell.outputs == ([] if asked or "exercise" in tags(cell) else old.outputs)
        else:
            asked = "predict" in tags(old) or (asked and not re.search("^#+ ", old.source, re.MULTILINE))
    assert not shown(solved) & shown(copy.cells)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem[:3])
def test_links_lead_out_of_the_folder_only_by_their_full_address(handout, path):
    cells = nbformat.read(handout / file(path), as_version=4).cells
    for cell in (cell for cell in cells if cell.cell_type == "markdown"):
        for target in re.findall(r"\]\(([^)\s#]+)", cell.source):
            assert re.match("https?:", target) or (handout / file(path)).parent.joinpath(target).exists(), (
                target
            )


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem[:3])
def test_a_prediction_shows_its_options_and_nothing_tells_its_answer(handout, path):
    book = {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}
    cells = nbformat.read(handout / file(path), as_version=4).cells
    for at, cell in enumerate(cells):
        if "predict" in tags(cell):
            ask = note(cell, "ask") or {}
            before, _, answer = cell.source.partition("<details>")
            assert answer == book[cell.id].source.partition("<details>")[2] != ""
            assert all(f"\n- {option}" in before for option in ask.get("options", []))
            if ask.get("kind") == "number":
                assert f"Between {ask['from']} and {ask['to']}" in before
            below = next((one for one in cells[at:] if one.cell_type == "code"), None)
            assert not (below and below.outputs)


@pytest.mark.parametrize("path", projects(ROOT), ids=lambda path: path.stem[:3])
def test_a_project_does_not_lead_to_its_solutions(handout, path):
    text = (handout / file(path)).read_text("utf-8")
    assert "/solutions/" not in text and "compare with" not in text
    assert "/solutions/" in path.read_text("utf-8")


def test_a_book_without_a_home_says_so(tmp_path, capsys):
    write(tmp_path / "handout")
    homeless = "github.com/OWNER/" in (ROOT / "pyproject.toml").read_text("utf-8")
    assert ("make address REPO=" in capsys.readouterr().err) == homeless


def test_a_chapter_runs_with_its_stubs_as_they_are(handout):
    notebook = nbformat.read(handout / "08-choosing.ipynb", as_version=4)
    client = NotebookClient(notebook, timeout=300, startup_timeout=300, extra_arguments=["--log-level=ERROR"])
    client.execute()
    checks = [cell for cell in notebook.cells if cell.source.startswith("check.")]
    assert checks
    for cell in checks:
        assert cell.outputs[0].data["text/plain"].endswith(": not attempted yet")
