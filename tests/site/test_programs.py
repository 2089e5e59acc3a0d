"""A long program that several pages show is one file, and a page can have it back."""

import programs

HERO = '''<div data-hero="{key}"></div>
<script>
"use strict"; {{
{body}
for (const element of document.querySelectorAll('[data-hero="{key}"]'))
if (!element.shadowRoot) render(element, {{"at": {key}}});
}}
</script>
'''
LONG, OTHER = ("const render = 1; //" + letter * programs.LEAST for letter in "ab")


def test_only_what_is_long_and_shared_becomes_a_file(tmp_path):
    pages = {
        "index.html": HERO.format(key=1, body=LONG),
        "chapters/a.html": "<p>Words</p>" + HERO.format(key=2, body=LONG) + HERO.format(key=3, body="const render = 2;"),
        "chapters/b.html": HERO.format(key=4, body=OTHER) + HERO.format(key=5, body="const render = 2;"),
    }
    for folder in ("chapters", "_static"):
        (tmp_path / folder).mkdir()
    for name, page in pages.items():
        (tmp_path / name).write_text(page, "utf-8")
    programs.share(tmp_path)
    written = {name: (tmp_path / name).read_text("utf-8") for name in pages}
    [file] = (tmp_path / "_static").iterdir()
    assert f'<script src="_static/{file.name}"></script>' in written["index.html"]
    assert f'<script src="../_static/{file.name}"></script>' in written["chapters/a.html"]
    assert LONG in file.read_text("utf-8") and LONG not in written["index.html"] + written["chapters/a.html"]
    assert 'figures["' in written["index.html"] and '"at": 2' in written["chapters/a.html"]
    assert written["chapters/b.html"] == pages["chapters/b.html"]
    assert {name: programs.whole(page, tmp_path) for name, page in written.items()} == pages
    programs.share(tmp_path)
    assert {name: (tmp_path / name).read_text("utf-8") for name in pages} == written
