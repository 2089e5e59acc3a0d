"""The commands of the Makefile, as far as they can be tried without installing anything."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(command: list, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Run make as a reader does: what the make around this test exports must not reach it."""
    exported = ("MAKE", "PYTHON", "CONSTRAINTS", "HASHES", "TORCH", "D2LPOS_BOOK")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(exported)}
    return run(["make", *arguments], cwd=folder, env={**clean, "PYTHONDONTWRITEBYTECODE": "1", **environment})


def copied(copy: Path, *folders: str) -> Path:
    """A copy of the repository, or of its first files and some folders."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.check_output(listing, cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file() and (not folders or "/" not in name or name.startswith(folders)):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What `make` looks at, in a folder whose name has a space."""
    copy = copied(tmp_path / "a book", "book/_static/", "tests/rehearsals/")
    for name in ("chapters", "d2lpos"):
        (copy / name).mkdir()
    return copy


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return copied(tmp_path / "a book")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pretend(path: Path, prelude: str) -> Path:
    """A Python for which `prelude` holds."""
    path.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c \"{prelude}; exec('''$2''')\"\n", encoding="utf-8"
    )
    path.chmod(0o755)
    return path


def test_help_is_the_default_and_names_every_command(tree):
    listing = make(tree)
    assert listing.returncode == 0
    makefile = (tree / "Makefile").read_text(encoding="utf-8")
    commands = makefile.partition(".PHONY: ")[2].splitlines()[0].split()
    assert [line.split()[1] for line in listing.stdout.splitlines()] == commands


def test_every_command_in_the_text_exists(tree):
    texts = [(ROOT / name).read_text("utf-8") for name in ("README.md", "CONTRIBUTING.md", "MAINTAINERS.md", "book/preface.md")]
    named = [set(re.findall(r"(?:^|`)make (\w+)", text, re.MULTILINE)) for text in texts]
    assert all({"book", "test", "lab"} <= commands for commands in named)
    for command in set().union(*named):
        assert make(tree, "--dry-run", command).returncode == 0


@pytest.mark.parametrize("command", ["book", "test"])
def test_a_missing_python_gets_one_sentence(tree, command):
    done = make(tree, command, "PYTHON=python9.9")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == (
        "The book needs Python 3.11 or newer, and python9.9 is missing: "
        f"name another, as in `make {command} PYTHON=python3.13`."
    )
    assert len(done.stderr.splitlines()) == 2  # the other is make's own


def test_an_old_python_gets_one_sentence(tree, tmp_path):
    prelude = (
        "import platform, sys; sys.version_info = (3, 10, 13); platform.python_version = lambda: '3.10.13'"
    )
    done = make(tree, "book", f"PYTHON={pretend(tmp_path / 'python3.10', prelude)}")
    assert done.returncode != 0
    assert "python3.10 is 3.10.13: name another" in done.stderr
    assert not (tree / ".venv").exists()


def test_a_python_without_venv_gets_one_sentence(tree, tmp_path):
    python = pretend(tmp_path / "python", "import sys; sys.modules['ensurepip'] = None")
    done = make(tree, "book", f"PYTHON={python}")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].endswith("install its venv module (Debian and Ubuntu: python3-venv).")
    assert not (tree / ".venv").exists()


def test_another_python_does_not_pass_for_the_one_in_use(tree, tmp_path):
    stamp(tree, "book")
    (tree / ".venv/bin/python").symlink_to(sys.executable)
    old = pretend(tmp_path / "python3.10", "import sys; sys.version_info = (3, 10, 13)")
    assert "needs Python 3.11 or newer" in make(tree, "book", f"PYTHON={old}").stderr
    other = pretend(tmp_path / "python9", "import sys")
    line = '[ "$1" = -V ] && echo Python 9 && exit; exec'
    other.write_text(other.read_text(encoding="utf-8").replace("exec", line, 1))
    done = make(tree, "book", f"PYTHON={other}")
    assert done.returncode != 0
    assert "is Python 9: `make clean` first." in done.stderr.splitlines()[0]


