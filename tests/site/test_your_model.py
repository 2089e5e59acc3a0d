"""The page that reads a configuration: what it shows is what Python reads, from a file and from a server, and what comes in
is text."""

import base64
import gzip
import json
import re
from itertools import chain, pairwise

import numpy as np
import pytest
import torch
from d2lpos_ext.your_model import SCRIPTS
from gguf import GGUFWriter
from playwright.sync_api import expect

from d2lpos.bias.t5 import bucket
from d2lpos.config import Refused, card, fresh, memory, ran, read, settings, verdict, written
from d2lpos.config.angles import turns
from d2lpos.config.card import card_lines
from d2lpos.config.names import releases
from d2lpos.config.sight import sees, sight
from d2lpos.config.tables import table
from d2lpos.config.verdict import cap_lines, in_words
from d2lpos.config.words import fill
from d2lpos.offset.deberta import row
from tests.site.detectors import visit
from tests.site.pages import ROOT, Html
from tests.site.serving import Quiet, serve
from tests.site.test_pages import SHIFTS

RELEASES = {one["name"]: one for one in releases()}
QWEN = RELEASES["Qwen3 8B"]["config"]
LLAMA = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 500000}
HEAVIEST = 600_000  # bytes, plain, of all that the page loads
LONGEST_SCRIPT = 40_000  # bytes, packed, of what comes at once
PROGRAMS = tuple(table("programs"))


@pytest.fixture(scope="module")
def address(site):
    return (site / "book" / "your-model.html").as_uri()


@pytest.fixture
def reader(reader):
    """Who waits until the tables are unpacked, which takes a moment."""
    expect(reader.page.locator(".yours .lead")).to_be_visible()
    return reader


def slug(name):
    return re.sub("[^a-z0-9]+", "-", name.lower()).rstrip("-")


def paste(page, config):
    text = config if isinstance(config, str) else json.dumps(config)
    page.evaluate(
        """text => {
        const data = new DataTransfer();
        data.setData("text", text);
        document.querySelector(".what").dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
    }""",
        text,
    )
    waited(page)


def waited(page):
    """Until the script that reads files has come, and has read."""
    expect(page.locator(".yours")).not_to_have_attribute("aria-busy", "true")


def ask(page, tokens):
    page.fill(".yours .n", str(tokens))
    page.press(".yours .n", "Enter")


def program(page, name):
    page.select_option(".yours select", name)


def opened(page, name):
    page.fill(".what", name)
    page.press(".what", "Enter")
    expect(page.locator(".yours .lead b").first).to_have_text(name)


# Of each: the length of training to compare with, and a text beyond it.
ANGLES = [
    ("Qwen3 8B", 32_768, 131_072),
    ("Gemma 2 9B", 8192, 32_768),
]


@pytest.mark.parametrize(("name", "trained", "tokens"), ANGLES)
def test_new_angles_memory_layers_and_settings_are_those_of_python(reader, name, trained, tokens):
    page, config = reader.page, RELEASES[name]["config"]
    opened(page, name)
    ask(page, tokens)
    reading = read(config)
    pairs = max((fresh(layer, trained, tokens) for layer in reading["kinds"] if turns(layer)), key=sum)
    assert page.inner_text(".says").startswith(f"{sum(pairs)} of {len(pairs)} hands ")
    assert page.locator(".bars i").count() == len(reading["layers"])
    windows = [reading["kinds"][kind]["window"] is not None for kind in reading["layers"]]
    assert page.locator(".bars i.window").count() == sum(windows)
    total = sum(memory(reading, tokens).values())
    half = page.inner_text(".big")
    assert half == (f"{total / 2**30:.1f} GiB" if total >= 2**30 else f"{round(total / 2**20)} MiB")
    page.get_by_role("radio", name="8 bits").click()
    assert page.inner_text(".big") != half
    owner = RELEASES[name]["source"].split("/blob")[0].split(".co/")[1]
    for one in PROGRAMS:
        program(page, one)
        try:
            line = settings(reading, tokens, one, trained)["line"].partition("  # ")[0]
        except Refused as error:
            assert str(error).partition(" has ")[2] in page.inner_text(".pane .why")
            assert f"at most {error.fields['cap']:,} tokens." in page.inner_text(".pane .why")
            line = fill(table("programs")[one]["cap"], tokens=error.fields["cap"]).partition("  # ")[0]
        shown = "".join(page.locator(".pane pre").all_inner_texts()).replace("\\\n", " ")
        assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", line.replace("MODEL ", f"{owner} "))


