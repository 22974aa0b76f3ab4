"""Checks of skills: names that are there twice, builds that are older than their sources, disabled skills."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from skillc.compiler import find_damaged_stubs, list_skills
from skillc.errors import InvalidConfiguration, SkillcError
from skillc.install.dangling import agent_directories
from skillc.install.doctor.check import ERROR, OK, WARNING, Check, Place, short
from skillc.install.doctor.repair import build_command, rebuild
from skillc.install.waste import list_names
from skillc.library import (
    DeploymentRecord,
    Skill,
    is_compiled,
    is_skill,
    read_deployments,
    read_switches,
    stored_skills,
)
from skillc.quotes import shell_quote
from skillc.skills import parse, read_main_file, read_metadata
from skillc.text import count_of

MAX_NAMES = 8  # disabled skills that are named
MAX_READ = 10_000  # SKILL.md files that are read for their names


def check_names(place: Place) -> Iterator[Check]:
    """Find skills of one name in the stores and in each agent's directory, whatever its case."""
    all_skills = list(stored_skills(place.cwd))
    by_name: dict[str, list[Skill]] = {}
    for skill in all_skills:
        by_name.setdefault(skill.name.casefold(), []).append(skill)
    for skills in by_name.values():
        if len(skills) > 1:
            first, *others = (f"'{short(skill.source)}'" for skill in skills)
            text = f"{first} is used here and hides {', '.join(others)}: rename or remove one"
            yield Check("names", WARNING, text)
    total = len(all_skills)
    for directory in agent_directories(place.cwd):
        folders = [
            os.path.join(directory, name) for name in list_names(directory) if not name.startswith(".")
        ]
        folders = [folder for folder in folders if is_skill(folder)][:MAX_READ]
        total += len(folders)
        yield from _find_doubles(directory, folders)
        yield from _find_rivals(folders, by_name)
    yield Check("names", OK, f"{count_of(total, 'skill')}, no name twice")


def _find_doubles(directory: str, folders: list[str]) -> Iterator[Check]:
    """Yield the names that several folders of an agent's directory have."""
    by_name: dict[str, list[str]] = {}
    for folder in folders:
        by_name.setdefault(_read_name(folder).casefold(), []).append(os.path.basename(folder))
    for name, names in by_name.items():
        if len(names) > 1:
            listing = ", ".join(f"'{short(each)}'" for each in names)
            text = (
                f"{listing} in '{short(directory)}' all have the name '{short(name)}': rename or remove one"
            )
            yield Check("names", WARNING, text)


def _find_rivals(folders: list[str], by_name: dict[str, list[Skill]]) -> Iterator[Check]:
    """Yield the folders of agents that are no deployments and have the name of a stored skill."""
    deployments = {record.path for record in read_deployments()}
    for folder in folders:
        skills = by_name.get(os.path.basename(folder).casefold(), [])
        if skills and folder not in deployments and not os.path.islink(folder) and not is_compiled(folder):
            text = (
                f"'{short(folder)}' is not the skill of that name in the store, '{short(skills[0].source)}'"
            )
            yield Check("names", WARNING, text, f"skc import {shell_quote(folder)}")


def _read_name(folder: str) -> str:
    """Return the name that agents see: the frontmatter's, else the folder's."""
    name = os.path.basename(folder)
    try:
        return read_metadata(parse(read_main_file(folder)), name).name
    except (SkillcError, OSError):
        return name


def check_builds(place: Place) -> Iterator[Check]:
    """Find skills that can't be used, and builds that are older than their sources."""
    try:
        read_switches()
    except (InvalidConfiguration, OSError):
        return  # the list needs them; a check of its own
    listing = list_skills(place.cwd, check_obsolete=True)
    for skill, error in listing.problems:
        text = f"'{short(skill.source)}' can't be used: {error.message}"
        yield Check("builds", ERROR, text, f"skc lint {shell_quote(skill.reference)}")
    records = read_deployments()
    for entry in listing.skills:
        if entry.status == "obsolete":
            text = f"'{entry.skill.name}' changed since it was built"
            own = [record for record in records if record.source == entry.skill.source]
            fix = build_command(entry.skill.reference, own)
            yield Check("builds", WARNING, text, fix, partial(rebuild, entry.skill, place.cwd))
        for stub in _damaged_stubs(entry.skill, records):
            text = f"'{short(stub)}', which agents read, is not as it was built"
            own = [record for record in records if record.source == entry.skill.source]
            fix = build_command(entry.skill.reference, own, force=True)
            yield Check("builds", WARNING, text, fix)
    backlog = sum(entry.status == "not-built" for entry in listing.skills)
    rest = f", {backlog:,} not built" if backlog else ""
    yield Check("builds", OK, f"{count_of(listing.total, 'skill')} in the stores{rest}")


def _damaged_stubs(skill: Skill, records: list[DeploymentRecord]) -> list[str]:
    """Return the compiled stubs that are not as they were built; copies at agents are another check's."""
    copies = [record.path for record in records]
    return [path for path in find_damaged_stubs(skill) if os.path.dirname(path) not in copies]


def check_disabled(place: Place) -> Iterator[Check]:
    """Name the skills that are disabled, and find those that agents have all the same."""
    try:
        switches = read_switches()
    except (InvalidConfiguration, OSError):
        return  # a check of its own
    for record in read_deployments():
        switch = switches.get(record.source)
        if switch is not None and switch.covers(record.path) and os.path.lexists(record.path):
            text = f"'{record.skill}' is disabled, but '{short(record.path)}' is there"
            yield Check("disabled", WARNING, text, f"skc disable {shell_quote(record.source)}")
    names = [f"{os.path.basename(source)} ({switch.text})" for source, switch in switches.items()]
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    yield Check("disabled", OK, f"{', '.join(names[:MAX_NAMES])}{more}" if names else "no skill is disabled")
