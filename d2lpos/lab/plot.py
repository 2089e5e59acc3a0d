"""Records as a figure: every seed is a dot, and the mean has its 95 % interval."""

from itertools import cycle, pairwise
from typing import TYPE_CHECKING

from ..positions.arguments import check_name
from .encodings import family
from .summary import mean_cells, summary
from .tasks import TASKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from pandas import DataFrame, Series

    from ..figures.style import EncodingStyle

__all__ = ["describe", "named", "plot", "table"]

# By door, the encodings in the book's colors that lend theirs to their relatives.
PANELS = {
    "Nothing, or at the input": ("none", "sinusoidal", "learned"),
    "At queries and keys": ("rope",),
    "At the scores": ("relative", "alibi"),
}
OWN_COLORS = ("#6a4c93", "#7f5539", "#3a6b6e")  # of families that the book does not have
LABELS = {
    "mlp": "MLP", "fourier": "Fourier", "rope": "RoPE", "shaw": "Shaw", "shaw wide": "Shaw wide", "transformer-xl": "Transformer-XL",
    "t5": "T5", "t5 short": "T5 short", "t5 near": "T5 near", "alibi": "ALiBi", "kerple": "KERPLE", "fire": "FIRE",
    "sandwich": "Sandwich", "ntk": "NTK", "dynamic ntk": "dynamic NTK", "yarn": "YaRN",
    "ntk, sharper": "NTK, sharper", "yarn, sharper": "YaRN, sharper", "llama 3": "Llama 3",
    "yarn, scores as they were": "YaRN, scores as they were", "yarn, factor alone": "YaRN, factor alone",
    "yarn, length overwritten": "YaRN, length overwritten", "yarn, twice": "YaRN, twice",
    "yarn, another base": "YaRN, another base", "fox": "FoX", "cope": "CoPE", "path": "PaTH",
    "rope on values": "RoPE on values", "axial": "axial RoPE", "mixed": "mixed RoPE", "self-extend": "SelfExtend",
}  # fmt: skip
UNITS = {
    "loss": "loss in nats",
    "loss_last": "loss in nats on the last tokens",
    "accuracy": "accuracy",
    "accuracy_last": "accuracy on the last tokens",
}
GAP = 13  # points from one label to the next


def named(frame: "DataFrame") -> "DataFrame":
    """Return the frame with a column `name`: the encoding, how it is read, and what else not all have in common.

    >>> from d2lpos.lab import Run, execute, frame
    >>> record = execute(Run("order", "rope", steps=1))
    >>> named(frame([record]))["name"].tolist()
    ['RoPE']
    """
    some = frame["causal"].nunique() > 1

    def name(row: "Series") -> str:
        parts = [LABELS.get(row["encoding"], row["encoding"])]
        if row.get("reading", "as trained") != "as trained":
            read, on, _ = row["reading"].partition(", trained on")
            parts += [LABELS.get(read, read) + on]
        if row.get("scale", 1) != 1:
            parts += [f"× {row['scale']:.3g}"]
        if row.get("places", "counted") != "counted":
            parts += [row["places"]]
        if row.get("stack"):
            parts += [row["stack"]]
        if row.get("again"):
            parts += ["in every block"]
        if row.get("steps"):
            parts += [f"{row['steps']} steps"]
        if row.get("drop"):
            parts += [f"dropout {row['drop']:.0%} ({row['dropout']})"]
        return ", ".join(parts + ["causal"] * (row["causal"] and some))

    return frame.assign(name=frame.apply(name, axis="columns"))


def plot(frame: "DataFrame", value: str = "loss", split: str = "test") -> "Figure":
    """Draw a column of one task against the tested lengths or, where there is one length, along an axis.

    Panels are the doors of the encodings, and the families that readers have registered; the others' lines are
    gray there. What cannot be read up to the longest length has no label.

    Raises ValueError for a split or a column that is not there, and as `summary` does.

    >>> from d2lpos.lab import Run, execute, frame
    >>> record = execute(Run("order", "rope", steps=1))
    >>> plot(frame([record])).axes[0].get_xlabel()
    'loss in nats at length 64'
    """
    rows, means = _means(frame, value, split)
    return (_lines if means["length"].nunique() > 1 else _dots)(rows, means, value)


