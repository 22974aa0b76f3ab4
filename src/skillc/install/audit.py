"""Audit skills by name, in folders and of sources that are downloaded for it; and let in what may come in.

Nothing of them is run or kept. A skill that can't be audited does not stop the others. What the audit blocks
comes in where the user accepted that [D65]: these rules, for these files. A skill whose signer [trust] does
not accept never comes in.

    ~/.skillc/accepted-blocks.json     {"version": 1, "sha256": "…", "accepted": {"<digest>": ["A01", "A07"]}}

It is in the home and never in a lock: a cloned project can't accept anything for the user. Other files have
another digest [D64], so that an update asks again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from skillc.audit import (
    BLOCK,
    Audit,
    Baseline,
    Policy,
    ask_judge,
    audit_folder,
    audit_folders,
    parse_judge,
    read_baseline,
    read_policy,
    summarise_audits,
    write_baseline,
)
from skillc.errors import AuditBlocked, Diagnostic, SignerRefused, SkillcError, SkillNotFound, warning
from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.install.entry import LockEntry
from skillc.install.origin import Candidate
from skillc.library import at_path, is_skill, locate_skill, stored_skills
from skillc.lint import find_skills_below
from skillc.origins import (
    OPTION as SIGNER_OPTION,
    UNCHECKED,
    Evidence,
    Signature,
    Trust,
    check_skill,
    combine,
    describe_change,
    read_trust,
    require_signer,
)
from skillc.quotes import shell_quote
from skillc.records import Record
from skillc.skills import digest_skill
from skillc.surface import Here, Progress

Job = tuple[str, str]  # folder and name
OPTION = "--accept-blocks"
ACCEPTED = Record(
    "accepted-blocks.json",
    1,
    "accepted",
    f"it is damaged; delete it, and accept again what you accepted with {OPTION}",
    limit=16 << 20,
)


@dataclass(frozen=True, slots=True)
class Audits:
    """The audits of skills, the errors of those that could not be audited, and the size of a new baseline."""

    audits: tuple[Audit, ...]
    failures: tuple[SkillcError, ...]
    written: int | None = None

    @property
    def is_success(self) -> bool:
        return not (self.failures or any(each.blocks for each in self.audits))

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return list(dict.fromkeys(each for audit in self.audits for each in audit.diagnostics))

    def as_json(self) -> dict[str, Any]:
        return summarise_audits(self.audits, self.failures)


def audit_skills(
    here: Here,
    *names: str,
    policy: str = "",
    baseline: str = "",
    new_baseline: str = "",
    notes: bool = False,
    judge: str | None = None,
    hosts: Iterable[str] = (),
) -> Audits:
    """Audit skills that are named, below folders, or of sources as for 'skc add'; without names, all here.

    `policy`, `baseline` and `new_baseline`, to which all findings are written, are files, and `judge` is a
    command. With `notes`, notes in the skills' own files allow findings. `hosts` may be asked besides those
    of the sources. Raises SkillNotFound, OriginNotFound and, for the only skill, whatever keeps it from being
    audited.
    """
    files = [os.path.join(here.cwd, each) if each else "" for each in (policy, baseline, new_baseline)]
    rules = read_policy(files[0])
    before = read_baseline(files[1]) if files[1] else None
    argv = parse_judge(judge) if judge is not None else None
    with ExitStack() as stack:
        jobs = _Finder(here, frozenset(hosts), stack).find_all(names)
        audits, failures = _audit(here.progress, jobs, rules, before, notes, argv)
    result = Audits(tuple(audits), tuple(failures))
    here.tell(result.diagnostics)
    if new_baseline:
        return replace(result, written=write_baseline(files[2], audits))
    return result


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the folders and names of skills; downloads are kept until the stack ends."""

    here: Here
    hosts: frozenset[str]
    stack: ExitStack

    def find_all(self, names: Sequence[str]) -> list[Job]:
        if not names:
            return [(skill.source, skill.name) for skill in stored_skills(self.here.cwd)]
        jobs: dict[str, str] = {}
        for name in names:
            for folder, skill in self._find(name):
                jobs.setdefault(folder, skill)
        return list(jobs.items())

    def _find(self, name: str) -> Iterator[Job]:
        path = os.path.join(self.here.cwd, name)
        if name and "\0" not in name and os.path.isdir(path):
            yield from self._find_below(path, name)
            return
        try:
            skill = locate_skill(name, self.here.cwd)
        except SkillNotFound:
            if not ("/" in name or ":" in name or os.path.isfile(path)):  # no source either
                raise
        else:
            yield skill.source, skill.name
            return
        origin = parse_origin(name, self.here.cwd, self.hosts)
        with self.here.progress.activity(f"Fetching {origin.label()}"):
            opening = open_download(origin, report=lambda each: self.here.tell((each,)))
            download = self.stack.enter_context(opening)
        yield from ((candidate.folder, candidate.name) for candidate in download.candidates)

    def _find_below(self, path: str, name: str) -> Iterator[Job]:
        if is_skill(path):
            skill = at_path(path)
            yield skill.source, skill.name
            return
        with self.here.progress.activity(f"Looking for skills in {name}"):
            below = list(find_skills_below(path))
        for skill in below:
            yield skill.source, os.path.relpath(skill.source, os.path.realpath(path))


