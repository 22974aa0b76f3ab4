"""`skc ui`: the skills of this machine, in a browser."""

from __future__ import annotations

import logging
import os
import sys
import threading
import webbrowser

from skillc.cli import workspace
from skillc.cli.output import announce
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.errors import InvalidOption

COMMAND = Command(
    "ui",
    options=(
        Option("--port", "The port to listen on; 0 picks a free one.", value="<port>", default="0"),
        Option("--no-open", "Print the address, and open no browser."),
        FORMAT,
    ),
    description=(
        "Shows every skill in use here: its text and files, what it asks for, and how agents used it; "
        "and finds skills for a task. Only this machine can reach it, and only with the key in the printed "
        "address, which works once. Changes nothing. Stop it with Ctrl+C."
    ),
    examples=("skc ui", "skc ui --no-open --port 8090"),
)


def run(arguments: Arguments) -> int:
    port = arguments.text("port")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise InvalidOption(f"--port takes a number from 0 to 65535, not '{port}'")
    from skillc import server  # Starlette and the pages are slow to import, and help needs none

    logging.getLogger("skillc.server").addHandler(logging.StreamHandler())  # to stderr

    def print_address(url: str) -> None:
        announce(arguments, f"Your skills: {url}", url=url)

    is_shown = not arguments.has("no_open") and _has_screen()
    open_browser = _open_browser if is_shown else None
    server.serve_ui(workspace(progress=True), int(port), print_address, open_browser)
    return 0


def _open_browser(url: str) -> None:
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _has_screen() -> bool:
    """Return whether a browser would open a window: one in the terminal would only get in the way."""
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in names)
