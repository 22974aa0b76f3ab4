"""Audit many skills on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from skillc.audit.audit import audit_folder
from skillc.audit.findings import Asks, Audit, Finding
from skillc.audit.policy import Baseline, Policy
from skillc.audit.rules import BY_ID
from skillc.audit.shell import has_parser
from skillc.errors import SkillcError, install_command, unexpected, warning
from skillc.index import LOST, Pool, can_fork, count_cores

MIN_JOBS = 16  # with fewer skills, one process is as fast


def audit_folders(
    folders: Sequence[tuple[str, str]],
    *,
    policy: Policy | None = None,
    baseline: Baseline | None = None,
    notes: bool = False,
) -> Iterator[Audit | SkillcError]:
    """Yield the audit of each skill, given by folder and name, in order; an error for one that fails."""
    pool = Pool(_make_job, policy, baseline, notes)
    cores = count_cores() if len(folders) >= MIN_JOBS and can_fork() else 1
    results = pool.run_apart(folders, cores if cores > 1 else 0)  # a skill may be made to end its reader
    for folder, result in zip(folders, results, strict=True):
        yield _unpack(result, folder)


def _make_job(policy: Policy | None, baseline: Baseline | None, notes: bool) -> Callable[[Any], Any]:
    def audit(job: tuple[str, str]) -> Any:
        try:
            return _pack(audit_folder(job[0], job[1], policy=policy, baseline=baseline, notes=notes))
        except Exception as error:
            failure = unexpected(error)
            return failure.code, failure.message

    return audit


def _pack(audit: Audit) -> Any:
    """Return an audit as values that a pipe between processes takes."""
    findings = [
        (f.rule.id, f.level, f.message, f.file, f.line, f.fingerprint, f.subject) for f in audit.findings
    ]
    asks = audit.asks
    kinds = asks.hosts, asks.commands, asks.environment, asks.writes, asks.installs
    return audit.name, audit.folder, kinds, findings, audit.allowed


def _unpack(result: Any, job: tuple[str, str]) -> Audit | SkillcError:
    if result is LOST:
        return SkillcError(f"auditing it ended its process; do not use it, and report it ({job[0]})")
    if len(result) == 2:
        code, message = result
        error = SkillcError(f"{message} ({job[0]})")
        error.code = code
        return error
    name, folder, kinds, rows, exemptions = result
    findings = tuple(Finding(BY_ID[rule], *rest) for rule, *rest in rows)
    diagnostics = () if has_parser() else (warning("W098", install_command()),)
    return Audit(name, folder, Asks(*kinds), findings, exemptions, diagnostics)
