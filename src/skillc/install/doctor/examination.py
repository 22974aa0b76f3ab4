"""Run all checks, and mend what is safe to mend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from skillc import paths
from skillc.errors import unexpected
from skillc.install.doctor import agents, configuration, files, locks, machine, skills
from skillc.install.doctor.check import ERROR, OK, WARNING, Check, Place

CHECKS: dict[str, Callable[[Place], Iterator[Check]]] = {
    "versions": machine.check_versions,
    "libraries": machine.check_libraries,
    "path": machine.check_path,
    "sandbox": machine.check_sandbox,
    "home": files.check_home,
    "owners": files.check_owners,
    "records": files.check_records,
    "configuration": configuration.check_configuration,
    "variables": configuration.check_variables,
    "repositories": configuration.check_repositories,
    "agents": agents.check_agents,
    "mcp": agents.check_servers,
    "names": skills.check_names,
    "builds": skills.check_builds,
    "disabled": skills.check_disabled,
    "lock": locks.check_locks,
    "ghosts": agents.check_ghosts,
    "links": agents.check_links,
    "deployments": agents.check_deployments,
    "leftovers": files.check_leftovers,
    "space": files.check_space,
}


@dataclass(frozen=True, slots=True)
class Examination:
    """All findings, in the order of the checks; a check without any says so with `ok`."""

    checks: tuple[Check, ...]

    @property
    def errors(self) -> int:
        return sum(check.status == ERROR for check in self.checks)

    @property
    def warnings(self) -> int:
        return sum(check.status == WARNING for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        return {"checks": [check.as_json() for check in self.checks]}


def examine(cwd: str) -> Examination:
    """Run all checks in a directory. Whatever is broken, one that fails is a finding."""
    place = Place(cwd, paths.home(), paths.user_home())
    return Examination(tuple(check for name, run in CHECKS.items() for check in _run(name, run, place)))


def _run(name: str, run: Callable[[Place], Iterator[Check]], place: Place) -> list[Check]:
    """Return what a check found; its `ok` counts only where it found nothing else."""
    checks: list[Check] = []
    try:
        checks.extend(run(place))
    except Exception as error:
        checks.append(Check(name, ERROR, f"can't be checked: {unexpected(error).message}"))
    problems = {check.name for check in checks if check.status != OK}
    return [check for check in checks if check.status != OK or check.name not in problems]


def mend_all(examination: Examination) -> tuple[list[str], list[str]]:
    """Do the repairs that are safe; return what was done, and what failed."""
    repairs: list[str] = []
    failures: list[str] = []
    for check in examination.checks:
        if check.mend is None:
            continue
        try:
            repairs.append(check.mend())
        except Exception as error:  # one repair must not stop the others
            failures.append(f"{check.message}: {unexpected(error).message}")
    return repairs, failures
