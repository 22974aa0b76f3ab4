"""Ask the registry that a command is about, and show its answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from skillc import library
from skillc.cli import show
from skillc.cli.output import table, warn
from skillc.cli.progress import line
from skillc.cli.syntax import Arguments, Option
from skillc.errors import RegistryRefused
from skillc.paths import current_directory
from skillc.settings import load_settings
from skillc.text import one_line

ROLES = ("reader", "publisher", "maintainer", "admin")
TO = Option(
    "--to <url>",
    "The registry. Default: SKILLC_REGISTRY, 'registry' in ~/.skillc/config.toml, or your only login.",
    completes="registries",
)


def ask_registry(arguments: Arguments, action: Callable[[Arguments, library.RegistryApi], int]) -> int:
    """Run an action of a command on the registry that `--to` or the settings name."""
    with connect(find_registry(arguments.optional("to"))) as api:
        return action(arguments, api)


def show_rows(
    arguments: Arguments, key: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], nothing: str
) -> int:
    """Show what a registry lists: a table of some columns, with times to the minute; in JSON as it came."""
    cells = [
        [str(row.get(name) or "")[: 16 if name.endswith("_at") else None] for name in columns] for row in rows
    ]
    header = [name.removesuffix("_at").upper() for name in columns]
    value = {key: [dict(row) for row in rows]}
    return show(arguments, lambda: value, lambda: table(header, cells) if rows else [nothing])


def pick(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return some columns of what a registry sent, as text."""
    return [{name: str(row.get(name) or "") for name in columns} for row in rows]


def find_registry(address: str | None) -> library.Credential:
    """Return the registry that is meant, with its token; raises InvalidOption where it is not clear."""
    settings = load_settings(current_directory())
    warn(settings.diagnostics)
    return library.choose_registry(address, settings.registry)


def connect(credential: library.Credential) -> library.RegistryApi:
    """Return the registry's API, to be used in a `with` block."""
    line.rename(f"Asking {credential.registry}")
    return library.RegistryApi(credential.registry, credential.token, tell_wait=_tell_wait)


def admit_job(credential: library.Credential, path: str, *, may_fail: bool = False) -> library.Credential:
    """Return the registry with a token for the job of CI that runs this command, if it has none yet.

    The token publishes at `path`. What `may_fail` goes on without a token where the registry refuses the job.
    """
    if credential.token or not library.is_job():
        return credential
    with connect(credential) as api:
        try:
            token = library.mint_token(api, path, _tell_job_wait)
            return library.Credential(credential.registry, token, credential.subject)
        except RegistryRefused as error:
            if not may_fail:
                raise
            print(f"Without a token: {one_line(error.message)}", file=sys.stderr)
            return credential


def is_outsider(credential: library.Credential) -> bool:
    """Return whether this is a job of CI that the registry gave no token, which was said already."""
    return not credential.token and library.is_job()


@contextmanager
def advise(credential: library.Credential) -> Iterator[None]:
    """Say with a refusal inside the block what a job of CI lacks that has no token."""
    try:
        yield
    except RegistryRefused as error:
        if not credential.token:
            error.details = library.advise_job(credential.registry) or error.details
        raise


def _tell_wait(seconds: float) -> None:
    print(f"The registry is busy; trying again in {seconds:g} s", file=sys.stderr, flush=True)


def _tell_job_wait(seconds: float) -> None:
    print(f"GitHub gave no ID token; trying again in {seconds:g} s", file=sys.stderr, flush=True)
