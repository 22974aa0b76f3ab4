"""Several sources as one: the first that has a skill wins, and one that fails takes no other down [D27]."""

from __future__ import annotations

import asyncio
import builtins
import logging
import time
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from skillc.errors import (
    Diagnostic,
    InvalidSkill,
    RepositoryUnavailable,
    SkillNotFound,
    unexpected,
    warning,
)
from skillc.index.skills import Searchable
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.library.find import parts_of
from skillc.library.looking import current_look
from skillc.library.source import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId

log = logging.getLogger("skillc.library")
logging.getLogger("skillc").addHandler(logging.NullHandler())  # nothing is printed unless somebody asks

TIME_OUT = 30.0  # seconds that a source may take; the others are served without it

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source with the name it has in skills.toml.

    Where a `required` one fails, everything fails; a `fallback` (the embedded skills) does not count
    when the question is whether any repository could be reached. `time_out` is in seconds; without
    it the composite's counts.
    """

    name: str
    source: SkillSource
    required: bool = False
    fallback: bool = False
    time_out: float | None = None


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A skill that a source of higher precedence has, too."""

    skill_id: SkillId
    winner: str
    loser: str


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


@dataclass(frozen=True, slots=True)
class _Look:
    """What the sources said at one time."""

    skills: Sequence[SkillDescriptor]
    shadowed: Sequence[Shadowed]
    failures: Mapping[str, RepositoryUnavailable]


