"""What can be said without an agent: first cases, ranks, rivals and collisions."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import World

FORMS = """---
name: pdf-forms
description: Fills in PDF forms. Use when "a form has to be filled in", or the user asks to sign a document.
  This includes reading. Use this skill any time a .pdf file is involved.
---
# Forms

## Overview

## Fill in a form

Text.
"""
MERGE = "---\nname: pdf-merge\ndescription: Joins PDF documents into one file. Combines PDFs.\n---\n# M\n"


def put(world: World, cases: object) -> Path:
    world.skill("pdf-forms", FORMS)
    world.skill("pdf-merge", MERGE)
    path = world.store / "pdf-forms" / "evals" / "evals.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(cases))
    return path


def test_the_first_cases(world: World) -> None:
    """[SURFACES: Evals] prompts from description and headings, near misses from rivals, a task to write."""
    path = put(world, [])
    path.unlink()
    draft = json.loads(world.ok("eval", "init", "pdf-forms", "--format", "json").stdout)
    assert (draft["path"], draft["near_misses"] > 0) == (str(path), True)
    evals = json.loads(path.read_text())["evals"]
    prompts = {each["prompt"]: each.get("should_trigger") for each in evals}
    assert prompts["A form has to be filled in"] is True
    assert prompts["Sign a document"] is True
    assert prompts["Fill in a form"] is True
    assert prompts["A .pdf file is involved"] is True
    assert not any("includes" in prompt for prompt in prompts)
    assert prompts["Joins PDF documents into one file"] is False
    assert "Overview" not in prompts
    assert evals[-1]["expectations"][0].startswith("TODO")
    # What an author wrote is never replaced.
    assert "has cases already" in world.fails("E100", "eval", "init", "pdf-forms").stderr
    assert json.loads(path.read_text())["evals"] == evals


CASES = [
    {"id": "fill", "query": "fill in a PDF form", "should_trigger": True},
    {"id": "join", "query": "combine PDF documents into one file", "should_trigger": True},
    {"id": "other", "query": "joins documents into one", "should_trigger": False},
    {"id": "wrong", "query": "sign a document form", "should_trigger": False},
]


def test_ranks(world: World) -> None:
    """[SURFACES: Evals] the rank of each prompt, its rivals, and which skills want the same prompts."""
    put(world, CASES)
    value = json.loads(world.ok("eval", "--free", "pdf-forms", "--format", "json").stdout)
    [skill] = value["skills"]
    ranks = {case["case"]: case["rank"] for case in skill["cases"]}
    assert ranks["fill"] == 1
    assert ranks["join"] == 2
    assert skill["cases"][1]["rivals"][0]["id"] == "pdf-merge"
    assert (skill["first"]["value"], skill["first"]["cases"]) == (0.5, 2)
    assert skill["among_three"]["value"] == 1.0
    assert value["collisions"] == [{"skill": "pdf-forms", "rival": "pdf-merge", "cases": 1}]
    text = world.ok("eval", "--free", "pdf-forms").stdout
    assert "join: number 2, behind pdf-merge" in text
    assert "not what an agent does" in text
    sarif = json.loads(world.ok("eval", "--free", "pdf-forms", "--format", "sarif").stdout)
    assert "join" in json.dumps(sarif["runs"][0]["results"])
    assert world.skc("eval", "--free", "pdf-forms", "--threshold", "60").returncode == 1
    assert (
        "--free has no junit"
        in world.fails("E100", "eval", "--free", "pdf-forms", "--format", "junit").stderr
    )


def test_a_folder_that_is_in_no_store(world: World) -> None:
    """[SURFACES: Evals] is ranked among the skills that are here."""
    put(world, CASES)
    folder = world.root / "elsewhere"
    (world.store / "pdf-forms").rename(folder)
    value = json.loads(world.ok("eval", "--free", str(folder), "--format", "json").stdout)
    assert [case["rank"] for case in value["skills"][0]["cases"]][:2] == [1, 2]


def test_lint_knows_the_files(world: World) -> None:
    """[SURFACES: Evals] cases that can't be read, and those that lead elsewhere; prompts are no orphans."""
    path = put(world, [*CASES, {"id": "empty"}])
    (path.parent / "case").mkdir()
    (path.parent / "case" / "prompt.md").write_text("Fill this.\n")
    report = world.skc("lint", "pdf-forms").stdout
    assert "SKL601 evals-readable: case 5 has no prompt" in report
    assert "SKL401" not in report
    assert "SKL602" not in report
    assert "'join' leads to pdf-merge first" in world.skc("lint", "pdf-forms", "--select", "SKL602").stdout


def test_agents_never_see_cases(world: World) -> None:
    """[SURFACES: Evals] [D49] a compiled skill has scripts beside its stub, and no cases."""
    put(world, CASES)
    (world.store / "pdf-forms" / "scripts").mkdir()
    (world.store / "pdf-forms" / "scripts" / "fill.py").write_text("")
    world.ok("build", "pdf-forms")
    names = {path.name for path in (world.runtime / "pdf-forms").iterdir()}
    assert "scripts" in names
    assert "evals" not in names


def test_no_cases(world: World) -> None:
    """[SURFACES: Evals] a skill without any is E110, with the command that writes some."""
    world.skill("pdf")
    assert "'skc eval init' writes some" in world.fails("E110", "eval", "pdf").stderr
    (world.store / "pdf" / "evals").mkdir()
    (world.store / "pdf" / "evals" / "a.json").write_text("{")
    run = world.skc("eval", "--free", "pdf")
    assert run.returncode == 1
    assert "warning[W110]" in run.stderr
    assert "error[E110]" in run.stderr
