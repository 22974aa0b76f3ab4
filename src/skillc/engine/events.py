"""What happened to skills in a turn, for whoever observes an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SkillsResolved:
    """Skills whose blocks entered the context, and how many bytes that was."""

    skills: tuple[str, ...]
    injection_bytes: int

    def as_json(self) -> dict[str, Any]:
        return {
            "type": "SkillsResolved",
            "skills": list(self.skills),
            "injection_bytes": self.injection_bytes,
        }


@dataclass(frozen=True, slots=True)
class SkillResolutionFailed:
    """A reference that led to no skill; the turn went on without it."""

    reference: str
    error: str

    def as_json(self) -> dict[str, Any]:
        return {"type": "SkillResolutionFailed", "reference": self.reference, "error": self.error}


SkillEvent = SkillsResolved | SkillResolutionFailed
