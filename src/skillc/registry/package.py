"""Read what is published: the files of one skill at one moment, their digests, and an archive of them.

The same files make the same archive, byte by byte: sorted names, no times, no owners.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from skillc.errors import InvalidSkill
from skillc.paths import MAX_SKILL_FILE, SKILL_FILES
from skillc.registry.model.model import StoredFile, digest_of
from skillc.skills import (
    SkillId,
    digest_contents,
    find_collision,
    hash_source,
    is_portable,
    list_files,
    open_inside,
)
from skillc.skills.document import Document, parse, read_metadata
from skillc.versions import parse_version

MAX_FILES = 10_000
MAX_BYTES = 64 << 20  # of all files; they are in memory while they are published
MAX_NAME = 255  # characters of a name in an error

_NUMBER = re.compile(r"(?<![\w.-])[\"']?version[\"']?[ \t]*:[ \t]*(\d+\.\d+)")


@dataclass(frozen=True)
class Package:
    """The files of a skill with their bytes, checked: every system can hold them."""

    skill: SkillId
    contents: Mapping[str, bytes]
    files: tuple[StoredFile, ...]
    document: Document

    @cached_property
    def frontmatter(self) -> Mapping[str, Any]:
        return read_metadata(self.document, self.skill.name).fields

    @cached_property
    def digest(self) -> str:
        """The digest of the skill's source, as lock files have it [D3]."""
        pairs = ((file.path, file.digest.partition(":")[2]) for file in self.files)
        return f"sha256:{hash_source(pairs)}"

    @cached_property
    def content_digest(self) -> str:
        """The digest of all files with their modes [D64], in hexadecimal, which is what is attested."""
        return digest_contents((f.path, f.is_executable, self.contents[f.path]) for f in self.files)

    @cached_property
    def version(self) -> str:
        """The version in the frontmatter, at `metadata.version`; empty without one."""
        metadata = self.frontmatter.get("metadata")
        version = metadata.get("version") if isinstance(metadata, dict) else None
        if isinstance(version, float) and self.document.frontmatter is not None:  # 1.10 is not 1.1
            numbers = _NUMBER.findall(self.document.frontmatter.raw)
            version = next((number for number in numbers if float(number) == version), version)
        if version is None or isinstance(version, bool | list | dict):
            return ""
        return parse_version(str(version))

    @cached_property
    def archive(self) -> bytes:
        """The files as .tar.gz, with SKILL.md at its root."""
        return make_archive((file, self.contents[file.path]) for file in self.files)

    def blobs(self) -> dict[str, bytes]:
        """Return everything to store, by digest."""
        blobs = {file.digest: self.contents[file.path] for file in self.files}
        return {**blobs, digest_of(self.archive): self.archive}


def make_archive(files: Iterable[tuple[StoredFile, bytes]]) -> bytes:
    """Return files as .tar.gz, the same bytes for the same files."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for file, data in files:
            member = tarfile.TarInfo(file.path)
            member.size, member.mode = len(data), 0o755 if file.is_executable else 0o644
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def read_package(skill_id: str, folder: str) -> Package:
    """Read the skill in a folder; raises InvalidSkill, MissingField or PathEscapes."""
    contents: dict[str, bytes] = {}
    executable, size = set(), 0
    try:
        names = [file.name for file in list_files(folder, strict=True)]
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidSkill(folder) from None
    for file in names:
        with os.fdopen(open_inside(folder, file), "rb") as stream:
            data = stream.read(MAX_BYTES - size + 1)
            if stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o111:
                executable.add(file)
        size += len(data)
        _check_size(folder, len(contents), size)
        contents[file] = data
    return make_package(skill_id, contents, executable)


def make_package(skill_id: str, contents: Mapping[str, bytes], executable: set[str] | None = None) -> Package:
    """Return the package of these files; raises InvalidSkill or MissingField."""
    skill = SkillId(skill_id)
    _check_size(skill, len(contents), sum(map(len, contents.values())))
    main = next((name for name in SKILL_FILES if name in contents), None)
    if main is None:
        raise InvalidSkill(skill)
    if len(contents[main]) > MAX_SKILL_FILE:
        raise InvalidSkill(skill, f"{main} is over {MAX_SKILL_FILE >> 20} MiB")
    _check_names(skill, contents)
    names = sorted(contents, key=str.encode)
    package = Package(
        skill,
        dict(contents),
        tuple(
            StoredFile(name, len(contents[name]), digest_of(contents[name]), name in (executable or ()))
            for name in names
        ),
        parse(contents[main]),
    )
    assert package.frontmatter is not None  # raises MissingField now, not later
    return package


def _check_size(skill: str, count: int, size: int) -> None:
    if count > MAX_FILES:
        raise InvalidSkill(skill, f"more than {MAX_FILES} files")
    if size > MAX_BYTES:
        raise InvalidSkill(skill, f"more than {MAX_BYTES >> 20} MiB")


def _check_names(skill: str, names: Mapping[str, bytes]) -> None:
    """Raise InvalidSkill for a file that some system can't hold, or holds for another one."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InvalidSkill(skill, f"the name of '{name}' is not UTF-8") from None
        if not is_portable(name):
            raise InvalidSkill(skill, f"not every system can hold a file '{name[:MAX_NAME]}'")
    if collision := find_collision(names):
        raise InvalidSkill(skill, f"'{collision[0]}' and '{collision[1]}' are one name on some systems")
