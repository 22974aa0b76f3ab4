"""Start fast: every trick that keeps the commands on the agents' reading path short.

Agents call `show`, `search`, `open`, `outline`, `sources` and `find` hundreds of times, and starting
Python is most of what such a command costs. The modules that those commands load use these tricks;
everywhere else the code is ordinary Python, which a test holds.

1. `front_door`: a package's `__init__` names its public names and imports their modules on first use.
2. `TYPE_CHECKING = False` in place of typing's: importing `typing` costs as much as a search.
3. `sqlite`: `_sqlite3` without the Python around it, which imports datetime, and without functools.
   `import_parser`: the same for the Markdown parser.
4. `sha256_hex`: SHA-256 without loading OpenSSL for a few bytes.
5. `RLock`, `json_quote` and `parse_json`: the C halves of `threading` and `json`, where that is all it takes.
   `Idle` keeps threads apart with the first.
6. Imports inside functions for what only some calls need, each with a comment that says so.
7. `value` or slotted classes in place of dataclasses, which import `inspect` and compile code at every start.
8. Error classes load on first use (`skillc.errors`): defining forty takes as long as a search.
9. `collect_rarely`: a reading command ends before collecting garbage pays.
10. `leave` ends the process without dismantling the interpreter.
11. `import_fast`: a command's modules load by their path, without Python's search for them; `load_ahead`:
    those that every reading command needs load one after the other, without its import system.
12. `skip_future`: `from __future__ import annotations` is for the compiler, but loads a module all the same.
    This module and the package's `__init__` come before that trick and do without.
13. `import_parser`: the compiled half of `pyromark`, without the Python around it, which imports much.
14. The command is a script in the wheel (`bin/skc`), not an entry point: the wrapper that installers
    write for an entry point imports `re`.
"""

import os
import sys
from _thread import RLock as RLock
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from hashlib import _Hash as Hash
    from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
    from importlib.util import MAGIC_NUMBER
    from types import CodeType, ModuleType
    from typing import Any, BinaryIO, NoReturn, TypeVar, dataclass_transform

    Class = TypeVar("Class")
    sqlite = sqlite3

    @dataclass_transform(frozen_default=True)
    def value(cls: type[Class]) -> type[Class]: ...

else:
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import MAGIC_NUMBER, PathFinder, SourceFileLoader

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
        cls.__hash__ = lambda self: hash(tuple([getattr(self, field) for field in fields]))
        cls.__repr__ = lambda self: (
            f"{cls.__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"
        )
        return cls

    def __getattr__(name: str) -> object:
        if name == "sqlite":
            globals()[name] = module = import_sqlite()
            return module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


BUSY_SECONDS = 20.0  # to wait for another process that writes to a database
LARGE = 1 << 15  # bytes of a compiled module; memory for more takes long to allocate
is_fast = False  # whether `import_fast` is in force
READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)  # to open a file; looking for what is not there takes long
MUCH = 1 << 20  # bytes from which OpenSSL is worth loading for a digest
LAST_ACTS: "list[Callable[[], object]]" = []  # what `leave` does first


def front_door(package: str) -> "tuple[Callable[[str], object], list[str]]":
    """Return `__getattr__` and `__all__` of the calling package, which imports its public names on first use.

    The package names them once, as imports below `if TYPE_CHECKING:`, which type checkers read and Python
    skips. Its compiled code still has their names in order: each module, then what is imported from it. No
    public name may equal a module's: importing that module would hide the name.
    """
    homes: dict[str, str] = {}
    module = ""
    for name in sys._getframe(1).f_code.co_names:
        if "." in name:
            module = name if name.startswith("skillc.") and name != __name__ else ""
        elif module and not name.startswith("__"):
            homes[name] = module

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = homes[name]
        __import__(module)
        value = getattr(sys.modules[module], name)
        setattr(sys.modules[package], name, value)
        return value

    return get, list(homes)


def import_sqlite() -> object:
    """Return `_sqlite3`, the C half of `sqlite3`; the Python half takes a third of a reading command to load.

    `_sqlite3` imports `functools`, and with it collections, operator and others, only for the cache of
    statements of each connection. Where `functools` is not loaded yet, `_sqlite3` gets a stand-in with just
    the C function behind `functools.lru_cache`. Modules that are imported later get the real one.
    """
    if "functools" not in sys.modules and "_sqlite3" not in sys.modules:
        try:
            from _functools import _lru_cache_wrapper  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            return __import__("_sqlite3")
        stand_in = type(sys)("functools")
        stand_in.lru_cache = lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple)  # type: ignore[attr-defined]
        sys.modules["functools"] = stand_in
        try:
            return __import__("_sqlite3")
        finally:
            del sys.modules["functools"]
    return __import__("_sqlite3")


