"""`sources`: the files of a skill as a tree [RFC-0002:C-SOURCES, D19]."""

from __future__ import annotations

import os

from skillc import errors
from skillc.skills import list_file_names, resolve_inside
from skillc.startup import value
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from skillc.library import Skill


class Node:
    """A file or a directory of the tree; `files` counts the files of a directory that is not expanded."""

    __slots__ = ("depth", "files", "is_directory", "last", "name", "path")

    def __init__(self, path: str, depth: int, is_directory: bool) -> None:
        self.name = path.rpartition("/")[2]
        self.path = path
        self.depth = depth
        self.is_directory = is_directory
        self.files = 0
        self.last = False  # in its directory


# The marks before an entry, before the last entry of a directory, and below each of the two.
TREE_MARKS = ("├── ", "└── ", "│   ", "    ")


@value
class SourceTree:
    """The entries of a skill's folder in order, up to a limit, and how many more there are."""

    root: str
    entries: list[Node]
    more: int

    def as_json(self) -> dict[str, Any]:
        entries = [
            {"path": n.path, "type": "directory" if n.is_directory else "file"}
            | ({"files": n.files} if n.files else {})
            for n in self.entries
        ]
        return {"root": self.root, "entries": entries, "more": self.more}

    def lines(self, marks: tuple[str, str, str, str] = TREE_MARKS) -> Iterator[str]:
        from skillc.text import one_line

        entry, last_entry, below, below_last = marks
        yield f"{one_line(self.root)}/"
        is_last: dict[int, bool] = {}  # by depth, for the branch down to the current entry
        for node in self.entries:
            is_last[node.depth] = node.last
            bars = "".join(below_last if is_last[depth] else below for depth in range(1, node.depth))
            count = f" ({node.files} files)" if node.files else ""
            slash = "/" if node.is_directory else ""
            yield f"{bars}{last_entry if node.last else entry}{one_line(node.name)}{slash}{count}"
        if self.more:
            yield f"... ({self.more} more)"


def list_sources(
    skill: Skill,
    *,
    depth: int | None = None,
    directory: str | None = None,
    limit: int = 100,
    pattern: str | None = None,
) -> SourceTree:
    """Return the tree of a skill's files; raise PathEscapes or DirectoryNotFound for `directory`.

    A `pattern` without a `/` matches file names. One with a `/` matches paths in the skill: `*` stays
    within one directory, `**` matches any number of them.
    """
    prefix = _read_prefix(skill, directory) if directory is not None else ""
    names = [utf8_text(name) for name in list_file_names(skill.source)]
    if prefix:
        names = [name for name in names if name.startswith(prefix)]
    if pattern is not None:
        names = match_paths(names, pattern)
    entries, total = _list_entries(names, prefix, depth, limit)
    return SourceTree(prefix.rstrip("/") or skill.name, entries, total - len(entries))


def _read_prefix(skill: Skill, directory: str) -> str:
    """Return a directory as the prefix of its files' names."""
    from skillc.gateway.open import MAX_PATH  # only with --dir

    if len(directory) > MAX_PATH:
        raise errors.DirectoryNotFound(f"{directory[:64]}...")
    real = resolve_inside(skill.source, directory)
    if not os.path.isdir(real):
        from skillc.gateway.open import list_names  # only on the way to an error
        from skillc.spelling import did_you_mean

        names = {os.path.dirname(name) for name in list_names(skill.source)} - {""}
        question = did_you_mean(directory, names)
        raise errors.DirectoryNotFound(directory, f"hint: {question}" if question else "")
    parts = directory.replace(os.sep, "/").split("/")
    if os.pardir in parts:  # the parent of a link is not where the path suggests
        parts = os.path.relpath(real, os.path.realpath(skill.source)).split(os.sep)
    return utf8_text("".join(f"{part}/" for part in parts if part not in ("", os.curdir)))


def match_paths(names: Iterable[str], pattern: str) -> list[str]:
    """Return the paths that match, by file name or, if the pattern has a `/`, as a whole.

    >>> paths = ["SKILL.md", "docs/a.md", "docs/deep/b.md"]
    >>> match_paths(paths, "*.md") == paths
    True
    >>> match_paths(paths, "docs/*.md"), match_paths(paths, "docs/**/*.md")
    (['docs/a.md'], ['docs/a.md', 'docs/deep/b.md'])
    """
    from fnmatch import translate  # only with --pattern: they cost as much as the rest of the command
    from re import compile

    if "/" not in pattern:
        matches = compile(translate(pattern)).match
        return [name for name in names if matches(name.rpartition("/")[2])]
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.endswith("/"):
        parts.append("**")
    tests = [compile(translate(part)).match for part in parts]
    return [name for name in names if _matches(name.split("/"), parts, tests)]


def _matches(path: list[str], pattern: list[str], tests: Sequence[Callable[[str], object]]) -> bool:
    """Return whether the parts of a path match those of a pattern, where `**` matches any number of parts."""
    states = {0}  # the numbers of pattern parts that can have been used up so far
    for position in range(len(path) + 1):
        for state, part in enumerate(pattern):
            if part == "**" and state in states:
                states.add(state + 1)
        if position < len(path):
            steps = (s for s in states if s < len(pattern) and tests[s](path[position]))
            states = {s if pattern[s] == "**" else s + 1 for s in steps}
    return len(pattern) in states


def _list_entries(names: Iterable[str], prefix: str, depth: int | None, limit: int) -> tuple[list[Node], int]:
    """Return the first files and directories down to `depth` levels, and how many there are."""
    entries: list[Node] = []
    total, rest = 0, Node("", 0, False)  # stands for all beyond the limit
    directories: dict[str, Node] = {}  # by path, which ends in a slash
    last: dict[str, Node] = {}  # the last entry of each directory, by the directory's path
    for name in sorted(names, key=_directories_first):
        parent, level, end = prefix, 1, 0
        while end >= 0 and (depth is None or level <= depth):
            end = name.find("/", len(parent))
            path = name[: end + 1]  # empty for a file
            node = directories.get(path)
            if node is None:
                total += 1
                node = rest
                if total <= limit:
                    node = Node(name[:end] if end >= 0 else name, level, end >= 0)
                    entries.append(node)
                last[parent] = node
            if end >= 0:
                directories[path] = node
                node.files += level == depth
                parent, level = path, level + 1
    for node in last.values():
        node.last = True
    return entries, total


def _directories_first(name: str) -> bytes:
    """Return the sort key of a path: at each level directories before files, both bytewise.

    The bytes that mark where a name begins and ends are below all that names can hold after them.
    """
    folder, _, file = name.encode().rpartition(b"/")
    start = b"\1%s\0" % folder.replace(b"/", b"\0\1") if folder else b""
    return b"%s\2%s" % (start, file)
