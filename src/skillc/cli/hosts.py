"""The option `--allow-host`: other hosts that may be asked, if those that you named lead to them."""

from __future__ import annotations

import os

from skillc import remotes
from skillc.cli.output import warn
from skillc.cli.syntax import Arguments, Option
from skillc.errors import InvalidOption

ALLOW_HOST = Option(
    "--allow-host",
    "Also contact this host if an index or a redirect leads to it. Can be repeated.",
    value="<host>",
    repeat=True,
)


def allowed_hosts(arguments: Arguments) -> frozenset[str]:
    """Return the hosts of the option; raises InvalidOption. Warn of tokens that name no host [D73]."""
    if any(name.startswith("SKILLC_GIT_TOKEN_") for name in os.environ):  # else nothing of git is loaded
        warn(remotes.find_unused_tokens())
    hosts = []
    for text in arguments.texts("allow_host"):
        host = remotes.parse_host(text)
        if not host:
            raise InvalidOption(f"--allow-host takes a host such as cdn.example.com[:8443], not '{text}'")
        hosts.append(host)
    return frozenset(hosts)
