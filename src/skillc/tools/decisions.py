"""Decisions about skills: what a person is told of one, and allowing, denying, adopting and forgetting it.

Each is about the skill at a path and the digest of everything in its folder, which a person looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from skillc.contract import KEY, Result, hidden, optional
from skillc.errors import ApprovalRequired, InvalidOption, InvalidTool, SkillcError
from skillc.library import adopt_import, import_origin
from skillc.library.repositories import VariableUse, allowed_variables
from skillc.skills import SkillDigest, digest_skill
from skillc.surface import Here
from skillc.text import visible
from skillc.tools import sandbox
from skillc.tools.approval import OLD_DECISION, approval_advice, display
from skillc.tools.skill import ExecutableSkill, SkillLocation, find_skill, load_executable
from skillc.tools.trust import ALLOW, DENY, YES, Decision, TrustLevel, TrustStore, may_run

FLAGS = ("read_only", "always_ask", "network")  # of a skill's definition
VERDICTS = {
    ALLOW: "allowed until a file changes",
    YES: "answered yes: runs while it can't write, until a file changes",
    DENY: "denied",
}


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """A tool by its qualified name, and its command as it is written."""

    name: str
    command: str


@dataclass(frozen=True, slots=True)
class TrustDescription:
    """How far a skill is trusted, by what decision, and what it declares."""

    skill: str
    path: str
    level: str
    origin: str
    decision: str | None
    digest: str
    current: bool
    changed: list[str]
    read_only: bool
    always_ask: bool
    network: bool
    tools: list[ToolCommand]


@dataclass(frozen=True, slots=True)
class TrustStatus:
    """A skill as it is now, and the decision about it."""

    location: SkillLocation
    skill: ExecutableSkill
    files: SkillDigest
    verdict: str | None  # what counts now
    decision: Decision | None  # perhaps about other files
    damaged: bool = False  # the decisions are, so that every run asks

    @property
    def current(self) -> bool:
        """Whether the decision is about the files as they are."""
        return self.decision is not None and self.decision.digest == self.files.digest

    @property
    def changes(self) -> list[str]:
        """The differences between the files and those that the decision was about."""
        if self.decision is None or not self.decision.digest:
            return []
        return [f"{kind}: {name}" for kind, name in self.files.changes_since(self.decision.files)]

    def describe(self) -> TrustDescription:
        """Return it for programs."""
        location, definition = self.location, self.skill.definition
        return TrustDescription(
            skill=location.skill_id,
            path=location.path,
            level=location.level.value,
            origin=location.origin,
            decision=self.verdict,
            digest=self.files.digest,
            current=self.current,
            changed=self.changes,
            read_only=definition.read_only,
            always_ask=definition.always_ask,
            network=definition.network,
            tools=[ToolCommand(*each) for each in self._commands()],
        )

    def text(self) -> str:
        """Return the same for a person."""
        location, definition = self.location, self.skill.definition
        flags = [name for name in FLAGS if getattr(definition, name)]
        verdict = VERDICTS[self.verdict] if self.verdict else self._say_why_none()
        lines = [
            f"{visible(location.skill_id)} {display(definition.version)}: {display(definition.description)}",
            f"  from      {display(location.origin)}, {location.level.value}",
            f"  path      {display(location.path)}",
            f"  digest    {self.files.digest}",
            f"  declares  {', '.join(flags) or 'nothing'}",
            f"  decision  {verdict}",
        ]
        lines += [f"            {visible(change)}" for change in self.changes]
        lines += [f"  next run  {self._say_next_run()}"]
        if self.decision:
            lines += [f"  undo      'skc trust prune {visible(location.argument)}' forgets the decision"]
        if import_origin(location.directory) is not None:
            lines += [f"  import    'skc trust adopt {visible(location.argument)}' makes it your own"]
        lines += [f"  {name}: {display(command)}" for name, command in self._commands()]
        return "\n".join(lines)

    def _say_next_run(self) -> str:
        """Return what the next run does on this machine, and why [D54]."""
        definition, level = self.skill.definition, self.location.level
        has_sandbox = sandbox.choose() != sandbox.NONE
        if level is TrustLevel.UNTRUSTED and not has_sandbox and self.verdict != DENY:
            return "does not run: it is untrusted, and there is no sandbox"
        flags = {"read_only": definition.read_only, "always_ask": definition.always_ask}
        permission = may_run(level, self.verdict, **flags, sandbox=has_sandbox)
        if permission is False:
            return "does not run"
        return "runs without a question" if permission and not self.damaged else "asks first"

    def _say_why_none(self) -> str:
        if self.decision is None:
            return "none yet"
        if not self.decision.digest:
            return OLD_DECISION
        return "its files changed since it was allowed"

    def _commands(self) -> list[tuple[str, str]]:
        """Return each tool's qualified name and its command as it is written."""
        commands = {tool.name: tool.command.strip() for tool in self.skill.definition.tools}
        return [(tool.qualified, commands[tool.name]) for tool in self.skill.tools]


