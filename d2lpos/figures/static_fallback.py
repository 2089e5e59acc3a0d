"""What stands of a hero where scripts do not run: its picture in one state, as SVG, or its numbers as a table."""

from collections.abc import Iterator
from itertools import islice
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import LogNorm
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import Tensor

from ..bias.alibi import slopes as slopes_of
from ..bias.t5 import bucket
from ..input.sinusoids import sinusoidal
from ..offset.shaw import clipped_index
from ..transformer.attention import attention_weights, causal_mask
from .board import numbers, slow
from .gates import PRESETS, SENTENCE, distances
from .grid import table_of_view
from .patch import HEADINGS, aimed, number, parts, places, side
from .patch import weights as looks
from .ranks import CHUNKS, SIZE, loss, starts, ways, work
from .show import picture, show
from .stack import TRAINED, WINDOW, found, percent, reach
from .stack import numbers as stacks
from .stack import weight as given
from .style import STYLE, figure, tint

WORDS = ("the", "fox", "jumps", "over", "the", "dog")
PLACES = ("none", "token", "sum", "position", "independent", "whole position")


def uniform(seed: int) -> Iterator[float]:
    """The numbers in [0, 1) that `random(seed)` of the modules gives (mulberry32)."""
    word = 0xFFFFFFFF
    while True:
        seed = (seed + 0x6D2B79F5) & word
        t = (seed ^ seed >> 15) * (seed | 1) & word
        t = (t + (t ^ t >> 7) * (t | 61) & word) ^ t
        yield ((t ^ t >> 14) & word) / 2**32


def drawn(seed: int, *shape: int) -> list[Tensor]:
    """Tables of random numbers, all from one stream; `shape` has rows and columns of each, one after the other."""
    stream = uniform(seed)
    pairs = zip(shape[::2], shape[1::2], strict=True)
    return [torch.tensor(list(islice(stream, m * n)), dtype=torch.float64).reshape(m, n) for m, n in pairs]


def noise(place: str, rate: float, a: Tensor, b: Tensor) -> Tensor:
    """Standard deviation of the product a·b under dropout of its units; (…,) for a and b (…, units)."""
    units = a * b
    if place == "whole position":
        units = units.sum(-1, keepdim=True)
    return ((1 / (1 - rate) ** 2 - 1) * units.square().sum(-1)).sqrt() * (place not in ("none", "token"))


def board(alt: str, layer: int | None, pair: int | None, still: str | None) -> str:
    """The rise of the loss for each pair of each layer; at the right of a layer, and below a pair, for all of them."""
    data = numbers()
    rises = [[cell[0] for cell in row] for row in (*data["cells"], data["columns"])]
    ends = [cell[0] for cell in (*data["rows"], data["none"])]
    found = torch.tensor([[*row, end] for row, end in zip(rises, ends, strict=True)]) / 10_000
    layers, pairs = len(data["rows"]), len(data["columns"])
    fig, ax = figure(4.2, 4.0)
    norm = LogNorm(0.0005, found.max().item())  # from below what is drawn, so that all of it is seen
    for sign, key in ((1, "rope"), (-1, "none")):
        shown = (sign * found).masked_fill(sign * found < 0.002, torch.nan).numpy()
        image = ax.imshow(shown, cmap=STYLE[key].cmap, norm=norm, aspect="auto")
        if sign > 0:
            bar = fig.colorbar(image, label="rise of the loss, nats a token (gray: it falls)", format="%g")
            bar.ax.set_ylim(0.002, found.max().item())
    if (layer, pair, still) != (None, None, None):
        corner = (-0.5 if pair is None else pair - 0.5, -0.5 if layer is None else layer - 0.5)
        sides = (pairs + 1 if pair is None else 1, layers + 1 if layer is None else 1)
        ax.add_patch(plt.Rectangle(corner, *sides, fill=False, linewidth=2))
    ax.axvline(slow() - 0.5, color="black", dashes=(3, 2), linewidth=1)
    ax.axvline(pairs - 0.5, color="black", linewidth=0.6)
    ax.axhline(layers - 0.5, color="black", linewidth=0.6)
    ax.set(xlabel="pair", ylabel="layer", xticks=(0, 8, 16, 24, pairs), yticks=(0, 8, 16, 24, layers))
    ax.set_xticklabels((0, 8, 16, 24, "all"))
    ax.set_yticklabels((0, 8, 16, 24, "all"))
    return show(fig, alt).svg


