"""Put skills into agents' folders, and ask `skc listing` for their states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import World, check_success


def put(folder: Path, name: str, description: str = "What it is for", more: str = "") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n")
    return path


def listing(world: World, *words: str, **options: Any) -> dict[str, Any]:
    run = check_success(world.skc("listing", *words, "--format", "json", **options))
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def states(world: World, agent: str, *words: str, **options: Any) -> dict[str, str]:
    (only,) = listing(world, "--agent", agent, *words, **options)["agents"]
    return {skill["id"]: skill["state"] for skill in only["skills"]}
