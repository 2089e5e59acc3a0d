"""Where a configuration comes from: a file, a folder, standard input, the book's list of releases, or the Hub."""

import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from .load import load
from .names import release_of, steps, unlinked
from .tables import Refused, table
from .words import fill

NAMES = ("config.json", "params.json")
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def opened(name: str) -> tuple[dict, Mapping, list[str]]:
    """A configuration, the release that it is of, empty where none is known, and sentences on where it comes from.

    The name of a release gives the file of the book's list without a network; any other org/name is asked for on the Hub. Raises
    as `load` and `Path.read_bytes` do, for a path too that leads nowhere, and Refused or a ValueError for a name that is nobody's.
    """
    if name == "-":
        config, notes = load(sys.stdin.buffer.read(), name)
        return config, {}, notes
    if Path(name).exists() or not steps(name):
        config, notes = of_path(Path(name))
        return config, {}, notes
    words = table("words")["files"]
    try:
        release = release_of(name)
    except ValueError as error:
        missing, hub = f"{name}: no such file, and {error}", unlinked(name)
    else:
        return (
            release["config"],
            release,
            [fill(words["release"], name=release["name"], source=release["source"])],
        )
    if not HUB_NAME.fullmatch(hub):
        raise ValueError(missing)
    try:
        config, notes = load(from_hub(hub), hub)
    except Refused as why:
        if why.code in ("no_hub", "no_network"):
            raise ValueError(f"{missing}; {why}") from None
        raise
    return config, {}, [fill(words["hub"], name=hub), *notes]


def of_path(path: Path) -> tuple[dict, list[str]]:
    """What a file holds, or the file of a folder that says most. Of a GGUF file only the header is read."""
    if path.is_dir():
        names = sorted(one.name for one in path.glob("*.gguf"))
        first = [
            one
            for one in names
            if not re.search(r"-(?!0*1-of-)\d+-of-\d+\.gguf$", one) and not one.startswith("mmproj")
        ]
        found = next((name for name in NAMES if (path / name).is_file()), None)
        if not found and len(first) > 1:
            raise Refused("several", name=str(path), names=first)
        if not found and not first:
            raise Refused("no_config", name=str(path))
        path /= found or first[0]
    with path.open("rb") as file:

        def more(start: int, size: int) -> bytes:
            file.seek(start)
            return file.read(size)

        begin = file.read(4)
        rest = table("gguf")["prefix"] if begin == b"GGUF" else table("keys")["files"]["largest"] + 4
        return load(begin + file.read(rest), str(path), more)


def from_hub(name: str) -> bytes:
    """The config.json or params.json of a model on the Hub. Raises Refused without huggingface_hub, a network or the file."""
    try:
        from huggingface_hub import constants, hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
    except ImportError:
        raise Refused("no_hub", name=name) from None
    why = unreachable(constants.ENDPOINT)  # where it would try again for half a minute
    for file in NAMES:
        try:
            return Path(hf_hub_download(name, file, local_files_only=bool(why))).read_bytes()
        except LocalEntryNotFoundError as error:
            why = why or str(error.__cause__ or error).partition("\n")[0]
        except EntryNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise Refused("no_network", name=name, why=str(error).partition("\n")[0]) from None
    raise Refused("no_network", name=name, why=why) if why else Refused("no_config", name=name)


def unreachable(address: str) -> str:
    """Why a server does not answer, in words; empty where it does, or where a proxy stands before it."""
    parts = urlsplit(address)
    if getproxies():
        return ""
    try:
        socket.create_connection(
            (parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)), timeout=5
        ).close()
    except OSError as error:
        return f"{parts.hostname} is not reached ({error.strerror or error})"
    return ""