def buckets(alt: str, kind: str, buckets: int, max_distance: int, clip: int, length: int, offset: int) -> str:
    """The bias matrix of 128 tokens: the nearer, the darker; blank where no text of training came."""
    places = torch.arange(128)
    offsets = places - places[:, None]
    if kind == "shaw":
        found = clipped_index(offsets, clip)
    else:
        found = bucket(offsets, buckets, max_distance, bidirectional=kind == "both")
    near = torch.zeros(int(found.max()) + 1).scatter_reduce(
        0, found.flatten(), offsets.abs().flatten().float(), "amin", include_self=False
    )
    ranks = near.unique(return_inverse=True)[1]
    shades = (0.92 - 0.82 * ranks / ranks.max())[found]
    hidden = (near >= length)[found] | ((offsets > 0) if kind == "causal" else torch.zeros(128, 128).bool())
    fig, ax = figure(3.6, 3.2)
    ax.imshow(shades.masked_fill(hidden, torch.nan).numpy(), cmap=STYLE["relative"].cmap, vmin=0, vmax=1)
    ax.set(xlabel="key", ylabel="query", xticks=(0, 64, 127), yticks=(0, 64, 127))
    return show(fig, alt).svg


def cliff(alt: str, p: int, length: int, remedy: str) -> str:
    """The table of eight rows, and below it the vector of each position of the text."""
    [table] = drawn(11, 8, 6)
    rows = torch.arange(length)
    rows = {
        "last row": rows.clamp(max=7),
        "stretched": torch.linspace(0, 7, max(length, 8))[:length],
    }.get(remedy, rows % 8)
    low = rows.long().clamp(max=6)
    vectors = torch.lerp(table[low], table[low + 1], (rows - low)[:, None].double())
    if remedy == "error":
        vectors[8:] = torch.nan
    fig, axes = figure(4.2, 2.3, nrows=2, sharex=True)
    for ax, cells, name in zip(axes, (table, vectors), ("table", "text"), strict=True):
        ax.imshow(cells.T.numpy(), cmap=STYLE["learned"].cmap, vmin=0, vmax=1, aspect="auto")
        ax.axvline(7.5, color="black", dashes=(3, 2), linewidth=1)
        ax.set(ylabel=name, yticks=(), xlim=(-0.5, length - 0.5))
    axes[0].text(8, 3, "no more rows")
    axes[1].add_patch(plt.Rectangle((min(p, length - 1) - 0.5, -0.5), 1, 6, fill=False, linewidth=2))
    axes[1].set(xlabel="position")
    return show(fig, alt).svg


def clocks(alt: str, p: int, mode: str, base: int, plain: bool) -> str:
    """The code of every position, a row for each wheel, and how alike it is to that of p; plain, the hands instead."""
    if plain:
        return row_of_clocks(alt, p, base)
    at = torch.arange(0, 64, 0.5, dtype=torch.float64)
    if mode == "clocks":
        codes = sinusoidal(torch.cat([at, torch.tensor([p])]), 12, base)
    else:
        codes = torch.cat([at, torch.tensor([p])]).long()[:, None] >> torch.arange(6).repeat_interleave(2) & 1
        codes = 2.0 * codes - 1
    fig, axes = figure(4.2, 4.2, nrows=7, sharex=True, height_ratios=[1] * 6 + [2])
    color = STYLE["sinusoidal" if mode == "clocks" else "none"].color
    for wheel, ax in enumerate(axes[:6]):
        for column, dashes in ((2 * wheel, (3, 2)), (2 * wheel + 1, ())):
            ax.plot(at, codes[:-1, column], color=color, dashes=dashes, linewidth=1.4)
        ax.axis("off")
    alike = codes[:-1] @ codes[-1] / 6 if mode == "clocks" else codes[:-1] @ codes[-1] / 12
    axes[6].plot(at, alike, color=color)
    axes[6].set(xlabel="position", ylim=(-1.05, 1.05), yticks=(-1, 0, 1), title=f"similarity to position {p}")
    for ax in axes:
        ax.axvline(p, color="black", linewidth=0.8)
    return show(fig, alt).svg


