"""What the figure of stacked layers is given."""

from dataclasses import replace

from d2lpos.lab.run import Run
from d2lpos.lab.stacks import stacks
from d2lpos.lab.studies import stacked
from tests.lab.results import result

RUN = Run("needle", shortest=8, length=32, tested=(32, 64))


def test_seeds_stand_in_order_and_a_seed_that_is_missing_leaves_no_gap():
    runs = stacked(RUN)
    made = [
        result(replace(run, seed=seed))
        for run, seeds in zip(runs, [(2, 0, 1), (0,), (1,), (0, 1), (0,)], strict=True)
        for seed in seeds
    ]
    data = stacks(made)
    assert (data["trained"], data["window"], data["lengths"], data["guess"]) == (32, 16, [32, 64], 62)
    assert [one["layers"] for one in sorted(data["stacks"], key=lambda one: str(one["layers"]))] == [
        ["full", "full", "full", "full"],
        ["full", "full", "full", "none"],
        ["none", "none", "none", "none"],
        ["window", "window", "window", "none"],
        ["window", "window", "window", "window"],
    ]
    by_layers = {tuple(one["layers"]): one["found"] for one in data["stacks"]}
    sizes = {layers: len(cells["sharper"][1]) for layers, cells in by_layers.items()}
    assert sizes == {
        ("full",) * 4: 3,
        ("full", "full", "full", "none"): 1,
        ("window",) * 4: 1,
        ("window", "window", "window", "none"): 2,
        ("none",) * 4: 1,
    }
    of = {record["run"]["seed"]: record["metrics"] for record in made[:3]}
    for reading in ("as trained", "sharper"):
        for at, length in enumerate((32, 64)):
            [accuracies] = [[
                row["accuracy"]
                for seed in range(3)
                for row in of[seed]
                if (row["reading"], row["length"]) == (reading, length)
            ]]
            assert by_layers["full", "full", "full", "full"][reading][at] == [
                round(1000 * share) for share in accuracies
            ]
