"""Read all cases of a skill: the files in `evals/`, and folders as `claude plugin eval` has them.

evals/<case>/prompt.md      the prompt, with settings in its frontmatter
evals/<case>/case.yaml      the same settings, and graders; the prompt as `execution.prompt`
evals/<case>/graders/*.md   a grader each: its frontmatter, and for a judge the text below it
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillc.errors import Diagnostic, PathEscapes
from skillc.paths import CASES_FOLDER, read_regular
from skillc.skills.cases.formats import (
    CASE_ENDINGS,
    MAX_CASES,
    MAX_FILE,
    MAX_GRADERS,
    Case,
    Cases,
    Grader,
    problem_at,
    read_case,
    read_case_file,
    read_grader,
)
from skillc.skills.document import NotYaml, load_yaml, parse
from skillc.skills.files import resolve_inside
from skillc.skills.ids import MAX_SEGMENT, to_segment

MAX_FOLDERS = 2000
MAX_DEPTH = 4  # of folders below `evals/`
_FILES = ("prompt.md", "case.yaml", "case.yml")


def has_cases(source: str) -> bool:
    """Return whether a skill has a folder for its cases."""
    return os.path.isdir(os.path.join(source, CASES_FOLDER))


def read_cases(source: str, skill: str) -> Cases:
    """Return the cases of the skill in a folder, with warnings about what can't be read.

    `skill` is its name, by which a case may say that it should fire.
    """
    cases: list[Case] = []
    diagnostics: list[Diagnostic] = []
    folder = os.path.join(source, CASES_FOLDER)
    try:
        names = [name for name in sorted(os.listdir(folder)) if name.lower().endswith(CASE_ENDINGS)]
        names = [name for name in names if not name.lower().startswith("config.")]  # of other tools
    except OSError as error:
        is_there = not isinstance(error, FileNotFoundError)
        return [], [problem_at(CASES_FOLDER, str(error.strerror))] if is_there else []
    for name in names:
        if name[0] != "." and os.path.isfile(os.path.join(folder, name)):
            found, problems = read_case_file(source, f"{CASES_FOLDER}/{name}", skill)
            cases += found
            diagnostics += problems
    found, problems = _read_folders(source, skill)
    cases += found
    diagnostics += problems
    for case in cases[:MAX_CASES]:
        for file in case.files:
            if not os.path.exists(os.path.join(source, file)):
                diagnostics.append(
                    problem_at(case.file, f"'{case.name}' starts with '{file}', which is not there")
                )
    return name_cases(cases, diagnostics)


def name_cases(cases: Sequence[Case], diagnostics: list[Diagnostic]) -> Cases:
    """Give each case a name of its own; leave out what is too much."""
    numbers: dict[str, int] = {}  # the last of each name, as folders of results have it
    named: list[Case] = []
    for case in cases[:MAX_CASES]:
        name, first = case.name, to_segment(case.name)
        while (segment := to_segment(name)) in numbers:
            numbers[first] += 1
            name = f"{case.name[: MAX_SEGMENT // 2]}-{numbers[first]}"
        numbers[segment] = 1
        named.append(case if name == case.name else replace(case, name=name))
    if len(cases) > MAX_CASES:
        diagnostics = [
            *diagnostics,
            problem_at(CASES_FOLDER, f"has {len(cases):,} cases; the first {MAX_CASES:,} count"),
        ]
    return named, diagnostics


def _read_folders(source: str, skill: str) -> Cases:
    """Return the cases of a skill that have folders of their own."""
    cases: list[Case] = []
    diagnostics: list[Diagnostic] = []
    for folder in _find_folders(source):
        try:
            case = _read_folder(source, folder, skill)
        except (OSError, PathEscapes, ValueError, NotYaml) as error:
            diagnostics.append(problem_at(folder, getattr(error, "strerror", None) or str(error)))
            continue
        cases.append(case)
        if os.path.exists(os.path.join(source, folder, "scaffold.sh")):
            diagnostics.append(
                problem_at(f"{folder}/scaffold.sh", "is not run; name files in 'files' instead")
            )
    return cases, diagnostics


def _find_folders(source: str) -> Iterator[str]:
    """Yield the folders of cases, as paths below the skill."""
    top = os.path.join(source, CASES_FOLDER)
    for number, (directory, folders, files) in enumerate(os.walk(top)):
        path = os.path.relpath(directory, source).replace(os.sep, "/")
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "results")
        if number >= MAX_FOLDERS or path.count("/") > MAX_DEPTH:
            return
        if directory != top and any(name in files for name in _FILES):
            folders[:] = []
            yield path


def _read_folder(source: str, folder: str, skill: str) -> Case:
    """Return the case of a folder; raises OSError, PathEscapes, ValueError and NotYaml."""
    place = os.path.join(source, folder)
    fields: dict[str, Any] = {}
    for name in _FILES[1:]:
        if os.path.exists(os.path.join(place, name)):
            value = load_yaml(_read(source, f"{folder}/{name}").decode("utf-8-sig", "replace")).value
            if not isinstance(value, Mapping):
                raise ValueError(f"{name} is no mapping")
            execution = value.get("execution")
            fields |= {**value, **(execution if isinstance(execution, Mapping) else {})}
    if os.path.exists(os.path.join(place, _FILES[0])):
        document = parse(_read(source, f"{folder}/{_FILES[0]}"))
        settings = document.frontmatter.fields if document.frontmatter else {}
        fields |= {**settings, "prompt": document.data[document.body :].decode().strip()}
    case = read_case(fields, skill, folder, os.path.basename(folder))
    graders = (*case.graders, *_read_graders(source, f"{folder}/graders"))[:MAX_GRADERS]
    should = case.should_fire if case.should_fire is not None else _find_expectation(graders)
    return replace(case, graders=graders, should_fire=should)


def _read_graders(source: str, folder: str) -> Iterator[Grader]:
    place = os.path.join(source, folder)
    for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
        if name.lower().endswith(".md") and name[0] != ".":
            document = parse(_read(source, f"{folder}/{name}"))
            fields = document.frontmatter.fields if document.frontmatter else {}
            grader = read_grader(fields, document.data[document.body :].decode())
            yield grader if grader.text else replace(grader, text=name[:-3])


def _find_expectation(graders: tuple[Grader, ...]) -> bool | None:
    """Return whether the skill should fire, where a grader counts the calls of the tool for skills."""
    for grader in graders:
        if grader.kind == "tool_used" and [each.tool for each in grader.tools] == ["Skill"]:
            return grader.most != 0
    return None


def _read(source: str, path: str) -> bytes:
    """Return a file of the skill; a link may lead to one that is not for models to see, and is refused."""
    return read_regular(resolve_inside(source, path), MAX_FILE)
