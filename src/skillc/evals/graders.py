"""Grade a run by what can be told exactly: its answer, its files, its calls of tools."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from skillc import tools
from skillc.audit import JudgeFailed, ask_command
from skillc.contract import optional
from skillc.errors import PathEscapes, SkillcError
from skillc.evals.transcripts import Transcript
from skillc.paths import read_regular
from skillc.skills import cases, resolve_inside
from skillc.skills.cases import Grader, ToolPattern

MAX_FILE = 4 << 20  # bytes of a file that is looked at
MAX_FILES = 2000  # of a run
MAX_EVIDENCE = 300  # characters
SCRIPT_SECONDS = 60.0
GRACE = 0.5  # seconds that a script gets to end
REGEX_SECONDS = 10.0
_SEARCH = f"""
import json, re, sys
pattern, flags, texts = json.load(sys.stdin)
try:
    found = [[match[0] for match in re.finditer(pattern, text, flags)] for text in texts]
    print(json.dumps([[len(each), each[0][:{MAX_EVIDENCE}] if each else ""] for each in found]))
except Exception as error:
    print(json.dumps(str(error)))
"""
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]|\['([^']*)'\]")
_MANY = re.compile(r"\.\.|[*?@]")  # steps of a JSON path that lead to several values


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of one expectation; `passed` is None for one that could not be judged."""

    text: str
    passed: bool | None
    evidence: str
    undecided: bool = optional(False)  # the judge failed; another time it may not


class _NotJudged(Exception):
    """A grader that says nothing of a run, with the reason."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a run: its transcript, the folder it worked in, and the skill's own folder.

    `cancel` ends what is done to grade it.
    """

    transcript: Transcript
    folder: str
    source: str
    cancel: threading.Event = field(default_factory=threading.Event)

    def files(self) -> Iterator[str]:
        """Yield the files below the folder, as paths with slashes; links, pipes and the like are left out."""
        count = 0
        for directory, folders, names in () if os.path.islink(self.folder) else os.walk(self.folder):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in sorted(names):
                path = os.path.join(directory, name)
                count += 1
                if count > MAX_FILES:
                    return
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield os.path.relpath(path, self.folder).replace(os.sep, "/")

    def text(self, target: str) -> str:
        """Return what a grader looks at; raises OSError without the file, PathEscapes for one elsewhere."""
        if target == cases.ANSWER:
            return self.transcript.answer
        if target == cases.TRACE:
            return self.transcript.trace()
        if target == cases.FILES:
            return "\n".join(self.files())
        return read_regular(resolve_inside(self.folder, target), MAX_FILE).decode("utf-8", "replace")


def grade(grader: Grader, work: Work) -> Grade:
    """Return what becomes of an exact grader."""
    try:
        if grader.kind not in _GRADERS:
            raise _NotJudged(f"graders of type '{grader.kind}' are not judged")
        if not grader.pattern and not grader.tools:
            raise _NotJudged("it does not say what to look for")
        passed, evidence = _GRADERS[grader.kind](grader, work)
    except (OSError, PathEscapes) as error:  # what it looks at is not there
        passed, evidence = grader.is_absent, getattr(error, "strerror", None) or str(error)
    except (_NotJudged, SkillcError) as error:
        passed, evidence = None, str(error)
    return Grade(grader.text or grader.kind, passed, " ".join(evidence.split())[:MAX_EVIDENCE])


_Verdict = tuple[bool, str]


def _contains(grader: Grader, work: Work) -> _Verdict:
    found = grader.pattern.casefold() in work.text(grader.target).casefold()
    return found != grader.is_absent, "found" if found else "not found"


def _matches(grader: Grader, work: Work) -> _Verdict:
    flags = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
    value = sum(flags.get(letter, 0) for letter in {*grader.flags})
    [(count, first)] = _search(grader.pattern, value, [work.text(grader.target)], work)
    if grader.count is not None:
        return count == grader.count, f"{count} matches"
    return bool(count) != grader.is_absent, f"matched: {first}" if count else "no match"


def _search(pattern: str, flags: int, texts: Sequence[str], work: Work) -> list[tuple[int, str]]:
    """Return how often a pattern matches in each text, and the first match; raises _NotJudged.

    Another process looks for it: a skill's pattern may take for ever, and nothing can stop it in this one.
    """
    question = json.dumps([pattern, flags, texts]).encode()
    try:
        answer = ask_command([sys.executable, "-I", "-c", _SEARCH], question, REGEX_SECONDS, work.cancel)
    except JudgeFailed as error:
        raise _NotJudged(f"its regular expression: {error}") from None
    found = json.loads(answer)
    if isinstance(found, str):
        raise _NotJudged(f"'{pattern[:80]}' is no regular expression of Python: {found}")
    return [(count, first) for count, first in found]


def _file_exists(grader: Grader, work: Work) -> _Verdict:
    name = grader.pattern.removeprefix("./")
    found = [path for path in work.files() if fnmatchcase(path, name) or fnmatchcase(path, f"*/{name}")]
    return bool(found) != grader.is_absent, ", ".join(found[:5]) or f"no file '{name}'"


def _json_path(grader: Grader, work: Work) -> _Verdict:
    if _MANY.search(grader.pattern):
        raise _NotJudged(
            f"'{grader.pattern[:80]}' leads to several values; paths of names and numbers are read"
        )
    text = work.text(grader.target)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return grader.is_absent, f"no JSON: {error}"
    for plain, number, quoted in _STEP.findall(grader.pattern.removeprefix("$")):
        name = plain or quoted
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
    found = _search(pattern.arguments, 0, [calls[number].text() for number in numbers], work)
    return [number for number, (count, _) in zip(numbers, found, strict=True) if count]


def _run_script(grader: Grader, work: Work) -> _Verdict:
    """Run a script of the skill in the folder of the run, in the sandbox and without a network."""
    try:
        program = resolve_inside(work.source, grader.pattern)
    except PathEscapes as error:
        raise _NotJudged(error.message) from None
    level = tools.describe_sandbox()[0]
    if level == tools.NONE:
        raise _NotJudged("there is no sandbox here, so scripts of graders are not run")
    if not os.path.isfile(program):
        raise _NotJudged(f"'{grader.pattern}' is no file of the skill")
    env = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    launch = tools.Launch((program,), work.folder, env, work.source, SCRIPT_SECONDS, False, True, level)
    end = tools.run_program(launch, work.cancel, grace=GRACE)
    if end.reason:
        raise _NotJudged(f"'{grader.pattern}' {end.reason}")
    return end.code == 0, end.output.text().strip() or f"status {end.code}"


_GRADERS: dict[str, Callable[[Grader, Work], _Verdict]] = {
    cases.CONTAINS: _contains,
    cases.REGEX: _matches,
    cases.FILE_EXISTS: _file_exists,
    cases.JSON_PATH: _json_path,
    cases.TOOL_USED: _tool_used,
    cases.TOOL_ORDER: _tool_order,
    cases.SCRIPT: _run_script,
}
