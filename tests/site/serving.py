"""The site over HTTP, from this machine."""

from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def handle(self):
        with suppress(ConnectionError):  # the reader left before the answer came
            super().handle()


@contextmanager
def serve(site, handler):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
