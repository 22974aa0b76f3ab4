"""Bring in the skills that other tools' locks name, at the versions that they state, and lock them here.

A version that can't be had exactly is skipped, and nothing else is taken for it. What comes in is audited,
untrusted, and on record in skills-lock.json; it is built and deployed by 'skc build --all'.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from skillc.audit import VERSION, Audit, audit_folder, read_policy
from skillc.errors import AuditBlocked, Diagnostic, OriginNotFound, SkillcError, unexpected
from skillc.install.blocks import check_blocks
from skillc.install.download import open_download
from skillc.install.entry import LockEntry, make_entry
from skillc.install.fetch import FetchedSkill
from skillc.install.hash import compute_hash, hash_folder
from skillc.install.intake import Intake
from skillc.install.lock import change_lock, lock_file, read_lock
from skillc.install.names import store_folder
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.pins import Pin
from skillc.install.place import put_version
from skillc.install.survey import COPIED, Skip, Step, Store, is_same
from skillc.library import is_compiled, lock_store

REASON = "replaced by 'skc import --lock'"


@dataclass(slots=True)
class Transfer:
    """Takes pins into one store, one download after the other."""

    store: Store
    accept: bool  # what the audit blocks
    intake: Intake
    diagnostics: list[Diagnostic]

    def skip(self, pin: Pin, reason: str) -> None:
        self.intake.skipped.append(Skip(f"{pin.name} ({pin.file})", reason))


def preview_pins(pins: Sequence[Pin], store: Store) -> Intake:
    """Return what a transfer would bring in, without asking any host."""
    intake = Intake()
    for pin in pins:
        if pin.problem:
            intake.skipped.append(Skip(f"{pin.name} ({pin.file})", pin.problem))
        else:
            intake.imported.append(_step(pin, store))
    return intake


def bring_in_pins(
    pins: Sequence[Pin],
    store: Store,
    *,
    accept: bool = False,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str], None] = lambda _: None,
) -> tuple[Intake, list[Diagnostic]]:
    """Download each pin, verify it, and put it into the store and the lock; return also warnings.

    `hosts` may be asked besides those that the pins name.
    """
    transfer = Transfer(store, accept, Intake(), [])
    groups: dict[tuple[Origin, str], list[Pin]] = {}
    for pin in pins:
        if pin.problem:
            transfer.skip(pin, pin.problem)
        else:
            pin = pin.with_hosts(frozenset(hosts))
            groups.setdefault((replace(pin.origin, path=""), pin.commit), []).append(pin)
    for (origin, _), group in groups.items():
        tell_step(origin.label())
        _take_group(transfer, group)
    return transfer.intake, transfer.diagnostics


def _take_group(transfer: Transfer, pins: Sequence[Pin]) -> None:
    """Take skills of one origin at one commit; if one is missing, they are asked for one by one."""
    try:
        _download(transfer, pins)
    except (SkillcError, OSError) as error:
        pin = pins[0]
        if len(pins) > 1:
            for each in pins:
                _take_group(transfer, [each])
        else:
            reason = error.reason if isinstance(error, OriginNotFound) else unexpected(error).message
            transfer.skip(pin, f"{pin.label}: {reason}")


def _download(transfer: Transfer, pins: Sequence[Pin]) -> None:
    origin = replace(pins[0].origin, path="") if not pins[0].origin.is_registry else pins[0].origin
    names = [] if origin.is_registry else [pin.origin.path or pin.name for pin in pins]
    with open_download(
        origin, commit=pins[0].commit, names=names, report=transfer.diagnostics.append
    ) as download:
        for pin in pins:
            candidate = _find(pin, download)
            problem = "it is not there" if candidate is None else _compare(pin, candidate)
            if candidate is None or problem:
                transfer.skip(pin, f"{pin.label}: {problem}")
            else:
                _put(transfer, pin, replace(candidate, name=pin.name), download)


def _find(pin: Pin, download: Download) -> Candidate | None:
    places = (f"{pin.origin.path}/SKILL.md", f"{pin.origin.path}/skill.md")
    for candidate in download.candidates:
        if pin.origin.is_registry or (
            candidate.path in places if pin.origin.path else candidate.name == pin.name
        ):
            return candidate
    folders = [c for c in download.candidates if os.path.basename(os.path.dirname(c.path)) == pin.name]
    return folders[0] if folders and not pin.origin.path else None


def _compare(pin: Pin, candidate: Candidate) -> str:
    """Return why a skill is not the version that the lock states; empty if it is."""
    advice = f"'skc add {pin.origin.label()}' takes what is there now"
    if pin.tree and candidate.tree not in ("", pin.tree):
        return f"its files are not those of the lock any more; {advice}"
    if pin.hash and compute_hash(candidate.folder, candidate.links) != pin.hash:
        return f"its files are not those of the lock any more; {advice}"
    if pin.origin.is_registry and pin.origin.ref and candidate.version != pin.origin.ref:
        return f"the registry gave version '{candidate.version}'"
    return ""


def _put(transfer: Transfer, pin: Pin, candidate: Candidate, download: Download) -> None:
    """Put a verified skill into the store and its entry into the lock."""
    if is_compiled(candidate.folder):
        return transfer.skip(pin, "a compiled skill; import its source")
    audit = audit_folder(candidate.folder, pin.name, policy=read_policy())
    entry = _entry(candidate, download, audit, transfer.store.root)
    try:
        check_blocks(pin.name, entry.content, audit, accept=transfer.accept)
    except AuditBlocked as error:
        return transfer.skip(pin, f"{error.message}; {error.details.removeprefix('hint: ')}")
    step = _step(pin, transfer.store)
    root = transfer.store.root
    with lock_store(root):
        is_there = os.path.lexists(step.destination)
        if is_there and not is_same(candidate.folder, step.destination):
            advice = f"'skc remove {os.path.basename(step.destination)}' takes it out"
            return transfer.skip(pin, f"another skill of that name is in the store; {advice}")
        has_entry = pin.name in read_lock(root) and read_lock(root)[pin.name].commit == download.commit
        if is_there and has_entry:
            return transfer.skip(pin, f"the same as '{step.destination}'")
        skill = FetchedSkill(entry, candidate.folder, pin.label)
        put_version(root, skill, transfer.diagnostics, REASON)
        transfer.diagnostics += change_lock(root, record=[entry])
    transfer.intake.imported.append(step)
    return None


def _entry(candidate: Candidate, download: Download, audit: Audit, root: str) -> LockEntry:
    return make_entry(
        os.path.dirname(lock_file(root)),
        download.origin_of(candidate),
        candidate,
        download,
        hash_folder(candidate.folder, candidate.links),
        audit={"rules": VERSION, "asks": audit.asks_digest()},
    )


def _step(pin: Pin, store: Store) -> Step:
    destination = store_folder(store.root, pin.name)
    return Step(os.path.basename(destination), pin.label, destination, COPIED, store)
