"""Say what installed skills need of each other, and list them as parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillc import paths
from skillc.contract import KEY, hidden
from skillc.errors import SkillcError
from skillc.install.entry import LockEntry
from skillc.install.lock import find_root, read_lock, store_folder
from skillc.library import Skill, resolve_installed, stored_skills
from skillc.origins import (
    Installed,
    Part,
    find_licence,
    find_requirers,
    make_document,
    read_requirements,
)
from skillc.skills.document import parse, read_main_file, read_metadata
from skillc.surface import Here
from skillc.text import one_line


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a skill is here: those that need it, and those that it was brought along for."""

    id: str
    required_by: tuple[str, ...] = field(metadata={KEY: "requiredBy"})
    brought_for: tuple[str, ...] = hidden(())

    def lines(self) -> Iterator[str]:
        if self.required_by:
            yield one_line(f"'{self.id}' is needed by {', '.join(self.required_by)}")
        else:
            yield one_line(f"No installed skill needs '{self.id}'")
        former = [name for name in self.brought_for if name not in self.required_by]
        if former:
            yield one_line(f"  it came along with {', '.join(former)}, which does not need it any more")


def read_installed(root: str) -> list[Installed]:
    """Return the skills of a store as requirements look at them, also those that no lock has."""
    entries, real = read_lock(root), os.path.realpath(root)
    skills = [skill for skill in stored_skills(root) if os.path.realpath(skill.root) == real]
    return [_describe(skill, entries.get(skill.name)) for skill in skills]


def _describe(skill: Skill, entry: LockEntry | None) -> Installed:
    if entry is None:
        return describe(skill.segment, skill.source)
    inside = os.path.dirname(entry.text("skillPath"))
    source = f"{entry.text('source')}/{inside}" if inside else entry.text("source")
    return describe(skill.segment, skill.source, source, entry.own_text("version"), entry.requires)


def describe(
    name: str, folder: str, source: str = "", version: str = "", requires: Iterable[str] = ()
) -> Installed:
    """Return a skill as requirements look at it; without a `version`, that which it says of itself."""
    if not version:
        metadata = _read_fields(folder).get("metadata")
        own = metadata.get("version") if isinstance(metadata, dict) else None
        version = str(own) if isinstance(own, str | int | float) and not isinstance(own, bool) else ""
    return Installed(name, source, version, read_requirements(folder, requires))


def _read_fields(folder: str) -> Mapping[str, Any]:
    """Return the frontmatter of a skill; an empty one where it can't be read."""
    try:
        return read_metadata(parse(read_main_file(folder)), os.path.basename(folder)).fields
    except (SkillcError, OSError):
        return {}


def find_reasons(here: Here, name: str, *, is_global: bool = False) -> Reasons:
    """Return which installed skills need one; raises SkillNotFound."""
    skill = resolve_installed(name, here.cwd)
    root = paths.require_home() if is_global else skill.root
    entry = read_lock(root).get(skill.segment)
    requirers = find_requirers(read_installed(root), skill.segment)
    return Reasons(skill.name, tuple(requirers), tuple(entry.required_by if entry else ()))


def export_parts(here: Here, *, is_global: bool = False) -> dict[str, Any]:
    """Return the locked skills as a document of CycloneDX."""
    root = find_root(here.cwd, is_global=is_global)
    skills = {skill.name: skill for skill in read_installed(root)}
    parts = [_make_part(root, entry, skills) for _, entry in sorted(read_lock(root).items())]
    name = "home" if paths.is_home(root) else os.path.basename(os.path.realpath(root)) or "project"
    return make_document(parts, name)


def _make_part(root: str, entry: LockEntry, skills: Mapping[str, Installed]) -> Part:
    folder = store_folder(root, entry.name)
    fields, skill = _read_fields(folder), skills.get(entry.name)
    needs = [each.short_name for each in skill.requirements.skills] if skill else []
    return Part(
        entry.name,
        str(fields.get("description") or ""),
        (skill.version if skill else "") or entry.text("ref"),
        entry.content,
        find_licence(folder, fields.get("license")),
        entry.text("source"),
        entry.text("source") if entry.text("sourceType") == "github" else "",
        os.path.dirname(entry.text("skillPath")),
        entry.commit,
        entry.own_text("resolved"),
        entry.signer,
        tuple(name for name in needs if name in skills),
    )
