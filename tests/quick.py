"""Run the tests that decide on a change: `make quick`, or python -m tests.quick [FILE ...]

Without names, the changed files are those that git lists: changed or new since the last commit or, where nothing is,
in it. Of the package, a module has the tests that are named after it or, where there are none, after the modules that
import it, which `tests/house.py` knows; an encoding also has all tests of the core that name it in brackets. What this
leaves out `make test` has, and `.ci/run` decides.
"""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.house import ENCODERS, ROOT, imports, room

sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import number

# A changed file -> tests. Behind a space: only those whose names match the expression. {0} is the first group of the
# pattern, {checks} are the names of the checks in that module, or in all of its chapter, and {own} are a notebook's name or
# number in brackets, or no brackets.
RULES = {
    r"d2lpos/(?:\w+/)*__init__\.py|d2lpos/runtime/\w+\.py": ["tests/core/test_import.py", "tests/api/test_names.py"],
    r"d2lpos/pretrained/(\w+)\.py": ["tests/core/test_pretrained.py", "tests/parity/test_configurations.py"],
    r"d2lpos/config/.*": ["tests/core/test_pretrained.py", "tests/core/test_reading.py", "tests/parity/test_reader.py"],
    r"d2lpos/check/(\w+)\.py": ["tests/check/test_verdict.py", "tests/check/test_{0}.py", "tests/check/test_chapters.py"],
    r"d2lpos/check/(\w+)/(\w+)\.py": [
        "tests/check/test_{0}.py",
        "tests/check/test_right_answers.py {checks}",
        "tests/check/test_wrong_answers.py {checks}",
        "tests/check/test_reference_mutants.py {checks}",
        "tests/check/test_chapters.py {0}",
    ],
    r"tests/wrong_answers/(\w+)\.py": ["tests/check/test_wrong_answers.py {checks}"],
    r"d2lpos/figures/(\w+)\.(?:py|js)": [
        "tests/figures/hero/test_{0}.py", "tests/figures/hero/test_hero.py \\[{0}", "tests/figures/hero/test_hero_host.py {0}",
    ],
    r"(?:chapters(?:/in-depth|/projects(?:/solutions)?)?|book)/([\w-]+)\.ipynb": [
        *(f"tests/notebooks/test_{name}.py {{own}}" for name in ("lint", "claims", "scorecards", "census", "projects", "review")),
        "tests/notebooks/test_blind.py {own}", "tests/notebooks/test_predictions.py {own}", "tests/check/test_chapters.py {0}",
    ],
    r"book/(?!stories)[\w-]+\.(?:md|yml|bib)": ["tests/repo", "tests/notebooks/test_claims.py", "tests/notebooks/test_scorecards.py"],
    r"book/(?:course|decks)\.py|book/(?:course|deck|film)\.(?:css|html|js)|book/lecture\.yml": ["tests/site/test_decks.py"],
    r"book/_ext/d2lpos_ext/not_found\.py|book/_templates/404\.html|book/serve\.py": ["tests/site/test_not_found.py"],
    r"book/(?:essay\.py|stories\.yml|story\.(?:py|js))": ["tests/figures/test_essay.py", "tests/figures/hero/test_story.py"],
    r"book/front/.*": ["tests/site/test_front.py"],
    r"book/your-model/.*|book/_ext/d2lpos_ext/your_model\.py": ["tests/parity/test_reader.py", "tests/site/test_your_model.py"],
    r"book/(?:_static/search.*|aliases\.yml)": ["tests/site/test_search.py", "tests/site/test_search_words.py"],
    r"book/_static/(?:review|ask|memory)\.js": ["tests/site/test_review.py"],
    r"book/_static/reading\.js": ["tests/site/test_go_on.py"],
    r"book/_ext/d2lpos_ext/search\.py": ["tests/notebooks/test_index.py", "tests/site/test_search.py"],
    r"book/_ext/.*": ["tests/notebooks/test_extension.py", "tests/site/test_html.py"],
    r"(tests/.*/test_\w+\.py)": ["{0}"],
    r"tests/core/conftest\.py": ["tests/core/test_laws.py test_every_"],
    r"tests/tiers\.py": ["tests/repo/test_tiers.py"],
    r"tests/speed\.py": ["tests/repo/test_makefile.py"],
    r"[^/]+": ["tests/repo"],
}
SLOW = {f"tests/repo/test_{name}.py" for name in ("grade", "handout", "makefile", "package", "tiers", "versions")}
ALWAYS = "tests/repo/test_style.py"


