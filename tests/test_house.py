"""The tests' own order: they mirror the package, and no test module imports another."""

from __future__ import annotations

import re
from pathlib import Path

import skillc
from tests.support.cases import each

TESTS = Path(__file__).parent
PACKAGE = Path(skillc.__file__).parent


# Of `tests`, or relative to the module, up to the end of the names; ruff sorts imports, and writes them so.
IMPORT = re.compile(r"^ *(?:from|import) +(?:tests\b|\.)[\w.]*(?: import (?:\([^)]*\)|.*))?", re.MULTILINE)


def test_no_import_of_a_test_module() -> None:
    """What tests share is in conftest.py, in tests/support, or in a helper of their folder."""
    imports = [
        (str(path.relative_to(TESTS)), found)
        for path in TESTS.rglob("*.py")
        for found in IMPORT.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(imports) > 500
    assert [each for each in imports if re.search(r"\btest_|from \.", each[1])] == []


@each("name", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
def test_tests_mirror_the_package(name: str) -> None:
    """Every package has a folder of tests, or one test module."""
    assert (TESTS / name / "__init__.py").is_file() or (TESTS / f"test_{name}.py").is_file()
