"""The studies of trained models, on a tiny stand-in; what is published of them is what their records say."""

import math
import re
import time
from dataclasses import replace
from hashlib import sha256
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import nn

from d2lpos import Encoding, RoPE
from d2lpos.lab import PROBES, Probe, Store, mean_ci, passages, records, run_probe
from d2lpos.lab.__main__ import main
from d2lpos.lab.observed import board_data, texts
from d2lpos.lab.passages import made, passage
from d2lpos.lab.probe import encoder, loaded, tokenizer, tokens
from d2lpos.lab.publish import publish
from d2lpos.lab.real import SENTENCE, SLOW, Coarse, branches, eval_modes, hidden
from d2lpos.lab.regroup import InParts
from d2lpos.pretrained import losses
from d2lpos.runtime.published import RESULTS
from d2lpos.transformer import attention_weights
from tests.core.test_devices import OneDevice
from tests.weights import need

SMOKE = {study: look.runs(range(1), smoke=True) for study, look in PROBES.items() if look.smoke}


def records_of(study: str) -> list[dict]:
    return [run_probe(probe) for probe in SMOKE[study]]


@pytest.mark.parametrize("study", [study for study in SMOKE if study.startswith("real")])
def test_what_is_read_and_made_is_where_the_model_is(study):
    for probe in SMOKE[study]:
        with OneDevice(), pytest.raises(RuntimeError, match="(?i)meta"):  # its first number cannot be read
            run_probe(probe, "meta")


def by_case(study: str) -> dict[str, float]:
    [record] = records_of(study)
    return {row["case"]: row["loss"] for row in record["rows"]}


# Passages


@pytest.mark.parametrize(("text", "number", "opening", "later"), [
    ("persuasion", 1, "Chapter 6", "Chapter 8"), ("persuasion", 5, "Chapter 2", "Chapter 3"),
    ("pride", 2, "Chapter 25", "Chapter 27"), ("pride", 6, "Chapter 12", "Chapter 13"),
])
def test_a_passage_begins_with_its_chapter_and_reads_on(text, number, opening, later):
    book = resources.files("d2lpos.lab").joinpath("data", passages.NOVELS[text][0]).read_text("utf-8")
    words = book[re.search(rf"^{opening}$", book, re.MULTILINE).start() :].split()
    got = passage(text, number, 50_000)
    assert len(got) == 50_000 and got.startswith(f"{opening}\n") and f"\n{later}\n" in got
    assert got.split()[:-1] == words[: len(got.split()) - 1] and got.count("\n") < 600


@pytest.mark.parametrize(("number", "files"), [(0, ["dag", "matching"]), (1, ["matching", "cycles"]), (4, ["cluster"])])
def test_a_passage_of_code_begins_with_its_file_and_reads_on(number, files, monkeypatch):
    folder = Path(find_spec("networkx").origin).parent / "algorithms"
    want = "".join((folder / f"{name}.py").read_text("utf-8") for name in files)
    assert passage("code", number, len(want)) == want
    monkeypatch.setattr(passages, "NETWORKX", "3.0")
    with pytest.raises(ValueError, match="networkx must be 3.0, which the records read; got 3"):
        passage("code", 0, 9)


def test_what_is_made_by_rule_is_the_same_for_good():
    assert made(0, 60) == made(0, 600)[:60] != made(1, 60)
    # The records hold what a model made of these words.
    assert sha256(made(0, 20_000).encode()).hexdigest()[:16] == "6c0aa8a1c575c289"
    sentences = made(3, 5000).replace("\n", " ").split(". ")
    assert len(set(sentences)) == len(sentences)
    assert {len(sentence.split()) for sentence in sentences[:-1]} == {14, 15, 16}


