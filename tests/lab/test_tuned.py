"""Heads that draft for a trained model, and a model that is tuned with YaRN or without."""

import pytest
import torch

from d2lpos import RoPE
from d2lpos.lab import PROBES, draft_heads, run_probe
from d2lpos.lab.probe import loaded
from d2lpos.lab.served import tuned, ways

TARGET = loaded("characters")


def rows_of(study):
    [probe] = PROBES[study].runs(range(1), smoke=True)
    return run_probe(probe)["rows"]


@torch.no_grad()
def test_a_head_reads_what_the_targets_output_matrix_reads():
    tokens = torch.arange(40)[None]
    here = torch.arange(40)
    hidden = draft_heads.hidden_states(TARGET, tokens)
    torch.testing.assert_close(TARGET.head(TARGET.norm(hidden)), TARGET(tokens, here, here <= here[:, None]))


def test_a_heads_rate_does_not_depend_on_where_the_count_begins_and_does_on_its_base():
    rows = {row["case"]: row["accepted"] for row in rows_of("draft-heads")}
    own = rows["trained 10,000, run 10,000"]
    assert rows["all one later"] == pytest.approx(own, abs=2e-5)
    others = set(rows) - {"all one later", "trained 10,000, run 10,000"}
    assert len(others) == 10 and all(rows[case] != own for case in others)
    assert all(0 < share < 1 for share in rows.values())


def test_a_tuned_model_is_read_both_ways_and_the_models_weights_stay():
    before = [parameter.clone() for parameter in TARGET.parameters()]
    rows = rows_of("yarn-served")
    assert len(rows) == 2 * 3 * 2  # both lengths are 128 here
    by_case = {(row["case"], row["read"]): row["loss"] for row in rows}
    assert by_case["not tuned", "without"] < by_case["not tuned", "with"]
    assert by_case["with, on 128", "with"] < by_case["not tuned", "with"]
    assert all(torch.equal(one, parameter) for one, parameter in zip(before, TARGET.parameters(), strict=True))
    copy = tuned(TARGET, ways(TARGET)["with"], 64, seed=0, steps=1)
    assert copy.encoding.scaling != TARGET.encoding.scaling == RoPE(16).scaling
