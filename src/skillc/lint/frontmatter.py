"""Check frontmatter strictly: SKL100 to SKL119. Every repair of the lenient reader is a problem here [D4]."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from skillc.errors import Diagnostic
from skillc.lint.config import Settings
from skillc.lint.page import Page
from skillc.lint.report import Problem
from skillc.skills import NAME_CHARACTERS, newlines
from skillc.skills.document import Frontmatter, NotYaml, load_yaml
from skillc.spelling import suggest
from skillc.text import first_of

BOM = b"\xef\xbb\xbf"
_KINDS = {type(None): "empty", bool: "a truth value", int: "a number", float: "a number"}
_KINDS |= {str: "text", list: "a list", dict: "a mapping"}
_QUOTED = re.compile(r"(?s)'(.*)'")
_NUMBER = re.compile(r"\d+")
MAX_HINTS = 50  # unknown fields that are compared with the known ones
MIN_RATIO = 0.8  # similarity from which an unknown field is taken for a misspelt one


def check_reading(page: Page, *, main: bool) -> Iterator[Problem]:
    """Yield a byte order mark, and every diagnostic of the lenient reader; `main` for SKILL.md."""
    if page.raw.startswith(BOM):
        yield Problem("SKL119", "starts with a byte order mark", page.name)
    rules = {"W013": "SKL115"} if main else {}
    for diagnostic in page.document.diagnostics:
        if diagnostic.code == "W010":
            yield _find_bad_byte(page)
        else:
            rule = rules.get(diagnostic.code, "SKL100" if main else "SKL118")
            yield Problem(rule, diagnostic.message, page.name, _line(page, diagnostic), diagnostic.code)


def _find_bad_byte(page: Page) -> Problem:
    """Return the problem of bytes that are not UTF-8, on the line of the first."""
    at = 0
    try:
        page.raw.decode()
    except UnicodeDecodeError as error:
        at = error.start
    message = f"is not UTF-8: the first byte that is not is 0x{page.raw[at]:02x}"
    return Problem("SKL116", message, page.name, 1 + newlines(page.raw, 0, at), "W010")


def _line(page: Page, diagnostic: Diagnostic) -> int:
    """Return the line that a diagnostic of the reader is about."""
    front, block = page.document.frontmatter, page.block
    if front is None or block is None:
        return 1
    if diagnostic.code == "W011":
        try:
            load_yaml(front.raw)
        except NotYaml as error:
            return block.first_line + (error.line or 0)
    if diagnostic.code == "W012":
        return page.line_at(front.end)
    if diagnostic.code == "W013" and (key := _QUOTED.search(diagnostic.message)):
        return block.line_of(key[1])
    if diagnostic.code == "W019" and (number := _NUMBER.search(diagnostic.message)):
        return int(number[0])
    return 1


def _explain_missing(text: str) -> str:
    """Say why the beginning of a file is no frontmatter."""
    lines = text.lstrip().splitlines()
    if not lines:
        return "the file is empty; it must open with frontmatter between two lines '---'"
    if lines[0].rstrip() != "---":
        return "there is no frontmatter; the file must open with a line '---'"
    if not any(line.rstrip() == "---" for line in lines[1:]):
        return "the frontmatter is not closed by a line '---'"
    return "what stands between the lines '---' is not a YAML mapping"


def check(page: Page, directory: str, settings: Settings) -> Iterator[Problem]:
    """Yield the problems of the fields of SKILL.md; `directory` is the name of the skill's folder."""
    front = page.document.frontmatter
    if front is None:
        yield Problem("SKL100", _explain_missing(page.text), page.name)
    elif "W016" not in {diagnostic.code for diagnostic in page.document.diagnostics}:  # too large to read
        for field in ("name", "description"):
            value = front.fields.get(field)
            if value is not None and not isinstance(value, str):
                message = f"{field} is {_KINDS[type(value)]}, not text; put it in quotes"
                yield page.field_problem("SKL117", message, field, cause="W015")
        yield from _check_name(page, front.text("name"), directory, settings)
        yield from _check_description(page, front, settings)
        yield from _check_fields(page, front.fields, settings)


