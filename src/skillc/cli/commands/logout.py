"""`skc logout`: forget the token for a registry."""

from __future__ import annotations

from skillc import remotes
from skillc.cli import show
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc logout

Removes the token from ~/.skillc/credentials.json. It stays valid at the registry until it expires or 'skc
token revoke' ends it.

<url> :registries  The registry's address.

$ skc logout https://skills.example.com
""")


def run(arguments: Arguments) -> int:
    result = remotes.log_out(arguments.text("url"))
    return show(arguments, result, result.text())
