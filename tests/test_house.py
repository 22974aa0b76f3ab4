"""The order of the house: small front doors; tests that mirror the package, and import no other test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import skillc
from tests.support.cases import each

TESTS = Path(__file__).parent
PACKAGE = Path(skillc.__file__).parent
MAX_NAMES = 40  # that a front door has for other rooms


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


def test_front_doors_are_small() -> None:
    """A front door has at most 40 names: one with more is that of several rooms, or tells how it works.

    The package's own door is what the specification promises, and each error is a name of its own.
    """
    doors = {path.parent.relative_to(PACKAGE): _names(path) for path in PACKAGE.rglob("__init__.py")}
    rooms = {room: names for room, names in doors.items() if str(room) not in (".", "errors")}
    assert len(rooms) > 30
    assert len(doors[Path("library/sources")]) > 20
    assert {str(room): len(names) for room, names in rooms.items() if len(names) > MAX_NAMES} == {}


def test_the_architecture_names_every_module() -> None:
    """The table of docs/architecture.md has each room with its modules, and no module that is gone."""
    text = (TESTS.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)/` \|.*\|(.*)\|$", text, re.MULTILINE))
    rooms = {path.parent.name: path.parent for path in PACKAGE.glob("*/__init__.py")}
    assert rows.keys() == rooms.keys()
    for name, room in rooms.items():
        modules = {path.stem for path in room.rglob("*.py") if path.parent.name != "commands"}  # in --help
        named = set(re.findall(r"`(\w+)`", rows[name]))
        assert (name, named ^ (modules - {"__init__"})) == (name, set())


def _names(path: Path) -> list[str]:
    """Return the names that a front door imports from its room, and those that it defines."""
    room = ".".join(("skillc", *path.parent.relative_to(PACKAGE).parts))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lazy = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]
    names = []
    for node in (*tree.body, *lazy):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(room):
            names += [each.asname or each.name for each in node.names]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
    return [name for name in names if not name.startswith("_")]