def test_other_encodings_have_their_own_verdicts(reader):
    for name, tokens, said in [
        ("Gemma 3 27B", 131_072, "No hand meets a new angle."),
        ("MPT 7B", 8192, "If all scores are equal, the first 6,424 tokens get almost no weight."),
        ("GPT-2", 1024, "Every token has its row."),
        ("GPT-2", 1025, "The table ends after 1,024 tokens, so the next token has no row, and the code fails."),
        ("T5 base", 2048, "From 113 tokens on, all distances have the same number."),
        ("Nemotron-H 56B", 32_768, "It has no angles and no rows that could end."),
        ("StarCoder2 3B", 65_536, "No new angle, at any length: these layers never look farther back than 4,096 tokens."),
    ]:
        opened(reader.page, name)
        ask(reader.page, tokens)
        assert reader.page.inner_text(".says") == said
        assert reader.page.locator(".plot .grip").get_attribute("aria-valuenow") == str(tokens)


def test_what_layers_see_is_said_alike_everywhere(reader):
    for name in ("DeepSeek-V3.2", "ModernBERT base", "Llama 4 Maverick"):
        page, reading = reader.page, read(RELEASES[name]["config"])
        opened(page, name)
        longest, strip = reading["lengths"]["allowed"], page.inner_text(".layers .cap")
        for kind in {*reading["layers"]}:
            what = sees(sight(reading, reading["kinds"][kind], longest))
            assert what in page.inner_text(".lead")
            assert re.sub("^its own", "their own", what) in strip
            page.locator(".bars i").nth(reading["layers"].index(kind)).hover()
            assert what in page.inner_text(".layers .first")
        windows = [layer["window"] and layer["window"] < longest for layer in reading["kinds"]]
        assert ("window" in page.inner_text(".mem")) == (any(windows) and reading["causal"])


def test_a_window_that_a_longer_text_exceeds_is_named_everywhere(reader):
    page = reader.page
    opened(page, "Phi-3 mini 128k")
    for tokens, window in ((131_072, False), (1_048_576, True), (131_072, False)):
        ask(page, tokens)
        for part in (".lead", ".layers .cap", ".mem"):
            assert ("window" in page.inner_text(part)) == window, (tokens, part)


def test_every_release_opens_and_its_links_lead_somewhere(reader, site):
    page, known, links = reader.page, {}, set()
    for name in RELEASES:
        page.evaluate("name => { const f = document.querySelector('.what'); f.value = name; f.form.requestSubmit(); }", name)
        assert page.locator(".lead[role=alert]").count() == 0, page.inner_text(".out")
        assert page.inner_text(".lead b") == name
        links.update(page.eval_on_selector_all(".out a[href^='..'], .out a[href^='models']", "all => all.map(a => a.getAttribute('href'))"))
    assert len(links) >= 10
    for link in links:
        path, _, anchor = link.partition("#")
        target = (site / "book" / path).resolve()
        assert target.is_file(), link
        if target not in known:
            known[target] = Html(target).ids
        assert not anchor or anchor in known[target], link


def test_marks_stand_where_numbers_begin(reader):
    for encoding in (
        {"kind": "T5Bias", "buckets": 32, "max_distance": 128, "bidirectional": True},
        {"kind": "T5Bias", "buckets": 16, "max_distance": 64, "bidirectional": False},
        {"kind": "DeBERTa", "clip": 16, "largest": 100},
        {"kind": "DeBERTa", "clip": 8, "largest": None},
    ):
        kind, *sizes = encoding.values()
        told = (bucket if kind == "T5Bias" else row)(-torch.arange(512), *sizes).tolist()
        begins = [0] + [at + 1 for at, (a, b) in enumerate(pairwise(told)) if a != b]
        assert reader.page.evaluate("one => yourModelFacts(null).buckets(one)", encoding) == begins


BROKEN = {
    "no JSON": ("{model_type: llama}", "JSON"),
    "a tokenizer": ({"tokenizer_class": "LlamaTokenizer", "model_max_length": 4096, "added_tokens_decoder": {}}, "tokenizer"),
    "too large": ('{"a": "' + "x" * 8_400_000 + '"}', "8 MB"),
    "an unknown family": ({"model_type": "spiral"}, "spiral"),
    "half a file": (json.dumps(QWEN, indent=1)[:-9], re.compile(r"The text breaks off in line \d+\. Copy the whole file\.")),
}


