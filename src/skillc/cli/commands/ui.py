"""`skc ui`: the skills of this machine, in a browser."""

from __future__ import annotations

import logging
import os
import sys
import threading
import webbrowser

from skillc.cli import workspace
from skillc.cli.options import read_port
from skillc.cli.output import announce
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc ui

Shows every skill in use here: its text and files, what it asks for, and how agents used it; and finds skills
for a task. Only this machine can reach it, and only with the key in the printed address, which works once.
Changes nothing. Stop it with Ctrl+C.

--port <port> =0  The port to listen on; 0 picks a free one.
--no-open  Print the address, and open no browser.

$ skc ui
$ skc ui --no-open --port 8090
""")


def run(arguments: Arguments) -> int:
    port = read_port(arguments)
    from skillc import server  # Starlette and the pages are slow to import, and help needs none

    logging.getLogger("skillc.server").addHandler(logging.StreamHandler())  # to stderr

    def print_address(url: str) -> None:
        announce(arguments, f"Your skills: {url}", url=url)

    is_shown = not arguments.has("no_open") and _has_screen()
    open_browser = _open_browser if is_shown else None
    server.serve_ui(workspace(progress=True), port, print_address, open_browser)
    return 0


def _open_browser(url: str) -> None:
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _has_screen() -> bool:
    """Return whether a browser would open a window: one in the terminal would only get in the way."""
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in names)
