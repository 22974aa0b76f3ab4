"""Read skills of elsewhere, to mirror them: another registry by its API, or a git repository."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from skillc.errors import (
    InvalidParameter,
    InvalidSkill,
    MissingField,
    RegistryRefused,
    RegistryUnavailable,
    RepositoryUnavailable,
    SkillNotFound,
)
from skillc.library import GitSkillSource
from skillc.registry.model import digest_of
from skillc.registry.package import MAX_BYTES, MAX_FILES, Package, make_package, read_package
from skillc.remotes import GitRef, GitSkillConfig, RegistryApi, RemoteFile, RemoteSkill, find_token
from skillc.skills import SkillId
from skillc.versions import parse_version, precedence

TIME_OUT = 15.0  # seconds that a reader waits for another server, for each answer


@dataclass(frozen=True, slots=True)
class Import:
    """A skill of elsewhere as it is to be published here: its files, its number if it has one, its origin."""

    package: Package
    version: str
    origin: str


class Upstream(Protocol):
    """Where a mirror gets skills from. `name` is its address without secrets."""

    name: str

    def read(self, skill_id: str, local_id: str) -> Import:
        """Return the latest version of a skill under another ID.

        Raises SkillNotFound where it has none, and RegistryUnavailable where it does not answer.
        """
        ...


class RegistryUpstream:
    """Another registry. Its token is that of `skc login` there, or none."""

    def __init__(self, url: str) -> None:
        self._url = url
        with RegistryApi(url) as api:
            self.name = api.registry

    def read(self, skill_id: str, local_id: str) -> Import:
        with RegistryApi(self._url, find_token(f"{self.name}/"), time_out=TIME_OUT) as api:
            try:
                version = _choose(api.versions(skill_id), skill_id)
                files = api.files(skill_id, version.version)
                package = _download(api, skill_id, local_id, version, files)
            except (InvalidParameter, InvalidSkill, MissingField) as error:
                raise RegistryUnavailable(self.name, f"it has no proper skill: {error.message}") from None
            except RegistryRefused as error:
                raise RegistryUnavailable(self.name, error.message) from None
        return Import(package, parse_version(version.version), f"{self.name} {skill_id}@{version.version}")


def _choose(versions: Sequence[RemoteSkill], skill_id: str) -> RemoteSkill:
    """Return the version tagged latest, or the highest; none that was yanked."""
    offered = [version for version in versions if version.yanked is None]
    tagged = next((version for version in offered if "latest" in version.tags), None)
    best = tagged or max(offered, key=lambda each: precedence(parse_version(each.version)), default=None)
    if best is None:
        raise SkillNotFound(skill_id)
    return best


def _download(
    api: RegistryApi, skill_id: str, local_id: str, version: RemoteSkill, files: Sequence[RemoteFile]
) -> Package:
    """Return the package of a version; each file, and all of them, have the digests that were promised."""
    sizes = [file.size for file in files]
    if len(files) > MAX_FILES or min(sizes, default=-1) < 0 or sum(sizes) > MAX_BYTES:
        raise InvalidSkill(skill_id, "its files are too many or too large")
    contents: dict[str, bytes] = {}
    for file in files:
        path = f"skills/{quote(SkillId(skill_id), safe='')}/files/{quote(file.path, safe='')}"
        data = api.get(path, {"version": version.version}, limit=file.size + 1).data
        if len(data) != file.size or digest_of(data) != file.digest:
            raise InvalidSkill(skill_id, f"'{file.path}' is not the file that was promised")
        contents[file.path] = data
    package = make_package(local_id, contents, {file.path for file in files if file.is_executable})
    if package.digest != version.digest:
        raise InvalidSkill(skill_id, "its files are not those of the version")
    return package


class GitUpstream:
    """A git repository: the skills below a folder of it, at a branch, a tag or a commit."""

    def __init__(
        self, url: str, ref: GitRef | None = None, folder: str = "", cache: str | None = None
    ) -> None:
        config = GitSkillConfig(url, ref or GitRef(), cache, folder or None, time_out=TIME_OUT)
        self._source = GitSkillSource(config)
        self.name = config.remote().url

    def read(self, skill_id: str, local_id: str) -> Import:
        try:
            directory = asyncio.run(self._source.directory(SkillId(skill_id)))
            package = read_package(local_id, directory)
        except (RepositoryUnavailable, OSError) as error:
            reason = (
                error.reason if isinstance(error, RepositoryUnavailable) else os.strerror(error.errno or 0)
            )
            raise RegistryUnavailable(self.name, reason) from None
        except (InvalidSkill, MissingField) as error:
            raise RegistryUnavailable(self.name, f"it has no proper skill: {error.message}") from None
        return Import(package, "", f"{self.name} {skill_id} at {self._source.commit or 'an unknown commit'}")