def test_what_is_no_configuration_gets_one_sentence(reader, tmp_path):
    for given, word in BROKEN.values():
        opened(reader.page, "Qwen3 8B")
        paste(reader.page, given)
        expect(reader.page.locator(".out .lead[role=alert]")).to_contain_text(word)
        assert reader.page.locator(".out .plot, .out .bars").count() == 0
        assert len(reader.page.inner_text(".out .lead")) < 300
    (tmp_path / "model.json").write_bytes(b'{"a": "' + b"x" * 9_200_000 + b'"}')
    reader.page.set_input_files(".file input", tmp_path / "model.json")
    expect(reader.page.locator(".lead[role=alert]")).to_have_text("model.json has 8.8 MB, but a config.json has at most 8 MB.")


def test_a_configuration_is_read_as_people_have_it(reader):
    page, text = reader.page, json.dumps(LLAMA)
    for copy in (f"LlamaConfig {text}\n", f"```json\n{text}\n```"):
        paste(page, copy)
        expect(page.locator(".bars i")).to_have_count(2)
        paste(page, "{}")
    page.set_input_files(".file input", {"name": "config.json", "mimeType": "application/json", "buffer": text.encode("utf-16")})
    expect(page.locator(".bars i")).to_have_count(2)
    page.set_input_files(".file input", {"name": "model.gguf", "mimeType": "application/json", "buffer": b"GGUF\xff"})
    expect(page.locator(".lead[role=alert]")).to_contain_text("a GGUF file whose header does not end")


def test_keys_that_nobody_knows_are_named_all_at_once_and_passed_over_when_asked(reader):
    page = reader.page
    paste(page, LLAMA | {"rope_wobble": 0.3, "attention_sphere": True})
    rows = page.locator(".no tbody tr td:first-child")
    expect(rows).to_have_text(["rope_wobble", "attention_sphere"])
    assert page.locator(".plot").count() == 0
    page.get_by_role("button", name="Read it without these keys").click()
    expect(page.locator(".bars i")).to_have_count(2)
    assert "Ignored, as you asked: rope_wobble, attention_sphere." in page.inner_text(".origin")
    paste(page, LLAMA | {"num_key_value_heads": 4, "rope_scaling": {"rope_type": "linear", "factor": 2.0, "eta": 1}})
    expect(page.locator(".no tbody tr td:first-child")).to_have_text(["rope_scaling.eta"])
    page.get_by_role("button", name="Read it without this key").click()
    assert "Ignored, as you asked: rope_scaling.eta." in page.inner_text(".origin")
    expect(page.locator(".big")).to_be_visible()
    expect(page.locator(".pane .why")).to_contain_text("Nothing to set")


def test_what_comes_in_is_never_markup(reader):
    page, mark = reader.page, '<img src=x onerror="window.wrong = 1"><b id=wrong>'
    for given in (
        {"model_type": mark},
        LLAMA | {mark: mark},
        LLAMA | {"rope_scaling": {"rope_type": mark}},
        LLAMA | {"rope_theta": mark},
        mark,
        "{" + mark,
    ):
        paste(page, given)
        assert page.locator(".out img, #wrong").count() == 0
    page.fill(".what", mark)
    page.press(".what", "Enter")
    expect(page.locator(".lead[role=alert]")).to_contain_text("<img")
    page.goto(page.url.partition("#")[0] + "#model=" + "%3Cimg%20src%3Dx%20onerror%3D%22window.wrong%3D1%22%3E")
    page.wait_for_function("document.querySelector('.lead[role=alert]')?.textContent.includes('onerror')")
    assert page.locator(".out img, #wrong").count() == 0 and page.evaluate("window.wrong") is None


def test_scripts_write_no_markup():
    for name in chain(*SCRIPTS.values()):
        text = (ROOT / "book" / "your-model" / f"{name}.js").read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", text), name


def test_a_file_never_goes_into_a_link(reader):
    page = reader.page
    paste(page, QWEN | {"rope_theta": 70_000})
    assert "#" not in page.url and page.get_by_role("button", name="Link to this").count() == 0


