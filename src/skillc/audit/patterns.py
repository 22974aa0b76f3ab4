"""The tables of what the readers look for, which `patterns.toml` has: words, patterns and combinations.

A pattern is a regular expression, a list of them of which any may match, or such a list (`any`) with what is
before and after it (`start`, `end`); `@name@` stands for another one.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from skillc.audit.findings import LineCounter, Trace

MAX_MATCHES = 200  # of one pattern in a script
SMALL = 40  # lines of a script in which all is near
MAX_MODULES = 64 << 10  # characters of scripts that are read together
_COMMENT_LINE = re.compile(r"^[ \t]*(?:#(?!!)|//(?!go:generate)|\*|--[ \t]).*", re.MULTILINE)

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
def load_names(name: str) -> frozenset[str]:
    """Return a set of names."""
    return word_set(table("words")[name])


@cache
def load_pattern(name: str) -> re.Pattern[str]:
    """Return a named pattern."""
    return compile_pattern(table("patterns")[name])


def compile_pattern(source: Any) -> re.Pattern[str]:
    """Return a pattern of the file, with those that it refers to."""
    return re.compile(_expand(source))


def _expand(source: Any) -> str:
    if isinstance(source, dict):
        source = f"{source['start']}(?:{'|'.join(source['any'])}){source['end']}"
    text = source if isinstance(source, str) else "|".join(source)
    return _REFERENCE.sub(lambda match: f"(?:{_expand(table('patterns')[match[1]])})", text)


def check_command(name: str, text: str, trace: Trace, line: int) -> None:
    """Report a command that has one of the forms; `text` is its line, of a bounded length."""
    for row, programs, form in _commands():
        if (not programs or name in programs) and form.search(text):
            trace.report(row["rule"], row["message"].format(name), line, name, row.get("level", ""))


@cache
def _commands() -> list[tuple[dict[str, str], frozenset[str], re.Pattern[str]]]:
    return [(row, word_set(row["programs"]), compile_pattern(row["pattern"])) for row in table("command")]


def check_script(text: str, trace: Trace, line: int, language: str) -> None:
    """Report what a script does by its words, in any language: patterns that are near each other."""
    text = _COMMENT_LINE.sub("", text)
    for row, patterns in _combinations():
        if re.match(row.get("language", ""), language) and all(each.search(text) for each in patterns):
            near = row.get("near", 0) if text.count("\n") > SMALL else 0
            number = _find_together(text, patterns, near)
            known = {(problem.rule, problem.line) for problem in trace.problems}
            if number is not None and (row["rule"], line + number) not in known:
                trace.report(row["rule"], row["message"], line + number, level=row.get("level", ""))


@cache
def _combinations() -> list[tuple[dict[str, Any], list[re.Pattern[str]]]]:
    return [(row, [compile_pattern(source) for source in row["all"]]) for row in table("script")]


def _find_together(text: str, patterns: list[re.Pattern[str]], near: int) -> int | None:
    """Return the line, from 0, where the first pattern matches with all others near it."""
    rows = []
    for each in patterns:
        counter = LineCounter(text, 0)
        rows.append([counter.at(match.start()) for match in islice(each.finditer(text), MAX_MATCHES)])
    first, *others = rows
    for number in first:
        if all(not near or any(abs(at - number) <= near for at in row) for row in others):
            return number
    return None


def check_modules(texts: dict[str, str], traces: dict[str, Trace]) -> None:
    """Report what the scripts of a small skill do together, where one gets and another one runs."""
    if len(texts) < 2 or sum(map(len, texts.values())) > MAX_MODULES:
        return
    texts = {name: _COMMENT_LINE.sub("", text) for name, text in texts.items()}
    for row, patterns in _combinations():
        places = [{name for name, text in texts.items() if each.search(text)} for each in patterns]
        if row.get("modules") and all(places) and not set.intersection(*places):
            name = min(places[0])
            number = _find_together(texts[name], patterns[:1], 0) or 0
            trace = traces[name]
            if not any(trace.has(row["rule"]) for trace in traces.values()):
                trace.report(row["rule"], f"with other scripts: {row['message']}", number + 1, level="review")


def check_setting(name: str, text: str, trace: Trace) -> None:
    """Report what is known by a line of a file with some name."""
    for row, files, form in _settings():
        match = form.search(text) if files.search(name) else None
        if match:
            line = text.count("\n", 0, match.end()) + 1
            trace.report(row["rule"], row["message"], line, level=row.get("level", ""))


@cache
def _settings() -> list[tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]]:
    return [
        (row, re.compile(row["files"]), re.compile(row["pattern"], re.MULTILINE)) for row in table("setting")
    ]
