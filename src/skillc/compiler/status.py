"""The status of a skill's builds (RFC-0007), and stubs that were edited."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from skillc.compiler.deploy import digest_folder, is_file_with, source_of
from skillc.errors import SkillcError
from skillc.index.sections import (
    UnreadableIndex,
    is_of_build,
    is_replaced,
    parse_manifest,
    read_index_meta,
    read_manifest,
)
from skillc.library import Skill
from skillc.library.records import DeploymentRecord
from skillc.paths import index_file, manifest_file, stub_file
from skillc.skills import hash_source, list_files
from skillc.skills.document import parse, read_main_file, read_metadata
from skillc.startup import file_sha256_hex
from skillc.text import utf8_text

NORMAL, NOT_BUILT, OBSOLETE = "normal", "not-built", "obsolete"


def find_damage(skill: Skill, records: Iterable[DeploymentRecord] = ()) -> tuple[list[str], list[str]]:
    """Return the stubs and the manifests of a skill's builds that are not as skc wrote them.

    Stubs are looked at in runtime directories, and in those copies that `records` has.
    """
    stubs = [stub_file(runtime) for runtime in find_edited_builds(skill)]
    copies = [record for record in records if record.method == "copy"]
    stubs += [stub_file(r.path) for r in copies if digest_folder(r.path) != r.digest]
    manifests = [
        manifest_file(runtime)
        for runtime, meta in _find_builds(skill)
        if (data := read_manifest(runtime)) != meta["manifest"].encode() and not is_replaced(meta, data)
    ]
    return stubs, manifests


def find_edited_builds(skill: Skill) -> list[str]:
    """Return the runtime directories of a skill whose stub is not as the last build wrote it."""
    builds = ((runtime, meta["stub"].encode()) for runtime, meta in _find_builds(skill))
    return [runtime for runtime, stub in builds if not is_file_with(stub_file(runtime), stub)]


def _find_builds(skill: Skill) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the runtime directories that have a build of a skill, whatever the manifest says, and its index.

    One in which another skill of that name was built since is that skill's.
    """
    for runtime in skill.runtimes():
        source = source_of(runtime)
        if source not in ("", utf8_text(skill.source)) and os.path.exists(index_file(runtime, source)):
            continue
        try:
            meta = read_index_meta(runtime, skill.source)
        except UnreadableIndex:
            continue  # reading commands say so
        if "stub" in meta and "manifest" in meta:
            yield runtime, meta


def find_problem(skill: Skill) -> SkillcError | None:
    """Return the error that loading a SKILL.md raises."""
    try:
        read_metadata(parse(read_main_file(skill.source)), skill.name)
    except OSError as error:
        return SkillcError(f"cannot read SKILL.md: {error.strerror}")
    except SkillcError as error:
        return error
    return None


def find_build(skill: Skill, *, compare: bool = True) -> tuple[str, str]:
    """Return status and runtime directory of the first build of a skill, else of the one to build in.

    Only with `compare` its files are read, for whether it is obsolete.
    """
    stores = skill.runtime_stores()
    for store in stores:
        runtime = os.path.join(store, skill.folder)
        fields = parse_manifest(data) if (data := read_manifest(runtime)) else {}
        digest = fields.get("source_hash")
        # A runtime directory of the same name may hold another project's skill.
        is_same = fields.get("source", skill.source) == utf8_text(skill.source)
        if is_same and digest and isinstance(digest, str):
            is_obsolete = compare and _current_hash(skill) != _build_hash(skill, runtime, digest)
            return OBSOLETE if is_obsolete else NORMAL, runtime
    return NOT_BUILT, os.path.join(stores[0] if stores else "", skill.folder)


def _build_hash(skill: Skill, runtime: str, digest: str) -> str:
    """Return the hash of the last build, also of one that was killed before it wrote its manifest."""
    try:
        meta = read_index_meta(runtime, skill.source)
    except UnreadableIndex:
        return digest
    return meta["source_hash"] if is_of_build(meta, read_manifest(runtime)) else digest


def _current_hash(skill: Skill) -> str | None:
    """Return the hash of a skill's files as they are now; None if they can't be read."""
    digests = []
    try:
        for source in list_files(skill.source, strict=True):
            with open(source.path, "rb") as file:
                digests.append((source.name, file_sha256_hex(file, source.size)))
        return hash_source(digests)
    except (OSError, SkillcError):
        return None