def test_an_earlier_link_that_holds_keys_still_opens(reader):
    page, text = reader.page, json.dumps(LLAMA | {"num_hidden_layers": 3})
    page.goto(f"{page.url}#config={base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}&n=4096&remedy=released")
    expect(page.locator(".bars i")).to_have_count(3)
    assert page.input_value(".n") == "4,096"


SHOWN = (".n", ".judged", ".says", ".big", ".lead", ".cap", ".stops", ".look", ".pane")


def shown(page):
    return [page.input_value(part) if part == ".n" else page.inner_text(part) for part in SHOWN] + [
        page.locator(".remedy [aria-checked=true]").inner_text(),
        [bar.get_attribute("class").split()[0] for bar in page.locator(".bars i").all()],
    ]


def test_a_link_shows_what_the_page_shows(reader, browser):
    page = reader.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, "Gemma 2 9B")
    ask(page, "70K")
    program(page, "sglang")
    assert page.input_value(".n") == "71,680"
    page.get_by_role("radio", name="YaRN").click()
    page.get_by_role("button", name="Link to this").click()
    page.wait_for_function("location.hash.endsWith('&n=71680&program=sglang&remedy=yarn')")
    with visit(browser) as other:
        other.page.goto(page.url)
        assert shown(other.page) == shown(page) and other.page.url == page.url
        assert not other.faults


def test_a_length_that_cannot_be_stays_and_why_stands_beside_it(reader):
    page = reader.page
    before = page.inner_text(".answer h2")
    for text, word in (("many", "is no number of tokens"), ("1.5", "is no whole number"), ("7", "from 64 to 16,777,216"), ("99999M", "at most")):
        ask(page, text)
        assert page.input_value(".n") == text and word in page.inner_text(".asked")
        assert page.get_attribute(".n", "aria-invalid") == "true" and page.inner_text(".answer h2") == before
    ask(page, "70K")
    assert page.get_attribute(".n", "aria-invalid") is None and page.inner_text(".asked") == written("70K")["told"]
    ask(page, "5000")
    assert page.inner_text(".asked") == ""


def test_what_is_typed_stays_while_the_page_changes_its_size(reader):
    page = reader.page
    page.fill(".yours .n", "123")
    wide = page.get_attribute(".plot", "width")
    page.set_viewport_size({"width": 700, "height": 800})
    page.wait_for_function("wide => document.querySelector('.plot').getAttribute('width') !== wide", arg=wide)
    assert page.input_value(".n") == "123"


KINDS = {  # of each kind of answer a release and a length
    "Yes": ("Qwen3 8B", 32_768),
    "With a setting": ("Qwen3 8B", 131_072),
    "Perhaps": ("Qwen3 8B", 200_000),
    "No": ("Llama 3.1 8B", 200_000),
    "Not known": ("Qwen 7B", 200_000),
}


def test_the_verdict_is_that_of_python_and_its_kind_stands_in_words(reader):
    page = reader.page
    for kind, (name, tokens) in KINDS.items():
        opened(page, name)
        ask(page, tokens)
        judged = verdict(read(RELEASES[name]["config"]), tokens, RELEASES[name])
        said = page.inner_text(".judged")
        assert said.startswith(kind) and said.endswith(in_words(judged).removeprefix(f"{kind}: "))
        assert page.inner_text(".answer h2") == f"{name} at {tokens:,} tokens"
        for one, line in cap_lines(judged).items():
            program(page, one)
            assert page.inner_text(".answer pre").split()[-1] == line.partition("  # ")[0].split()[-1]


def test_name_and_length_lead_to_the_verdict_in_two_acts(reader):
    page = reader.page
    page.locator(".what").focus()
    page.keyboard.type("Llama 3.1 8B")
    page.keyboard.press("Tab")
    page.keyboard.type("200k")
    page.keyboard.press("Enter")
    assert page.inner_text(".answer h2") == "Llama 3.1 8B at 200,000 tokens"
    assert page.inner_text(".judged").startswith("No: its file stretches 8,192 tokens to 131,072 already")
    assert page.inner_text(".answer pre").split() == ["vllm", "serve", "meta-llama/Llama-3.1-8B", "\\", "--max-model-len", "131072"]
    opened(page, "Qwen2 7B")  # keeps the length that was asked for
    assert page.input_value(".n") == "200,000"


