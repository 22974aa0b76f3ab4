"""Try what a registry needs before it is served: store, blobs, sign-in, the home, and the port."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from skillc.errors import SkillcError, unexpected
from skillc.paths import registry_directory, require_home
from skillc.registry import StoreTrial, try_blobs, try_folder, try_store
from skillc.server.host import Launch, check_token_file
from skillc.server.serve import listen
from skillc.server.settings import OidcSettings
from skillc.server.signin.flow import Directory, Flow, create_attempt

TIME = 30.0  # seconds for all of them; they run at once
OK, ERROR = "ok", "error"

_ADVICE = {
    "store": "check --store (SKILLC_STORE), its rights and, of PostgreSQL, its password, and that it runs",
    "blobs": "check --blobs (SKILLC_BLOBS), its rights and, for a bucket, its keys, region and endpoint",
    "sign-in": "check [oidc] issuer in --config, and that it can be reached from here",
    "folder": "set SKILLC_HOME to a folder that the server can write",
    "address": "check --host and --port, and whether another server runs",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What was tried of a server, and how that ended: `message` has the code and what to do."""

    name: str
    status: str
    message: str


def check_registry(launch: Launch, seconds: float = TIME) -> Iterator[Trial]:
    """Try each thing and yield how it ended, in order; what has no answer in time is an error."""
    tasks = [_Task(name, operation) for name, operation in _operations(launch).items()]
    end = monotonic() + seconds
    for task in tasks:
        yield task.wait(max(0.0, end - monotonic()), seconds)


class _Task:
    """An operation in a thread of its own, which is left behind where it hangs."""

    def __init__(self, name: str, operation: Callable[[], str]) -> None:
        self._name = name
        self._operation = operation
        self._trial: Trial | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._trial = Trial(self._name, OK, self._operation())
        except Exception as error:
            self._trial = self._fail(unexpected(error))

    def _fail(self, error: SkillcError) -> Trial:
        advice = _ADVICE[self._name]
        # Messages about options and missing extras say themselves what to do.
        is_complete = error.code in ("E100", "E201") or "choose another port" in error.message
        return Trial(self._name, ERROR, error.line() if is_complete else f"{error.line()}; {advice}")

    def wait(self, seconds: float, whole: float) -> Trial:
        self._thread.join(seconds)
        return self._trial or self._fail(SkillcError(f"no answer in {whole:g} seconds"))


def _operations(launch: Launch) -> dict[str, Callable[[], str]]:
    options, oidc = launch.options, launch.settings.sign_in.oidc
    operations: dict[str, Callable[[], str]] = {
        "store": lambda: _try_store(launch),
        "blobs": lambda: try_blobs(options.store, options.blobs),
    }
    if oidc is not None:
        operations["sign-in"] = lambda: asyncio.run(_try_issuer(oidc, launch.settings.url))
    operations["folder"] = _try_home
    operations["address"] = lambda: _try_address(options.host, options.port)
    return operations


def _try_store(launch: Launch) -> str:
    trial, file = try_store(launch.options.store), launch.options.token_file
    if not trial.has_admin and file:
        check_token_file(file)
    return f"{trial.name}: {_describe(trial, file)}"


def _describe(trial: StoreTrial, file: str) -> str:
    """Say what a store is, and what a start would do to it."""
    admin = f"makes the first admin and {f'writes the token to {file}' if file else 'prints the token'}"
    if not trial.migrations:
        return f"it can be written and has no tables; a start makes them, and {admin}"
    ways = []
    if pending := trial.known - trial.migrations:
        numbers = (
            f"migration {trial.known}"
            if pending == 1
            else f"migrations {trial.migrations + 1} to {trial.known}"
        )
        ways.append(
            f"runs {numbers} (servers of older versions can't be started on it any more: back it up first)"
        )
    if not trial.has_admin:
        ways.append(admin)
    change = f"a start {' and '.join(ways)}" if ways else "a start changes nothing"
    return f"it was read and can be written, with {trial.migrations} of {trial.known} migrations; {change}"


async def _try_issuer(settings: OidcSettings, url: str) -> str:
    """Ask for the discovery document and the keys, as the first sign-in would."""
    directory = Directory(lambda: datetime.now(UTC))
    await Flow(settings, directory, url).begin(create_attempt())
    keys = await directory.get(settings.issuer).count_keys()
    return f"{settings.issuer}: its discovery document was read, and {keys} of its keys can be used"


def _try_home() -> str:
    return try_folder(os.path.join(registry_directory(require_home()), "work"))


def _try_address(host: str, port: int) -> str:
    with listen(host, port) as listener:
        host, port = listener.getsockname()[:2]
        return f"{host} port {port}: it is free"
