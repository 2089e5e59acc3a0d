"""Other libraries' names, names of models and what engineers type find their place among the first two."""

import re

import pytest

from tests.site.detectors import visit

# What is typed, and a piece of the heading, with those above it, that should be among the first two.
QUERIES = {
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
    "gemma base 1000000": "What models use",
    "absolute vs relative": "Notation > absolute, relative",
    "pdf": "How to run it",
    "evict kv cache positions": "context shift",
    "KV cache context shift": "context shift",
    "attention mask NaN fully masked row": "NaN",
    "sliding window off by one": "one token too many",
    "rope precision bf16 long context": "bfloat16|half precision",
    "is_causal kv cache": "is_causal",
    "RoBERTa 514": "index 514",
    "bicubic interpolation vit": "Another resolution|Resize a table",
    "non square image rope": "More than one axis",
}


@pytest.fixture(scope="module")
def found(site, browser) -> dict[str, list[str]]:
    with visit(browser) as reader:
        reader.page.goto(f"{site.as_uri()}/search.html")
        reader.page.evaluate("bookSearch.whole()")

        def first(query: str) -> list[str]:
            reader.page.fill(".bd-search-container input", query)
            return reader.page.locator("#search-results li > a").all_text_contents()[:2]

        return {query: first(query) for query in QUERIES}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_its_place_among_the_first_two(found, query):
    assert re.search(QUERIES[query], " | ".join(found[query])), found[query]
