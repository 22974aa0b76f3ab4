"""The results of linting, as values; `render` has the forms for programs.

>>> from skillc.lint.rules import BY_ID
>>> Finding(BY_ID["SKL102"], "error", "'PDF' is not lower case", "SKILL.md", 2).text()
"error[E300]: SKL102 name-format: 'PDF' is not lower case (SKILL.md:2)"
"""

from __future__ import annotations

from skillc import errors
from skillc.lint.rules import ERROR, Rule
from skillc.startup import value
from skillc.text import one_line, utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.library import Skill
    from skillc.lint.tokens import Tokens


@value
class Problem:
    """A broken rule, before settings and suppressions are applied.

    `cause` is the code of the lenient reader's diagnostic that the problem reports, if any.
    """

    rule: str
    message: str
    file: str
    line: int = 1
    cause: str = ""


@value
class Finding:
    """A broken rule, how severe it is here, and where. `file` is below the skill's root."""

    rule: Rule
    severity: str
    message: str
    file: str
    line: int
    fixable: bool = False
    cause: str = ""

    def text(self, place: str = "") -> str:
        """Return the coded line; `place` is the path of the file to print."""
        message = f"{self.message} ({place or self.file}:{self.line})"
        if self.severity == ERROR:
            return errors.LintFailed(self.rule.id, self.rule.name, message).line()
        return errors.warning("W300", self.rule.id, self.rule.name, message).line()

    @property
    def kind(self) -> str:
        """Return the severity with its code."""
        return "error[E300]" if self.severity == ERROR else "warning[W300]"

    @property
    def advice(self) -> str:
        """Return the rule and what is wrong, on one line."""
        text = one_line(f"{self.rule.id} {self.rule.name}: {self.message}")
        return f"{text} [--fix]" if self.fixable else text

    def line_text(self) -> str:
        """Return the coded line below the name of the file."""
        return f"  line {self.line}: {self.kind}: {self.advice}"

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


@value
class Repair:
    """A rule that a file broke before `--fix`."""

    rule: Rule
    file: str

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule.id, "name": self.rule.name, "file": utf8_text(self.file)}


@value
class Report:
    """The result of linting one skill; a compiled one is `skipped`, without findings and estimate."""

    skill: Skill
    findings: tuple[Finding, ...] = ()
    tokens: Tokens | None = None
    fixed: tuple[Repair, ...] = ()
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
        """Return the stable form, which docs/lint.md describes."""
        return {
            "id": utf8_text(self.skill.name),
            "skill": utf8_text(self.skill.name),  # as `id`; goes with the next release
            "path": utf8_text(self.skill.source),
            "skipped": self.skipped,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": [finding.as_json() for finding in self.findings],
            "fixed": [repair.as_json() for repair in self.fixed],
            "tokens": self.tokens.as_json() if self.tokens else None,
        }
