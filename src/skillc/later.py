"""Modules of Python that load when one of their names is first used, and patterns that compile then.

    from skillc.later import json

is `import json` for a module that a command needs to run, but not to print its help. Python takes as long to
load some of these as a whole reading command takes. Rooms are lazy as they are (`startup.front_door`); this
is the same for what is not ours. Types and names are those of the module: a checker sees an ordinary import.

`pattern` and `cached_property` do what `re.compile` and functools do, without loading these at the start:
`lint` uses them, because editors and hooks call it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import contextlib as contextlib
    import dataclasses as dataclasses
    import functools as functools
    import getpass as getpass
    import ipaddress as ipaddress
    import json as json
    import logging as logging
    import shutil as shutil
    import signal as signal
    import threading as threading
    import webbrowser as webbrowser
    from collections.abc import Callable
    from functools import cached_property as cached_property
    from re import compile as pattern
    from typing import Any
    from urllib import parse as urls  # noqa: F401 -- under a name that says what it is for
else:
    NAMES = (
        *("contextlib", "dataclasses", "functools", "getpass", "ipaddress", "json"),
        *("logging", "shutil", "signal", "threading", "urls", "webbrowser"),
    )
    _METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub")  # of a pattern

    class Later(type(sys)):
        """A module that imports the one of its name when it is asked for something."""

        def __getattr__(self, name: str) -> object:
            if name == "__path__":  # Python asks whether it is a package
                raise AttributeError(name)
            __import__(self.__name__)
            return getattr(sys.modules[self.__name__], name)

    class pattern:  # noqa: N801 -- a function to type checkers
        """A regular expression that is compiled on first use, as most of a module's are in few runs."""

        def __init__(self, source: str | bytes) -> None:
            self.source = source

        def __getattr__(self, name: str) -> object:
            from re import compile

            compiled = compile(self.source)
            vars(self).update({method: getattr(compiled, method) for method in _METHODS})
            return getattr(compiled, name)

    class cached_property:  # noqa: N801 -- as in functools
        """A property that is computed once: its value takes the place of the property in the object."""

        def __init__(self, function: Callable[[Any], object]) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __get__(self, instance: object, owner: type) -> object:
            if instance is None:
                return self
            value = vars(instance)[self.function.__name__] = self.function(instance)
            return value

    def __getattr__(name: str) -> object:
        if name not in NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = module = Later("urllib.parse" if name == "urls" else name)
        return module
