"""Where the command finds a configuration: a file, a folder, standard input, a release's name, or the Hub."""

import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from d2lpos.config import sources
from d2lpos.config.__main__ import main
from d2lpos.config.angles import in_force
from tests.parity.headers import written

GGUF = {"block_count": 2, "embedding_length": 64, "attention.head_count": 4, "rope.freq_base": 5e5}
LLAMA = {"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 777.0}
META = {"dim": 64, "n_layers": 4, "n_heads": 4, "rope_theta": 888.0}


def printed(capsys, *arguments):
    failed = main(["read", *map(str, arguments)])
    return failed or capsys.readouterr().out


def test_a_folder_gives_the_file_that_says_most(tmp_path, capsys):
    assert printed(capsys, tmp_path) == f"{tmp_path} must hold a config.json, a params.json or a .gguf, and holds none"
    for name in ("model-00001-of-00002.gguf", "model-00002-of-00002.gguf", "mmproj-model.gguf"):
        (tmp_path / name).write_bytes(written("llama", GGUF))
    assert "base 500,000" in printed(capsys, tmp_path) and "GGUF" in printed(capsys, tmp_path / "model-00001-of-00002.gguf")
    (tmp_path / "other.gguf").write_bytes(written("llama", GGUF))
    assert "name one of model-00001-of-00002.gguf, other.gguf" in printed(capsys, tmp_path)
    (tmp_path / "params.json").write_text(json.dumps(META))
    assert "params.json of Meta or Mistral" in printed(capsys, tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    assert "base 777," in printed(capsys, tmp_path)


def test_standard_input_may_hold_any_file(monkeypatch, capsys):
    for data, base in ((written("llama", GGUF), "500,000"), (json.dumps(META).encode("utf-16"), "888")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert f"base {base}," in printed(capsys, "-")


def test_divisors_are_read_from_their_place_in_a_long_file(tmp_path, monkeypatch, capsys):
    plain = {"rotary": 16, "axes": 1, "base": 5e5, "rule": None}
    rule = {"kind": "llama3", "factor": 32, "length": 8192, "low": 1, "high": 4}
    pairs = zip(in_force(plain)[0], in_force(plain | {"rule": rule})[0], strict=True)
    data = written("llama", GGUF, {"rope_freqs.weight": [one / other for one, other in pairs]})
    (tmp_path / "long.gguf").write_bytes(data)
    monkeypatch.setitem(sources.table("gguf"), "prefix", len(data) - 40)
    assert "llama3(factor=32, length=8192" in printed(capsys, tmp_path / "long.gguf")


HUB_FILES = {"/some/model/resolve/main/config.json": LLAMA, "/some/params/resolve/main/params.json": META}


class Hub(BaseHTTPRequestHandler):
    """A server with the files of two models, as the Hub has them."""

    def do_HEAD(self):
        body = HUB_FILES.get(self.path)
        data = json.dumps(body).encode()
        self.send_response(200 if body else 404)
        if body:
            self.send_header("ETag", '"1"')
            self.send_header("X-Repo-Commit", "0" * 40)
        else:
            code = "EntryNotFound" if self.path.startswith("/some/") else "RepoNotFound"
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", str(len(data) if body else 0))
        self.end_headers()
        return data if body else b""

    def do_GET(self):
        self.wfile.write(self.do_HEAD())

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(monkeypatch, tmp_path):
    constants = pytest.importorskip("huggingface_hub.constants")
    server = HTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    for name, value in {"ENDPOINT": address, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": False}.items():
        monkeypatch.setattr(constants, name, value)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + template[template.index("/{repo_id}") :])
    yield server
    server.shutdown()
    server.server_close()


def test_a_model_of_the_hub(hub, capsys):
    assert "some/model, read from the Hub." in (out := printed(capsys, "some/model")) and "base 777," in out
    assert "params.json" in printed(capsys, "https://huggingface.co/some/params")
    assert "some/none must hold a config.json" in printed(capsys, "some/none")
    assert "does not give the config.json of nobody/none" in printed(capsys, "nobody/none")


def test_without_a_network_what_was_read_once_is_read_again(hub, capsys):
    printed(capsys, "some/model")
    hub.shutdown()
    hub.server_close()
    assert "base 777," in printed(capsys, "some/model")
    assert "127.0.0.1 is not reached" in (sentence := printed(capsys, "some/params")) and "\n" not in sentence


def test_without_the_package_a_name_is_a_sentence_and_a_release_needs_none(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "huggingface_hub, which would ask the Hub for some/model, is not installed" in printed(capsys, "some/model")
    assert "read from the book's list" in printed(capsys, "unsloth/Qwen3-8B-GGUF")
