"""Serve the built book on this machine and open it: python book/serve.py [PORT]."""

import os
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).parent.parent / "_build" / "html"


class Handler(SimpleHTTPRequestHandler):
    def log_request(self, *_):
        """Only errors are worth a line."""

    def send_error(self, code, *words):
        """Show the page that a host shows where none is."""
        page = Path(self.directory, "404.html")
        if code == 404 and page.exists():
            self.error_message_format = page.read_text("utf-8").replace("%", "%%")
        super().send_error(code, *words)


def main(port: str = "8000") -> str | None:
    """Serve until Ctrl-C. Return a sentence when that cannot be."""
    if not port.isdecimal() or not 0 <= int(port) < 65536:
        return f"PORT must be a number from 0 to 65535, not {port!r}."
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(port)), partial(Handler, directory=SITE))
    except OSError as error:
        return f"Port {port} cannot be used ({error.strerror}): name another, as in `make serve PORT=8080`."
    url = f"http://127.0.0.1:{server.server_port}/"
    print(f"The book is at {url} (Ctrl-C ends)", flush=True)
    # Without a display, webbrowser would start a text browser in this terminal.
    if sys.platform == "darwin" or os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY"}:
        webbrowser.open(url)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
