"""Offers: the skills of sources that can be added, each with what is known of it before anything is written.

A source is opened, its skills are chosen, and each is looked at: its files, its size, what it asks for. A
marketplace lists plugins, which are sources themselves.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from skillc import paths
from skillc.audit import Audit, Policy, audit_folder, read_policy
from skillc.compiler import Publication, Target
from skillc.contract import HIDDEN, hidden, optional
from skillc.errors import InvalidOption, InvalidSkill, OriginNotFound, SkillExists, warning
from skillc.install.audit import admit_signer, check_blocks
from skillc.install.download import open_download
from skillc.install.entry import FolderHashes, LockEntry, describe_origin, hash_folder
from skillc.install.lock import lock_folder, read_lock, require_intact
from skillc.install.marketplace import Marketplace, Plugin, find_marketplace, keep_skills
from skillc.install.origin import FILE, Candidate, Download, Origin
from skillc.library import is_compiled, read_import
from skillc.library.records import read_deployments
from skillc.lint import estimate
from skillc.origins import Evidence, Requirements, Signature, Trust, read_requirements, read_trust
from skillc.skills import digest_files, list_files
from skillc.skills.document import parse, read_main_file, read_metadata
from skillc.spelling import suggest
from skillc.surface import Here
from skillc.text import first_of

MAX_SAMPLE = 256 << 10  # characters of a SKILL.md whose tokens are counted
MAX_LISTED = 50  # skills in one list


@dataclass(frozen=True, slots=True)
class FindingCounts:
    """How many findings of each level an audit has."""

    notes: int
    reviews: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A skill that can be added, and what is known of it; once it is added, where it is.

    One that `is_there` is in the store already; of one that is there in another version, `last` is the entry.
    """

    id: str
    source: str
    ref: str
    commit: str
    version: str
    digest: str
    files: int
    size: int
    tokens: int
    audit: FindingCounts
    targets: tuple[str, ...] = ()
    path: str = optional("")
    candidate: Candidate = field(kw_only=True, metadata=HIDDEN)
    description: str = field(kw_only=True, metadata=HIDDEN)
    hashes: FolderHashes = field(kw_only=True, metadata=HIDDEN)
    report: Audit = field(kw_only=True, metadata=HIDDEN)
    signature: Signature = field(kw_only=True)
    evidence: Evidence = field(kw_only=True, metadata=HIDDEN)
    requirements: Requirements = field(kw_only=True, metadata=HIDDEN)
    required_by: tuple[str, ...] = hidden(())
    is_there: bool = field(kw_only=True, metadata=HIDDEN)
    last: LockEntry | None = field(kw_only=True, metadata=HIDDEN)
    publication: Publication | None = hidden(None)

    @property
    def origin(self) -> Origin:
        return self.candidate.origin


