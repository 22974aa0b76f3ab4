"""Fix what can be fixed safely in a skill, and lint the result: `skc lint --fix`."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from skillc import atomic
from skillc.errors import InvalidOption
from skillc.lint.config import Settings, read_settings
from skillc.lint.fixes import apply_fixes
from skillc.lint.lint import lint_skill
from skillc.lint.report import Repair, Report
from skillc.lint.rules import BY_ID
from skillc.skills import main_file, resolve_inside

if TYPE_CHECKING:
    from skillc.library import Skill

MAX_PASSES = 4  # a fix can uncover another; two passes are the most that was ever seen


def fix_skill(
    skill: Skill, *, settings: Settings | None = None, force: bool = False, strict: bool = False
) -> Report:
    """Write every safe fix, and report the repairs and the findings that are left.

    Fixes only rules that are on and not suppressed, only in files that are really inside of the skill,
    and never in a compiled one, because the next build would undo it.
    """
    if skill.is_copy:
        raise InvalidOption(
            f"'{skill.name}' is a copy from the repository '{skill.repository}'; fix it there"
        )
    settings = settings or read_settings(skill.source)
    repairs: dict[Repair, None] = {}
    report = lint_skill(skill, settings=settings, force=force, strict=strict)
    for _ in range(MAX_PASSES):
        new = _write_fixes(skill, report)
        if not new:
            break
        repairs.update(dict.fromkeys(new))
        report = lint_skill(skill, settings=settings, force=force, strict=strict)
    return replace(report, fixed=tuple(repairs))


def _write_fixes(skill: Skill, report: Report) -> list[Repair]:
    pairs_by_file: dict[str, set[tuple[str, str]]] = {}
    for finding in report.findings:
        if finding.fixable:
            pairs_by_file.setdefault(finding.file, set()).add((finding.rule.id, finding.cause))
    repairs: list[Repair] = []
    for name, pairs in pairs_by_file.items():
        path = resolve_inside(skill.source, name)  # a link that stays inside is followed, not replaced
        with open(path, "rb") as file:
            raw = file.read()
        data, fixes = apply_fixes(raw, pairs, skill.segment, main=name == main_file(skill.source))
        if data != raw:
            mode = os.stat(path).st_mode & 0o7777
            atomic.write(path, data, durable=True)  # it is the author's only copy
            if os.stat(path).st_mode & 0o7777 != mode:
                os.chmod(path, mode)
            repairs += [Repair(BY_ID[rule], name) for rule in sorted({rule for rule, _ in fixes})]
    return repairs
