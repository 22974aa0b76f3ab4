"""Warnings and errors as values."""

from __future__ import annotations

from skillc.text import one_line


class Diagnostic:
    """A warning or an error as a value: its code, its message, and the file it is about.

    >>> warning("W010").at("SKILL.md").line()
    'warning[W010]: SKILL.md: bytes that are not UTF-8 were replaced'
    """

    __slots__ = ("code", "message", "path")

    def __init__(self, code: str, message: str, path: str = "") -> None:
        self.code = code
        self.message = message
        self.path = path

    def at(self, path: str) -> Diagnostic:
        """Return the same diagnostic, about the file at `path`."""
        return Diagnostic(self.code, self.message, path)

    @property
    def severity(self) -> str:
        return "error" if self.code.startswith("E") else "warning"

    def line(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{self.severity}[{self.code}]: {one_line(where + self.message)}"

    def __repr__(self) -> str:
        return f"<Diagnostic {self.line()}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diagnostic) and self.line() == other.line()

    def __hash__(self) -> int:
        return hash(self.line())


def warning(code: str, *fields: object) -> Diagnostic:
    """Return a warning of WARNINGS with these values for its `{}`."""
    from skillc.errors.warnings import WARNINGS  # most commands have none

    return Diagnostic(code, WARNINGS[code].format(*fields))
