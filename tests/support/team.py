"""A registry of a team: the real application, over a real store, in a thread on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skillc.registry import SYSTEM, Registry, Role, make_package, open_registry
from skillc.registry.model import Grant
from skillc.server import ServerSettings, create_registry_app
from tests.conftest import World
from tests.support.servers import run_server

Message = dict[str, Any]


@dataclass
class Seen:
    """A request that the server got: how, what, with which headers, and how many bytes of a body."""

    method: str
    path: str
    headers: dict[str, str]
    size: int = 0


@dataclass
class Team:
    """A registry that is served; `secret` is the token of its admin."""

    url: str
    registry: Registry
    secret: str
    requests: list[Seen] = field(default_factory=list)

    def token(self, subject: str, role: Role, prefix: str = "") -> str:
        """Make a subject with a role, and return a token of its own."""
        self.registry.accounts.grant(SYSTEM, Grant(subject, role, prefix))
        return self.registry.accounts.create_token(SYSTEM, role, prefix, owner=subject).secret

    def publish(self, skill_id: str, files: dict[str, str | bytes] | None = None, **options: Any) -> str:
        """Publish a skill from elsewhere, and return the version."""
        name = skill_id.rpartition("/")[2]
        text = f"---\nname: {name}\ndescription: What {name} is for\n---\n# {name}\n\n## Usage\n\nText.\n"
        contents = {"SKILL.md": text, **(files or {})}
        data = {path: each.encode() if isinstance(each, str) else each for path, each in contents.items()}
        executable = {path for path in data if path.endswith(".sh")}
        return self.registry.publish(SYSTEM, make_package(skill_id, data, executable), **options).version

    def sent(self, method: str) -> list[Seen]:
        return [each for each in self.requests if each.method == method]

    def paths(self) -> list[str]:
        return [each.path for each in self.requests]


def watched(app: Any, seen: list[Seen]) -> Any:
    """The same application, which notes what it gets."""

    async def call(scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        raw = scope["raw_path"].decode() + ("?" if scope["query_string"] else "")
        request = Seen(scope["method"], raw + scope["query_string"].decode(), headers)
        seen.append(request)

        async def count() -> Message:
            message: Message = await receive()
            request.size += len(message.get("body", b""))
            return message

        await app(scope, count, send)

    return call


@contextmanager
def serve_registry(
    registry: Registry,
    *,
    public: bool = False,
    port: int = 0,
    settings: ServerSettings | None = None,
    **options: Any,
) -> Iterator[tuple[str, list[Seen]]]:
    """Serve a registry; give its address, and the requests that it gets. The application has the options."""
    seen: list[Seen] = []
    app = create_registry_app(registry, settings or ServerSettings(public_read=public), **options)
    with run_server(lambda _: watched(app, seen), port, lifespan="on") as url:
        yield url, seen


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """A registry with an admin; nothing is public."""
    with open_registry(str(tmp_path / "registry.db")) as registry:
        admin = registry.accounts.create_first_admin()
        assert admin is not None
        with serve_registry(registry) as (url, requests):
            yield Team(url, registry, admin.secret, requests)


@pytest.fixture
def ada(world: World, team: Team) -> World:
    """A world that is logged in to the registry as ada, a publisher of everything."""
    token = team.token("ada", Role.PUBLISHER)
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": token})
    team.requests.clear()
    return world
