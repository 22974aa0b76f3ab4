"""Modules of Python that load when one of their names is first used.

    from skillc.later import json

is `import json` for a module that a command needs to run, but not to print its help. Python takes as long to
load some of these as a whole reading command takes. Rooms are lazy as they are (`startup.front_door`); this
is the same for what is not ours. Types and names are those of the module: a checker sees an ordinary import.
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
    from urllib import parse as urls  # noqa: F401 -- under a name that says what it is for
else:
    NAMES = (
        *("contextlib", "dataclasses", "functools", "getpass", "ipaddress", "json"),
        *("logging", "shutil", "signal", "threading", "urls", "webbrowser"),
    )

    class Later(type(sys)):
        """A module that imports the one of its name when it is asked for something."""

        def __getattr__(self, name: str) -> object:
            if name == "__path__":  # Python asks whether it is a package
                raise AttributeError(name)
            __import__(self.__name__)
            return getattr(sys.modules[self.__name__], name)

    def __getattr__(name: str) -> object:
        if name not in NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = module = Later("urllib.parse" if name == "urls" else name)
        return module
