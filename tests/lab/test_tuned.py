"""Heads that draft for a trained model, and a model that is tuned with YaRN or without."""

import pytest
import torch

from d2lpos.lab import PROBES, run_probe
from d2lpos.lab.probe import loaded
from d2lpos.lab.tuned import hidden_states

TARGET = loaded("characters")


def rows_of(study):
    [probe] = PROBES[study].runs(range(1), smoke=True)
    return run_probe(probe)["rows"]


@torch.no_grad()
def test_a_head_reads_what_the_targets_output_matrix_reads():
    tokens, here = torch.arange(40)[None], torch.arange(40)
    logits = TARGET.head(TARGET.norm(hidden_states(TARGET, tokens)))
    torch.testing.assert_close(logits, TARGET(tokens, here, here <= here[:, None]))


def test_a_heads_rate_does_not_depend_on_where_the_count_begins_and_does_on_all_else():
    rows = {row["case"]: row["accepted"] for row in rows_of("draft-heads")}
    own = rows.pop("trained 10,000, run 10,000")
    assert rows.pop("all one later") == pytest.approx(own, abs=2e-5)
    assert len(rows) == 10 and all(0 < share < 1 and share != own for share in rows.values())


def test_a_tuned_model_is_read_both_ways_and_the_model_stays_as_it_was():
    before = [parameter.clone() for parameter in TARGET.parameters()]
    rows = {(row["case"], row["read"]): row["loss"] for row in rows_of("yarn-served")}
    assert rows["not tuned", "without"] < rows["not tuned", "with"] > rows["with, on 128", "with"]
    assert all(torch.equal(one, parameter) for one, parameter in zip(before, TARGET.parameters(), strict=True))
    assert TARGET.encoding.scaling.__name__ == "unscaled"
