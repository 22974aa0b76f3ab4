"""A registry with a server process over it, which is `python -m tests.support.team`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from skillc.mcp import create_registry_endpoint
from skillc.registry import SYSTEM, NewToken, Registry, Role, Version, make_package, open_registry
from skillc.server import Guard, ServerSettings, create_registry_app, run_app

ROOT = Path(__file__).parent.parent.parent


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

    def client(self, token: str = "") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def with_token(self, token: str, path: str = "") -> str:
        """Return the address with a token in it, as `skc add` and git take one."""
        return self.url.replace("http://", f"http://token:{token}@") + path


@contextmanager
def running_team(folder: Path, *, public: bool = False, mcp: bool = False) -> Iterator[Team]:
    """Give a registry with a server process; `public` lets all read."""
    store = str(folder / "registry.db")
    words = [*(["--public"] if public else []), *(["--mcp"] if mcp else [])]
    command = [sys.executable, "-m", "tests.support.team", store, *words]
    with open_registry(store) as registry:
        team = Team(registry)
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
                match = re.search(r"http://127\.0\.0\.1:\d+", line)
                assert match, line + process.stdout.read()
                team.url = match[0]
                yield team
            finally:
                process.terminate()
            assert process.wait(10) == 0


def main(store: str, *words: str) -> None:
    settings = ServerSettings(public_read="--public" in words)
    with open_registry(store) as registry:
        mounts = {"/mcp": create_registry_endpoint(registry, settings)} if "--mcp" in words else {}
        app = Guard(create_registry_app(registry, settings, mounts=mounts), "127.0.0.1")
        run_app(app, "127.0.0.1", 0, lambda url: print(url, flush=True), lifespan="on")


if __name__ == "__main__":
    main(*sys.argv[1:])
