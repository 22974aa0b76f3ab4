"""Add skills to a store: say what is known of each, then put it there, lock, build and deploy it.

Nothing is written before every skill was looked at: one that is there from elsewhere (E050), or that the
audit blocks (E084), stops all of them. A process that is killed leaves a skill whole or not at all; adding it
again finishes the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillc.audit import VERSION, Audit, Policy, audit_folder
from skillc.compiler import Publication, PublishOptions, Target, publish_skill
from skillc.errors import Diagnostic, InvalidSkill, SkillExists
from skillc.install.blocks import check_blocks
from skillc.install.entry import (
    COPY,
    LINK,
    FolderHashes,
    LockEntry,
    compute_hash,
    describe_origin,
    hash_folder,
    make_entry,
)
from skillc.install.import_plan import Store
from skillc.install.lock import change_lock, lock_file, read_lock, require_intact
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.store import check_store, put_folder
from skillc.install.versions import keep_version, note_versions
from skillc.library import (
    Skill,
    is_compiled,
    is_path_target,
    lock_store,
    read_deployments,
    read_import,
)
from skillc.lint import estimate
from skillc.settings import Settings
from skillc.skills import digest_files, digest_skill, list_files, parse, read_main_file, read_metadata
from skillc.text import utf8_text

MAX_SAMPLE = 256 << 10  # characters of a SKILL.md whose tokens are counted
REASON = "replaced by 'skc add'"


@dataclass(frozen=True, slots=True)
class Offer:
    """A skill that can be added, and what is known of it. One that `is_there` is in the store already."""

    candidate: Candidate
    download: Download
    origin: Origin
    description: str
    files: int
    size: int
    tokens: int
    hashes: FolderHashes
    audit: Audit
    is_there: bool

    @property
    def name(self) -> str:
        return self.candidate.name

    def as_json(self) -> dict[str, Any]:
        """Return what stands in the JSON of `skc add` whatever becomes of the offer."""
        levels = {"notes": self.audit.notes, "reviews": self.audit.reviews, "blocks": self.audit.blocks}
        return {
            "id": self.name,
            "source": utf8_text(self.origin.source),
            "ref": self.origin.ref,
            "commit": self.download.commit,
            "version": self.candidate.version,
            "digest": f"sha256:{self.hashes.source}",
            "files": self.files,
            "size": self.size,
            "tokens": self.tokens,
            "audit": levels,
        }


@dataclass(frozen=True, slots=True)
class Addition:
    """A skill that was added, or was there already, as it was built and deployed."""

    offer: Offer
    skill: Skill
    publication: Publication
    diagnostics: tuple[Diagnostic, ...] = ()

    def as_json(self) -> dict[str, Any]:
        places = [utf8_text(each.path) for each in self.publication.deployments]
        return self.offer.as_json() | {"targets": places, "path": utf8_text(self.skill.source)}


def make_offers(
    download: Download, candidates: Sequence[Candidate], store: Store, policy: Policy
) -> Iterator[Offer]:
    """Yield what is known of candidates whose folders are complete.

    Raises SkillExists (E050) for one that is there from elsewhere.
    """
    entries = read_lock(store.root)
    for candidate in candidates:
        origin = download.origin_of(candidate)
        if is_compiled(candidate.folder):
            raise InvalidSkill(candidate.folder, "a compiled skill; add its source")
        data = read_main_file(candidate.folder)
        metadata = read_metadata(parse(data), candidate.name)
        files = list_files(candidate.folder, hidden=True)  # raises for a link that leaves the folder
        yield Offer(
            candidate,
            download,
            origin,
            metadata.description,
            len(files),
            sum(file.size for file in files),
            estimate(data.decode("utf-8", "replace")[:MAX_SAMPLE]),
            hash_folder(candidate.folder, candidate.links),
            audit_folder(candidate.folder, candidate.name, policy=policy),
            _is_there(candidate, origin, store, entries.get(candidate.name)),
        )


def check_offers(offers: Sequence[Offer], store: Store, targets: Sequence[Target], *, accept: bool) -> None:
    """Raise AuditBlocked (E084) or SkillExists (E050) for what may not be added; `accept` accepts blocks."""
    blocked = [offer.name for offer in offers if offer.audit.blocks and not offer.is_there]
    for offer in offers:
        if offer.name in blocked:
            others = [name for name in blocked if name != offer.name]
            digest = offer.hashes.content.digest
            check_blocks(offer.name, digest, offer.audit, accept=accept, others=others)
    deployments = {record.path: record.source for record in read_deployments()}
    for offer in offers:
        source = os.path.join(os.path.realpath(store.folder), offer.name)
        for name, directory in targets:
            path = os.path.join(directory, offer.name)
            _check_target(offer.name, name, path, source, deployments.get(path))


def _check_target(skill: str, target: str, path: str, source: str, owner: str | None) -> None:
    """Refuse to take the place of what an agent has under the same name from elsewhere."""
    if not os.path.exists(path):
        return  # nothing, or a link that leads nowhere
    if not is_compiled(path):
        hint = (
            f"hint: {target} has it in '{path}'; 'skc import' takes that one in, --target names other agents"
        )
        raise SkillExists(skill, hint)
    if owner is not None and owner != source and os.path.isdir(owner):
        raise SkillExists(skill, f"hint: '{path}' is deployed from '{owner}'; --target names other agents")


def _is_there(candidate: Candidate, origin: Origin, store: Store, entry: LockEntry | None) -> bool:
    """Return whether the store has just this skill from this origin; raise SkillExists for another one."""
    path = os.path.join(store.folder, candidate.name)
    there = os.path.lexists(path)
    require_intact([entry] if entry is not None else [])
    if entry is not None and not _is_same(entry, origin, candidate, store):
        way = f"'skc remove {candidate.name}' takes it out"
        raise SkillExists(candidate.name, f"hint: it came from {entry.text('source')}; {way}")
    if not there:
        return False
    if entry is None:
        source, digest = read_import(os.path.realpath(path))
        if source == origin.label() and digest == digest_files(candidate.folder):
            return True  # an add that was killed came as far as this
        where = f"it is a copy of {source}" if source else "it is your own"
        raise SkillExists(
            candidate.name, f"hint: {where}, in '{path}'; 'skc remove {candidate.name}' takes it out"
        )
    if _is_version(entry, candidate):
        return True
    hint = f"hint: it is there in another version; 'skc update {candidate.name}' brings it up to date"
    raise SkillExists(candidate.name, hint)


def _is_same(entry: LockEntry, origin: Origin, candidate: Candidate, store: Store) -> bool:
    """Return whether a lock's entry is about the same skill of the same origin."""
    new = describe_origin(os.path.dirname(lock_file(store.root)), origin, candidate)
    return all(entry.text(key) == new[key] for key in ("source", "sourceType", "skillPath"))


