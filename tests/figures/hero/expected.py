"""Reference values for the figures' mathematics, from numpy alone, by routes that the modules do not take.

`python tests/figures/hero/expected.py` writes expected.json.
"""

import json
from pathlib import Path

import numpy as np

JSON = Path(__file__).with_name("expected.json")
FITS = json.loads((JSON.parents[3] / "d2lpos/figures/patch.json").read_text())
UNITS, FIRST, DRAWS = 24, 8, 200_000


def turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def encode(position, dim):
    angle = position * 10_000.0 ** (-np.arange(0, dim, 2) / dim)
    return np.stack([np.sin(angle), np.cos(angle)], 1).ravel()


def board():
    """Tokens in which a pair turns by a radian, as a series from 1 to the base, and in which it gets around."""
    for pair, tokens in enumerate(np.geomspace(1, 100_000, 33)[:32]):
        yield {"pair": pair, "radians": float(1 / tokens), "lap": float(2 * np.pi * tokens)}


def buckets():
    """Places of offsets in whole numbers alone: a bucket begins where a power of the distance reaches another."""
    for kind, count, far, clip in (
        ("causal", 32, 128, 1),
        ("causal", 64, 40, 1),
        ("both", 32, 128, 1),
        ("both", 8, 256, 1),
        ("shaw", 8, 40, 1),
        ("shaw", 8, 40, 32),
    ):
        offsets = range(-127, 1 if kind == "causal" else 128)
        side = count // 2 if kind == "both" else count
        half, found = side // 2, []
        for offset in offsets:
            distance = abs(offset)
            later = [
                m for m in range(half) if distance**half * half**m >= far**m * half**half
            ]  # (distance / half)^half ≥ (far / half)^m
            number = distance if distance < half else half + later[-1]
            found.append(number + side * (kind == "both" and offset > 0))
        if kind == "shaw":
            found = np.clip(np.arange(-127, 128), -clip, clip).tolist()
            found = [number + clip for number in found]
        for length in (20, 64, 128):
            seen = {number for number, offset in zip(found, offsets, strict=True) if abs(offset) < length}
            case = {"kind": kind, "buckets": count, "far": far, "clip": clip, "length": length}
            yield case | {"numbers": found, "fresh": len(set(found) - seen)}


def cliff():
    """Where each remedy takes a position, all positions of a text compared with all. What is not there is []."""
    table = uniform(11, 48).reshape(8, 6)
    for number, remedy in enumerate(("error", "last row", "wrapped", "stretched", "blocks")):
        for length in (8, 9, 20, 32):
            p = np.arange(length, dtype=float)
            rows = {"last row": np.minimum(p, 7), "stretched": np.linspace(0, 7, length)}.get(
                remedy, np.tile(np.arange(8.0), 4)[:length]
            )
            rows = p if length == 8 else rows
            vectors = np.stack([np.interp(rows, np.arange(8), feature) for feature in table.T], 1)
            if remedy == "error":
                vectors[8:] = np.nan
            apart = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
            for q in {0, 3, 7, min(8, length - 1), min(11, length - 1), length - 1}:
                lost = np.isnan(vectors[q, 0])
                alone = lost or q == 0 or (remedy == "blocks" and q % 8 == 0)
                yield {
                    "remedy": number,
                    "length": length,
                    "p": q,
                    "vector": [] if lost else vectors[q].tolist(),
                    "twins": [i for i in range(length) if i != q and apart[q, i] < 1e-9],
                    "gap": [] if alone else [float(apart[q, q - 1])],
                }


def clocks():
    """Codes of positions, and what is alike in two of them, from hands that are complex numbers."""
    for base in (8, 64, 1000, 10_000, 100_000):
        for p, q in ((0, 1), (7, 8), (11.25, 40.5), (31, 32), (63, 2)):
            a, b = (np.exp(1j * x * np.power(float(base), -np.arange(6) / 6)) for x in (p, q))
            hands = np.stack([a.imag, a.real], 1).ravel().tolist()
            case = {"base": base, "p": p, "q": q, "hands": hands, "alike": float((a / b).real.mean())}
            agree = [x == y for x, y in zip(f"{int(p):06b}", f"{int(q):06b}", strict=True)]
            yield case | {"digits": [int(digit) for digit in f"{int(p):06b}"], "agreeing": sum(agree)}


