"""Findings as GitHub workflow commands, which become annotations on a pull request.

>>> escaped("50%, a: b", property=True), escaped("50%, a: b")
('50%25%2C a%3A b', '50%25, a: b')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillc.text import one_line, utf8_text

if TYPE_CHECKING:
    from skillc.lint.report import Finding

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def workflow_command(finding: Finding, path: str) -> str:
    """The command that annotates a line of the file at `path`."""
    properties = {"file": utf8_text(path), "line": str(finding.line), "title": str(finding.rule)}
    listed = ",".join(f"{key}={escaped(value, property=True)}" for key, value in properties.items())
    return f"::{finding.severity} {listed}::{escaped(one_line(utf8_text(finding.message)))}"


def escaped(text: str, *, property: bool = False) -> str:
    """Text as a command can hold it: the documented escapes of a message, or of a property."""
    return text.translate(_PROPERTY if property else _DATA)
