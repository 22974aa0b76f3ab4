"""The way to what is on demand: one listed skill in each agent folder, made and kept by skc [D75].

Its description says what there is, by words of the skills' names, and when to look; its text says how. Where
the user has a skill of that name, that one stays, and ours has another name.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from textwrap import fill

from skillc import atomic, paths
from skillc.compiler import (
    DeploymentState,
    deploy_folder,
    inspect_deployment,
    read_agents,
    withdraw,
)
from skillc.errors import Diagnostic
from skillc.index.sections import render_manifest
from skillc.library import GLOBAL, Skill
from skillc.library.records import LISTED, DeploymentRecord, read_deployments
from skillc.listing.rules import read_rules
from skillc.quotes import yaml_quote
from skillc.text import count_of

NAME = "more-skills"
MAX_DESCRIPTION = 480  # characters
MAX_TOPICS = 40  # in the text
MAX_NAMES = 60  # up to so many skills, the text has their names
_DULL = """\
a add advanced after agent agents ai an analysis and api app apps architecture automation basic before best
build builder by change cli code common configuration core create custom customize data design dev
development eval first for from full general generate generator get guide handling help helper how implement
implementation in integration into io it main make manage management manager multi my new of on optimization
or pattern patterns platform practices pro process project review run sdk service services setup simple
skill skills strategies strategy system systems template templates the to tool tools use using via with
without work workflow workflows write"""
DULL = frozenset(_DULL.split())  # words of names that say nothing of what a skill is about

_START = "Leads to {} on this computer that this list leaves out: "
_END = (
    ". Use it when a task needs special knowledge, a product, a file format or a procedure that no listed"
    " skill covers, before working without one."
)
_TEXT = """\
---
name: {name}
description: {description}
---

# More skills

{count} are installed here and kept out of the list of skills, so that the list stays short and every
description in it whole. They are found by what they are for.

1. Say what the task is, in its own words:

   ```bash
   skc find "<task>"
   ```

   The best fit comes first, with its description. If none fits, go on without a skill.

2. Read what the task needs of it, by the name that was found:

   ```bash
   skc outline <skill>
   skc show <skill> --section "<heading>"
   ```

With the MCP server of skillc, `skc_find`, `skc_outline` and `skc_show` do the same, and `load_skill` reads a
skill whole.

## What there is

{topics}

skc made this file, and writes it again when skills come and go. `skc listing set <skill> always` lists one of
these skills; `skc listing reset` lists all of them, and takes this file away.
"""


def is_more_skills(record: DeploymentRecord | None) -> bool:
    """Return whether a deployment is this skill."""
    return record is not None and paths.is_inside(record.source, _directory())


def describe(names: Collection[str]) -> str:
    """Return the description for skills on demand.

    >>> describe(["pdf", "docx"])[:62]
    'Leads to 2 skills on this computer that this list leaves out: '
    """
    start, topics = _START.format(count_of(len(names), "skill")), find_topics(names)
    room, words = MAX_DESCRIPTION - len(start) - len(_END) - len(" and more"), list[str]()
    for topic in topics:
        room -= len(topic) + 2
        if room < 0:
            break
        words.append(topic)
    return f"{start}{', '.join(words)}{' and more' * (len(words) < len(topics))}{_END}"


def find_topics(names: Collection[str]) -> list[str]:
    """Return words that stand for the names, those of most names first; names where they are few.

    Each word counts the names that no word before it has. A word of one name says less than that name.

    >>> find_topics([f"azure-{number}" for number in range(20)])
    ['azure']
    """
    if len(names) <= 12:
        return sorted(names)
    words = {name: {word for word in name.split("-") if len(word) > 1} - DULL for name in names}
    topics: list[str] = []
    while words:
        counts = Counter(word for each in words.values() for word in each)
        if not counts:
            break
        topic = min(counts, key=lambda word: (-counts[word], word))
        if counts[topic] == 1:
            return topics + sorted(words, key=lambda name: (len(name), name))
        topics.append(topic)
        words = {name: each for name, each in words.items() if topic not in each}
    return topics


def write_text(name: str, names: Collection[str]) -> bytes:
    """Return the SKILL.md for skills on demand."""
    items = sorted(names) if len(names) <= MAX_NAMES else find_topics(names)[:MAX_TOPICS]
    more = "" if len(names) <= MAX_NAMES else ", and others"
    text = _TEXT.format(
        name=name,
        description=yaml_quote(describe(names)),
        count=count_of(len(names), "skill"),
        topics=fill(f"{', '.join(items)}{more}.", 110, break_on_hyphens=False),
    )
    return text.encode("utf-8", "replace")


def keep_more_skills(closed: Collection[str] = ()) -> list[Diagnostic]:
    """Put the skill into each folder that has skills on demand, and take it out of the other ones.

    Folders in `closed` can't be written.
    """
    diagnostics: list[Diagnostic] = []
    records = read_deployments()
    wanted: dict[str, list[str]] = {}
    for record in records:
        folder, name = os.path.split(record.path)
        if (
            record.state != LISTED
            and record.is_here
            and os.path.isdir(record.source)
            and os.path.isdir(folder)
        ):
            wanted.setdefault(folder, []).append(name)
    here = {os.path.dirname(record.path): record for record in records if is_more_skills(record)}
    for folder in [each for each in dict.fromkeys([*here, *wanted]) if each not in closed]:
        old, name = here.get(folder), ""
        if folder in wanted:
            name = choose_name(folder, old)
            diagnostics += _put(folder, name, wanted[folder])
        if old is not None and os.path.basename(old.path) != name:
            diagnostics += withdraw([old], "no skill is on demand there any more").diagnostics
            atomic.discard(old.source)
    return diagnostics


def choose_name(folder: str, old: DeploymentRecord | None) -> str:
    """Return a name that no skill of others has in a folder."""
    own = os.path.basename(old.path) if old and inspect_deployment(old) is not DeploymentState.OTHER else ""
    names = (NAME, f"skc-{NAME}", *(f"skc-{NAME}-{number}" for number in range(2, 1000)))
    return next(each for each in names if each == own or not os.path.lexists(os.path.join(folder, each)))


def _is_of_user(folder: str) -> bool:
    home = paths.user_home() or ""
    own = {os.path.join(home, *agent.user.split("/")) for agent in read_agents() if agent.user}
    return folder in own or any(folder in rule.user_folders() for rule in read_rules().values())


def _put(folder: str, name: str, names: Collection[str]) -> Sequence[Diagnostic]:
    source = os.path.join(_directory(), paths.path_hash(os.path.realpath(folder)), name)
    os.makedirs(os.path.dirname(paths.manifest_file(source)), exist_ok=True)
    files = {
        paths.stub_file(source): write_text(name, names),
        paths.manifest_file(source): render_manifest(name, source, "", ""),
    }
    for path, text in files.items():
        if not os.path.exists(path) or paths.read_regular(path, paths.MAX_SKILL_FILE) != text:
            atomic.write(path, text)
    skill = Skill(name, os.path.realpath(source), GLOBAL, paths.require_home(), is_stored=False)
    is_copy = not _is_of_user(folder)  # a project's folder is for others, too
    return deploy_folder(skill, source, folder, copy=is_copy)


def _directory() -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "listing")
