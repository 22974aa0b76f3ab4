"""Start fast: every trick that keeps the commands on the agents' reading path short.

Agents call `show`, `search`, `open`, `outline`, `sources` and `find` hundreds of times, and starting
Python is most of what such a command costs. The modules that those commands load use
these tricks, and so do the compiler's, because hooks and editors call `build` and `list`; everywhere else
the code is ordinary Python.

1. `front_door`: a package's `__init__` names its public names and imports their modules on first use.
2. `TYPE_CHECKING = False` in place of typing's: importing `typing` costs as much as a search.
3. `startup.sqlite`: `_sqlite3` without the Python around it, which imports datetime and functools.
4. `sha256_hex`: SHA-256 without loading OpenSSL for a few bytes.
5. `RLock` and `json_quote`: the C halves of `threading` and `json`, where that is all it takes.
6. Imports inside functions for what only some calls need, each with a comment that says so.
7. `value` or slotted classes in place of dataclasses, which import `inspect` and compile code at every start.
8. Error classes load on first use (`skillc.errors`): defining forty takes as long as a search.
9. `collect_rarely`: a reading command ends before collecting garbage pays.
10. `leave` ends the process without dismantling the interpreter.
11. The command is a script in the wheel (`bin/skc`), not an entry point: the wrapper that installers
    write for an entry point imports `re`.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock as RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from hashlib import _Hash as Hash
    from typing import BinaryIO, NoReturn, TypeVar, dataclass_transform

    Class = TypeVar("Class")

    @dataclass_transform(frozen_default=True)
    def value(cls: type[Class]) -> type[Class]: ...

else:

    def value(cls: type) -> type:
        """Give a class the constructor that a frozen dataclass would have: its annotations are its fields."""
        fields = tuple(cls.__annotations__)

        def init(self: object, *args: object, **kwargs: object) -> None:
            names = self.__dict__
            names.update(zip(fields, args, strict=False), **kwargs)
            for field in fields:
                if field not in names:
                    names[field] = getattr(cls, field)  # the default; AttributeError names a missing field
            if len(args) > len(fields) or len(names) > len(fields):
                raise TypeError(f"{cls.__name__} takes {', '.join(fields)}")

        cls.__init__ = init
        cls.__eq__ = lambda self, other: type(other) is cls and vars(self) == vars(other)
        cls.__hash__ = None
        cls.__repr__ = lambda self: (
            f"{cls.__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"
        )
        return cls


MUCH = 1 << 20  # bytes from which OpenSSL is worth loading for a digest


def front_door(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package; `homes` maps each module to the public names it holds.

    The names stand in one string, separated by spaces. A module is imported when one of its names is
    first used. No public name may equal a module's: importing that module would hide the name.
    """

    def get(name: str) -> object:
        for module, names in homes.items():
            if name in names.split():
                path = f"{package}.{module}"
                __import__(path)
                value = getattr(sys.modules[path], name)
                setattr(sys.modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get


def json_quote(text: str) -> str:
    """Return text as a JSON string, in ASCII."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    from _json import encode_basestring_ascii

    return encode_basestring_ascii(text)


def collect_rarely() -> None:
    """Collect garbage after 50,000 new objects instead of 700, so that short commands never do."""
    import gc

    gc.set_threshold(50_000)


def leave(status: int) -> NoReturn:
    """Flush the output and end the process at once: dismantling the interpreter costs a search."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed by the reader, which wants no more
            pass
    os._exit(status)


def new_sha256(size: int = 0) -> Hash:
    """Return an empty hash for about `size` bytes."""
    if size < MUCH:
        try:
            empty: Hash = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256()
        except ImportError:
            pass
        else:
            return empty
    from hashlib import sha256

    return sha256()


def sha256_hex(data: bytes) -> str:
    digest = new_sha256(len(data))
    digest.update(data)
    return digest.hexdigest()


def file_sha256_hex(file: BinaryIO, size: int) -> str:
    """Return the hex SHA-256 of the rest of a file of about `size` bytes, read in pieces."""
    digest = new_sha256(size)
    while piece := file.read(MUCH):
        digest.update(piece)
    return digest.hexdigest()