def test_on_a_phone_verdict_and_line_stand_in_the_first_screen(browser, address):
    with visit(browser, 390) as reader:
        for name in ("Qwen3 8B", "Gemma 3 27B", "DeepSeek-R1"):
            reader.page.goto(f"{address}#model={slug(name)}&n=131072")
            expect(reader.page.locator(".lead b")).to_have_text(name)
            for part in (".judged", ".answer pre"):
                box = reader.page.locator(part).bounding_box()
                assert box["y"] + box["height"] <= 844, part


def test_no_line_loads_another_training_than_the_one_asked_for(reader):
    page = reader.page
    for typed, model in (("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"), ("Llama-3.1-8B-Instruct", "MODEL")):
        page.fill(".what", typed)
        page.press(".what", "Enter")
        assert page.inner_text(".answer pre").split()[2] == model


MAKERS = json.dumps({
    "rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768, "rope_theta": 1_000_000},
    "max_position_embeddings": 131_072,
})  # fmt: skip
COMMANDS = [
    ("vllm serve Qwen/Qwen3-8B --max-model-len 131072", "vllm", "131,072", "With a setting"),
    (f"$ vllm serve Qwen/Qwen3-8B \\\n  --hf-overrides '{MAKERS}'", "vllm", "131,072", "Yes"),
    ("llama-server -m models/Qwen3-8B-Q4_K_M.gguf -c 32768 -np 4", "llama.cpp", "8,192", "Yes"),
    ("python -m sglang.launch_server --model-path=Qwen/Qwen3-8B --context-length 32768", "sglang", "32,768", "Yes"),
]


@pytest.mark.parametrize(("command", "one", "tokens", "kind"), COMMANDS)
def test_a_pasted_command_says_what_it_will_really_do(reader, command, one, tokens, kind):
    page, done = reader.page, ran(command.removeprefix("$ "), QWEN)
    paste(page, command)
    shown = page.inner_text(".ran")
    assert table("programs")[one]["name"] in shown and all(note in shown for note in done["notes"])
    assert ("It starts" in shown) == (done["config"] is not None)
    assert page.input_value(".n") == tokens and page.input_value(".yours select") == one
    assert page.inner_text(".judged").startswith(kind)
    assert page.get_by_role("button", name="Link to this").count() == 0 and "#" not in page.url


def test_a_command_is_followed_for_the_file_at_hand(reader):
    page = reader.page
    paste(page, "vllm serve ./mine --max-model-len 9000")
    expect(page.locator(".lead[role=alert]")).to_contain_text("This command names no release that is known here.")
    paste(page, LLAMA | {"max_position_embeddings": 4096})
    for _ in range(2):  # of the file, and not of what the first command made of it
        paste(page, "vllm serve ./mine --max-model-len 9000 --hf-overrides '{\"max_position_embeddings\": 9000}'")
        assert "It starts, and a text may have 9,000 tokens." in page.inner_text(".ran")
        paste(page, "vllm serve ./mine --max-model-len 9000")
        assert "It stops as it starts" in page.inner_text(".ran")


def test_the_cost_on_a_card_is_that_of_python(reader):
    page, file = reader.page, LLAMA | {"vocab_size": 99, "intermediate_size": 80, "num_key_value_heads": 2, "max_position_embeddings": 4096}
    paste(page, file)
    ask(page, 4096)
    page.locator(".mine summary").click()
    for name, value in (("requests", 3), ("card", 1.5), ("bits", 4)):
        page.fill(f"[data-a={name}]", str(value))
    told = [line.strip() for line in card_lines(card(read(file), file, 4096, requests=3, gib=1.5, bits=4)).split("\n")]
    expect(page.locator(".costs li")).to_have_text(told[1:-1])
    assert any("fit into 1.5 GiB" in line for line in told)
    page.fill("[data-a=card]", "a lot")
    expect(page.locator(".costs .stop")).to_contain_text("must be a number of GiB")


PARAMS = {"dim": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 99, "norm_eps": 1e-5, "rope_theta": 500_000.0, "max_seq_len": 4096}


