"""Rules about frontmatter: SKL100 to SKL119, read strictly.

The lenient reader says what it repaired, and each of its diagnostics is a problem here, so that
nothing which was repaired is silent [D4].
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skillc.lint.report import Problem
from skillc.skills import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.errors import Diagnostic
    from skillc.lint.config import Settings
    from skillc.lint.page import Page
    from skillc.skills.frontmatter import Frontmatter

BOM = b"\xef\xbb\xbf"
_RULES = {"W010": "SKL116", "W013": "SKL115"}  # of diagnostics; the others are SKL100
_IN_REFERENCES = {"W010": "SKL116"}  # the others are SKL118
_QUOTED = re.compile(r"'(.*)'", re.DOTALL)
_NUMBER = re.compile(r"\d+")


def check(page: Page, directory: str, settings: Settings) -> Iterator[Problem]:
    """What is wrong with SKILL.md's frontmatter; `directory` is the name that the skill's folder has."""
    yield from _noticed(page, _RULES, "SKL100")
    front = page.document.frontmatter
    if front is None:
        yield Problem("SKL100", _why_missing(page.text), page.name)
        return
    if any(diagnostic.code == "W016" for diagnostic in page.document.diagnostics):
        return  # not read: there is nothing more to say about its fields
    subject = _Subject(page, front, settings)
    yield from _name(subject, directory)
    yield from _description(subject)
    yield from _fields(subject)


def check_reference(page: Page) -> Iterator[Problem]:
    """What is wrong with the beginning of any other page."""
    yield from _noticed(page, _IN_REFERENCES, "SKL118")


class _Subject:
    """SKILL.md's frontmatter while it is checked."""

    def __init__(self, page: Page, front: Frontmatter, settings: Settings) -> None:
        self.page = page
        self.front = front
        self.fields = front.fields
        self.settings = settings
        self.block = page.block

    def problem(self, rule: str, message: str, field: str = "", cause: str = "") -> Problem:
        line = self.block.line_of(field) if self.block and field else 1
        return Problem(rule, message, self.page.name, line, cause)


def _noticed(page: Page, rules: dict[str, str], otherwise: str) -> Iterator[Problem]:
    """A byte order mark, and everything that the lenient reader had to overlook."""
    if page.raw.startswith(BOM):
        yield Problem("SKL119", "starts with a byte order mark", page.name)
    for noticed in page.document.diagnostics:
        rule = rules.get(noticed.code, otherwise)
        yield Problem(rule, noticed.message, page.name, _line(page, noticed), noticed.code)


def _line(page: Page, noticed: Diagnostic) -> int:
    """The line that a diagnostic of the reader is about."""
    front = page.document.frontmatter
    block = page.block
    if front is None or block is None:
        return 1
    if noticed.code == "W011":
        return block.first_line + _yaml_error(front.raw)
    if noticed.code == "W012":
        return page.line_at(front.end)
    if noticed.code == "W013" and (quoted := _QUOTED.search(noticed.message)):
        return block.line_of(quoted[1])
    if noticed.code == "W019" and (number := _NUMBER.search(noticed.message)):
        return int(number[0])
    return 1


def _yaml_error(raw: str) -> int:
    """The line of the block, from 0, where it stops being YAML."""
    try:
        yaml.load(raw)
    except yaml.NotYaml as error:
        return error.line or 0
    return 0


def _why_missing(text: str) -> str:
    """What keeps the beginning of a file from being frontmatter."""
    lines = text.lstrip().splitlines()
    if not lines:
        return "the file is empty; it must open with frontmatter between two lines '---'"
    if lines[0].rstrip() != "---":
        return "there is no frontmatter; the file must open with a line '---'"
    if not any(line.rstrip() == "---" for line in lines[1:]):
        return "the frontmatter is not closed by a line '---'"
    return "what stands between the lines '---' is not a YAML mapping"


def _name(subject: _Subject, directory: str) -> Iterator[Problem]:
    name = subject.front.text("name")
    yield from _not_text(subject, "name")
    if name is None:
        yield subject.problem("SKL101", "there is no name", "name", cause="W014")
        return
    limit = subject.settings.limits["name-length"]
    if not 1 <= len(name) <= limit:
        yield subject.problem("SKL103", f"the name has {len(name)} characters, not 1 to {limit}", "name")
    if name and (set(name) - _NAME_CHARACTERS or name.startswith("-") or name.endswith("-")):
        message = f"'{name}' must be a-z, 0-9 and hyphens, with none at either end"
        yield subject.problem("SKL102", message, "name")
    if "--" in name:
        yield subject.problem("SKL110", f"'{name}' has two hyphens together", "name")
    if name and name != directory:
        yield subject.problem("SKL104", f"'{name}' is not the directory's name, '{directory}'", "name")


