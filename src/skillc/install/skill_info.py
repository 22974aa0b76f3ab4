"""What is known of skills that are here: one value for 'skc list' and 'skc info', and their lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from skillc import paths
from skillc.compiler import existing_directories, name_target
from skillc.contract import JSON, KEY, OMIT, hidden, optional
from skillc.errors import Diagnostic
from skillc.install.state import NEW_FILES
from skillc.library import GLOBAL, PROJECT, Skill, is_compiled, is_skill
from skillc.paths import short_path
from skillc.quotes import shell_quote
from skillc.text import count_of, one_line

LINK, EDITED, OTHER = "link", "edited", "other"  # states of a deployment, besides `folder` and `gone`
STATES = {EDITED: "edited there", OTHER: "something else is there", "gone": "not there any more"}
NORMAL = "normal"
LISTED = {
    "whole": "whole description",
    "cut": "description cut",
    "name": "name alone",
    "on-demand": "on demand",
    "absent": "not listed",
}
MAX_ADVICE = 3  # skills of one kind that are named
COMMIT = 7  # digits of a commit that are shown
_AS_IS = {JSON: True}  # names as the file system has them, which may be no UTF-8


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """An estimate of tokens: of name and description, of the body of SKILL.md, and of all other files."""

    metadata: int
    body: int
    files: int | None = optional()


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """A deployment: `state` is `link`, `folder` (a copy), `edited`, `other` (not ours) or `gone`."""

    agent: str
    path: str
    method: str
    state: str

    @property
    def name(self) -> str:
        """What people call the agent."""
        return name_target(self.agent)


@dataclass(frozen=True, slots=True)
class Use:
    """How often hooks offered a skill, how often agents read of it, and when last."""

    offered: int
    read: int
    last: str | None


@dataclass(frozen=True, slots=True)
class SkillInfo:
    """A skill that is here. What is optional is known to 'skc info' alone, or says what is seldom so.

    `tokens` and `description` are missing where there was no time to read a large store.
    """

    skill: Skill = field(metadata={KEY: ""})
    id: str = field(metadata=_AS_IS)
    name: str = field(metadata=_AS_IS)
    scope: str
    status: str
    source_path: str = field(metadata=_AS_IS)
    runtime_path: str = field(metadata=_AS_IS)
    description: str
    version: str
    origin: str
    ref: str
    commit: str
    path: str = field(metadata=_AS_IS)
    agents: tuple[AgentSkill, ...]
    tokens: TokenCounts | None
    edited: bool
    pinned: bool
    outdated: bool | None
    latest: str | None
    checked: str | None
    conflicts: tuple[str, ...]
    disabled: str = optional("")
    shadowed_by: str = optional("")
    listing: dict[str, str] | None = optional()
    digest: str = optional("")
    signed: str | None = optional()
    licence: str | None = field(default=None, metadata={KEY: "license", OMIT: True})
    used: Use | None = optional()
    is_locked: bool = hidden(False)

    @property
    def edits(self) -> list[AgentSkill]:
        """The deployments that were edited where they are."""
        return [each for each in self.agents if each.state == EDITED]

    @property
    def states(self) -> str:
        """What there is to say of it, most urgent first; `normal` if there is nothing."""
        edits = ", ".join(dict.fromkeys(each.name for each in self.edits))
        words = {
            "conflict": bool(self.conflicts),
            self.status: self.status != NORMAL,
            self.disabled: bool(self.disabled),
            "hidden": bool(self.shadowed_by),
            f"edited at {edits}": bool(edits),
            "edited": self.edited,
            "pinned": self.pinned,
            "update" if self.latest == NEW_FILES else f"update: {self.latest}": bool(self.outdated),
        }
        return ", ".join(word for word, is_so in words.items() if is_so) or NORMAL

    def row(self) -> tuple[str, ...]:
        """Return it as a row under the header of all skills."""
        tokens = f"{self.tokens.metadata + self.tokens.body:,}" if self.tokens else ""
        agents = ", ".join(dict.fromkeys(each.name for each in self.agents))
        version = self.version or self.commit[:COMMIT]
        return self.name, self.scope, version, self._place(), agents, tokens, self.states

    def _place(self) -> str:
        """Return where it comes from, with the ref."""
        path = self.origin.removeprefix("file://")  # of a git repository on this machine
        origin = short_path(path) if path.startswith(os.sep) else self.origin
        return f"{origin}{f'@{self.ref}' if self.ref else ''}"

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield what is known of it, each fact with its label, which is empty where the last one goes on."""
        yield "status", self.states
        if self.shadowed_by:
            yield "hidden", f"its name means {short_path(self.shadowed_by)} here"
        if self.origin:
            yield "from", f"{self._place()}{f', commit {self.commit[:COMMIT]}' if self.commit else ''}"
        if self.latest and self.checked:
            same = f"nothing newer at {self.ref}" if self.ref else "this version"
            yield "latest", f"{self.latest if self.outdated else same}, as of {self.checked[:10]}"
        edit = ", where it is to be edited" if self.skill.is_stored and not self.skill.is_copy else ""
        yield "source", f"{short_path(self.source_path)}{edit}"
        for number, agent in enumerate(self.agents):
            state = f", {STATES[agent.state]}" if agent.state in STATES else ""
            text = f"{agent.name}: {short_path(agent.path)} ({agent.method}{state})"
            yield "" if number else "agents", text
        if not self.agents:
            yield "agents", "none has it"
        if self.listing:
            states = dict.fromkeys(self.listing.values())
            agents = {state: ", ".join(a for a, s in self.listing.items() if s == state) for state in states}
            yield "listing", "; ".join(f"{LISTED[state]} at {names}" for state, names in agents.items())
        if (counts := self.tokens) is not None:
            files = f", {counts.files:,} in its other files" if counts.files else ""
            both = f"{counts.metadata:,} for its name and description, {counts.body:,} for its body"
            yield "tokens", f"about {both}{files}"
        yield from self._origin_facts()
        if self.used:
            last = f", last on {self.used.last[:10]}" if self.used.last else ""
            yield "used", f"{count_of(self.used.read, 'time')}{last}"
        for number, path in enumerate(self.conflicts):
            yield "" if number else "conflicts", short_path(path)

    def _origin_facts(self) -> Iterator[tuple[str, str]]:
        if self.signed:
            yield "signed", f"by {self.signed} when it came in; that says who made it, not that it is safe"
        if self.licence:
            yield "licence", self.licence

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield the commands for what comes next, each with what it does."""
        name = shell_quote(self.skill.reference)
        if not self.skill.is_stored:
            yield f"skc import {name}", "take this folder in, for all agents"
            return
        if self.skill.is_copy:
            yield f"skc repo sync {shell_quote(self.origin)}", "ask its repository again"
            return
        anew = "write anew what was edited where agents read it; the edits go to the trash"
        yield f"skc build {name}", anew if self.edits else "bring your edits to agents"
        if self.is_locked:
            scope = "" if self.scope == PROJECT else " --global"
            if self.edited:
                yield f"skc verify{scope}", "see which files you changed"
            if self.pinned:
                yield f"skc unpin {name}{scope}", "let it be updated again"
            else:
                yield f"skc update {name}{scope}", "get the latest version; your edits are merged"
                if self.ref:
                    yield f"skc update {name}@<version>{scope}", "take another version, tag or branch"
                yield f"skc pin {name}{scope}", "keep it at this version"
        if self.disabled:
            yield f"skc enable {name}", "give it back to agents"
        else:
            yield f"skc disable {name}", "take it away from agents for a while"
        yield f"skc remove {name}", "take it out; 'skc restore' brings it back"


@dataclass(frozen=True, slots=True)
class ForeignSkill:
    """A skill in an agent's directory that skc did not put there; `scope` says whose directory it is."""

    name: str
    path: str
    scope: str


