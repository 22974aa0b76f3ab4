"""What to fix: rules for skills, their settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder as strictly as the readers elsewhere are lenient. Changes nothing, except
`fix`, which writes only what says the same as before.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.config import Settings, settings_for
    from skillc.lint.fix import fix
    from skillc.lint.lint import lint
    from skillc.lint.report import Finding, Fixed, Report, summary
    from skillc.lint.rules import RULES, Rule, find_rule
    from skillc.lint.sarif import sarif_log
    from skillc.lint.targets import locate, skills_below
    from skillc.lint.tokens import Tokens, estimate
    from skillc.lint.workflow import workflow_command

__all__ = [
    "RULES",
    "Finding",
    "Fixed",
    "Report",
    "Rule",
    "Settings",
    "Tokens",
    "estimate",
    "find_rule",
    "fix",
    "lint",
    "locate",
    "sarif_log",
    "settings_for",
    "skills_below",
    "summary",
    "workflow_command",
]

__getattr__ = front_door(
    __name__,
    {
        "config": ("Settings", "settings_for"),
        "fix": ("fix",),
        "lint": ("lint",),
        "targets": ("locate", "skills_below"),
        "report": ("Finding", "Fixed", "Report", "summary"),
        "rules": ("RULES", "Rule", "find_rule"),
        "sarif": ("sarif_log",),
        "tokens": ("Tokens", "estimate"),
        "workflow": ("workflow_command",),
    },
)
