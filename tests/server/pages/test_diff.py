"""Two versions side by side: rows, marks within lines, and what is left out."""

from __future__ import annotations

from hypothesis import given, strategies as st

from skillc.server.pages.diff import MAX_LINES, MAX_TEXT, compare_files, compare_lines
from tests.support.cases import each


def test_rows() -> None:
    """[SURFACES: Registry] equal lines stand beside each other, others beside what replaced them."""
    old = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "red shoes", "l"]
    new = ["a", "c", "d", "e", "f", "g", "h", "i", "j", "k", "blue shoes", "l", "m"]
    rows = list(compare_lines(old, new))
    assert [row.kind for row in rows if row.kind != "equal"] == ["removed", "gap", "changed", "added"]
    changed = next(row for row in rows if row.kind == "changed")
    assert changed.old is not None
    assert changed.new is not None
    assert (changed.old.number, changed.old.before, changed.old.change) == (12, "", "red")
    assert (changed.new.number, changed.new.change, changed.new.after) == (11, "blue", " shoes")


@given(st.lists(st.text(max_size=5), max_size=20), st.lists(st.text(max_size=5), max_size=20))
def test_nothing_is_lost(old: list[str], new: list[str]) -> None:
    """[SURFACES: Registry] rows have every line that differs, with its number, and no other text."""
    rows = list(compare_lines(old, new))
    for lines, side in ((old, "old"), (new, "new")):
        shown = [line for row in rows if (line := getattr(row, side)) is not None]
        assert all(line.before + line.change + line.after == lines[line.number - 1] for line in shown)
        missing = {*range(1, len(lines) + 1)} - {line.number for line in shown}
        other = new if lines is old else old
        assert all(lines[number - 1] in other for number in missing)


def test_files() -> None:
    """[SURFACES: Registry] files that came, went and changed, SKILL.md first; the others are not listed."""
    old = {"SKILL.md": b"a\n", "gone.txt": b"x", "same": b"s", "picture.png": b"\0", "a.txt": b"1\n"}
    new = {"SKILL.md": b"b\n", "new.txt": b"y", "same": b"s", "picture.png": b"\0\1", "a.txt": b"2\n"}
    changes = compare_files(old, new)
    kinds = [(change.path, change.kind) for change in changes]
    assert kinds == [
        ("SKILL.md", "changed"),
        ("a.txt", "changed"),
        ("gone.txt", "removed"),
        ("new.txt", "added"),
        ("picture.png", "changed"),
    ]
    assert changes[4].note.startswith("It is not text")
    assert (changes[0].added, changes[0].removed) == (1, 1)


@each(
    ("old", "new", "note"),
    [
        (b"a\n" * (MAX_LINES + 1), b"b\n", "more than 4,000 lines"),
        (b"".join(b"%d <&>\n" % n for n in range(3000)), b"x\n" * 3000, "too long"),
        (b"a\n", b"<" * 1_000_000, ""),
    ],
)
def test_bounds(old: bytes, new: bytes, note: str) -> None:
    """[SURFACES: Registry] a comparison is bounded, and says what it leaves out."""
    (change,) = compare_files({"x": old}, {"x": new})
    assert note in change.note
    lines = [line for row in change.rows for line in (row.old, row.new) if line]
    assert sum(len(line.before + line.change + line.after) for line in lines) <= MAX_TEXT
