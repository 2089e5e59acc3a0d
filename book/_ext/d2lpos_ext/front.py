"""The first page of the book is `index.html`, wherever its source lies: one address, one preview."""

from sphinx.application import Sphinx


def place_front(app: Sphinx) -> None:
    """Let the builder write the root of the table of contents to `index.html`, and lead there."""
    if app.builder.format != "html":
        return
    builder, root = app.builder, app.config.root_doc
    uri, file = builder.get_target_uri, builder.get_outfilename
    builder.get_target_uri = lambda name, typ=None: uri("index" if name == root else name, typ)
    builder.get_outfilename = lambda name: file("index" if name == root else name)
