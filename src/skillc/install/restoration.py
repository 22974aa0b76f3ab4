"""What an install did or would do."""

from __future__ import annotations

from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.errors import Diagnostic, SkillcError


@value
class Restoration:
    """Names of skills, warnings, and the errors of skills that failed."""

    installed: list[str]
    unchanged: list[str]
    removed: list[str]
    diagnostics: list[Diagnostic]
    failures: list[SkillcError]

    def as_json(self) -> dict[str, Any]:
        return {"installed": self.installed, "unchanged": self.unchanged, "removed": self.removed}
