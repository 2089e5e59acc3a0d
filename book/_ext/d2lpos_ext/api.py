"""The page of the package: its public names with signature, docstring and example.

The source is read and never run, so the book builds where torch is not installed.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill, indent

import griffe

BLOCK = re.compile(r"^```\{api\}\n([\w.*\s]+)\n```$", re.MULTILINE)
# As docstrings write it: Su et al. 2021, section 3.2 (arXiv 2104.09864)
PAPER = re.compile(
    r"(?P<who>[A-Z][\w-]+(?: et al\.| and [A-Z][\w-]+)?)\s(?P<year>\d{4})(?P<where>,[^();]+)?"
    r"\s\(arXiv\s(?P<id>[\d.]+)\)"
)
NAME = re.compile(r"`(?:(?P<module>\w+)\.)?(?P<name>\w+)`")
ERRORS = re.compile(r"\s+(?=Raises )")
DIRECTIVES = {"class": "py:class", "function": "py:function", "attribute": "py:data"}
UNLISTED = "\n:no-contents-entry:"  # the list at the head of the page names them
PHONE = 45  # characters of code in a line


def load(root: str | Path) -> griffe.Module:
    """Return the package d2lpos in the folder `root`."""
    return griffe.load(
        "d2lpos", search_paths=[root], try_relative_path=False, allow_inspection=False, resolve_aliases=True
    )


def public(module: griffe.Module) -> dict[str, griffe.Object]:
    """Return what the module's `__all__` names."""
    members = {name: module.members[name] for name in module.exports}
    # A module hides the function that it is named after.
    members = {name: thing.members[name] if thing.is_module else thing for name, thing in members.items()}
    return {name: thing.final_target if thing.is_alias else thing for name, thing in members.items()}


def imports(module: griffe.Module) -> str:
    """Return what a reader runs before the examples of a module."""
    left, lines = list(module.exports), []
    for place in (module.package, module.parent or module, module):  # the shortest way that there is
        names = [name for name in left if name in place.exports and public(place)[name] is public(module)[name]]
        left = [name for name in left if name not in names]
        lines += _import(place.path, names)
    torch = ["import torch"] * any("torch." in split(thing)[1] for thing in public(module).values())
    return "\n".join([*torch, *lines])


def _import(path: str, names: list[str]) -> list[str]:
    line = f"from {path} import {', '.join(names)}"
    if len(line) <= PHONE:
        return [line] if names else []
    return [f"from {path} import (", indent(fill(", ".join(names), PHONE - 4), "    ") + ",", ")"]


def split(thing: griffe.Object) -> tuple[str, str]:
    """Return the words of a docstring, and the example that ends it."""
    words, prompt, example = thing.docstring.value.partition(">>> ")
    return words, prompt + example


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with the modules that an `{api}` block names in its place."""
    return BLOCK.sub(lambda block: _page(load(root), listed(block[1], Path(root))), text)


def listed(block: str, root: Path) -> list[str]:
    """Return the modules that an `{api}` block names; "bias.*" are those of the room that no other word names."""
    words = block.split()
    rooms = {word: (root / "d2lpos" / word.removesuffix(".*")).glob("[!_]*.py") for word in words if word.endswith(".*")}
    others = {word: sorted({f"{word[:-1]}{path.stem}" for path in paths} - {*words}) for word, paths in rooms.items()}
    return [module for word in words for module in others.get(word, [word])]


def _page(package: griffe.Module, names: list[str]) -> str:
    modules = [package[name] for name in names]
    paths = {f"{module.path}.{name}" for module in modules for name in module.exports}
    contents = "\n".join(
        f"- {{py:mod}}`{m.path}`: " + ", ".join(f"{{py:obj}}`{n} <{m.path}.{n}>`" for n in m.exports)
        for m in modules
    )
    return "\n\n".join([contents, *(_Section(module, paths).markdown() for module in modules)])


@dataclass
class _Section:
    """One module; `paths` are the full names of all public names, for links."""

    module: griffe.Module
    paths: set[str]

    def markdown(self) -> str:
        path = self.module.path
        head = f"## `{path}`\n\n```{{py:module}} {path}\n```\n\n{self.words(self.module)}"
        entries = [self.entry(name, thing) for name, thing in public(self.module).items()]
        return "\n\n".join([head, f"```python\n{imports(self.module)}\n```", *entries])

    def entry(self, name: str, thing: griffe.Object) -> str:
        signature = name if thing.is_attribute else thing.signature() or name
        head = f"`````{{{DIRECTIVES[thing.kind.value]}}} {signature}{UNLISTED}"
        example = f"```pycon\n{split(thing)[1]}\n```"
        members = [
            self.member(member)
            for name, member in thing.members.items()
            if member.has_docstring and not name.startswith("_")
        ]
        return "\n\n".join([head, self.words(thing), example, *members, "`````"])

    def member(self, member: griffe.Object) -> str:
        if member.is_attribute:
            head = f"````{{py:property}} {member.name}\n:type: {member.annotation}"
        else:
            head = f"````{{py:method}} {re.sub(r'(?<=[(])self(, )?', '', member.signature())}"
        return "\n\n".join([head + UNLISTED, self.words(member), "````"])

    def words(self, thing: griffe.Object) -> str:
        """Return the words of a docstring as Markdown, with papers cited and names linked."""
        words = PAPER.sub(r"[\g<who> (\g<year>)](https://arxiv.org/abs/\g<id>)\g<where>", split(thing)[0])
        return ERRORS.sub("\n\n{.errors}\n", NAME.sub(self.link, words)).strip()

    def link(self, code: re.Match) -> str:
        """Link a name that stands as code, in its own module or, where it is the only one, in another.

        What stands before it names its module or its room.
        """
        own = f"{self.module.path}.{code['name']}"
        others = {path for path in self.paths if path.endswith(f".{code['name']}")}
        if code["module"]:
            others = {path for path in others if code["module"] in path.split(".")[:-1]}
        path = own if own in others else others.pop() if len(others) == 1 else None
        return f"{{py:obj}}`{code[0][1:-1]} <{path}>`" if path else code[0]