@dataclass(frozen=True, slots=True)
class _Place:
    """A place to open: a source, or a plugin of a marketplace, which may be chosen with all its skills."""

    origin: Origin
    plugin: Plugin | None = None
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class OfferMaker:
    """Opens sources and makes offers of their skills. Downloads are there until `stack` is closed."""

    here: Here
    root: str
    stack: ExitStack
    everything: bool  # whether all skills are wanted

    def make(self, origins: Iterable[Origin], names: list[str]) -> list[Offer]:
        """Open all sources, choose the skills with these names, and say what is known of each."""
        places = self._find_places(origins, names)
        policy, trust = read_policy(), read_trust()
        downloads = [self._open(place, names if len(places) == 1 else ()) for place in places]
        choices = self._choose(places, downloads, names)
        offers: list[Offer] = []
        entries = read_lock(self.root)
        with self.here.progress.steps(sum(map(len, choices)), "skills") as steps:
            for download, candidates in zip(downloads, choices, strict=True):
                download.complete(candidates)
                for candidate in candidates:
                    steps.step(candidate.name)
                    entry = entries.get(candidate.name)
                    offers.append(_make_offer(candidate, self.root, policy, trust, entry))
        check_names(offers)
        return offers

    def _find_places(self, origins: Iterable[Origin], names: list[str]) -> list[_Place]:
        """Return what to open. Names of plugins are taken out of `names`: they mean all of a plugin."""
        places: list[_Place] = []
        plugin_names: set[str] = set()
        for origin in origins:
            marketplace = find_marketplace(origin)
            if marketplace is None:
                places.append(_Place(origin))
                continue
            plugins = {each.name for each in marketplace.plugins}.intersection(names)
            plugin_names |= plugins
            places += self._find_plugins(marketplace, plugins, has_others=len(plugins) < len(names))
        names[:] = [name for name in names if name not in plugin_names]
        return places

    def _find_plugins(
        self, marketplace: Marketplace, names: Collection[str], *, has_others: bool
    ) -> Iterator[_Place]:
        """Yield the plugins with these names, and those in which other skills are to be looked for."""
        if not names and not has_others and not self.everything:
            listing = Download(marketplace.origin, "", marketplace.candidates())
            names = {each.name for each in self._choose_from(listing, "plugins")}
        for plugin in marketplace.choose(sorted(names)) if names or self.everything else ():
            yield _Place(marketplace.origin_of(plugin), plugin, is_chosen=True)
        if has_others:
            others = [each for each in marketplace.search() if each.name not in names]
            yield from (_Place(marketplace.origin_of(each), each) for each in others)

    def _open(self, place: _Place, names: Sequence[str]) -> Download:
        """Open a place. A plugin without a skill, which may have other things, is left out with a warning."""
        plugin = place.plugin
        names = () if place.is_chosen else names
        with self.here.progress.activity(f"Fetching {place.origin.label()}"):
            try:
                opening = open_download(
                    place.origin, names=names, lazy=True, report=lambda each: self.here.tell((each,))
                )
                download = self.stack.enter_context(opening)
            except OriginNotFound as error:
                if plugin is None or names or not error.reason.startswith("there is no skill"):
                    raise
                download = Download(place.origin, "", ())
        if plugin is not None:
            kept = keep_skills(plugin, download.origin.path, download.candidates)
            if not kept:
                self.here.tell([warning("W080", plugin.name, "the plugin has no skill")])
            download = replace(download, candidates=kept)
        return download

    def _choose(
        self, places: Sequence[_Place], downloads: Sequence[Download], names: Sequence[str]
    ) -> list[Sequence[Candidate]]:
        """Return the candidates of each source that are to be added."""
        if names and len(downloads) > 1:
            _require_names(downloads, names)
        choices: list[Sequence[Candidate]] = []
        for place, download in zip(places, downloads, strict=True):
            if place.is_chosen or self.everything or (names and len(downloads) == 1):
                choices.append(download.candidates)
            elif names:
                choices.append([each for each in download.candidates if each.name in names])
            else:
                choices.append(self._choose_from(download))
        if not any(choices):
            label = ", ".join(download.origin.label() for download in downloads)
            raise OriginNotFound(label, "there is no skill in it that can be added")
        return choices

    def _choose_from(self, download: Download, what: str = "skills") -> Sequence[Candidate]:
        """Return the only skill of a source, or those that a person chooses from the list."""
        candidates, label = download.candidates, download.origin.label()
        if len(candidates) == 1:
            return candidates
        if not candidates:
            raise OriginNotFound(label, "none of its skills can be used")
        if not self.here.person.can_answer:
            names = first_of([each.name for each in candidates], MAX_LISTED)
            way = "--skill <name> adds one, --all adds all"
            raise InvalidOption(f"{label} has {len(candidates)} {what}; {way}: {names}")
        title = f"{label} has {len(candidates)} {what}:"
        chosen = self.here.person.choose(title, [(each.name, each.description) for each in candidates])
        if not chosen:
            raise InvalidOption("nothing added")
        by_name = {each.name: each for each in candidates}
        return [by_name[name] for name in chosen]


def _require_names(downloads: Sequence[Download], names: Sequence[str]) -> None:
    there = {candidate.name for download in downloads for candidate in download.candidates}
    for name in names:
        if name not in there:
            close = suggest(name, there)
            hint = f"hint: did you mean {' or '.join(close)}?" if close else ""
            places = ", ".join(download.origin.label() for download in downloads)
            raise OriginNotFound(places, f"there is no skill '{name}' in them", hint)


