"""What a person is shown before a skill's tool runs, with nothing in it that could deceive.

>>> print(visible("rm\\u202e \\x1b[2K"))
rm\\u202e \\x1b[2K
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillc.text import visible
from skillc.tools.trust import TrustLevel

MAX_SHOWN = 2000  # characters of one argument or description; the rest is counted
MAX_LISTED = 50  # changed files


class Answer(StrEnum):
    """What a person answers. `ALWAYS` lasts until a file of the skill changes, `NEVER` for good."""

    ONCE = "once"
    ALWAYS = "always"
    NO = "no"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One run of a tool, as it is about to happen.

    `changed` is how the files differ from those that were allowed before; None the first time.
    """

    skill: str
    version: str
    description: str
    author: str | None
    origin: str
    level: TrustLevel
    tool: str
    tool_description: str
    argv: Sequence[str]
    cwd: str
    permissions: Sequence[str]
    digest: str
    read_only: bool = False
    always_ask: bool = False
    changed: Sequence[str] | None = None

    @property
    def lasts(self) -> bool:
        """Whether a plain yes is remembered: not where every run is to be asked about."""
        return self.level is not TrustLevel.UNTRUSTED and not self.always_ask

    def text(self) -> str:
        """Everything there is to know before saying yes."""
        by = f", by {self.author}" if self.author else ""
        rows = [
            ("Skill", f"{self.skill} {self.version}{by}"),
            ("", self.description),
            ("From", self.origin),
            ("Tool", f"{self.tool}: {self.tool_description}" if self.tool_description else self.tool),
        ]
        lines = [_row(label, shown(words)) for label, words in rows]
        lines.append(_row("Command", command_shown(self.argv)))
        lines.append(_row("In", shown(self.cwd)))
        for number, words in enumerate(self.permissions):
            lines.append(_row("" if number else "Allowed", shown(words)))
        lines.append(_row("Digest", self.digest))
        return "\n".join([*self._banner(), *lines, *self._changes()])

    def _banner(self) -> list[str]:
        if self.level is not TrustLevel.UNTRUSTED:
            return []
        return [
            "WARNING: this skill is not one of your own. Only run it if you trust where it comes from.",
            "",
        ]

    def _changes(self) -> list[str]:
        if self.changed is None:
            return []
        listed = [f"  {visible(change)}" for change in self.changed[:MAX_LISTED]]
        more = len(self.changed) - MAX_LISTED
        return ["", "Since you allowed it:", *listed, *([f"  ... ({more} more)"] if more > 0 else [])]


def _row(label: str, words: str) -> str:
    return f"{label + ':' if label else '':<9} {words}"


def command_shown(argv: Sequence[str]) -> str:
    """The exact arguments, each in quotes, so that what is one argument looks like one."""
    return " ".join(_cut(visible(json.dumps(word, ensure_ascii=False))) for word in argv)


def shown(text: str) -> str:
    """Text on one line, visible and within bounds."""
    return _cut(visible(" ".join(text.split("\n"))))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... ({len(text)} characters in all)"
