"""`skc serve`: the configured repositories over HTTP."""

from __future__ import annotations

import logging
from functools import partial

from skillc.cli import workspace
from skillc.cli.syntax import Arguments, Command, Option
from skillc.errors import InvalidOption
from skillc.server import read_token, serve_engine

COMMAND = Command(
    "serve",
    options=(
        Option("--read-only", "Accept no changes. Required: the server is read-only so far."),
        Option("--host", "The address to listen on.", value="<address>", default="127.0.0.1"),
        Option("--port", "The port to listen on; 0 picks a free one.", value="<port>", default="8080"),
        Option(
            "--allow-host",
            "Accept requests for this host name, too. Can be repeated.",
            value="<name>",
            repeat=True,
        ),
    ),
    description=(
        "Serves GET /skills, /skills/{id}, /skill-collections, /search and /healthz, and POST /turns. "
        "Prints its URL when it is ready. Stop it with Ctrl+C or SIGTERM. "
        "Checks the Host and Origin headers. Requires the token in SKILLC_SERVE_TOKEN if that is set, which "
        "an address that other machines can reach needs; /healthz is open. "
        "Needs: pip install 'skillc[server]'"
    ),
    examples=("skc serve --read-only", "skc serve --read-only --port 0"),
)

TOKEN = "SKILLC_SERVE_TOKEN"  # noqa: S105 -- the variable that holds it


def run(arguments: Arguments) -> int:
    if not arguments.has("read_only"):
        raise InvalidOption("only reading is there yet: skc serve --read-only")
    port = arguments.text("port")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise InvalidOption(f'--port takes a number from 0 to 65535, not "{port}"')
    host = arguments.text("host")
    token = read_token(TOKEN, host, "--host")
    names = arguments.texts("allow_host")
    announce = partial(print, "Serving on", flush=True)
    logging.getLogger("skillc.server").addHandler(logging.StreamHandler())  # to stderr
    serve_engine(workspace(progress=True).engine(), host, int(port), announce, names=names, token=token)
    return 0