_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def _description(subject: _Subject) -> Iterator[Problem]:
    if "description" not in subject.fields:
        yield subject.problem("SKL105", "there is no description")
        return
    text = (subject.front.text("description") or "").strip()
    yield from _not_text(subject, "description")
    if not text:
        yield subject.problem("SKL106", "the description is empty", "description")
        return
    limit = subject.settings.limits["description-length"]
    if len(text) > limit:
        message = f"the description has {len(text)} characters, more than {limit}"
        yield subject.problem("SKL107", message, "description")
    folded = " ".join(text.casefold().split())
    if not any(phrase in folded for phrase in subject.settings.triggers):
        message = "the description does not say when to use the skill, such as 'Use when …'"
        yield subject.problem("SKL108", message, "description")


def _not_text(subject: _Subject, field: str) -> Iterator[Problem]:
    value = subject.fields.get(field)
    if value is not None and not isinstance(value, str):
        message = f"{field} is {_kind(value)}, not text; put it in quotes"
        yield subject.problem("SKL117", message, field, cause="W015")


def _fields(subject: _Subject) -> Iterator[Problem]:
    """The other fields of the Agent Skills format, and those that nobody knows."""
    fields = subject.fields
    if "license" in fields and not isinstance(fields["license"], str):
        yield subject.problem("SKL111", f"license is {_kind(fields['license'])}, not text", "license")
    if "compatibility" in fields:
        yield from _compatibility(subject, fields["compatibility"])
    if "metadata" in fields:
        yield from _metadata(subject, fields["metadata"])
    if "allowed-tools" in fields:
        yield from _allowed_tools(subject, fields["allowed-tools"])
    for field in fields:
        if field not in subject.settings.known_fields:
            yield subject.problem("SKL109", f"unknown field '{field}'{_meant(field, subject)}", field)


def _compatibility(subject: _Subject, value: Any) -> Iterator[Problem]:
    limit = subject.settings.limits["compatibility-length"]
    if not isinstance(value, str):
        yield subject.problem("SKL112", f"compatibility is {_kind(value)}, not text", "compatibility")
    elif not 1 <= len(value.strip()) <= limit:
        message = f"compatibility has {len(value.strip())} characters, not 1 to {limit}"
        yield subject.problem("SKL112", message, "compatibility")


def _metadata(subject: _Subject, value: Any) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield subject.problem("SKL113", f"metadata is {_kind(value)}, not a mapping", "metadata")
        return
    wrong = [f"'{key}' is {_kind(item)}" for key, item in value.items() if not isinstance(item, str)]
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        message = f"metadata must map text to text: {', '.join(wrong[:3])}{more}"
        yield subject.problem("SKL113", message, "metadata")


def _allowed_tools(subject: _Subject, value: Any) -> Iterator[Problem]:
    if not isinstance(value, str):
        message = f"allowed-tools is {_kind(value)}, not text separated by spaces"
    elif len(split_tools(value)) > 1 or value.rstrip().endswith(","):
        message = "allowed-tools is separated by commas, not spaces"
    else:
        return
    yield subject.problem("SKL114", message, "allowed-tools")


def split_tools(text: str) -> list[str]:
    """A comma-separated list of tools; commas in parentheses are a tool's own.

    >>> split_tools("Read, Bash(git add,git commit)")
    ['Read', 'Bash(git add,git commit)']
    """
    tools, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")" and depth > 0)
        if c == "," and depth == 0:
            tools.append("")
        else:
            tools[-1] += c
    return [tool.strip() for tool in tools if tool.strip()]


def _kind(value: Any) -> str:
    """What a value of YAML is, in words."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else "text"


def _meant(field: str, subject: _Subject) -> str:
    from difflib import get_close_matches

    missing = [known for known in subject.settings.known_fields if known not in subject.fields]
    close = get_close_matches(field.lower(), sorted(missing), n=1, cutoff=0.8)
    return f"; did you mean '{close[0]}'?" if close else ""