def row_of_clocks(alt: str, p: int, base: int) -> str:
    """The hands at p, and how alike the clocks of every position are to them."""
    at, color = torch.arange(0, 63.5, 0.5, dtype=torch.float64), STYLE["sinusoidal"].color
    *codes, here = sinusoidal(torch.cat([at, torch.tensor([p])]), 12, base)
    fig, (dials, hill) = figure(4.2, 3.4, nrows=2, height_ratios=[1, 2.6])
    for clock, (right, up) in enumerate(here.unflatten(0, (6, 2)).tolist()):
        dials.add_patch(plt.Circle((2.4 * clock, 0), 1, fill=False, linewidth=0.8))
        dials.plot([2.4 * clock, 2.4 * clock + right], [0, up], color=color, linewidth=2.5)
    dials.set(xlim=(-1.1, 13.1), ylim=(-1.1, 1.1), aspect="equal", title=f"hands at position {p}")
    dials.axis("off")
    alike = torch.stack(codes) @ here / 6
    hill.fill_between(at, alike, color=color, alpha=0.14)
    hill.plot(at, alike, color=color)
    hill.axvline(p, color="black", linewidth=0.8)
    hill.set(yticks=(0, 1), yticklabels=("not alike", "alike"), ylim=(-0.6, 1.05))
    hill.set(xlabel="position in the text", title="How alike are the clocks of other positions?")
    return show(fig, alt).svg


def dial(alt: str, m: int, n: int, pair: int, lock: bool) -> str:
    """The hands of query and key, and the curve of their score with its point."""
    omega = 10_000 ** (-2 * 8 * pair / 64)
    round_ = torch.linspace(0, 2 * torch.pi, 73)
    offsets = torch.linspace(-32, 32, 257)
    fig, (face, curve) = figure(4.2, 2.2, ncols=2)
    color = STYLE["rope"].color
    face.plot(round_.cos(), round_.sin(), color="black", linewidth=0.6)
    for name, position in (("q", m), ("k", n)):
        x, y = torch.tensor(position * omega).cos().item(), torch.tensor(position * omega).sin().item()
        face.plot([0, x], [0, y], color=color, linewidth=2.5)
        face.text(1.17 * x, 1.17 * y, name, ha="center", va="center")
    face.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    face.axis("off")
    curve.plot(offsets, (offsets * omega).cos(), color=color)
    curve.plot(n - m, torch.tensor((n - m) * omega).cos(), "o", color=color)
    curve.set(xlabel="n − m", title="score", xticks=(-32, 0, 32), yticks=(-1, 0, 1), ylim=(-1.05, 1.05))
    return show(fig, alt).svg


def dropout(alt: str, place: str, rate: float, offset: int, seed: int) -> str:
    """Mean and noise of the similarity of positions, a panel for each place."""
    offsets = torch.arange(1.0, 33)
    a, b = sinusoidal(torch.tensor(8.0), 24), sinusoidal(8 + offsets, 24)
    mean, color = b @ a, STYLE["sinusoidal"].color
    fig, axes = figure(4.2, 3.2, nrows=2, ncols=3, sharex=True, sharey=True)
    axes[1, 1].set_xlabel("offset Δ")
    for ax, name in zip(axes.flat, PLACES, strict=True):
        apart = noise(name, rate, a, b)
        ax.fill_between(offsets, mean - apart, mean + apart, color=color, alpha=0.25, linewidth=0)
        ax.plot(offsets, mean, color=color)
        ax.set_title(name, fontweight="bold" if name == place else "normal")
        ax.set(xticks=(1, 32), yticks=(0, 10, 20))
    return show(fig, alt).svg


