"""Records of trained models, in tables over passages."""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise, repeat
from math import isnan
from statistics import fmean
from typing import TYPE_CHECKING, Any

from . import packed, reuse, shift
from .real import EVAL_MODES, FOLLOWED, SENTENCE
from .real_openings import AFTER
from .report import as_csv, origin
from .summary import interval, mean_cells, rows
from .two_models import judged

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["board_data", "mean_ci"]

# The cases that others are compared with.
RIGHT = ("as trained", "neighbors, turned so", "read anew", "float32, positions count on", "computed fresh", "nothing evicted")
ALL = -1  # stands for all layers, or all pairs, in a table of the board
NAMES = {"persuasion": "Persuasion", "pride": "Pride and Prejudice", "rule": "made by rule", "code": "code", "reactions": "reactions"}


def mean_ci(
    records: Iterable[dict[str, Any]],
    value: str = "loss",
    against: str | None = None,
    by: Iterable[str] = ("case", "text"),
) -> "DataFrame":
    """Return the mean of a column over passages, its 95 % interval from low to high, and n, computed as in `interval`.

    against: a case that is first subtracted from the others, passage by passage. by: the columns whose values are kept
    apart and not averaged. Rows that do not have the column are left out.
    Raises ValueError if rows with the same number of a passage would be averaged, such as passages of two texts.

    >>> rows = records("real-layout")
    >>> table = mean_ci(rows, by=["case", "text"])
    >>> table["case"][0]
    'neighbors, turned so'
    """
    from pandas import DataFrame

    table, by = rows(records).dropna(subset=[value]), list(by)
    passage = [name for name in ("text", "seed", "length", "dtype") if name in table]
    if against is not None:
        base = table[table["case"] == against].set_index(passage)[value]
        table[value] = table[value] - base.loc[table.set_index(passage).index].to_numpy()
    draws = table.set_index("seed").groupby(by, sort=False)[value]
    means = [[*where, *interval(part)] for where, part in draws]
    return DataFrame(means, columns=[*by, "mean", "low", "high", "n"])


def texts(study: str, records: list[dict[str, Any]]) -> dict[str, str]:
    """The texts that pages include, by the names of their files."""
    records = sorted(records, key=lambda record: (record["run"]["seed"], record["key"]))
    about = dict(origin(study, records))
    weights = dict.fromkeys(f"SHA-256 {record['weights'][:16]}…" for record in records)
    about["Weights"] = "; ".join(weights)
    if study.startswith("real-"):  # the others train on top of a model, and their seeds are seeds
        about["Runs"] = about["Runs"].replace("seed", "passage")
    files = {f"{study}-about.csv": as_csv(about.items())}
    if study == "real-board":
        files["real-board.json"] = json.dumps(board_data(records), indent=0) + "\n"
    if study == "real-sentence":
        data = json.dumps(sentence_data(records), ensure_ascii=False, separators=(",", ":"))
        files["real-sentence.json"] = data + "\n"
    if study in RULES:
        files[f"{study}-rules.csv"] = as_written(RULES[study], records).to_csv(lineterminator="\n")
    if study == "real-both":
        for model in {record["run"]["model"]: None for record in records}:
            turned = [r for r in records if (r["run"]["model"], r["run"]["part"]) == (model, "turns")]
            files[f"real-both-{model}.csv"] = shown(turned).to_csv(lineterminator="\n")
    if (table := page_table(study, records)) is not None:
        files[f"{study}.csv"] = table.to_csv(lineterminator="\n")
    return files


def page_table(study: str, records: list[dict[str, Any]]) -> "DataFrame | None":
    """The table of a study's page, None where it has none. Its intervals are over passages of one text."""
    if study in TABLES or "loss" in records[0]["rows"][0]:
        return TABLES.get(study, shown)(records)
    return None