def told_apart(frame: "DataFrame", split: str = "test") -> bool:
    """Return whether each line that `plot` draws has a dash of its own: a color has no more of them than the book."""
    from ..figures import STYLE

    rows = named(frame[frame["split"] == split])
    lines = rows.groupby(rows["encoding"].map(family))["name"].nunique()
    return rows["length"].nunique() == 1 or lines.max() <= len(STYLE)


def describe(frame: "DataFrame", value: str = "loss", split: str = "test") -> str:
    """Say in words what `plot` draws, for readers who do not see it.

    >>> from d2lpos.lab import Run, execute, frame
    >>> record = execute(Run("order", "none", length=4))
    >>> describe(frame([record]), "accuracy")
    'Accuracy at length 4. The means, from low to high: none 0.50.'
    """
    rows, means = _means(frame, value, split)
    lengths = sorted(means["length"].unique())
    last = means[means["length"] == lengths[-1]].sort_values("mean")
    listed = "; ".join(f"{name} {mean:.2f}" for name, mean in last[["name", "mean"]].values)
    what = UNITS[value].capitalize()
    if len(lengths) == 1:
        return f"{what} at length {lengths[0]}. The means, from low to high: {listed}."
    trained = rows["trained"].iloc[0]
    return (
        f"{what} at lengths {', '.join(map(str, lengths))}, after training at {trained}. "
        f"The means at {lengths[-1]}, from low to high: {listed}."
    )


def table(frame: "DataFrame", value: str, across: str = "length", head: str = "at {}") -> "DataFrame":
    """Return a row for each model and a column for each length: the mean ± half of the 95 % interval.

    across, head: another column to spread, and what its values are called at the head of the table.

    Where not all are means over as many seeds, each says over how many.
    """
    means = summary(named(frame), ["name", across], value)
    means["cell"] = mean_cells(means)
    wide = means.pivot(index="name", columns=across, values="cell").reindex(means["name"].unique())
    return wide.fillna("–").rename(columns=head.format).rename_axis(index=None, columns=None)


def _means(frame: "DataFrame", value: str, split: str) -> tuple["DataFrame", "DataFrame"]:
    """Return the named rows of a split, and their means."""
    check_name("split", split, list(frame["split"].unique()))
    rows = named(frame[frame["split"] == split])
    return rows, summary(rows, ["name", "encoding", "trained", "length"], value)


def _looks(means: "DataFrame") -> dict[str, "EncodingStyle"]:
    """Return how each family looks: those of the book, and then others that the means have."""
    from ..figures import STYLE
    from ..figures.style import EncodingStyle

    others = [name for name in dict.fromkeys(means["encoding"].map(family)) if name not in STYLE]
    shapes = zip(others, cycle(OWN_COLORS), cycle(list(STYLE.values())[::-1]), strict=False)
    own = {name: EncodingStyle(name, name, color, like.dash, like.marker) for name, color, like in shapes}
    return dict(STYLE) | own


