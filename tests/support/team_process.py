"""A registry with `skc serve` as a process over it, as teams run one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from skillc.contract import encode
from skillc.errors import SkillNotFound
from skillc.registry import SYSTEM, NewToken, Registry, Role, make_package, open_registry
from skillc.registry.model import Version
from skillc.server import ServerSettings, create_registry_app
from skillc.server.api.contracts import describe_versions
from tests.support.client import AppClient
from tests.support.forks import serving_skc


class Team:
    """A registry in a folder, and the address of a server over it."""

    def __init__(self, registry: Registry, url: str = "") -> None:
        self.registry = registry
        self.url = url
        first = registry.accounts.create_first_admin()
        assert first is not None
        self.admin = first.secret

    def publish(self, skill_id: str, version: str = "", text: str = "Text.", **files: bytes) -> Version:
        """Publish a skill; `files` are further ones, `__` for the dot and `___` for the slash."""
        name = skill_id.rpartition("/")[2]
        main = f"---\nname: {name}\ndescription: What {name} is for\n---\n# {name}\n\n{text}\n"
        more = {key.replace("___", "/").replace("__", "."): data for key, data in files.items()}
        package = make_package(skill_id, {"SKILL.md": main.encode(), **more})
        return self.registry.publish(SYSTEM, package, version=version)

    def token(self, role: Role = Role.READER, prefix: str = "") -> NewToken:
        return self.registry.accounts.create_token(
            self.registry.accounts.authenticate(self.admin), role, prefix
        )

    def settle(self, skill_id: str) -> None:
        """Wait until the server has seen what this process did to a skill."""
        expected: tuple[int, object]
        try:
            versions = describe_versions(self.registry.skill(SYSTEM, skill_id))
            expected = (200, {"versions": encode(versions)})
        except SkillNotFound:
            expected = (404, None)
        with self.client(self.admin) as client:
            end = time.monotonic() + 30
            while time.monotonic() < end:
                response = client.get(f"/skills/{skill_id}/versions")
                if (response.status_code, response.json() if response.is_success else None) == expected:
                    return
                time.sleep(0.1)
        raise AssertionError(f"the server did not see the change of {skill_id}: {response.text}")

    def settle_search(self, task: str) -> None:
        """Wait until the server's index, which follows the log, has a skill for a task."""
        with self.client(self.admin) as client:
            end = time.monotonic() + 30
            while not client.get("/search", params={"q": task}).json()["results"]:
                assert time.monotonic() < end, task
                time.sleep(0.1)

    def client(self, token: str = "") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def with_token(self, token: str, path: str = "") -> str:
        """Return the address with a token in it, as `skc add` and git take one."""
        return self.url.replace("http://", f"http://token:{token}@") + path


def client(team: Team, token: str = "", **settings: Any) -> AppClient:
    """A client of an application over a team's registry, in this process; an admin without a token."""
    app = create_registry_app(team.registry, ServerSettings(**settings))
    return AppClient(app, headers={"Authorization": f"Bearer {token or team.admin}"})


@contextmanager
def running_team(folder: Path, *, public: bool = False) -> Iterator[Team]:
    """Give a registry with `skc serve` over it; `public` lets all read."""
    store = str(folder / "registry.db")
    words = ["serve", "--store", store, "--port", "0", "--no-request-log"]
    with open_registry(store) as registry:
        team = Team(registry)
        words += ["--public-read"] if public else []
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
        with serving_skc(words, cwd=folder, env=env) as (team.url, process):
            yield team
        assert process.wait(60) == 0
