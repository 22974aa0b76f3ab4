"""Read `.skilllint.toml`: severities of rules, limits, known fields, files to leave out.

The nearest file counts, from the skill's folder up to the project's root or the home directory. Every
fault in it is E071: ignoring a setting would silence a rule. docs/lint.md has an example.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import Any

from skillc import paths
from skillc.lint.rules import BY_ID, ERROR, OFF, SEVERITIES, WARNING, find_rule, suggest_rule
from skillc.rulebook import read_toml
from skillc.skills.document import KNOWN_FIELDS, LIMITS as FORMAT_LIMITS

FILE = ".skilllint.toml"
MAX_BYTES = 64 * 1024

# The limits of rules by the rules' names: characters, lines, tokens.
LIMITS = {f"{name}-length": limit for name, limit in FORMAT_LIMITS.items()}
LIMITS |= {"skill-size": 500, "metadata-tokens": 100, "body-tokens": 5000}
# RFC-0008's phrases, and the words that descriptions of public skills say it with.
TRIGGERS: tuple[str, ...] = (
    *("use when", "when to use", "use for", "triggers on", "triggers:", "activate when"),
    *(" when ", " when:", "whenever", "any time", "anytime", "if the user", "trigger", "invoke for"),
    *("use before", "use this before", "use after", "use this after", "use immediately"),
    *("perfect for", "ideal for"),
    # "When", and "use for", of other languages.
    *("時に使", "ときに使", "場合に使", "際に使", "时使用", "時使用", "适用于", "適用於", "用于", "用於"),
    *("当用户", "當用戶"),
    *("때 사용", "경우 사용", " wenn ", "quand ", "lorsqu", "cuando ", "quando ", "когда ", "если "),
)
# Fields that agents define for themselves (Claude Code, VS Code, Cursor, OpenCode), and public skills use.
AGENT_FIELDS = frozenset(
    [
        *("agent", "argument-hint", "arguments", "color", "context", "disable-model-invocation"),
        *("disallowed-tools", "effort", "globs", "hooks", "mcp-servers", "mode", "model", "paths", "shell"),
        *("skills", "tools", "user-invocable", "user-invokable", "when_to_use", "when-to-use"),
        *("category", "homepage", "keywords", "repository", "tags", "title", "triggers"),
    ]
)
ABOUT_LINT = ("SKL001",)  # a remark about what is linted, never an error
_LISTS = ("known-fields", "trigger-phrases", "exclude")


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules that a command line chooses: only `select`, if there are any, and none of `ignore`.

    `strict` switches on what is off by default, and makes every warning an error.
    """

    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a check; by default, those of RFC-0008 and the Agent Skills format."""

    severities: Mapping[str, str] = field(default_factory=dict)  # by rule number
    limits: dict[str, int] = field(default_factory=LIMITS.copy)
    known_fields: frozenset[str] = KNOWN_FIELDS | AGENT_FIELDS
    triggers: tuple[str, ...] = TRIGGERS
    exclude: tuple[str, ...] = ()
    file: str | None = None
    choice: Choice = Choice()

    def with_choice(self, choice: Choice) -> Settings:
        """Return the same settings for what a command line chooses."""
        return replace(self, choice=choice)

    def severity(self, rule: str) -> str:
        """Return how severe a rule is here: as chosen, else as in the file, else by default."""
        if rule in self.choice.ignore or (self.choice.select and rule not in self.choice.select):
            return OFF
        severity = self.severities.get(rule)
        if severity is None:
            severity = BY_ID[rule].severity
            is_on = self.choice.strict or rule in self.choice.select
            severity = WARNING if severity == OFF and is_on else severity
        is_raised = self.choice.strict and severity == WARNING and rule not in ABOUT_LINT
        return ERROR if is_raised else severity

    def is_off(self, rule: str) -> bool:
        return self.severity(rule) == OFF

    def leaves_out(self, name: str) -> bool:
        """Return whether to ignore a file: it matches a glob, or a folder above it does."""
        if not self.exclude:
            return False
        prefixes = list(accumulate(name.split("/"), "{}/{}".format))
        return any(fnmatchcase(path, pattern) for pattern in self.exclude for path in prefixes)


def read_settings(source: str) -> Settings:
    """Return the settings for the skill in a folder; raises InvalidConfiguration (E071)."""
    candidates = (os.path.join(directory, FILE) for directory in _walk_up(source))
    path = next(filter(os.path.lexists, candidates), None)
    if path is None:
        return Settings()
    return read_toml(path, MAX_BYTES, _parse)


def _walk_up(source: str) -> Iterator[str]:
    """Yield the folders to look in: from the skill's to the project's root, or the home directory."""
    homes = {os.path.realpath(home) for home in (paths.home(), paths.user_home()) if home}
    for directory in paths.with_parents(os.path.realpath(source)):
        yield directory
        # A compiled skill has a `.skillc` too, so look for the store of a project.
        marks = os.path.join(directory, ".git"), paths.skills_store(directory)
        if directory in homes or any(map(os.path.exists, marks)):
            return


def _parse(table: dict[str, Any], path: str) -> Settings:
    """Return the settings of a file's table; raises ValueError for a fault, as the functions below do."""
    unknown = [key for key in table if key not in (*_LISTS, "rules", "limits")]
    if unknown:
        raise ValueError(f"unknown key '{unknown[0]}'")
    for key in ("rules", "limits"):
        if not isinstance(table.get(key, {}), dict):
            raise ValueError(f"'{key}' must be a table")
    for key in _LISTS:
        texts = table.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            raise ValueError(f"'{key}' must be a list of texts")
    return Settings(
        severities=_read_severities(table.get("rules", {})),
        limits=LIMITS | _read_limits(table.get("limits", {})),
        known_fields=KNOWN_FIELDS | AGENT_FIELDS | set(table.get("known-fields", [])),
        triggers=TRIGGERS + tuple(phrase.casefold() for phrase in table.get("trigger-phrases", [])),
        exclude=tuple(table.get("exclude", [])),
        file=path,
    )


def _read_severities(table: dict[str, Any]) -> dict[str, str]:
    severities: dict[str, str] = {}
    for word, severity in table.items():
        rule = find_rule(word)
        if rule is None:
            hint = "; it belongs above the first [table]" if word in _LISTS else suggest_rule(word)
            raise ValueError(f"unknown rule '{word}'{hint}")
        if severity not in SEVERITIES:
            raise ValueError(f"{word} must be one of {', '.join(SEVERITIES)}, not {severity!r}")
        if rule.id in severities:
            raise ValueError(f"{rule} is set twice")
        severities[rule.id] = severity
    return severities


def _read_limits(table: dict[str, Any]) -> dict[str, int]:
    for key, limit in table.items():
        if key not in LIMITS:
            raise ValueError(f"unknown limit '{key}'; there are {', '.join(LIMITS)}")
        if type(limit) is not int or limit < 1:
            raise ValueError(f"{key} must be a positive integer, not {limit!r}")
    return table
