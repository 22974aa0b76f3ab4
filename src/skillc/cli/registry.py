"""Ask the registry that a command is about, and show its answers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from skillc import remotes
from skillc.cli import show
from skillc.cli.output import table, warn
from skillc.cli.progress import line
from skillc.cli.syntax import Arguments
from skillc.paths import current_directory
from skillc.settings import load_settings

ROLES = ("reader", "publisher", "maintainer", "admin")
TO = """\
--to <url> :registries  The registry. Default: SKILLC_REGISTRY, 'registry' in ~/.skillc/config.toml, or your
    only login."""


def registry_api(arguments: Arguments) -> remotes.RegistryApi:
    """Return the API of the registry that `--to` or the settings name, to be used in a `with` block."""
    return connect(find_registry(arguments.optional("to")))


def show_rows(
    arguments: Arguments, key: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], nothing: str
) -> int:
    """Show what a registry lists: a table of some columns, with times to the minute; in JSON as it came."""
    cells = [
        [str(row.get(name) or "")[: 16 if name.endswith("_at") else None] for name in columns] for row in rows
    ]
    header = [name.removesuffix("_at").upper() for name in columns]
    value = {key: [dict(row) for row in rows]}
    return show(arguments, value, table(header, cells) if rows else [nothing])


def pick(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return some columns of what a registry sent, as text."""
    return [{name: str(row.get(name) or "") for name in columns} for row in rows]


def find_registry(address: str | None) -> remotes.Credential:
    """Return the registry that is meant, with its token; raises InvalidOption where it is not clear."""
    settings = load_settings(current_directory())
    warn(settings.diagnostics)
    return remotes.choose_registry(address, settings.registry)


def connect(credential: remotes.Credential) -> remotes.RegistryApi:
    """Return the registry's API, to be used in a `with` block."""
    line.rename(f"Asking {credential.registry}")
    return remotes.RegistryApi.connect(credential, lambda text: print(text, file=sys.stderr, flush=True))
