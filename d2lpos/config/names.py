"""Released models by name: which release a name means, and which are nearest to one that none has.

`tables/releases.json` is written by `python -m tests.parity.releases` from `book/models/releases.yml`, and
`book/your-model/names.js` has the rule for the page. `tables/names.json` has the endings of names behind which stands the
same file: a further training leaves the positions as they are, unless the release says under `unlike` that its makers' does
not, and a copy in another format or in fewer bits leaves all. The nearest names have at least a `likeness`, and at least
`beside_best` of the best one's.
"""

import math
import re
from collections.abc import Mapping
from functools import cache

from .tables import Refused, table


@cache
def releases() -> list[dict[str, object]]:
    """The released models, each with name, year, source and config; trained, context, report, stretch, unlike and sizes where
    known.

    >>> releases()[0]["name"]
    'MiniMax-M2.5'
    """
    return table("releases")


def identity(release: Mapping) -> str:
    """The owner and the name of a release at Hugging Face.

    >>> identity(release_of("qwen3 8b"))
    'Qwen/Qwen3-8B'
    """
    return "/".join(release["source"].split("/")[3:5])


def plain(name: str) -> str:
    """A name without case, blanks and marks; between two digits one blank stays, so that 3.1 8B is not 31 8B.

    >>> plain("Llama-3.1-8B"), plain("llama3_1 8b"), plain("Gemma 31B")
    ('llama3 1 8b', 'llama3 1 8b', 'gemma31b')
    """
    words = re.sub("[^a-z0-9]+", " ", name.lower())
    return re.sub(" ([a-z]|$)", r"\1", re.sub("([a-z]|^) ", r"\1", words))


def shorter(name: str, endings: str) -> tuple[str, str]:
    """A name without its last ending, and that ending; twice nothing where it has none of these."""
    cut = re.search(f"[^a-z0-9]+({endings})$", name.lower())
    return (name[: cut.start()], cut[1]) if cut and cut.start() else ("", "")


def unlinked(text: str) -> str:
    """A name, or what a link to a page of Hugging Face names, or a folder of its cache, without quotation marks.

    >>> unlinked("https://huggingface.co/gpt2"), unlinked("models--Qwen--Qwen3-8B")
    ('gpt2', 'Qwen/Qwen3-8B')
    """
    text = text.strip(" \t\r\n\"'`").rstrip("/")
    linked = re.search(table("names")["site"], text, re.IGNORECASE)
    return re.sub("^models--(.+?)--", r"\1/", linked[1] if linked else text)


def steps(text: str) -> list[tuple[str, list[str]]]:
    """What a name may mean, plain: as it is and with ever fewer endings, each with the endings that it lacks.

    >>> steps("unsloth/Gemma-3-27B-it-GGUF")
    [('gemma3 27bitgguf', []), ('gemma3 27bit', ['gguf']), ('gemma3 27b', ['gguf', 'it'])]
    """
    owner, _, name = unlinked(text).rpartition("/")
    if re.search(r"^[.~/]|/", owner) or not plain(name):
        return []  # a path
    meanings: list[tuple[str, list[str]]] = []
    endings: list[str] = []
    while name:
        meanings.append((plain(name), endings))
        name, ending = shorter(name, "|".join((*table("names")["trained"], table("names")["copied"])))
        endings = [*endings, ending]
    return meanings


@cache
def names(source: str, name: str) -> tuple[str, ...]:
    """What a release is called, plain: its name, its name at Hugging Face, and that without the endings of copies.

    Each also behind its owner or the owner's first word, as repackagers write it: google_gemma-3-27b-it, Meta-Llama-3.1-8B.
    """
    owner, own = source.split("/")[3:5]
    every = [plain(name)]
    while own:
        every.append(plain(own))
        own, _ = shorter(own, table("names")["copied"])
    return (*every, *(plain(f"{maker} {one}") for maker in (owner, owner.split("-")[0]) for one in every))


def look_up(text: str) -> tuple[dict | None, list[dict]]:
    """The release that a name means, or else None and those that it may mean or that are nearest to it.

    Case, blanks, marks and the owner before a slash do not count, nor do endings such as -Instruct and -GGUF, unless a
    release says that its keys of positions then are others. A part of a name means no release, be it of one only.

    >>> [one["name"] for one in look_up("DeepSeek-V3")[1]]
    ['DeepSeek-V3.2']
    """
    asked = steps(text)
    for name, endings in asked:
        same = [
            one
            for one in releases()
            if name in names(one["source"], one["name"]) and not set(endings) & set(one.get("unlike", ()))
        ]
        if same:
            return (same[0], []) if len(same) == 1 else (None, likest(same, name))
    for name, _ in asked:
        part = [
            one
            for one in releases()
            if any(name in whole for whole in (*names(one["source"], one["name"]), plain(identity(one))))
        ]
        if part:
            return None, likest(part, name)
    return None, nearest(text) if asked else []


