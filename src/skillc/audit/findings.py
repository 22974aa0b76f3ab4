"""What an audit found: what a skill asks for, and what to look at, as values.

>>> asks = Asks(hosts=("example.com",))
>>> asks.digest()[:13]
'sha256:1ed5dc'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from skillc.audit.rules import BLOCK, LEVELS, NOTE, REVIEW, Rule
from skillc.errors import Diagnostic
from skillc.text import utf8_text

KINDS = ("hosts", "commands", "environment", "writes", "installs")
MAX_ASKS = 1000  # of one kind in one file; more are left out, and the file is reported as not read whole
MAX_PROBLEMS = 500  # of one file
MAX_NESTED = 1 << 20  # characters of code within the code of one file; a variable can be run many times
MAX_TEXT = 300  # characters of a value or message


class Problem(NamedTuple):
    """A rule's finding in a file, before policy, baseline and notes are applied.

    `subject` is the host, program or path it is about, which a policy can allow. `level` is the rule's own
    if it is empty.
    """

    rule: str
    message: str
    line: int
    subject: str = ""
    level: str = ""


class Ask(NamedTuple):
    """Something that a script asks for: its kind, its value, and the line."""

    kind: str
    value: str
    line: int


class Trace:
    """Collects what the readers of one file see; each fact once, and a bounded number of them."""

    def __init__(self, room: list[int] | None = None) -> None:
        self._room = room if room is not None else [MAX_NESTED]
        self._asks: dict[tuple[str, str], int] = {}
        self._problems: dict[tuple[str, str, int], Problem] = {}
        self.downloads: dict[str, str] = {}  # names of files that are downloaded, and what is odd about it
        self.moves: dict[str, str] = {}  # names that files get: the new one, and the one before
        self.runs: dict[str, int] = {}  # names of files that are run, and the line
        self.is_cut = False

    def ask(self, kind: str, value: str, line: int) -> None:
        key = kind, utf8_text(value[:MAX_TEXT])
        if len(self._asks) < MAX_ASKS * len(KINDS):
            self._asks.setdefault(key, line)
        else:
            self.is_cut = True

    def report(self, rule: str, message: str, line: int, subject: str = "", level: str = "") -> None:
        problem = Problem(rule, utf8_text(message[:MAX_TEXT]), line, utf8_text(subject[:MAX_TEXT]), level)
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.setdefault((rule, problem.message, line), problem)
        else:
            self.is_cut = True

    def note_download(self, path: str, odd: str = "") -> None:
        """Take note of a file that is downloaded: another script, or a later step, may run it."""
        if len(self.downloads) < MAX_ASKS:
            self.downloads[name_of(path)] = odd

    def note_move(self, path: str, target: str) -> None:
        """Take note of a file that gets another name, or a place in another folder."""
        if len(self.moves) < MAX_ASKS and name_of(target):
            self.moves[name_of(target)] = name_of(path)

    def note_run(self, path: str, line: int) -> None:
        """Take note of a file that is run, or made a program."""
        if len(self.runs) < MAX_ASKS:
            self.runs.setdefault(name_of(path), line)

    def branch(self) -> Trace:
        """Return an empty trace for code within this code, which has its share of the room."""
        return Trace(self._room)

    def take(self, size: int) -> bool:
        """Return whether so much code within code may still be read."""
        self._room[0] -= size
        return self._room[0] >= 0

    def take_over(self, inner: Trace, lines: Sequence[int], level: str = "") -> None:
        """Take over what was found in a part, whose first line is the first of these lines, and so on."""
        for ask in inner.asks:
            self.ask(ask.kind, ask.value, _pick(lines, ask.line))
        for problem in inner.problems:
            line = _pick(lines, problem.line)
            self.report(problem.rule, problem.message, line, problem.subject, level or problem.level)
        self.downloads |= inner.downloads
        self.moves |= inner.moves
        self.runs = {name: _pick(lines, line) for name, line in inner.runs.items()} | self.runs

    @property
    def asks(self) -> Iterator[Ask]:
        return (Ask(kind, value, line) for (kind, value), line in self._asks.items())

    @property
    def problems(self) -> Iterator[Problem]:
        return iter(self._problems.values())

    def has(self, *rules: str) -> bool:
        """Return whether one of these rules has a finding."""
        return any(rule in rules for rule, _, _ in self._problems)


def name_of(path: str) -> str:
    """Return the last part of a path or an address, by which a file is known in other scripts."""
    return path.strip("\"'").split("?")[0].rstrip("/").replace("\\", "/").rpartition("/")[2]


def _pick(lines: Sequence[int], number: int) -> int:
    return lines[min(max(number, 1), len(lines)) - 1] if lines else number


@dataclass(frozen=True, slots=True)
class Asks:
    """What a skill asks for, each kind sorted: what to compare when a new version comes."""

    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    installs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Asks()

    def digest(self) -> str:
        """Return the digest that lock files keep: of the sorted JSON."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's finding: its level here, why, and where. `file` is below the skill's root.

    `fingerprint` names it in a baseline: it stays the same when lines are added above. `by` is the judge's
    command, if the judge said it.
    """

    rule: Rule
    level: str
    message: str
    file: str
    line: int
    fingerprint: str = ""
    subject: str = ""
    by: str = ""

    def as_json(self) -> dict[str, Any]:
        value = {
            "rule": self.rule.id,
            "name": self.rule.name,
            "level": self.level,
            "file": utf8_text(self.file),
            "line": self.line,
            "message": self.message,
            "fingerprint": self.fingerprint,
        }
        return value | ({"by": self.by} if self.by else {})


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one skill. `allowed` counts findings that the policy, a baseline or a note allows."""

    name: str
    folder: str
    asks: Asks = Asks()
    findings: tuple[Finding, ...] = ()
    allowed: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()

    def count(self, level: str) -> int:
        return sum(finding.level == level for finding in self.findings)

    @property
    def notes(self) -> int:
        return self.count(NOTE)

    @property
    def reviews(self) -> int:
        return self.count(REVIEW)

    @property
    def blocks(self) -> int:
        return self.count(BLOCK)

    @property
    def level(self) -> str:
        """The highest level of a finding; empty if there is none."""
        return next((level for level in reversed(LEVELS) if self.count(level)), "")

    def asks_digest(self) -> str:
        return self.asks.digest()

    def as_json(self) -> dict[str, Any]:
        """Return the stable form, which docs/audit.md describes."""
        return {
            "id": utf8_text(self.name),
            "path": utf8_text(self.folder),
            "asks": asdict(self.asks),
            "digest": self.asks_digest(),
            "notes": self.notes,
            "reviews": self.reviews,
            "blocks": self.blocks,
            "allowed": self.allowed,
            "findings": [finding.as_json() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """What a new version asks for that the old one did not, what it no longer does, and new findings."""

    added: Asks
    removed: Asks
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return bool(self.findings or self.added or self.removed)


def compare_audits(old: Audit, new: Audit) -> Changes:
    """Return what changed from one version of a skill to another."""
    before = {finding.fingerprint for finding in old.findings}
    findings = tuple(finding for finding in new.findings if finding.fingerprint not in before)
    return Changes(_subtract(new.asks, old.asks), _subtract(old.asks, new.asks), findings)


def _subtract(one: Asks, two: Asks) -> Asks:
    names = [field.name for field in fields(Asks)]
    return Asks(*(tuple(sorted({*getattr(one, name)} - {*getattr(two, name)})) for name in names))


def make_fingerprint(rule: str, file: str, text: str, message: str) -> str:
    """Return what names a finding in a baseline: of its rule, file and message, and the text of its line."""
    data = "\0".join((rule, file, " ".join(text.split()), message)).encode("utf-8", "surrogateescape")
    return hashlib.sha256(data).hexdigest()[:16]


def line_of(text: str, part: str) -> int:
    """Return the line of a part of a text, by default the first."""
    return text.count("\n", 0, max(0, text.find(part))) + 1


class LineCounter:
    """Tells the lines of positions in a text; in one pass, as long as the positions ascend."""

    def __init__(self, text: str, first: int = 1) -> None:
        self.text = text
        self.line = self.first = first
        self.position = 0

    def at(self, position: int) -> int:
        if position < self.position:
            self.position, self.line = 0, self.first
        self.line += self.text.count("\n", self.position, position)
        self.position = position
        return self.line