def _check_name(page: Page, name: str | None, directory: str, settings: Settings) -> Iterator[Problem]:
    if name is None:
        yield page.field_problem("SKL101", "there is no name", "name", cause="W014")
        return
    limit = settings.limits["name-length"]
    if not 1 <= len(name) <= limit:
        yield page.field_problem("SKL103", f"the name has {len(name)} characters, not 1 to {limit}", "name")
    if name and (set(name) - NAME_CHARACTERS or name.startswith("-") or name.endswith("-")):
        message = f"'{name}' must be a-z, 0-9 and hyphens, with none at either end"
        yield page.field_problem("SKL102", message, "name")
    if "--" in name:
        yield page.field_problem("SKL110", f"'{name}' has two hyphens together", "name")
    if name and name != directory:
        yield page.field_problem("SKL104", f"'{name}' is not the directory's name, '{directory}'", "name")


def _check_description(page: Page, front: Frontmatter, settings: Settings) -> Iterator[Problem]:
    if "description" not in front.fields:
        yield page.field_problem("SKL105", "there is no description")
        return
    text = (front.text("description") or "").strip()
    if not text:
        yield page.field_problem("SKL106", "the description is empty", "description")
        return
    limit = settings.limits["description-length"]
    if len(text) > limit:
        message = f"the description has {len(text)} characters, more than {limit}"
        yield page.field_problem("SKL107", message, "description")
    words = " ".join(text.casefold().split())
    if not any(phrase in words for phrase in settings.triggers):
        message = "the description does not say when to use the skill, such as 'Use when …'"
        yield page.field_problem("SKL108", message, "description")


def _check_fields(page: Page, fields: dict[str, Any], settings: Settings) -> Iterator[Problem]:
    """Check the other fields of the Agent Skills format, and report unknown ones."""
    for rule, field in (("SKL111", "license"), ("SKL112", "compatibility")):
        if field in fields and not isinstance(fields[field], str):
            yield page.field_problem(rule, f"{field} is {_KINDS[type(fields[field])]}, not text", field)
    value, limit = fields.get("compatibility"), settings.limits["compatibility-length"]
    if isinstance(value, str) and not 1 <= len(value.strip()) <= limit:
        message = f"compatibility has {len(value.strip())} characters, not 1 to {limit}"
        yield page.field_problem("SKL112", message, "compatibility")
    yield from _check_metadata(page, fields.get("metadata", {}))
    yield from _check_allowed_tools(page, fields.get("allowed-tools", ""))
    absent = settings.known_fields - set(fields)
    unknown = [field for field in fields if field not in settings.known_fields]
    for number, field in enumerate(unknown):
        likely = suggest(field, absent, 1, MIN_RATIO) if number < MAX_HINTS else ()
        hint = f"; did you mean '{likely[0]}'?" if likely else ""
        yield page.field_problem("SKL109", f"unknown field '{field}'{hint}", field)


def _check_metadata(page: Page, value: Any) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield page.field_problem("SKL113", f"metadata is {_KINDS[type(value)]}, not a mapping", "metadata")
        return
    wrong = [f"'{key}' is {_KINDS[type(item)]}" for key, item in value.items() if not isinstance(item, str)]
    if wrong:
        message = f"metadata must map text to text: {first_of(wrong, 3)}"
        yield page.field_problem("SKL113", message, "metadata")


def _check_allowed_tools(page: Page, value: Any) -> Iterator[Problem]:
    if not isinstance(value, str):
        message = f"allowed-tools is {_KINDS[type(value)]}, not text separated by spaces"
        yield page.field_problem("SKL114", message, "allowed-tools")
    elif len(split_tools(value)) > 1 or value.rstrip().endswith(","):
        message = "allowed-tools is separated by commas, not spaces"
        yield page.field_problem("SKL114", message, "allowed-tools")


def split_tools(text: str) -> list[str]:
    """Split a comma-separated list of tools; commas in parentheses belong to a tool.

    >>> split_tools("Read, Bash(git add,git commit)")
    ['Read', 'Bash(git add,git commit)']
    """
    tools, depth, start = [], 0, 0
    for position, c in enumerate(text):
        depth += (c == "(") - (c == ")" and depth > 0)
        if c == "," and depth == 0:
            tools.append(text[start:position].strip())
            start = position + 1
    return [tool for tool in (*tools, text[start:].strip()) if tool]
