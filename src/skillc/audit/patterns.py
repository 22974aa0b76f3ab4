"""The tables of what the readers look for, which `patterns.toml` has: words, patterns and combinations.

A pattern is a regular expression, or a list of them of which any may match; `@name@` stands for another one.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("patterns.toml")
_REFERENCE = re.compile(r"@([a-z][a-z0-9-]*)@")


@cache
def table(name: str) -> Any:
    """Return a table of the file."""
    return _load()[name]


@cache
def _load() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text: tables of names are easier to read without their quotes."""
    return frozenset(text.split())


@cache
def words(name: str) -> frozenset[str]:
    """Return a set of names."""
    return word_set(table("words")[name])


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a named pattern."""
    return compile_pattern(table("patterns")[name])


def compile_pattern(source: str | list[str], flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of the file, with those that it refers to."""
    return re.compile(_expand(source), flags)


def _expand(source: str | list[str]) -> str:
    text = source if isinstance(source, str) else "|".join(source)
    return _REFERENCE.sub(lambda match: f"(?:{_expand(table('patterns')[match[1]])})", text)
