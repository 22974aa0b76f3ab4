"""Add skills to a store: say what is known of each, then put it there, lock, build and deploy it.

Nothing is written before every skill was looked at: one that is there from elsewhere (E050), or that the
audit blocks (E084), stops all of them. A process that is killed leaves a skill whole or not at all; adding it
again finishes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from skillc import paths
from skillc.audit import BLOCK, REVIEW
from skillc.compiler import (
    PublishOptions,
    Target,
    check_store,
    default_targets,
    find_targets,
    name_target,
)
from skillc.contract import HIDDEN, encode, hidden
from skillc.errors import AuditBlocked, InvalidOption, SkillcError, SkillExists, unexpected
from skillc.install.address import parse_origin
from skillc.install.companions import bring_along
from skillc.install.entry import COPY, LINK, LockEntry, make_entry
from skillc.install.lock import choose_root, lock_folder, read_lock, target_scope
from skillc.install.offers import MAX_LISTED, Offer, OfferMaker, check_offers, is_there
from skillc.install.state import find_edited
from skillc.install.store import FetchedSkill, Publisher, in_batches, put_skill, record_entries
from skillc.install.update import Updater
from skillc.install.versions import Latest
from skillc.library.records import is_path_target, lock_store
from skillc.listing import describe_targets, join_targets
from skillc.origins import NONE, NOT_SAFE, describe_change, require_same
from skillc.settings import Settings
from skillc.surface import Here, Person, Steps
from skillc.text import count_of, cut, first_of, fold_line, one_line

REASON = "replaced by 'skc add'"
DECLINED = "nothing added; --yes adds without asking"
MAX_FINDINGS = 5  # of an audit, in the description
MAX_ASKS = 6  # of one kind
WIDTH = 90  # columns of a description


@dataclass(frozen=True, slots=True)
class Additions:
    """What came of an addition, or would with a dry run: what is new, and what was there already."""

    added: tuple[Offer, ...]
    unchanged: tuple[str, ...]
    offers: tuple[Offer, ...] = field(metadata=HIDDEN)  # both
    failures: tuple[SkillcError, ...] = hidden(())
    preview: tuple[str, ...] = hidden(())  # in lines for people

    @property
    def is_success(self) -> bool:
        publications = (each.publication for each in self.offers)
        return not (self.failures or any(each.failures for each in publications if each))

    def lines(self) -> Iterator[str]:
        """Yield what was added, or would be, for people."""
        if self.preview:
            yield from (*self.preview, "Nothing was written.")
        for offer in self.offers if not self.preview else ():
            at = f" at {offer.commit[:12]}" if offer.commit else ""
            verb = "Unchanged:" if offer.is_there else "Updated" if offer.last else "Added"
            yield one_line(f"{verb} '{offer.id}' from {offer.origin.label()}{at} in {offer.path}")
            for each in offer.publication.deployments if offer.publication else ():
                yield one_line(f"  {name_target(each.target)}: {each.path} ({each.method})")


def _make_result(
    offers: Sequence[Offer], failures: Sequence[SkillcError] = (), preview: Sequence[str] = ()
) -> Additions:
    new = tuple(each for each in offers if not each.is_there)
    same = tuple(each.id for each in offers if each.is_there)
    return Additions(new, same, tuple(offers), tuple(failures), tuple(preview))


def add_skills(
    here: Here,
    *sources: str,
    skills: Sequence[str] = (),
    everything: bool = False,
    targets: str | None = None,
    scope: str = "",
    copy: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    accept_blocks: bool = False,
    accept_signer: bool = False,
    hosts: Iterable[str] = (),
) -> Additions:
    """Add skills of sources, such as `owner/repo`: those with these names, or with `everything` all.

    `targets` are agents or paths with commas between them, by default the agents that are installed; `scope`
    is `global` or `project`, by default the store that fits. `hosts` may be asked besides those of the
    sources. A person who can answer is asked first, unless with `yes`. One of several skills that fails does
    not stop the others. Raises OriginNotFound (E080), SkillExists (E050), AuditBlocked (E084),
    SignatureBroken (E085), SignerRefused (E086) and InvalidOption, before anything is written.
    """
    if everything and skills:
        raise InvalidOption("--all and --skill exclude each other")
    settings = here.settings()
    root = choose_root(here.cwd, scope)
    if targets is not None:
        places: Sequence[Target] = find_targets(targets, target_scope(root), here.cwd)
    else:
        places, diagnostics = default_targets(settings, target_scope(root), root)
        here.tell(diagnostics)
    with ExitStack() as stack:
        origins = [parse_origin(text, here.cwd, frozenset(hosts)) for text in sources]
        maker = OfferMaker(here, root, stack, everything)
        offers = bring_along(maker, maker.make(origins, list(skills)), yes=yes, dry_run=dry_run)
        lines = list(_describe_offers(offers, root, places))
        text = "\n".join(lines)
        try:
            check_offers(offers, root, places, accept=accept_blocks)
        except AuditBlocked:
            here.person.show(text)
            raise
        if dry_run:
            targets_of = {each.id: tuple(f"{folder}/{each.id}" for _, folder in places) for each in offers}
            return _make_result([replace(each, targets=targets_of[each.id]) for each in offers], (), lines)
        if not (yes or here.person.can_answer):
            _refuse_moves(offers)
        for offer in offers:
            if offer.last is not None:
                pin = offer.last.signer
                require_same(offer.id, pin, offer.signature, here.person, accept=accept_signer)
        if yes or not here.person.can_answer:
            here.person.show(text)
        else:
            places = _agree(here.person, text, offers, places)
        with here.progress.steps(2 * len(offers), "steps") as steps:
            adding = _Adding(here, root, places, copy, steps, is_alone=len(offers) == 1)
            for batch in in_batches(adding.move(offers, accept=accept_blocks)):
                adding.publish(adding.put(batch), settings)
    here.renew_listings()
    return _make_result(adding.additions, adding.failures)


def _describe_offers(offers: Sequence[Offer], root: str, targets: Sequence[Target]) -> Iterator[str]:
    """Yield what is known of skills before anything is written, for a person who decides."""
    for offer in offers[:MAX_LISTED]:
        yield from map(one_line, _describe_offer(offer))
    if len(offers) > MAX_LISTED:
        yield f"and {len(offers) - MAX_LISTED} more"
    if any(offer.signature.state != NONE for offer in offers):
        yield NOT_SAFE
    names = join_targets(targets)
    yield one_line(f"into      {paths.skills_store(root)}")
    yield one_line(f"agents    {names or 'none: no agent is installed here; --target names one'}")


def _describe_offer(offer: Offer) -> Iterator[str]:
    report = offer.report
    state = "  (unchanged)" if offer.is_there else ""
    if offer.last is not None:
        state = f"  (in the place of {offer.last.version_name}; your edits are merged)"
    yield f"{offer.id}{state}  {cut(fold_line(offer.description), WIDTH)}"
    path = f", {offer.candidate.path}" if offer.candidate.path else ""
    version = f", commit {offer.commit}" if offer.commit else ""
    version += f", version {offer.version}" if offer.version else ""
    yield f"  from      {offer.origin.label()}{path}{version}"
    yield f"  files     {offer.files:,}, {offer.size:,} bytes, about {offer.tokens:,} tokens in SKILL.md"
    asks = [f"{kind} {first_of(values, MAX_ASKS)}" for kind, values in encode(report.asks).items() if values]
    yield f"  asks for  {'; '.join(asks) or 'nothing that the audit knows'}"
    change = describe_change(offer.last.signer if offer.last else None, offer.signature)
    yield f"  signer    {change or offer.signature.line()}"
    levels = {"block": report.blocks, "review": report.reviews, "note": report.notes}
    yield f"  audit     {', '.join(count_of(number, level) for level, number in levels.items())}"
    yield from (f"  {line}" for line in offer.requirements.lines())
    if missing := offer.requirements.missing_here():
        yield f"  missing   {first_of(missing, MAX_ASKS)}"
    findings = [finding for finding in report.findings if finding.level in (BLOCK, REVIEW)]
    for finding in findings[:MAX_FINDINGS]:
        place = f"{finding.file}:{finding.line}"
        yield f"            {finding.level} {finding.rule.id} {place}: {cut(finding.message, WIDTH)}"
    if len(findings) > MAX_FINDINGS:
        yield f"            and {len(findings) - MAX_FINDINGS} more"


def _refuse_moves(offers: Sequence[Offer]) -> None:
    """Raise SkillExists where a skill would change its version, and there is no person to ask [D68]."""
    for offer in offers:
        if offer.last is not None:
            way = f"--yes puts this one there, as 'skc update {offer.id}@<version>' does"
            raise SkillExists(offer.id, f"hint: {offer.last.version_name} of it is there; {way}")


def _agree(person: Person, text: str, offers: Sequence[Offer], targets: Sequence[Target]) -> Sequence[Target]:
    """Show what is known and ask; return the agents to deploy to."""
    verb = "Update" if all(each.last for each in offers) else "Add"
    if len(targets) < 2:
        if not person.confirm(text, f"{verb} {'it' if len(offers) == 1 else 'them'}?"):
            raise InvalidOption(DECLINED)
        return targets
    labels = describe_targets(targets)
    choices = [(name, label) for (name, _), label in zip(targets, labels, strict=True)]
    chosen = person.confirm_some(text, f"{verb} for which agents?", choices)
    if not chosen:
        raise InvalidOption(DECLINED)
    return [target for target in targets if target[0] in chosen]


@dataclass(frozen=True, slots=True)
class _Adding:
    """Puts offers into a store and its lock, then builds and deploys them."""

    here: Here
    root: str
    targets: Sequence[Target]
    copy: bool
    steps: Steps
    is_alone: bool  # an error of the only skill is that of the command
    additions: list[Offer] = field(default_factory=list)
    failures: list[SkillcError] = field(default_factory=list)

    def move(self, offers: Sequence[Offer], *, accept: bool) -> list[Offer]:
        """Bring skills that are there in another version to this one, as an update does [D77].

        Return all that are to be built.
        """
        edited = find_edited(self.root, [each.last for each in offers if each.last])
        moves = {
            each.id: Latest.of(each.last, each.candidate, changed=True, edited=each.last.name in edited)
            for each in offers
            if each.last is not None
        }
        if not moves:
            return list(offers)
        updater = Updater(self.root, accept=accept, accept_signer=True)  # it was asked for
        names = {entry.name for entry in updater.apply([*moves.values()])}
        self.here.tell(updater.result.diagnostics)
        self.failures.extend(updater.result.failures)
        if self.is_alone and self.failures:
            raise self.failures[0]
        return [each for each in offers if each.id not in moves or each.id in names]

    def put(self, offers: Sequence[Offer]) -> list[Offer]:
        """Put skills into the store, and then all of them into the lock; return those that are there."""
        root = self.root
        successes: list[Offer] = []
        changes: list[LockEntry] = []
        check_store(root)
        with lock_store(root):
            entries = read_lock(root)
            try:
                for offer in offers:
                    self.steps.step(offer.id)
                    with self._failures_of(offer):
                        changes += self._put(offer, entries.get(offer.id))
                        successes.append(offer)
            finally:
                self.here.tell(record_entries(root, changes) if changes else ())
        return successes

    def _put(self, offer: Offer, last: LockEntry | None) -> Sequence[LockEntry]:
        """Put a skill into the store; return its entry, unless the lock has it already."""
        candidate = offer.candidate
        has_it = is_there(candidate, self.root, last)  # another process may have been faster
        if has_it is None:
            raise SkillExists(offer.id, f"hint: 'skc update {offer.id}' brings it up to date")
        # A path is the user's own, and its deployment is on record; the lock names agents alone [D63].
        agents = {name for name, _ in self.targets if not is_path_target(name)}
        agents = agents.union(last.targets if last else ())
        is_same = last is not None and last.is_complete and agents == set(last.targets)
        if has_it and is_same and last and offer.origin.ref in ("", last.text("ref")):
            return ()
        entry = make_entry(
            lock_folder(self.root),
            candidate,
            offer.hashes,
            last=last,
            targets=agents,
            mode=COPY if self.copy else LINK,
            audit=offer.report,
            # The same files: the signer that the lock has stays, whatever this origin says of them.
            signature=None if has_it and last and last.signer else offer.signature,
            required_by=offer.required_by,
        )
        skill = FetchedSkill(entry, candidate.folder, offer.origin.label(), offer.evidence)
        self.here.tell(put_skill(self.root, skill, REASON, is_there=has_it))
        return (entry,)

    def publish(self, offers: Sequence[Offer], settings: Settings) -> None:
        """Build and deploy skills that were put into the store."""
        options = PublishOptions(tuple(self.targets), copy=self.copy)
        with Publisher(self.root, settings, self.here.tell) as publisher:
            for offer in offers:
                self.steps.step(offer.id)
                with self._failures_of(offer):
                    publication = publisher.publish(offer.id, offer.hashes.content.digest, options)
                    path, places = publication.source_path, tuple(d.path for d in publication.deployments)
                    self.additions.append(replace(offer, targets=places, path=path, publication=publication))
                    self.steps.clear()
                    self.here.tell(publication.diagnostics, publication.failures)

    @contextmanager
    def _failures_of(self, offer: Offer) -> Iterator[None]:
        """Note an error in the block as that of one skill of several."""
        try:
            yield
        except Exception as error:
            if self.is_alone:
                raise
            self.failures.append(unexpected(error))
            self.steps.say(one_line(f"{self.failures[-1].line()} ({offer.id})"))