def gguf(path):
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.add_embedding_length(64)
    writer.add_context_length(4096)
    writer.add_tensor("x", np.zeros(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


DROP = """([name, bytes]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
    document.querySelector("h1").dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
}"""


def test_a_file_dropped_anywhere_on_the_page_is_read(reader, tmp_path):
    for name, data in {"params.json": json.dumps(PARAMS).encode(), "model.gguf": gguf(tmp_path / "model.gguf")}.items():
        reader.page.evaluate(DROP, [name, [*data]])
        expect(reader.page.locator(".origin").first).to_contain_text(name)
        assert reader.page.locator(".bars i").count() == 2


def test_a_remedy_has_settings_for_each_program(reader):
    ask(reader.page, 131_072)
    reader.page.get_by_role("radio", name="Interpolation").click()
    for one in PROGRAMS:
        program(reader.page, one)
        try:
            told = settings(read(QWEN), 131_072, one, 32_768, "linear")["line"].replace("MODEL ", "Qwen/Qwen3-8B ")
        except Refused as error:
            assert reader.page.inner_text(".pane .why").startswith(str(error))
            continue
        assert "Interpolation ×4: no test of it by its makers is known here" in reader.page.inner_text(".pane")
        shown, (line, _, remark) = reader.page.inner_text(".pane pre").replace("\\\n", " "), told.partition("  # ")
        assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", line)
        assert remark in reader.page.inner_text(".pane .because")  # under the box


def test_an_encoder_keeps_no_keys_and_recurrences_have_no_attention(reader):
    paste(reader.page, {"model_type": "bert"})
    assert reader.page.inner_text(".m") == "An encoder keeps no keys and values."
    paste(reader.page, {"model_type": "mamba"})
    assert reader.page.inner_text(".cost").startswith("It has no attention")


def test_no_length_is_asked_of_a_model_of_pictures(reader):
    for family, sights in {
        "vit": "all 12 see the whole picture", "swin": "all 12 see their own square of 7 × 7 cells", "pixtral": "all 24 see the whole picture",
    }.items():
        paste(reader.page, {"model_type": family})
        assert "there is no length to choose" in reader.page.inner_text(".says")
        assert sights in reader.page.inner_text(".cap") and reader.page.locator(".answer, .plot, .mem").count() == 0


def test_a_link_that_is_too_long_or_cut_off_is_refused_with_a_sentence(reader):
    page = reader.page
    for hash_, word in (("config=" + "a" * 5000, "more than 4 kB"), ("config=%%%", "cut off"), ("config=bm8", "cut off")):
        page.goto(page.url.partition("#")[0] + "#" + hash_)
        expect(page.locator(".lead[role=alert]")).to_contain_text(word)


def test_names_lead_to_releases(reader, address):
    page = reader.page
    page.goto(f"{address}#model={slug('Gemma 3 27B')}")
    expect(page.locator(".lead b")).to_have_text("Gemma 3 27B")
    for typed in ("https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json", "qwen/qwen3-8b", "QWEN3-8B", "qwen3 8b"):
        opened_by = page.locator(".what")
        opened_by.fill(typed)
        opened_by.press("Enter")
        expect(page.locator(".lead b")).to_have_text("Qwen3 8B")
        assert page.url.endswith("#model=qwen3-8b")
    page.fill(".what", "qwen")
    page.press(".what", "Enter")
    page.get_by_role("button", name="Qwen2 7B", exact=True).click()
    expect(page.locator(".lead b")).to_have_text("Qwen2 7B")
    page.fill(".what", "nobody-7b")
    page.press(".what", "Enter")
    expect(page.locator(".lead[role=alert]")).to_contain_text("I know no release named “nobody-7b”.")
    page.fill(".what", "unsloth/Qwen3-8B-GGUF")
    page.press(".what", "Enter")
    expect(page.locator(".lead b")).to_have_text("Qwen3 8B")
    assert "You asked for “unsloth/Qwen3-8B-GGUF”. The page shows Qwen/Qwen3-8B." in page.inner_text(".origin >> nth=0")


def test_a_file_of_a_release_takes_its_lengths_and_says_so(reader):
    paste(reader.page, QWEN | {"architectures": ["Qwen3ForCausalLM"], "vocab_size": 151_936})
    assert "It has all keys of Qwen3 8B, whose makers' lengths hold here" in reader.page.inner_text(".origin")
    assert reader.page.inner_text(".stops button >> nth=0") == "32,768 trained"


def test_by_keyboard(reader):
    page = reader.page
    grip, tokens = page.locator(".grip"), lambda: int(page.get_attribute(".grip", "aria-valuenow"))
    grip.focus()
    for key, check in (
        ("ArrowLeft", lambda a, b: b < a),
        ("ArrowRight", lambda a, b: b > a),
        ("PageDown", lambda a, b: b < a),
        ("Home", lambda a, b: b == 64),
        ("End", lambda a, b: b == 2**24),
    ):
        before = tokens()
        page.keyboard.press(key)
        assert check(before, tokens()), key
        assert page.evaluate("document.activeElement.classList.contains('grip')")
    page.locator(".bars").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".bars", "aria-valuetext").startswith("layer 2 sees the whole text, base 1,000,000")


CROSSED = """() => {
    const boxes = name => [...document.querySelectorAll(`.plot ${name}`)].map(e => [e.textContent, e.getBoundingClientRect()]);
    const lines = [...boxes("line.N"), ...boxes("line.L")].map(([, box]) => box);
    return boxes("text.L:not(.over)").filter(([, b]) => lines.some(l => l.left > b.left && l.left < b.right && l.top < b.bottom)).map(([said]) => said);
}"""


def test_no_line_runs_through_the_words_of_a_length(reader):
    opened(reader.page, "DeepSeek-V2-Lite")
    for width in (390, 1280):
        reader.resize(width)
        for tokens in (4096, 30_000, 139_264, 155_648, 163_840, 170_000, 262_144):
            ask(reader.page, tokens)
            assert reader.page.evaluate(CROSSED) == []


TARGETS = """() => [...document.querySelectorAll(".yours :is(button, input:not(.sr), .file span, [role=slider], [tabindex='0'])")]
    .filter(e => e.checkVisibility()).map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < 24).map(([tag]) => tag)"""


def test_what_a_finger_touches_is_large_enough(browser, address):
    with visit(browser, 390) as reader:
        reader.page.goto(address)
        for name in ("Qwen3 8B", "Gemma 3 27B", "MPT 7B"):
            opened(reader.page, name)
            ask(reader.page, 131_072)
            assert reader.page.evaluate(TARGETS) == []


def test_a_finger_drags_the_length_and_scrolls_beside_it(browser, address):
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800})
    page, finger = context.new_page(), None
    page.goto(address)
    page.locator(".plot").scroll_into_view_if_needed()
    finger = context.new_cdp_session(page)

    def stroke(x, y, to_x, to_y):
        points = [(x + (to_x - x) * k / 10, y + (to_y - y) * k / 10) for k in range(11)]
        for kind, at in [("touchStart", points[0]), *(("touchMove", at) for at in points), ("touchEnd", None)]:
            touches = [{"x": at[0], "y": at[1]}] if at else []
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def tokens():
        return int(page.get_attribute(".grip", "aria-valuenow"))

    before, box = tokens(), page.locator(".grip .pill").bounding_box()
    y = box["y"] + box["height"] / 2
    stroke(box["x"] + box["width"] / 2, y, 60, y)
    assert tokens() < before / 100
    before, box = tokens(), page.locator(".plot").bounding_box()
    scrolled = page.evaluate("scrollY")
    stroke(300, box["y"] + box["height"] - 60, 300, box["y"] - 200)
    page.wait_for_function("was => scrollY > was", arg=scrolled)
    assert tokens() == before
    context.close()


