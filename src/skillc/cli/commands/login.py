"""`skc login` and `skc logout`: keep the token of a registry, and forget it."""

from __future__ import annotations

import getpass
import os
import sys

from skillc import remotes
from skillc.cli import show
from skillc.cli.options import show_rows
from skillc.cli.progress import line, pause
from skillc.cli.syntax import Arguments, Command
from skillc.cli.terminal import has_person
from skillc.errors import InvalidOption
from skillc.remotes import http

MAX_INPUT = 8192  # bytes that are read from stdin

COMMANDS = {
    "login": Command("""
skc login

Asks for a token on the terminal, without showing it, and tries it at the registry. It is kept in
~/.skillc/credentials.json, for you alone, and sent to this address alone, never after a redirect. 'skc add',
'skc publish' and HTTP repositories use it.

In CI no login is needed: set SKILLC_REGISTRY and SKILLC_TOKEN.

[url] :registries  The registry's address. Without one: your logins.
--token-env <name> :environment  Take the token from this variable.
--token-stdin  Take the token from stdin.

$ skc login https://skills.example.com
$ skc login https://skills.example.com --token-env TEAM_TOKEN
$ skc login https://skills.example.com --token-stdin
$ skc login
"""),
    "logout": Command("""
skc logout

Removes the token from ~/.skillc/credentials.json. It stays valid at the registry until it expires or 'skc
token revoke' ends it.

<url> :registries  The registry's address.

$ skc logout https://skills.example.com
"""),
}


def run(arguments: Arguments) -> int:
    if arguments.command.name == "logout":
        logout = remotes.log_out(arguments.text("url"))
        return show(arguments, logout, logout.text())
    address, variable = arguments.optional("url"), arguments.optional("token_env")
    if variable is not None and arguments.has("token_stdin"):
        raise arguments.error("--token-env and --token-stdin exclude each other")
    if address is None:
        return _list(arguments)
    registry = http.parse_registry(address)
    token = _read_token(registry, variable, arguments.has("token_stdin"))
    line.rename(f"Asking {registry}")
    result = remotes.log_in(registry, token, lambda text: print(text, file=sys.stderr, flush=True))
    return show(arguments, result, result.text())


def _read_token(registry: str, variable: str | None, from_stdin: bool) -> str:
    if variable is not None:
        token = os.environ.get(variable, "")
        if not token:
            raise InvalidOption(f"the variable {variable} of --token-env is not set")
        return token
    if from_stdin:
        return sys.stdin.buffer.readline(MAX_INPUT).decode("ascii", "replace")
    if not has_person():
        raise InvalidOption("there is no terminal to ask on: use --token-env or --token-stdin")
    print(f"Make a token on the page of your account: {registry}/account", file=sys.stderr)
    with pause():
        return getpass.getpass(f"Token for {registry}: ", sys.stderr)


def _list(arguments: Arguments) -> int:
    if arguments.optional("token_env") is not None or arguments.has("token_stdin"):
        raise arguments.error("<url> is missing")
    logins = [{"registry": each.registry, "subject": each.subject} for each in http.read_credentials()]
    nothing = "You are logged in to no registry; 'skc login <url>' logs you in."
    return show_rows(arguments, "registries", ("registry", "subject"), logins, nothing)
