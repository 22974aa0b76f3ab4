"""Take a skill away from agents: the links, stubs and copies that `build` put into their folders.

What stands there and is not as skc deployed it stays: a link to elsewhere, another folder. A copy that was
edited goes to the trash [D52].
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillc import atomic, paths, trash
from skillc.compiler.agents import read_agents
from skillc.compiler.deploy import digest_folder, is_link
from skillc.errors import Diagnostic, warning
from skillc.index.sections import UnreadableIndex, parse_manifest, read_index_meta, read_manifest
from skillc.library import (
    PROJECT,
    DeploymentRecord,
    Skill,
    find_record_damage,
    forget_deployments,
    read_deployments,
)
from skillc.text import utf8_text


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """The deployments that were taken away, and what was left or put in the trash instead."""

    records: tuple[DeploymentRecord, ...]
    diagnostics: tuple[Diagnostic, ...]


def find_deployments(skill: Skill) -> list[DeploymentRecord]:
    """Return where a skill is deployed: what is on record, and what an interrupted command left off it."""
    source = utf8_text(skill.source)
    records = {record.path: record for record in read_deployments() if record.source == source}
    for target, directory in agent_directories(skill):
        path = os.path.join(directory, skill.segment)
        if path not in records and (method := _method(skill, path)):
            records[path] = DeploymentRecord(
                skill.name, source, skill.runtime(), target, path, method, digest=""
            )
    return [record for record in records.values() if os.path.lexists(record.path)]


def agent_directories(skill: Skill) -> list[tuple[str, str]]:
    """Return the directories in which agents may have this skill, each after the name of an agent."""
    home, project = paths.user_home(), skill.root if skill.scope == PROJECT else None
    places: dict[str, str] = {}
    for agent in read_agents():
        for root, directory in ((home, agent.user), (project, agent.project)):
            if root and directory:
                places.setdefault(os.path.join(root, *directory.split("/")), agent.name)
    return [(name, directory) for directory, name in places.items()]


def _method(skill: Skill, path: str) -> str:
    """Return how a skill is deployed at a path; empty if it is not."""
    if is_link(path):
        is_ours = os.path.realpath(path) in _own_folders(skill.source, skill.runtimes())
        return ("junction" if os.name == "nt" else "symlink") if is_ours else ""
    return "copy" if os.path.isdir(path) and _is_copy(skill.source, path) else ""


def _own_folders(source: str, runtimes: Iterable[str]) -> set[str]:
    return {source, *map(os.path.realpath, runtimes)}


def _is_copy(source: str, path: str) -> bool:
    return parse_manifest(read_manifest(path)).get("source") == utf8_text(source)


def withdraw(records: Sequence[DeploymentRecord], reason: str) -> Withdrawal:
    """Remove deployments from agents' folders and from the record; `reason` is for the trash."""
    ours = [record for record in records if _is_ours(record)]  # one link may lead to another that goes first
    others = [record.path for record in records if record not in ours and os.path.lexists(record.path)]
    diagnostics = [*find_record_damage(), *(warning("W091", path) for path in others)]
    for record in ours:
        path = record.path
        if is_link(path):
            os.rmdir(path) if record.method == "junction" else os.unlink(path)
        elif _is_unchanged(record):
            temporary = atomic.temporary_path(path)
            os.rename(path, temporary)
            atomic.discard(temporary)
        else:
            diagnostics.append(warning("W092", path, trash.put(path, reason).id))
    forget_deployments(record.path for record in records)
    return Withdrawal(tuple(ours), tuple(diagnostics))


def _is_ours(record: DeploymentRecord) -> bool:
    """Return whether what stands at the path of a deployment is what skc put there, edited or not."""
    if is_link(record.path):
        return os.path.realpath(record.path) in _own_folders(record.source, [record.runtime])
    return os.path.isdir(record.path) and _is_copy(record.source, record.path)


def _is_unchanged(record: DeploymentRecord) -> bool:
    """Return whether a deployed copy holds what the build wrote, and nothing else."""
    own = os.listdir(os.path.dirname(paths.manifest_file(record.path)))
    return own == ["manifest.json"] and digest_folder(record.path) == record.digest


def remove_runtime(skill: Skill, runtime: str, *, purge: bool = False) -> tuple[Diagnostic, ...]:
    """Remove the compiled form of a skill; its log stays without `purge`, and so does what is not ours.

    A stub that was edited and whatever a person put there go to the trash.
    """
    is_killed_build = not read_manifest(runtime) and os.path.exists(paths.index_file(runtime, skill.source))
    if not (_is_copy(skill.source, runtime) or is_killed_build):
        return ()  # of another project's skill of that name, or none
    meta = paths.meta_directory(runtime)
    os.makedirs(meta, exist_ok=True)
    with atomic.Lock(os.path.join(meta, "build.lock")):
        stub = _stub_of_build(skill, runtime)
        diagnostics: list[Diagnostic] = []
        with os.scandir(runtime) as scan:
            entries = [entry for entry in scan if entry.path != meta]
        manifests = os.path.dirname(paths.manifest_file(runtime))
        entries.sort(key=lambda entry: entry.path == manifests)  # last: it says that the folder is ours
        for entry in entries:
            if _is_generated(entry, skill.source, stub, manifests):
                atomic.discard(entry.path)
            else:
                item = trash.put(entry.path, f"was in the compiled skill '{skill.name}'")
                diagnostics.append(warning("W092", entry.path, item.id))
    _remove_meta(meta, purge)
    return tuple(diagnostics)


def _stub_of_build(skill: Skill, runtime: str) -> bytes:
    """Return the stub that the last build wrote; empty if that is not known."""
    try:
        return read_index_meta(runtime, skill.source)["stub"].encode()
    except UnreadableIndex:
        return b""


def _is_generated(entry: os.DirEntry[str], source: str, stub: bytes, manifests: str) -> bool:
    """Return whether a build wrote this entry of a runtime directory."""
    if entry.is_symlink():
        return paths.is_inside(_link_target(entry.path), source)
    if entry.path == manifests:
        return os.listdir(entry.path) == ["manifest.json"]
    if entry.name == paths.SKILL_FILE:
        with open(entry.path, "rb") as file:
            return file.read(len(stub) + 1) == stub
    return False


def _link_target(path: str) -> str:
    directory = os.path.realpath(os.path.dirname(path))
    return os.path.normpath(os.path.join(directory, os.readlink(path)))


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
