"""Grade a run by what can be told exactly: its answer, its files, its calls of tools."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from skillc import tools
from skillc.errors import PathEscapes, SkillcError
from skillc.evals.transcripts import Transcript
from skillc.paths import is_inside, read_regular
from skillc.skills import resolve_inside
from skillc.skills.cases import (
    ANSWER,
    CONTAINS,
    FILE_EXISTS,
    FILES,
    JSON_PATH,
    REGEX,
    SCRIPT,
    TOOL_ORDER,
    TOOL_USED,
    TRACE,
    Grader,
    ToolPattern,
)

MAX_FILE = 4 << 20  # bytes of a file that is looked at
MAX_FILES = 2000  # of a run
MAX_EVIDENCE = 300  # characters
SCRIPT_SECONDS = 60.0
REGEX_SECONDS = 10.0
_SEARCH = (
    "import json, re, sys; pattern, flags, texts = json.load(sys.stdin);"
    "print(json.dumps([[match[0][:300] for match in re.finditer(pattern, text, flags)] for text in texts]))"
)
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of one expectation; `passed` is None for one that could not be judged."""

    text: str
    passed: bool | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a run: its transcript, the folder it worked in, and the skill's own folder."""

    transcript: Transcript
    folder: str
    source: str

    def files(self) -> Iterator[str]:
        """Yield the files below the folder, as paths with slashes; links are left out."""
        count = 0
        for directory, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in sorted(names):
                path = os.path.join(directory, name)
                count += 1
                if count > MAX_FILES:
                    return
                if not os.path.islink(path):
                    yield os.path.relpath(path, self.folder).replace(os.sep, "/")

    def read(self, path: str) -> str:
        """Return a file as text; raises OSError for one that is not there, PathEscapes for one elsewhere."""
        return read_regular(resolve_inside(self.folder, path), MAX_FILE).decode("utf-8", "replace")

    def text(self, target: str) -> str:
        """Return what a grader looks at; raises OSError and PathEscapes for a file."""
        if target == ANSWER:
            return self.transcript.answer
        if target == TRACE:
            return self.transcript.trace()
        if target == FILES:
            return "\n".join(self.files())
        return self.read(target)


def grade(grader: Grader, work: Work) -> Grade:
    """Return what becomes of an exact grader."""
    try:
        passed, evidence = _GRADERS[grader.kind](grader, work)
    except (OSError, PathEscapes, SkillcError) as error:
        passed, evidence = grader.is_absent, getattr(error, "strerror", None) or str(error)
    except re.error as error:
        passed, evidence = None, f"'{grader.pattern}' is no regular expression of Python: {error}"
    except subprocess.TimeoutExpired:
        passed, evidence = None, f"its regular expression takes more than {REGEX_SECONDS:g} s"
    return Grade(grader.text, passed, " ".join(evidence.split())[:MAX_EVIDENCE])


_Verdict = tuple[bool | None, str]


def _contains(grader: Grader, work: Work) -> _Verdict:
    position = work.text(grader.target).casefold().find(grader.pattern.casefold())
    found = position >= 0
    return found != grader.is_absent, "found" if found else "not found"


def _matches(grader: Grader, work: Work) -> _Verdict:
    flags = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
    value = 0
    for letter in grader.flags:
        value |= flags.get(letter, 0)
    [found] = _search(grader.pattern, value, [work.text(grader.target)])
    if grader.count is not None:
        return len(found) == grader.count, f"{len(found)} matches"
    return bool(found) != grader.is_absent, f"matched: {found[0]}" if found else "no match"


def _search(pattern: str, flags: int, texts: Sequence[str]) -> list[list[str]]:
    """Return what a pattern matches in each text; raises re.error, and TimeoutExpired.

    Another process looks for it: a skill's pattern may take for ever, and nothing can stop it in this one.
    """
    re.compile(pattern, flags)
    question = json.dumps([pattern, flags, texts]).encode()
    argv = [sys.executable, "-I", "-c", _SEARCH]
    run = subprocess.run(argv, input=question, capture_output=True, timeout=REGEX_SECONDS, check=True)  # noqa: S603
    found: list[list[str]] = json.loads(run.stdout)
    return found


def _file_exists(grader: Grader, work: Work) -> _Verdict:
    found = [path for path in work.files() if _is_match(path, grader.pattern)]
    return bool(found) != grader.is_absent, ", ".join(found[:5]) or f"no file '{grader.pattern}'"


def _is_match(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or PurePosixPath(path).match(pattern)


def _json_path(grader: Grader, work: Work) -> _Verdict:
    text = work.text(grader.target)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return grader.is_absent, f"no JSON: {error}"
    for name, number in _STEP.findall(grader.pattern.removeprefix("$")):
        if name and isinstance(value, dict) and name in value:
            value = value[name]
        elif number and isinstance(value, list) and int(number) < len(value):
            value = value[int(number)]
        else:
            return grader.is_absent, f"'{name or number}' is not there"
    is_equal = grader.expected is None or value == grader.expected
    return is_equal != grader.is_absent, json.dumps(value, ensure_ascii=False)


def _tool_used(grader: Grader, work: Work) -> _Verdict:
    count = len(_find_calls(grader.tools[0], work))
    passed = grader.least <= count and (grader.most is None or count <= grader.most)
    return passed, f"{count} calls"


def _tool_order(grader: Grader, work: Work) -> _Verdict:
    first, second = (_find_calls(pattern, work)[:1] for pattern in grader.tools)
    if not first or not second:
        return False, f"{'the second' if first else 'the first'} was never used"
    return first < second, f"calls {first[0] + 1} and {second[0] + 1}"


def _find_calls(pattern: ToolPattern, work: Work) -> list[int]:
    """Return the numbers of the calls that fit."""
    calls = work.transcript.calls
    numbers = [number for number, call in enumerate(calls) if pattern.tool in ("", call.tool)]
    if not pattern.arguments:
        return numbers
    found = _search(pattern.arguments, 0, [calls[number].text() for number in numbers])
    return [number for number, matches in zip(numbers, found, strict=True) if matches]


def _run_script(grader: Grader, work: Work) -> _Verdict:
    """Run a script of the skill in the folder of the run, in the sandbox and without a network."""
    program = resolve_inside(work.source, grader.pattern)
    level = tools.describe_sandbox()[0]
    if level == tools.NONE:
        return None, "there is no sandbox here, so scripts of graders are not run"
    if not os.path.isfile(program) or not is_inside(program, os.path.realpath(work.source)):
        return None, f"'{grader.pattern}' is no file of the skill"
    env = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    launch = tools.Launch((program,), work.folder, env, work.source, SCRIPT_SECONDS, False, True, level)
    end = tools.run_program(launch)
    return end.code == 0, end.reason or end.output.text().strip() or f"status {end.code}"


_GRADERS: dict[str, Callable[[Grader, Work], _Verdict]] = {
    CONTAINS: _contains,
    REGEX: _matches,
    FILE_EXISTS: _file_exists,
    JSON_PATH: _json_path,
    TOOL_USED: _tool_used,
    TOOL_ORDER: _tool_order,
    SCRIPT: _run_script,
}


def blot(value: str, secrets: tuple[str, ...]) -> str:
    """Return a text without secrets."""
    for secret in secrets:
        value = value.replace(secret, "[secret]")
    return value
