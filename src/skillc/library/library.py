"""Several sources as one: the first that has a skill wins, and a failure of one affects no other [D27]."""

from __future__ import annotations

import asyncio
import builtins
import logging
import time
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from skillc.errors import Diagnostic, InvalidSkill, RepositoryUnavailable, SkillNotFound, unexpected, warning
from skillc.index.skills import Searchable
from skillc.library.secrets import hide_secrets
from skillc.library.snapshot import SnapshotSource, SourceSnapshot
from skillc.library.source import (
    ALL,
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillSource,
    SourceDiagnostic,
    derive_collections,
    parts_of,
    read_descriptions,
)
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
    source: SkillSource
    required: bool = False
    fallback: bool = False
    time_out: float | None = None


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a repository is doing: `ok`, `stale`, `unavailable` or `unused`."""

    name: str
    type: str
    status: str
    skills: int = 0
    quarantined: int = 0
    shadowed: int = 0
    error: str | None = None


class CompositeSkillSource(SnapshotSource):
    """Sources in order of precedence, merged into one namespace; repository names are no part of IDs.

    A source without a name is named by its kind. One that does not answer in time is left out, and not
    asked again before as much time has passed: it costs the others one time-out, not one for each call.
    """

    def __init__(self, sources: Iterable[NamedSource | SkillSource], *, time_out: float = TIME_OUT) -> None:
        self.sources = _name_sources(sources)
        self.time_out = time_out
        self.failures: Failures = {}  # at the last question
        self._silent: dict[str, tuple[float, str]] = {}  # until when not to ask a source, and why

    async def snapshot(self) -> CompositeSnapshot:
        """Return all sources as they are now; each is asked when it is first needed."""
        return CompositeSnapshot(self)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched of each source that answers, in order of precedence."""
        answers, self.failures = await self.ask_all(self.sources, lambda named: parts_of(named.source, ""))
        self.check(self.failures)
        return [Searchable(named.name, part.folder, part.names) for named, parts in answers for part in parts]

    async def states(self) -> builtins.list[SourceState]:
        """Return how each source is doing, in order of precedence."""
        merge = await CompositeSnapshot(self).merge()
        return [_state(named, merge) for named in self.sources]

    def warnings(self) -> builtins.list[Diagnostic]:
        """Return which sources the last answer lacks, and which could not be refreshed for it."""
        diagnostics = []
        for named in self.sources:
            stale = getattr(named.source, "error", None)
            if named.name in self.failures:
                diagnostics.append(warning("W200", named.name, self.failures[named.name].reason))
            elif stale:
                diagnostics.append(warning("W201", named.name, stale))
        return diagnostics

    async def ask_all(
        self, sources: Sequence[NamedSource], question: Question[Answer]
    ) -> tuple[Answers[Answer], dict[str, RepositoryUnavailable]]:
        """Ask all sources at once; return the answers in order of precedence, and the failures."""
        tasks = [self.ask(named, question) for named in sources]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        answers: Answers[Answer] = []
        failures: dict[str, RepositoryUnavailable] = {}
        for named, outcome in zip(sources, outcomes, strict=True):
            if isinstance(outcome, RepositoryUnavailable):
                failures[named.name] = outcome
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                answers.append((named, outcome))
        return answers, failures

    async def ask(self, named: NamedSource, question: Question[Answer]) -> Answer:
        """Return a source's answer; raises SkillNotFound, InvalidSkill or RepositoryUnavailable."""
        until, reason = self._silent.get(named.name, (0.0, ""))
        if time.monotonic() < until:
            raise RepositoryUnavailable(named.name, reason)
        time_out = named.time_out or self.time_out
        try:
            return await asyncio.wait_for(question(named), time_out)
        except (SkillNotFound, InvalidSkill):
            raise
        except TimeoutError:
            reason = f"no answer in {time_out:g} s"
            self._silent[named.name] = (time.monotonic() + time_out, reason)
        except RepositoryUnavailable as error:
            reason = error.reason
        except Exception as error:  # of any source
            reason = hide_secrets(unexpected(error).message)
        failure = RepositoryUnavailable(named.name, reason)
        log.warning("%s", failure.message)
        raise failure

    def check(self, failures: Failures) -> None:
        """Raise a failure if its repository is required, or if every configured one failed."""
        required = [named.name for named in self.sources if named.required and named.name in failures]
        if required:
            raise failures[required[0]]
        configured = [named.name for named in self.sources if not named.fallback]
        if configured and all(name in failures for name in configured):
            raise failures[configured[0]]


@dataclass(frozen=True, slots=True)
class _Merge:
    """The skills of all sources that answered; `shadowed` are ID, winner and loser."""

    skills: Sequence[SkillDescriptor]
    shadowed: Sequence[tuple[SkillId, str, str]]
    failures: Failures