def looking_back(records: list[dict[str, Any]], best: int = 5) -> "DataFrame":
    """The heads that weigh the previous token most in each text, ± half of the 95 % interval over its passages.

    Beside it, the weight with the fastest pair held still, with none turning, and at other paces; and the first token's.
    """
    from pandas import DataFrame

    names = {"previous": "previous token", "pair 0 still": "pair 0 still", "nothing": "none turning"}
    names |= {"half": "half pace", "double": "double pace", "first": "first token"}
    records = [
        record | {"rows": [row | {"pair 0 still": row["still"][0]} for row in record["rows"]]} for record in records
    ]
    at = ["text", "case"]
    means = {value: mean_ci(records, value, by=at).set_index(at) for value in names}
    order = means["previous"].sort_values("mean", ascending=False).groupby("text").head(best).index
    order = sorted(order, key=lambda where: list(NAMES).index(where[0]))  # stable: within a text as they are
    table = DataFrame({names[value]: mean_cells(some) for value, some in means.items()}, means["previous"].index)
    return table.loc[order].rename(index=NAMES, level="text").rename_axis(["Text", "Head"])


def dearest(records: list[dict[str, Any]], best: int = 5) -> "DataFrame":
    """The pairs and the layers that cost most where all of them stand still, passage by passage, and the means."""
    whole = [
        record | {"rows": [row for row in record["rows"] if row["case"] == "held" or row["pair"] is None]}
        for record in records
    ]
    rises = mean_ci(whole, against="as trained", by=["case", "seed"])
    table = rises.pivot(index="case", columns="seed", values="mean").map("{:+.3f}".format)
    table.columns = [f"Passage {seed}" for seed in table]
    means = mean_ci(whole, against="as trained").set_index("case")
    table["Mean"] = mean_cells(means.loc[table.index], repeat("+"))
    kinds = [means[means.index.str.startswith(kind)]["mean"] for kind in ("pair", "layer", "no rotation")]
    shown_cases = [case for kind in kinds for case in kind.nlargest(best).index]
    table = table.loc[shown_cases].apply(lambda column: column.str.replace("-", "−"))
    return table.rename(lambda case: case.replace("held", "in all layers")).rename_axis("Still")


def in_another_order(records: list[dict[str, Any]]) -> "DataFrame":
    """Cosines of two sentences, as they are and with all tokens in one place."""
    table = rows(records).query("case == 'order'").set_index("text")
    return table[["other", "cosine", "all at 5", "all at 0"]].rename_axis("Sentence")