def gates(alt: str, gates: str, query: int, word: int) -> str:
    """The words at their distances, and ALiBi's line from the query to the first of them; below, gates and weights."""
    far, places = distances(PRESETS[gates], query), torch.arange(query + 1)
    fig, (ruler, gate, weight) = figure(4.2, 5.0, nrows=3, height_ratios=[5, 1, 1])
    if query:
        ruler.plot([far[0], 0], [0, query], color=STYLE["alibi"].color)
    ruler.step(far, places, where="pre", color="black", linewidth=3, alpha=0.45)
    ruler.plot(far, places, "o", color="black", markersize=4)
    ruler.plot(far[word], word, "o", color="black", markersize=9, fillstyle="none")
    for name, x, y in zip(SENTENCE, far.tolist(), places, strict=False):
        ruler.annotate(name, (x, y), (6, 0), textcoords="offset points")
    ruler.set(xlim=(max(6.0, far[0]) + 0.2, -0.6), ylim=(11.6, -0.6), yticks=())
    ruler.set_title(f"distance from “{SENTENCE[query]}” (line: ALiBi with the mean slope)")
    ruler.spines.left.set_visible(False)
    heights = {gate: PRESETS[gates], weight: (-far).softmax(-1).tolist()}
    for (ax, values), title in zip(heights.items(), ("gate", "weight"), strict=True):
        ax.bar(SENTENCE[: len(values)], values, color="black", alpha=0.45)
        ax.set(title=title, xlim=(-0.6, 11.6), ylim=(0, 1), yticks=(0, 1))
    weight.set_xticks([])
    return show(fig, alt).svg


def grid(alt: str, **view) -> str:
    return table_of_view(**view)