def _is_version(entry: LockEntry, candidate: Candidate) -> bool:
    """Return whether a lock's entry is about just these files."""
    if entry.content:
        return digest_skill(candidate.folder, executables=entry.executables).digest == entry.content
    return entry.hash == compute_hash(candidate.folder, candidate.links)


def add_skill(
    offer: Offer,
    store: Store,
    targets: Sequence[Target],
    settings: Settings,
    cwd: str,
    *,
    copy: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Addition:
    """Put a skill into the store and the lock, then build and deploy it."""
    diagnostics: list[Diagnostic] = []
    path = os.path.join(store.folder, offer.name)
    check_store(store.root)
    with lock_store(store.root):
        entry = read_lock(store.root).get(offer.name)
        is_there = _is_there(
            offer.candidate, offer.origin, store, entry
        )  # another process may have been faster
        if not is_there:
            diagnostics += put_folder(
                store.root,
                offer.name,
                offer.candidate.folder,
                origin=offer.origin.label(),
                digest=offer.hashes.source,
                reason=REASON,
            )
        # A path is the user's own, and its deployment is on record; the lock names agents alone [D63].
        agents = {name for name, _ in targets if not is_path_target(name)}
        names = agents.union(entry.targets if entry else ())
        if not is_there or entry is None or not entry.is_complete or names != set(entry.targets):
            diagnostics += _record(offer, store, sorted(names), copy, has_pin=bool(entry and entry.is_pinned))
    skill = Skill(offer.name, os.path.realpath(path), store.scope, store.root, is_stored=True)
    publication = publish_skill(
        skill, PublishOptions(tuple(targets), copy=copy), settings, cwd, progress=progress
    )
    return Addition(offer, skill, publication, tuple(diagnostics))


def _record(
    offer: Offer, store: Store, targets: Sequence[str], copy: bool, *, has_pin: bool
) -> list[Diagnostic]:
    """Write the lock's entry, and keep the version that an update will be merged against."""
    entry = make_entry(
        os.path.dirname(lock_file(store.root)),
        offer.origin,
        offer.candidate,
        offer.download,
        offer.hashes,
        targets=targets,
        mode=COPY if copy else LINK,
        has_pin=has_pin,
        audit={"rules": VERSION, "asks": offer.audit.asks_digest()},
    )
    keep_version(offer.candidate.folder, entry.content, entry.executables)
    diagnostics = change_lock(store.root, record=[entry])
    note_versions(store.root, {offer.name: entry.content})
    return diagnostics
