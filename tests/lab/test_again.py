"""A run that is done again gives its record: to the last digit where the machine is of the same kind.

What a record promises is in `PROTOCOL` and `ROUNDING`. Where a test here fails by the last digits, an encoding, the
training or a task computes otherwise than it did: take that back, or raise the number that says so, run what is
published again, and write the short runs that have changed: python -m tests.lab.again --write.
"""

import pytest

from d2lpos.lab import execute
from d2lpos.lab.lines import read
from d2lpos.lab.machine import alike
from d2lpos.lab.report import rounded_before
from tests.lab.again import SHORT, apart, measured, short

NEAR = 1e-3  # nats, and shares of rows: what other processors and versions of PyTorch may make of a few steps
FOUND = read(SHORT)


def test_each_has_a_record_of_the_versions_of_today():
    known = {record["key"] for record in FOUND if not rounded_before(record)}
    assert {run.key for run in short()} <= known, "raised versions need new records: python -m tests.lab.again --write"


@pytest.mark.parametrize(
    "run", short(), ids=lambda run: f"{run.task} {run.encoding} {run.dropout} {run.key[:4]}"
)
def test_a_run_gives_its_record_again(run):
    stored = [record for record in FOUND if record["key"] == run.key and not rounded_before(record)]
    new = execute(run)
    for record in stored:
        assert apart(measured(record), measured(new)) < NEAR
    same = [record for record in stored if alike(record["machine"], new["machine"])]
    if not same:
        pytest.skip("near, but its record is from another kind of machine")
    assert all(measured(record) == measured(new) for record in same)
