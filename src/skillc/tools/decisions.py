"""Managing what is allowed to run: showing a skill, allowing and denying it, listing and forgetting."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillc.errors import ApprovalRequired, InvalidTool, SkillcError
from skillc.text import visible
from skillc.tools.approval import shown
from skillc.tools.fingerprint import Fingerprint, fingerprint
from skillc.tools.origin import FoundSkill
from skillc.tools.skill import ExecutableSkill, load_executable
from skillc.tools.trust import ALLOW, DENY, Decision, TrustStore


@dataclass(frozen=True, slots=True)
class Standing:
    """A skill and what was decided about it.

    `decision` is what counts now; `current` whether the one that was made is about the files as they are.
    """

    found: FoundSkill
    skill: ExecutableSkill
    files: Fingerprint
    decision: str | None
    made: Decision | None

    @property
    def current(self) -> bool:
        return self.made is not None and self.made.digest == self.files.digest

    @property
    def changed(self) -> list[str]:
        """How the files differ from those that the decision was about."""
        return [] if self.made is None else self.files.changes_since(self.made.files)

    def as_json(self) -> dict[str, Any]:
        definition = self.skill.definition
        return {
            "skill": self.found.skill_id,
            "path": self.found.path,
            "level": self.found.level.value,
            "origin": self.found.origin,
            "decision": self.decision,
            "digest": self.files.digest,
            "current": self.current,
            "changed": self.changed,
            "read_only": definition.read_only,
            "always_ask": definition.always_ask,
            "network": definition.network,
            "tools": [
                {"name": tool.qualified, "command": _command(tool.name, self.skill)}
                for tool in self.skill.tools
            ],
        }

    def text(self) -> str:
        """The same for a person, with nothing in it that could deceive."""
        definition = self.skill.definition
        flags = [name for name in ("read_only", "always_ask", "network") if getattr(definition, name)]
        lines = [
            f"{visible(self.found.skill_id)} {shown(definition.version)}: {shown(definition.description)}",
            f"  from      {shown(self.found.origin)}, {self.found.level.value}",
            f"  path      {shown(self.found.path)}",
            f"  digest    {self.files.digest}",
            f"  declares  {', '.join(flags) or 'nothing'}",
            f"  decision  {self._decision()}",
        ]
        lines += [f"            {visible(change)}" for change in self.changed]
        for tool in self.skill.tools:
            lines.append(f"  {tool.qualified}: {shown(_command(tool.name, self.skill))}")
        return "\n".join(lines)

    def _decision(self) -> str:
        if self.decision is None:
            return "its files changed since it was allowed" if self.made else "none yet"
        return {ALLOW: "allowed", DENY: "denied"}[self.decision]


def _command(name: str, skill: ExecutableSkill) -> str:
    """A tool's command as it is written."""
    return next(tool.command.strip() for tool in skill.definition.tools if tool.name == name)


def standing(found: FoundSkill, store: TrustStore) -> Standing:
    """A skill as it is now and what was decided about it."""
    files = fingerprint(found.directory)
    skill = load_executable(found.directory, found.skill_id)
    return Standing(found, skill, files, store.verdict(found.path, files), store.find(found.path))


def allow(now: Standing, store: TrustStore, digest: str | None = None) -> Entry:
    """Allow a skill until a file of it changes; `digest` says which files were looked at."""
    name = now.found.called
    if not now.skill.tools:
        raise InvalidTool(name, "no tool definitions found")
    if digest is not None and digest.lower() != now.files.digest:
        raise ApprovalRequired(
            name, f"The digest is not the one it has now; 'skc trust show {visible(name)}' prints that."
        )
    if fingerprint(now.found.directory).digest != now.files.digest:
        raise ApprovalRequired(name, "Its files changed meanwhile; nothing was allowed.")
    for other in store.decisions():
        if other.decision == DENY and other.digest == now.files.digest and other.path != now.found.path:
            raise ApprovalRequired(name, f"The same files are denied at {visible(other.path)}; that counts.")
    made = decide(now.found, ALLOW, now.files)
    store.record(made)
    return Entry(made, current=True)


def deny(found: FoundSkill, store: TrustStore) -> Entry:
    """Deny a skill, whatever becomes of its files; also one whose tools can't be read."""
    try:
        files = fingerprint(found.directory)
    except SkillcError:  # a link that leads out of it, say: all the more reason
        files = Fingerprint("", {})
    made = decide(found, DENY, files)
    store.record(made)
    return Entry(made, current=True)


def decide(found: FoundSkill, decision: str, files: Fingerprint) -> Decision:
    return Decision(found.skill_id, found.path, decision, files.digest, files.files, found.directory)


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision, and whether it is about the files that are there now."""

    decision: Decision
    current: bool

    def as_json(self) -> dict[str, Any]:
        made = self.decision
        return {
            "skill": made.skill,
            "path": made.path,
            "decision": made.decision,
            "digest": made.digest,
            "current": self.current,
        }


def entries(store: TrustStore) -> list[Entry]:
    return [Entry(made, _is_current(made)) for made in store.decisions()]


def _is_current(made: Decision) -> bool:
    try:
        return fingerprint(made.directory or made.path).digest == made.digest
    except (OSError, SkillcError):
        return False


def prune(store: TrustStore, found: FoundSkill | None = None) -> Sequence[Decision]:
    """Forget what was decided about a skill, or about all whose folders are gone."""
    if found is not None:
        return store.remove(lambda made: made.path == found.path)
    return store.remove(lambda made: not os.path.isdir(made.directory or made.path))
