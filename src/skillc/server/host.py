"""Open a registry, make its first admin, and listen, in one process or several."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware import Middleware

from skillc.errors import InvalidOption
from skillc.library import hide_secrets
from skillc.paths import registry_directory, require_home
from skillc.registry import PolicyRegistry, Registry, open_registry
from skillc.server.access import Guard
from skillc.server.inspection import audit_package
from skillc.server.registry import create_registry_app
from skillc.server.serve import create_server, listen, make_url
from skillc.server.service import UPLOAD_TIME
from skillc.server.settings import Launch
from skillc.server.systemd import notify_systemd
from skillc.server.workers import Workers, call_in_process
from skillc.startup import collect_often

TOKEN_START = b"skc_"

log = logging.getLogger("skillc.server")


def run(launch: Launch, announce: Callable[[str], None], show_token: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, in one process or several."""
    if launch.workers > 1:
        _serve_with_workers(launch, announce, show_token)
        return
    with (
        listen(launch.host, launch.port) as listener,
        _open(launch) as registry,
    ):
        _make_admin(registry, launch.token_file, show_token)
        _serve(registry, launch, listener, lambda: _announce(announce, listener))


def _serve_with_workers(
    launch: Launch, announce: Callable[[str], None], show_token: Callable[[str], None]
) -> None:
    if not hasattr(os, "fork") or not hasattr(socket, "SO_REUSEPORT"):
        raise InvalidOption("--workers needs a system that has fork and SO_REUSEPORT; start one server")
    listen(launch.host, launch.port).close()  # with `share`, a port that is taken would not be noticed
    with (
        listen(launch.host, launch.port, share=True) as place,  # keeps the port, and takes no connection
        tempfile.TemporaryDirectory(prefix="skillc-metrics-") as folder,
    ):
        launch = replace(launch, settings=replace(launch.settings, metrics=folder))
        port = place.getsockname()[1]
        if secret := call_in_process(lambda: _prepare(launch)):
            show_token(secret)

        def work(number: int, ready: Callable[[], None]) -> None:
            with (
                listen(launch.host, port, share=True) as listener,
                _open(launch) as registry,
            ):
                _serve(registry, launch, listener, ready, number)

        def reload() -> None:
            nonlocal launch
            fresh = launch.reload(launch)
            call_in_process(lambda: _prepare(fresh))  # what can't be served is an error now
            launch = fresh

        Workers(launch.workers, work, log.error, reload).run(lambda: _announce(announce, place))


def _announce(announce: Callable[[str], None], listener: socket.socket) -> None:
    """Say that requests are answered: to a person, and to systemd."""
    announce(make_url(listener))
    notify_systemd("READY=1")


def _open(launch: Launch) -> Registry:
    make = partial(PolicyRegistry, config=launch.config, audit=audit_package)
    return open_registry(launch.store, launch.blobs, launch.config.review, make)


def _prepare(launch: Launch) -> str:
    """Bring the store up to date, make the first admin, and return its token if it is to be shown."""
    secrets: list[str] = []
    with _open(launch) as registry:
        _make_admin(registry, launch.token_file, secrets.append)
    return "".join(secrets)


def _serve(
    registry: Registry, launch: Launch, listener: socket.socket, ready: Callable[[], None], number: int = 0
) -> None:
    """Serve with this process, which has a number among several."""
    collect_often()
    settings = replace(launch.settings, index=launch.settings.index or _index_folder(launch.store))
    host = urlsplit(settings.url).netloc
    checks = Middleware(Guard, host=launch.host, names=(*launch.names, *([host] if host else ())))
    app = create_registry_app(registry, settings, mounts=launch.mounts, middleware=[checks], number=number)
    listener.listen(128)
    create_server(app, ready, "on", body_time=UPLOAD_TIME).run([listener])


def _index_folder(store: str) -> str:
    """Return the folder of the index of a store, which the processes of a machine share."""
    name = hashlib.sha256(hide_secrets(store).encode()).hexdigest()[:16]
    return os.path.join(registry_directory(require_home()), "index", name)


def _make_admin(registry: Registry, token_file: str, show_token: Callable[[str], None]) -> None:
    """Make the first admin, and write its token to a file or show it."""
    if not token_file:
        if token := registry.accounts.create_first_admin():
            show_token(token.secret)
        return
    with _open_token_file(token_file) as file:
        token = registry.accounts.create_first_admin()
        if token is not None:
            file.truncate(0)
            file.write(f"{token.secret}\n".encode())
            file.flush()
            os.fsync(file.fileno())
    if not os.path.getsize(token_file):  # made above, and not needed
        os.unlink(token_file)


def _open_token_file(path: str) -> Any:
    """Open a file for a token before that is made, so that it is not lost; no other file is written over."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        file = os.fdopen(descriptor, "r+b")
    except OSError as error:
        raise InvalidOption(f"--admin-token-file {path}: {error.strerror}") from None
    start = file.read(len(TOKEN_START))
    if start and start != TOKEN_START:
        file.close()
        raise InvalidOption(f"--admin-token-file {path}: it has something else than a token")
    file.seek(0)
    return file
