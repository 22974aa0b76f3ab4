"""A registry with clients in this process, and served for clients of other makers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from skillc.mcp import create_registry_endpoint
from skillc.registry import SYSTEM, NewToken, Registry, Role, make_package, open_registry
from skillc.registry.model import Version
from skillc.server import ServerSettings, create_registry_app
from tests.support.client import AppClient
from tests.support.team import serve_registry


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
def running_team(folder: Path, *, has_mcp: bool = False, **options: Any) -> Iterator[Team]:
    """Give a registry that is served, as `skc serve` does with `has_mcp`."""
    if has_mcp:
        options["mounts"] = lambda service: {"/mcp": create_registry_endpoint(service)}
    with open_registry(str(folder / "registry.db")) as registry:
        team = Team(registry)
        with serve_registry(registry, **options) as (team.url, _):
            yield team
