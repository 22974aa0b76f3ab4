"""Put right what can be put right safely, and lint what is there then."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from skillc import atomic
from skillc.errors import InvalidOption
from skillc.lint.config import Settings, settings_for
from skillc.lint.fixes import mend
from skillc.lint.lint import lint_skill
from skillc.lint.report import Fixed, Report
from skillc.lint.rules import BY_ID
from skillc.skills import main_file, resolve_inside

if TYPE_CHECKING:
    from skillc.library import Skill

PASSES = 4  # what a fix uncovers is fixed as well; two passes are the most that was ever seen


def fix_skill(
    skill: Skill, *, settings: Settings | None = None, force: bool = False, strict: bool = False
) -> Report:
    """Write every safe fix of what is found, and report what was fixed and what is left.

    Only rules that are on and not suppressed are fixed, only in files that are really inside of the
    skill, and never in a compiled one: the next build would undo it.
    """
    if skill.is_copy:
        raise InvalidOption(
            f"'{skill.name}' is a copy from the repository '{skill.repository}'; fix it there"
        )
    settings = settings or settings_for(skill.source)
    fixed: dict[Fixed, None] = {}
    report = lint_skill(skill, settings=settings, force=force, strict=strict)
    for _ in range(PASSES):
        done = _write_fixes(skill, report)
        if not done:
            break
        fixed.update(dict.fromkeys(done))
        report = lint_skill(skill, settings=settings, force=force, strict=strict)
    return replace(report, fixed=tuple(fixed))


def _write_fixes(skill: Skill, report: Report) -> list[Fixed]:
    wanted: dict[str, set[tuple[str, str]]] = {}
    for finding in report.findings:
        if finding.fixable:
            wanted.setdefault(finding.file, set()).add((finding.rule.id, finding.cause))
    fixed: list[Fixed] = []
    for name, pairs in wanted.items():
        path = resolve_inside(skill.source, name)  # a link that stays inside is followed, not replaced
        with open(path, "rb") as file:
            raw = file.read()
        mended = mend(raw, pairs, skill.segment, main=name == main_file(skill.source))
        if mended.data != raw:
            _write(path, mended.data)
            fixed += [Fixed(BY_ID[rule], name) for rule in sorted({rule for rule, _ in mended.done})]
    return fixed


def _write(path: str, data: bytes) -> None:
    mode = os.stat(path).st_mode & 0o7777
    atomic.write(path, data, durable=True)  # it is the author's only copy
    if os.stat(path).st_mode & 0o7777 != mode:
        os.chmod(path, mode)
