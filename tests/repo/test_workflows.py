"""The workflows run only what is pinned, with as few rights as they can, and need nothing from who forks the book."""

import re
from pathlib import Path

import pytest
import yaml

FILES = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yml"))
TEXTS = [path.read_text("utf-8") for path in FILES]
WORKFLOWS = [yaml.safe_load(text) for text in TEXTS]
JOBS = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path, workflow in zip(FILES, WORKFLOWS, strict=True)
    for name, job in workflow["jobs"].items()
]


def test_actions_are_pinned_by_commit_and_name_their_version():
    used = [line.strip(" -") for text in TEXTS for line in text.splitlines() if "uses:" in line]
    assert used
    pinned = re.compile(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in used if not pinned.fullmatch(line)] == []


def test_one_action_has_one_version():
    used = set(re.findall(r"uses: (\S+@.+)", "\n".join(TEXTS)))
    assert len(used) == len({line.partition("@")[0] for line in used}), used


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=[path.stem for path in FILES])
def test_a_workflow_may_only_read(workflow):
    assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("job", JOBS)
def test_only_the_job_that_publishes_may_do_more(job):
    publishes = any("actions/deploy-pages@" in step.get("uses", "") for step in job["steps"])
    if publishes:
        assert job["permissions"] == {"pages": "write", "id-token": "write"}
    else:
        assert {*job.get("permissions", {"contents": "read"}).values()} == {"read"}
    assert not (publishes and any("run" in step for step in job["steps"]))


def test_what_is_installed_is_pinned():
    installs = re.findall(r"pipx? (?:install|run).*", "\n".join(TEXTS))
    assert installs
    assert [line for line in installs if not re.search(r"--constraint|--require-hashes", line)] == []


@pytest.mark.parametrize("job", JOBS)
def test_a_job_leaves_no_credentials_behind_and_ends(job):
    checkouts = [step for step in job["steps"] if "actions/checkout@" in step.get("uses", "")]
    assert [step["with"]["persist-credentials"] for step in checkouts] == [False] * len(checkouts)
    assert job["timeout-minutes"] <= 60


def test_no_secret_and_no_name_of_an_owner():
    for text in TEXTS:
        # A pull request's title in a `run` line would be run.
        assert re.search(r"secrets\.|pull_request_target|OWNER|github\.event|github\.head_ref", text) is None
