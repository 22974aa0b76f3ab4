"""Options and arguments that several commands share, and what is made of their values."""

from __future__ import annotations

import os

from skillc import remotes
from skillc.cli.output import warn
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import see
from skillc.errors import InvalidOption
from skillc.remotes import git

GLOBAL = "--global  Use the home directory's store and its lock, ~/.skillc/skills-lock.json."
ACCEPT_BLOCKS = "--accept-blocks  Take what the audit blocks. Read first what it does."
ALLOW_HOST = """\
--allow-host <host>...  Also contact this host if an index or a redirect leads to it. Can be repeated."""
MIN_AGE = "--min-age <age>  Ignore versions that are younger than this, such as 12h, 3d or 2w."
LOCKED = "[skill]... :locked  Skills of the lock. Default: all."
NO_LOCK = "The lock has no skills; 'skc add' gets some and notes them there."


def allowed_hosts(arguments: Arguments) -> frozenset[str]:
    """Return the hosts of --allow-host; raises InvalidOption. Warn of tokens that name no host [D73]."""
    if any(name.startswith("SKILLC_GIT_TOKEN_") for name in os.environ):  # else nothing of git is loaded
        warn(git.find_unused_tokens())
    hosts = {text: remotes.parse_host(text) for text in arguments.texts("allow_host")}
    for text, host in hosts.items():
        if not host:
            raise InvalidOption(f"--allow-host takes a host such as cdn.example.com[:8443], not '{text}'")
    return frozenset(hosts.values())


def read_scope(arguments: Arguments, command: Command) -> str:
    """Return the scope that --global or --project names; empty without either."""
    if arguments.has("global") and arguments.has("project"):
        raise InvalidOption(f"--global and --project exclude each other; {see(command)}")
    return "global" if arguments.has("global") else "project" if arguments.has("project") else ""


def read_port(arguments: Arguments) -> int:
    """Return the number of --port; raises InvalidOption."""
    text = arguments.text("port")
    if not is_port(text):
        raise InvalidOption(f"--port takes a number from 0 to 65535, not '{text}'")
    return int(text)


def is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535
