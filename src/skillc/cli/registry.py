"""Open the registry that a command is about, and say what it is waiting for."""

from __future__ import annotations

import sys

from skillc import remotes
from skillc.cli.output import warn
from skillc.cli.progress import line
from skillc.cli.syntax import Option
from skillc.errors import RegistryRefused
from skillc.paths import current_directory
from skillc.settings import load_settings
from skillc.text import one_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from skillc.remotes import RegistryApi  # loads httpx2

TO = Option(
    "--to",
    "The registry. Default: SKILLC_REGISTRY, 'registry' in ~/.skillc/config.toml, or your only login.",
    value="<url>",
    completes="registries",
)


def find_registry(address: str | None) -> remotes.Credential:
    """Return the registry that is meant, with its token; raises InvalidOption where it is not clear."""
    settings = load_settings(current_directory())
    warn(settings.diagnostics)
    return remotes.choose_registry(address, settings.registry)


def connect(credential: remotes.Credential) -> RegistryApi:
    """Return the registry's API, to be used in a `with` block."""
    line.rename(f"Asking {credential.registry}")
    return remotes.RegistryApi(credential.registry, credential.token, tell_wait=_tell_wait)


def admit_job(credential: remotes.Credential, path: str, *, may_fail: bool = False) -> remotes.Credential:
    """Return the registry with a token for the job of CI that runs this command, if it has none yet.

    The token publishes at `path`. What `may_fail` goes on without a token where the registry refuses the job.
    """
    if credential.token or not remotes.is_job():
        return credential
    with connect(credential) as api:
        try:
            token = remotes.mint_token(api, path, _tell_job_wait)
            return remotes.Credential(credential.registry, token, credential.subject)
        except RegistryRefused as error:
            if not may_fail:
                raise
            print(f"Without a token: {one_line(error.message)}", file=sys.stderr)
            return credential


def is_outsider(credential: remotes.Credential) -> bool:
    """Return whether this is a job of CI that the registry gave no token, which was said already."""
    return not credential.token and remotes.is_job()


class advise:  # noqa: N801 -- a class, because contextlib takes long to load
    """Say with a refusal inside the block what a job of CI lacks that has no token."""

    def __init__(self, credential: remotes.Credential) -> None:
        self._credential = credential

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RegistryRefused) and not self._credential.token:
            error.details = remotes.advise_job(self._credential.registry) or error.details


def _tell_wait(seconds: float) -> None:
    print(f"The registry is busy; trying again in {seconds:g} s", file=sys.stderr, flush=True)


def _tell_job_wait(seconds: float) -> None:
    print(f"GitHub gave no ID token; trying again in {seconds:g} s", file=sys.stderr, flush=True)