def test_the_stand_in_reads_the_bytes_of_the_passage_that_the_seed_names():
    assert encoder("stand-in")("é") == [0xC3, 0xA9]
    for seed in (0, 3):
        ids = tokens(Probe("real-layout", model="stand-in", seed=seed, length=40))
        assert bytes(ids[0].tolist()).decode() == passage("persuasion", seed, 40)
    assert {p.dtype for p in loaded("stand-in", "bfloat16").parameters()} == {torch.bfloat16}


def test_a_model_is_loaded_in_its_dtype_and_reads_with_its_tokenizer(monkeypatch, tmp_path):
    asked, words = [], Tokenizer(WordLevel({"a": 0}, "a"))
    words.save(str(tmp_path / "words.json"))
    monkeypatch.setattr("d2lpos.lab.probe.load_smollm2", lambda *how: asked.append(how) or nn.Linear(1, 1))
    monkeypatch.setattr("d2lpos.lab.probe.find", lambda name: {"whisper": (None, tmp_path / "words.json")}[name])
    monkeypatch.setattr("d2lpos.lab.probe.smollm2_tokenizer", lambda: "its own")
    assert isinstance(loaded.__wrapped__("smollm2", "bfloat16", "cpu", "interleaved"), nn.Linear)
    assert asked == [(torch.bfloat16, "interleaved")] and loaded("characters").encoding.dim == 16
    assert [tokenizer.__wrapped__("whisper").encode("a").ids, tokenizer.__wrapped__("smollm2")] == [[0], "its own"]
    fake = SimpleNamespace(encode=lambda text, add_special_tokens: SimpleNamespace(ids=[add_special_tokens]))
    monkeypatch.setattr("d2lpos.lab.probe.tokenizer", lambda model: fake)
    assert [encoder.__wrapped__(model)("") for model in ("whisper", "minilm")] == [[False], [True]]  # Whisper's has none of its own
    monkeypatch.setattr("d2lpos.lab.probe.encoder", lambda model: lambda text: [*range(len(text) // 8)])
    probe = Probe("real-layout", "some", "smollm2", length=50)  # eight letters a token are enough
    assert tokens(probe).tolist() == [[*range(50)]] and probe.encoding == "smollm2 persuasion some"


def test_a_novel_that_ends_before_is_named():
    with pytest.raises(ValueError, match="passage 0 of persuasion has 463283 tokens; got 10000000"):
        tokens(Probe("real-layout", model="stand-in", length=10**7))
    with pytest.raises(ValueError, match="number must be below 16, as many reactions as there are; got 16"):
        passage("reactions", 16, 9)


# Glances


@pytest.mark.parametrize(("change", "error"), [
    ({"text": "emma"}, "text must be one of"),
    ({"model": "gpt"}, "model must be one of"),
    ({"dtype": "float8"}, "dtype must be one of"),
    ({"length": 0}, "length must be"),
    ({"seed": -1}, "seed must not"),
])
def test_what_cannot_be_is_named(change, error):
    with pytest.raises(ValueError, match=error):
        Probe("real-layout", **change)


def test_a_layout_is_right_in_two_ways_alone():
    cases = by_case("real-layout")
    assert cases["all moved to halves"] == pytest.approx(cases["neighbors, turned so"], abs=1e-5)
    wrong = ("nothing moved", "queries alone moved", "keys alone moved", "no rotation")
    assert all(abs(cases[case] - cases["neighbors, turned so"]) > 1e-4 for case in wrong)


class Still(Encoding):
    """RoPE whose pairs have the numbers of keys and queries that do not turn, where they are named; all at a pace."""

    def __init__(self, own, pairs=(), pace=1):
        super().__init__()
        self.own, self.some, self.pace = own, [*pairs, *(pair + own.dim // 2 for pair in pairs)], pace

    def rotate(self, q, k, q_positions, k_positions):
        turned = self.own.rotate(q, k, self.pace * q_positions, self.pace * k_positions)
        for x, before in zip(turned, (q, k), strict=True):
            x[..., self.some] = before[..., self.some]
        return turned


def test_what_is_moved_is_where_it_is_said_to_be():
    cases = by_case("real-positions")
    model, text, here = loaded("stand-in"), tokens(SMOKE["real-positions"][0]), torch.arange(32)
    base = losses(model, text).mean().item()
    places = {
        "all equal": [5] * 32, "reversed": range(31, -1, -1), "in pairs equal": [i // 2 for i in range(32)],
        "gap of 1,000 in the middle": [*range(16), *range(1016, 1032)],
        "gap of 7,000 in the middle": [*range(16), *range(7016, 7032)],
        "second half at 0 again": [*range(16)] * 2,
        "shuffled": torch.randperm(32, generator=torch.Generator().manual_seed(0)).tolist(),
    } | {f"times {factor:g}": [factor * i for i in range(32)] for factor in (0.5, 0.9, 1.1, 2, 4)}
    wanted = {case: {"positions": torch.tensor([*some]).double()} for case, some in places.items()}
    for ahead in (1, -1):
        moved = InParts(model.encoding, lambda q, k, ahead=ahead: [(q + ahead, k, here >= here[:, None] - 32)])
        wanted[f"queries moved by {ahead:+d}"] = {"encoding": moved}
    loss = {case: losses(model, text, **how).mean().item() for case, how in wanted.items()}
    same = dict.fromkeys(cases.keys() - loss.keys(), base)  # shifts and, near by, fine angles
    coarse = {f"{what} in {dtype}" for what in ("positions", "angles", "tables") for dtype in ("bfloat16", "float16")}
    assert set(same) == {"as trained"} | coarse | {case for case in cases if case.startswith("shifted by")}
    assert cases == pytest.approx(loss | same, abs=1e-4)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_few_bits_round_a_place_an_angle_or_a_table(layout):
    own, x = RoPE(8, layout=layout), torch.randn(2, 1, 1, 3, 8).bfloat16().float()
    at, rounded = torch.tensor([0, 257, 1003]), torch.tensor([0, 256, 1004])
    turned = Coarse(own, "positions", torch.bfloat16).rotate(*x, at, at)
    for got, want in zip(turned, own.rotate(*x, rounded, rounded), strict=True):
        torch.testing.assert_close(got, want)
    first = [0, 4] if layout == "half" else [0, 1]  # the pair whose angle is the position
    turned = Coarse(own, "angles", torch.bfloat16).rotate(*x, at, at)[0][..., first]
    torch.testing.assert_close(turned, own.rotate_at(x[0], rounded)[..., first])
    a, b = x[0][0, 0, 1, first]
    cos, sin = (torch.tensor(of(257.0)).bfloat16().float() for of in (math.cos, math.sin))
    tables, wanted = Coarse(own, "tables", torch.bfloat16), torch.stack([a * cos - b * sin, b * cos + a * sin])
    torch.testing.assert_close(tables.rotate(*x, at, at)[0][0, 0, 1, first], wanted)
    assert torch.equal(tables.rotate(*x.bfloat16(), at, at)[0][0, 0, 1, first], wanted.bfloat16())


def test_heads_are_told_with_each_pair_held_still():
    clock = time.perf_counter()
    [record] = records_of("real-heads")
    assert 0 <= record["seconds"] <= time.perf_counter() - clock + 0.01
    model, text, here = loaded("stand-in"), tokens(SMOKE["real-heads"][0]), torch.arange(32)
    rows = iter(record["rows"])

    def watch(layer, q, k):
        def weights_of(encoding):
            turned, keys = encoding.rotate(q, k, here.double(), here.double())
            scores = (turned @ keys.mT)[0] / 8**0.5
            return scores.masked_fill(here > here[:, None], -torch.inf).softmax(dim=-1)

        own = model.encoding
        ways = {"half": Still(own, pace=0.5), "double": Still(own, pace=2), "nothing": Still(own, range(4))}
        weights = weights_of(own)
        for head in range(3):
            row = next(rows)
            assert (row["layer"], row["head"]) == (layer, head)
            means = {name: weights_of(way)[head] for name, way in ways.items()} | {"previous": weights[head]}
            means = {name: one.diagonal(-1).mean().item() for name, one in means.items()}
            means |= {"first": weights[head, 1:, 0].mean().item(), "own": weights[head].diagonal()[1:].mean().item()}
            assert {name: row[name] for name in means} == pytest.approx(means, abs=6e-5)
            still = [weights_of(Still(own, [pair]))[head].diagonal(-1).mean().item() for pair in range(4)]
            assert row["still"] == pytest.approx(still, abs=6e-5)
            for name, x in ("q", q[0, head]), ("k", k[0, 0]):
                assert row[name] == pytest.approx([x[:, [p, p + 4]].norm(dim=1).mean().item() for p in range(4)], abs=6e-3)

    model.read(model.embed(text), watch=watch)
    assert next(rows, None) is None


def test_the_board_holds_a_cell_a_row_and_a_column(monkeypatch):
    columns, layer = records_of("real-board")
    base, *held, none = columns["rows"]
    assert (base["case"], none["case"], len(held)) == ("as trained", "no rotation", 4)
    *cells, row = layer["rows"]
    assert [cell["pair"] for cell in cells] == [0, 1, 2, 3] and row["pair"] is None
    assert all(cell["previous"][0] is None for cell in layer["rows"])  # a head below the layer is as it was
    model, text = loaded("stand-in"), tokens(SMOKE["real-board"][0])
    own, parts = model.encoding, {"columns": columns["rows"], "layer 1": layer["rows"]}
    slow = next(one["rows"] for one in records("real-bands") if one["run"]["part"] == "slow bands")
    assert [one["pair"] for one in slow] == [None, *SLOW]
    monkeypatch.setattr("d2lpos.lab.real.SLOW", (0,))
    parts |= {part: run_probe(replace(SMOKE["real-board"][0], part=part))["rows"] for part in ("layers", "bands", "slow bands")}
    assert parts["slow bands"] == parts["bands"][:-1]
    for part, of_part in parts.items():
        for one in of_part:
            held_pairs = range(4) if one["pair"] is None or "bands" in part else [one["pair"]]
            still = [Still(own, held_pairs if one["layer"] in (None, at) else []) for at in (0, 1)]
            still = [own, own] if one["case"] == "as trained" else still
            assert one["loss"] == pytest.approx(losses(model, text, encoding=still).mean().item(), abs=2e-6)
            seen = {}
            model.read(model.embed(text), encoding=still, watch=lambda at, q, k, still=still, seen=seen: seen.update(
                {at: attention_weights(q, k, *2 * [torch.arange(32)], still[at], torch.ones(32, 32).tril().bool())[0]}
            ))  # fmt: skip
            want = [seen[0][0].diagonal(-1).mean().item(), seen[1][2].diagonal(-1).mean().item()]
            want = [None if part != "columns" and one["layer"] == 1 and not at else w for at, w in enumerate(want)]
            assert one["previous"] == [None if w is None else pytest.approx(w, abs=6e-5) for w in want]
    alone = losses(model, text, encoding=[model.encoding, None]).mean().item()
    assert row["loss"] == pytest.approx(alone, abs=1e-5)
    data = board_data([columns, layer])
    assert data["passages"] == 1 and data["base"][0] == pytest.approx(base["loss"], abs=1e-4)
    assert data["rows"][0][0] == pytest.approx(alone - base["loss"], abs=1e-4)
    assert [len(data["columns"]), len(data["cells"]), len(data["cells"][0])] == [4, 1, 4]


def test_sentences_go_on_with_what_each_is_likeliest_to_say():
    model = loaded("stand-in")
    for record, layers in zip(records_of("real-sentence"), ((0, 1), (1,)), strict=True):
        for row, some in zip(record["rows"], ([], [0], [1], [2], [3], range(4)), strict=True):
            still = [Still(model.encoding, some if at in layers else []) for at in (0, 1)]
            whole = torch.tensor([list((SENTENCE + row["goes on"]).encode("latin-1"))])
            assert model(whole, encoding=still)[0, len(SENTENCE) - 1 : -1].argmax(dim=-1).equal(whole[0, len(SENTENCE) :])
            assert len(row["goes on"]) == 8
        assert [row["case"] for row in record["rows"]] == ["as trained", *["held"] * 4, "no rotation"]
        assert [row["pair"] for row in record["rows"]] == [None, 0, 1, 2, 3, None]
        assert {row["layer"] for row in record["rows"]} == {None if len(layers) == 2 else 1}


def test_a_needle_stands_where_it_is_said_to_and_is_asked_for():
    probe = Probe("real-needles", "yarn", "stand-in", "rule", length=700)
    text, asked = hidden(probe)
    assert len(text) == 700 and len(asked) == 8
    for place, question, answer in asked:
        assert text[place:][: len(question)] == question
        assert text[place + len(question) :][:5] == answer and bytes(answer).isdigit()
        assert bytes(question).startswith(b"\nThe secret number of the ") and question[-4:] == list(b" is ")
    needle = re.compile(rb"\nThe secret number of the \w+ is \d{5}\.\n")
    parts = needle.split(bytes(text))
    assert b"".join(parts) == made(0, sum(map(len, parts))).encode()
    assert [len(part) for part in parts] == pytest.approx([len(b"".join(parts)) * share / 16 for share in (1, *[2] * 7, 1)], abs=1)
    assert [one.start() for one in needle.finditer(bytes(text))] == [place for place, _, _ in asked]
    assert len({bytes(question) for _, question, _ in asked}) == 8
    assert bytes(hidden(probe, 1, start=40)[0]).startswith(made(0, 300)[40:300].encode())
    assert hidden(replace(probe, seed=1))[1] != asked
    with pytest.raises(ValueError, match="length must leave room for 8 needles; got 300"):
        hidden(replace(probe, length=300))


def test_digits_are_counted_where_their_questions_alone_follow():
    [probe], model = SMOKE["real-sink"], loaded("stand-in")
    (text, asked), rows = hidden(probe), run_probe(probe)["rows"]
    gaps = {"0 away": 0, "8,000 away": 8000, "11,000 away": 11_000, "14,000 away": 14_000}
    assert [(row["case"], row["at"]) for row in rows] == [(case, place) for case in gaps for place, _, _ in asked]
    for row, (_, question, answer) in zip(rows, 4 * asked, strict=True):
        whole = torch.tensor([text + question + answer])
        positions = torch.arange(whole.shape[1]) + gaps[row["case"]] * (torch.arange(whole.shape[1]) > 3)
        logits, wanted = model(whole, positions)[0, -6:-1], torch.tensor(answer)
        assert row["loss"] == pytest.approx(nn.functional.cross_entropy(logits, wanted).item(), abs=1e-4)
        assert (row["right"], row["of"]) == ((logits.argmax(dim=-1) == wanted).sum(), 5)


def test_a_long_passage_is_read_by_slower_pairs_and_told_by_256_tokens():
    model, probe = loaded("stand-in"), Probe("real-length", "linear", "stand-in", "rule", length=600)
    [row] = run_probe(probe)["rows"]
    loss = losses(model, tokens(probe))[0]  # no longer than in training
    assert row["loss"] == pytest.approx(loss.mean().item(), abs=2e-6)
    assert row["places"] == pytest.approx([loss[i : i + 256].mean().item() for i in (0, 256, 512)], abs=6e-5)
    own, ways = model.encoding, eval_modes(model, 4 * 8192)
    x, at = torch.randn(1, 1, 3, 8), torch.tensor([0, 4, 40])
    torch.testing.assert_close(ways["linear"]["encoding"].rotate_at(x, at), own.rotate_at(x, at / 4))
    wider = RoPE(8, base=own.base * 4 ** (8 / 6))
    torch.testing.assert_close(ways["ntk"]["encoding"].rotate_at(x, at), wider.rotate_at(x, at))
    assert ways["window"] == {"window": (4096, 0)} and ways["yarn"]["encoding"].scaled()[1] == 0.1 * math.log(4) + 1
    assert ways["yarn, scores as they were"]["encoding"].scaled()[1] == 1


@pytest.mark.parametrize("name", ["as trained", "yarn", "window and 4 first", "sharper"])
def test_a_question_is_read_as_if_it_alone_followed_the_text(name):
    model, n = loaded("stand-in"), 24
    text, questions = torch.randint(256, (1, n)), torch.randint(256, (3, 5))
    how = eval_modes(model, n)[name]
    if name == "sharper":  # the stand-in has no length of training
        how = {"temperature": lambda positions: 1 + positions / 20}
    together = branches(model, text, questions, **how)
    for question, one in zip(questions, together, strict=True):
        alone = model(torch.cat([text, question[None]], dim=1), **how)[0, n:]
        torch.testing.assert_close(one, alone, atol=1e-4, rtol=1e-4)


# Tables and files


def made_up(seed: int, text: str, **cases: float) -> dict:
    return {"run": {"text": text, "seed": seed}, "rows": [{"case": c, "loss": v} for c, v in cases.items()]}


def test_a_mean_is_over_passages_and_differences_are_within_them():
    some = [made_up(0, "rule", a=1.0, b=2.0), made_up(1, "rule", a=11.0, b=12.0)]
    table = mean_ci(some, against="a").set_index("case")
    assert table.loc["b", ["mean", "low", "high", "n"]].tolist() == [1, 1, 1, 2]
    assert mean_ci(some)["mean"].tolist() == [6, 7]
    assert mean_ci(some[:1])["low"].isna().all()


def test_the_command_runs_resumes_and_publishes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = ["real-layout", "--smoke", "--store", "some.sqlite"]
    assert main(call) == 0
    assert "1 of 1 runs to do" in capsys.readouterr().out
    assert main(call) == 0
    assert "0 of 1 runs to do" in capsys.readouterr().out
    [record], run, store = Store("some.sqlite").records(), PROBES["real-layout"].full[0], Store("full.sqlite")
    store.finish(record | {"key": run.key, "run": run.fields()})
    assert publish("real-layout", store, [run], tmp_path) == 1
    assert records("real-layout", tmp_path) == store.records()
    assert (tmp_path / "real-layout.csv").read_text().startswith("Case,Persuasion\n")


NOT_RUN = {("real-length", "sharper", "persuasion"), ("real-length", "sharper", "rule")}
PUBLISHED = [study for study in PROBES if (RESULTS / f"{study}.jsonl").is_file()]


@pytest.mark.parametrize("study", PUBLISHED)
def test_the_files_of_a_study_are_those_of_its_records(study):
    published = records(study)
    known = {probe.key for probe in PROBES[study].runs(range(100))}
    assert {record["key"] for record in published} <= known
    first = {record["key"] for record in published if record["run"]["seed"] == 0}
    lacking = [probe for probe in PROBES[study].runs([0]) if probe.key not in first]
    assert {(probe.study, probe.part, probe.text) for probe in lacking} <= NOT_RUN
    for name, text in texts(study, published).items():
        assert (RESULTS / name).read_text("utf-8") == text, f"python -m d2lpos.lab {study} --publish"


def test_a_published_loss_comes_out_again():
    need("smollm2")
    [record] = [
        r for r in records("real-layout") if (r["run"]["text"], r["run"]["seed"]) == ("persuasion", 0)
    ]
    published = {row["case"]: row["loss"] for row in record["rows"]}
    text = tokens(Probe(**record["run"]))
    assert losses(loaded("smollm2"), text).mean().item() == pytest.approx(
        published["all moved to halves"], abs=1e-3
    )
