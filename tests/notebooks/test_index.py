"""The index of the search: what a page is cut into, and the ids that its blocks get."""

import re

import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.search import once, own_id, read, text_of

PAGE = """<nav><p>Not of the text.</p></nav>
<article><section id="alibi"><h1>6. ALiBi<a class="headerlink" href="#alibi">#</a></h1>
<script>
drawn("<p>not a paragraph</p>")
</script><p>Train <b>short</b>, test <i>long</i>.</p>
<section id="slopes"><h2>6.3. Slopes</h2><p id="own">There are <math><mi>H</mi></math> heads in all.</p>
<div class="math" id="eq-6-2">
<math><msub><mi>m</mi><mi>h</mi></msub><mo>=</mo><msqrt><mi>d</mi></msqrt></math></div>
<ul><li><p>First of all things.</p></li><li>Loose words of an item</li></ul>
<table><tr><td>ALiBi</td><td>adds</td><td>a line</td><td>per head</td></tr>
<tr><td>1.0</td><td>2.0</td></tr></table>
<pre>True</pre><pre>print(slopes(heads))  # a half, a quarter</pre>
<details><summary>Show the code</summary><p>What is folded stays folded.</p></details>
<div class="exercise" id="ex-six"><p>Exercise 6.1 (Lines)</p>
<p class="effort">5 minutes</p><p>Draw all the lines.</p></div>
<div class="solution"><p>The solution of the exercise.</p></div>
<dl><dt>base</dt><dd><p>A number of the frequencies.</p></dd></dl>
</section></section></article>"""


@pytest.fixture
def page_index():
    return read(PAGE)


def test_a_page_is_cut_into_sections_exercises_and_terms(page_index):
    _, title, entries = page_index
    assert title == "6. ALiBi"
    assert [(entry["title"], entry["above"]) for entry in entries] == [
        ("6. ALiBi", ""),
        ("6.3. Slopes", "6. ALiBi"),
        ("Exercise 6.1 (Lines)", "6. ALiBi > 6.3. Slopes"),
        ("base", "6. ALiBi > 6.3. Slopes"),
    ]
    assert entries[0]["bold"] == "short" and entries[2]["id"] == "ex-six"


def test_blocks_are_what_one_would_look_for(page_index):
    texts = [[text for _, text, *_ in entry["blocks"]] for entry in page_index[2]]
    assert texts == [
        ["Train short, test long."],
        [
            "There are H heads in all.", "m_h = √d", "First of all things.", "Loose words of an item",
            "ALiBi adds a line per head", "print(slopes(heads)) a half, quarter",
        ],
        ["Draw all the lines."],
        ["base", "A number of the frequencies."],
    ]
    assert [block[2:] for block in page_index[2][1]["blocks"]] == [[]] * 5 + [["code"]]


def test_each_block_has_an_id_and_nothing_else_changes(page_index):
    page, _, entries = page_index
    html, known = BeautifulSoup(page, "html.parser"), set()
    for entry in entries:
        for anchor, text, *more in entry["blocks"]:
            whole = text_of(html.find(id=anchor or own_id(text)))
            assert text == (once(whole, known) if "code" in more else whole)
    assert re.sub(' id="p-[0-9a-f]{6}"', "", page) == PAGE
    assert [block[0] for block in entries[1]["blocks"][:2]] == ["own", "eq-6-2"]


def test_a_block_that_waits_for_a_prediction_names_it_or_says_that_nobody_can_have_made_it():
    told = '<div class="told"{}><p>The answer is seven.</p></div>'.format
    page = f"""<article><section id="a"><h1>A</h1>{told(' data-of="1.seven"')}{told('')}<p>This stands above the question.</p></section></article>"""
    [entry] = read(page)[2]
    assert [block[2:] for block in entry["blocks"]] == [["", "1.seven"], ["", True], []]
