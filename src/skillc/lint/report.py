"""What linting found: findings, what was fixed, and what the skill costs.

>>> from skillc.lint.rules import BY_ID
>>> Finding(BY_ID["SKL102"], "error", "'PDF' is not lower case", "SKILL.md", 2).text()
"error[E300]: SKL102 name-format: 'PDF' is not lower case (SKILL.md:2)"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from skillc.errors import LintFailed, warning
from skillc.lint.rules import ERROR, Rule
from skillc.text import utf8_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.errors import SkillcError
    from skillc.library import Skill
    from skillc.lint.tokens import Tokens


class Problem(NamedTuple):
    """What a rule has to say, before settings and suppressions are asked.

    `cause` is the code of the lenient reader's diagnostic that it stands for, where it does.
    """

    rule: str
    message: str
    file: str
    line: int = 1
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation: the rule, how severe it is here, and where. `file` is below the skill's root."""

    rule: Rule
    severity: str
    message: str
    file: str
    line: int
    fixable: bool = False
    cause: str = ""

    def text(self, place: str = "") -> str:
        """The coded line; `place` is the file's path where someone can click on it."""
        message = f"{self.message} ({place or self.file}:{self.line})"
        if self.severity == ERROR:
            return LintFailed(self.rule.id, self.rule.name, message).line()
        return warning("W300", self.rule.id, self.rule.name, message).line()

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.id,
            "name": self.rule.name,
            "severity": self.severity,
            "message": utf8_text(self.message),
            "file": utf8_text(self.file),
            "line": self.line,
            "fixable": self.fixable,
        }


@dataclass(frozen=True, slots=True)
class Fixed:
    """A rule that a file broke, and no longer does."""

    rule: Rule
    file: str

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule.id, "name": self.rule.name, "file": utf8_text(self.file)}


@dataclass(frozen=True, slots=True)
class Report:
    """Everything about one skill; one that is `skipped` (compiled) has no findings and no estimate."""

    skill: Skill
    findings: tuple[Finding, ...] = ()
    tokens: Tokens | None = None
    fixed: tuple[Fixed, ...] = ()
    skipped: bool = False

    @property
    def errors(self) -> int:
        return sum(finding.severity == ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors

    @property
    def fixable(self) -> int:
        return sum(finding.fixable for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The stable form, which docs/lint.md describes."""
        return {
            "skill": utf8_text(self.skill.name),
            "path": utf8_text(self.skill.source),
            "skipped": self.skipped,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": [finding.as_json() for finding in self.findings],
            "fixed": [fixed.as_json() for fixed in self.fixed],
            "tokens": self.tokens.as_json() if self.tokens else None,
        }


def summary(reports: Sequence[Report], failures: Sequence[SkillcError] = ()) -> dict[str, Any]:
    """All reports as one value, and the skills that could not be linted: what `--format json` prints."""
    return {
        "skills": [report.as_json() for report in reports],
        "failed": [{"code": failure.code, "message": failure.message} for failure in failures],
        "errors": sum(report.errors for report in reports),
        "warnings": sum(report.warnings for report in reports),
    }