def test_missing_git_gets_one_sentence(tree, tmp_path):
    stamp(tree, "test")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "make").symlink_to(shutil.which("make"))
    done = make(tree, "test", PATH=str(tools), SHELL="/bin/sh")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == "The tests need git: install it first."


def stamp(tree: Path, group: str) -> None:
    """Pretend that the packages of this group are installed."""
    (tree / ".venv/bin").mkdir(parents=True, exist_ok=True)
    (tree / ".venv/bin/activate").touch()
    (tree / f".venv/{group}.stamp").touch()


def test_the_environment_is_reused_until_the_versions_change(tree):
    assert "--group book" in make(tree, "--dry-run", "book").stdout
    stamp(tree, "book")
    assert "--group" not in make(tree, "--dry-run", "book").stdout
    assert "--group test" in make(tree, "--dry-run", "test").stdout
    for name in ("constraints.txt", "pyproject.toml"):
        stamp(tree, "book")
        later = (tree / ".venv/book.stamp").stat().st_mtime + 10
        os.utime(tree / name, (later, later))
        assert "--group book" in make(tree, "--dry-run", "book").stdout
        os.utime(tree / name, (0, 0))


def test_the_book_does_without_the_package(tree):
    plan = make(tree, "--dry-run", "book").stdout
    assert "--editable" not in plan
    assert "--editable '.[notebooks]' --group test" in make(tree, "--dry-run", "test").stdout


def test_who_asks_for_the_small_build_of_pytorch_gets_it(tree):
    """From PyTorch's own index, before anything that needs PyTorch; the pages need none."""
    small = "pip install --disable-pip-version-check --progress-bar off --constraint constraints.txt --no-deps --index-url https://download.pytorch.org/whl/cpu torch"
    for more in ([], ["HASHES=hashes.txt"]):
        plan = make(tree, "--dry-run", "test", "TORCH=cpu", *more).stdout
        assert 0 < plan.index(small) < plan.index("--group test")
        assert "download.pytorch.org" not in make(tree, "--dry-run", "test", "TORCH=cuda", *more).stdout
    assert "download.pytorch.org" not in make(tree, "--dry-run", "book", "TORCH=cpu").stdout


@pytest.mark.skipif(sys.platform != "linux" or Path("/proc/driver/nvidia/version").exists(), reason="pip chooses")
@pytest.mark.parametrize(("status", "says"), [(0, "is the small build, because"), (1, "is the build that pip finds, because")])
def test_a_machine_without_a_driver_gets_the_small_build_where_it_can_be_had(tree, status, says):
    (tree / ".venv/bin").mkdir(parents=True)
    (tree / ".venv/bin/activate").touch()
    python = tree / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\ncase "$*" in *download.pytorch.org*) exit {status};; *"import torch"*) exit 1;; esac\n', "utf-8")
    python.chmod(0o755)
    assert says in make(tree, "test").stdout
    assert "PyTorch" not in make(tree, "test", "TORCH=cuda").stdout


def test_a_build_of_pytorch_that_is_not_known_gets_one_sentence(tree):
    done = make(tree, "test", "TORCH=gpu", f"PYTHON={sys.executable}")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].endswith("TORCH must be cpu, cuda, or nothing for what fits the machine; not 'gpu'.  Stop.")
    assert not (tree / ".venv").exists()


def test_what_another_program_means_by_torch_is_not_the_books(tree):
    plan = make(tree, "--dry-run", "test", TORCH="2.11.0").stdout
    assert "--group test" in plan and "has no NVIDIA driver" in plan


def test_a_new_book_leaves_what_other_commands_have_made(tree):
    stamp(tree, "book")
    (tree / ".venv/bin/python").symlink_to(sys.executable)
    builder = tree / ".venv/bin/jupyter-book"
    builder.write_text("#!/bin/sh\nmkdir _build/html && touch _build/html/index.html\n", encoding="utf-8")
    builder.chmod(0o755)
    for name in ("html/gone.html", ".doctrees/gone", "handout/01.ipynb", "handout.zip", "where-words-stand.pdf"):
        (tree / "_build" / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / "_build" / name).touch()
    done = make(tree, "book")
    assert done.returncode == 0, done.stderr
    left = {"build.log", "handout/01.ipynb", "handout.zip", "html.stamp", "html/index.html", "where-words-stand.pdf"}
    assert set(contents(tree / "_build")) == left


