"""Executable skills for tests."""

from __future__ import annotations

from pathlib import Path


def tool(
    name: str = "go", command: str = "echo hello", parameters: str = "None.", words: str = "Goes."
) -> str:
    """A tool block; `parameters` are table rows `name | type | required | description`."""
    if "|" in parameters:
        head = "| Name | Type | Required | Description |\n|---|---|---|---|\n"
        parameters = head + "\n".join(f"| {row} |" for row in parameters.splitlines())
    fence = f"```bash\n{command}\n```"
    return f"### {name}\n\n{words}\n\n#### Parameters\n\n{parameters}\n\n#### Command\n\n{fence}\n\n"


def skill_md(name: str, *tools: str, fields: str = "", description: str = "Made for a test.") -> str:
    front = f"---\nname: {name}\nversion: 1.0.0\ndescription: {description}\n{fields}---\n\n"
    return front + "".join(tools or (tool(),))


def executable(store: Path, name: str, *tools: str, fields: str = "", **scripts: str) -> Path:
    """A skill with tools in a folder; `scripts` are files of scripts/, executable, by name without .sh."""
    folder = store / name
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(skill_md(name, *tools, fields=fields))
    for script, text in scripts.items():
        path = folder / "scripts" / f"{script}.sh"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return folder
