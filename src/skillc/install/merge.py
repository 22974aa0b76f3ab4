"""Merge three versions of a skill: the one that was installed, yours, and the new one.

What one side changed is taken; what both changed alike is taken once. Where both changed the same lines, the
file gets both texts between marks, as git writes them. Of files that are no text, yours stays and the new one
is put beside it. A file that one side moved is merged in its new place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from skillc.skills import list_files
from skillc.startup import file_sha256_hex

YOURS, NEW = "yours", "update"  # names in marks and of files beside others
MAX_TEXT = 4 << 20  # bytes of a file that is merged by lines
SIMILAR = 0.6  # how much of a file that moved has to be the same
MAX_MOVES = 200  # files that one side removed and added, to be compared with each other

Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a version: where it is, what it holds, and whether it can be run."""

    path: str
    digest: str
    is_executable: bool

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def keep(self) -> Change:
        """Return the file as it is."""
        return Change(self.read(), self.is_executable)


@dataclass(frozen=True, slots=True)
class Change:
    """What a merge makes of a file of yours: other contents, or another mode."""

    data: bytes
    is_executable: bool


Tree = Mapping[str, TreeFile]


@dataclass(frozen=True, slots=True)
class Merge:
    """The changes to your version, None for a file that goes, and the files in which you have to choose."""

    changes: dict[str, Change | None]
    conflicts: tuple[str, ...]


def find_marks(folder: str) -> list[str]:
    """Return the names of the files in which a conflict of an update is still open."""
    marks = [f"{sign * 7} {name}".encode() for sign, name in (("<", YOURS), (">", NEW))]
    return [
        name
        for name, file in read_tree(folder).items()
        if all(any(line.startswith(mark) for line in file.read().split(b"\n")) for mark in marks)
    ]


def read_tree(folder: str) -> dict[str, TreeFile]:
    """Return the files of a skill's folder by name."""
    tree = {}
    for source in list_files(folder, hidden=True):
        with open(source.path, "rb") as file:
            digest = file_sha256_hex(file, source.size)
        tree[source.name] = TreeFile(source.path, digest, source.is_executable)
    return tree


def merge_trees(base: Tree, yours: Tree, new: Tree) -> Merge:
    """Return what has to change in `yours` so that it has the changes from `base` to `new`, too."""
    places = _follow_moves(base, yours, new)
    changes: dict[str, Change | None] = {}
    conflicts: list[str] = []
    for name, (old, mine, theirs) in sorted(places.items()):
        b, y, n = base.get(old), yours.get(mine), new.get(theirs)
        if _same(b, n) and old == theirs:
            continue  # no news
        change, conflict = _merge_file(b, y, n)
        if conflict:
            conflicts.append(name)
        if change is None and n is not None and y is not None and conflict:  # no text: yours stays
            changes[_free(f"{name}.{NEW}", yours, changes)] = n.keep()
            change = y.keep()
        if mine in yours and mine != name:
            changes[mine] = None
        if change is None:
            if name in yours:
                changes[name] = None
        elif y is None or mine != name or change != y.keep():
            changes[name] = change
    conflicts += _make_room(yours, changes)
    return Merge(changes, tuple(sorted(set(conflicts))))


def _follow_moves(base: Tree, yours: Tree, new: Tree) -> dict[str, tuple[str, str, str]]:
    """Return, for each name in the result, its names in the three versions; a name may be in none of them."""
    my_moves, their_moves = _find_moves(base, yours, new), _find_moves(base, new, yours)
    places: dict[str, tuple[str, str, str]] = {}
    names: set[str] = set()
    for old in base:
        mine, theirs = my_moves.get(old, old), their_moves.get(old, old)
        place = theirs if theirs != old else mine
        if (mine != old or theirs != old) and place not in names:
            places[place] = old, mine, theirs
            names |= {old, mine, theirs}
    for name in {*base, *yours, *new} - names:
        places[name] = name, name, name
    return places


def _find_moves(base: Tree, side: Tree, other: Tree) -> dict[str, str]:
    """Return which files of `base` a side moved to names that are free on the other side.

    Equal files come first, then similar ones.
    """
    removals = sorted(name for name in base if name not in side)
    additions = sorted(name for name in side if name not in base and name not in other)
    moves: dict[str, str] = {}
    if not removals or not additions or len(removals) * len(additions) > MAX_MOVES**2:
        return moves
    for name in removals:
        match = next((a for a in additions if side[a].digest == base[name].digest), None)
        if match is not None and os.path.getsize(base[name].path):
            moves[name] = match
            additions.remove(match)
    rest = [name for name in removals if name not in moves]
    if len(rest) * len(additions) <= MAX_MOVES:
        for name in rest:
            scores = [(_similarity(base[name], side[a]), a) for a in additions]
            score, match = max(scores, default=(0.0, ""))
            if score >= SIMILAR:
                moves[name] = match
                additions.remove(match)
    return moves


def _similarity(one: TreeFile, other: TreeFile) -> float:
    a, b = one.read(), other.read()
    if not (a and b and is_text(a) and is_text(b)):
        return 0.0
    matcher = SequenceMatcher(None, split_lines(a), split_lines(b))
    return matcher.ratio() if matcher.quick_ratio() >= SIMILAR else 0.0


def _same(one: TreeFile | None, other: TreeFile | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.digest, one.is_executable) == (other.digest, other.is_executable)


