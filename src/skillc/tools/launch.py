"""Everything a run needs, decided before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything a run needs, decided before anything starts."""

    argv: tuple[str, ...]  # argv[0] is the absolute, resolved program
    cwd: str
    env: Mapping[str, str]
    skill_dir: str  # canonical
    timeout: float  # seconds
    network: bool
    read_only: bool
    sandbox: str  # "bubblewrap" | "landlock" | "none": the level that will be used
