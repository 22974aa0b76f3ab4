"""Checks of the configuration: settings, repositories, their variables, and whether they answer."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator, Sequence

from skillc.errors import InvalidConfiguration, unexpected
from skillc.install.doctor.check import ERROR, OK, WARNING, Check, Place, short
from skillc.library import (
    Refresh,
    SkillRepositoryConfig,
    SkillsConfig,
    allowed_variables,
    refresh_repositories,
    variables_used,
)
from skillc.quotes import shell_quote
from skillc.settings import load_settings
from skillc.text import count_of

PATIENCE = 10.0  # seconds for a repository to answer
GRACE = 2.0  # seconds more, so that a source can say itself what is wrong


def check_configuration(place: Place) -> Iterator[Check]:
    """Read config.toml and skills.toml as every command does."""
    for diagnostic in load_settings(place.cwd).diagnostics:
        yield Check("configuration", WARNING, diagnostic.message)
    try:
        config = SkillsConfig.load(place.cwd)
    except InvalidConfiguration as error:
        yield Check("configuration", ERROR, error.message)
        return
    for diagnostic in config.diagnostics:
        yield Check("configuration", WARNING, diagnostic.message)
    if not config.enabled:
        text = f"skills are switched off by 'enabled = false' in '{short(config.enabled_by)}'"
        yield Check("configuration", WARNING, text)
    what = count_of(len(config.repositories), "repository").replace("repositorys", "repositories")
    yield Check("configuration", OK, f"{what} configured" if config.repositories else "the default folders")


def check_variables(place: Place) -> Iterator[Check]:
    """Find variables that repositories use and that are not set, or that a project may not use."""
    repositories = _repositories(place)
    for repository in repositories:
        for name in repository.variables():
            if not os.environ.get(name):
                text = f"repository '{repository.name}' needs the variable {name}, which is not set"
                yield Check("variables", ERROR if repository.required else WARNING, text, f"export {name}=…")
    try:
        config = SkillsConfig(repositories=tuple(repositories))
        uses, permissions = variables_used(config), allowed_variables()
    except InvalidConfiguration:
        uses, permissions = [], []  # of a file that is another check's
    for use in uses:
        if use not in permissions:
            text = f"the project may not send the variable {use.variable} to {use.host} yet"
            yield Check("variables", WARNING, text, use.command())
    yield Check("variables", OK, "what the repositories use is set")


def check_repositories(place: Place) -> Iterator[Check]:
    """Ask all configured repositories at once; nothing else is asked of any host."""
    repositories = _repositories(place)
    ready = [r for r in repositories if all(os.environ.get(name) for name in r.variables())]
    for repository, result in zip(ready, _refresh_all(ready), strict=True):
        fix = f"skc repo sync {shell_quote(repository.name)}"
        status = ERROR if repository.required else WARNING
        if result is None:
            text = f"'{repository.name}' did not answer within {PATIENCE:g} s"
            yield Check("repositories", status, text, fix)
        elif result.failure is not None:
            yield Check("repositories", status, result.failure.message, fix)
    if repositories:
        yield Check("repositories", OK, f"{len(ready)} of {len(repositories)} asked")


def _refresh_all(repositories: Sequence[SkillRepositoryConfig]) -> list[Refresh | None]:
    """Return the answers in order; None for a repository that did not answer in time.

    A thread for each, which ends with the process: one that hangs can't be stopped from here.
    """
    answers: list[Refresh | None] = [None] * len(repositories)

    def ask(number: int) -> None:
        repository = repositories[number]
        try:
            (answers[number],) = asyncio.run(refresh_repositories([repository], time_out=PATIENCE))
        except BaseException as error:  # in a thread, it would be printed
            failure = unexpected(error)
            answers[number] = Refresh(repository.name, repository.type, "unavailable", failure=failure)

    threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(len(repositories))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PATIENCE + GRACE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return list(answers)


def _repositories(place: Place) -> list[SkillRepositoryConfig]:
    """Return the configured repositories; none where the configuration can't be read, which is a check."""
    try:
        return list(SkillsConfig.load(place.cwd).repositories)
    except InvalidConfiguration:
        return []
