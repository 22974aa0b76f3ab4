"""Checks of skills: rules, settings, suppressions, reports, and the fixes that are safe.

Reads a skill's folder strictly. Only `fix_skill` writes, and never changes what a skill means.
"""

from skillc.lint.config import Choice as Choice, Settings as Settings, read_settings as read_settings
from skillc.lint.lint import (
    diff_fixes as diff_fixes,
    find_skill_of as find_skill_of,
    find_skills_below as find_skills_below,
    find_skills_of as find_skills_of,
    find_targets as find_targets,
    fix_skill as fix_skill,
    lint_skill as lint_skill,
    lint_skills as lint_skills,
)
from skillc.lint.report import (
    Finding as Finding,
    Report as Report,
    Summary as Summary,
    count_rules as count_rules,
    group_findings as group_findings,
    name_file as name_file,
    render_sarif as render_sarif,
    render_workflow_command as render_workflow_command,
    summarise_report as summarise_report,
    summarise_reports as summarise_reports,
)
from skillc.lint.rules import (
    RULES as RULES,
    Rule as Rule,
    choose_rules as choose_rules,
    find_rule as find_rule,
    find_rules as find_rules,
    require_rules as require_rules,
    suggest_rule as suggest_rule,
)
from skillc.lint.tokens import (
    estimate as estimate,
    measure_main as measure_main,
    measure_skill as measure_skill,
)
