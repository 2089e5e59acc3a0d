"""The finished pages as text: links, names, files from elsewhere. No browser is needed."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup

from tests.site.pages import EVERYWHERE, FRONT, NOT_FOUND, PAGES, ROOT, broken, pages, read

REPOSITORY = re.search(r'Repository = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]


def test_book_builds(build):
    _, problems = build
    assert not problems, problems


def test_every_page_is_known(site):
    names = {path.relative_to(site).with_suffix("").as_posix() for path in pages(site)}
    assert names == {*EVERYWHERE, NOT_FOUND}


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert broken(site) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="away.html">', "leads to away.html, which is not there"),
        ('<a href="other.html#nothing">', "leads to other.html#nothing, but no element"),
        ('<script src="https://cdn.example/x.js">', "loads https://cdn.example/x.js from another host"),
        ('<link rel="preconnect" href="//fonts.example">', "loads //fonts.example from another host"),
        ('<a href="https://example.org/paper.html#s">', None),
        ('<img src="data:image/png;base64,AAAA">', None),
    ],
)
def test_broken_links_are_found(tmp_path, body, fault):
    (tmp_path / "page.html").write_text(f"<html><body>{body}</body></html>")
    (tmp_path / "other.html").write_text('<html><body><p id="here"></body></html>')
    faults = broken(tmp_path)
    assert [fault in text for text in faults] == [True] if fault else faults == []


@pytest.mark.parametrize("name", PAGES)
def test_page_names_its_language_and_describes_itself(site, name):
    page = read(site / f"{name}.html")
    assert page.language == "en"
    assert page.description, (
        "no description: in Markdown it is myst.html_meta.description at the top of the file, "
        "in a notebook the same in its metadata"
    )
    assert 50 <= len(page.description) <= 160, (
        f"a search engine shows 50 to 160 characters of {page.description!r}"
    )


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("chapters/")])
def test_solutions_are_folded(site, name):
    text = (site / f"{name}.html").read_text("utf-8")
    assert len(re.findall(r'<details class="solution admonition" id="[^"]+">', text)) == text.count('class="solution ')


def test_descriptions_differ(site):
    described = [read(site / f"{name}.html").description for name in PAGES]
    assert len(set(described)) == len(described)


def test_every_page_says_first_what_it_may_load(site):
    for path in pages(site):
        page = path.read_text("utf-8")
        first = re.search('<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"', page)
        assert first.end() <= 1024 and page.count("charset=") == 1, path
        assert "script-src &#x27;self&#x27;" in page and page.count("unsafe-inline") == 1, path


def head(page: str) -> BeautifulSoup:
    return BeautifulSoup(page.partition("</head>")[0], "html.parser")


@pytest.mark.parametrize("name", PAGES)
def test_page_waits_for_one_script_before_it_is_shown(site, name):
    """Under a policy, browsers look no further than a script that they wait for: each costs a way to the server."""
    scripts = head((site / f"{name}.html").read_text("utf-8")).select("script[src]")
    waits = [script["src"] for script in scripts if not script.has_attr("defer")]
    assert len(scripts) > 5
    assert len(waits) == 1 and "documentation_options.js" in waits[0]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_shown_when_a_screenful_is_there(site, name):
    page = (site / f"{name}.html").read_text("utf-8")
    [link] = head(page).select("link[rel=expect][blocking=render]")
    before, after = page.split(f'id="{link["href"].removeprefix("#")}"')
    figure = after.partition("</figure>")[0] * before.endswith('<figure class="first" ')
    _, text = (before + figure).split("<article")
    assert len(text) > 8_000 or "</article>" in text


def test_no_page_is_fetched_ahead_of_the_reader(site):
    assert not [path for path in pages(site) if re.search('rel="(next|prefetch)"', path.read_text("utf-8"))]


def test_styles_are_those_that_safari_reads():
    """No line with color and width in one declaration; and what only Chromium needs reaches it alone."""
    css = (ROOT / "book" / "_static" / "book.css").read_text("utf-8")
    assert set(re.findall(r"text-decoration:([^;}]*)", css)) == {"underline", "none"}
    _, chromium = css.split("@supports (not (-webkit-backdrop-filter:none)) and (not (-moz-appearance:none)) {")
    block, _, _ = chromium.partition("}}\n")
    assert css.count("-webkit-right") == block.count("-webkit-right") == 1


@pytest.mark.parametrize("name", PAGES)
def test_page_has_a_link_that_reports_an_error_on_it(site, name):
    links = [urlsplit(link) for link in read(site / f"{name}.html").links if "&place=" in link]
    new = f"{REPOSITORY}/issues/new?"
    [query] = [parse_qs(link.query) for link in links if link.geturl().startswith(new)]
    assert query["place"][0].endswith(f"({FRONT if name == 'index' else name})")  # the source
    [form] = query["template"]
    assert "id: place\n" in (ROOT / ".github" / "ISSUE_TEMPLATE" / form).read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in PAGES if (ROOT / f"{name}.ipynb").exists()])
def test_notebook_opens_in_colab_and_can_be_kept(site, name):
    links = read(site / f"{name}.html").links
    home = REPOSITORY.removeprefix("https://")
    assert f"https://colab.research.google.com/{home.replace('.com', '')}/blob/main/{name}.ipynb" in links
    [download] = [link for link in links if "_sources" in link]
    files = ((site / name).parent / download, ROOT / f"{name}.ipynb")
    copy, own = (json.loads(path.read_text("utf-8")) for path in files)
    begin = "".join(own["cells"][0].pop("source"))  # behind which a copy may say how to trust it
    assert "".join(copy["cells"][0].pop("source")).startswith(begin)
    assert copy == own
