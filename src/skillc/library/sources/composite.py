"""Several sources as one: the first that has a skill wins, and a failure of one affects no other [D27]."""

from __future__ import annotations

import asyncio
import builtins
import logging
import time
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import get_ident
from typing import TypeVar

from skillc.errors import Diagnostic, InvalidSkill, RepositoryUnavailable, SkillNotFound, unexpected, warning
from skillc.index.skills import Searchable
from skillc.library.sources import source as base
from skillc.library.sources.wrappers import SnapshotSource, SourceSnapshot
from skillc.remotes import require_text, to_seconds
from skillc.remotes.http import hide_secrets
from skillc.skills import SkillId

log = logging.getLogger("skillc.library")
logging.getLogger("skillc").addHandler(logging.NullHandler())  # print nothing unless the program asks for it

TIME_OUT = 30.0  # seconds that a source may take; the others are served without it

Answer = TypeVar("Answer")
Question = Callable[["NamedSource"], Awaitable[Answer]]
Answers = list[tuple["NamedSource", Answer]]  # in order of precedence
Failures = Mapping[str, RepositoryUnavailable]  # by the name of the source


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source with the name it has in skills.toml.

    If a `required` source fails, everything fails; a `fallback` (the embedded skills) does not count
    towards whether any repository could be reached. `time_out` is in seconds; the composite's is the default.
    """

    name: str
    source: base.SkillSource
    required: bool = False
    fallback: bool = False
    time_out: float | None = None

    def __post_init__(self) -> None:
        require_text(self.name, "the name of a source")
        base.require_source(self.source)
        if self.time_out is not None:
            to_seconds(self.time_out, "time_out")


@dataclass(frozen=True, slots=True)
class SourceState:
    """The state of a repository: `ok`, `partial`, `stale`, `unavailable` or `unused`."""

    name: str
    type: str
    status: str
    skills: int = 0
    quarantined: int = 0
    shadowed: int = 0
    error: str | None = None


class CompositeSkillSource(SnapshotSource):
    """Sources in order of precedence, merged into one namespace; repository names are no part of IDs.

    A source without a name is member by its kind. One that does not answer in time is left out, and not
    asked again before as much time has passed: it costs the others one time-out, not one for each call.
    """

    def __init__(
        self, sources: Iterable[NamedSource | base.SkillSource], *, time_out: float | timedelta = TIME_OUT
    ) -> None:
        self.sources = _name_sources(sources)
        self.time_out = to_seconds(time_out, "time_out")
        self._failures: dict[int, Failures] = {}  # by thread
        self._silent: dict[str, tuple[float, str]] = {}  # until when not to ask a source, and why

    @property
    def failures(self) -> Failures:
        """The failures at this thread's last question, each by the name of its source."""
        return self._failures.get(get_ident(), {})

    @failures.setter
    def failures(self, failures: Failures) -> None:
        self._failures[get_ident()] = failures

    async def snapshot(self) -> CompositeSnapshot:
        """Return all sources as they are now; each is asked when it is first needed."""
        return CompositeSnapshot(self)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched of each source that answers, in order of precedence."""
        answers, failures = await self.ask_all(self.sources, lambda m: base.parts_of(m.source, ""))
        self.failures = failures
        self.check(failures)
        return [
            Searchable(member.name, part.folder, part.names, member.time_out or self.time_out)
            for member, parts in answers
            for part in parts
        ]

    async def states(self) -> builtins.list[SourceState]:
        """Return how each source is doing, in order of precedence."""
        merge = await CompositeSnapshot(self).merge()
        return [_state(member, merge) for member in self.sources]

    def warnings(self) -> builtins.list[Diagnostic]:
        """Return which sources the last answer lacks, and which could not be refreshed for it."""
        failures, diagnostics = self.failures, []
        for member in self.sources:
            stale = getattr(member.source, "error", None)
            partial = getattr(member.source, "partial", "")
            if member.name in failures:
                diagnostics.append(warning("W200", member.name, failures[member.name].reason))
            elif stale:
                diagnostics.append(warning("W201", member.name, stale))
            elif partial:
                diagnostics.append(warning("W203", member.name, partial))
        return diagnostics

    async def ask_all(
        self, sources: Sequence[NamedSource], question: Question[Answer]
    ) -> tuple[Answers[Answer], dict[str, RepositoryUnavailable]]:
        """Ask all sources at once; return the answers in order of precedence, and the failures."""
        tasks = [self.ask(member, question) for member in sources]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        answers: Answers[Answer] = []
        failures: dict[str, RepositoryUnavailable] = {}
        for member, outcome in zip(sources, outcomes, strict=True):
            if isinstance(outcome, RepositoryUnavailable):
                failures[member.name] = outcome
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                answers.append((member, outcome))
        return answers, failures

    async def ask(self, member: NamedSource, question: Question[Answer]) -> Answer:
        """Return a source's answer; raises SkillNotFound, InvalidSkill or RepositoryUnavailable."""
        until, reason = self._silent.get(member.name, (0.0, ""))
        details = ""
        if time.monotonic() < until:
            raise RepositoryUnavailable(member.name, reason)
        time_out = member.time_out or self.time_out
        deadline = base.DEADLINE.set(time.time() + time_out)
        try:
            return await asyncio.wait_for(question(member), time_out)
        except (SkillNotFound, InvalidSkill):
            raise
        except TimeoutError:
            reason = f"no answer in {time_out:g} s"
            self._silent[member.name] = (time.monotonic() + time_out, reason)
        except RepositoryUnavailable as error:
            reason, details = error.reason, error.details
        except Exception as error:  # of any source
            reason = hide_secrets(unexpected(error).message)
        finally:
            base.DEADLINE.reset(deadline)
        failure = RepositoryUnavailable(member.name, reason, details)
        log.warning("%s", failure.message)
        raise failure

    def check(self, failures: Failures) -> None:
        """Raise a failure if its repository is required, or if every configured one failed."""
        for member in self.sources:
            if member.required and member.name in failures:
                raise failures[member.name]
        names = [member.name for member in self.sources if not member.fallback]
        if names and all(name in failures for name in names):
            raise failures[names[0]]


