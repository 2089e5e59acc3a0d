"""A page for the figures of this folder."""

import pytest

from tests.figures.hero.host import Host


@pytest.fixture
def host(browser, request):
    """A page in a window of the size that the module has as WINDOW; `on` gives its context other options."""
    width, height = request.module.WINDOW
    options = {"viewport": {"width": width, "height": height}} | getattr(request, "param", {})
    context = browser.new_context(**options)
    host = Host(context)
    yield host
    context.close()
    assert host.trouble == []