def import_parser() -> "Any":
    """Return the compiled half of `pyromark`; the Python around it imports enum, functools and collections.

    A module within a package is only found by way of the package, so a stand-in takes its place meanwhile,
    which another thread must not see.
    """
    name = "pyromark._pyromark"
    if name not in sys.modules and "pyromark" not in sys.modules and "threading" not in sys.modules:
        spec = PathFinder.find_spec("pyromark")
        if spec is not None:
            stand_in: Any = type(sys)("pyromark")
            stand_in.__path__ = spec.submodule_search_locations
            sys.modules["pyromark"] = stand_in
            try:
                __import__(name)
            finally:
                del sys.modules["pyromark"]
    if name not in sys.modules:
        __import__(name)
    return sys.modules[name]


def sqlite_uri(path: str, parameters: str) -> str:
    """Return the URI that opens a database with parameters such as `mode=ro`."""
    path = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{path if os.sep == '/' else '/' + path.replace(os.sep, '/')}?{parameters}"


class Idle:
    """Open things between two uses, such as connections. Each has one user at a time: threads share none.

    At most `limit` of them stay open; the one that has waited longest is closed first.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = RLock()
        self._things: list[tuple[object, Any]] = []

    def __len__(self) -> int:
        return len(self._things)

    def take(self, key: object) -> "Any":
        """Return what was given back last under a key, for the caller alone; None where nothing waits."""
        with self._lock:
            for number in range(len(self._things) - 1, -1, -1):
                if self._things[number][0] == key:
                    return self._things.pop(number)[1]
        return None

    def give_back(self, key: object, thing: "Any") -> None:
        """Keep a thing for its next user."""
        with self._lock:
            self._things.append((key, thing))
            surplus = self._things[: -self._limit]
            del self._things[: -self._limit]
        for _, old in surplus:
            old.close()

    def __del__(self) -> None:
        """Close everything when the process ends; a command that leaves at once need not."""
        for _, thing in self._things:
            thing.close()


def start() -> None:
    """Apply the tricks that change the whole process; for programs of our own, before their first import."""
    collect_rarely()
    import_fast()
    skip_future()


def skip_future() -> None:
    """Stand in for the module `__future__` until something asks it for more than `annotations`."""
    if "__future__" not in sys.modules:
        stand_in: Any = type(sys)("__future__")
        stand_in.annotations = None
        stand_in.__getattr__ = _feature
        sys.modules["__future__"] = stand_in


def _feature(name: str) -> object:
    """Return a name of the real module `__future__`, and put all of them into the stand-in."""
    if not name.startswith("__"):  # Python asks every module for some of these
        stand_in = sys.modules.pop("__future__")
        vars(stand_in).update(vars(__import__("__future__")))
        if name in vars(stand_in):
            return vars(stand_in)[name]
    raise AttributeError(f"module '__future__' has no attribute {name!r}")


def import_fast() -> None:
    """Import the modules of this package by their path from now on.

    For each module, Python asks three finders, looks at the directory again and goes through a dozen
    functions to read a compiled file: more than half of what a small module costs. What is unusual is left
    to Python: a module that is not at its place, a compiled file that is missing, large or not of the source
    as it is now, `-O`, another directory for compiled files, a zip archive.
    """
    global is_fast
    is_usual = isinstance(globals()["__loader__"], SourceFileLoader)
    if is_usual and not sys.flags.optimize and not sys.pycache_prefix:
        finder: Any = type(sys.implementation)()  # an empty namespace is cheaper than a class
        finder.find_spec = _find_spec
        sys.meta_path.insert(0, finder)
        is_fast = True


def load_ahead(names: str) -> None:
    """Load modules that a command is about to import, in an order in which each needs only those before it.

    Then Python finds them loaded. Its own way takes as long for each as the contents of a small one, with
    locks that a process with one thread does not need. From one that is unusual on, all is left to Python.
    """
    for name in names.split() if is_fast else ():
        package, _, last = name.rpartition(".")
        parent = sys.modules[package]
        spec = None if name in sys.modules else _find_spec(name, parent.__path__)
        if spec is None:
            continue
        loader: Any = spec.loader
        code = loader.read_code()
        if code is None:
            return
        sys.modules[name] = module = loader.create_module(spec)
        vars(module).update(__spec__=spec, __loader__=loader, __package__=spec.parent)
        try:
            exec(code, vars(module))  # noqa: S102 -- as Python does
        except BaseException:
            sys.modules.pop(name, None)
            raise
        setattr(parent, last, module)


def _find_spec(name: str, path: "Sequence[str] | None", target: object = None) -> "ModuleSpec | None":
    if path is None or not name.startswith("skillc."):
        return None
    folder, module, search = path[0], name[name.rindex(".") + 1 :], None
    try:
        source = os.stat(file := f"{folder}/{module}.py")
    except OSError:
        folder, module, search = f"{folder}/{module}", "__init__", [f"{folder}/{module}"]
        try:
            source = os.stat(file := f"{folder}/__init__.py")
        except OSError:
            return None
    loader = SourceFileLoader(name, file)
    spec = ModuleSpec(name, loader, origin=file)
    spec.cached = cache = f"{folder}/__pycache__/{module}.{sys.implementation.cache_tag}.pyc"
    spec.submodule_search_locations = search
    spec.has_location = True
    attributes = {"__file__": file, "__cached__": cache, **({"__path__": search} if search else {})}
    compile_code = loader.get_code

    def read() -> "CodeType | None":
        return _read_code(cache, source)

    vars(loader).update(
        read_code=read,
        get_code=lambda name: read() or compile_code(name),
        create_module=lambda spec: _create_module(name, attributes),
    )
    return spec


def _create_module(name: str, attributes: "Mapping[str, object]") -> "ModuleType":
    """Return a module with what Python looks for in it: each attribute that is missing costs an exception."""
    module = type(sys)(name)
    vars(module).update(attributes)
    return module


def _read_code(cache: str, source: os.stat_result) -> "CodeType | None":
    """Return what a compiled file holds, None if it is not of the source as it is now."""
    try:
        file = os.open(cache, READ)
    except OSError:
        return None
    try:
        data = os.read(file, LARGE)
    finally:
        os.close(file)
    time, size = int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF
    header = (size << 64 | time << 32).to_bytes(12, "little")  # behind four bytes of flags, which are 0
    if len(data) == LARGE or data[:16] != MAGIC_NUMBER + header:
        return None
    code: CodeType = loads(memoryview(data)[16:])
    return code


def json_quote(text: str) -> str:
    """Return text as a JSON string, in ASCII."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    from _json import encode_basestring_ascii

    return encode_basestring_ascii(text)


