"""`skc logout`: forget the token for a registry."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.syntax import Arguments, Command
from skillc.remotes import http
from skillc.spelling import near_miss

COMMAND = Command("""
skc logout

Removes the token from ~/.skillc/credentials.json. It stays valid at the registry until it expires or 'skc
token revoke' ends it.

<url> :registries  The registry's address.

$ skc logout https://skills.example.com
""")


def run(arguments: Arguments) -> int:
    registry = http.parse_registry(arguments.text("url"))
    is_gone = http.forget_credential(registry)
    others = [each.registry for each in http.read_credentials()]
    near = "" if is_gone else near_miss(registry, others)
    text = f"Logged out of {registry}" if is_gone else f"You were not logged in to {registry}{near}"
    return show(arguments, {"registry": registry, "removed": is_gone}, text)
