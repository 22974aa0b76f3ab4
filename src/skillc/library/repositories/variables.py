"""Variables of the environment that a project's skills.toml asks for, and those that the user allowed.

A project that was cloned must not send the user's secrets to a host that it names. `${VAR}` in a project's
file counts only after the user allowed this project to use this variable for this host. The user's own
skills.toml needs no permission.

    <home>/.skillc/variables.json
        {"version": 1, "variables": [{"project": "/home/you/app", "host": "https://h", "variable": "TOKEN"}]}
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from urllib.parse import urlsplit

from skillc import paths
from skillc.errors import InvalidConfiguration, InvalidOption
from skillc.library.repositories.config import VARIABLE, SkillRepositoryConfig, SkillsConfig
from skillc.quotes import shell_quote
from skillc.records import Record

RECORD = Record(
    "variables.json",
    2,
    "variables",
    "damaged; correct it, or delete it and allow anew",
    unsealed=1,
    closed=0o022,
    closed_advice="others can write it; check it, then run 'chmod 600' on it",
)


@dataclass(frozen=True, slots=True, order=True)
class VariableUse:
    """A project that sends a variable to a host.

    `host` has a scheme, and a port if it is not the usual one. Where it depends on a variable, it is the
    whole address as the file has it.
    """

    project: str
    host: str
    variable: str

    def command(self) -> str:
        """Return the command that allows it."""
        return f"skc trust allow --variable {shell_quote(self.variable)} --host {shell_quote(self.host)}"


def variables_asked_for(config: SkillsConfig) -> list[VariableUse]:
    """Return what the project's repositories would send now and the user has not allowed."""
    uses = variables_used(config)
    permissions = allowed_variables() if uses else []
    return [use for use in uses if use not in permissions and os.environ.get(use.variable)]


def variables_used(config: SkillsConfig) -> list[VariableUse]:
    """Return what the project's repositories use, but for those that can't be allowed."""
    uses: dict[VariableUse, None] = {}
    for repository in config.repositories:
        try:
            uses |= dict.fromkeys(uses_of(repository))
        except InvalidConfiguration:
            continue  # it is unavailable, and says why when it is used
    return list(uses)


def check_variables(repository: SkillRepositoryConfig) -> None:
    """Raise InvalidConfiguration for a variable that the repository's project may not use."""
    uses = uses_of(repository)
    permissions = allowed_variables() if uses else []
    for use in uses:
        if use not in permissions:
            what = f"the project may not send the variable {use.variable} to {use.host}"
            raise _invalid(repository, f"{what}; to allow it, run there: {use.command()}")


def uses_of(repository: SkillRepositoryConfig) -> list[VariableUse]:
    """Return the variables that a project's repository uses; none for one that the user configured."""
    names = repository.variables()
    if not names or not repository.of_project:
        return []
    host = _host(repository)
    project = os.path.realpath(repository.base)
    return [VariableUse(project, host, name) for name in names]


def _host(repository: SkillRepositoryConfig) -> str:
    """Return where the variables go, by the parser that also opens the connection.

    A value can move the host: `https://one.example${PWD}@other.example` leads to the first one.
    """
    address: str = repository.settings.get("url", "")
    host = _origin(repository.type, VARIABLE.sub("x", address))
    values = VARIABLE.sub(lambda match: os.environ.get(match[1]) or "x", address)
    if host and host == _origin(repository.type, values):
        return host
    if "@" in address:
        raise _invalid(repository, "a variable in its address may change the host; write the host out")
    return address


def _origin(kind: str, address: str) -> str:
    """Return scheme, host and port of an address; empty for one without a host."""
    if kind == "git":
        from skillc.remotes.git import GitRemote  # 20 ms, for projects with variables alone

        try:
            remote = GitRemote.parse(address)
        except InvalidConfiguration:
            return ""
        scheme, host, port = remote.scheme, remote.host, remote.port
    else:
        try:
            parts = urlsplit(address.strip())
            scheme, host, port = parts.scheme, parts.hostname or "", parts.port
        except ValueError:
            return ""
    place = f"[{host}]" if ":" in host else host
    return f"{scheme}://{place}{f':{port}' if port else ''}" if host else ""


def _invalid(repository: SkillRepositoryConfig, reason: str) -> InvalidConfiguration:
    return InvalidConfiguration(repository.file, f"repository '{repository.name}': {reason}")


def allowed_variables() -> list[VariableUse]:
    """Return what the user allowed; raises InvalidConfiguration for a file that can't be trusted."""
    return RECORD.read(_parse_uses, [])


def _parse_uses(entries: list[dict[str, str]]) -> list[VariableUse]:
    uses = [VariableUse(**entry) for entry in entries]
    if not all(isinstance(getattr(use, field.name), str) for use in uses for field in fields(use)):
        raise TypeError(uses)
    return uses


def allow_variables(uses: Iterable[VariableUse]) -> None:
    """Let projects use variables from now on."""
    with RECORD.lock():
        RECORD.write([asdict(use) for use in sorted({*allowed_variables(), *uses})])


def allow_variable(cwd: str, variable: str, host: str) -> list[VariableUse]:
    """Let the project of `cwd` send a variable to a host; raises InvalidOption where it does not do that."""
    uses = variables_used(SkillsConfig.load(cwd))
    matches = [use for use in uses if (use.variable, use.host) == (variable, host)]
    if not matches:
        wishes = "; ".join(f"{use.variable} for {use.host}" for use in uses) or "none"
        raise InvalidOption(f"the project here does not use {variable} for {host}; it uses {wishes}")
    allow_variables(matches)
    return matches


def forget_variable(cwd: str, variable: str, host: str) -> list[VariableUse]:
    """Take that back from the projects of `cwd`, and return what was allowed."""
    projects = {os.path.realpath(root) for root in paths.library_roots(cwd)}
    uses = {VariableUse(project, host, variable) for project in projects}
    with RECORD.lock():
        allowed = allowed_variables()
        removals = [use for use in allowed if use in uses]
        if removals:
            RECORD.write([asdict(use) for use in allowed if use not in uses])
    return removals
