"""Launch a registry: read its options, open it, make its first admin, and serve with one process or more."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware import Middleware

from skillc import atomic
from skillc.errors import InvalidOption
from skillc.paths import make_private, read_regular, registry_directory, require_home
from skillc.registry import SYSTEM, Registry, RegistryConfig, ReviewRules, open_registry
from skillc.remotes.http import hide_secrets
from skillc.server.access import Guard
from skillc.server.configuration import read_configuration
from skillc.server.registry import create_registry_app
from skillc.server.serve import create_server, listen, make_url
from skillc.server.service import UPLOAD_TIME
from skillc.server.settings import ServerSettings
from skillc.server.uploads import Workplace, audit_package, make_statement, open_attester
from skillc.server.workers import Workers, call_in_process
from skillc.skills import SkillId
from skillc.startup import collect_often

TOKEN_START = b"skc_"
MAX_TOKEN_FILE = 4096  # bytes of a file that a token may replace

log = logging.getLogger("skillc.server")
VARIABLE = "NOTIFY_SOCKET"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of a registry, as they are typed; the command's help says what each means."""

    host: str
    port: int
    workers: int
    rate_limit: int
    store: str = field(default="", repr=False)  # may have a password
    blobs: str = field(default="", repr=False)
    url: str = ""
    config: str = ""
    token_file: str = ""
    public_read: bool = False
    names: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    review_findings: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to serve and how; `mounts` returns applications of other surfaces, by path, for a `Service`."""

    options: ServeOptions
    mounts: Callable[[Any], Mapping[str, Any]]
    config: RegistryConfig  # policies, reviews and mirrors
    settings: ServerSettings

    def reload(self) -> Launch:
        """Return the launch with its file read again; the secret of sign-in stays, it is read once."""
        config, settings = _read(self.options)
        before, oidc = self.settings.sign_in.oidc, settings.sign_in.oidc
        if before is not None and oidc is not None and not oidc.client_secret:
            oidc = replace(oidc, client_secret=before.client_secret)
            settings = replace(settings, sign_in=replace(settings.sign_in, oidc=oidc))
        return replace(self, config=config, settings=replace(settings, metrics=self.settings.metrics))


def make_launch(options: ServeOptions, mounts: Callable[[Any], Mapping[str, Any]]) -> Launch:
    """Return what `serve_registry` needs; raises InvalidOption and InvalidConfiguration."""
    # Variables are taken out of the environment: processes that we start don't need them.
    store = options.store or os.environ.pop("SKILLC_STORE", "")
    blobs = options.blobs or os.environ.pop("SKILLC_BLOBS", "")
    return Launch(replace(options, store=store, blobs=blobs), mounts, *_read(options))


def _read(options: ServeOptions) -> tuple[RegistryConfig, ServerSettings]:
    """Return what the options and their file say: policies, reviews and mirrors, and how it is served."""
    url = _read_url(options.url)
    config, own = read_configuration(options.config)
    sign_in = own.sign_in
    if sign_in.oidc is not None and not url:
        raise InvalidOption("with [oidc], --url is needed: the issuer leads people back there")
    prefixes = (*config.review.prefixes, *(str(SkillId(prefix)) for prefix in options.reviews))
    review = ReviewRules(prefixes, options.review_findings or config.review.findings)
    settings = replace(
        own,
        url=url,
        public_read=options.public_read,
        rate_limit=options.rate_limit,
        trusted_proxies=tuple(map(_read_network, options.trusted_proxies)),
        sign_in=sign_in,
    )
    return replace(config, review=review), settings


def _read_network(name: str) -> str:
    try:
        return str(ip_network(name, strict=False))
    except ValueError:
        raise InvalidOption(f"--trusted-proxy takes an address or a network, not '{name}'") from None


def _read_url(text: str) -> str:
    """Return the address that clients use, without a slash at its end."""
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
        raise InvalidOption("--url takes an address such as https://skills.example.com")
    if parts.username is not None or parts.path.strip("/"):
        raise InvalidOption("--url takes an address without a user and a path")
    return text.rstrip("/")


def serve_registry(
    launch: Launch, announce: Callable[[str], None], show_token: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM, in one process or several.

    `announce` gets the URL as soon as requests are answered. `show_token` gets the admin's token at the first
    start, unless there is a file for it. Raises MissingExtra, RegistryUnavailable, and SkillcError where the
    port is taken.
    """
    os.umask(0o077)  # what a server writes may be of private skills
    options = launch.options
    if options.workers > 1 and not hasattr(os, "fork"):
        raise InvalidOption("--workers needs a system that has fork; start one server")
    with listen(options.host, options.port) as listener:

        def ready() -> None:
            announce(make_url(listener))
            notify_systemd("READY=1")

        if options.workers > 1:
            _serve_with_workers(launch, listener, ready, show_token)
            return
        with _open(launch) as registry:
            if secret := _make_admin(registry, options.token_file):
                show_token(secret)
            _serve(registry, launch, listener, ready)


