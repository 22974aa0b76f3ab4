"""What is allowed: a policy file, a baseline, and notes in the skill's own files.

A policy is the reader's word: `--policy`, or `audit.toml` in the home's `.skillc`. It is never taken from the
skill or the project that is audited. Every fault in it is E071: ignoring a line could let something through.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from skillc import atomic, paths
from skillc.audit.findings import Audit, Finding, Problem, line_of, make_fingerprint
from skillc.audit.indicators import find_hosts
from skillc.audit.rules import BY_ID, LEVELS, OFF, find_rule, suggest_rule
from skillc.errors import InvalidConfiguration
from skillc.rulebook import read_toml

FILE = "audit.toml"
MAX_BYTES = 256 * 1024
MAX_BASELINE = 64 << 20
MAX_NOTES = 200  # in one file
_TABLES = {"hosts": "A01", "commands": "A02"}
_NOTE = re.compile(r"skc-audit:\s{0,9}allow(-file)?\s+([A-Za-z0-9_,\s-]{1,300}?)(?=\s--(?:\s|$)|-->|\*/|$)")
# Rules about hosts: an allowed host removes their findings, a denied one is looked for in them.
_ABOUT_HOSTS = ("A01", "A05", "A10", "A11", "A23", "A32", "A44")
_NAMING_HOSTS = (*_ABOUT_HOSTS, "A43", "A45")


@dataclass(frozen=True, slots=True)
class Exemption:
    """An `[[allow]]` table: a rule that is allowed for some skills, files and subjects, by glob."""

    rule: str
    skill: str = "*"
    path: str = "*"
    subject: str = "*"

    def covers(self, skill: str, path: str, problem: Problem) -> bool:
        return (
            self.rule == problem.rule
            and fnmatchcase(skill, self.skill)
            and fnmatchcase(path, self.path)
            and fnmatchcase(problem.subject, self.subject)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """What a reader allows and denies; by default every rule has its own level."""

    levels: dict[str, str] = field(default_factory=dict)  # by rule
    allow: dict[str, tuple[str, ...]] = field(default_factory=dict)  # globs by table
    deny: dict[str, tuple[str, ...]] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)  # level of what is in neither, by table
    exemptions: tuple[Exemption, ...] = ()
    file: str = ""

    def extend(self, problems: Iterable[Problem], text: str) -> Iterator[Problem]:
        """Yield the problems of a file, and one more for each host and command that is denied.

        A host is denied in any address of the text, also in a link or an image that asks for nothing.
        """
        denied: set[str] = set()
        for problem in problems:
            table = "commands" if problem.rule == "A02" else "hosts" if problem.rule in _NAMING_HOSTS else ""
            subject = problem.subject
            if table and subject not in denied and _matches(subject, self.deny.get(table, ())):
                denied.add(subject)
                yield Problem("A91", f"the policy denies '{problem.subject}'", problem.line, problem.subject)
            yield problem
        for host in find_hosts(text) if self.deny.get("hosts") else ():
            if host not in denied and _matches(host, self.deny["hosts"]):
                yield Problem("A91", f"the policy denies '{host}'", line_of(text.lower(), host), host)

    def level_of(self, skill: str, path: str, problem: Problem) -> str:
        """Return the level of a problem here; `off` if it is allowed."""
        if any(exemption.covers(skill, path, problem) for exemption in self.exemptions):
            return OFF
        subject = problem.subject
        if problem.rule in _ABOUT_HOSTS and subject and _matches(subject, self.allow.get("hosts", ())):
            return OFF
        if problem.rule == "A02" and _matches(subject, self.allow.get("commands", ())):
            return OFF
        table = next((table for table, rule in _TABLES.items() if rule == problem.rule), "")
        if table and table in self.other:
            return self.other[table]
        return self.levels.get(problem.rule) or problem.level or BY_ID[problem.rule].level


def _matches(subject: str, patterns: Iterable[str]) -> bool:
    """Return whether a host or a program is in a list; `*.example.com` is example.com too."""
    return any(fnmatchcase(subject, pattern) or f"*.{subject}" == pattern for pattern in patterns)


def read_policy(path: str = "") -> Policy:
    """Return the policy in a file; without one, the home's, or the default. Raises InvalidConfiguration."""
    if not path:
        home = paths.home()
        path = os.path.join(home, paths.DIRECTORY, FILE) if home else ""
        if not path or not os.path.lexists(path):
            return Policy()
    return read_toml(path, MAX_BYTES, _parse)


def _parse(table: dict[str, Any], path: str) -> Policy:
    unknown = [key for key in table if key not in (*_TABLES, "rules", "allow")]
    if unknown:
        raise ValueError(f"unknown key '{unknown[0]}'; there are rules, hosts, commands and allow")
    allow: dict[str, tuple[str, ...]] = {}
    deny: dict[str, tuple[str, ...]] = {}
    other: dict[str, str] = {}
    for name in _TABLES:
        lists = _table(table, name)
        for key, value in lists.items():
            if key == "other":
                other[name] = _level(f"{name}.other", value)
            elif key in ("allow", "deny"):
                (allow if key == "allow" else deny)[name] = _texts(f"{name}.{key}", value)
            else:
                raise ValueError(f"unknown key '{name}.{key}'; there are allow, deny and other")
    levels: dict[str, str] = {}
    for word, value in _table(table, "rules").items():
        levels[_rule(word)] = _level(word, value)
    return Policy(levels, allow, deny, other, tuple(_exemptions(table.get("allow", []))), path)


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"'{name}' must be a table")
    return value


