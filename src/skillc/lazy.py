"""Front doors that cost nothing: a package's names are imported when they are first used."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def front_door(package: str, homes: dict[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose modules (the keys of `homes`) hold its public names."""
    where = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> object:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = f"{package}.{where[name]}"
        __import__(module)
        value = getattr(sys.modules[module], name)
        setattr(sys.modules[package], name, value)
        return value

    return get
