"""Read a file with cases by which a skill is evaluated, in every dialect that is in use.

    {"evals": [{"id", "prompt", "files", "expectations": […]}]}         skill-creator's; or `assertions`
    [{"query", "should_trigger"}]                                       triggers
    [{"id", "question", "expected_skill", "expected_behavior": […]}]    NVIDIA's; also JSON lines and YAML
    id,should_trigger,prompt                                            CSV
    evals/<case>/prompt.md, graders/*.md, case.yaml                     `claude plugin eval`

Reading is lenient: what can't be read is a warning (W110), and the others count. A case may say whether the
skill should fire, what a good answer has, or both. Its `env` is not read: it could lead an agent elsewhere.

>>> cases, _ = read_list([{"query": "Fill a form", "should_trigger": True}], "pdf", "triggers.json")
>>> cases[0].prompt, cases[0].should_fire
('Fill a form', True)
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from skillc.errors import Diagnostic, PathEscapes, warning
from skillc.paths import CASES_FOLDER, read_regular
from skillc.skills.document import NotYaml, load_yaml
from skillc.skills.files import resolve_inside

MAX_FILE = 4 << 20  # bytes of a file with cases
MAX_CASES = 2000  # of a skill; further ones are left out
MAX_PROMPT = 100_000  # bytes: Linux passes no argument of 128 KiB
MAX_NAME = 200  # characters
MAX_GRADERS = 100  # of a case
MAX_LIMIT = 1_000_000  # of runs, turns and seconds

CONTAINS, REGEX, FILE_EXISTS, JSON_PATH = "contains", "regex", "file_exists", "json_path"
TOOL_USED, TOOL_ORDER, SCRIPT, SENTENCE = "tool_used", "tool_order", "script", "sentence"
EXACT = (CONTAINS, REGEX, FILE_EXISTS, JSON_PATH, TOOL_USED, TOOL_ORDER, SCRIPT)
ANSWER, TRACE, FILES = "last_message", "trace", "files"  # what a grader looks at; else the path of a file


@dataclass(frozen=True, slots=True)
class ToolPattern:
    """Calls of a tool, by its name and what its arguments as JSON contain; empty for any."""

    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Grader:
    """An expectation of a good run. `text` says it for people; of a sentence, the judge is asked it."""

    kind: str
    text: str
    pattern: str = ""  # a regular expression, a text, a path, a JSON path or the name of a script
    flags: str = ""
    is_absent: bool = False  # it must not be there
    count: int | None = None  # of matches, where they are counted
    target: str = ANSWER
    tools: tuple[ToolPattern, ...] = ()  # one, or two in their order
    least: int = 1
    most: int | None = None
    expected: Any = None  # at the JSON path; None for anything that is there
    arms: tuple[str, ...] = ()  # in which it counts; all, if none is named


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt with what is expected."""

    name: str
    prompt: str
    file: str  # below the skill
    should_fire: bool | None = None  # None where only the answer counts
    acceptable: tuple[str, ...] = ()  # other skills that may fire instead
    expected: str = ""  # a good answer, in words
    files: tuple[str, ...] = ()  # that the run starts with, below the skill
    graders: tuple[Grader, ...] = ()
    runs: int | None = None
    timeout: float | None = None
    max_turns: int | None = None
    model: str = ""
    tools: tuple[str, ...] = ()  # that the agent may use without a question


Cases = tuple[list[Case], list[Diagnostic]]
_Parse = Callable[[str], Any]

# The words that the dialects have for one thing, in the order in which they are looked for.
_PROMPT = ("prompt", "query", "question", "input", "task", "user_prompt", "message")
_NAME = ("id", "name", "case_id", "eval_name", "title")
_SHOULD = ("should_trigger", "should_fire", "should_activate", "expected_trigger", "trigger")
_SENTENCES = (
    *("expectations", "assertions", "expected_behavior", "expected_behaviors", "expected_behaviour"),
    *("criteria", "checks", "graders"),
)
_YES, _NO = ("true", "1", "yes", "y"), ("false", "0", "no", "n")
_EXPECTED = ("expected_output", "ground_truth", "expected", "reference")
_FILES = ("files", "input_files", "fixtures")
_LISTS = (
    *("evals", "expects", "cases", "tests", "test_cases", "tasks", "queries", "prompts", "examples"),
    "triggers",
)
_TRIGGERS = {"should_trigger": True, "should_not_trigger": False, "positive": True, "negative": False}
_KINDS = {
    **dict.fromkeys(("contains", "includes", "output_contains", "contains_phrase", "substring"), CONTAINS),
    **dict.fromkeys(("regex", "matches", "output_matches", "contains_pattern", "pattern"), REGEX),
    "file_exists": FILE_EXISTS,
    **dict.fromkeys(("json_path", "jsonpath"), JSON_PATH),
    **dict.fromkeys(("tool_used", "tool_calls"), TOOL_USED),
    "tool_order": TOOL_ORDER,
    **dict.fromkeys(("script", "command"), SCRIPT),
    **dict.fromkeys(("llm", "sentence", "rubric", "judge", "llm_judge"), SENTENCE),
}
_WORDS = {"must_contain": False, "must_include": False, "must_not_contain": True, "must_not": True}
_NO_ARGUMENT = re.compile("[\0\ud800-\udfff]")
CASE_ENDINGS = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv")


