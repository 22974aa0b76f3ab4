"""Run all checks, and repair what is safe to repair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from skillc import paths
from skillc.contract import optional
from skillc.doctor import files, machine, skills
from skillc.doctor.check import ERROR, OK, WARNING, Check, Place, fail
from skillc.errors import unexpected

CHECKS: dict[str, Callable[[Place], Iterator[Check]]] = {
    "versions": machine.check_versions,
    "libraries": machine.check_libraries,
    "path": machine.check_path,
    "sandbox": machine.check_sandbox,
    "home": files.check_home,
    "owners": files.check_owners,
    "records": files.check_records,
    "configuration": machine.check_configuration,
    "variables": machine.check_variables,
    "repositories": machine.check_repositories,
    "agents": skills.check_agents,
    "listings": skills.check_listings,
    "mcp": skills.check_servers,
    "hooks": skills.check_hooks,
    "names": skills.check_names,
    "needs": skills.check_needs,
    "builds": skills.check_builds,
    "disabled": skills.check_disabled,
    "lock": skills.check_locks,
    "ghosts": skills.check_ghosts,
    "links": skills.check_links,
    "deployments": skills.check_deployments,
    "leftovers": files.check_leftovers,
    "space": files.check_space,
}


@dataclass(frozen=True, slots=True)
class Examination:
    """All findings, in the order of the checks; a check without any says so with `ok`.

    Where repairs were asked for, `fixed` says what was done, and `not_fixed` what could not be.
    """

    checks: tuple[Check, ...]
    fixed: tuple[str, ...] | None = optional()
    not_fixed: tuple[str, ...] | None = optional()

    @property
    def errors(self) -> int:
        return sum(check.status == ERROR for check in self.checks)

    @property
    def warnings(self) -> int:
        return sum(check.status == WARNING for check in self.checks)


def examine(cwd: str, *, fix: bool = False) -> Examination:
    """Run all checks in a directory. Whatever is broken, a check that fails is a finding.

    With `fix`, do the repairs that are safe, and check again.
    """
    checks = _run_all(cwd)
    if not fix:
        return Examination(checks)
    repairs, failures = _repair(checks)
    return Examination(_run_all(cwd) if repairs else checks, tuple(repairs), tuple(failures))


def _run_all(cwd: str) -> tuple[Check, ...]:
    place = Place(cwd, paths.home(), paths.user_home())
    return tuple(check for name, run in CHECKS.items() for check in _run(name, run, place))


def _run(name: str, run: Callable[[Place], Iterator[Check]], place: Place) -> list[Check]:
    """Return what a check found; its `ok` counts only where it found nothing else."""
    checks: list[Check] = []
    try:
        checks.extend(run(place))
    except Exception as error:
        checks.append(fail(f"can't be checked: {unexpected(error).message}"))
    checks = [replace(check, name=check.name or name) for check in checks]
    problems = {check.name for check in checks if check.status != OK}
    return [check for check in checks if check.status != OK or check.name not in problems]


def _repair(checks: Iterable[Check]) -> tuple[list[str], list[str]]:
    """Do the repairs of these findings; return what was done, and what failed."""
    repairs: list[str] = []
    failures: list[str] = []
    for check in checks:
        if check.repair is None:
            continue
        try:
            repairs.append(check.repair())
        except Exception as error:  # one repair must not stop the others
            failures.append(f"{check.message}: {unexpected(error).message}")
    return repairs, failures
