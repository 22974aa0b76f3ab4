"""Put a version of a skill into a store, and build and deploy it as its lock entry says."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from skillc import atomic, paths, trash
from skillc.compiler import PublishOptions, create_store, find_targets, publish_skill
from skillc.errors import Diagnostic, SkillcError, TargetExists, warning
from skillc.install.entry import COPY, LockEntry
from skillc.install.hash import compute_hash
from skillc.install.lock import is_home
from skillc.install.names import store_folder
from skillc.install.versions import find_version
from skillc.library import GLOBAL, PROJECT, Skill, record_import
from skillc.settings import load_settings
from skillc.skills import make_folder

if TYPE_CHECKING:
    from skillc.compiler import Publication

DEFAULT_TARGET = "claude"  # as of 'skc build'


def put_folder(
    root: str, name: str, folder: str, *, origin: str, digest: str, reason: str
) -> list[Diagnostic]:
    """Replace a skill in a store by a folder, complete or not at all; return warnings.

    What was there goes to the trash unless skc itself put it there unchanged. The skill stays untrusted until
    a person adopts it.
    """
    path = store_folder(root, name)
    check_store(root)
    create_store(root)
    atomic.sweep(os.path.dirname(path))
    has_edits = os.path.lexists(path) and is_edited(path)
    diagnostics = [keep_in_trash(path, reason)] if has_edits else []
    record_import(
        os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)), origin, digest
    )
    make_folder(path, copy_of=folder)
    return diagnostics


def check_store(root: str) -> None:
    """Refuse a project's store that is a link out of the project: a clone may bring it."""
    folder = paths.skills_store(root)
    real = os.path.realpath(folder)
    if not is_home(root) and not paths.is_inside(real, os.path.realpath(root)):
        raise SkillcError(f"'{folder}' leads to '{real}', outside of the project; remove the link")


def keep_in_trash(path: str, reason: str) -> Diagnostic:
    """Put a copy of a folder in the trash, so that it can be replaced in one step; return what to tell."""
    temporary = atomic.temporary_path(path)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.copytree(path, temporary, symlinks=True)
        else:
            shutil.copy2(path, temporary, follow_symlinks=False)
        return warning("W007", path, trash.put(temporary, reason, origin=path).id)
    finally:
        atomic.discard(temporary)


def is_edited(path: str) -> bool:
    """Return whether a folder in a store is anything else than a version as it was installed."""
    if os.path.islink(path) or not os.path.isdir(path) or os.path.lexists(os.path.join(path, ".git")):
        return True
    return find_version(compute_hash(path)) is None


def skill_of(root: str, name: str) -> Skill:
    """Return a skill of a store by its name in the lock."""
    path = store_folder(root, name)
    scope = GLOBAL if is_home(root) else PROJECT
    return Skill(os.path.basename(path), os.path.realpath(path), scope, root, is_stored=True)


def publish_entry(root: str, entry: LockEntry) -> tuple[list[str], list[Diagnostic], list[SkillcError]]:
    """Build a skill and deploy it to the targets of its entry; return what has to exist now."""
    scope = "user" if is_home(root) else "project"
    names = ",".join(entry.targets) or DEFAULT_TARGET
    options = PublishOptions(find_targets(names, scope, root), copy=entry.own_text("mode") == COPY)
    skill = skill_of(root, entry.name)
    publication: Publication = publish_skill(skill, options, load_settings(root), root)
    places = [each.path for each in publication.deployments]
    places.append(paths.manifest_file(publication.build.runtime))
    failures = list(publication.failures)
    if not entry.targets:  # of another tool, which may have put the skill there itself
        failures = [error for error in failures if not isinstance(error, TargetExists)]
    return places, list(publication.diagnostics), failures