def read_case_file(source: str, path: str, skill: str) -> Cases:
    """Return the cases of one file below a skill."""
    try:
        text = read_regular(resolve_inside(source, path), MAX_FILE).decode("utf-8-sig", "replace")
        value = _PARSERS[os.path.splitext(path)[1].lower()](text)
    except (OSError, PathEscapes, ValueError, RecursionError, NotYaml, csv.Error) as error:
        return [], [problem_at(path, f"can't be read: {getattr(error, 'strerror', None) or error}")]
    return read_list(value, skill, path)


def _parse_lines(text: str) -> list[Any]:
    values = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return values


def _parse_csv(text: str) -> list[dict[str, str]]:
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.DictReader(StringIO(text), delimiter=delimiter)
    return [
        {key.strip().lower(): value or "" for key, value in row.items() if isinstance(key, str)}
        for row in rows
    ]


def _parse_yaml(text: str) -> Any:
    return load_yaml(text, 20 * MAX_CASES).value


_PARSERS: dict[str, _Parse] = {
    ".json": json.loads,
    ".jsonl": _parse_lines,
    ".ndjson": _parse_lines,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".csv": _parse_csv,
}


def read_list(value: Any, skill: str, path: str) -> Cases:
    """Return the cases of a value that was read from a file."""
    cases: list[Case] = []
    diagnostics: list[Diagnostic] = []
    items = list(_list_items(value))
    for number, (item, should) in enumerate(items, 1):
        place = f"{path}#{number}"
        entry = {"prompt": item} if isinstance(item, str) else item
        if not isinstance(entry, Mapping):
            diagnostics.append(problem_at(place, "is no case: neither an object nor text"))
            continue
        try:
            case = read_case(entry, skill, path, str(number))
        except ValueError as error:
            diagnostics.append(problem_at(place, str(error)))
            continue
        cases.append(case if should is None else replace(case, should_fire=should))
    if not items:
        diagnostics.append(
            problem_at(path, "has no list of cases; docs/evals.md shows the forms that are read")
        )
    return cases, diagnostics


def _list_items(value: Any) -> Iterator[tuple[Any, bool | None]]:
    """Yield the items of all lists of cases, with whether the skill should fire if the list says so."""
    if isinstance(value, list):
        yield from ((item, None) for item in value)
    elif isinstance(value, Mapping):
        if get(value, _PROMPT) and not any(isinstance(value.get(name), list) for name in _LISTS):
            yield value, None  # a file for each case
        for name, should in _TRIGGERS.items():
            if isinstance(value.get(name), list):
                yield from ((item, should) for item in value[name])
        for name in _LISTS:
            if isinstance(value.get(name), list):
                yield from ((item, None) for item in value[name])


def read_case(entry: Mapping[str, Any], skill: str, file: str, name: str) -> Case:
    """Return one case of any dialect; raise ValueError for one that can't be run."""
    prompt = get(entry, _PROMPT)
    if not isinstance(prompt, str) or not prompt.strip():
        raise ValueError("has no prompt")
    if _NO_ARGUMENT.search(prompt):
        raise ValueError("has a character in its prompt that no program can be given")
    if (size := len(prompt.encode())) > MAX_PROMPT:
        raise ValueError(f"has a prompt of {size:,} bytes; at most {MAX_PROMPT:,} can be given to an agent")
    if prompt.startswith("TODO"):
        raise ValueError("is still to be written")
    given = get(entry, _NAME)
    expected = get(entry, _EXPECTED)
    return Case(
        name=str(given)[:MAX_NAME] if isinstance(given, str | int) and str(given).strip() else name,
        prompt=prompt,
        file=file,
        should_fire=_read_should(entry, skill),
        acceptable=texts(entry.get("acceptable_skills")),
        expected=expected if isinstance(expected, str) else "",
        files=tuple(
            f"{CASES_FOLDER}/{name}" if not name.startswith(f"{CASES_FOLDER}/") else name
            for name in texts(get(entry, _FILES))
        ),
        graders=tuple(read_graders(entry))[:MAX_GRADERS],
        **read_limits(entry),
    )


def _read_should(entry: Mapping[str, Any], skill: str) -> bool | None:
    """Return whether the skill should fire: said so, or by the name of the skill that is expected."""
    said = get(entry, _SHOULD)
    if isinstance(said, int | str) and str(said).strip():
        word = str(said).strip().lower()
        if word not in _YES + _NO:
            raise ValueError(f"says neither true nor false of whether the skill should fire: '{word[:40]}'")
        return word in _YES
    for key in ("expected_skill", "expected_skills"):
        if key in entry:
            if _names(entry[key], skill):
                return True
            return None if _names(entry.get("acceptable_skills"), skill) else False
    return None


