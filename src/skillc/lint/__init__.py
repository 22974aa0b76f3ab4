"""What to fix: rules for skills, their settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder as strictly as the readers elsewhere are lenient. Changes nothing, except
`fix`, which writes only what says the same as before.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.config import Settings as Settings, settings_for as settings_for
    from skillc.lint.fix import fix_skill as fix_skill
    from skillc.lint.lint import lint_skill as lint_skill
    from skillc.lint.report import Finding as Finding, Fixed as Fixed, Report as Report, summary as summary
    from skillc.lint.rules import RULES as RULES, Rule as Rule, find_rule as find_rule
    from skillc.lint.sarif import sarif_log as sarif_log
    from skillc.lint.targets import locate as locate, skills_below as skills_below
    from skillc.lint.tokens import Tokens as Tokens, estimate as estimate
    from skillc.lint.workflow import workflow_command as workflow_command

__getattr__ = front_door(
    __name__,
    {
        "config": "Settings settings_for",
        "fix": "fix_skill",
        "lint": "lint_skill",
        "targets": "locate skills_below",
        "report": "Finding Fixed Report summary",
        "rules": "RULES Rule find_rule",
        "sarif": "sarif_log",
        "tokens": "Tokens estimate",
        "workflow": "workflow_command",
    },
)
