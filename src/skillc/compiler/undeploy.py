"""Take a skill away from agents: the links, stubs and copies that `build` put into their folders.

What stands there and is not as skc deployed it stays: a link to elsewhere, another folder. A copy that was
edited goes to the trash [D52]. Of runtime directories goes what builds wrote, also for sources that are gone,
and nothing of a person's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from skillc import atomic, paths, trash
from skillc.compiler.agents import agent_directories
from skillc.compiler.build import lock_build, read_indexes
from skillc.compiler.deploy import digest_folder, source_of
from skillc.compiler.on_demand import is_on_demand
from skillc.contract import encode
from skillc.errors import Diagnostic, warning
from skillc.index.sections import UnreadableIndex, read_index_meta, read_manifest
from skillc.library import PROJECT, Skill
from skillc.library.records import (
    LEFT_OUT,
    LISTED,
    ON_DEMAND,
    DeploymentRecord,
    find_record_damage,
    find_switch,
    forget_deployments,
    read_deployments,
)
from skillc.text import utf8_text

MAX_STUB = 1 << 20  # bytes
INDEX_ENDINGS = (".db", ".db-wal", ".db-shm", ".db-journal")


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """The deployments that were taken away, and what was left or put in the trash instead."""

    records: tuple[DeploymentRecord, ...]
    diagnostics: tuple[Diagnostic, ...]


def find_deployments(skill: Skill) -> list[DeploymentRecord]:
    """Return where a skill is deployed: what is on record, and what an interrupted command left off it."""
    source = utf8_text(skill.source)
    records = {record.path: record for record in read_deployments() if record.source == source}
    for directory, target in agent_directories(skill.root if skill.scope == PROJECT else None).items():
        path = os.path.join(directory, skill.segment)
        if path not in records and (method := _method(skill, path)):
            state = ON_DEMAND if is_on_demand(path) else LISTED
            records[path] = DeploymentRecord(
                skill.name, source, skill.runtime(), target, path, method, "", state
            )
    return [record for record in records.values() if record.is_here]


def remember(skill: Skill, records: Sequence[DeploymentRecord] | None = None) -> dict[str, Any]:
    """Return what the trash remembers of a skill besides its files: where it was built and deployed [D67].

    `records` are its deployments, by default those that are there.
    """
    records = find_deployments(skill) if records is None else records
    return {
        "name": skill.name,
        "root": skill.root,
        "built": any(map(os.path.isfile, map(paths.manifest_file, skill.runtimes()))),
        "deployments": [record.as_json() for record in records],
        "switch": encode(find_switch(skill.source)),
    }


def _method(skill: Skill, path: str) -> str:
    """Return how a skill is deployed at a path; empty if it is not."""
    source = utf8_text(skill.source)
    if paths.is_link(path):
        # In the home, the folder for what a project builds there may hold the home's own skill of that name.
        own = [runtime for runtime in skill.runtimes() if source_of(runtime) in ("", source)]
        is_ours = os.path.realpath(path) in {skill.source, *_link_targets(*own)}
        return ("junction" if os.name == "nt" else "symlink") if is_ours else ""
    return "copy" if os.path.isdir(path) and source_of(path) == source else ""


def _link_targets(*runtimes: str) -> set[str]:
    """Return where links to a compiled skill lead: to the one that is listed, or the one on demand."""
    return {os.path.realpath(path) for each in runtimes for path in (each, paths.on_demand_directory(each))}


class DeploymentState(Enum):
    """What is at the place of a deployment: our link, our folder, an edited one, or something else."""

    LINK = "link"
    FOLDER = "folder"
    EDITED = "edited"
    OTHER = "other"
    LEFT_OUT = "on demand"
    GONE = "gone"


def inspect_deployment(record: DeploymentRecord) -> DeploymentState:
    """Return what is at the place of a deployment, whatever the record says, which may be damaged."""
    path = record.path
    if not os.path.lexists(path):
        return DeploymentState.LEFT_OUT if record.method == LEFT_OUT else DeploymentState.GONE
    if paths.is_link(path):
        is_ours = os.path.realpath(path) in {record.source, *_link_targets(record.runtime)}
        return DeploymentState.LINK if is_ours else DeploymentState.OTHER
    if not record.source or source_of(path) != record.source:
        return DeploymentState.OTHER
    return DeploymentState.FOLDER if _is_unchanged(record) else DeploymentState.EDITED


def withdraw(records: Sequence[DeploymentRecord], reason: str) -> Withdrawal:
    """Remove deployments from agents' folders and from the record; `reason` is for the trash."""
    # All are inspected first: one link may lead to another that goes before it.
    states = [(record, inspect_deployment(record)) for record in records]
    others = [record.path for record, state in states if state is DeploymentState.OTHER]
    diagnostics = [*find_record_damage(), *(warning("W091", path) for path in others)]
    ours = [each for each in states if each[1] not in (DeploymentState.OTHER, DeploymentState.GONE)]
    for record, state in ours:
        path = record.path
        if state is DeploymentState.LINK:
            os.rmdir(path) if record.method == "junction" else os.unlink(path)
        elif state is DeploymentState.FOLDER:
            temporary = atomic.temporary_path(path)
            os.rename(path, temporary)
            atomic.discard(temporary)
        elif state is DeploymentState.EDITED:
            diagnostics.append(warning("W092", path, trash.put(path, reason).id))
    forget_deployments(record.path for record in records)
    return Withdrawal(tuple(record for record, _ in ours), tuple(diagnostics))


