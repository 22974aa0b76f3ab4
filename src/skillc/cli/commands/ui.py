"""`skc ui`: the skills of this machine, in a browser."""

from __future__ import annotations

import os
import sys

from skillc import server
from skillc.cli import workspace
from skillc.cli.output import announce
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.errors import InvalidOption, require_extra
from skillc.later import logging, threading, webbrowser

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
        "address. Changes nothing. Stop it with Ctrl+C. Needs: pip install 'skillc[server]'"
    ),
    examples=("skc ui", "skc ui --no-open --port 8090"),
)


def run(arguments: Arguments) -> int:
    port = arguments.text("port")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise InvalidOption(f'--port takes a number from 0 to 65535, not "{port}"')
    logging.getLogger("skillc.server").addHandler(logging.StreamHandler())  # to stderr
    with require_extra("server"):
        serve_ui = server.serve_ui  # loads it

    def open_browser(url: str) -> None:
        announce(arguments, f"Your skills: {url}", url=url)
        if not arguments.has("no_open") and _has_screen():
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    serve_ui(workspace(progress=True), int(port), open_browser)
    return 0


def _has_screen() -> bool:
    """Return whether a browser would open a window: one in the terminal would only get in the way."""
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in names)
