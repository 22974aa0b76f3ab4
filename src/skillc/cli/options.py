"""Options and arguments that several commands share, and what is made of them: hosts, filters, a registry."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillc import remotes
from skillc.cli import show
from skillc.cli.lines import Table
from skillc.cli.output import warn
from skillc.cli.progress import line
from skillc.cli.syntax import Arguments
from skillc.errors import InvalidOption
from skillc.index import skills as index  # lazy
from skillc.library import sources
from skillc.paths import current_directory
from skillc.remotes import git, http
from skillc.settings import load_settings
from skillc.spelling import did_you_mean, suggest, unknown_repository
from skillc.text import one_line

if TYPE_CHECKING:
    from skillc.workspace import Workspace

GLOBAL = "--global  Use the home directory's store and its lock, ~/.skillc/skills-lock.json."
ACCEPT_BLOCKS = "--accept-blocks  Take what the audit blocks. Read first what it does."
ACCEPT_SIGNER = "--accept-signer  Take a skill that has another signer than before."
ALLOW_HOST = """\
--allow-host <host>...  Also contact this host if an index or a redirect leads to it. Can be repeated."""
MIN_AGE = "--min-age <age>  Ignore versions that are younger than this, such as 12h, 3d or 2w."
LOCKED = "[skill]... :locked  Skills of the lock. Default: all."
NO_LOCK = "The lock has no skills; 'skc add' gets some and notes them there."
TO = """\
--to <url> :registries  The registry. Default: SKILLC_REGISTRY, 'registry' in ~/.skillc/config.toml, or your
    only login."""


def allowed_hosts(arguments: Arguments) -> frozenset[str]:
    """Return the hosts of --allow-host; raises InvalidOption. Warn of tokens that name no host [D73]."""
    if any(name.startswith("SKILLC_GIT_TOKEN_") for name in os.environ):  # else nothing of git is loaded
        warn(git.find_unused_tokens())
    hosts = {text: http.parse_host(text) for text in arguments.texts("allow_host")}
    for text, host in hosts.items():
        if not host:
            raise InvalidOption(f"--allow-host takes a host such as cdn.example.com[:8443], not '{text}'")
    return frozenset(hosts.values())


def read_scope(arguments: Arguments) -> str:
    """Return the scope that --global or --project names; empty without either."""
    if arguments.has("global") and arguments.has("project"):
        raise arguments.error("--global and --project exclude each other")
    return "global" if arguments.has("global") else "project" if arguments.has("project") else ""


def read_port(arguments: Arguments) -> int:
    """Return the number of --port; raises InvalidOption."""
    text = arguments.text("port")
    if not _is_port(text):
        raise InvalidOption(f"--port takes a number from 0 to 65535, not '{text}'")
    return int(text)


def parse_address(text: str, option: str) -> tuple[str, int]:
    """Return host and port of an address to listen on; raises InvalidOption."""
    host, _, port = text.rpartition(":")
    if not _is_port(port):
        raise InvalidOption(f"{option} takes a host and a port from 0 to 65535, not '{text}'")
    return host.strip("[]") or "127.0.0.1", int(port)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535


def registry_api(arguments: Arguments) -> remotes.RegistryApi:
    """Return the API of the registry that `--to` or the settings name, to be used in a `with` block.

    Raises InvalidOption where it is not clear which is meant.
    """
    settings = load_settings(current_directory())
    warn(settings.diagnostics)
    credential = http.choose_registry(arguments.optional("to"), settings.registry)
    line.rename(f"Asking {credential.registry}")
    return remotes.RegistryApi.connect(credential, lambda text: print(text, file=sys.stderr, flush=True))


def show_rows(
    arguments: Arguments, key: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], nothing: str
) -> int:
    """Show what a registry lists: a table of some columns, with times to the minute; in JSON as it came."""
    cells = [
        [str(row.get(name) or "")[: 16 if name.endswith("_at") else None] for name in columns] for row in rows
    ]
    header = [name.removesuffix("_at").upper() for name in columns]
    value = {key: [dict(row) for row in rows]}
    return show(arguments, value, [Table(header, cells)] if rows else [nothing])


def pick(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return some columns of what a registry sent, as text."""
    return [{name: str(row.get(name) or "") for name in columns} for row in rows]


def explain_filters(here: Workspace, task: str, scope: index.Scope) -> None:
    """Report each filter of a search that no skill of the library meets."""
    for text in _find_misses(here, task, scope):
        here.report(one_line(f"note: {text}"))


def _find_misses(here: Workspace, task: str, scope: index.Scope) -> Iterator[str]:
    skills = here.wait(here.library().list(), warnings=False)
    if scope.collection:
        yield from explain_collection(scope.collection, {c.path for c in sources.derive_collections(skills)})
    if scope.capability:
        needs = {need for skill in skills for need in skill.requires_capabilities}
        if scope.capability not in needs:
            yield _join(f"no skill needs the capability '{scope.capability}'", scope.capability, needs)
        elif not here.capabilities.issuperset({scope.capability}):
            where = "'capabilities' in skills.toml shows them"
            yield f"skills that need '{scope.capability}' are hidden; {where}"
    if scope.tag:
        tags = index.skill_index().database.read(index.read_all_tags)
        if scope.tag not in map(str.casefold, tags):
            here_too = [tag for tag in suggest(scope.tag, tags) if here.find(task, 1, index.Scope(tag=tag))]
            yield _join(f"no skill has the tag '{scope.tag}'", scope.tag, here_too)


def explain_collection(path: str, paths: set[str]) -> Iterator[str]:
    """Yield what is wrong with a collection that is none of those there are."""
    if path not in paths:
        yield _join(f"there is no collection '{path}'", path, paths)


def check_repository(here: Workspace, name: str) -> None:
    """Raise InvalidOption for a name that no repository has."""
    names = list(dict.fromkeys(source.name for source in here.library().sources))
    if name and name not in names:
        raise unknown_repository(name, names)


def _join(problem: str, word: str, names: set[str] | list[str]) -> str:
    question = did_you_mean(word, names)
    return f"{problem}; {question}" if question else problem
