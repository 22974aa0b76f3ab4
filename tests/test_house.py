"""The tests' own order: they mirror the package, and no test module imports another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import skillc
from tests.support.cases import each

TESTS = Path(__file__).parent
PACKAGE = Path(skillc.__file__).parent


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the absolute names that a module imports, each `from` import with its names."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.slow
def test_no_import_of_a_test_module() -> None:
    """What tests share is in conftest.py, in tests/support, or in a helper of their folder."""
    assert [
        (str(path.relative_to(TESTS)), name)
        for path in TESTS.rglob("*.py")
        for name in imported_modules(path)
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split("."))
    ] == []


@each("name", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
def test_tests_mirror_the_package(name: str) -> None:
    """Every package has a folder of tests, or one test module."""
    assert (TESTS / name / "__init__.py").is_file() or (TESTS / f"test_{name}.py").is_file()