@dataclass(frozen=True, slots=True)
class _Merge:
    """The skills of all sources that answered; `shadows` are ID, winner and loser."""

    skills: Sequence[base.SkillDescriptor]
    shadows: Sequence[tuple[SkillId, str, str]]
    failures: Failures


class CompositeSnapshot(base.SkillSource):
    """The sources of a composite as they were at one moment, merged."""

    def __init__(self, library: CompositeSkillSource) -> None:
        self._library = library
        self._snapshots = {member.name: SourceSnapshot(member.source) for member in library.sources}
        self._merge: _Merge | None = None
        self._documents: dict[SkillId, tuple[NamedSource, base.SkillDocument]] = {}

    async def list(self, filter: base.SkillFilter = base.ALL) -> builtins.list[base.SkillDescriptor]:
        merge = await self.merge()
        self._library.check(merge.failures)
        if filter == base.ALL:
            return [*merge.skills]
        return [skill for skill in merge.skills if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        return (await self._find(skill_id))[1]

    async def directory(self, skill_id: SkillId) -> str | None:
        member, _ = await self._find(skill_id)
        try:
            return await self._library.ask(member, lambda _: self._snapshots[member.name].directory(skill_id))
        except RepositoryUnavailable as failure:
            self._library.failures = {**self._library.failures, member.name: failure}
            raise

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders that are at hand, of the winners alone."""
        winners = {skill.id: skill.source_name for skill in await self.list()}
        answers, _ = await self._ask_all(SourceSnapshot.directories)
        return {s: path for m, paths in answers for s, path in paths.items() if winners.get(s) == m.name}

    async def collections(self) -> builtins.list[base.SkillCollection]:
        """Derive the collections from the merged IDs; the first source that describes one counts."""
        merge, (answers, _) = await asyncio.gather(self.merge(), self._ask_all(SourceSnapshot.collections))
        self._library.check(merge.failures)
        descriptions: dict[str, str] = {}
        for _, collections in answers:
            descriptions = base.read_descriptions(collections) | descriptions
        return base.derive_collections(merge.skills, descriptions)

    async def diagnostics(self) -> builtins.list[base.SourceDiagnostic]:
        """Return what each source says of its skills, what is shadowed, and which source failed."""
        merge = await self.merge()
        answers, failures = await self._ask_all(SourceSnapshot.diagnostics, without=merge.failures)
        diagnostics = [replace(d, source_name=member.name) for member, answer in answers for d in answer]
        for skill_id, winner, loser in merge.shadows:
            shadow = warning("W022", skill_id, winner)
            diagnostics.append(base.SourceDiagnostic(skill_id, shadow.code, "warning", shadow.message, loser))
        for name, error in {**failures, **merge.failures}.items():
            diagnostics.append(base.SourceDiagnostic("", error.code, "error", error.message, name))
        return diagnostics

    async def merge(self) -> _Merge:
        """List all sources; the first that has an ID wins. Filter later, or a shadowed skill could appear."""
        if self._merge is None:
            answers, failures = await self._ask_all(SourceSnapshot.list)
            winners: dict[SkillId, base.SkillDescriptor] = {}
            shadows = []
            for member, skills in answers:
                for skill in skills:
                    winner = winners.setdefault(skill.id, skill.named(member.name)).source_name
                    if winner != member.name:
                        shadows.append((skill.id, winner, member.name))
                        log.info("skill '%s' of '%s' is shadowed by '%s'", skill.id, member.name, winner)
            self._merge = _Merge([winners[skill_id] for skill_id in sorted(winners)], shadows, failures)
        self._library.failures = self._merge.failures
        return self._merge

    async def _find(self, skill_id: SkillId) -> tuple[NamedSource, base.SkillDocument]:
        """Return the first source that has a skill, and the skill."""
        if skill_id in self._documents:
            return self._documents[skill_id]
        failures: dict[str, RepositoryUnavailable] = {}
        invalid: InvalidSkill | None = None  # there, but not to be used
        for member in self._library.sources:
            try:
                document = await self._library.ask(member, lambda m: self._snapshots[m.name].load(skill_id))
            except SkillNotFound:
                continue
            except InvalidSkill as error:
                invalid = invalid or error
            except RepositoryUnavailable as failure:
                failures[member.name] = failure
                if member.required:
                    raise
            else:
                self._library.failures = failures
                document = replace(document, descriptor=document.descriptor.named(member.name))
                self._documents[skill_id] = member, document
                return member, document
        self._library.failures = failures
        if invalid is not None:
            raise invalid
        self._library.check(failures)
        raise SkillNotFound(skill_id)

    async def _ask_all(
        self, question: Callable[[SourceSnapshot], Awaitable[Answer]], without: Container[str] = ()
    ) -> tuple[Answers[Answer], dict[str, RepositoryUnavailable]]:
        sources = [member for member in self._library.sources if member.name not in without]
        return await self._library.ask_all(sources, lambda member: question(self._snapshots[member.name]))


def _name_sources(sources: Iterable[NamedSource | base.SkillSource]) -> tuple[NamedSource, ...]:
    member: dict[str, NamedSource] = {}
    for source in sources:
        if not isinstance(source, NamedSource):
            source = NamedSource(getattr(source, "kind", "memory"), source)
        name, number = source.name, 2
        while name in member:
            name, number = f"{source.name}-{number}", number + 1
        member[name] = replace(source, name=name)
    return tuple(member.values())


def _state(member: NamedSource, merge: _Merge) -> SourceState:
    kind = getattr(member.source, "kind", "memory")
    if member.name in merge.failures:
        return SourceState(member.name, kind, "unavailable", error=merge.failures[member.name].message)
    skills = sum(1 for skill in merge.skills if skill.source_name == member.name)
    shadows = sum(1 for _, _, loser in merge.shadows if loser == member.name)
    quarantined = getattr(member.source, "quarantined", 0)
    status = "unused" if getattr(member.source, "unused", False) else getattr(member.source, "status", "ok")
    error = getattr(member.source, "error", None)
    if not error and (part := getattr(member.source, "partial", "")):
        status, error = "partial", f"served in part: {part}"
    return SourceState(member.name, kind, status, skills, quarantined, shadows, str(error) if error else None)