def _level(key: str, value: Any) -> str:
    if value not in (*LEVELS, OFF):
        raise ValueError(f"{key} must be one of {', '.join((*LEVELS, OFF))}, not {value!r}")
    return str(value)


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise ValueError(f"'{key}' must be a list of texts")
    return tuple(text.lower() for text in value)


def _rule(word: Any) -> str:
    rule = find_rule(word) if isinstance(word, str) else None
    if rule is None:
        raise ValueError(f"unknown rule '{word}'{suggest_rule(str(word))}")
    return rule.id


def _exemptions(tables: Any) -> Iterator[Exemption]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError("'allow' must be [[allow]] tables")
    for table in tables:
        unknown = [key for key in table if key not in ("rule", "skill", "path", "subject", "reason")]
        if unknown:
            raise ValueError(f"unknown key '{unknown[0]}' in [[allow]]")
        if "rule" not in table:
            raise ValueError("[[allow]] must name a rule")
        if not all(isinstance(value, str) for value in table.values()):
            raise ValueError("the values of [[allow]] must be texts")
        globs = {key: table[key] for key in ("skill", "path", "subject") if key in table}
        yield Exemption(_rule(table["rule"]), **globs)


# Baselines


@dataclass(frozen=True, slots=True)
class Baseline:
    """Findings that were there before, by skill and fingerprint."""

    marks: frozenset[tuple[str, str]] = frozenset()

    def has(self, skill: str, fingerprint: str) -> bool:
        return (skill, fingerprint) in self.marks


def read_baseline(path: str) -> Baseline:
    """Return the findings in a baseline file; raises InvalidConfiguration."""
    try:
        value = json.loads(paths.read_regular(path, MAX_BASELINE))
        if value["version"] != 1:
            raise ValueError(f"version {value['version']!r} is not known")
        marks = {(str(entry["skill"]), str(entry["fingerprint"])) for entry in value["findings"]}
    except OSError as error:
        raise InvalidConfiguration(path, error.strerror or str(error)) from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidConfiguration(path, f"not a baseline of 'skc audit': {error}") from None
    return Baseline(frozenset(marks))


def write_baseline(path: str, audits: Iterable[Audit]) -> int:
    """Write the findings of audits as a baseline, and return how many there are."""
    entries = [
        {
            "skill": audit.name,
            "rule": finding.rule.id,
            "file": finding.file,
            "fingerprint": finding.fingerprint,
        }
        for audit in audits
        for finding in audit.findings
    ]
    entries.sort(key=lambda entry: (entry["skill"], entry["file"], entry["rule"], entry["fingerprint"]))
    text = json.dumps({"version": 1, "findings": entries}, indent=1, ensure_ascii=True)
    atomic.write(path, f"{text}\n".encode())
    return len(entries)


# Notes in the skill


class Notes:
    """The notes of one file: rules by the lines that they cover, and those that cover all of it."""

    def __init__(self) -> None:
        self.lines: dict[int, list[tuple[str, int]]] = {}  # by the line covered: rule, the note's line
        self.whole: list[tuple[str, int]] = []
        self.uses: set[int] = set()
        self.places: dict[int, None] = {}

    def allow(self, problem: Problem) -> bool:
        """Return whether a note covers a problem."""
        for rule, place in (*self.lines.get(problem.line, ()), *self.whole):
            if rule == problem.rule:
                self.uses.add(place)
                return True
        return False

    def report(self, file: str, use: bool, policy: Policy) -> Iterator[Finding]:
        """Yield a finding for each note without effect."""
        for place in self.places:
            if place in self.uses:
                continue
            reason = "allows nothing here" if use else "is the author's, and does not count"
            problem = Problem("A92", f"a note that allows findings {reason}", place)
            level = policy.level_of("", file, problem)
            if level != OFF:
                mark = make_fingerprint(problem.rule, file, "", f"{problem.message} {len(self.places)}")
                yield Finding(BY_ID["A92"], level, problem.message, file, place, mark)


def read_notes(lines: list[str]) -> Notes:
    """Return the notes in a file: `skc-audit: allow A10 -- why`, for its line and the next, or allow-file."""
    notes = Notes()
    for number, line in enumerate(lines, 1):
        match = _NOTE.search(line[:2000]) if "skc-audit" in line else None
        if match is None or len(notes.places) >= MAX_NOTES:
            continue
        notes.places[number] = None
        for word in match[2].replace(",", " ").split():
            rule = find_rule(word)
            if rule is None:
                continue
            if match[1]:
                notes.whole.append((rule.id, number))
            else:
                for target in _covered_lines(lines, number):
                    notes.lines.setdefault(target, []).append((rule.id, number))
    return notes


def _covered_lines(lines: list[str], number: int) -> Iterable[int]:
    """Return the lines that a note covers: its own, the next, and a code block that begins there."""
    next_line = lines[number].lstrip() if number < len(lines) else ""
    fence = re.match(r"(`{3,}|~{3,})", next_line)
    if fence is None:
        return (number, number + 1)
    end = next(
        (
            at
            for at in range(number + 1, min(len(lines), number + 500))
            if lines[at].lstrip().startswith(fence[1])
        ),
        number,
    )
    return range(number, end + 2)
