"""Run the tests that a change touches: `make quick`, or python -m tests.quick [FILE ...]

Without names, the changed files are those that git lists: changed or new since the last commit or, where nothing is,
in it. The choice goes by names alone, so it is quick and not complete; `.ci/run` decides.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A changed file -> tests. Behind a space: only those of the file whose names have one of these words. {0} is the first
# group of the pattern, and {checks} are the names of the checks in that module, or in all of its chapter.
RULES = {
    r"d2lpos/(?:(?:positions|input|rotary|bias|offset|content|transformer)/)?(\w+)\.py": [
        "tests/core/test_{0}.py", "tests/core/test_laws.py", "tests/core/test_errors.py {0}",
        "tests/api/test_examples.py {0}-", "tests/api/test_layers.py", "tests/parity/test_parity.py {0}",
        "tests/repo/test_size.py",
    ],
    r"d2lpos/pretrained/(\w+)\.py": [
        "tests/core/test_{0}.py", "tests/core/test_pretrained.py", "tests/parity/test_configurations.py",
        "tests/api/test_layers.py",
    ],
    r"d2lpos/config/.*": ["tests/core/test_pretrained.py", "tests/core/test_reading.py", "tests/parity/test_reader.py"],
    r"d2lpos/runtime/(\w+)\.py": ["tests/core/test_{0}.py", "tests/core/test_import.py", "tests/api/test_layers.py"],
    r"d2lpos/check/(\w+)\.py": ["tests/check/test_verdict.py", "tests/check/test_{0}.py", "tests/check/test_chapters.py"],
    r"d2lpos/check/(\w+)/(\w+)\.py": [
        "tests/check/test_{0}.py",
        "tests/check/test_right_answers.py {checks}",
        "tests/check/test_wrong_answers.py {checks}",
        "tests/check/test_reference_mutants.py {checks}",
        "tests/check/test_chapters.py {0}",
    ],
    r"tests/wrong_answers/(\w+)\.py": ["tests/check/test_wrong_answers.py {checks}"],
    r"d2lpos/lab/(\w+)\.py": ["tests/lab/test_{0}.py", "tests/api/test_examples.py [lab-"],
    r"d2lpos/figures/(\w+)\.(?:py|js)": [
        "tests/figures/test_{0}.py", "tests/figures/hero/test_{0}.py",
        "tests/figures/hero/test_hero.py [{0}]", "tests/figures/hero/test_hero_host.py {0}",
    ],
    r"((?:chapters(?:/in-depth|/projects(?:/solutions)?)?|book)/[\w-]+)\.ipynb": [
        "{0}.ipynb", "tests/notebooks/test_lint.py", "tests/notebooks/test_claims.py",
        "tests/notebooks/test_scorecards.py", "tests/notebooks/test_census.py",
        "tests/notebooks/test_projects.py", "tests/notebooks/test_review.py", "tests/check/test_chapters.py",
    ],
    r"book/[\w-]+\.(?:md|yml|bib)": ["tests/repo", "tests/site/test_html.py", "tests/site/test_ledger.py"],
    r"book/(?:course|decks)\.py|book/deck\.(?:css|js)": ["tests/site/test_decks.py"],
    r"book/_ext/d2lpos_ext/not_found\.py|book/_templates/404\.html|book/serve\.py": ["tests/site/test_not_found.py"],
    r"tests/(?:tiers|speed)\.py": ["tests/repo/test_tiers.py"],
    r"book/(?:essay\.py|story\.(?:py|js))": ["tests/figures/test_essay.py", "tests/figures/hero/test_story.py"],
    r"book/front/.*": ["tests/site/test_front.py"],
    r"book/your-model/.*|book/_ext/d2lpos_ext/your_model\.py": ["tests/parity/test_reader.py", "tests/site/test_your_model.py"],
    r"book/_static/search.*": ["tests/site/test_search.py"],
    r"book/_static/(?:review|ask|memory)\.js": ["tests/site/test_review.py"],
    r"book/_ext/d2lpos_ext/search\.py": ["tests/notebooks/test_index.py", "tests/site/test_search.py"],
    r"book/_ext/.*": ["tests/notebooks/test_extension.py", "tests/site/test_html.py"],
    r"(tests/.*/test_\w+\.py)": ["{0}"],
    r"[^/]+": ["tests/repo"],
}
SLOW = ("tests/repo/test_handout.py", "tests/repo/test_makefile.py")
ALWAYS = "tests/repo/test_style.py"


def changed() -> list[str]:
    """The files that git lists as changed or new, since the last commit or else in it."""

    def git(*arguments: str) -> list[str]:
        told = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
        return told.stdout.splitlines()

    return sorted(
        {*git("diff", "--name-only", "HEAD"), *git("ls-files", "--others", "--exclude-standard")}
    ) or git("diff", "--name-only", "HEAD~1")


def checks(chapter: str, exercise: str = "*") -> list[str]:
    """The names of what an exercise asks, or all exercises of a chapter where no exercise is named so."""
    texts = [path.read_text("utf-8") for path in (ROOT / "d2lpos" / "check" / chapter).glob(f"{exercise}.py")]
    found = [name for text in texts for name in re.findall(r'\b(?:Check|Answer)\(\s*"(\w+)"', text)]
    return found or checks(chapter)


def chosen(files: list[str]) -> dict[str, tuple[str, ...]]:
    """From a test file, or a folder of them, to the words of which a test's name must have one; "" is in all."""
    found = {ALWAYS: {""}}
    for file in files:
        match, tests = next(((m, tests) for rule, tests in RULES.items() if (m := re.fullmatch(rule, file))), (None, []))
        for test in tests:
            path, _, word = test.partition(" ")
            path, groups = path.format(*match.groups()), match.groups()
            words = checks(*groups) if word == "{checks}" else [word.format(*groups)]
            if (ROOT / path).exists():
                found.setdefault(path, set()).update(words)
    return {path: tuple(sorted(words)) for path, words in found.items()}


class Choice:
    """A plug-in for pytest that leaves out the tests whose names have none of the words of their file."""

    def __init__(self, words: dict[str, tuple[str, ...]]):
        self.words = words

    def pytest_collection_modifyitems(self, config, items):
        def wanted(item) -> bool:
            path = item.path.relative_to(ROOT).as_posix()
            folder = item.path.parent.relative_to(ROOT).as_posix()
            words = self.words.get(path) or (self.words.get(folder) if path not in SLOW else ()) or ()
            return any(word in item.nodeid for word in words)

        left_out = [item for item in items if not wanted(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted(item)]


def main(*files: str) -> int:
    words = chosen([Path(file).resolve().relative_to(ROOT).as_posix() for file in files] or changed())
    return pytest.main(["-q", "-n", "0", *words], plugins=[Choice(words)])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