def parse_json(text: str) -> "Any":
    """Return the value of a JSON text; raise ValueError for any other. Loading `json` takes longer.

    >>> parse_json(' {"a": [1, 2.5, null, "x"]} ')
    {'a': [1, 2.5, None, 'x']}
    """
    from _json import make_scanner  # type: ignore[import-not-found, unused-ignore]

    rules: Any = type(sys.implementation)()  # an empty namespace
    vars(rules).update(strict=True, object_hook=None, object_pairs_hook=None, memo={})
    vars(rules).update(parse_int=int, parse_float=float, parse_constant=float)
    text = text.strip(" \t\n\r")
    try:
        value, end = make_scanner(rules)(text, 0)
    except (StopIteration, RecursionError, SystemError):  # the last where `json` is not loaded
        raise ValueError("no JSON") from None
    if end < len(text):
        raise ValueError("more than one JSON value")
    return value


def collect_rarely() -> None:
    """Collect garbage after 50,000 new objects instead of 700, so that short commands never do."""
    import gc

    gc.set_threshold(50_000)


def collect_often() -> None:
    """Collect garbage as usual again, for a command that runs until it is stopped.

    Connections and requests are cycles of objects, which would pile up. What is loaded by now is left out.
    """
    import gc

    gc.freeze()
    gc.set_threshold(700)


def leave(status: int) -> "NoReturn":
    """Flush the output and end the process at once: dismantling the interpreter costs a search.

    What `LAST_ACTS` has is done before: few commands start programs that would go on without them.
    """
    for act in LAST_ACTS:
        act()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed by the reader, which wants no more
            pass
    os._exit(status)


def quick_hash(data: "bytes | memoryview") -> bytes:
    """Return 8 bytes that change with any of these; loading `zlib` for a CRC takes longer than a search.

    It is what Python puts into `.pyc` files, and may differ between versions of Python.
    """
    import _imp  # always loaded

    return _imp.source_hash(0, data)


def new_sha256(size: int = 0) -> "Hash":
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


def file_sha256_hex(file: "BinaryIO", size: int) -> str:
    """Return the hex SHA-256 of the rest of a file of about `size` bytes, read in pieces."""
    digest = new_sha256(size)
    while piece := file.read(MUCH):
        digest.update(piece)
    return digest.hexdigest()
