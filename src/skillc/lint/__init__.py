"""What to fix: rules for skills, their settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder strictly. Changes nothing, except `fix_skill`, which writes only what means the
same as before.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.config import Settings as Settings, read_settings as read_settings
    from skillc.lint.fix import fix_skill as fix_skill
    from skillc.lint.lint import lint_skill as lint_skill, locate as locate, skills_below as skills_below
    from skillc.lint.report import (
        Finding as Finding,
        Report as Report,
        sarif_log as sarif_log,
        summary as summary,
        workflow_command as workflow_command,
    )
    from skillc.lint.rules import RULES as RULES, Rule as Rule, find_rule as find_rule
    from skillc.lint.tokens import Tokens as Tokens, estimate as estimate
else:
    __getattr__ = front_door(
        __name__,
        {
            "config": "Settings read_settings",
            "fix": "fix_skill",
            "lint": "lint_skill locate skills_below",
            "report": "Finding Report sarif_log summary workflow_command",
            "rules": "RULES Rule find_rule",
            "tokens": "Tokens estimate",
        },
    )