@dataclass(frozen=True, slots=True)
class InstalledSkills:
    """The skills of the stores: `filtered` counts those that match, before the limit; `total` counts all.

    `foreign` are the skills in agents' folders that came from elsewhere.
    """

    HEADER: ClassVar = ("SKILL", "SCOPE", "VERSION", "FROM", "AGENTS", "TOKENS", "STATUS")

    skills: Sequence[SkillInfo]
    total: int
    filtered: int
    foreign: Sequence[ForeignSkill]
    diagnostics: Sequence[Diagnostic] = hidden(())

    def total_line(self) -> str:
        """Return how many skills there are, and how many of them are listed."""
        if not self.skills:
            return f"No skills match, of {self.total:,}." if self.total else "No skills."
        count = f"{len(self.skills):,} of " if len(self.skills) < self.total else ""
        return f"{count}{self.total:,} skill{'' if self.total == 1 else 's'}"

    def advice(self) -> Iterator[str]:
        """Yield what to do next, a line each."""
        updates = [skill.id for skill in self.skills if skill.outdated and not skill.pinned]
        if updates:
            yield f"{count_of(len(updates), 'skill')} can be updated: 'skc update'"
        edits = [skill for skill in self.skills if skill.edits]
        for skill in edits[:MAX_ADVICE]:
            command = f"skc build {shell_quote(skill.skill.reference)}"
            place = short_path(skill.source_path)
            yield one_line(f"'{skill.id}' was edited where agents read it; edit {place}")
            yield f"  '{command}' writes what agents read anew, and puts your edits of it into the trash"
        if len(edits) > MAX_ADVICE:
            yield f"and so were {len(edits) - MAX_ADVICE:,} more: 'skc build --all'"
        yield from advise_import(self.foreign)


def advise_import(skills: Sequence[ForeignSkill]) -> Iterator[str]:
    """Yield what to do with skills that came from elsewhere, a line for each scope."""
    for scope, command in ((GLOBAL, "skc import"), (PROJECT, "skc import --project")):
        folders = [each.path for each in skills if each.scope == scope]
        if folders:
            places = ", ".join(dict.fromkeys(short_path(os.path.dirname(each)) for each in folders))
            what = f"{count_of(len(folders), 'skill')} in {places} came from elsewhere"
            yield f"{what}; '{command}' takes {'it' if len(folders) == 1 else 'them'} over."


def find_foreign(cwd: str) -> list[ForeignSkill]:
    """Return the skills in agents' directories that came from elsewhere, in the order of their paths.

    Links stay what they are. A project's plain `skills` may be anything. What an import would do with each is
    for `plan_import` to say, which reads them.
    """
    project = next(paths.project_roots(cwd), "")
    skills = []
    for directory in sorted(existing_directories(cwd)):
        scope = PROJECT if project and paths.is_inside(directory, project) else GLOBAL
        is_store = f"{os.path.realpath(directory)}{os.sep}".endswith(paths.skills_store(os.sep) + os.sep)
        if is_store or directory == os.path.join(project, "skills"):
            continue
        for name in paths.list_names(directory):
            folder = os.path.join(directory, name)
            if name[0] != "." and not paths.is_link(folder) and is_skill(folder) and not is_compiled(folder):
                skills.append(ForeignSkill(name, folder, scope))
    return skills


def advise_foreign(cwd: str, *, is_first: bool = False) -> list[str]:
    """Return what to do with the skills in agents' directories that came from elsewhere, in lines.

    If it `is_first`, there is no other skill: what to do then.
    """
    lines = list(advise_import(find_foreign(cwd)))
    return ["No skills yet.", *(lines or ["'skc init <name>' makes one."])] if is_first else lines
