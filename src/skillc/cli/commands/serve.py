"""`skc serve`: the configured repositories over HTTP."""

from __future__ import annotations

import sys

from skillc.cli import workspace
from skillc.cli.syntax import Arguments, Command, Option
from skillc.errors import InvalidOption
from skillc.server import serve_engine

COMMAND = Command(
    "serve",
    options=(
        Option("--read-only", "Accept no changes. Required: the server is read-only so far."),
        Option("--host", "The address to listen on.", value="<address>", default="127.0.0.1"),
        Option("--port", "The port to listen on; 0 picks a free one.", value="<port>", default="8080"),
    ),
    description=(
        "Serves GET /skills, /skills/{id}, /skill-collections, /search and /healthz, and POST /turns. "
        "Prints its URL when it is ready. Stop it with Ctrl+C or SIGTERM. "
        "There is no authentication: anyone who can reach the address can read every skill. "
        "Needs: pip install 'skillc[server]'"
    ),
    examples=("skc serve --read-only", "skc serve --read-only --port 0"),
)


def run(arguments: Arguments) -> int:
    if not arguments.has("read_only"):
        raise InvalidOption("only reading is there yet: skc serve --read-only")
    port = arguments.text("port")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise InvalidOption(f'--port takes a number from 0 to 65535, not "{port}"')
    serve_engine(workspace(progress=True).engine(), arguments.text("host"), int(port), _announce)
    return 0


def _announce(url: str) -> None:
    print(f"Serving on {url}", flush=True)
    if not url.startswith(("http://127.", "http://[::1]")):
        print("note: whoever reaches this address can read every skill", file=sys.stderr, flush=True)
