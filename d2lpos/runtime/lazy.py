"""Public names of a package whose modules load when somebody first asks for one of them (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType


def lazily(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    `homes` has the modules below the package, and the public names that each of them holds. A module is an attribute of the
    package, too, as it is after an import.

    `__getattr__` raises AttributeError as Python does by itself, and ImportError as the module does that it loads.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name in home:
            value = getattr(import_module(f"{package}.{home[name]}"), name)
        elif name in homes:
            value = import_module(f"{package}.{name}")
        else:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, value)  # so Python asks here only once
        return value

    def names() -> list[str]:
        parts = vars(sys.modules[package]).items()
        loaded = (key for key, part in parts if key.startswith("__") or isinstance(part, ModuleType))
        return sorted({*loaded, *home, *homes})

    return load, names