def _serve_with_workers(
    launch: Launch, listener: socket.socket, ready: Callable[[], None], show_token: Callable[[str], None]
) -> None:
    """Serve with several processes, which take connections from one socket."""
    with tempfile.TemporaryDirectory(prefix="skillc-metrics-") as folder:
        launch = replace(launch, settings=replace(launch.settings, metrics=folder))
        if secret := call_in_process(lambda: _prepare(launch)):
            show_token(secret)

        def work(number: int, ready: Callable[[], None]) -> None:
            with _open(launch) as registry:
                _serve(registry, launch, listener, ready, number)

        def reload() -> None:
            nonlocal launch
            fresh = launch.reload()
            call_in_process(lambda: _prepare(fresh))  # what can't be served is an error now
            launch = fresh

        Workers(launch.options.workers, work, log.error, reload).run(ready)


def _open(launch: Launch) -> Registry:
    workplace = Workplace(_work_folder())
    audit = partial(audit_package, workplace)
    store = launch.options.store
    registry = open_registry(store, launch.options.blobs, launch.config, audit, workplace.open)
    if attester := open_attester(store, launch.settings.keys):
        registry.attest = partial(make_statement, attester, launch.settings.url)
        registry.keys = attester.public_keys()
    return registry


def _prepare(launch: Launch) -> str:
    """Bring the store up to date, make the first admin, and return its token if it is to be shown."""
    with _open(launch) as registry:
        return _make_admin(registry, launch.options.token_file)


def _serve(
    registry: Registry, launch: Launch, listener: socket.socket, ready: Callable[[], None], number: int = 0
) -> None:
    """Serve with this process, which has a number among several."""
    collect_often()
    options = launch.options
    settings = replace(launch.settings, index=_index_folder(options.store), work=_work_folder())
    Workplace(settings.work).sweep()
    host = urlsplit(settings.url).netloc
    checks = Middleware(Guard, host=options.host, names=(*options.names, *([host] if host else ())))
    app = create_registry_app(registry, settings, mounts=launch.mounts, middleware=[checks], number=number)
    create_server(app, ready, "on", body_time=UPLOAD_TIME).run([listener])


def _index_folder(store: str) -> str:
    """Return the folder of the index of a store, which the processes of a machine share."""
    name = hashlib.sha256(hide_secrets(store).encode()).hexdigest()[:16]
    return os.path.join(registry_directory(require_home()), "index", name)


def _work_folder() -> str:
    """Return the folder for what is unpacked and audited; none where the home can't be written."""
    folder = os.path.join(registry_directory(require_home()), "work")
    try:
        make_private(folder)
    except OSError:
        return ""
    return folder


def _make_admin(registry: Registry, token_file: str) -> str:
    """Make the first admin where there is none, and return its token, unless a file has it.

    Raises RegistryUnavailable where the store or the blobs are out of reach, such as for wrong keys.
    """
    registry.probe()
    if token_file and not registry.accounts.grants(SYSTEM):
        check_token_file(token_file)  # before the token is made, so that it is not lost
    token = registry.accounts.create_first_admin()
    if token is None:
        return ""
    if token_file:
        # Others may have opened a file that they could read, so a new one takes its place.
        atomic.write(token_file, f"{token.secret}\n".encode(), durable=True, private=True)
        return ""
    return token.secret


def check_token_file(path: str) -> None:
    """Raise InvalidOption where no file can be written, or one would be lost: another's, or not a token."""
    try:
        probe = atomic.temporary_path(path)
        atomic.write(probe, b"", private=True)
        atomic.discard(probe)
        problem = _find_problem(path)
    except OSError as error:
        problem = error.strerror
    if problem:
        raise InvalidOption(f"--admin-token-file {path}: {problem}; name another file")


def _find_problem(path: str) -> str | None:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if os.name == "posix" and status.st_uid != os.geteuid():
        return "it belongs to another user"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    start = read_regular(path, MAX_TOKEN_FILE)[: len(TOKEN_START)]
    return None if start in (b"", TOKEN_START) else "it has something else than a token"


def notify_systemd(state: str) -> None:
    """Send a state such as `READY=1`; without systemd, do nothing."""
    address = os.environ.get(VARIABLE, "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return
    name = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect(name)
        sender.sendall(state.encode())