@dataclass(frozen=True, slots=True)
class Entry(Result):
    """A decision, and whether it is about the files that are there now."""

    skill: str
    path: str
    verdict: str = field(metadata={KEY: "decision"})
    digest: str
    current: bool
    argument: str = hidden("")  # by which commands find the skill

    @staticmethod
    def of(decision: Decision, current: bool, argument: str = "") -> Entry:
        return Entry(decision.skill, decision.path, decision.decision, decision.digest, current, argument)


@dataclass(frozen=True, slots=True)
class Decisions(Result):
    """All decisions about skills, and the variables that projects may use, if there are any."""

    entries: tuple[Entry, ...]
    variables: tuple[VariableUse, ...] = optional(())


@dataclass(frozen=True, slots=True)
class Adoption(Result):
    """An imported skill that is one of the user's own now."""

    skill: str
    path: str
    level: str = TrustLevel.USER.value


@dataclass(frozen=True, slots=True)
class Subject:
    """A skill by its ID, and where it is."""

    skill: str
    path: str


@dataclass(frozen=True, slots=True)
class Pruning(Result):
    """The skills whose decisions were forgotten."""

    pruned: tuple[Subject, ...]


def show_trust(here: Here, name: str) -> TrustStatus:
    """Return a skill as it is now, and what was decided about it."""
    return trust_status(_find(here, name), _open_store(here))


def allow_skill(here: Here, name: str, digest: str | None = None) -> Entry:
    """Allow a skill until a file of it changes. A person is asked, unless `digest` says what was looked at.

    Raises ApprovalRequired where there is no person who agrees, or the files are others.
    """
    location, store = _find(here, name), _open_store(here)
    status = trust_status(location, store)
    if digest is None:
        _ask(here, status, "Allow all of its tools, and offer it to agents, until a file of it changes?")
    return allow(status, store, digest)


def deny_skill(here: Here, name: str) -> Entry:
    """Deny a skill, whatever becomes of its files."""
    return deny(_find(here, name), _open_store(here))


def adopt_skill(here: Here, name: str, digest: str | None = None) -> Adoption:
    """Make an imported skill one of the user's own, asking as `allow_skill` does."""
    status = show_trust(here, name)
    if digest is None:
        _ask(here, status, "Make it one of your own skills?")
    adopt(status, digest)
    return Adoption(status.location.skill_id, status.location.path)


def list_decisions(here: Here) -> Decisions:
    """Return what was decided about skills, and about variables of the environment."""
    entries = tuple(Entry.of(each, _is_current(each)) for each in _open_store(here).decisions())
    return Decisions(entries, tuple(allowed_variables()))