def _is_unchanged(record: DeploymentRecord) -> bool:
    """Return whether a deployed copy holds what the build wrote, and nothing else."""
    own = os.path.dirname(paths.manifest_file(record.path))
    try:
        return os.listdir(own) == ["manifest.json"] and digest_folder(record.path) == record.digest
    except OSError:
        return False


def remove_runtime(skill: Skill, runtime: str, *, purge: bool = False) -> tuple[Diagnostic, ...]:
    """Remove the compiled form of a skill; its log stays without `purge`, and so does what is not ours.

    A stub that was edited and whatever a person put there go to the trash.
    """
    is_killed_build = not read_manifest(runtime) and os.path.exists(paths.index_file(runtime, skill.source))
    if not (source_of(runtime) == utf8_text(skill.source) or is_killed_build):
        return ()  # of another project's skill of that name, or none
    meta = paths.meta_directory(runtime)
    os.makedirs(meta, exist_ok=True)
    with lock_build(runtime):
        generated = find_generated(runtime, skill.source, [_stub_of_build(skill, runtime)])
        manifests = os.path.dirname(paths.manifest_file(runtime))
        if os.path.isdir(manifests) and os.listdir(manifests) == ["manifest.json"]:
            generated.append(manifests)  # last: it says that the folder is ours
        diagnostics: list[Diagnostic] = []
        for name in sorted(os.listdir(runtime)):
            path = os.path.join(runtime, name)
            if path not in (meta, *generated):
                item = trash.put(path, f"was in the compiled skill '{skill.name}'")
                diagnostics.append(warning("W092", path, item.id))
        for path in generated:
            atomic.discard(path)
    _remove_meta(meta, purge)
    return tuple(diagnostics)


def _stub_of_build(skill: Skill, runtime: str) -> bytes:
    """Return the stub that the last build wrote; empty if that is not known."""
    try:
        return read_index_meta(runtime, skill.source)["stub"].encode()
    except UnreadableIndex:
        return b""


def find_generated(runtime: str, source: str, stubs: Collection[bytes]) -> list[str]:
    """Return what a build wrote into a runtime directory: links into the source, and one of these stubs."""
    generated = []
    for name in sorted(os.listdir(runtime)):
        path = os.path.join(runtime, name)
        if os.path.islink(path):
            target = os.path.normpath(os.path.join(os.path.realpath(runtime), os.readlink(path)))
            is_ours = paths.is_inside(target, source)
        else:
            is_ours = path == paths.stub_file(runtime) and _read_stub(path) in stubs
        generated += [path] if is_ours else []
    return generated


def _read_stub(path: str) -> bytes | None:
    """Return the content of a stub; None for what can't be one."""
    try:
        return paths.read_regular(path, MAX_STUB)
    except OSError:
        return None


def _remove_meta(meta: str, purge: bool) -> None:
    """Remove the index, and with `purge` the log; then the directories that are empty."""
    for name in os.listdir(meta):
        is_log = name.startswith("logs.db")
        if purge or not is_log:
            atomic.discard(os.path.join(meta, name))
    for directory in (meta, os.path.dirname(meta)):
        try:
            os.rmdir(directory)
        except OSError:
            return


@dataclass(frozen=True, slots=True)
class OrphanedBuild:
    """A build of a `source` that is gone, or only an index of it, which `what` says; `files` can be removed.

    The manifest is the last of them: without it there is no build. An `edited_stub` is not one of them.
    """

    what: str
    path: str
    source: str
    files: tuple[str, ...]
    edited_stub: str = ""


def find_orphaned_builds(runtime: str, is_gone: Callable[[str], bool]) -> Iterator[OrphanedBuild]:
    """Yield the build in a runtime directory if its source is gone, else its indexes of sources that are."""
    source, indexes = source_of(runtime), read_indexes(runtime)
    orphans = {path: place for path, meta in indexes.items() if is_gone(place := meta.get("skill_path", ""))}
    if os.path.isabs(source) and is_gone(source):
        stubs = [meta.get("stub", "").encode("utf-8", "surrogateescape") for meta in indexes.values()]
        files = [file for path in orphans for file in _index_files(path)]
        files += [*find_generated(runtime, source, stubs), paths.manifest_file(runtime)]
        stub = paths.stub_file(runtime)
        edited = stub if os.path.lexists(stub) and stub not in files else ""
        yield OrphanedBuild("build", runtime, source, tuple(files), edited)
        return
    for path, place in orphans.items():
        if os.path.isabs(place):
            yield OrphanedBuild("index", path, place, tuple(_index_files(path)))


def _index_files(path: str) -> list[str]:
    files = [path.removesuffix(".db") + ending for ending in INDEX_ENDINGS]
    return [file for file in files if os.path.lexists(file)]