def dial():
    """Scores in the relative form qᵀR((n − m)θ)k, which turns by neither m nor n alone."""
    rng = np.random.default_rng(0)
    for pair in (0, 8, 16, 31):
        theta = float(np.exp(-2 * pair / 64 * np.log(10_000.0)))
        for m, n in ((14, 6), (30, 9), (0, 32), (20, 20)):
            q, k = rng.normal(size=2), rng.normal(size=2)
            score = float(q @ turn((n - m) * theta) @ k)
            case = {"i": pair, "theta": theta, "m": m, "n": n}
            yield case | {"q": q.tolist(), "k": k.tolist(), "score": score}


def dropout():
    """Mean and standard deviation of the similarity of two positions, over draws of masks."""
    rng = np.random.default_rng(1)

    def mask(place, rate):
        if place in ("none", "token"):
            return np.ones((DRAWS, 1))
        return (rng.random((DRAWS, 1 if place == "whole position" else UNITS)) >= rate) / (1 - rate)

    for place in ("none", "sum", "token", "position", "independent", "whole position"):
        for rate in (0.1, 0.2, 0.5):
            for offset in (1, 4, 22):
                x, y = encode(FIRST, UNITS), encode(FIRST + offset, UNITS)
                z = (x * mask(place, rate) * y * mask(place, rate)).sum(1)
                case = {"place": place, "rate": rate, "offset": offset, "n": DRAWS}
                yield case | {"kernel": float(x @ y), "mean": float(z.mean()), "sd": float(z.std())}


def uniform(seed, count):
    """mulberry32, all numbers at once: its state is a counter, so number i needs no number before it."""
    state = (np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * 0x6D2B79F5).astype(np.uint32)
    t = (state ^ state >> 15) * (state | 1)
    t = t + (t ^ t >> 7) * (t | 61) ^ t
    return (t ^ t >> 14) / 2**32


def layer():
    """The fixed layer of shuffle: embeddings of five words, then the projections."""
    sizes = {"words": (5, 8, 1.5), "query": (8, 8, 0.6), "key": (8, 8, 0.6), "value": (8, 4, 0.45)}
    ends = np.cumsum([rows * columns for rows, columns, _ in sizes.values()])
    parts = np.split(2 * uniform(94970, ends[-1]) - 1, ends[:-1])
    return {k: (part * s[2]).reshape(s[:2]) for (k, s), part in zip(sizes.items(), parts, strict=True)}


def gates():
    """Distances and weights from products of gates, and a slope where the distances lie on a line; −1 stands for none."""
    rng = np.random.default_rng(12)
    equal, stop, nouns = np.full(12, np.exp(-0.5)), np.full(12, 0.9), np.ones(12)
    stop[6], nouns[[1, 5, 8, 11]] = 0.02, np.exp(-1)
    drawn = [rng.uniform(0.01, 1, 12) for _ in range(3)]
    zero = drawn[0].copy()
    zero[4] = 0
    named = [("equal", equal), ("stop", stop), ("nouns", nouns)]
    for name, g in [*named, *[("", g) for g in (*drawn, zero, np.ones(12), np.zeros(12), np.full(12, 0.61))]]:
        for query in (11, 8, 6, 1, 0):
            kept = np.array([np.prod(g[j + 1 : query + 1]) for j in range(query + 1)])
            far = [-1.0 if share == 0 else float(-np.log(share)) for share in kept]
            line = query > 0 and min(far) >= 0
            slope = np.polyfit(np.arange(query, -1, -1), far, 1) if line else (-1, 0)
            fits = line and np.allclose(np.polyval(slope, np.arange(query, -1, -1)), far, rtol=0, atol=1e-9)
            case = {"preset": name, "gates": g.tolist(), "query": query, "far": far}
            case["weights"] = (kept / kept.sum()).tolist()
            yield case | {"slope": float(slope[0]) if fits else -1.0}