def patch(alt: str, target: str, view: str, row: int, column: int) -> str:
    """What each patch gets of the attention of the ringed one, with the target's patches in outline."""
    n, at, query = side(view), places(view), number(view, row, column)
    aims = aimed(target, at - at[query])
    shares = [looks(kind, target, view, query) for kind in HEADINGS]
    fig, axes = figure(4.2, 2.3, ncols=2)
    for ax, kind, share in zip(axes, HEADINGS, shares, strict=True):
        ax.imshow(share.view(n, n).numpy(), cmap=STYLE["rope"].cmap, vmin=0, vmax=torch.stack(shares).max().item())
        corners = torch.tensor([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) * 0.84 - 0.42
        middles = torch.stack([aims.nonzero() % n, aims.nonzero() // n], dim=-1)
        frames = [Path(corners + middle, closed=True) for middle in middles.squeeze(1)]
        if frames:
            ax.add_patch(PathPatch(Path.make_compound_path(*frames), fill=False, linewidth=0.6))
        ax.add_patch(plt.Circle((query % n, query // n), 0.28, fill=False, linewidth=1.8))
        title = f"{kind}: {parts(share[aims].sum())} on target" if aims.any() else kind
        ends = ([-0.5, (n - 1) / 2, n - 0.5], ("−1", "0", "1")) if view == "to scale" else ([0, n - 1],) * 2
        ax.set(title=title, xticks=ends[0], yticks=ends[0], xticklabels=ends[1], yticklabels=ends[1])
    return show(fig, alt).svg


def ranks(alt: str, order: list[int], rule: str) -> str:
    """The chunks with a clock each, the work of the processors, and the loss among those of all ways to deal."""
    fig, (row, load, scale) = figure(5.0, 4.2, nrows=3, height_ratios=[3, 2, 2])
    color, speed, at = STYLE["rope"].color, 10_000 ** (-6 / 16), starts(order, rule)
    for place, chunk in enumerate(order):
        right = SIZE * chunk == at[chunk]
        hue, x = "black" if right else color, place + 0.12 * (place // 2)
        hand, tick = (torch.tensor(speed * p) for p in (at[chunk], SIZE * chunk))
        row.add_patch(plt.Circle((x, 0), 0.4, fill=False, edgecolor=hue, linewidth=0.8 if right else 2))
        row.plot([x, x + 0.34 * hand.sin()], [0, 0.34 * hand.cos()], color=hue, linewidth=2.5)
        ends = torch.tensor([0.3, 0.5])
        row.plot(x + ends * tick.sin(), ends * tick.cos(), color="black")
        row.text(x, 0.62, chunk, ha="center", fontweight="bold")
        row.text(x, -0.6, f"{at[chunk]}" if right else f"{at[chunk]}\n≠ {SIZE * chunk}", ha="center", va="top")
    for n in range(4):
        row.text(2.12 * n + 0.5, 1.1, f"processor {n}", ha="center")
    row.set(xlim=(-0.5, 7.9), ylim=(-1.3, 1.3), aspect="equal")
    row.axis("off")
    load.barh(range(4), work(order), 0.6, color="black", alpha=0.35)
    load.axvline(sum(work(order)) / 4, color="black", dashes=(3, 2), linewidth=1)
    load.set(yticks=range(4), ylabel="processor", ylim=(3.6, -0.6))
    load.set(xlim=(0, 3700), title="pairs to compute")
    found = [loss(way, rule) for way in ways(range(CHUNKS))]
    scale.hist(found, bins=[0.995 + 0.05 * n for n in range(51)], color="black", alpha=0.3)
    scale.axvline(loss(order, "text"), color="black", dashes=(3, 2), linewidth=1)
    scale.axvline(loss(order, rule), color="black", linewidth=2.5)
    scale.set(xlim=(1, 3.5), yticks=(), xlabel="loss, in nats, of all ways to deal the chunks")
    return show(fig, alt).svg


def shuffle(alt: str, order: list[int], positions: bool, causal: bool, seed: int) -> str:
    """The attention matrix."""
    words, query, key = (
        size * (2 * table - 1)
        for table, size in zip(drawn(94970, 5, 8, 8, 8, 8, 8), (1.5, 0.6, 0.6), strict=True)
    )
    place = torch.arange(6).double()
    x = words[[0 if word == 4 else min(word, 4) for word in order]] + positions * sinusoidal(place, 8)
    mask = causal_mask(place, place) if causal else None
    weights = attention_weights((x @ query)[None, None], (x @ key)[None, None], place, place, mask=mask)[0, 0]

    cell, left, top = 46, 52, 24
    marks = []
    for i, word in enumerate(order):
        middle = (i + 0.5) * cell
        name = f'style="fill:{tint(WORDS[word])}">{WORDS[word]}</text>'
        marks.append(f'<text x="{left + middle:g}" y="{top - 8}" text-anchor="middle" {name}')
        marks.append(f'<text x="{left - 8}" y="{top + middle + 5:g}" text-anchor="end" {name}')
        for j, weight in enumerate(weights[i].tolist()):
            side = 42 * weight**0.5
            corner = f'x="{left + (j + 0.5) * cell - side / 2:.1f}" y="{top + middle - side / 2:.1f}"'
            marks.append(f'<rect {corner} width="{side:.1f}" height="{side:.1f}"/>')
    size = (left + 6 * cell, top + 6 * cell)
    return picture('<g font-size="14">\n' + "\n".join(marks) + "\n</g>", alt, size, size).svg


def slopes(alt: str, heads: int, length: int, rule: str, back: int, match: int) -> str:
    """The weights of each head when all words are alike, and the share that the word takes which matches."""
    keys = torch.arange(length).double()
    fig, axes = figure(4.2, 0.35 * heads + 0.7, nrows=heads, sharex=True, squeeze=False)
    for ax, slope in zip(axes.flat, slopes_of(heads, rule).tolist(), strict=True):
        scores = -slope * keys
        shown = torch.logspace(0, 12, 97, base=2).clamp(max=length).unique()
        ax.fill_between(shown, (-slope * (shown - 1)).exp(), color=STYLE["alibi"].color, alpha=0.55)
        if back < length:
            scores[back] += match
            share = scores.softmax(0)[back].item()
            ax.plot([back, back], [0, share], color="black", linewidth=5, solid_capstyle="butt")
            ax.text(1.01, 0, f"{100 * share:.0f} %", transform=ax.transAxes)
        ax.text(-0.01, 0, f"1/{1 / slope:.3g}", transform=ax.transAxes, ha="right")
        ax.set(xscale="log", xlim=(1, 4096), ylim=(0, 1), yticks=())
        ax.tick_params("x", which="both", length=0)
        ax.spines.left.set_visible(False)
    ticks = (1, 8, 64, 512, 4096)
    ax.set(xlabel="keys counted back from the query", xticks=ticks, xticklabels=ticks)
    ax.minorticks_off()
    return show(fig, alt).svg


def stack(alt: str, layers: list[str], sharper: bool, length: int, record: bool) -> str:
    """What the last token sees in each layer; below it, with a record, the shares of needles that trained stacks found."""
    if record:
        fig, (text, share) = figure(4.2, 4.0, nrows=2, sharex=True, height_ratios=[2, 3])
    else:
        fig, text = figure(4.2, 1.8)
    for y, (kind, far) in enumerate(zip(layers, reach(layers, length), strict=True)):
        near = {"full": min(length, TRAINED), "window": WINDOW, "none": length}[kind]
        color = STYLE["none" if kind == "none" else "rope"].color
        text.barh(y, length, 0.6, color="none", edgecolor="black", linewidth=0.6)
        text.barh(y, far + 1, 0.6, length - 1 - far, color=color, alpha=0.22)
        text.barh(y, near, 0.6, length - near, color=color)
        if kind == "full" and near < length:  # angles that training never showed
            text.plot([0, length - near], [y, y], color=color, linewidth=11, dashes=(0.2, 0.3))
    shares = [given(kind, length, sharper) for kind in layers]
    labels = [f"{kind} {'?' if v is None else percent(v)}" for kind, v in zip(layers, shares, strict=True)]
    text.set(yticks=range(4), yticklabels=labels, ylim=(3.6, -0.6), title="what the last token sees")
    if not record:
        text.set(xlim=(0, 262), xticks=stacks()["lengths"], xlabel="tokens of the text")
        return show(fig, alt).svg

    lengths = stacks()["lengths"]
    for one in stacks()["stacks"]:
        means = [fmean(row) for row in found(one["layers"], sharper)]
        here = one["layers"] == list(layers)
        share.plot(lengths, means, color="black", linewidth=2 if here else 0.8, alpha=1 if here else 0.35)
    for n, seeds in zip(lengths, found(layers, sharper) or [[]] * len(lengths), strict=True):
        share.plot([n] * len(seeds), seeds, "o", color="black", markersize=4, fillstyle="none")
    share.set(
        xlim=(0, 262), ylim=(0, 1.03), xticks=lengths, yticks=(0, 0.5, 1), yticklabels=("0", "50 %", "100 %")
    )
    share.set(xlabel="tokens of the text", title="share of needles found")
    return show(fig, alt).svg


# What `hero` puts below the words, from the words and the figure's options.
STILL = {
    "board": board,
    "buckets": buckets,
    "cliff": cliff,
    "clocks": clocks,
    "dial": dial,
    "dropout": dropout,
    "gates": gates,
    "grid": grid,
    "patch": patch,
    "ranks": ranks,
    "shuffle": shuffle,
    "slopes": slopes,
    "stack": stack,
}
