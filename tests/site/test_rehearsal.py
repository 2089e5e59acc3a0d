"""What the rehearsal in other browsers says of a failure."""

from http.server import BaseHTTPRequestHandler

import pytest

from tests.rehearsals.browsers import WebKit, attempt
from tests.site.serving import serve


class Refusing(BaseHTTPRequestHandler):
    """A driver that refuses, in the words of the protocol."""

    def __init__(self, *request, directory):
        super().__init__(*request)

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.send_response(500)
        self.end_headers()
        self.wfile.write(b'{"value": {"error": "timeout", "message": "the page took too long"}}')


class Browser:
    def ask(self, path, **_):
        return "file:///hero.html"


def test_it_tells_the_message_of_the_driver():
    browser = WebKit.__new__(WebKit)
    with serve(None, Refusing) as browser.address, pytest.raises(RuntimeError, match="timeout: the page took too long"):
        browser.path = "/"
        browser.ask("url", url="x")


@pytest.mark.parametrize(("faults", "words"), [(0, ""), (1, ""), (2, "at file:///hero.html: fault 2")])
def test_it_tries_once_more_and_names_the_page(faults, words):
    tried = []

    def trial(browser):
        tried.append(browser)
        if len(tried) <= faults:
            raise RuntimeError(f"fault {len(tried)}")

    assert attempt(Browser(), trial) == words
    assert len(tried) == min(faults + 1, 2)