class CompositeSnapshot(SkillSource):
    """The sources of a composite as they were at one moment, merged."""

    def __init__(self, library: CompositeSkillSource) -> None:
        self._library = library
        self._snapshots = {named.name: SourceSnapshot(named.source) for named in library.sources}
        self._merge: _Merge | None = None
        self._documents: dict[SkillId, tuple[NamedSource, SkillDocument]] = {}

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        merge = await self.merge()
        self._library.check(merge.failures)
        if filter == ALL:
            return [*merge.skills]
        return [skill for skill in merge.skills if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return (await self._find(skill_id))[1]

    async def directory(self, skill_id: SkillId) -> str | None:
        named, _ = await self._find(skill_id)
        return await self._library.ask(named, lambda named: self._snapshots[named.name].directory(skill_id))

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders that are at hand, of the winners alone."""
        winners = {skill.id: skill.source_name for skill in await self.list()}
        answers, _ = await self._ask_all(SourceSnapshot.directories)
        return {
            s: path for named, paths in answers for s, path in paths.items() if winners.get(s) == named.name
        }

    async def collections(self) -> builtins.list[SkillCollection]:
        """Derive the collections from the merged IDs; the first source that describes one counts."""
        merge, (answers, _) = await asyncio.gather(self.merge(), self._ask_all(SourceSnapshot.collections))
        self._library.check(merge.failures)
        descriptions: dict[str, str] = {}
        for _, collections in answers:
            descriptions = read_descriptions(collections) | descriptions
        return derive_collections(merge.skills, descriptions)

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """Return what each source says of its skills, what is shadowed, and which source failed."""
        merge = await self.merge()
        answers, failures = await self._ask_all(SourceSnapshot.diagnostics, without=merge.failures)
        diagnostics = [replace(d, source_name=named.name) for named, answer in answers for d in answer]
        for skill_id, winner, loser in merge.shadowed:
            shadow = warning("W022", skill_id, winner)
            diagnostics.append(SourceDiagnostic(skill_id, shadow.code, "warning", shadow.message, loser))
        for name, error in {**failures, **merge.failures}.items():
            diagnostics.append(SourceDiagnostic("", error.code, "error", error.message, name))
        return diagnostics

    async def merge(self) -> _Merge:
        """List all sources and let the first win. Filters come after, so that a loser never shows through."""
        if self._merge is None:
            answers, failures = await self._ask_all(SourceSnapshot.list)
            winners: dict[SkillId, SkillDescriptor] = {}
            shadowed = []
            for named, skills in answers:
                for skill in skills:
                    winner = winners.setdefault(skill.id, skill.named(named.name)).source_name
                    if winner != named.name:
                        shadowed.append((skill.id, winner, named.name))
                        log.info("skill '%s' of '%s' is shadowed by '%s'", skill.id, named.name, winner)
            self._merge = _Merge([winners[skill_id] for skill_id in sorted(winners)], shadowed, failures)
        self._library.failures = self._merge.failures
        return self._merge

    async def _find(self, skill_id: SkillId) -> tuple[NamedSource, SkillDocument]:
        """Return the first source that has a skill, and the skill."""
        if skill_id in self._documents:
            return self._documents[skill_id]
        failures: dict[str, RepositoryUnavailable] = {}
        invalid: InvalidSkill | None = None  # there, but not to be used
        for named in self._library.sources:
            try:
                document = await self._library.ask(
                    named, lambda named: self._snapshots[named.name].load(skill_id)
                )
            except SkillNotFound:
                continue
            except InvalidSkill as error:
                invalid = invalid or error
            except RepositoryUnavailable as failure:
                failures[named.name] = failure
                if named.required:
                    raise
            else:
                self._library.failures = failures
                document = replace(document, descriptor=document.descriptor.named(named.name))
                self._documents[skill_id] = named, document
                return named, document
        self._library.failures = failures
        if invalid is not None:
            raise invalid
        self._library.check(failures)
        raise SkillNotFound(skill_id)

    async def _ask_all(
        self, question: Callable[[SourceSnapshot], Awaitable[Answer]], without: Container[str] = ()
    ) -> tuple[Answers[Answer], dict[str, RepositoryUnavailable]]:
        sources = [named for named in self._library.sources if named.name not in without]
        return await self._library.ask_all(sources, lambda named: question(self._snapshots[named.name]))


def _name_sources(sources: Iterable[NamedSource | SkillSource]) -> tuple[NamedSource, ...]:
    """Give every source a name of its own."""
    named: dict[str, NamedSource] = {}
    for source in sources:
        if not isinstance(source, NamedSource):
            source = NamedSource(getattr(source, "kind", "memory"), source)
        name, number = source.name, 2
        while name in named:
            name, number = f"{source.name}-{number}", number + 1
        named[name] = replace(source, name=name)
    return tuple(named.values())


def _state(named: NamedSource, merge: _Merge) -> SourceState:
    kind = getattr(named.source, "kind", "memory")
    if named.name in merge.failures:
        return SourceState(named.name, kind, "unavailable", error=merge.failures[named.name].message)
    skills = sum(1 for skill in merge.skills if skill.source_name == named.name)
    shadowed = sum(1 for _, _, loser in merge.shadowed if loser == named.name)
    quarantined = getattr(named.source, "quarantined", 0)
    unused = getattr(named.source, "unused", False)
    status = "unused" if unused else getattr(named.source, "status", "ok")
    error = getattr(named.source, "error", None)
    return SourceState(named.name, kind, status, skills, quarantined, shadowed, str(error) if error else None)
