"""What the figure of stacked layers is given."""

from dataclasses import replace

from d2lpos.lab.run import Run
from d2lpos.lab.stacks import stacks
from d2lpos.lab.studies import stacked
from tests.lab.results import result

RUN = Run("needle", shortest=8, length=32, tested=(32, 64))


def test_seeds_stand_in_order_and_a_seed_that_is_missing_leaves_no_gap():
    seeds_of = [(2, 0, 1), (0,), (1,), (0, 1), (0,)]
    made = [[result(replace(run, seed=seed)) for seed in seeds] for run, seeds in zip(stacked(RUN), seeds_of, strict=True)]
    data = stacks([record for records in made for record in records])
    assert (data["trained"], data["window"], data["lengths"], data["guess"]) == (32, 16, [32, 64], 62)
    by_layers = {tuple(one["layers"]): one["found"] for one in data["stacks"]}
    kinds = [run.stack or ("none",) * 4 for run in stacked(RUN)]
    assert set(by_layers) == set(kinds)
    for layers, records in zip(kinds, made, strict=True):
        rows = [row for record in sorted(records, key=lambda one: one["run"]["seed"]) for row in record["metrics"]]
        for mode in ("as trained", "sharper"):
            assert by_layers[layers][mode] == [
                [round(1000 * row["accuracy"]) for row in rows if (row["reading"], row["length"]) == (mode, length)]
                for length in (32, 64)
            ]
