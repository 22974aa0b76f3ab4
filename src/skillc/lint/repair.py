"""Write the fixes that are safe into a skill's files, or show them as a diff; `fix` makes them."""

from __future__ import annotations

import difflib
import os
from io import StringIO

from skillc import atomic, errors
from skillc.lint.config import read_settings
from skillc.lint.fix import apply_fixes, group_by_file
from skillc.lint.lint import lint_skill
from skillc.lint.report import Repair, Report
from skillc.lint.rules import BY_ID
from skillc.skills import main_file, resolve_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.library import Skill
    from skillc.lint.config import Choice, Settings

MAX_PASSES = 4  # a fix can uncover another; no skill is known to need more than two passes


def fix_skill(
    skill: Skill,
    *,
    settings: Settings | None = None,
    force: bool = False,
    choice: Choice | None = None,
) -> Report:
    """Write every safe fix, and report the repairs and the findings that are left.

    Fixes only rules that are on and not suppressed, only in files that are really inside of the skill,
    and never in a compiled one, because the next build would undo it.
    """
    if skill.is_copy:
        raise errors.InvalidOption(
            f"'{skill.name}' is a copy from the repository '{skill.repository}'; fix it there"
        )
    settings = settings or read_settings(skill.source)
    repairs: dict[Repair, None] = {}
    report = lint_skill(skill, settings=settings, force=force, choice=choice)
    for _ in range(MAX_PASSES):
        new = _write_fixes(skill, report)
        if not new:
            break
        repairs.update(dict.fromkeys(new))
        report = lint_skill(skill, settings=settings, force=force, choice=choice)
    return Report(skill, report.findings, report.tokens, tuple(repairs), report.skipped)


def diff_fixes(skill: Skill, report: Report, folder: str = "") -> Iterator[str]:
    """Yield the lines of a unified diff of what `fix_skill` would change first, as `git apply` takes it.

    `folder` is the path of the skill's folder in it.
    """
    for name, _, raw, data, _ in _find_changes(skill, report):
        old, new = (list(StringIO(text.decode("utf-8", "replace"), newline="\n")) for text in (raw, data))
        path = os.path.join(folder, name).replace(os.sep, "/").lstrip("/")
        for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"):
            yield line.removesuffix("\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"


def _write_fixes(skill: Skill, report: Report) -> list[Repair]:
    repairs: list[Repair] = []
    for name, path, _, data, rules in _find_changes(skill, report):
        mode = os.stat(path).st_mode & 0o7777
        atomic.write(path, data, durable=True)  # it is the author's only copy
        if os.stat(path).st_mode & 0o7777 != mode:
            os.chmod(path, mode)
        repairs += [Repair(BY_ID[rule], name) for rule in sorted(rules)]
    return repairs


def _find_changes(skill: Skill, report: Report) -> Iterator[tuple[str, str, bytes, bytes, set[str]]]:
    """Yield each file that can be fixed: its name and path, its bytes and the better ones, and the rules."""
    places = ((f.file, f.rule.id, f.cause) for f in report.findings if f.fixable)
    for name, pairs in group_by_file(places).items():
        path = resolve_inside(skill.source, name)  # a link that stays inside is followed, not replaced
        with open(path, "rb") as file:
            raw = file.read()
        data, fixes = apply_fixes(raw, pairs, skill.segment, main=name == main_file(skill.source))
        if data != raw:
            yield name, path, raw, data, {rule for rule, _ in fixes}
