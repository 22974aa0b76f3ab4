"""Approval: what a person is shown before a tool runs, and the answers.

Nothing that is shown can deceive: every character that can't be seen is written out, and nothing is left
out unless its length is given and all of it can be asked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillc.startup import sha256_hex
from skillc.text import visible
from skillc.tools import sandbox
from skillc.tools.trust import ALLOW, DENY, YES, TrustLevel

MAX_SHOWN = 600  # characters of one argument or description in a short text; the rest is counted
MAX_LISTED = 50  # arguments and changed files in a short text
UNTRUSTED_WARNING = (
    "WARNING: this skill is not one of your own. Only run it if you trust where it comes from."
)


OLD_DECISION = "allowed by an older skc, whose digest was another; it asks again"


class Answer(StrEnum):
    """A person's answer [D54].

    `YES` lasts where the sandbox keeps the tool from writing, `ALWAYS` for all but untrusted skills and
    `always_ask`, both until a file of the skill changes. `NEVER` lasts for good.
    """

    ONCE = "once"
    YES = "yes"
    ALWAYS = "always"
    NO = "no"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One run of a tool, as it is about to happen."""

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
    changed: Sequence[str] | None = None  # files that differ from those allowed before; None the first time
    is_old: bool = False  # it was allowed by an older skc, whose digest was another
    sandbox: str = ""
    damaged: bool = False  # the decisions are: a denial may be lost, so only a person can answer

    @property
    def can_last(self) -> bool:
        """Whether the answer "always" is remembered: not where every run has to be approved."""
        return self.level is not TrustLevel.UNTRUSTED and not self.always_ask

    @property
    def lasts(self) -> bool:
        """Whether a plain yes is remembered, too: only where the sandbox keeps the tool from writing."""
        return self.can_last and self.read_only and self.sandbox != sandbox.NONE

    def verdict_of(self, answer: Answer) -> str | None:
        """Return the decision to remember after an answer; None if it is for this run alone."""
        if answer is Answer.NEVER:
            return DENY
        if answer is Answer.ALWAYS and self.can_last:
            return ALLOW
        return YES if answer is Answer.YES and self.lasts else None

    @property
    def subject(self) -> str:
        """A hash of what a yes is bound to: these files and this command."""
        words = [self.digest, self.cwd, self.sandbox, *self.argv]
        return sha256_hex("\0".join(words).encode("utf-8", "surrogatepass"))

    def text(self, *, short: bool = False) -> str:
        """Return everything there is to know before saying yes.

        A `short` text leaves out the ends of long values and lists, and says how much that is. It is only
        for where all of it can be asked for.
        """
        by = f", by {self.author}" if self.author else ""
        rows = [
            ("Skill:", f"{self.skill} {self.version}{by}"),
            ("", self.description),
            ("From:", self.origin),
            ("Tool:", ": ".join(filter(None, [self.tool, self.tool_description]))),
            ("Command:", ""),
            ("In:", self.cwd),
            *(("" if n else "Allowed:", text) for n, text in enumerate(self.permissions)),
            ("Digest:", self.digest),
        ]
        lines = [UNTRUSTED_WARNING, ""] if self.level is TrustLevel.UNTRUSTED else []
        for label, text in rows:
            words = self.argv if label == "Command:" else [text]
            parts = [_show(word, label == "Command:", short) for word in _head(words, short)]
            lines.append(f"{label:<9} {' '.join(parts)}{_count_rest(words, short, 'arguments')}")
        if self.is_old:
            lines += ["", f"It was {OLD_DECISION}."]
        if self.changed is not None:
            lines += ["", "Since you allowed it:"]
            lines += [f"  {visible(change)}" for change in _head(self.changed, short)]
            lines += filter(None, [_count_rest(self.changed, short, "files")])
        return "\n".join(lines)


def approval_advice(skill: str) -> str:
    """Return what to do where there is no terminal to ask on."""
    skill = visible(skill)
    return (
        f"'skc trust show {skill}' prints what it is and its digest. Without a terminal, allow it with"
        f" 'skc trust allow {skill} --digest <digest>', or this one run with 'skc run --yes'."
    )


def display(text: str) -> str:
    """Return text on one line, everything in it visible."""
    return visible(text.replace("\n", " "))


def _show(text: str, is_argument: bool, short: bool) -> str:
    """Return a value of a request; an argument is in quotes, so that what is one looks like one."""
    rest = len(text) - MAX_SHOWN if short else 0
    head = text[:MAX_SHOWN] if rest > 0 else text
    head = visible(json.dumps(head, ensure_ascii=False)) if is_argument else display(head)
    return f"{head} [… {rest:,} more characters]" if rest > 0 else head


def _head(items: Sequence[str], short: bool) -> Sequence[str]:
    return items[:MAX_LISTED] if short else items


def _count_rest(items: Sequence[str], short: bool, what: str) -> str:
    rest = len(items) - MAX_LISTED if short else 0
    return f" [… {rest:,} more {what}]" if rest > 0 else ""
