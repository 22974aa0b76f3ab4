"""The script that compares the specification with what tests cite."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "conformance.py"
SPECIFICATION = """# Specification

Text before the clauses, with `D7` in it.

## Decisions

### `D1` The files of a skill

Dot-files are no files of a skill.

### `LIB: Cache design` What `http` keeps

The whole list.

### `D2` Links

Status: planned.

A link that leaves is refused.
"""
CITES_BOTH = 'def test_files():\n    """[D1] [LIB: Cache design] it works."""\n'
CITES_D1 = 'async def test_more():\n    """[D1] [D1] it works."""\n    assert "[x]"\n'
CITES_ELSEWHERE = 'def helper():\n    """[D9] no test."""\n\n\ndef test_text():\n    assert "[D9]"\n'
CITES_UNKNOWN = 'def test_odd():\n    """[TOOLS §3.4] it works."""\n'
CITES_PLANNED = 'def test_links():\n    """[D2] it works."""\n'


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with a specification, a page and tests of its own; all is well at first."""
    spec = importlib.util.spec_from_file_location("conformance", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "conformance", module)
    spec.loader.exec_module(module)
    for name, path in (("SPECIFICATION", "specification.md"), ("PAGE", "conformance.md"), ("TESTS", "tests")):
        monkeypatch.setattr(module, name, tmp_path / path)
    (tmp_path / "specification.md").write_text(SPECIFICATION, encoding="utf-8")
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    add(module, "test_a.py", CITES_BOTH)
    add(module, "deep/test_b.py", CITES_D1 + CITES_ELSEWHERE)
    assert module.main([]) == 0
    return module


def add(script: ModuleType, name: str, source: str) -> None:
    (script.TESTS / name).write_text(source, encoding="utf-8")


def check(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What --check reports; it fails exactly where it reports something."""
    status = script.main(["--check"])
    lines = capsys.readouterr().err.splitlines()
    assert status == (1 if lines else 0)
    return [line.removeprefix("conformance: ") for line in lines]


OUTDATED = "docs/conformance.md is out of date; run scripts/conformance.py"


def test_a_summary_by_clause(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Each clause with a link to its entry, and the files of its tests."""
    assert script.PAGE.read_text(encoding="utf-8").splitlines()[4:] == [
        "3 clauses: 2 in force, 1 planned.",
        "",
        "| clause | about | files below `tests/` |",
        "| --- | --- | --- |",
        "| D1 | [The files of a skill](specification.md#d1-the-files-of-a-skill)"
        " | `deep/test_b.py`, `test_a.py` |",
        "| LIB: Cache design | [What `http` keeps](specification.md#lib-cache-design-what-http-keeps)"
        " | `test_a.py` |",
        "| D2 | [Links](specification.md#d2-links) | planned |",
    ]
    assert check(script, capsys) == []


def test_a_clause_without_a_test(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is not planned must have one; the page must be what would be written."""
    add(script, "test_a.py", "")
    assert check(script, capsys) == ["LIB: Cache design has no test", OUTDATED]
    assert script.main([]) == 0
    assert "| **none** |" in script.PAGE.read_text(encoding="utf-8")
    assert check(script, capsys) == ["LIB: Cache design has no test"]
    script.PAGE.write_text("old", encoding="utf-8")
    assert check(script, capsys)[-1:] == [OUTDATED]
    assert script.PAGE.read_text(encoding="utf-8") == "old"
    script.PAGE.unlink()
    assert check(script, capsys)[-1:] == [OUTDATED]
    assert not script.PAGE.exists()


def test_citations_that_are_wrong(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """A clause that is not there, is planned, or is there twice."""
    add(script, "deep/test_c.py", CITES_UNKNOWN)
    script.main([])
    problem = "deep/test_c.py::test_odd cites TOOLS §3.4, which is not in docs/specification.md"
    assert check(script, capsys) == [problem]
    (script.TESTS / "deep/test_c.py").unlink()
    add(script, "test_c.py", CITES_PLANNED)
    script.main([])
    problem = "test_c.py::test_links cites D2, which is still marked 'Status: planned.'"
    assert check(script, capsys) == [problem]
    (script.TESTS / "test_c.py").unlink()
    script.SPECIFICATION.write_text(SPECIFICATION + "\n### `D1` Again\n", encoding="utf-8")
    script.main([])
    assert check(script, capsys) == ["D1 is in docs/specification.md 2 times"]