def likest(every: list[dict], name: str) -> list[dict]:
    """The releases among these whose names are most like a plain one, the likest first."""
    order = sorted(every, key=lambda one: -likest_name(one, name))
    return order[: table("names")["nearest"]]


def nearest(text: str) -> list[dict]:
    """The releases whose names are most like a name without its endings, also those in its middle."""
    words = re.split("[^a-z0-9]+", unlinked(text).rpartition("/")[2].lower())
    name = steps("-".join(word for word in words if word not in table("names")["trained"]) or text)[-1][0]
    like = [(likest_name(one, name), one) for one in releases()]
    best = max(value for value, _ in like)
    about = table("names")
    return likest(
        [one for value, one in like if value >= max(about["likeness"], about["beside_best"] * best)], name
    )


def likest_name(release: Mapping, name: str) -> float:
    """How like a release's name is to a plain one, or the one that it has at Hugging Face, without its endings."""
    return max(likeness(name, one) for one in without_endings(identity(release), release["name"]))


@cache
def without_endings(whole: str, name: str) -> tuple[str, str]:
    return plain(name), steps(whole)[-1][0]


def likeness(one: str, other: str) -> float:
    """Of the pairs of neighboring signs in two names those that both have, by the geometric mean of their numbers."""
    pairs, others = ({name[i : i + 2] for i in range(len(name) - 1)} for name in (one, other))
    return len(pairs & others) / math.sqrt(len(pairs) * len(others)) if pairs and others else 0.0


def release_of(text: str) -> dict:
    """The release that a name means. Raises Refused, a ValueError, where none has it, with the names that are nearest."""
    release, near = look_up(text)
    if release is None:
        names_near = [one["name"] for one in near]
        raise Refused("release_near" if near else "release", name=text, names=names_near)
    return release


def is_called(release: Mapping, text: str) -> bool:
    """Whether a text is the name of a release, with or without the owner, and not like it alone."""
    whole = identity(release)
    return plain(unlinked(text)) in {plain(name) for name in (release["name"], whole, whole.partition("/")[2])}


def loaded(release: Mapping, text: str) -> str | None:
    """The name at Hugging Face that a text means, which leads to a release; None where it names no owner of a copy.

    >>> loaded(release_of("Qwen3 8B"), "unsloth/Qwen3-8B-GGUF")
    'unsloth/Qwen3-8B-GGUF'
    """
    name = unlinked(text)
    return identity(release) if is_called(release, text) else name if re.fullmatch(r"[\w.-]+/[\w.-]+", name) else None


def alike(config: Mapping) -> Mapping:
    """A release all of whose keys a configuration has, by which its makers' lengths are known; empty where none is.

    Empty too where several have them and their makers say other lengths.

    >>> alike(release_of("qwen3 8b")["config"])["name"]
    'Qwen3 8B'
    """
    said = ("trained", "context", "stretch")
    every = [
        one for one in releases() if has_keys(config, one["config"]) and any(name in one for name in said)
    ]
    same = all([one.get(name) for name in said] == [every[0].get(name) for name in said] for one in every)
    return every[0] if every and same else {}


def sized(config: Mapping, release: Mapping, text: str) -> Mapping:
    """The configuration of a release with the further sizes that its weights are counted from, where the list has them; without
    the bits of a weight where a text means a copy in another format."""
    sizes, copied = dict(release.get("sizes", {})), shorter(unlinked(text), table("names")["copied"])[1]
    for key in ("dtype", "torch_dtype") if copied and not is_called(release, text) else ():
        sizes.pop(key, None)
    text = config.get("text_config")
    return {**config, "text_config": {**sizes, **text}} if isinstance(text, Mapping) else {**sizes, **config}


def has_keys(config: Mapping, other: Mapping) -> bool:
    """Whether a configuration has all keys of another, and their values, in its text where it has one."""
    texts = [
        one["text_config"] if isinstance(one.get("text_config"), Mapping) else one for one in (config, other)
    ]
    types = [
        {one.get("model_type"), text.get("model_type")} - {None}
        for one, text in zip((config, other), texts, strict=True)
    ]
    own, wanted = texts
    idle = {"model_type"} | ({"max_position_embeddings"} if lacks_length(own) else set())
    return bool(types[0] & types[1]) and all(key in own and own[key] == wanted[key] for key in wanted if key not in idle)


def lacks_length(config: Mapping) -> bool:
    """Whether a configuration is of a params.json that says no length: the rest then tells the release and so the length."""
    return config.get("_from") == "params.json" and config.get("max_position_embeddings") is None
