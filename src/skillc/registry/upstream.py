"""Read skills of elsewhere, to mirror them: another registry by its API, or a git repository."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Protocol

from skillc.errors import (
    ArchiveRefused,
    InvalidParameter,
    InvalidSkill,
    MissingField,
    RegistryRefused,
    RegistryUnavailable,
    RepositoryUnavailable,
    SkillNotFound,
    WrongDigest,
)
from skillc.library import GitSkillSource
from skillc.registry.package import Package, read_package
from skillc.remotes import Failure, RegistryApi, find_token
from skillc.remotes.git import GitRef, GitSkillConfig
from skillc.skills import SkillId
from skillc.versions import LATEST, parse_version

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
        api = RegistryApi(self._url, find_token(f"{self.name}/"), time_out=TIME_OUT)
        with api, TemporaryDirectory(prefix="skillc-mirror-") as place:
            folder = os.path.join(place, "skill")
            try:
                version = next((each for each in api.versions(skill_id) if LATEST in each.tags), None)
                if version is None:
                    raise SkillNotFound(skill_id)
                api.fetch(version, folder)
                number, package = parse_version(version.version), read_package(local_id, folder)
            except (ArchiveRefused, InvalidParameter, InvalidSkill, MissingField, WrongDigest) as error:
                raise RegistryUnavailable(self.name, f"it has no proper skill: {error.message}") from None
            except Failure as error:
                raise RegistryUnavailable(self.name, f"it has no proper skill: {error}") from None
            except RegistryRefused as error:
                raise RegistryUnavailable(self.name, error.message) from None
        return Import(package, number, f"{self.name} {skill_id}@{version.version}")


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