def patch():
    """Weights of the fits, from turned queries and keys that are complex numbers, and targets in whole half steps."""
    speeds = np.geomspace(1, 10, 9)[:8]
    turns = {
        "axial": np.concatenate([1 / speeds, 1j / speeds]),  # real part: radians per row
        "mixed": np.concatenate([np.exp(0.25j * np.pi * m) / speeds[::2] for m in range(4)]),
    }
    for aim, of in FITS.items():
        for view, row, column in (("8 × 8", 3, 5), ("8 × 8", 0, 7), ("counted", 4, 15), ("to scale", 9, 6)):
            n = 8 if view == "8 × 8" else 16
            halves = np.arange(n) * (1 if view == "to scale" else 2)  # of a step
            down, right = np.meshgrid(halves - halves[row], halves - halves[column], indexing="ij")
            square = down**2 + right**2
            hits = {
                "row": abs(down) < 2,
                "right": (abs(down) < 2) & (right > 0) & (right < 4),
                "diagonal": abs(down - right) < 2,
                "ring": (square >= 25) & (square <= 49),
            }[aim]
            for kind, turn in turns.items():
                a, b = np.array(of[kind])
                angle = lambda y, x, turn=turn: np.multiply.outer(y / 2, turn.real) + np.multiply.outer(x / 2, turn.imag)
                keys = (a - 1j * b) * np.exp(1j * angle(*np.meshgrid(halves, halves, indexing="ij")))
                scores = (np.exp(-1j * angle(halves[row], halves[column])) * keys).real.sum(2)
                shares = np.exp(scores - scores.max())
                shares /= shares.sum()
                case = {"aim": aim, "kind": kind, "view": view, "row": row, "column": column}
                yield case | {
                    "some": shares.ravel()[:: 13 if n == 8 else 61].tolist(),
                    "rows": shares.sum(1).tolist(),
                    "columns": shares.sum(0).tolist(),
                    "hit": [float(shares[hits].sum())] if hits.any() else [],
                    "targets": np.flatnonzero(hits).tolist(),
                }


def shuffle():
    """Weights and outputs by place. The scores come from one bilinear form, xMxᵀ with M = W_q W_kᵀ / √8."""
    tables, rng = layer(), np.random.default_rng(2)
    bilinear = tables["query"] @ tables["key"].T / np.sqrt(8)
    orders = [[0, 1, 2, 3, 4, 5], [0, 5, 2, 3, 4, 1], [5, 4, 3, 2, 1, 0]]
    orders += rng.permuted([range(6)] * 3, axis=1).tolist()
    for order in orders:
        for positions in (False, True):
            for causal in (False, True):
                x = tables["words"][[(0, 1, 2, 3, 0, 4)[word] for word in order]]
                if positions:
                    x = x + np.array([encode(place, 8) for place in range(6)])
                e = np.exp(x @ bilinear @ x.T) * (np.tri(6) if causal else 1)
                weights = e / e.sum(1, keepdims=True)
                outputs = weights @ x @ tables["value"]
                case = {"order": order, "positions": positions, "causal": causal, "weights": weights.tolist()}
                yield case | {"outputs": outputs.tolist(), "mean": outputs.mean(0).tolist()}


def stack():
    """Weights from whole rows of a softmax, and what the last token has heard of from products of who sees whom."""
    keys = {"full": 256, "window": 16, "none": 256}
    for layers in ("window window window window", "window window window none", "none full window full"):
        for length in (32, 33, 61, 62, 100, 256):
            back = np.arange(length)[:, None] - np.arange(length)  # of a key, counted from its query
            for sharper in (0, 1):
                weights, heard, reaches = [], np.eye(length, dtype=bool), []
                for kind in layers.split():
                    sees = (back >= 0) & (back < keys[kind])
                    heard = sees @ heard
                    reaches.append(int(back[-1][heard[-1]].max()))
                    scores = np.where(np.arange(length) == 0, 7.0, 0.0)
                    if sharper and kind != "window":
                        scores *= np.emath.logn(32, max(length, 32))
                    e = np.exp(scores) * sees[-1]
                    unknown = kind == "full" and back[-1].max() > 31
                    weights.append(-1 if unknown else float((e / e.sum())[0]))
                case = {"layers": layers, "length": length, "sharper": sharper}
                yield case | {"weights": weights, "reaches": reaches}