def check_names(offers: Sequence[Offer]) -> None:
    by_name: dict[str, Offer] = {}
    for offer in offers:
        other = by_name.setdefault(offer.id, offer)
        if other is not offer:
            places = f"{other.origin.label()} and {offer.origin.label()}"
            raise InvalidOption(f"two skills are named '{offer.id}': of {places}; add them one by one")


def _make_offer(
    candidate: Candidate,
    root: str,
    policy: Policy,
    trust: Trust,
    entry: LockEntry | None,
) -> Offer:
    """Return what is known of a candidate whose folder is complete; `entry` is that of the lock.

    Raises SkillExists (E050) for one that is there from elsewhere, SignatureBroken (E085), and SignerRefused
    (E086) for a signer whom the user does not accept.
    """
    if is_compiled(candidate.folder):
        raise InvalidSkill(candidate.folder, "a compiled skill; add its source")
    data = read_main_file(candidate.folder)
    metadata = read_metadata(parse(data), candidate.name)
    files = list_files(candidate.folder, hidden=True)  # raises for a link that leaves the folder
    is_same = is_there(candidate, root, entry)
    hashes = hash_folder(candidate.folder, candidate.links)
    report = audit_folder(candidate.folder, candidate.name, policy=policy)
    digest = hashes.content.digest
    signature, evidence = admit_signer(
        candidate.name, candidate, digest, trust, entry.signer if entry else None
    )
    return Offer(
        candidate.name,
        candidate.origin.source,
        candidate.origin.ref,
        candidate.download.commit,
        candidate.version,
        f"sha256:{hashes.source}",
        len(files),
        sum(file.size for file in files),
        estimate(data.decode("utf-8", "replace")[:MAX_SAMPLE]),
        FindingCounts(report.notes, report.reviews, report.blocks),
        candidate=candidate,
        description=metadata.description,
        hashes=hashes,
        report=report,
        signature=signature,
        evidence=evidence,
        requirements=read_requirements(candidate.folder, candidate.requires),
        is_there=is_same is True,
        last=entry if is_same is None else None,
    )


def is_there(candidate: Candidate, root: str, entry: LockEntry | None) -> bool | None:
    """Return whether the store has just this skill from this origin; None for another version of it.

    Raises SkillExists for one that is there from elsewhere.
    """
    path, origin = os.path.join(paths.skills_store(root), candidate.name), candidate.origin
    there = os.path.lexists(path)
    require_intact([entry] if entry is not None else [])
    if entry is not None and not _is_same(entry, candidate, root):
        way = f"'skc remove {candidate.name}' takes it out"
        if origin.type == "local" and entry.text("source") == f"{FILE}{origin.source}":
            way = f"'skc update {candidate.name}@HEAD' takes the last commit there, {way}"
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
    return True if entry.is_about(candidate.folder, candidate.links) else None


def _is_same(entry: LockEntry, candidate: Candidate, root: str) -> bool:
    """Return whether a lock's entry is about the same skill of the same origin."""
    new = describe_origin(lock_folder(root), candidate)
    return all(entry.text(key) == new[key] for key in ("source", "sourceType", "skillPath"))


def check_offers(offers: Sequence[Offer], root: str, targets: Sequence[Target], *, accept: bool) -> None:
    """Raise AuditBlocked (E084) or SkillExists (E050) for what may not be added; `accept` accepts blocks."""
    blocked = [offer.id for offer in offers if offer.report.blocks and not offer.is_there]
    for offer in offers:
        if offer.id in blocked:
            others = [name for name in blocked if name != offer.id]
            digest = offer.hashes.content.digest
            check_blocks(offer.id, digest, offer.report, accept=accept, others=others)
    deployments = {record.path: record.source for record in read_deployments()}
    for offer in offers:
        source = os.path.join(os.path.realpath(paths.skills_store(root)), offer.id)
        for name, directory in targets:
            path = os.path.join(directory, offer.id)
            _check_target(offer.id, name, path, source, deployments.get(path))


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
