"""Allow what a project's skills.toml uses, as its user would have done."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from skillc.library.repositories import SkillsConfig, variables_used


def allow_all(home: Path, project: Path) -> None:
    """Allow every variable that the project uses now."""
    uses = variables_used(SkillsConfig.load_from_paths(None, project / ".skillc" / "skills.toml"))
    file = home / ".skillc" / "variables.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"version": 1, "variables": [asdict(use) for use in uses]}))
    file.chmod(0o600)
