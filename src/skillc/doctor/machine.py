"""Checks of the machine and its configuration: versions, sandbox, the command `skc`, settings."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from importlib import metadata

from skillc import __version__, paths
from skillc.doctor.check import OK, WARNING, Check, Place, fail, ok, warn
from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.errors import InvalidConfiguration, SkillcError, install_command, required_libraries, unexpected
from skillc.library.repositories import (
    Refresh,
    SkillRepositoryConfig,
    SkillsConfig,
    allowed_variables,
    refresh_repositories,
    resolve_repositories,
    variables_used,
)
from skillc.paths import short_path as short
from skillc.quotes import shell_quote
from skillc.settings import load_settings
from skillc.setup import find_script, read_login_path
from skillc.startup import sqlite
from skillc.text import count_of
from skillc.tools import describe_sandbox

MAX_NAMES = 3  # of skills, in one line
PATIENCE = 10.0  # seconds for a repository to answer
GRACE = 2.0  # seconds more, so that a source can say itself what is wrong
_PROFILES = {"zsh": "~/.zprofile", "bash": "~/.bash_profile", "fish": "~/.config/fish/config.fish"}


def check_versions(place: Place) -> Iterator[Check]:
    text = f"skc {__version__}, Python {platform.python_version()}, SQLite {sqlite.sqlite_version}"
    with closing(sqlite.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
            yield ok(f"{text} with FTS5")
        except sqlite.Error:
            yield fail(f"{text} without FTS5, which builds need; use another Python")


def check_libraries(place: Place) -> Iterator[Check]:
    """Check that what every installation brings is there: an upgrade that was cut short leaves gaps."""
    missing = [name for name in required_libraries() if not _is_installed(name)]
    if missing:
        text = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        yield fail(text, install_command())
    yield ok("all are installed")


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def check_sandbox(place: Place) -> Iterator[Check]:
    level, obstacles = describe_sandbox()
    reasons = "; ".join(obstacles)
    if level == "none":
        yield warn(f"no sandbox works here, so tools of skills that are not trusted do not run: {reasons}")
    yield ok(f"{level} ({reasons})" if reasons else level)


def check_path(place: Place) -> Iterator[Check]:
    """Look for `skc` where agents do: in the PATH of a login shell, and in that of desktop programs."""
    script = find_script()
    here = shutil.which("skc")
    login = read_login_path()
    program = shutil.which("skc", path=login) if login is not None else here
    fix = _link_command(script, login or os.environ.get("PATH", ""), place.user_home)
    if program is None and here is None:
        yield fail("agents that read a skill call 'skc', and it is not on the PATH", fix)
    elif program is None:
        text = f"'{short(here or '')}' is on the PATH here, but not in a login shell, as agents get it"
        yield warn(text, fix)
    elif script and os.path.realpath(program) != os.path.realpath(script):
        text = f"agents call '{short(program)}', which is not this one, '{short(script)}'"
        yield warn(text, fix)
    elif sys.platform == "darwin" and shutil.which("skc", path=paths.MINIMAL_PATH) is None:
        where = f"the PATH of programs that the desktop starts ({paths.MINIMAL_PATH})"
        text = f"'{short(program)}' is not on {where}"
        yield warn(text, _link_command(script, paths.MINIMAL_PATH, None))
    else:
        yield ok(f"agents find '{short(program)}'")


def _link_command(script: str, path: str, home: str | None) -> str | None:
    """Return what puts `skc` on a PATH: a link in a directory of the user's that is on it, else a line."""
    if not script:
        return "uv tool install skillc"
    own = os.path.join(home, ".local", "bin") if home else "/usr/local/bin"
    sudo = "" if home else "sudo "
    link = f"{sudo}ln -sf {shell_quote(script)} {shell_quote(os.path.join(own, 'skc'))}"
    if own in path.split(os.pathsep):
        return f"mkdir -p {shell_quote(own)} && {link}" if home else link
    if not home:
        return link
    line = f'export PATH="{own}:$PATH"'
    profile = _PROFILES.get(os.path.basename(os.environ.get("SHELL", "")), "~/.profile")
    return f"mkdir -p {shell_quote(own)} && {link} && echo {shell_quote(line)} >> {profile}"


