"""Say what installed skills need of each other, and list them as parts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
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
from skillc.skills.document import Metadata, parse, read_main_file, read_metadata
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
    entries = read_lock(root)
    return [_describe(skill, entries.get(skill.name)) for skill in _skills_of(root)]


def _skills_of(root: str) -> Iterator[Skill]:
    real = os.path.realpath(root)
    return (skill for skill in stored_skills(root) if os.path.realpath(skill.root) == real)


def _describe(skill: Skill, entry: LockEntry | None) -> Installed:
    source = entry.text("source") if entry else ""
    path = os.path.dirname(entry.text("skillPath")) if entry else ""
    version = entry.own_text("version") if entry else ""
    whole = f"{source}/{path}" if path else source
    requirements = read_requirements(skill.source, entry.requires if entry else ())
    return Installed(skill.segment, whole, version or _own_version(skill), requirements)


def _own_version(skill: Skill) -> str:
    """Return the version that a skill says of itself; empty where it says none."""
    metadata = _fields(skill.source).get("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    return str(version) if isinstance(version, str | int | float) and not isinstance(version, bool) else ""


def _read(folder: str) -> Metadata | None:
    try:
        return read_metadata(parse(read_main_file(folder)), os.path.basename(folder))
    except (SkillcError, OSError):
        return None


def _fields(folder: str) -> Mapping[str, Any]:
    metadata = _read(folder)
    return metadata.fields if metadata else {}


def find_reasons(here: Here, name: str, *, is_global: bool = False) -> Reasons:
    """Return which installed skills need one; raises SkillNotFound."""
    skill = resolve_installed(name, here.cwd)
    root = paths.require_home() if is_global else skill.root
    skills = read_installed(root)
    own = next((each for each in skills if each.name == skill.segment), None)
    entry = read_lock(root).get(skill.segment)
    requirers = find_requirers(skills, skill.segment, own.source if own else "")
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
    metadata, skill = _read(folder), skills.get(entry.name)
    needs = [each.short_name for each in skill.requirements.skills] if skill else []
    return Part(
        entry.name,
        metadata.description if metadata else "",
        entry.own_text("version") or entry.text("ref"),
        entry.content,
        find_licence(folder, metadata.fields.get("license") if metadata else None),
        entry.text("source"),
        entry.text("source") if entry.text("sourceType") == "github" else "",
        os.path.dirname(entry.text("skillPath")),
        entry.commit,
        entry.own_text("resolved"),
        entry.signer,
        tuple(name for name in needs if name in skills),
    )
