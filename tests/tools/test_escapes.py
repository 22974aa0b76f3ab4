"""The table of docs/sandbox-attempts.md, level by level: every cell is tried, and nothing else is claimed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from skillc.tools import sandbox
from skillc.tools.sandbox import landlock
from tests.tools.conftest import Bench
from tests.tools.escapes import ATTEMPTS, files, network, processes, start
from tests.tools.levels import works

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parent.parent.parent / "docs" / "sandbox-attempts.md"
STOPPED, NOT_STOPPED, FROM_ABI = "stopped", "not stopped", "ABI "

WHERE = (files, network, processes, start)  # whose attempts are in ATTEMPTS once they are imported


def table() -> dict[str, dict[str, str]]:
    """What the page says: attempt, level, cell."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| attempt |"))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start:])
    header, _, *cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in cells}


TABLE = table()


def test_the_table_is_what_is_tried() -> None:
    """[D45] [TOOLS §6.1] every row has an attempt, every attempt a row, every cell a claim."""
    assert len(TABLE) > 40
    assert set(TABLE) == set(ATTEMPTS)
    for cells in TABLE.values():
        assert tuple(cells) == sandbox.LEVELS
        assert all(cell in (STOPPED, NOT_STOPPED) or cell.startswith(FROM_ABI) for cell in cells.values())


def expected(cell: str) -> bool:
    """Whether the attempt should get through."""
    if cell.startswith(FROM_ABI):
        return landlock.abi() < int(cell.removeprefix(FROM_ABI))
    return cell == NOT_STOPPED


@pytest.mark.parametrize("level", sandbox.LEVELS)
@pytest.mark.parametrize("words", TABLE)
def test_cell(words: str, level: str, tmp_path: Path) -> None:
    """[D41] [D42] [D44] [D45] [TOOLS §6.1] what a level claims to stop it stops, and what not it does not."""
    works(level)
    assert ATTEMPTS[words](Bench(tmp_path, level)) is expected(TABLE[words][level])