def _names(value: Any, skill: str) -> bool:
    return any(skill in (name, name.rpartition("/")[2]) for name in texts(value))


def read_limits(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a case says of how it is run."""
    limits: dict[str, Any] = {}
    for name, key in (("runs", "runs"), ("max_turns", "max_turns"), ("timeout", "timeout_seconds")):
        value = entry.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_LIMIT:
            limits[name] = float(value) if name == "timeout" else math.ceil(value)
    # Both become words of a command, and none may be an option of its own.
    model, *_ = (*filter(_is_word, texts(entry.get("model"))), "")
    return limits | {"model": model, "tools": tuple(filter(_is_word, texts(entry.get("allowed_tools"))))}


def _is_word(text: str) -> bool:
    return text.isprintable() and not text.startswith("-")


def read_graders(entry: Mapping[str, Any]) -> Iterator[Grader]:
    """Yield what a case expects of an answer."""
    for key in _SENTENCES:
        value = entry.get(key)
        for item in [value] if isinstance(value, str | Mapping) else value if isinstance(value, list) else ():
            if isinstance(item, str) and item.strip():
                yield Grader(SENTENCE, item.strip())
            elif isinstance(item, Mapping):
                grader = read_grader(item)
                if grader.text or grader.kind != SENTENCE:
                    yield grader
    for key, is_absent in _WORDS.items():
        for text in texts(entry.get(key)):
            what = f"{'does not contain' if is_absent else 'contains'} '{text}'"
            yield Grader(CONTAINS, what, text, is_absent=is_absent)
    for script in texts(entry.get("expected_script")):  # NVIDIA's; a call of any tool that names it
        name = re.escape(os.path.basename(script))
        yield Grader(TOOL_USED, f"runs {script}", tools=(ToolPattern("", name),))


def read_grader(item: Mapping[str, Any], body: str = "") -> Grader:
    """Return one grader; of a kind that is not known here, one that is told and not judged."""
    said = get(item, ("text", "description", "criteria", "assertion", "expectation", "name", "id"))
    text = (said if isinstance(said, str) else "") or body.strip()
    given = get(item, ("type", "kind"))
    name = str(given or "sentence").lower().replace("-", "_")
    kind = _KINDS.get(name.removeprefix("not_"), "")
    arm = str(item.get("arm", ""))
    arms = ("with",) if arm == "with-only" else ("without",) if arm == "without-only" else ()
    if kind in (TOOL_USED, TOOL_ORDER):
        return _read_tool_grader(kind, item, text, arms)
    if kind in ("", SENTENCE):
        return Grader(kind or name, text, target=_read_target(item.get("focus")), arms=arms)
    match = str(item.get("match", "contains"))
    count = match.partition("count:")[2]
    pattern = get(item, ("pattern", "phrase", "value", "regex", "path", "script", "run")) or ""
    is_turned = name.startswith("not_") or match == "not_contains"
    is_absent = is_turned or item.get("exists") is False or item.get("absent") is True
    return Grader(
        kind,
        text or f"{'not ' if is_absent else ''}{kind.replace('_', ' ')}: {pattern}",
        pattern=str(pattern),
        flags=str(item.get("flags", "")),
        is_absent=is_absent,
        count=int(count) if count.isascii() and count.isdigit() else None,
        target=_read_target(item.get("target")),
        expected=item.get("expected", item.get("equals")),
        arms=arms,
    )


def _read_tool_grader(kind: str, item: Mapping[str, Any], text: str, arms: tuple[str, ...]) -> Grader:
    keys = ("before", "after") if kind == TOOL_ORDER else ("",)
    tools = tuple(_read_tool(item.get(key) if key else item) for key in keys)
    names = [pattern.tool or "any tool" for pattern in tools]
    most = item.get("max")
    least = item.get("min", 1)
    return Grader(
        kind,
        text or (f"{names[0]} is used before {names[1]}" if kind == TOOL_ORDER else f"uses {names[0]}"),
        tools=tools,
        least=least if type(least) is int else 1,
        most=most if type(most) is int else None,
        arms=arms,
    )


def _read_tool(value: Any) -> ToolPattern:
    if isinstance(value, Mapping):
        return ToolPattern(str(value.get("tool", "")), str(value.get("input_match", "")))
    return ToolPattern(str(value or ""))


def _read_target(value: Any) -> str:
    """Return what a grader looks at: the answer, the trace, all files, or the path of one."""
    if isinstance(value, Mapping) and value.get("source") == "file":
        return str(value.get("path", ""))
    return str(value) if isinstance(value, str) and value else ANSWER


def get(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return the value of the first key that is there; None if none is."""
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def texts(value: Any) -> tuple[str, ...]:
    """Return a text, or the texts of a list."""
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def problem_at(place: str, reason: str) -> Diagnostic:
    return warning("W110", place, reason)
