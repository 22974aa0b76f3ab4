"""Checks of skills: rules, settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder strictly. Only `fix_skill` writes, and never changes what a skill means.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.config import Choice, Settings, read_settings
    from skillc.lint.lint import (
        diff_fixes,
        find_skill_of,
        find_skills_below,
        find_targets,
        fix_skill,
        lint_skill,
        lint_skills,
    )
    from skillc.lint.report import (
        Finding,
        Report,
        Summary,
        count_rules,
        group_findings,
        name_file,
        render_sarif,
        render_workflow_command,
        summarise_report,
        summarise_reports,
    )
    from skillc.lint.rules import RULES, Rule, choose_rules, find_rule, require_rules
    from skillc.lint.tokens import estimate, measure_main, measure_skill
else:
    __getattr__, __all__ = front_door(__name__)