def _lines(rows: "DataFrame", means: "DataFrame", value: str) -> "Figure":
    """Draw panels one below the other, which leaves room for labels on a phone."""
    from ..figures import STYLE, figure
    from ..figures.style import PAGE

    looks = _looks(means)
    used = dict.fromkeys(means["encoding"].map(family))
    panels = {title: families for title, families in PANELS.items() if used.keys() & set(families)}
    panels |= {name: (name,) for name in used if not any(name in families for families in PANELS.values())}
    height = max(3.2, 0.7 + 1.8 * len(panels))
    fig, axes = figure(5.4, height, nrows=len(panels), sharex=True, sharey=True, squeeze=False)
    lengths, trained = sorted(means["length"].unique()), rows["trained"].iloc[0]
    for ax, (title, families) in zip(axes.flat, panels.items(), strict=True):
        ax.set_title(title)
        ax.axvline(trained, color=PAGE["rule"], zorder=0)
        dashes = {
            key: cycle([s.dash] + [t.dash for t in STYLE.values() if t.dash != s.dash])
            for key, s in looks.items()
        }
        own = {key: next(dashes[key]) for key, s in looks.items() if s.label in set(means["name"])}
        for name, curve in means.groupby("name", sort=False):
            x, mean, key = curve["length"], curve["mean"], family(curve["encoding"].iloc[0])
            if key not in families:
                ax.plot(x, mean, color=PAGE["rule"], linewidth=1, zorder=1)
                continue
            color, dash = looks[key].color, own[key] if name == looks[key].label else next(dashes[key])
            ax.plot(x, mean, label=name, color=color, dashes=dash or (None, None))
            ax.errorbar(x, mean, curve["high"] - mean, fmt="none", ecolor=color, elinewidth=1, capsize=4)
            dots = rows[rows["name"] == name]
            ax.plot(dots["length"], dots[value], "o", color=color, markersize=3.5, markeredgewidth=0)
    ax.set_xscale("log", base=2)
    ax.set_xticks(lengths, [f"{n}\n(training)" if n == trained else n for n in lengths])
    ax.minorticks_off()
    ax.set_xlabel("length in tokens")
    if value.startswith("accuracy"):
        ax.set_ylim(-0.03, 1.05)  # an interval may pass 1, an accuracy may not
    fig.supylabel(UNITS[value], fontsize="medium")
    fig.draw_without_rendering()  # only then is it known where on the paper a line ends
    for ax in axes.flat:
        _label(ax, [x for x in ax.lines if x.get_label()[0] != "_" and x.get_xdata()[-1] == lengths[-1]])
    return fig


def _label(ax: "Axes", lines: list["Line2D"]) -> None:
    """Write the names of lines at their ends, with room between them, and lead from each line to its name."""
    from ..figures import label_line

    points = 72 / ax.figure.dpi
    ends = [ax.transData.transform(line.get_xydata()[-1])[1] * points for line in lines]
    at, order = list(ends), sorted(range(len(lines)), key=ends.__getitem__)
    for _ in range(200):
        for lowest in order[:1]:
            at[lowest] = max(at[lowest], ax.bbox.y0 * points)
        for low, high in pairwise(order):
            push = max(0, GAP - at[high] + at[low]) / 2
            at[low], at[high] = at[low] - push, at[high] + push
    for line, end, height in zip(lines, ends, at, strict=True):
        label_line(line).set_position((16, height - end))
        lead = {"arrowstyle": "-", "color": line.get_color(), "shrinkA": 0, "shrinkB": 3}
        place = {"textcoords": "offset points", "annotation_clip": False, "arrowprops": lead}
        ax.annotate("", line.get_xydata()[-1], (14, height - end), **place)


def _dots(rows: "DataFrame", means: "DataFrame", value: str) -> "Figure":
    from ..figures import figure
    from ..figures.style import PAGE

    looks = _looks(means)
    fig, ax = figure(5.4, 0.9 + 0.27 * len(means))
    if value.startswith("accuracy"):
        chance = TASKS[rows["task"].iloc[0]].chance(means["length"].iloc[0])
        ax.axvline(chance, color=PAGE["ink-2"], linewidth=1, zorder=0)
        ax.annotate("chance", (chance, 1), (5, 4), ("data", "axes fraction"), "offset points")
    for y, mean in enumerate(means.itertuples()):
        style = looks[family(mean.encoding)]
        dots = rows.loc[rows["name"] == mean.name, value]
        ax.errorbar(mean.mean, y, xerr=mean.high - mean.mean, ecolor=style.color, elinewidth=1, capsize=4)
        ax.plot(dots, [y] * len(dots), style.marker, color=style.color, markersize=5, alpha=0.7)
    ax.set_yticks(range(len(means)), means["name"])
    ax.invert_yaxis()
    ax.set_xlabel(f"{UNITS[value]} at length {means['length'].iloc[0]}")
    return fig