def changed() -> list[str]:
    """The files that git lists as changed or new, since the last commit or else in it."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    return sorted(
        {*git("diff", "--name-only", "HEAD"), *git("ls-files", "--others", "--exclude-standard")}
    ) or git("diff", "--name-only", "HEAD~1")


def checks(chapter: str, exercise: str = "*") -> list[str]:
    """The names of what an exercise asks, or all exercises of a chapter where no exercise is named so."""
    texts = [path.read_text("utf-8") for path in (ROOT / "d2lpos" / "check" / chapter).glob(f"{exercise}.py")]
    names = [name for text in texts for name in re.findall(r'\b(?:Check|Answer)\(\s*"(\w+)"', text)]
    return names or checks(chapter)


def own(notebook: str) -> list[str]:
    """Expressions that are in the names of a notebook's own tests, and of those that ask all notebooks at once."""
    return [r"^[^\[]*$", rf"\[{notebook}[\].]", rf"\[{number(notebook)}[\].]"]


@cache
def graph() -> dict[str, set[str]]:
    return imports(ROOT)


def of_module(file: str) -> list[str]:
    """The tests of a module: those named after it or, where there are none, after those that import it, and so on."""
    module = file.removesuffix(".py").replace("/", ".")
    near, tests = {module}, []
    folder = room(module) if room(module) in ("check", "figures", "lab") else "core"
    while near and not tests:
        stems = sorted(name.rpartition(".")[2].strip("_") for name in near)
        tests = [path.relative_to(ROOT).as_posix() for stem in stems for path in (ROOT / "tests" / folder).rglob(f"test_{stem}.py")]
        near = {user for user, used in graph().items() if used & near} - near
    tests += ["tests/api/test_layers.py", f"tests/api/test_examples.py \\[{module.removeprefix('d2lpos.')}-"]
    if room(module) in ENCODERS:
        cases = rf"\[(?:.*[^a-z])?{module.rpartition('.')[2].replace('_', '[_ -]')}(?![a-z])"
        tests += [f"tests/core {cases}", f"tests/parity/test_parity.py {cases}", "tests/api/test_names.py", "tests/repo/test_size.py"]
    return tests


def runs_otherwise(path: str) -> bool:
    """Whether code of a notebook is another than it was, but for exercises, whose checks have tests."""

    def code(text: str) -> list[str]:
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        return [cell["source"] for cell in cells if not {"exercise", "solution"} & {*cell["metadata"].get("tags", ())}]

    now = (ROOT / path).read_text("utf-8")
    for commit in ("HEAD", "HEAD~1"):
        last = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=ROOT, check=False, capture_output=True, text=True)
        if last.returncode:
            return commit == "HEAD"  # a new notebook, or a clone that has one commit
        if last.stdout != now:
            return code(last.stdout) != code(now)
    return False


def chosen(files: list[str]) -> dict[str, tuple[str, ...]]:
    """From a test file, or a folder of them, to expressions of which one must be in a test's name; "" is in all."""
    by_path = {ALWAYS: {""}}
    for file in filter(lambda file: (ROOT / file).exists(), files):
        match, tests = next(((m, tests) for rule, tests in RULES.items() if (m := re.fullmatch(rule, file))), (None, []))
        lines = [(*test.partition(" ")[::2], match.groups()) for test in tests]
        if file.startswith("d2lpos/") and file.endswith(".py") and not file.endswith("__init__.py"):
            lines += [(*test.partition(" ")[::2], ()) for test in of_module(file)]
        if file.endswith(".ipynb") and not file.startswith("tests/") and runs_otherwise(file):
            lines.append((file, "", ()))
        for path, word, groups in lines:
            path = path.format(*groups)
            find = {"{checks}": checks, "{own}": own}.get(word)
            words = find(*groups) if find else [word.format(*groups) if groups else word]
            if (ROOT / path).exists():
                by_path.setdefault(path, set()).update(words)
    return {path: tuple(sorted(words)) for path, words in by_path.items()}


class Choice:
    """A plug-in for pytest that leaves out the tests whose names have none of the words of their file."""

    def __init__(self, words: dict[str, tuple[str, ...]]):
        self.words = words

    def pytest_collection_modifyitems(self, config, items):
        from tests.tiers import is_proof  # late, because pytest wants to be the first to import its plug-ins

        def wanted(item) -> bool:
            path = item.path.relative_to(ROOT).as_posix()
            folder = item.path.parent.relative_to(ROOT).as_posix()
            words = self.words.get(path, ())
            if path not in SLOW and not is_proof(item.nodeid):
                words += self.words.get(folder, ())
            return any(re.search(word, item.nodeid.partition("::")[2]) for word in words)

        left_out = [item for item in items if not wanted(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted(item)]


def main(*files: str) -> int:
    words = chosen([Path(file).resolve().relative_to(ROOT).as_posix() for file in files] or changed())
    return pytest.main(["-q", "-n", "0", *words], plugins=[Choice(words)])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