def _merge_file(
    base: TreeFile | None, yours: TreeFile | None, new: TreeFile | None
) -> tuple[Change | None, bool]:
    """Return what becomes of a file, and whether the two sides conflict.

    None is a file that goes; in a conflict, one that can't be merged by lines.
    """
    if yours is None or new is None:
        file = yours or new  # removed by one side, or new
        is_news = file is not None and not _same(base, file)
        return (file.keep(), base is not None) if file and is_news else (None, False)
    mode = new.is_executable
    if base is not None and yours.is_executable != base.is_executable:
        mode = yours.is_executable
    if yours.digest == new.digest or (base is not None and new.digest == base.digest):
        return Change(yours.read(), mode), False
    if base is not None and yours.digest == base.digest:
        return Change(new.read(), mode), False
    old, mine, theirs = base.read() if base else b"", yours.read(), new.read()
    if not all(map(is_text, (old, mine, theirs))):
        return None, True
    data, is_conflict = merge_text(old, mine, theirs)
    return Change(data, mode), is_conflict


def _make_room(yours: Tree, changes: dict[str, Change | None]) -> Iterator[str]:
    """Move files of yours out of the way of folders that the new version has at their place; yield them."""
    final = {*yours, *changes} - {name for name, change in changes.items() if change is None}
    folders = {name[:at] for name in final for at, c in enumerate(name) if c == "/"}
    for name in sorted(final & folders):
        change = changes.get(name) or yours[name].keep()
        changes[_free(f"{name}.{YOURS}", yours, changes)] = change
        if name in yours:
            changes[name] = None
        else:
            del changes[name]
        yield name


def _free(name: str, *trees: Mapping[str, object]) -> str:
    """Return a name that no file has."""
    number, free = 1, name
    while any(free in names for names in trees):
        number += 1
        free = f"{name}.{number}"
    return free


def is_text(data: bytes) -> bool:
    """Return whether contents can be merged by lines."""
    return len(data) <= MAX_TEXT and b"\0" not in data


def split_lines(data: bytes) -> list[bytes]:
    """Return the lines of a text with their ends; only a newline ends one."""
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def merge_text(base: bytes, yours: bytes, new: bytes) -> tuple[bytes, bool]:
    """Return a text with the changes of both sides, and whether some conflict.

    >>> merge_text(b"a\\nb\\nc\\n", b"A\\nb\\nc\\n", b"a\\nb\\nC\\n")
    (b'A\\nb\\nC\\n', False)
    """
    old, mine, theirs = map(split_lines, (base, yours, new))
    end = b"\r\n" if mine and mine[0].endswith(b"\r\n") else b"\n"
    result: list[bytes] = []
    has_conflict = False
    for is_conflict, ours, others in _regions(old, mine, theirs):
        has_conflict = has_conflict or is_conflict
        result += _mark(ours, others, end) if is_conflict else ours
    return b"".join(result), has_conflict


def _regions(base: Lines, yours: Lines, new: Lines) -> Iterator[tuple[bool, Lines, Lines]]:
    """Yield the parts of the result: whether they conflict, and the lines of both sides."""
    at = mine_at = theirs_at = 0
    for start, end, mine, theirs in _common(base, yours, new):
        before = base[at:start], yours[mine_at:mine], new[theirs_at:theirs]
        if any(before):
            yield _decide(*before)
        length = end - start
        yield False, yours[mine : mine + length], ()
        at, mine_at, theirs_at = end, mine + length, theirs + length


def _decide(base: Lines, yours: Lines, new: Lines) -> tuple[bool, Lines, Lines]:
    if list(base) == list(yours):
        return False, new, ()
    if list(base) == list(new) or list(yours) == list(new):
        return False, yours, ()
    return True, yours, new


def _common(base: Lines, yours: Lines, new: Lines) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of lines that all three have: start and end in the base, start in the others.

    The last one is empty and stands at the end.
    """
    mine, theirs = _matches(base, yours), _matches(base, new)
    i = j = 0
    while i < len(mine) and j < len(theirs):
        a, b = mine[i], theirs[j]
        start, end = max(a[0], b[0]), min(a[0] + a[2], b[0] + b[2])
        if start < end:
            yield start, end, a[1] + start - a[0], b[1] + start - b[0]
        if a[0] + a[2] < b[0] + b[2]:
            i += 1
        else:
            j += 1
    yield len(base), len(base), len(yours), len(new)


def _matches(base: Lines, other: Lines) -> list[tuple[int, int, int]]:
    """Return the runs of equal lines of two texts: start in each, and length."""
    head = 0
    while head < min(len(base), len(other)) and base[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(base), len(other)) - head and base[-1 - tail] == other[-1 - tail]:
        tail += 1
    middle = SequenceMatcher(None, base[head : len(base) - tail], other[head : len(other) - tail])
    blocks = [(0, 0, head)] + [(a + head, b + head, n) for a, b, n in middle.get_matching_blocks()]
    blocks.append((len(base) - tail, len(other) - tail, tail))
    return [block for block in blocks if block[2]]


def _mark(yours: Lines, new: Lines, end: bytes) -> Iterator[bytes]:
    """Yield both texts between marks, which stand on lines of their own."""
    marks = (f"<<<<<<< {YOURS}", yours), ("=======", new), (f">>>>>>> {NEW}", ())
    for mark, lines in marks:
        yield mark.encode() + end
        yield from (line if line.endswith(b"\n") else line + end for line in lines)