def prune_decisions(here: Here, name: str | None = None) -> Pruning:
    """Forget the decisions about a skill, or about all skills whose folders are gone."""
    location = None if name is None else _find(here, name)
    store = _open_store(here)
    if location is not None:
        forgotten = store.remove(lambda decision: decision.path == location.path)
    else:
        forgotten = store.remove(lambda decision: not os.path.isdir(decision.directory or decision.path))
    return Pruning(tuple(Subject(each.skill, each.path) for each in forgotten))


def _find(here: Here, name: str) -> SkillLocation:
    location = find_skill(name, here.cwd)
    here.tell(location.diagnostics)
    return location


def _open_store(here: Here) -> TrustStore:
    """Return the decisions; say so where they are damaged."""
    store = TrustStore()
    damage = store.damage()
    here.tell([damage] if damage else [])
    return store


def _ask(here: Here, status: TrustStatus, question: str) -> None:
    """Ask a person about a skill; raises ApprovalRequired without one, or if the answer is no."""
    name = status.location.argument
    if not here.person.can_answer:
        raise ApprovalRequired(name, approval_advice(name))
    if not here.person.confirm(status.text(), question):
        raise ApprovalRequired(name, "The answer was not yes; nothing was decided.")


def trust_status(location: SkillLocation, store: TrustStore) -> TrustStatus:
    """Return a skill as it is now and what was decided about it."""
    files = digest_skill(location.directory)
    skill = load_executable(location.directory, location.skill_id)
    verdict, has_damage = store.verdict(location.path, files), store.damage() is not None
    return TrustStatus(location, skill, files, verdict, store.find(location.path), has_damage)


def allow(status: TrustStatus, store: TrustStore, digest: str | None = None) -> Entry:
    """Allow a skill until a file of it changes; `digest` says which files the user looked at.

    One without tools has to be untrusted: prompt hooks offer it once it is allowed.
    """
    location, files = status.location, status.files
    name = location.argument
    if not status.skill.tools and location.level is not TrustLevel.UNTRUSTED:
        raise InvalidTool(name, "no tool definitions found")
    _check_digest(status, digest)
    for other in store.decisions():
        if other.decision == DENY and other.digest == files.digest and other.path != location.path:
            raise ApprovalRequired(name, f"The same files are denied at {visible(other.path)}; that counts.")
    return record_decision(location, ALLOW, files, store)


def adopt(status: TrustStatus, digest: str | None = None) -> None:
    """Make an imported skill one of the user's own; `digest` says which files the user looked at."""
    location = status.location
    if import_origin(location.directory) is None:
        raise InvalidOption(f"adopt takes a skill that was imported into your own, not '{location.argument}'")
    _check_digest(status, digest)
    adopt_import(location.directory)


def _check_digest(status: TrustStatus, digest: str | None) -> None:
    """Raise ApprovalRequired unless the files are those that the user looked at."""
    name, files = status.location.argument, status.files
    if digest is not None and digest.lower() != files.digest:
        advice = f"'skc trust show {visible(name)}' prints that."
        raise ApprovalRequired(name, f"The digest is not the one it has now; {advice}")
    if digest_skill(status.location.directory, before=files).digest != files.digest:
        raise ApprovalRequired(name, "Its files changed meanwhile; nothing was decided.")


def deny(location: SkillLocation, store: TrustStore) -> Entry:
    """Deny a skill, whatever becomes of its files; also one whose tools can't be read."""
    try:
        files = digest_skill(location.directory)
    except SkillcError:  # such as a link that leads out of it: all the more reason
        files = SkillDigest("", {})
    return record_decision(location, DENY, files, store)


def record_decision(location: SkillLocation, verdict: str, files: SkillDigest, store: TrustStore) -> Entry:
    """Store what was decided about a skill with these files."""
    skill, path, directory = location.skill_id, location.path, location.directory
    decision = Decision(skill, path, verdict, files.digest, files.files, directory)
    store.record(decision)
    return Entry.of(decision, current=True, argument=location.argument)


def _is_current(decision: Decision) -> bool:
    try:
        return digest_skill(decision.directory or decision.path).digest == decision.digest
    except (OSError, SkillcError):
        return False
