"""What the rehearsal in other browsers says of a failure."""

from types import SimpleNamespace

import pytest

from tests.rehearsals.browsers import WebKit, attempt
from tests.site.serving import Quiet, serve


class Refusing(Quiet):
    """A driver that refuses, in the words of the protocol."""

    def do_POST(self):
        self.send_response(500)
        self.end_headers()
        self.wfile.write(b'{"value": {"error": "timeout", "message": "the page took too long"}}')


def test_it_tells_the_message_of_the_driver(tmp_path):
    browser = WebKit.__new__(WebKit)
    browser.path = "/"
    with serve(tmp_path, Refusing) as browser.address, pytest.raises(RuntimeError, match="timeout: the page took too long"):
        browser.ask("url", url="x")


@pytest.mark.parametrize(("faults", "words"), [(0, ""), (1, ""), (2, "at file:///hero.html: fault 2")])
def test_it_tries_once_more_and_names_the_page(faults, words):
    left = ["fault 2", "fault 1"][-faults:] if faults else []

    def trial(_):
        if left:
            raise RuntimeError(left.pop())

    assert attempt(SimpleNamespace(ask=lambda *_, **__: "file:///hero.html"), trial) == words
