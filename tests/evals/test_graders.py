"""Exact graders: calls of tools, and expressions that never end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from skillc.evals import graders
from skillc.evals.graders import Work, grade
from skillc.evals.transcripts import Call, Transcript
from skillc.skills.cases import (
    CONTAINS,
    FILE_EXISTS,
    JSON_PATH,
    REGEX,
    SCRIPT,
    TOOL_ORDER,
    TOOL_USED,
    Grader,
    ToolPattern,
)
from tests.support.cases import each

CALLS = [
    Call("Read", {"path": "a.pdf"}),
    Call("Bash", {"command": "fill a.pdf"}),
    Call("Read", {"path": "b"}),
]


def passes(tmp_path: Path, grader: Grader, **transcript: Any) -> tuple[bool | None, str]:
    found = grade(grader, Work(Transcript(**transcript), str(tmp_path), str(tmp_path)))
    return found.passed, found.evidence


@each(
    "pattern, least, most, passed",
    [
        (ToolPattern("Read"), 2, 2, True),
        (ToolPattern("Read", r"\.pdf"), 1, None, True),
        (ToolPattern("", r"\.pdf"), 2, 2, True),
        (ToolPattern("Bash", "rm"), 0, 0, True),
        (ToolPattern("Bash"), 0, 0, False),
        (ToolPattern("Write"), 1, None, False),
        (ToolPattern("Read", "("), 1, None, None),
    ],
)
def test_calls(
    pattern: ToolPattern, least: int, most: int | None, passed: bool | None, tmp_path: Path
) -> None:
    """[SURFACES: Evals] calls count by the tool and by what their arguments hold."""
    grader = Grader(TOOL_USED, "uses it", tools=(pattern,), least=least, most=most)
    assert passes(tmp_path, grader, calls=CALLS)[0] is passed


@each(
    "before, after, passed, evidence",
    [
        (ToolPattern("Read"), ToolPattern("Bash"), True, "calls 1 and 2"),
        (ToolPattern("Bash"), ToolPattern("Read"), False, "calls 2 and 1"),
        (ToolPattern("Bash"), ToolPattern("Read", '"b"'), True, "calls 2 and 3"),
        (ToolPattern("Write"), ToolPattern("Read"), False, "the first was never used"),
        (ToolPattern("Read"), ToolPattern("Write"), False, "the second was never used"),
    ],
)
def test_order(before: ToolPattern, after: ToolPattern, passed: bool, evidence: str, tmp_path: Path) -> None:
    """[SURFACES: Evals] the first call of one tool comes before that of the other."""
    found = passes(tmp_path, Grader(TOOL_ORDER, "in order", tools=(before, after)), calls=CALLS)
    assert found == (passed, evidence)


def test_counted_matches(tmp_path: Path) -> None:
    """[SURFACES: Evals] matches can be counted, or not be wanted."""
    assert passes(tmp_path, Grader(REGEX, "x", pattern="a", count=3), answer="banana") == (True, "3 matches")
    assert passes(tmp_path, Grader(REGEX, "x", pattern="^B", flags="i"), answer="banana")[0] is True
    assert passes(tmp_path, Grader(REGEX, "x", pattern="n", is_absent=True), answer="banana")[0] is False


def test_an_expression_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Evals] a skill's expression that takes too long is not judged, and holds nothing up."""
    monkeypatch.setattr(graders, "REGEX_SECONDS", 0.5)
    grader = Grader(REGEX, "x", pattern="^(a+)+$")
    passed, evidence = passes(tmp_path, grader, answer="a" * 60 + "!")
    assert (passed, evidence) == (None, "its regular expression: it took more than 0.5 s")


@each(
    "kind, pattern, words",
    [
        (REGEX, "x{99999999999999}", "no regular expression"),
        (REGEX, "(" * 5000 + ")" * 5000, "no regular expression"),
        (REGEX, "(", "no regular expression"),
        (REGEX, "", "what to look for"),
        (CONTAINS, "", "what to look for"),
        (FILE_EXISTS, "", "what to look for"),
        (JSON_PATH, "$..name", "several values"),
        (JSON_PATH, "$.rows[*]", "several values"),
        (SCRIPT, "none.sh", "no file of the skill"),
        (SCRIPT, "../check.sh", "escapes"),
        (SCRIPT, "a\0b", "escapes"),
        (SCRIPT, "plain.txt", "cannot run"),
    ],
)
def test_what_can_not_be_graded(kind: str, pattern: str, words: str, tmp_path: Path) -> None:
    """[SURFACES: Evals] a grader that can't say anything is skipped with its reason, and is no failure."""
    (tmp_path / "plain.txt").write_text("text")
    passed, evidence = passes(tmp_path, Grader(kind, "x", pattern=pattern), answer="{}")
    assert passed is None
    assert words in evidence


@each(
    "path, passed",
    [
        ("$.rows[0].name", True),
        ("$['rows'][0]['name']", True),
        ("$.rows[1].name", False),
        ("$.rows[" + "9" * 5000 + "]", False),
        ("$.name", False),
    ],
)
def test_a_place_in_json(path: str, passed: bool, tmp_path: Path) -> None:
    """[SURFACES: Evals] names and numbers lead to a value."""
    grader = Grader(JSON_PATH, "x", pattern=path, expected="Ada")
    assert passes(tmp_path, grader, answer='{"rows": [{"name": "Ada"}]}')[0] is passed


@each(
    "pattern, passed",
    [("*.json", True), ("./b/c.json", True), ("c.json", True), (".", False), ("d.*", False)],
)
def test_files_by_pattern(pattern: str, passed: bool, tmp_path: Path) -> None:
    """[SURFACES: Evals] a pattern fits a path or its end; a pipe that the agent left is no file."""
    (tmp_path / "b").mkdir(exist_ok=True)
    (tmp_path / "b" / "c.json").write_text("{}")
    if not (tmp_path / "d.pipe").exists():
        os.mkfifo(tmp_path / "d.pipe")
    assert passes(tmp_path, Grader(FILE_EXISTS, "x", pattern=pattern))[0] is passed