class CompositeSkillSource(SkillSource):
    """Sources in order of precedence, merged into one namespace; repository names are no part of IDs.

    A source without a name goes by its kind. One that does not answer in time is left out, and not
    asked again before as much time has passed: it costs the others one time-out, not one each call.
    """

    def __init__(self, sources: Iterable[NamedSource | SkillSource], *, time_out: float = TIME_OUT) -> None:
        self.sources = _named(sources)
        self.time_out = time_out
        self.failures: Mapping[str, RepositoryUnavailable] = {}  # at the last look
        self._silent: dict[str, tuple[float, str]] = {}  # until when not to ask, and why
        self._last: tuple[object, _Look] | None = None  # within one look the sources are asked once

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        look = await self._look()
        self._complain(look.failures)
        if filter == ALL:
            return [*look.skills]
        return [skill for skill in look.skills if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return (await self._find(skill_id))[1]

    async def _find(self, skill_id: SkillId) -> tuple[NamedSource, SkillDocument]:
        """The first source that has a skill, and what it has."""
        failures: dict[str, RepositoryUnavailable] = {}
        refused: InvalidSkill | None = None  # there, but not to be used
        for named in self.sources:
            try:
                document = await self._answer(named, lambda source: source.load(skill_id))
            except SkillNotFound:
                continue
            except InvalidSkill as error:
                refused = refused or error
                continue
            except RepositoryUnavailable as failure:
                failures[named.name] = failure
                if named.required:
                    raise
                continue
            self.failures = failures
            return named, SkillDocument(
                document.descriptor.named(named.name), document.body, document.extensions
            )
        self.failures = failures
        if refused is not None:
            raise refused
        self._complain(failures)
        raise SkillNotFound(skill_id)

    async def directory(self, skill_id: SkillId) -> str | None:
        """The folder of a skill, where the source that it comes from has one."""
        named, _ = await self._find(skill_id)
        locate: Callable[[SkillId], Awaitable[str | None]] | None = getattr(named.source, "directory", None)
        return await self._answer(named, lambda _: locate(skill_id)) if locate else None

    async def directories(self) -> dict[SkillId, str]:
        """The folders of all skills whose source keeps them at hand, by ID; the winners' alone."""
        winners = {skill.id: skill.source_name for skill in await self.list()}
        found: dict[SkillId, str] = {}
        answers, _ = await self._ask(_directories)
        for named, folders in answers:
            found |= {s: folder for s, folder in folders.items() if winners.get(s) == named.name}
        return found

    async def collections(self) -> builtins.list[SkillCollection]:
        """Derived from the merged IDs, described by the first source that has words for one."""
        look, (answers, _) = await asyncio.gather(
            self._look(), self._ask(lambda source: source.collections())
        )
        self._complain(look.failures)
        words: dict[str, str] = {}
        for _, found in answers:
            for collection in found:
                if collection.description != f"{collection.count} skills":
                    words.setdefault(collection.path, collection.description)
        return derive_collections(look.skills, words)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """What can be searched of each source that answers, in order of precedence."""
        answers, failures = await self._ask(lambda source: parts_of(source, ""))
        self.failures = failures
        self._complain(failures)
        return [Searchable(named.name, part.folder, part.names) for named, found in answers for part in found]

    async def states(self) -> builtins.list[SourceState]:
        """How each source is doing, in order of precedence."""
        look = await self._look()
        return [_state(named, look) for named in self.sources]

    def warnings(self) -> builtins.list[Diagnostic]:
        """Which sources the last answer was given without, and which could not be refreshed for it."""
        told = []
        for named in self.sources:
            stale = getattr(named.source, "error", None)
            if named.name in self.failures:
                told.append(warning("W200", named.name, self.failures[named.name].reason))
            elif stale:
                told.append(warning("W201", named.name, stale))
        return told

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """What each source has to say of its skills, what is shadowed, and which source failed."""
        look = await self._look()
        answers, failures = await self._ask(_told_by, without=look.failures)
        found: builtins.list[SourceDiagnostic] = []
        for named, answer in answers:
            for told in answer:
                found.append(SourceDiagnostic(told.path, told.code, told.severity, told.message, named.name))
        for shadow in look.shadowed:
            shadowing = warning("W022", shadow.skill_id, shadow.winner)
            found.append(
                SourceDiagnostic(shadow.skill_id, shadowing.code, "warning", shadowing.message, shadow.loser)
            )
        for name, error in {**failures, **look.failures}.items():
            found.append(SourceDiagnostic("", error.code, "error", error.message, name))
        return found

    async def _look(self) -> _Look:
        """The skills of all sources that answer, asked once within one look."""
        asked, last = current_look(), self._last
        if asked is None or last is None or last[0] is not asked:
            last = asked, await self._looked()
            self._last = last if asked is not None else None
        self.failures = last[1].failures
        return last[1]

    async def _looked(self) -> _Look:
        """What all sources say: first source wins.

        Filters come after, so that a loser never shows through.
        """
        answers, failures = await self._ask(lambda source: source.list())
        winners: dict[SkillId, tuple[NamedSource, SkillDescriptor]] = {}
        shadowed: builtins.list[Shadowed] = []
        for named, skills in answers:
            for skill in skills:
                winner, _ = winners.setdefault(skill.id, (named, skill.named(named.name)))
                if winner is not named:
                    shadowed.append(Shadowed(skill.id, winner.name, named.name))
                    log.info("skill '%s' of '%s' is shadowed by '%s'", skill.id, named.name, winner.name)
        return _Look([winners[skill_id][1] for skill_id in sorted(winners)], shadowed, failures)

    async def _ask(
        self, question: Callable[[SkillSource], Awaitable[Answer]], without: Container[str] = ()
    ) -> tuple[builtins.list[tuple[NamedSource, Answer]], dict[str, RepositoryUnavailable]]:
        """Put a question to all sources at once: the answers in order of precedence, and who failed."""
        asked = [named for named in self.sources if named.name not in without]
        waiting = [self._answer(named, question) for named in asked]
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        good: builtins.list[tuple[NamedSource, Answer]] = []
        failures: dict[str, RepositoryUnavailable] = {}
        for named, answer in zip(asked, answers, strict=True):
            if isinstance(answer, RepositoryUnavailable):
                failures[named.name] = answer
            elif isinstance(answer, BaseException):
                raise answer
            else:
                good.append((named, answer))
        return good, failures

    async def _answer(
        self, named: NamedSource, question: Callable[[SkillSource], Awaitable[Answer]]
    ) -> Answer:
        """What one source says in time; raises SkillNotFound, InvalidSkill or RepositoryUnavailable."""
        until, reason = self._silent.get(named.name, (0.0, ""))
        if time.monotonic() < until:
            raise RepositoryUnavailable(named.name, reason)
        patience = named.time_out or self.time_out
        try:
            return await asyncio.wait_for(question(named.source), patience)
        except (SkillNotFound, InvalidSkill):
            raise
        except TimeoutError:
            reason = f"no answer in {patience:g} s"
            self._silent[named.name] = (time.monotonic() + patience, reason)
            failure = RepositoryUnavailable(named.name, reason)
        except RepositoryUnavailable as error:
            failure = RepositoryUnavailable(named.name, error.reason)
        except Exception as error:
            from skillc.library.secrets import hide_secrets  # only for the words of others

            failure = RepositoryUnavailable(named.name, hide_secrets(unexpected(error).message))
        log.warning("%s", failure.message)
        raise failure

    def _complain(self, failures: Mapping[str, RepositoryUnavailable]) -> None:
        """An error only where a required repository failed, or every one that is configured."""
        required = [named.name for named in self.sources if named.required and named.name in failures]
        if required:
            raise failures[required[0]]
        configured = [named.name for named in self.sources if not named.fallback]
        if configured and all(name in failures for name in configured):
            raise failures[configured[0]]


def _named(sources: Iterable[NamedSource | SkillSource]) -> tuple[NamedSource, ...]:
    """Every source with a name of its own."""
    named: dict[str, NamedSource] = {}
    for source in sources:
        if isinstance(source, NamedSource):
            own = source
        else:
            own = NamedSource(getattr(source, "kind", "memory"), source)
        name, number = own.name, 2
        while name in named:
            name, number = f"{own.name}-{number}", number + 1
        named[name] = replace(own, name=name)
    return tuple(named.values())


async def _told_by(source: SkillSource) -> builtins.list[SourceDiagnostic]:
    ask: Callable[[], Awaitable[builtins.list[SourceDiagnostic]]] | None
    ask = getattr(source, "diagnostics", None)
    return await ask() if ask is not None else []


def _state(named: NamedSource, look: _Look) -> SourceState:
    kind = getattr(named.source, "kind", "memory")
    if named.name in look.failures:
        return SourceState(named.name, kind, "unavailable", error=look.failures[named.name].message)
    own = sum(1 for skill in look.skills if skill.source_name == named.name)
    lost = sum(1 for shadow in look.shadowed if shadow.loser == named.name)
    quarantined = getattr(named.source, "quarantined", 0)
    unused = getattr(named.source, "unused", False)
    status = "unused" if unused else getattr(named.source, "status", "ok")
    error = getattr(named.source, "error", None)
    words = str(error) if error else None
    return SourceState(named.name, kind, status, own, quarantined, lost, words)


async def _directories(source: SkillSource) -> dict[SkillId, str]:
    """The folders of a source that has any; what would have to be fetched first is not at hand."""
    locate = getattr(source, "directories", None)
    return await locate() if locate else {}