def check_configuration(place: Place) -> Iterator[Check]:
    """Read config.toml and skills.toml as every command does."""
    for diagnostic in load_settings(place.cwd).diagnostics:
        yield warn(diagnostic.message)
    try:
        config = SkillsConfig.load(place.cwd)
    except InvalidConfiguration as error:
        yield fail(error.message)
        return
    for diagnostic in config.diagnostics:
        yield warn(diagnostic.message)
    if not config.enabled:
        text = f"skills are switched off by 'enabled = false' in '{short(config.enabled_by)}'"
        yield warn(text)
    what = count_of(len(config.repositories), "repository").replace("repositorys", "repositories")
    yield ok(f"{what} configured" if config.repositories else "the default folders")


def check_variables(place: Place) -> Iterator[Check]:
    """Find variables that repositories use and that are not set, or that a project may not use."""
    repositories = _repositories(place)
    for repository in repositories:
        for name in repository.variables():
            if not os.environ.get(name):
                text = f"repository '{repository.name}' needs the variable {name}, which is not set"
                yield (fail if repository.required else warn)(text, f"export {name}=…")
    try:
        config = SkillsConfig(repositories=tuple(repositories))
        uses, permissions = variables_used(config), allowed_variables()
    except InvalidConfiguration:
        uses, permissions = [], []  # of a file that is another check's
    for use in uses:
        if use not in permissions:
            text = f"the project may not send the variable {use.variable} to {use.host} yet"
            yield warn(text, use.command())
    yield ok("what the repositories use is set")


def check_repositories(place: Place) -> Iterator[Check]:
    """Ask all configured repositories at once; nothing else is asked of any host."""
    repositories = _repositories(place)
    ready = [r for r in repositories if all(os.environ.get(name) for name in r.variables())]
    results = _refresh_all(ready)
    failed = set()
    for repository, result in zip(ready, results, strict=True):
        fix = f"skc repo sync {shell_quote(repository.name)}"
        late = f"'{repository.name}' did not answer within {PATIENCE:g} s"
        if result is not None and result.failure is None:
            continue
        message = result.failure.message if result and result.failure else late
        yield (fail if repository.required else warn)(message, fix)
        failed.add(repository.name)
    if repositories:
        yield ok(f"{len(ready)} of {len(repositories)} asked")
    if not repositories or failed < {repository.name for repository in repositories}:
        yield from _check_library(place, failed)


def _check_library(place: Place, failed: set[str]) -> Iterator[Check]:
    """Count the skills of the repositories that answered that were repaired, quarantined, shadowed or hidden.

    The others would be waited for once more, and longer.
    """
    try:
        config = SkillsConfig.load(place.cwd)
        answered = tuple(each for each in config.repositories if each.name not in failed)
        config = replace(config, repositories=answered)
        source = resolve_repositories(config, next(paths.library_roots(place.cwd), None))
        engine = DefaultSkillEngine(source, EngineOptions.from_config(config))
        diagnostics = asyncio.run(engine.diagnostics())
    except SkillcError:
        return  # other checks say so
    by_code: dict[str, list[str]] = {}
    for diagnostic in diagnostics:
        if diagnostic.path:  # what is wrong with a repository itself is said above
            by_code.setdefault(diagnostic.code, []).append(short(diagnostic.path))
    for code, names in sorted(by_code.items()):
        some = ", ".join(names[:MAX_NAMES]) + (", …" if names[MAX_NAMES:] else "")
        text = f"{count_of(len(names), 'skill')} with {code}: {some}"
        yield Check("library", WARNING, text, f"skc doctor --library --code {code}")
    yield Check("library", OK, "no skill was repaired, quarantined, shadowed or hidden")


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
