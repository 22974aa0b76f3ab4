"""Approval: what a person is shown before a tool runs, the answers, and managing decisions.

Nothing that is shown can deceive: every character that can't be seen is written out, and nothing is left
out unless its length is given and all of it can be asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from skillc.contract import KEY, Result
from skillc.errors import ApprovalRequired, InvalidOption, InvalidTool, SkillcError
from skillc.library import adopt_import, import_origin
from skillc.skills import SkillDigest, digest_skill
from skillc.startup import sha256_hex
from skillc.text import visible
from skillc.tools import sandbox
from skillc.tools.skill import ExecutableSkill, SkillLocation, load_executable
from skillc.tools.trust import ALLOW, DENY, YES, Decision, TrustLevel, TrustStore, may_run

MAX_SHOWN = 600  # characters of one argument or description in a short text; the rest is counted
MAX_LISTED = 50  # arguments and changed files in a short text
FLAGS = ("read_only", "always_ask", "network")  # of a skill's definition
UNTRUSTED_WARNING = (
    "WARNING: this skill is not one of your own. Only run it if you trust where it comes from."
)


OLD_DECISION = "allowed by an older skc, whose digest was another; it asks again"
VERDICTS = {
    ALLOW: "allowed until a file changes",
    YES: "answered yes: runs while it can't write, until a file changes",
    DENY: "denied",
}


class Answer(StrEnum):
    """A person's answer [D54].

    `YES` lasts where the sandbox keeps the tool from writing, `ALWAYS` for all but untrusted skills and
    `always_ask`, both until a file of the skill changes. `NEVER` lasts for good.
    """

    ONCE = "once"
    YES = "yes"
    ALWAYS = "always"
    NO = "no"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One run of a tool, as it is about to happen."""

    skill: str
    version: str
    description: str
    author: str | None
    origin: str
    level: TrustLevel
    tool: str
    tool_description: str
    argv: Sequence[str]
    cwd: str
    permissions: Sequence[str]
    digest: str
    read_only: bool = False
    always_ask: bool = False
    changed: Sequence[str] | None = None  # files that differ from those allowed before; None the first time
    is_old: bool = False  # it was allowed by an older skc, whose digest was another
    sandbox: str = ""
    damaged: bool = False  # the decisions are: a denial may be lost, so only a person can answer

    @property
    def can_last(self) -> bool:
        """Whether the answer "always" is remembered: not where every run has to be approved."""
        return self.level is not TrustLevel.UNTRUSTED and not self.always_ask

    @property
    def lasts(self) -> bool:
        """Whether a plain yes is remembered, too: only where the sandbox keeps the tool from writing."""
        return self.can_last and self.read_only and self.sandbox != sandbox.NONE

    def verdict_of(self, answer: Answer) -> str | None:
        """Return the decision to remember after an answer; None if it is for this run alone."""
        if answer is Answer.NEVER:
            return DENY
        if answer is Answer.ALWAYS and self.can_last:
            return ALLOW
        return YES if answer is Answer.YES and self.lasts else None

    @property
    def subject(self) -> str:
        """A hash of what a yes is bound to: these files and this command."""
        words = [self.digest, self.cwd, self.sandbox, *self.argv]
        return sha256_hex("\0".join(words).encode("utf-8", "surrogatepass"))

    def text(self, *, short: bool = False) -> str:
        """Return everything there is to know before saying yes.

        A `short` text leaves out the ends of long values and lists, and says how much that is. It is only
        for where all of it can be asked for.
        """
        by = f", by {self.author}" if self.author else ""
        rows = [
            ("Skill:", f"{self.skill} {self.version}{by}"),
            ("", self.description),
            ("From:", self.origin),
            ("Tool:", ": ".join(filter(None, [self.tool, self.tool_description]))),
            ("Command:", ""),
            ("In:", self.cwd),
            *(("" if n else "Allowed:", text) for n, text in enumerate(self.permissions)),
            ("Digest:", self.digest),
        ]
        lines = [UNTRUSTED_WARNING, ""] if self.level is TrustLevel.UNTRUSTED else []
        for label, text in rows:
            words = self.argv if label == "Command:" else [text]
            parts = [_show(word, label == "Command:", short) for word in _head(words, short)]
            lines.append(f"{label:<9} {' '.join(parts)}{_count_rest(words, short, 'arguments')}")
        if self.is_old:
            lines += ["", f"It was {OLD_DECISION}."]
        if self.changed is not None:
            lines += ["", "Since you allowed it:"]
            lines += [f"  {visible(change)}" for change in _head(self.changed, short)]
            lines += filter(None, [_count_rest(self.changed, short, "files")])
        return "\n".join(lines)


def display(text: str) -> str:
    """Return text on one line, everything in it visible."""
    return visible(text.replace("\n", " "))


def _show(text: str, is_argument: bool, short: bool) -> str:
    """Return a value of a request; an argument is in quotes, so that what is one looks like one."""
    rest = len(text) - MAX_SHOWN if short else 0
    head = text[:MAX_SHOWN] if rest > 0 else text
    head = visible(json.dumps(head, ensure_ascii=False)) if is_argument else display(head)
    return f"{head} [… {rest:,} more characters]" if rest > 0 else head


def _head(items: Sequence[str], short: bool) -> Sequence[str]:
    return items[:MAX_LISTED] if short else items


def _count_rest(items: Sequence[str], short: bool, what: str) -> str:
    rest = len(items) - MAX_LISTED if short else 0
    return f" [… {rest:,} more {what}]" if rest > 0 else ""


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
    decision: Decision = field(metadata={KEY: ""})

    @staticmethod
    def of(decision: Decision, current: bool) -> Entry:
        return Entry(decision.skill, decision.path, decision.decision, decision.digest, current, decision)


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
    return Entry.of(decision, current=True)


def list_entries(store: TrustStore) -> list[Entry]:
    return [Entry.of(decision, _is_current(decision)) for decision in store.decisions()]


def _is_current(decision: Decision) -> bool:
    try:
        return digest_skill(decision.directory or decision.path).digest == decision.digest
    except (OSError, SkillcError):
        return False


def prune(store: TrustStore, location: SkillLocation | None = None) -> Sequence[Decision]:
    """Remove and return the decisions about a skill, or about all whose folders are gone."""
    if location is not None:
        return store.remove(lambda decision: decision.path == location.path)
    return store.remove(lambda decision: not os.path.isdir(decision.directory or decision.path))
