"""How many parameters a text's model has, and what its recurrences keep: sums of products of a file's own sizes.

tables/card.json has the sums, as "hidden_size vocab_size + 2 hidden_size": terms between pluses, factors between blanks.
A factor is a number, a key, or one of the pieces that stand beside them.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from .outer import by_class_names, missing, plain, text_of
from .schema import Reading
from .tables import Refused, table, words


class Sizes:
    """The sizes of a file's text, by key. config is the file, as `read` takes it, and reading what was read of it."""

    def __init__(self, config: object, reading: Reading):
        whole = plain(config if isinstance(config, Mapping) else config.to_dict())
        text = text_of(whole, reading["ignored"])
        own = by_class_names(text.family, text.values)
        self.family, self.reading, self.whole = reading["family"], reading, whole
        outer = {key: whole[key] for key in words("card", "outer") & whole.keys()}  # said there for the text
        inner = own.get("sparse_attention_config")
        every = {**outer, **missing(self.family, own, text.defaults), **own, **(inner if isinstance(inner, dict) else {})}
        self.every = {key: value for key, value in every.items() if value is not None}

    def parameters(self) -> int:
        """All parameters of the text's model, its embeddings too; no heads that predict further tokens, and no tower.

        Raises Refused for a family whose count is not known, and for a file that leaves out a size or builds layers otherwise.
        """
        row = named("parameters", self.family)
        if row is None:
            raise Refused("card_family", family=self.family)
        for name in self.whole.get("architectures") or ():
            if not str(name).endswith(tuple(words("card", "complete"))):
                raise Refused("card_architecture", names=sorted(words("card", "complete")), got=name)
        self.every = {**row["by_class"], **self.every}
        for key, value in row.get("only", {}).items():
            if self.every.get(key) != value:
                raise Refused("card_only", family=self.family, key=key, value=value, got=self.every.get(key))
        return self.sum(row["count"])

    def state(self, form: Mapping) -> float:
        """Bytes of what recurrences and convolutions keep for one text, however long it is; 0 where there are none.

        form says how a program keeps them, by card.json. Raises Refused as above.
        """
        row, layers = named("states", self.family), self.of("stateful")
        if not layers:
            return 0
        if row is None:
            raise Refused("card_state", family=self.family)
        width = table("card")["widths"].get(self.every.get(form.get("key")))
        recurrent = width / 8 if width else form["recurrent"]
        kernel = self.of(row["kernel"]) + form["kernel"]
        convolved = self.sum(row["convolved"]) * kernel * form["convolved"]
        return layers * form["copies"] * (convolved + self.sum(row["recurrent"]) * recurrent)

    def bits(self) -> int:
        """Of a weight, by the file. Raises Refused where it says none, or is quantized, in some layers alone as a rule."""
        both = (self.every, self.whole)
        quantized = any(one.get("quantization_config") or one.get("compression_config") for one in both)
        width = next((one[key] for one in both for key in ("dtype", "torch_dtype") if one.get(key)), None)
        if quantized or width not in table("card")["widths"]:
            raise Refused("card_bits", quantized="is quantized" if quantized else "names no dtype")
        return table("card")["widths"][width]

    def sum(self, text: str) -> int:
        return sum(map(self.product, text.split(" + ")))

    def product(self, term: str) -> int:
        """Of the factors of a term; behind one that is 0 a file need not say the others."""
        word, _, rest = term.partition(" ")
        value = self.of(word)
        return value * self.product(rest) if rest and value else value

    def of(self, word: str) -> int:
        """The value of a factor: a number, a piece, a number of layers, the features or the key heads of a layer, or a key's."""
        about, layers = table("card"), [self.reading["kinds"][kind] for kind in self.reading["layers"]]
        if word.lstrip("-").isdigit():
            return int(word)
        if word in about["pieces"]:
            return self.sum(about["pieces"][word])
        if word == "depth" or word == "stateful" and (named("states", self.family) or {}).get("every"):
            return len(layers)
        if word in about["having"]:
            return sum(bool(one[about["having"][word]]) for one in layers)
        if word in about["types"]:
            return sum(one["type"] in words("card", "types", word) for one in layers)
        if word == "kv":
            return self.of("num_key_value_heads" if "num_key_value_heads" in self.every else "num_attention_heads")
        if word == "dim":
            return self.every.get("head_dim") or self.of("hidden_size") // max(self.of("num_attention_heads"), 1)
        names = [word, *about["also"].get(word, "").split()]
        value = next((self.every[name] for name in names if self.every.get(name) is not None), None)
        if value is None and word in self.every:
            return 0  # which its class leaves out
        if word in words("card", "each"):
            if not isinstance(value, list) or len(value) != len(layers):
                raise Refused("card_each", key=word, depth=len(layers), got=value)
            return sum(one not in (0, "dense") for one in value)
        if type(value) not in (int, bool) or value < 0:
            raise Refused("card_lacks", family=self.family, key=word, got=value)
        return value


def named(part: str, family: str) -> dict | None:
    return next((row for names, row in table("card")[part].items() if family in names.split()), None)


def bytes_of_file(name: str) -> int:
    """Bytes of the weights of a file: an index's total, else the size of the file, or of a folder's weights.

    Raises OSError for a path that leads nowhere, and Refused for an index without a total and a folder without weights.
    """
    path = Path(name)
    if path.is_dir():
        parts = [one for one in path.iterdir() if one.suffix in (".safetensors", ".gguf")]
    elif path.suffix == ".json":
        try:
            total = json.loads(path.read_text("utf-8"))["metadata"]["total_size"]
        except (KeyError, TypeError, ValueError):
            total = None
        if type(total) is int and total > 0:
            return total
        parts = []
    else:
        parts = [path]
    if not parts:
        raise Refused("card_file", name=name)
    return sum(one.stat().st_size for one in parts)