def _audit(
    progress: Progress,
    jobs: Sequence[Job],
    policy: Policy,
    baseline: Baseline | None,
    notes: bool,
    judge: list[str] | None,
) -> tuple[list[Audit], list[SkillcError]]:
    audits: list[Audit] = []
    failures: list[SkillcError] = []
    results = audit_folders(jobs, policy=policy, baseline=baseline, notes=notes)
    with progress.steps(len(jobs), "skills") as steps:
        for (_, name), result in zip(jobs, results, strict=True):
            steps.step(name)
            if not isinstance(result, SkillcError):
                audits.append(ask_judge(result, judge) if judge else result)
                continue
            if len(jobs) == 1:
                raise result
            failures.append(result)
            steps.say(result.line())
    return audits, failures


def admit(name: str, folder: str, digest: str = "", *, accept: bool) -> Audit:
    """Return the audit of a skill that is to come in; raises AuditBlocked (E084) as `check_blocks`.

    A lock from before, or of another tool, has no digest that an acceptance could be for.
    """
    audit = audit_folder(folder, name, policy=read_policy())
    check_blocks(name, digest or digest_skill(folder).digest, audit, accept=accept)
    return audit


def check_blocks(
    name: str, digest: str, audit: Audit, *, accept: bool, others: Iterable[str] = (), advice: str = ""
) -> None:
    """Raise AuditBlocked (E084) for blocks that the user has not accepted for these files.

    With `accept` they are accepted now. `others` are further skills that are blocked; they and `advice` are
    for the message.
    """
    rules = {finding.rule.id for finding in audit.findings if finding.level == BLOCK}
    if not rules or rules <= accepted_rules(digest):
        return
    if accept:
        _accept(digest, rules)
        return
    first = next(finding for finding in audit.findings if finding.level == BLOCK)
    names = list(others)
    more = f"; so are {', '.join(names)}" if names else ""
    hint = f"hint: {advice or 'read what it does'}; {OPTION} takes it all the same"
    raise AuditBlocked(name, f"{first.rule.id} {first.message} ({first.file}:{first.line}){more}", hint)


def accepted_rules(digest: str = "") -> set[str]:
    """Return the rules whose blocks the user accepted for the skill with this digest."""
    return set(_read().get(digest, ()))


def _accept(digest: str, rules: set[str]) -> None:
    with ACCEPTED.lock():
        accepted = _read()
        accepted[digest] = sorted(rules.union(accepted.get(digest, ())))
        ACCEPTED.write(accepted)


def _read() -> dict[str, list[str]]:
    return ACCEPTED.read(
        lambda accepted: {str(d): list(map(str, rules)) for d, rules in accepted.items()}, {}
    )


def admit_signer(
    name: str, candidate: Candidate, digest: str, trust: Trust, pin: Signature | None = None
) -> tuple[Signature, Evidence]:
    """Return by whom a skill with this digest is signed, and what its origin says of it.

    Of several signatures it is that of the kind which the lock's `pin` has. Raises SignatureBroken (E085),
    and SignerRefused (E086) for a signer whom [trust] does not accept.
    """
    evidence = candidate.find_evidence()
    signatures = check_skill(candidate.folder, name, trust, digest, evidence)
    require_signer(name, candidate.origin.names, combine(signatures), trust)
    return combine(signatures, pin), evidence


def admit_locked_signer(entry: LockEntry, folder: str, evidence: Evidence) -> list[Diagnostic]:
    """Return warnings about the signer of a locked skill that was fetched into a folder.

    Raises SignatureBroken (E085), and SignerRefused (E086) for another signer than the lock has, or one whom
    [trust] does not accept.
    """
    trust = read_trust()
    signatures = check_skill(folder, entry.name, trust, entry.content, evidence)
    require_signer(entry.name, entry.names, combine(signatures), trust)
    signature = combine(signatures, entry.signer)
    if change := describe_change(entry.signer, signature, is_locked=True):
        hint = f"hint: 'skc update {shell_quote(entry.name)} {SIGNER_OPTION}' has the lock take it"
        raise SignerRefused(entry.name, change, hint)
    is_doubtful = signature.is_expired or (entry.signer and signature.state == UNCHECKED)
    return [warning("W105", entry.name, signature.line())] if is_doubtful else []
