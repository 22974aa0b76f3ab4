"""What people see of the skills that are here: the table of 'skc list', facts and commands of 'skc info'."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillc.compiler import SHARED, UNIVERSAL
from skillc.install.foreign import advise_import
from skillc.install.latest import NEW_FILES
from skillc.install.skill_info import AgentSkill, InstalledSkills, SkillInfo
from skillc.paths import short_path
from skillc.quotes import shell_quote
from skillc.text import count_of, one_line

HEADER = ("SKILL", "SCOPE", "VERSION", "FROM", "AGENTS", "TOKENS", "STATUS")
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
STATES = {"edited": "edited there", "other": "something else is there", "gone": "not there any more"}


def row_of(skill: SkillInfo) -> tuple[str, ...]:
    """Return a skill as a row under the header."""
    tokens = f"{skill.tokens.metadata + skill.tokens.body:,}" if skill.tokens else ""
    agents = ", ".join(dict.fromkeys(map(_name_agent, skill.agents)))
    version = skill.version or skill.commit[:COMMIT]
    status = ", ".join(describe_status(skill))
    return skill.name, skill.scope, version, _describe_origin(skill), agents, tokens, status


def describe_status(skill: SkillInfo) -> list[str]:
    """Return what there is to say of a skill, most urgent first; `normal` if there is nothing."""
    edits = ", ".join(dict.fromkeys(map(_name_agent, skill.edits)))
    words = {
        "conflict": bool(skill.conflicts),
        skill.status: skill.status != NORMAL,
        skill.disabled: bool(skill.disabled),
        "hidden": bool(skill.shadowed_by),
        f"edited at {edits}": bool(edits),
        "edited": skill.edited,
        "pinned": skill.pinned,
        "update" if skill.latest == NEW_FILES else f"update: {skill.latest}": bool(skill.outdated),
    }
    return [word for word, is_so in words.items() if is_so] or [NORMAL]


def _name_agent(agent: AgentSkill) -> str:
    """Return what people call the agent: a folder that several share is none of theirs."""
    if agent.agent == UNIVERSAL:
        return f"shared ({SHARED[0]})"
    return short_path(agent.agent) if os.sep in agent.agent else agent.agent


def _describe_origin(skill: SkillInfo) -> str:
    origin = short_path(skill.origin) if skill.origin.startswith(os.sep) else skill.origin
    return f"{origin}{f'@{skill.ref}' if skill.ref else ''}"


def total_line(skills: InstalledSkills) -> str:
    """Return how many skills there are, and how many of them are listed."""
    if not skills.skills:
        return f"No skills match, of {skills.total:,}." if skills.total else "No skills."
    count = f"{len(skills.skills):,} of " if len(skills.skills) < skills.total else ""
    return f"{count}{skills.total:,} skill{'' if skills.total == 1 else 's'}"


def advise(skills: InstalledSkills) -> Iterator[str]:
    """Yield what to do next about skills, a line each."""
    updates = [skill.id for skill in skills.skills if skill.outdated and not skill.pinned]
    if updates:
        yield f"{count_of(len(updates), 'skill')} can be updated: 'skc update'"
    edits = [skill for skill in skills.skills if skill.edits]
    for number, skill in enumerate(edits):
        if number < MAX_ADVICE:
            command = f"skc build {shell_quote(skill.skill.reference)}"
            yield one_line(
                f"'{skill.id}' was edited where agents read it; edit {short_path(skill.source_path)}"
            )
            yield f"  '{command}' writes what agents read anew, and puts your edits of it into the trash"
    if len(edits) > MAX_ADVICE:
        yield f"and so were {len(edits) - MAX_ADVICE:,} more: 'skc build --all'"
    yield from advise_import(skills.foreign)


def list_facts(skill: SkillInfo) -> Iterator[tuple[str, str]]:
    """Yield what is known of a skill, each fact with its label, which is empty where the last one goes on."""
    yield "status", ", ".join(describe_status(skill))
    if skill.shadowed_by:
        yield "hidden", f"its name means {short_path(skill.shadowed_by)} here"
    if skill.origin:
        commit = f", commit {skill.commit[:COMMIT]}" if skill.commit else ""
        yield "from", f"{_describe_origin(skill)}{commit}"
    if skill.latest and skill.checked:
        yield "latest", f"{skill.latest if skill.outdated else 'this version'}, as of {skill.checked[:10]}"
    edit = ", where it is to be edited" if skill.skill.is_stored and not skill.skill.is_copy else ""
    yield "source", f"{short_path(skill.source_path)}{edit}"
    for number, agent in enumerate(skill.agents):
        yield "" if number else "agents", _describe_agent(agent)
    if not skill.agents:
        yield "agents", "none has it"
    if skill.listing:
        states = dict.fromkeys(skill.listing.values())
        agents = {state: ", ".join(a for a, s in skill.listing.items() if s == state) for state in states}
        yield "listing", "; ".join(f"{LISTED[state]} at {names}" for state, names in agents.items())
    if skill.tokens:
        yield "tokens", _describe_tokens(skill)
    if skill.used:
        last = f", last on {skill.used.last[:10]}" if skill.used.last else ""
        yield "used", f"{count_of(skill.used.read, 'time')}{last}"
    for number, path in enumerate(skill.conflicts):
        yield "" if number else "conflicts", short_path(path)


def _describe_agent(agent: AgentSkill) -> str:
    state = f", {STATES[agent.state]}" if agent.state in STATES else ""
    return f"{_name_agent(agent)}: {short_path(agent.path)} ({agent.method}{state})"


def _describe_tokens(skill: SkillInfo) -> str:
    counts = skill.tokens
    if counts is None:
        return ""
    files = f", {counts.files:,} in its other files" if counts.files else ""
    return f"about {counts.metadata:,} for its name and description, {counts.body:,} for its body{files}"


def list_commands(skill: SkillInfo) -> Iterator[tuple[str, str]]:
    """Yield the commands for what comes next, each with what it does."""
    name = shell_quote(skill.skill.reference)
    if not skill.skill.is_stored:
        yield f"skc import {name}", "take this folder in, for all agents"
        return
    if skill.skill.is_copy:
        yield f"skc repo sync {shell_quote(skill.origin)}", "ask its repository again"
        return
    purpose = (
        "write anew what was edited where agents read it; the edits go to the trash"
        if skill.edits
        else "bring your edits to agents"
    )
    yield f"skc build {name}", purpose
    if skill.is_locked:
        scope = "" if skill.scope == "project" else " --global"
        if skill.edited:
            yield f"skc verify{scope}", "see which files you changed"
        if skill.pinned:
            yield f"skc unpin {name}{scope}", "let it be updated again"
        else:
            yield f"skc update {name}{scope}", "get the latest version; your edits are merged"
            yield f"skc pin {name}{scope}", "keep it at this version"
    if skill.disabled:
        yield f"skc enable {name}", "give it back to agents"
    else:
        yield f"skc disable {name}", "take it away from agents for a while"
    yield f"skc remove {name}", "take it out; 'skc restore' brings it back"