def along(records: list[dict[str, Any]], parts: int = 4) -> "DataFrame":
    """The loss in each part of a long passage, a row for each way to read it and text."""
    from pandas import DataFrame

    cells = []
    for record in records:
        [row] = record["rows"]
        parts = min(parts, len(row["places"]))
        step = len(row["places"]) // parts
        means = [fmean(row["places"][step * n : step * (n + 1)]) for n in range(parts)]
        tokens = [record["run"]["length"] * n // parts for n in range(parts + 1)]
        names = [f"{a:,} to {b:,}" for a, b in pairwise(tokens)]
        cells.append(
            {"Reading": row["case"], "Text": NAMES[record["run"]["text"]]}
            | dict(zip(names, means, strict=True))
        )
    means = DataFrame(cells).groupby(["Reading", "Text"], sort=False).mean()
    order = sorted(means.index, key=lambda at: (at[1], EVAL_MODES.index(at[0])))
    return means.loc[order].map("{:.3f}".format)


def share_of(counts: "DataFrame") -> "Series":
    """Two columns of counts as words: "3 of 5"."""
    part, whole = (counts[column].astype(str) for column in counts)
    return part + " of " + whole


def texts_beside(cells: "Series") -> "DataFrame":
    """Cells whose last index is a text, with a column for each, in the order of NAMES and by their titles."""
    wide = cells.unstack()
    return wide[[text for text in NAMES if text in wide]].rename(columns=NAMES)


def digits_found(records: list[dict[str, Any]]) -> "DataFrame":
    """How many of the digits asked for are found, a row for each eval mode and passage, a column for each length."""
    sums = rows(records).groupby(["case", "text", "seed", "length"])[["right", "of"]].sum()
    wide = share_of(sums).unstack().fillna("–").rename(index=NAMES, level="text")
    wide = wide.reindex([mode for mode in EVAL_MODES if mode in wide.index], level="case")
    return wide.rename(columns="{:,} tokens".format).rename_axis(index=["Reading", "Text", "Passage"], columns=None)


def digits_from_afar(records: list[dict[str, Any]]) -> "DataFrame":
    """How many digits are found with the first four tokens farther and farther away, a column for each text."""
    sums = rows(records).groupby(["case", "text"], sort=False)[["right", "of"]].sum()
    return texts_beside(share_of(sums)).rename_axis(index="The first four tokens", columns=None)


def accepted(records: list[dict[str, Any]]) -> "DataFrame":
    """The share of drafted tokens that is accepted, ± half of its 95 % interval, a row for each draft and case, a column for each text."""
    table = mean_ci(records, "accepted", by=["draft", "case", "text"])
    table["cell"] = mean_cells(table)
    table["text"] = table["text"].map(NAMES)
    order = list(zip(table["draft"], table["case"], strict=True))
    wide = table.pivot(index=["draft", "case"], columns="text", values="cell").loc[list(dict.fromkeys(order))]
    return wide.rename_axis(index=["Draft", "Positions"], columns=None)


def reused(records: list[dict[str, Any]]) -> "DataFrame":
    """What the loss rises by over keys that are computed fresh, and the digits found, in each text.

    A row for each document and each way to use its keys, the losses of fresh keys in rows of their own; columns of nats,
    ± half of the 95 % interval over the passages of that text, and of digits. "4 × 128" is a document that was read in
    four pieces of 128 tokens, each alone.
    """
    from pandas import concat

    documents: dict[str, list[dict]] = {}
    for record in records:
        pieces = reuse.PIECES[record["run"]["part"]]
        documents.setdefault(f"{pieces} × {record['run']['length'] // pieces}", []).append(record)
    tables = {document: nats_and_digits(some) for document, some in documents.items()}
    return concat(tables, names=["Document", "Keys"])


def nats_and_digits(records: list[dict[str, Any]]) -> "DataFrame":
    """As `shown`, and beside it the digits found, which a case without a loss has alone."""
    nats, sums = shown(records), rows(records).groupby(["case", "text"], sort=False)[["right", "of"]].sum()
    digits = texts_beside(share_of(sums))[nats.columns].loc[list(dict.fromkeys(sums.index.get_level_values(0)))]
    nats = nats.reindex(digits.index).fillna("–")
    return nats.add_suffix(": nats").join(digits.add_suffix(": digits")).rename_axis("Case")


def as_tuned(records: list[dict[str, Any]]) -> "DataFrame":
    """The loss of a model that was tuned with YaRN or without, a column for each way to read it and length."""
    table = mean_ci(records, by=["case", "characters", "read"])
    table["cell"] = mean_cells(table)
    wide = table.pivot(index="case", columns=["characters", "read"], values="cell").loc[table["case"].unique()]
    wide.columns = [f"{n} characters, {read} YaRN" for n, read in wide]
    return wide.rename_axis("Tuned")


def by_text(
    decide: Callable[[list[dict[str, Any]]], "DataFrame"], records: list[dict[str, Any]]
) -> "DataFrame":
    """What a rule decides of the passages of each text: a row for each sentence, a column for each text.

    decide: `judged` or `decided` of a study's module. Their rules were written for all texts together, and `as_written`
    has those verdicts, too. A mean over unlike texts need not hold in any of them.

    >>> from d2lpos.lab import records
    >>> from d2lpos.lab.shift import decided
    >>> by_text(decided, records("real-shift")).loc["as good as reading anew"].tolist()
    ['holds', 'holds', 'open']
    """
    from pandas import concat

    each = {text: [record for record in records if record["run"]["text"] == text] for text in NAMES}
    verdicts = {text: verdicts_of(decide, some) for text, some in each.items() if some}
    return concat(verdicts, axis=1)


def verdicts_of(
    decide: Callable[[list[dict[str, Any]]], "DataFrame"], records: list[dict[str, Any]]
) -> "Series":
    """The verdicts of a rule, by sentence, and by part and length where it has these."""
    table = decide(records)
    return table.set_index([name for name in ("sentence", "part", "length") if name in table])["verdict"]


def as_written(
    decide: Callable[[list[dict[str, Any]]], "DataFrame"], records: list[dict[str, Any]]
) -> "DataFrame":
    """As `by_text`, and last what the rule decides as it was written before the runs, of the passages of all texts."""
    table = by_text(decide, records).rename(columns=NAMES)
    return table.assign(**{"as written, all texts": verdicts_of(decide, records)}).rename_axis(index=str.capitalize)


def on_fifteen(records: list[dict[str, Any]]) -> "DataFrame":
    """As `shown`, of the parts that tell losses, one below the other."""
    from pandas import concat

    parts = dict.fromkeys(record["run"]["part"] for record in records if "loss" in record["rows"][0])
    each = [[record for record in records if record["run"]["part"] == part] for part in parts]
    tables = [
        shown(some).rename({"as trained": f"as trained, {some[0]['run']['length']} tokens"}) for some in each
    ]
    return concat(tables).fillna("–")


def without_heading(records: list[dict[str, Any]]) -> "DataFrame":
    """On how many passages a token has more than a tenth, a row for each way to begin and mask, a column for each text."""
    from pandas import concat

    table = rows(records)
    masked = table[table["case"].str.match(r"most: \((b|c|e)\)")]
    second = masked[masked["case"].str.contains("(e)", regex=False)]
    alone = table[table["case"].str.endswith("sees itself alone")]
    least = alone.groupby(["part", "text", "seed"], as_index=False)["share"].min()
    named = [
        masked.assign(case=masked["case"].str.removeprefix("most: ") + ": some token"),
        second.assign(case="(e): the second token", share=second["second"]),
        least.assign(case="each of 14 tokens that see themselves alone"),
    ]
    above = concat(named).assign(above=lambda one: one["share"] > 0.1)
    above["part"] = above["part"].astype("category").cat.set_categories(list(AFTER))
    counts = above.groupby(["part", "case", "text"], observed=True)["above"].agg(["sum", "size"])
    return texts_beside(share_of(counts)).rename_axis(index=["Begun", "Mask, and who has more than a tenth"], columns=None)


RULES = {"real-reuse": reuse.judged, "real-shift": shift.decided, "real-packed-shift": packed.decided}
TABLES = {
    "real-apart": reused,
    "real-board": dearest,
    "real-both": judged,
    "real-openings": without_heading,
    "real-drafts": accepted,
    "draft-heads": accepted,
    "real-eviction": nats_and_digits,
    "yarn-served": as_tuned,
    "real-inside": on_fifteen,
    "real-reuse": reused,
    "real-heads": looking_back,
    "real-length": along,
    "real-needles": digits_found,
    "real-sink": digits_from_afar,
    "real-table": in_another_order,
    "real-tables": on_fifteen,
}


def shown(records: list[dict[str, Any]]) -> "DataFrame":
    """A row for each case, a column for each text and dtype: what the loss rises by ± half of the 95 % interval over passages.

    The rise is over the case that is right, whose own loss stands in its row. Where not all are means over as many
    passages, each says over how many.
    """
    from pandas import concat

    cases = [row["case"] for record in records for row in record["rows"]]
    right = next(case for case in RIGHT if case in cases)
    differ = [name for name in ("length", "dtype") if len({record["run"][name] for record in records}) > 1]
    by = ["case", "text", *differ]
    levels, rises = (mean_ci(records, against=one, by=by) for one in (None, right))
    means = concat([levels[levels["case"] == right], rises[rises["case"] != right]])
    means["cell"] = mean_cells(means, ("" if case == right else "+" for case in means["case"]))
    means["cell"] = means["cell"].str.replace("-", "−")
    means["text"] = means["text"].map(NAMES)
    for name in differ:
        means["text"] += ", " + means[name].map("{:,} tokens".format if name == "length" else str)
    wide = means.pivot(index="case", columns="text", values="cell").rename_axis(columns=None, index="Case")
    return wide.loc[list(dict.fromkeys(means["case"]))].fillna("–")


def board_data(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What a page shows of the board: means over passages, rounded.

    base: loss and the followed heads' weights as trained; none: with no rotation at all. cells[layer][pair],
    rows[layer] and columns[pair]: [what the loss rises by, the weights of the heads]; a weight is null in a layer below
    what is held still, where it stays as it was. passages: over how many.
    """
    from pandas import DataFrame

    table = DataFrame([record["run"] | row for record in records for row in record["rows"]])
    trained = table["case"] == "as trained"
    bases = table[trained & (table["part"] == "columns")].set_index("seed")["loss"]
    table["loss"] -= table["seed"].map(bases).mask(trained, 0)
    table = table[table["seed"].isin(bases.index)].fillna({"layer": ALL, "pair": ALL})
    by = ["case", "layer", "pair"]
    means = table[[*by, "loss"]].join(DataFrame(table["previous"].tolist(), table.index)).groupby(by).mean()

    def mean(case: str, layer: int = ALL, pair: int = ALL) -> list[Any] | None:
        if (case, layer, pair) not in means.index:
            return None
        loss, *weights = means.loc[(case, layer, pair)]
        return [round(loss, 4), *(None if isnan(weight) else round(weight, 3) for weight in weights)]

    layers = sorted({int(layer) for layer in table["layer"]} - {ALL})
    pairs = sorted({int(pair) for pair in table.loc[table["case"] == "held", "pair"]})
    return {
        "heads": FOLLOWED,
        "passages": len(bases),
        "base": mean("as trained"),
        "none": mean("no rotation"),
        "columns": [mean("held", pair=pair) for pair in pairs],
        "rows": [mean(f"layer {layer}", layer) for layer in layers],
        "cells": [[mean(f"layer {layer}", layer, pair) for pair in pairs] for layer in layers],
    }


def sentence_data(records: list[dict[str, Any]]) -> dict[str, Any]:
    """How a sentence goes on, as pages show it.

    begins: the sentence. goes: each way to go on once, that of the model as trained first. none, rows[layer],
    columns[pair] and cells[layer][pair]: the index of one of them, with the parts held still that `board_data` tells of.
    """
    # It is the same sentence whatever the number of the passage.
    first_passage = [record for record in records if record["run"]["seed"] == 0]
    words = {
        (row["layer"], row["pair"] if row["case"] == "held" else row["case"]): row["goes on"]
        for record in first_passage
        for row in record["rows"]
    }
    goes = list(dict.fromkeys([words[None, "as trained"], *words.values()]))
    layers = sorted({layer for layer, _ in words if layer is not None})
    pairs = sorted({pair for _, pair in words if isinstance(pair, int)})

    def at(layer: int | None, part: int | str) -> int:
        return goes.index(words[layer, part])

    return {
        "begins": SENTENCE,
        "goes": goes,
        "none": at(None, "no rotation"),
        "columns": [at(None, pair) for pair in pairs],
        "rows": [at(layer, "no rotation") for layer in layers],
        "cells": [[at(layer, pair) for pair in pairs] for layer in layers],
    }
