"""Open the registry that a command is about, and say what it is waiting for."""

from __future__ import annotations

import sys

from skillc import library
from skillc.cli.output import warn
from skillc.cli.progress import line
from skillc.cli.syntax import Option
from skillc.paths import current_directory
from skillc.settings import load_settings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from skillc.library import RegistryApi  # loads httpx2

TO = Option(
    "--to",
    "The registry. Default: SKILLC_REGISTRY, 'registry' in ~/.skillc/config.toml, or your only login.",
    value="<url>",
    completes="registries",
)


def find_registry(address: str | None) -> library.Credential:
    """Return the registry that is meant, with its token; raises InvalidOption where it is not clear."""
    settings = load_settings(current_directory())
    warn(settings.diagnostics)
    return library.choose_registry(address, settings.registry)


def connect(credential: library.Credential) -> RegistryApi:
    """Return the registry's API, to be used in a `with` block."""
    line.rename(f"Asking {credential.registry}")
    return library.RegistryApi(credential.registry, credential.token, tell_wait=_tell_wait)


def _tell_wait(seconds: float) -> None:
    print(f"The registry is busy; trying again in {seconds:g} s", file=sys.stderr, flush=True)