def test_a_release_first_looks_into_the_changelog_then_prints_packs_and_collects(tree):
    for group in ("book", "pdf"):
        stamp(tree, group)
    for name, does in (("python", 'echo "$2"'), ("jupyter-book", "")):
        (tree / ".venv/bin" / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tree / ".venv/bin" / name).chmod(0o755)
    done = make(tree, "release")
    assert done.returncode == 0, done.stderr
    steps = [word for word in done.stdout.split() if word.startswith("book.")]
    assert steps == ["book.release", "book.paper", "book.archive", "book.release"]  # it first asks whether it may


def test_built_pages_are_tested_while_no_file_is_newer(tree):
    stamp(tree, "test")
    python = tree / ".venv/bin/python"
    python.write_text('#!/bin/sh\necho "pages: $D2LPOS_BOOK"\n', encoding="utf-8")
    python.chmod(0o755)
    assert make(tree, "test").stdout == "pages: \n"
    (tree / "_build").mkdir()
    (tree / "_build/html.stamp").touch()
    assert make(tree, "test").stdout == make(tree, "proof").stdout == "pages: _build/html\n"
    assert make(tree, "test", D2LPOS_BOOK="").stdout == "pages: \n"
    (tree / "chapters/new.ipynb").touch()
    os.utime(tree / "_build/html.stamp", (0, 0))
    assert make(tree, "test").stdout == "pages: \n"


def test_address_changes_every_place_and_can_be_undone(whole):
    (whole / "notes.txt").write_bytes("Bücher".encode("latin-1"))  # of a reader who writes no UTF-8
    before = contents(whole)
    project = tomllib.loads(before["pyproject.toml"].decode())["project"]
    old = project["urls"]["Repository"].removeprefix("https://github.com/")
    new = "ada/four-doors"
    there = make(whole, "address", f"REPO={new}", f"PYTHON={sys.executable}")
    assert there.returncode == 0, there.stderr
    after = contents(whole)
    changed = {name for name in after if after[name] != before[name]}
    assert {"pyproject.toml", "README.md", "CITATION.cff", "_config.yml"} <= changed
    assert {name for name in after if name.endswith(".ipynb") and name.startswith("chapters/")} <= changed
    assert f'Repository = "https://github.com/{new}"'.encode() in after["pyproject.toml"]
    assert [name for name, text in after.items() if f"/{old}".encode() in text] == []
    online = b"**[Read it online](https://ada.github.io/four-doors/)**"
    assert online in after["README.md"]
    assert (b"Read it online" in before["README.md"]) == (not old.startswith("OWNER/"))
    back = make(whole, "address", f"REPO={old}", f"PYTHON={sys.executable}")
    assert back.returncode == 0, back.stderr
    assert contents(whole) == before


def test_a_bad_address_gets_one_sentence_and_changes_nothing(whole):
    before = contents(whole)
    for repo in ("", "https://github.com/ada/d2lpos", "a'da/d2lpos", "$(id)/x"):
        done = make(whole, "address", f"REPO={repo.replace('$', '$$')}", f"PYTHON={sys.executable}")
        assert done.returncode != 0
        message = f"REPO must be OWNER/NAME, as in `make address REPO=ada/d2lpos`, not {repo!r}."
        assert done.stderr.splitlines()[0] == message
    assert contents(whole) == before


@pytest.mark.parametrize("port", ["http", "70000", "-1"])
def test_a_bad_port_gets_one_sentence(port):
    done = run([sys.executable, ROOT / "book/serve.py", port])
    assert done.returncode == 1
    assert done.stderr == f"PORT must be a number from 0 to 65535, not {port!r}.\n"
