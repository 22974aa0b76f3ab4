"""Checks of skills: rules, settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder strictly. Only `fix_skill` writes, and never changes what a skill means.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.batch import lint_skills
    from skillc.lint.config import Choice, Settings, read_settings
    from skillc.lint.lint import find_skill_of, find_skills_below, find_targets, lint_skill
    from skillc.lint.render import (
        count_rules,
        group_findings,
        name_file,
        render_sarif,
        render_workflow_command,
        summarise_report,
        summarise_reports,
    )
    from skillc.lint.repair import diff_fixes, fix_skill
    from skillc.lint.report import Finding, Report
    from skillc.lint.rules import RULES, Rule, choose_rules, find_rule, require_rules, suggest_rule
    from skillc.lint.tokens import estimate
else:
    __getattr__ = front_door(
        __name__,
        {
            "batch": "lint_skills",
            "config": "Choice Settings read_settings",
            "lint": "find_skill_of find_skills_below find_targets lint_skill",
            "render": "count_rules group_findings name_file render_sarif render_workflow_command"
            " summarise_report summarise_reports",
            "repair": "diff_fixes fix_skill",
            "report": "Finding Report",
            "rules": "RULES Rule choose_rules find_rule require_rules suggest_rule",
            "tokens": "estimate",
        },
    )
