"""Put skills into agents' folders, fit listings, and ask `skc listing` for states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import World, check_success

TEXT = "---\nname: {0}\ndescription: {1}\n{2}---\n# {0}\n\n## Usage\n\nText.\n"


def put(folder: Path, name: str, description: str = "What it is for", more: str = "") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n")
    return path


def listing(world: World, *words: str, **options: Any) -> Any:
    run = check_success(world.skc("listing", *words, "--format", "json", **options))
    return json.loads(run.stdout)


def states(world: World, agent: str, *words: str, **options: Any) -> dict[str, str]:
    (only,) = listing(world, "--agent", agent, *words, **options)["agents"]
    return {skill["id"]: skill["state"] for skill in only["skills"]}


def install(world: World, count: int, *targets: str, length: int = 200, first: int = 0) -> list[str]:
    """Put skills of the home into agents' folders; return their names."""
    names = [f"s{number:03d}" for number in range(first, first + count)]
    for name in names:
        world.skill(name, TEXT.format(name, name * (length // 4), ""), store=world.global_store)
    for target in targets or ("claude",):
        (world.home / f".{target}").mkdir(exist_ok=True)
    world.ok("build", "--all", "--target", ",".join(targets or ("claude",)), cwd=world.home)
    return names


def fit(world: World, *words: str) -> dict[str, dict[str, Any]]:
    run = world.ok("listing", "fit", *words, "--format", "json", cwd=world.home)
    return {each["agent"]: each for each in json.loads(run.stdout)["agents"]}


def shown(world: World, agent: str = "claude") -> dict[str, str]:
    return states(world, agent, cwd=world.home)


def put_program(world: World, version: str) -> Path:
    """Write what looks like Claude Code of a version; return its program, which must not be run."""
    package = world.root / "lib" / "claude-code"
    program = package / "bin" / "claude"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\ntouch was-run\n")
    program.chmod(0o755)
    (package / "package.json").write_text(
        json.dumps({"name": "@anthropic-ai/claude-code", "version": version})
    )
    return program


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return what agents have in a folder, files behind links included."""
    files = (path for path in sorted(folder.glob("*/**/*")) if path.is_file())
    return {str(path): path.read_bytes() for path in files if ".skillc-meta" not in path.parts}
