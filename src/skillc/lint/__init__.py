"""Checks of skills: rules, settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder strictly. Only `fix_skill` writes, and never changes what a skill means.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.config import Choice, Settings, read_settings
    from skillc.lint.lint import diff_fixes, find_skill_of, find_skills_below, fix_skill, lint_skill
    from skillc.lint.report import Finding, Report, render_sarif, render_workflow_command, summarise_reports
    from skillc.lint.rules import RULES, find_rule, find_rules, suggest_rule
    from skillc.lint.tokens import estimate
else:
    __getattr__ = front_door(
        __name__,
        {
            "config": "Choice Settings read_settings",
            "lint": "diff_fixes find_skill_of find_skills_below fix_skill lint_skill",
            "report": "Finding Report render_sarif render_workflow_command summarise_reports",
            "rules": "RULES find_rule find_rules suggest_rule",
            "tokens": "estimate",
        },
    )
