"""The tables and the figure that a page makes of the records of a study."""

from collections.abc import Iterable
from statistics import fmean, median
from typing import TYPE_CHECKING

from .char_models import script
from .plot import LABELS, describe, plot, table, told_apart
from .run import Run
from .signs import signs
from .studies import STUDIES
from .summary import frame
from .verdict import moments, verdicts

if TYPE_CHECKING:
    from pandas import DataFrame


def pages(study: str, records: list[dict], again: Iterable[dict] = ()) -> dict[str, str]:
    """Return the texts that the page includes by the names of their files. again: records of runs that were repeated."""
    from ..figures import show

    rows, value = frame(records), STUDIES[study].value
    texts = {f"{study}-{split}.csv": table(part, value) for split, part in rows.groupby("split")}
    probes = frame(records, of="probes")
    if len(probes):
        texts[f"{study}-probes.csv"] = table(probes, "error", "layer", "layer {}")
    if again:
        texts[f"{study}-again.csv"] = repeated(records, again, value)
    texts = {name: cells.to_csv(index_label="Encoding", lineterminator="\n") for name, cells in texts.items()}
    if "dropout" in rows:
        tables = {"verdicts": decisions, "signs": counts, "rates": at_equal_rates}
        for name, tell in tables.items():
            texts[f"{study}-{name}.csv"] = tell(records).to_csv(index=False, lineterminator="\n")
    if with_model := [record for record in records if "reader" in record]:
        texts |= {f"{study}-{record['run']['encoding']}.js": script(record) for record in with_model}
        texts[f"{study}-cards.csv"] = cards(with_model).to_csv(
            index=False, float_format="%.3f", lineterminator="\n"
        )
    texts[f"{study}-about.csv"] = as_csv(origin(study, records))
    if told_apart(rows):
        texts[f"{study}.svg"] = show(plot(rows, value), alt=describe(rows, value)).svg
    return texts


def as_csv(rows: Iterable[tuple[str, str]]) -> str:
    """Rows of two cells as the text of a file."""
    from pandas import DataFrame

    return DataFrame(rows).to_csv(index=False, header=False, lineterminator="\n")


def cards(records: list[dict]) -> "DataFrame":
    """Return a row for each reader: its size, its loss within and past the training length, and what 8 bits change."""
    from pandas import DataFrame

    rows = []
    for record in records:
        trained, places = record["run"]["length"], record["reader"]["places"]
        row = {
            "Encoding": LABELS.get(record["run"]["encoding"], record["run"]["encoding"]),
            "Parameters": f"{record['parameters']:,}",
            "File in kB": round(len(script(record)) / 1000),
            f"Places 0–{trained - 1}": fmean(places[:trained]),
            f"Places {trained}–{len(places) - 1}": fmean(places[trained:]),
        }
        for name in ("float", "8 bits"):
            losses = record["reader"]["passage"][name]
            row |= {f"{trained} characters, {name}": losses["within"], f"512, {name}": losses["whole"]}
        rows.append(row)
    return DataFrame(rows)


def repeated(records: list[dict], again: list[dict], value: str) -> "DataFrame":
    """Return the tests of runs that were repeated in a table, and below each row what came out the second time."""
    from pandas import concat

    keys = {record["key"] for record in again}
    sides = {"": [record for record in records if record["key"] in keys], ", again": again}
    tables = [table(frame(side).query("split == 'test'"), value) for side in sides.values()]
    tables = [part.rename(lambda name, end=end: name + end) for part, end in zip(tables, sides, strict=True)]
    return concat(tables).loc[
        [row for pair in zip(*(part.index for part in tables), strict=True) for row in pair]
    ]


def decisions(records: list[dict]) -> "DataFrame":
    """Return what `verdicts` finds, in words: the difference ± half of its 95 % interval, in nats."""
    decided = verdicts(moments(records))
    half = decided["high"] - decided["mean"]
    decided["difference"] = [
        f"{mean:+.3f} ± {h:.3f}".replace("-", "−") for mean, h in zip(decided["mean"], half, strict=True)
    ]
    decided["p"] = decided["p"].map("{:.3f}".format).replace("0.000", "< 0.001")
    shown = decided[["encoding", "moment", "dropout", "drop", "difference", "p", "verdict"]]
    return shown.rename(columns={"drop": "rate"}).rename(columns=str.capitalize).rename(columns={"P": "p"})


def counts(records: list[dict]) -> "DataFrame":
    """Return what `signs` finds, in words: of each placement against none, and of some against each other."""
    from pandas import concat

    table = moments(records)
    tests = [signs(table).assign(against="none")]
    for against, names in (("sum", ("token", "protected")), ("others protected", ("protected",))):
        if against in set(table["dropout"]):
            some = signs(table, against=against).assign(against=against)
            tests.append(some[some["dropout"].isin(names)])
    return _counted(concat(tests), "encoding", "moment", "dropout", "against")


def at_equal_rates(records: list[dict]) -> "DataFrame":
    """Return the counts of the token against the sum at each rate, in words."""
    from pandas import concat

    table = moments(records)
    tests = concat(signs(rows, against="sum") for rate, rows in table.groupby("drop") if rate)
    return _counted(tests[tests["dropout"] == "token"], "encoding", "moment")


def _counted(tests: "DataFrame", *columns: str) -> "DataFrame":
    n = (tests["better"] + tests["worse"]).astype(str)
    shown = tests[[*columns]].rename(columns=str.capitalize)
    shown["Rate"] = tests["drop"]
    shown["Difference"] = tests["mean"].map("{:+.3f}".format).str.replace("-", "−")
    for side in ("better", "worse"):
        shown[side.capitalize()] = tests[side].astype(str) + " of " + n
    for test in ("sign", "rank"):
        shown[f"p by {test}s"] = tests[test].map("{:.3f}".format)
    return shown


def origin(study: str, records: list[dict]) -> list[tuple[str, str]]:
    """Return where records come from, in rows of two cells."""
    machines, seconds = [record["machine"] for record in records], [record["seconds"] for record in records]
    seeds = len({record["run"]["seed"] for record in records})
    days = sorted(record["started"][:10] for record in records)
    options = " --device cuda" * any(machine["device"] != "cpu" for machine in machines)
    options += " --compile" * any(machine.get("compiled") for machine in machines)

    older = sorted({LABELS.get(run.encoding, run.encoding) for run in map(rounded_before, records) if run})

    def every(*names: str) -> str:
        return "; ".join(sorted({", ".join(str(machine[name]) for name in names) for machine in machines}))

    return [
        ("Command", f"`python -m d2lpos.lab {study} --seeds {seeds}{options}`"),
        ("Runs", f"{len(records)}, with {seeds} seed{'s' * (seeds > 1)}"),
        ("Device", every("device", "processor", "system")),
        ("PyTorch", every("torch")),
        ("Python", every("python")),
        ("Commit", every("commit")),
        ("Dates", " to ".join(dict.fromkeys((days[0], days[-1])))),
        *[("Rounding", f"{', '.join(older)}: the code has rounded in another way since then, so the same runs give other digits now")]
        * bool(older),
        ("Time", f"{duration(sum(seconds))} in all; the median of a run is {duration(median(seconds))}"),
    ]


def rounded_before(record: dict) -> Run | None:
    """Return the run of a record whose encoding has since begun to round differently."""
    if "weights" in record:  # nothing was trained
        return None
    run = Run.from_fields(record["run"])
    versions = {"protocol": 1, "task": 1, "rounding": 1} | record.get("versions", {})
    return None if versions == run.versions else run


def duration(seconds: float) -> str:
    """Say a time with about two digits."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
