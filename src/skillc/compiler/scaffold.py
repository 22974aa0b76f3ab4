"""Put a skill into a store: a new one to fill in (RFC-0006), or a copy of a folder [D10]."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillc import atomic, paths
from skillc.compiler.undeploy import remember
from skillc.contract import Result, hidden
from skillc.errors import InvalidOption, InvalidSkill, InvalidSkillId, SkillExists
from skillc.library import Skill, import_root, is_compiled, read_import, record_imports, renew_import
from skillc.library.records import lock_store
from skillc.quotes import yaml_quote
from skillc.skills import digest_files, has_uncounted, is_name, make_folder
from skillc.skills.document import LIMITS, TO_DO, main_file, parse, read_main_file, read_metadata
from skillc.surface import UNATTENDED, Person

_SKILL = """\
---
name: {name}
description: {description}
---

# {title}
"""
QUESTION = "What does it do, and when is it to be used? (Enter: write that later) "
_GITIGNORE = "# Built by skc; 'skc build --all' makes it again.\nruntime/\nlogs/\n"


def check_store(root: str) -> None:
    """Raise ProjectFolderEscapes for a project's store that leads out of it; a clone may bring that link."""
    if not paths.is_home(root):
        paths.require_inside(paths.skills_store(root), root)


def create_store(root: str) -> str:
    """Create `.skillc/skills/` below `root` if it is missing, and return its path."""
    check_store(root)
    store = paths.skills_store(root)
    os.makedirs(store, exist_ok=True)
    ignore = os.path.join(root, paths.DIRECTORY, ".gitignore")
    if not os.path.lexists(ignore):
        atomic.write(ignore, _GITIGNORE.encode())
    return store


@dataclass(frozen=True, slots=True)
class Creation(Result):
    """What was made: a store, or the SKILL.md of a skill with this name."""

    name: str | None
    path: str
    description: str = hidden("")

    def report(self) -> str:
        """Return what was made, and what to do next."""
        if self.name is None:
            return f"Skills live in {self.path}\nNext: skc init <name>"
        parts = "sections" if self.description else "description and sections"
        return f"Created {self.path}\nNext: write its {parts}, then 'skc build {self.name}'"


def create_skill(
    root: str, name: str | None, description: str | None = None, person: Person = UNATTENDED
) -> Creation:
    """Create a skill with a SKILL.md to fill in; without a name, the store alone.

    The person is asked for a description that is not given.
    """
    _check_description(name, description)
    if name is None:
        return Creation(None, create_store(root))
    if not is_name(name):
        raise InvalidSkillId(name, "hint: a name has 1 to 64 of a-z, 0-9 and single hyphens, none at an end.")
    check_store(root)
    directory = os.path.join(paths.skills_store(root), name)
    _check_place(name, directory)
    if description is None:
        description = person.ask(QUESTION)  # before anything is made: a person may leave here
        _check_description(name, description or None)
        _check_place(name, directory)
    create_store(root)
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, paths.SKILL_FILE)
    title = " ".join(word.capitalize() for word in name.split("-"))
    text = _SKILL.format(name=name, description=yaml_quote(description or TO_DO), title=title)
    atomic.write(path, text.encode(), durable=True)
    return Creation(name, path, description)


def _check_place(name: str, directory: str) -> None:
    if any(os.path.lexists(os.path.join(directory, main)) for main in paths.SKILL_FILES):
        raise SkillExists(name, f"hint: it is in '{directory}'; edit it, or choose another name")


def _check_description(name: str | None, description: str | None) -> None:
    if description is None:
        return
    if name is None:
        raise InvalidOption("--description is about a new skill; give its name, too")
    if not 1 <= len(description.strip()) <= LIMITS["description"]:
        raise InvalidOption(f"a description has 1 to {LIMITS['description']} characters")


def import_skill(skill: Skill, cwd: str, *, force: bool = False) -> tuple[Skill, str]:
    """Copy a folder from elsewhere into the project's store or the global one, completely or not at all.

    Return the copy, and a line that says what was done, empty if nothing was. Links in the folder become
    the files they point to. Hidden files are copied too. The copy stays untrusted until a person adopts it.
    """
    main_file(skill.source)  # raises without one
    if is_compiled(skill.source):
        raise InvalidSkill(skill.source, "a compiled skill; build its source")
    scope, root = import_root(cwd)
    check_store(root)
    store = paths.skills_store(root)
    path = os.path.join(store, skill.name)
    if paths.is_inside(os.path.realpath(store), skill.source):
        raise InvalidOption(f"'{skill.source}' holds the store it would be copied into")
    digest = digest_files(skill.source, hidden=True)  # raises for a link that leaves the folder
    with lock_store(root):
        copy = Skill(skill.name, os.path.realpath(path), scope, root, is_stored=True)
        note = _copy(skill, path, digest, copy, force)
    return Skill(skill.name, os.path.realpath(path), scope, root, is_stored=True), note


def _copy(skill: Skill, path: str, digest: str, copy: Skill, force: bool) -> str:
    """Copy a skill to its place in the store, unless it is there; return a line that says what was done."""
    note = f"Copied {skill.source}; from now on, edit {path}"
    if os.path.lexists(path) and not force:
        note = "" if _is_current(path, skill, digest) else f"Updated {path}, because {skill.source} changed"
    if not note:
        return ""
    store = os.path.dirname(path)
    read_metadata(parse(read_main_file(skill.source)), skill.name)  # raises for an unusable SKILL.md
    os.makedirs(store, exist_ok=True)
    atomic.sweep(store)
    record_imports((os.path.join(os.path.realpath(store), skill.name), skill.source, digest))
    # The digest leaves histories out, and there may be commits in the copy's.
    has_history = has_uncounted(path)
    keep = (lambda old: _put_in_trash(old, path, skill, copy)) if force or has_history else None
    make_folder(path, copy_of=skill.source, keep=keep)
    return note


def _is_current(copy: str, skill: Skill, digest: str) -> bool:
    """Return whether there is nothing to copy: the folder is as it was, or its copy changed alike [D53].

    Raise SkillExists for a copy of another folder, and if both changed, each in its own way.
    """
    folder, last = read_import(os.path.realpath(copy))
    if folder != skill.source:
        hint = f"hint: --force replaces it; 'skc build {copy}' builds the one that is there"
        raise SkillExists(skill.name, hint)
    if digest == last:
        return True
    current = digest_files(copy, hidden=True)
    if current not in (digest, last):
        hint = f"hint: both {folder} and its copy {copy} changed; 'skc build {copy}' builds the copy, "
        raise SkillExists(skill.name, f"{hint}--force replaces it by the folder")
    if current == digest:
        renew_import(os.path.realpath(copy), digest)  # or the next edit of the folder alone is a conflict
    return current == digest


def _put_in_trash(old: str, path: str, skill: Skill, copy: Skill) -> None:
    from skillc import trash  # rarely needed

    trash.put(old, f"replaced by an import of {skill.source}", origin=path, memory=remember(copy))
