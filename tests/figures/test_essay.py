"""The essay on the first page: its pictures are current, and it says what they and the records say."""

import csv
import math
import re

import pytest
import torch
import yaml

from book.essay import BOOK, CURVES, KINDS, PICTURES, counted, drawn, toll
from book.story import Story
from d2lpos.figures.lengths import means
from d2lpos.input.sinusoids import frequencies
from d2lpos.lab import frame, records
from d2lpos.lab.plot import named
from d2lpos.pretrained.census import families

ESSAY = (BOOK / "essay.md").read_text("utf-8")
SECONDS = 5  # of a hero's tour, as helpers.js has it
BODY = re.sub(r"```\{raw\}.*?```", "", ESSAY.split("---", 2)[2], flags=re.DOTALL)


def test_the_stored_pictures_are_current():
    pictures = drawn()
    assert {path.stem for path in (BOOK / "figures").glob("*.html")} == set(pictures)
    for name, picture in pictures.items():
        assert (BOOK / "figures" / f"{name}.html").read_text("utf-8") == picture, "run `python -m book.essay`"
        still = picture.split("<script")[0]
        assert not re.search(r"\b(drag|press|click|slider)\b", still, re.IGNORECASE), (
            name
        )  # for pages without scripts


def test_it_is_read_in_ten_minutes_films_included():
    """At 240 words a minute after the first screen, without what is folded, while each film plays once to its end."""
    after = BODY[BODY.index("## Now your own words") :]
    text = re.sub(
        r"<details>.*?</details>|<[^>]+>|\]\([^)]*\)|^[:%][^\n]*|\{\.\w+\}",
        " ",
        after,
        flags=re.DOTALL | re.MULTILINE,
    )
    films = [draw() for draw in PICTURES.values()]
    seconds = [
        (len(film.says) - 1) * sum(film.rhythm) if isinstance(film, Story) else SECONDS for film in films
    ]
    words = len(re.findall(r"[\w’'-]+", text))
    assert words > 1500 and sum(seconds) <= 120 and words / 240 + sum(seconds) / 60 <= 10


def test_it_counts_from_0_as_code_does_and_says_so():
    says("We count from 0, as code does.", "add row 0 to the first word")
    assert re.findall(r">(\d)</text>", PICTURES["rows"]().html()) == [*"01234567"]
    first = (BOOK / "front" / "front.html").read_text("utf-8")
    assert re.findall(r"<circle[^>]*/><text[^>]*>(\d)</text>", first)[:6] == [*"012345"]


def test_the_four_parts_of_a_score_show_as_much_text_as_their_sum():
    strips = re.findall(r'<path d="([^"]+)"[^>]*pathLength', PICTURES["turn"]().html())
    heights = [[float(y) for y in re.findall(r" (\S+?)(?:L|$)", d)] for d in strips]
    ends = [sum((b - a) * (c - b) < 0 for a, b, c in zip(ys, ys[1:], ys[2:], strict=False)) for ys in heights]
    assert ends == [0, 0, 3, 3, 3, 0]  # hills and valleys of the four parts, of their sum, and of what is turned


def says(*words: str) -> None:
    for piece in words:
        assert piece in BODY, piece