def test_each_control_is_reached_and_worked_by_keys(reader):
    """The tab key goes through all of them once; of a row of choices the arrows change the one."""
    page = reader.page
    page.goto(f"{page.url}#model=gemma-3-27b")
    page.reload()
    expect(page.locator(".lead b")).to_have_text("Gemma 3 27B")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the question"
    page.keyboard.press("Enter")
    expect(page.locator(".what")).to_be_focused()
    expect(page.locator(".what")).to_have_value("Gemma 3 27B")  # which a place of the page leaves as it is
    opened(page, "Qwen3 8B")
    ask(page, 131_072)
    page.locator(".what").focus()
    met = [".what"]
    while len(met) < 60:
        page.keyboard.press("Tab")
        here = page.evaluate("(e => !e.closest('.yours') ? '' : e.className.baseVal ?? (e.className || e.dataset.k || e.dataset.n || e.type || e.href || e.localName))(document.activeElement)")
        if not here:
            break
        met.append(here)
    for name in ("sr", "Qwen3 8B", "refused", "bars alike", "share", "n", "select-one", "32768", "131072", "grip"):
        assert met.count(name) == 1, " | ".join(map(str, [name, *met]))
    assert met[:3] == [".what", "n", "select-one"]
    page.locator(".share").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.startsWith('#model=')")
    page.locator("[data-n='131072']").focus()
    page.keyboard.press("Space")
    page.locator(".remedy [aria-checked=true]").focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.r") == "llama3"
    page.keyboard.press("ArrowRight")
    page.locator("[data-b='2']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-b='1']")).to_have_attribute("aria-checked", "true")
    page.locator(".mine summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".costs p").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, address, scheme):
    """In the dark only colors are others."""
    with visit(browser, 1280, scheme) as reader:
        reader.open(address)
        axe = reader.axe if scheme == "light" else reader.contrast
        for name in ("Qwen3 8B", "Gemma 3 27B", "MPT 7B", "GPT-2", "T5 base", "Nemotron-H 56B"):
            opened(reader.page, name)
            assert axe() == [], name
        opened(reader.page, "Qwen3 8B")
        for kind, (name, tokens) in KINDS.items():
            opened(reader.page, name)
            ask(reader.page, tokens)
            assert axe() == [], kind
        ask(reader.page, "many")
        reader.page.evaluate("document.querySelector('.mine').open = true")
        expect(reader.page.locator(".costs p").first).to_be_visible()
        assert axe() == []
        paste(reader.page, COMMANDS[0][0])
        assert axe() == []
        reader.page.get_by_role("button", name="one it refuses").click()
        assert axe() == [] and not reader.faults


def test_nothing_is_wider_than_a_phone(reader):
    page, wide = reader.page, "() => document.documentElement.scrollWidth"
    for width in (320, 390, 768):
        reader.resize(width)
        for name in ("Qwen3 8B", "Gemma 3 27B", "MPT 7B", "GPT-2", "Nemotron-H 56B", "DeepSeek-V4-Flash"):
            opened(page, name)
            assert page.evaluate(wide) == width, name
            for one in PROGRAMS:
                program(page, one)
                assert page.evaluate(wide) == width, name
        opened(page, "Qwen3 8B")
        page.get_by_role("radio", name="YaRN").click()
        page.evaluate("document.querySelector('.mine').open = true")
        expect(page.locator(".costs p").first).to_be_visible()
        assert page.evaluate(wide) == width
        paste(page, COMMANDS[0][0])
        assert page.evaluate(wide) == width
        page.get_by_role("button", name="one it refuses").click()
        assert page.evaluate(wide) == width
    reader.resize(390)
    opened(page, "Gemma 3 27B")
    last = page.locator(".look").bounding_box()
    assert last["y"] + last["height"] <= 3 * 844  # three screens


def test_without_scripts_a_sentence_and_the_command(plain, address):
    plain.goto(address)
    assert "This page computes in your browser" in plain.inner_text(".yours noscript")
    assert plain.locator(".yours :is(form, .chips):visible").count() == 0
    assert plain.locator("#in-a-terminal pre:visible").inner_text().strip() == "python -m d2lpos.config read config.json"


def test_a_browser_that_unpacks_nothing_gets_a_sentence(browser, address):
    with visit(browser) as reader:
        reader.page.add_init_script("delete window.DecompressionStream")
        reader.page.goto(address)
        expect(reader.page.locator(".yours .out")).to_contain_text("The command below gives the same answers.")
        assert not reader.faults


def test_on_paper_nothing_asks_to_be_pressed(reader):
    reader.page.emulate_media(media="print")
    assert reader.page.locator(".yours :is(.given, .chips, .copy, .do button):visible").count() == 0
    assert reader.page.locator(".yours :is(.lead, .bars, .plot, .big):visible").count() == 4


def test_it_comes_from_a_server_too_and_is_light_and_nothing_moves_then(browser, site):
    with serve(site, Quiet) as address, visit(browser, 390) as reader:
        sizes = {}
        reader.page.on("response", lambda answer: sizes.setdefault(answer.url, answer))
        reader.page.add_init_script(SHIFTS)
        reader.page.goto(f"{address}/book/your-model.html")
        expect(reader.page.locator(".lead b")).to_have_text("Qwen3 8B")
        reader.page.wait_for_load_state("networkidle")
        reader.page.evaluate("document.fonts.ready")
        assert reader.page.evaluate("shift") <= 0.01
        assert sum(len(answer.body()) for answer in sizes.values()) <= HEAVIEST
        [script] = [answer.body() for url, answer in sizes.items() if url.endswith("/your-model.js")]
        assert len(gzip.compress(script)) <= LONGEST_SCRIPT
        assert not reader.faults
