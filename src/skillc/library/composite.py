"""Several sources as one: the first that has a skill wins, and one that fails takes no other down [D27]."""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from skillc.errors import RepositoryUnavailable, SkillcError, SkillNotFound, notice, unexpected
from skillc.library.catalog.library import Part
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.library.looking import current_look
from skillc.library.searching import parts_of
from skillc.library.sources import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId

log = logging.getLogger("skillc.library")

TIME_OUT = 30.0  # seconds that a source may take; the others are served without it

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source with the name it has in skills.toml.

    Where a `required` one fails, everything fails; a `fallback` (the embedded skills) does not count
    when the question is whether any repository could be reached.
    """

    name: str
    source: SkillSource
    required: bool = False
    fallback: bool = False


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


class CompositeSkillSource(SkillSource):
    """Sources in order of precedence, merged into one namespace; repository names are no part of IDs."""

    def __init__(self, sources: Iterable[NamedSource], *, time_out: float = TIME_OUT) -> None:
        self.sources = tuple(sources)
        self.time_out = time_out
        self.failures: dict[str, SkillcError] = {}
        self.shadowed: builtins.list[Shadowed] = []
        self._last: tuple[object | None, builtins.list[SkillDescriptor]] | None = None

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        merged = await self._merged()
        return [*merged] if filter == ALL else [skill for skill in merged if filter.matches(skill)]

    async def _merged(self) -> builtins.list[SkillDescriptor]:
        """All skills; within one look they are merged once."""
        look = current_look()
        if look is not None and self._last is not None and self._last[0] is look:
            return self._last[1]
        merged = self._merge(await self._ask(lambda source: source.list()))
        self._last = look, merged
        return merged

    def _merge(
        self, answers: builtins.list[tuple[NamedSource, builtins.list[SkillDescriptor]]]
    ) -> builtins.list[SkillDescriptor]:
        """First source wins; filters come after, so that a loser never shows through."""
        winners: dict[SkillId, SkillDescriptor] = {}
        shadowed: builtins.list[Shadowed] = []
        for named, skills in answers:
            for skill in skills:
                winner = winners.setdefault(skill.id, skill.named(named.name))
                if winner.source_name != named.name:
                    shadowed.append(Shadowed(skill.id, winner.source_name, named.name))
                    log.info(
                        "skill '%s' of '%s' is shadowed by '%s'", skill.id, named.name, winner.source_name
                    )
        self.shadowed = shadowed
        return [winners[skill_id] for skill_id in sorted(winners)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        failures: dict[str, SkillcError] = {}
        for named in self.sources:
            try:
                document = await asyncio.wait_for(named.source.load(skill_id), self.time_out)
            except SkillNotFound:
                continue
            except Exception as error:
                self._note_failure(named, error, failures)
                continue
            return SkillDocument(document.descriptor.named(named.name), document.body, document.extensions)
        self._complain_if_nothing_answered(failures)
        raise SkillNotFound(skill_id)

    async def directory(self, skill_id: SkillId) -> str | None:
        """The folder of a skill, where the source that it comes from has one."""
        winner = (await self.load(skill_id)).descriptor.source_name
        source = next(named.source for named in self.sources if named.name == winner)
        locate = getattr(source, "directory", None)
        return await locate(skill_id) if locate else None

    async def collections(self) -> builtins.list[SkillCollection]:
        """Derived from the merged IDs, described by the first source that has words for one."""
        skills = await self.list()
        words: dict[str, str] = {}
        for _, found in await self._ask(lambda source: source.collections()):
            for collection in found:
                if collection.description != f"{collection.count} skills":
                    words.setdefault(collection.path, collection.description)
        return derive_collections(skills, words)

    async def parts(self, name: str) -> builtins.list[Part]:
        """What can be searched of each source that answers, in order of precedence."""
        answers = await self._ask(lambda source: parts_of(source, ""))
        return [Part(named.name, part.holding) for named, found in answers for part in found]

    async def states(self) -> builtins.list[SourceState]:
        """How each source is doing, in order of precedence."""
        try:
            skills = await self.list()
        except SkillcError:
            skills = []
        states = []
        for named in self.sources:
            kind = getattr(named.source, "kind", "memory")
            if named.name in self.failures:
                message = self.failures[named.name].message
                states.append(SourceState(named.name, kind, "unavailable", error=message))
                continue
            own = sum(1 for skill in skills if skill.source_name == named.name)
            lost = sum(1 for shadow in self.shadowed if shadow.loser == named.name)
            quarantined = getattr(named.source, "quarantined", 0)
            status = (
                "unused" if getattr(named.source, "unused", False) else getattr(named.source, "status", "ok")
            )
            error = getattr(named.source, "error", None)
            words = str(error) if error else None
            states.append(SourceState(named.name, kind, status, own, quarantined, lost, words))
        return states

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """What each source has to say of its skills, what is shadowed, and which source failed."""
        found: builtins.list[SourceDiagnostic] = []
        await self.list()
        for named in self.sources:
            ask = getattr(named.source, "diagnostics", None)
            if ask is not None and named.name not in self.failures:
                for told in await ask():
                    found.append(
                        SourceDiagnostic(told.path, told.code, told.severity, told.message, named.name)
                    )
        for shadow in self.shadowed:
            told = notice("W022", shadow.skill_id, shadow.winner)
            found.append(SourceDiagnostic(shadow.skill_id, told.code, "warning", told.message, shadow.loser))
        for name, error in self.failures.items():
            found.append(SourceDiagnostic("", error.code, "error", error.message, name))
        return found

    async def _ask(
        self, question: Callable[[SkillSource], Awaitable[Answer]]
    ) -> builtins.list[tuple[NamedSource, Answer]]:
        """Put a question to all sources at once; the answers in order of precedence."""
        failures: dict[str, SkillcError] = {}
        asked = [asyncio.wait_for(question(named.source), self.time_out) for named in self.sources]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        good: builtins.list[tuple[NamedSource, Answer]] = []
        for named, answer in zip(self.sources, answers, strict=True):
            if isinstance(answer, Exception):
                self._note_failure(named, answer, failures)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                good.append((named, answer))
        self.failures = failures
        self._complain_if_nothing_answered(failures)
        return good

    def _note_failure(self, named: NamedSource, error: Exception, failures: dict[str, SkillcError]) -> None:
        if isinstance(error, TimeoutError):
            failure: SkillcError = RepositoryUnavailable(named.name, f"no answer in {self.time_out:g} s")
        elif isinstance(error, RepositoryUnavailable):
            failure = error
        else:
            failure = RepositoryUnavailable(named.name, unexpected(error).message)
        failures[named.name] = failure
        log.warning("%s", failure.message)
        if named.required:
            raise failure

    def _complain_if_nothing_answered(self, failures: dict[str, SkillcError]) -> None:
        """An error only where every configured repository failed."""
        configured = [named.name for named in self.sources if not named.fallback]
        if configured and all(name in failures for name in configured):
            raise failures[configured[0]]