def test_what_it_says_of_losses_is_what_the_records_say():
    curves = {name: losses for name, losses in means().items() if name in (*CURVES, "learned")}
    clocks, rope, alibi = (curves[name] for name in ("sinusoidal", "RoPE", "ALiBi"))
    says(f"jumps from {clocks[0]:.1f} to {clocks[1]:.1f} as soon as the text is twice as long")
    says("At a loss of 1.4 a model hesitates among four equally likely characters, at 4.0 among 55.")
    assert rope[0] + 0.3 < rope[1] < 2 and rope[2] > 4  # "gets worse at 128 and fails at 256"
    assert max(alibi) - min(alibi) < 0.05
    worse = [curves[name][-1] for name in ("sinusoidal", "T5", "RoPE")]
    assert curves["none"][0] == max(ends[0] for ends in curves.values()) and curves["none"][-1] < min(worse)
    others = [ends[-1] for name, ends in curves.items() if name not in ("ALiBi", "learned")]
    assert min(others) > alibi[-1] + 1
    runs = named(frame(records("extrapolation")))
    far = runs[(runs["split"] == "test") & (runs["length"] == 512)].groupby("name")["loss_last"].mean()
    assert far["ALiBi, window"] <= far["ALiBi"]  # "reads this novel no worse"
    assert far["RoPE, window"] < far["ALiBi, window"]
    longer = {row["Encoding"]: row for row in csv.DictReader((BOOK / "results" / "readers-test.csv").open())}
    assert abs(float(longer["T5"]["at 512"]) - float(longer["T5"]["at 128"])) < 0.01
    says("(A T5 model that was trained on 128 characters does guess well at 512.)")
    says(f"at 512 its loss is {far['RoPE, window']:.2f}, lower than ALiBi’s")


def test_what_it_says_of_layers_without_a_clock_is_what_the_records_say():
    runs = frame(records("stacks-needle"))
    far = runs[(runs["length"] == 256) & (runs["reading"] == "as trained")].groupby("stack")["accuracy"]
    assert far.min()["3 window, 1 none"] > 0.98 and 0.2 < far.mean()["4 full"] < 0.3
    assert (runs["trained"] == 32).all()
    says("finds nearly every word that it has to find, in texts eight times as long", "finds one in four")


def test_what_it_says_of_256_hands_is_so():
    speeds = frequencies(512).double()
    assert len(speeds) == 256

    def alike(offsets: torch.Tensor) -> torch.Tensor:
        return (offsets.double()[:, None] * speeds).cos().mean(-1)

    assert alike(torch.arange(4, 5000)).max() < alike(torch.tensor([3])).item()
    says("had a row of 256 such hands", "no farther position looks as much like yours as three words back")


def test_what_it_says_of_the_foxes_is_what_the_picture_computes():
    shares = re.findall(r"(\d+) %", toll().alt)
    assert shares == ["35", "59", "13"]
    assert math.exp(1.5) == pytest.approx(4.5, abs=0.05)
    says("each gets 35\u00a0% of the weight", "four and a half times", "59\u00a0% against 13\u00a0%")


def test_what_it_says_of_models_is_what_was_counted():
    known = counted()
    hand = yaml.safe_load((BOOK / "models" / "by-hand.yml").read_text("utf-8"))

    def count(*kinds, years=range(2018, 2027)):
        return sum(known[kind, year] for kind in kinds for year in years)

    since = range(2024, 2027)
    says(f"[{count(*KINDS)} families](models.md)", f"transformers {hand['version']}")
    says(f"In {hand['read']} we read the code")
    turned, every = count("turn", years=since), count(*KINDS, years=since)
    says(
        f"Since 2024, {turned} of {every} families turn",
        f"Of the {every - turned} others, two add numbers to the scores",
    )
    kinds = [count(kind, years=since) for kind in ("some", "none", "bias", "table", "sinusoids")]
    assert kinds == [13, 7, 2, 0, 1]
    says(
        "13 have no position in some attention layers, and seven have none in any.",
        "and one adds clocks to the words.",
    )
    rows = [
        (count("some", "none", years=[year]), count(*KINDS, years=[year]), year)
        for year in (2024, 2025, 2026)
    ]
    says(
        "in {} of {} families of {}, {} of {} of {}, and {} of {} of {}.".format(
            *(n for row in rows for n in row)
        )
    )
    late = {
        row["family"]: row["encoding"] for row in families() if row["kind"] == "bias" and row["year"] > "2022"
    }
    assert list(late) == ["mpt", "inkling", "inkling2"] and late["mpt"] == "ALiBi"