def stretch():
    """What scaling rules divide the frequencies of eight pairs by, after training on 64 tokens, for 512.

    NTK is another base; the ends of YaRN's ramp are found by walking up a longer ladder; Llama's ramp is a
    blend by wavelength.
    """
    pairs, ladder = np.arange(8), np.arange(-40, 40)
    speeds = 10_000.0 ** (-pairs / 8)
    turns = 64 / (2 * np.pi) * 10_000.0 ** (-ladder / 8)
    first, last = max(ladder[turns >= 32].max(), 0), ladder[turns <= 1].min()
    divided = np.interp(pairs, [first, last], [0, 1])
    share = np.interp(64 / (2 * np.pi / speeds), [1, 4], [0, 1])
    for length in (64, 100, 128, 256, 512):
        rules = {
            "as trained": speeds, "linear": speeds / 8, "ntk": (10_000 * 8 ** (16 / 14)) ** (-pairs / 8),
            "dynamic ntk": (10_000 * (length / 64) ** (16 / 14)) ** (-pairs / 8),
            "yarn": divided * speeds / 8 + (1 - divided) * speeds,
            "llama3": (1 - share) * speeds / 8 + share * speeds,
        }
        for rule, new in rules.items():
            turned = 64 * speeds
            fresh = np.flatnonzero((turned < 2 * np.pi) & (length * new > turned * (1 + 1e-6))).tolist()
            past = max([1.0, *(length * new[i] / (64 * speeds[i]) for i in fresh)])
            step = (new / speeds)[64 * speeds >= 2 * np.pi].min()
            case = {"rule": rule, "length": length, "divisors": (speeds / new).tolist(), "unseen": fresh}
            yield case | {"furthest": float(past), "step": float(step)}


def slopes():
    """Slopes by the exponent of the released code, and windows counted on the weights themselves."""
    for heads in (1, 3, 8, 12, 16):
        below = 2 ** (heads.bit_length() - 1)
        series = [(2.0 ** -(2.0 ** (3 - np.log2(n)))) ** np.arange(1, n + 1) for n in (below, 2 * below)]
        released = np.concatenate([series[0], series[1][::2][: heads - below]])
        for paper, slope in ((False, released), (True, np.exp2(-8 * np.arange(1, heads + 1) / heads))):
            for length in (4, 91, 4096):
                weights = np.exp(-slope[:, None] * np.arange(length))
                held = (weights / weights.sum(1, keepdims=True)).cumsum(1)
                windows = (held < 0.99 - 1e-12).sum(1) + 1
                case = {"heads": heads, "paper": paper, "length": length, "slopes": slope.tolist()}
                back, match = length // 3, 5
                weights[:, back] *= np.exp(match)
                shares = (weights[:, back] / weights.sum(1)).tolist()
                case |= {"back": back, "match": match, "shares": shares}
                yield case | {"windows": windows.tolist(), "nearest": held[:, 2].tolist()}


def ranks():
    """Whole matrices of 128 tokens: their offsets, and the pairs that processors compute."""
    tokens = np.arange(128)
    past = tokens[:, None] >= tokens
    true = tokens[:, None] - tokens
    for order in ("01234567", "07162534", "04152637", "57012634", "56240317"):
        place = np.array([order.index(str(chunk)) for chunk in range(8)]).repeat(16)
        row = place * 16 + tokens % 16
        pairs = [int(past[place // 2 == processor].sum()) for processor in range(4)]
        for rule, positions in (("text", tokens), ("row", row), ("each", row % 32)):
            off = past & (positions[:, None] - positions != true)
            at = positions[::16].tolist()
            share = float(off.sum() / (past.sum() - 128))
            astray = off.reshape(8, 16, 8, 16).any((1, 3)).astype(int)[np.tril_indices(8)].tolist()
            case = {"order": order, "rule": rule, "starts": at}
            yield case | {"wrong": share, "astray": astray, "work": pairs}


def main():
    cases = (board, buckets, cliff, clocks, dial, gates, ranks, patch, shuffle, slopes, stack, stretch)
    values = {make.__name__: list(make()) for make in cases} | {
        "encode": {"p": FIRST, "v": encode(FIRST, UNITS).tolist()},
        "drop": list(dropout()),
        "layer": {name: table.tolist() for name, table in layer().items()},
    }
    JSON.write_text(json.dumps(values) + "\n")


if __name__ == "__main__":
    main()
