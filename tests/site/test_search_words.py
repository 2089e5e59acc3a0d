"""What people ask, other libraries' names, names of models, and what people type whose positions are wrong, find their place among the first."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from d2lpos_ext.search import unpack

from tests.site.detectors import visit

ROOT = Path(__file__).parents[2]

# What people type, and words of the page or heading that should come first. Numbers and places may change.
FIRST = {
    "mrope": "axis|axes",
    "why sqrt d": "square root",
    "position ids padding": "Positions are data|padding",
    "left padding": "Positions are data|padding",
    "positional encoding bert": "Learned positions",
    "ntk": "stretch",
    "yarn": "stretch",
    "position interpolation": "stretch|Position interpolation",
    "context extension": "stretch",
    "rope base 500000": "RoPE|stretch",
    "rotate_half": "layouts",
    "2D RoPE": "axis|axes",
    "kv cache": "KV cache|Positions are data",
    "length generalization": "Train short|Extrapolation",
    "2^(-8h/H)": "slope for each head|Slopes for any number",
    "alibi slopes": "slope for each head",
    "T5 bias": "T5",
    "glossary": "Notation > Terms",
    "no positional encoding": "blind to order",
    "Which positional encoding should I use?": "Choosing",
}
# What is typed, and a piece of the heading, with those above it, that should be among the first two.
WORDS = {
    "apply_rotary_pos_emb": "Notation > apply_rotary_pos_emb",
    "inv_freq": "Notation > inv_freq|Where frequencies live",
    "rope_theta": "Notation > rope_theta",
    "position_ids": "Notation > position_ids|Positions are data",
    "alibi_slopes": "Notation > alibi_slopes|slope",
    "is_causal": "Notation > is_causal|is_causal=True",
    "qwen": "What models use",
    "gemma": "What models use",
    "llama": "What models use",
    "gpt-oss": "What models use",
    "gemma base 1000000": "What models use|from a GGUF file",
    "absolute vs relative": "Notation > absolute, relative",
    "pdf": "How to run it",
    "evict kv cache positions": "context shift",
    "KV cache context shift": "context shift|When the cache is full",
    "attention mask NaN fully masked row": "NaN",
    "rope precision bf16 long context": "bfloat16|half precision",
    "RoBERTa 514": "index 514",
    "bicubic interpolation vit": "Another resolution|Resize a table",
    "non square image rope": "More than one axis",
    "sinusodial": "Sinusoidal encodings",  # two slips
    "interploation of positions": "Position interpolation",
}
# The words of a thread, and a piece of the heading that should be among the first three; for other symptoms, THREADS has titles.
SYMPTOMS = {
    "left padding different output": "output changes with left padding",
    "position_ids with left padding": "output changes with left padding|Positions are data",
    "batched generation right padding unrelated text": "Right padding breaks",
    "batch generation garbage for shorter sequences": "shorter rows of the batch",
    "cache_position shared across batch": "shorter rows of the batch",
    "is_causal kv cache": "is_causal",
    "causal mask top left bottom right": "is_causal",
    "kv cache decoding differs from full forward": "Decoding drifts",
    "rope offset after kv cache update": "Decoding drifts",
    "packed sequences attend to each other": "Packed texts hear|One argument",
    "roberta position_ids start at padding_idx": "RoBERTa or XLM-R",
    "DataCollatorWithFlattening position_ids": "RoBERTa or XLM-R|Packed texts hear",
    "sliding window off by one": "one token too many",
    "flash attention window_size": "one token too many",
    "rotate_half vs interleaved converted weights garbage": "Converted weights|Two layouts",
    "partial_rotary_factor ignored": "all of it does|Only the first token|Turn a part",
    "gemma 4 proportional rope": "Partial rotary",
    "permute q k twice": "converted twice",
    "qk norm before or after rope": "Query and key norms",
    "inv_freq bfloat16": "to.bfloat16|Where frequencies live",
    "inv_freq meta device to_empty": "meta|Where frequencies live",
    "unexpected key position_ids state_dict": "Unexpected key",
    "mscale_all_dim attention_factor": "attn_factor",
    "dynamic ntk kv cache": "Dynamic NTK",
    "rope_theta ignored default 10000": "Right on a few tokens",
    "interpolate_pos_encoding bicubic antialias": "Another resolution|Resize a table",
    "torch.compile recompiles every token": "compiles again",
    "multivariate time series position": "forecaster",
}
# Titles of public threads, each with the sections that answer it, as page#words-of-the-heading. The first fifty were
# written down before `book/aliases.yml`, and the others after it.
THREADS = [line.split("\t") for line in (ROOT / "tests/site/threads.tsv").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("queries", "first"), [(FIRST, 1), (WORDS, 2), (SYMPTOMS, 3)], ids=["questions", "words", "symptoms"])
def test_a_query_finds_its_place_among_the_first(site, browser, queries, first):
    lost = {}
    with visit(browser) as reader:
        reader.page.goto(f"{site.as_uri()}/search.html")
        reader.page.evaluate("bookSearch.whole")
        for query, wanted in queries.items():
            reader.page.fill(".bd-search-container input", query)
            links = reader.page.locator("#search-results li > a").all_text_contents()[:first]
            if not re.search(wanted, " | ".join(links)):
                lost[query] = links
    assert lost == {}


def section(href: str, name: str) -> str:
    """Where a result leads, by its page and its heading: "11a-serving#chunked-prefill"."""
    heading = re.sub(r"^[\dA-Z.]+ ", "", name.rpartition(" > ")[2]).lower()
    return f"{Path(urlsplit(href).path).stem}#{re.sub(r'[^a-z0-9]+', '-', heading)}"


BY_FIELD = {"written-before": (THREADS[:50], 48), "written-after": (THREADS[50:94], 42), "graphs-and-times": (THREADS[94:], 9)}


@pytest.mark.parametrize(("threads", "least"), BY_FIELD.values(), ids=BY_FIELD)
def test_titles_of_threads_find_their_section_among_the_first_three(site, browser, threads, least):
    lost = {}
    with visit(browser) as reader:
        reader.page.goto(f"{site.as_uri()}/search.html")
        reader.page.evaluate("bookSearch.whole")
        for _, title, wanted in threads:
            reader.page.fill(".bd-search-container input", title)
            links = reader.page.locator("#search-results li > a").evaluate_all("links => links.slice(0, 3).map(a => [a.href, a.textContent])")
            found = [section(*link) for link in links]
            if not any(re.search(wanted, one) for one in found):
                lost[title] = found
    assert len(threads) - len(lost) >= least, lost


def test_chunked_attention_of_a_model_finds_no_section_of_chapter_1(site, browser):
    with visit(browser) as reader:
        reader.page.goto(f"{site.as_uri()}/search.html")
        reader.page.evaluate("bookSearch.whole")
        for query in ("llama 4 chunked attention", "llama 4 chunked attention nope"):
            reader.page.fill(".bd-search-container input", query)
            links = reader.page.locator("#search-results li > a").evaluate_all("links => links.slice(0, 5).map(a => a.href)")
            assert links and not [link for link in links if "/01-" in link]


def test_each_alias_leads_to_a_section_that_is_there(site):
    index = unpack((site / "_static" / "search-index.bin").read_bytes())
    found = {f"{part['page']}#{entry['id']}": entry["also"] for part in index for entry in part["entries"] if "also" in entry}
    assert found == yaml.safe_load((ROOT / "book" / "aliases.yml").read_text("utf-8"))
