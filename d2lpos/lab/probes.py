"""The studies of trained models: their questions, their probes, and what does them."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import product
from typing import Any

import torch

from ..runtime.threads import one_thread
from . import real, real_tables, reuse, shift
from .apart import apart
from .bits import bits
from .drafts import drafts
from .eviction import eviction
from .machine import forget_peak, machine, peak_bytes
from .packed import packed, packed_shift
from .passages import WRITTEN
from .probe import DTYPES, Probe, loaded, weights
from .real_both import both
from .real_inside import inside
from .real_openings import AFTER, openings
from .real_table import table
from .studies import Study
from .tuned import draft_heads, yarn_served

__all__ = ["PROBES", "run_probe"]


def every(study: str, *parts: str, texts: Iterable[str] = WRITTEN, **how: object) -> tuple[Probe, ...]:
    return tuple(Probe(study, part, text=text, **how) for text in texts for part in parts or ("",))


LAYERS = tuple(f"layer {n}" for n in range(30))
READER = {"model": "characters", "texts": ("pride",)}
TINY = {"model": "stand-in", "length": 32, "texts": ("rule",)}
NOVELS_AND_CODE = ("persuasion", "pride", "code")
NEEDLED = ("as trained", "ntk", "yarn", "linear", "window and 4 first", "sharper")
# The modes in which each text is read
CHIEF = ("as trained", "yarn", "ntk", "linear", "window", "window and 4 first")
SERVED = ("persuasion", "rule", "code")

PROBES = {
    "real-layout": Study(
        "A file whose pairs are neighbors is turned as halves: what does a trained model lose?",
        every("real-layout"),
        every("real-layout", **TINY),
        rows=real.layout,
    ),
    "real-positions": Study(
        "Which property of 0, 1, 2, … does a trained model need?",
        every("real-positions"),
        every("real-positions", **TINY),
        rows=real.placed,
    ),
    "real-positions-bfloat16": Study(
        "Which property of 0, 1, 2, … does a trained model need, when it computes in bfloat16?",
        every("real-positions-bfloat16", dtype="bfloat16"),
        every("real-positions-bfloat16", dtype="bfloat16", **TINY),
        rows=real.placed,
    ),
    "real-heads": Study(
        "Which heads look one back, which at the first token, and which pairs make them?",
        every("real-heads"),
        every("real-heads", **TINY),
        rows=real.heads,
    ),
    "real-board": Study(
        "Of 30 layers of 32 pairs, which does a trained model use, at 512 tokens?",
        every("real-board", "columns", *LAYERS, texts=("persuasion",)),
        every("real-board", "columns", "layer 1", **TINY),
        rows=real.board,
    ),
    "real-parts": Study(
        "Which pairs does it use in more passages, and in code?",
        every("real-parts", "columns", texts=NOVELS_AND_CODE, dtype="bfloat16"),
        every("real-parts", "columns", **TINY),
        rows=real.board,
    ),
    "real-layers": Study(
        "Which layers does it use in more passages, and in code?",
        every("real-layers", "layers", texts=NOVELS_AND_CODE, dtype="bfloat16"),
        every("real-layers", "layers", **TINY),
        rows=real.board,
    ),
    "real-bands": Study(
        "Which bands of pairs does it use at 512 tokens, and which at 8,192?",
        (
            *every("real-bands", "bands", texts=NOVELS_AND_CODE, dtype="bfloat16"),
            *every("real-bands", "slow bands", texts=("code",), dtype="bfloat16", length=8192),
            *every("real-bands", "bands", texts=("persuasion", "pride"), dtype="bfloat16", length=8192),
        ),
        every("real-bands", "bands", **TINY),
        rows=real.board,
    ),
    "real-inside": Study(
        "What chapters show on one passage: is it so on fifteen, in two novels and in code?",
        (
            *every("real-inside", "together", "paces", texts=NOVELS_AND_CODE, dtype="bfloat16"),
            *every("real-inside", "alone", "sinks", texts=NOVELS_AND_CODE, dtype="bfloat16", length=256),
        ),
        every("real-inside", "together", "alone", "sinks", "paces", **TINY),
        rows=inside,
    ),
    "real-both": Study(
        "What chapters say of SmolLM2: does it hold of a second model, Gemma 3 270M?",
        tuple(
            Probe("real-both", part, model, text, length=2048 if part == "longer" else 256, dtype="bfloat16")
            for model in ("smollm2", "gemma3")
            for text, part in product(NOVELS_AND_CODE, ("turns", "layers", "looks", "more", "longer"))
        ),
        every("real-both", "turns", "layers", "looks", "more", "longer", **TINY),
        rows=both,
    ),
    "real-openings": Study(
        "Passages of novels begin with a heading: where are the sinks without it?",
        every("real-openings", *AFTER, texts=NOVELS_AND_CODE, dtype="bfloat16", length=256),
        every("real-openings", *AFTER, **TINY),
        rows=openings,
    ),
    "real-sentence": Study(
        "How does a sentence go on, when a part of the clockwork stands still?",
        every("real-sentence", "columns", *LAYERS, texts=("rule",)),
        every("real-sentence", "columns", "layer 1", **TINY),
        rows=real.sentence,
    ),
    "real-length": Study(
        "Set up for 8,192 tokens, how well does a model read 16,384?",
        (
            *every("real-length", *real.EVAL_MODES, texts=("persuasion", "rule"), dtype="bfloat16", length=16384),
            *every("real-length", *CHIEF, texts=("pride", "code"), dtype="bfloat16", length=16384),
        ),
        every("real-length", "yarn", "window and 4 first", **TINY),
        rows=real.length,
    ),
    "real-needles": Study(
        "Numbers are hidden in a novel: does a trained model find them at twice its length?",
        tuple(
            Probe("real-needles", mode, text=text, dtype="bfloat16", length=length)
            for modes, texts, lengths in (
                *(((mode,), ("persuasion",), (1024, 4096, 8192, 16384)) for mode in NEEDLED),
                (("ntk", "yarn"), ("pride", "code"), (8192, 16384)),
                (("as trained", "linear", "yarn"), ("pride", "code"), (1024,)),
            )
            for length, text, mode in product(lengths, texts, modes)
        ),
        every("real-needles", "yarn", **TINY | {"length": 640}),
        rows=real.needles,
    ),
    "real-sink": Study(
        "The first four tokens stand far away from a text with numbers hidden in it: does a model still find them?",
        every("real-sink", texts=("persuasion", "pride", "code"), dtype="bfloat16", length=1024),
        every("real-sink", **TINY | {"length": 640}),
        rows=real.sink,
    ),
    "real-reuse": Study(
        "A document is read alone and its keys are used behind a prompt: what is lost, and what brings it back?",
        (
            *every("real-reuse", "one piece", texts=NOVELS_AND_CODE, length=128),
            *every("real-reuse", "one piece", "four pieces", texts=NOVELS_AND_CODE, length=512),
        ),
        every("real-reuse", "one piece", "four pieces", **TINY | {"length": 640}),
        rows=reuse.reuse,
    ),
    "real-apart": Study(
        "Pieces of a document are read apart: what do other people's methods lose, and where does the weight go?",
        every("real-apart", "four pieces", texts=NOVELS_AND_CODE),
        every("real-apart", "four pieces", **TINY | {"length": 640}),
        rows=apart,
    ),
    "real-shift": Study(
        "A full cache drops its older half and moves up: what is lost, and what does it cost to turn keys often?",
        every("real-shift", texts=NOVELS_AND_CODE),
        every("real-shift", **TINY | {"length": 192}),
        rows=shift.shift,
    ),
    "real-bits": Study(
        "A cache keeps keys in few bits: does it matter whether they are rounded before they turn or after?",
        tuple(one for dtype in DTYPES for one in every("real-bits", texts=SERVED, dtype=dtype, length=256)),
        every("real-bits", **TINY),
        rows=bits,
    ),
    "real-packed": Study(
        "A cache keeps keys in fp8, or in llama.cpp's blocks: what does it cost?",
        every("real-packed", texts=SERVED, dtype="bfloat16", length=256),
        every("real-packed", **TINY),
        rows=packed,
    ),
    "real-packed-shift": Study(
        "Packed keys turn when a full cache moves up: how often can they?",
        every("real-packed-shift", texts=NOVELS_AND_CODE, length=256),
        every("real-packed-shift", **TINY | {"length": 192}),
        rows=packed_shift,
    ),
    "real-drafts": Study(
        "A draft of the model itself stands one place off: how many of its tokens are accepted?",
        every("real-drafts", texts=SERVED, length=192),
        every("real-drafts", **TINY),
        rows=drafts,
    ),
    "real-eviction": Study(
        "A cache drops keys by what has looked at them: what is lost, and where must new tokens stand?",
        every("real-eviction", texts=NOVELS_AND_CODE, length=1024),
        every("real-eviction", **TINY | {"length": 640}),
        rows=eviction,
    ),
    "draft-heads": Study(
        "A head that drafts runs at another base, stretch, table or place than in training: how much is accepted?",
        every("draft-heads", "EAGLE", "MTP", length=128, **READER),
        every("draft-heads", "EAGLE", length=32, **READER),
        rows=draft_heads,
    ),
    "yarn-served": Study(
        "Tuned with YaRN or without, read with it or without: what does each pair lose?",
        every("yarn-served", length=512, **READER),
        every("yarn-served", length=128, **READER),
        rows=yarn_served,
    ),
    "real-table": Study(
        "What does a trained table remember, and what do vectors of sentences know of order?",
        (Probe("real-table", model="minilm"),),
        (),
        rows=table,
    ),
    "real-tables": Study(
        "What small learned tables do, does Whisper's table of 448 rows do it, too?",
        (
            *every("real-tables", texts=NOVELS_AND_CODE, model="whisper", length=real_tables.TEXT),
            *every("real-tables", "past", texts=NOVELS_AND_CODE, model="whisper", length=3 * real_tables.TEXT),
        ),
        (),
        rows=real_tables.tables,
    ),
    "real-reactions": Study(
        "ALBERT reads reactions at rows that few of them reach: what does it lose?",
        every("real-reactions", texts=("reactions",), model="albert"),
        (),
        rows=real_tables.reactions,
    ),
    "real-rows": Study(
        "What do the rows of Whisper's and ALBERT's tables look like?",
        (Probe("real-rows", model="whisper"), Probe("real-rows", model="albert")),
        (),
        rows=real_tables.rows,
    ),
}
"""The studies of trained models by name.

>>> PROBES["real-board"].full[1].part
'layer 0'
"""


def run_probe(probe: Probe, device: str = "cpu") -> dict[str, Any]:
    """Run one probe on one thread, and return its record.

    >>> record = run_probe(Probe("real-layout", model="stand-in"))
    >>> record["rows"][0]["case"]
    'neighbors, turned so'
    """
    started = datetime.now(UTC)
    with one_thread(), torch.no_grad():
        about = machine(device)
        loaded(probe.model, probe.dtype, device)  # outside the time that the record tells
        forget_peak(device)
        clock = time.perf_counter()
        rows = PROBES[probe.study].rows(probe, device)
    return {
        "key": probe.key,
        "run": probe.fields(),
        "weights": weights(probe.model),
        "rows": rows,
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - clock, 2),
        "peak_bytes": peak_bytes(device),
        "machine": about,
    }
