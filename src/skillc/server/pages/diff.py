"""Show two versions of a skill side by side: their text files, line by line, and what they ask for.

What is compared and what is shown is bounded: a page says what it leaves out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from html import escape
from itertools import accumulate, zip_longest

from starlette.responses import Response

from skillc.audit import KINDS, compare_audits
from skillc.registry.model import StoredFile
from skillc.server.pages.subject import choose_version, describe_skill, find_subject
from skillc.server.pages.visit import Visit

CONTEXT = 3  # lines around a change
MAX_LINES = 4000  # of a file that is compared line by line
MAX_LINE = 400  # characters of a line that are shown
MAX_COMPARISON = 8 << 20  # bytes of the files that two versions are compared by
MAX_COMPARED = 200  # files that differ and are read
MAX_FINDINGS = 20  # that are new
MAX_CHOICES = 50  # versions to choose from
MAX_TEXT = 60_000  # characters of HTML that lines of one page make


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one side: its number, and its text in three parts, of which the second changed."""

    number: int
    before: str
    change: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Two lines side by side. `kind` is equal, changed, added, removed or, between hunks, gap."""

    kind: str
    old: Line | None = None
    new: Line | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs. `rows` are empty where it can't be compared, and `note` says why."""

    path: str
    kind: str
    rows: tuple[Row, ...] = ()
    note: str = ""
    added: int = 0
    removed: int = 0


def read_text(data: bytes) -> str | None:
    """Return the text of a file; None for one that is not text."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def compare_files(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[FileChange]:
    """Return the files that differ, SKILL.md first, with as many rows as fit on a page."""
    changes, left = [], MAX_TEXT
    for name in sorted({*old, *new}, key=lambda name: (name.lower() != "skill.md", name)):
        if old.get(name) != new.get(name):
            change = _compare(name, old.get(name), new.get(name))
            sizes = list(accumulate(map(_measure, change.rows)))
            count = bisect_right(sizes, left)
            if count < len(sizes):
                note = "The page would get too long; what comes after is left out."
                change = replace(change, rows=change.rows[:count], note=note)
            left -= sizes[-1] if sizes else 0
            changes.append(change)
    return changes


def _measure(row: Row) -> int:
    """Return about how many characters of HTML a row makes."""
    lines = [line for line in (row.old, row.new) if line]
    return 120 + sum(len(escape(line.before + line.change + line.after)) for line in lines)


def _compare(name: str, old: bytes | None, new: bytes | None) -> FileChange:
    kind = "added" if old is None else "removed" if new is None else "changed"
    texts = read_text(old or b""), read_text(new or b"")
    if texts[0] is None or texts[1] is None:
        return FileChange(name, kind, note="It is not text, so its lines are not compared.")
    lines = texts[0].splitlines(), texts[1].splitlines()
    if max(map(len, lines)) > MAX_LINES:
        return FileChange(name, kind, note=f"It has more than {MAX_LINES:,} lines, so they are not compared.")
    rows = (*compare_lines(*lines),)
    added = sum(row.kind in ("added", "changed") for row in rows)
    removed = sum(row.kind in ("removed", "changed") for row in rows)
    return FileChange(name, kind, rows, "", added, removed)


def compare_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Yield rows of the lines that differ, each change with a few lines around it."""
    matcher = SequenceMatcher(None, old, new)
    is_first = True
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if not is_first:
            yield Row("gap")
        is_first = False
        for action, old_start, old_end, new_start, new_end in group:
            old_lines = enumerate(old[old_start:old_end], old_start + 1)
            new_lines = enumerate(new[new_start:new_end], new_start + 1)
            for one, two in zip_longest(old_lines, new_lines):
                yield _row(action, one, two)


def _row(action: str, old: tuple[int, str] | None, new: tuple[int, str] | None) -> Row:
    if old is None or new is None:
        number, text = old or new or (0, "")
        line = Line(number, _cut(text))
        return Row("added", None, line) if old is None else Row("removed", line)
    if action == "equal":
        return Row("equal", Line(old[0], _cut(old[1])), Line(new[0], _cut(new[1])))
    one, two = _cut(old[1]), _cut(new[1])
    start = _common(one, two)
    end = _common(one[start:][::-1], two[start:][::-1])
    return Row("changed", _mark(old[0], one, start, end), _mark(new[0], two, start, end))


def _mark(number: int, text: str, start: int, end: int) -> Line:
    stop = len(text) - end
    return Line(number, text[:start], text[start:stop], text[stop:])


def _common(one: str, two: str) -> int:
    """Return how many characters two texts have in common at their start."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[: MAX_LINE - 1]}…"


# The page


def show_difference(visit: Visit) -> Response:
    """Show two versions side by side; without numbers, the latest and the one before."""
    subject = find_subject(visit)
    skill = subject.skill
    new = choose_version(skill, visit.query("to"))
    before = next(iter(skill.versions[skill.versions.index(new) + 1 :]), new)
    old = choose_version(skill, visit.query("from")) if visit.query("from") else before
    old_files, new_files = ({file.path: file for file in visit.catalog.files(v)} for v in (old, new))
    differing = _find_differing(old_files, new_files)
    compared, size = [], 0
    for path in differing[:MAX_COMPARED]:
        size += sum(files[path].size for files in (old_files, new_files) if path in files)
        compared += [path] if size <= MAX_COMPARISON else []
    read = visit.catalog.read_file
    changes = compare_files(
        {path: read(old, path) for path in compared if path in old_files},
        {path: read(new, path) for path in compared if path in new_files},
    )
    audits = visit.catalog.audit(old), visit.catalog.audit(new)
    asks = compare_audits(audits[0], audits[1]) if audits[0] is not None and audits[1] is not None else None
    findings = [finding for finding in asks.findings if finding.level != "note"] if asks else []
    return visit.page(
        "diff.html",
        **describe_skill(visit, subject, "versions"),
        old=old,
        new=new,
        changes=changes,
        more_changes=len(differing) - len(compared),
        asks=asks,
        findings=findings[:MAX_FINDINGS],
        more_findings=max(0, len(findings) - MAX_FINDINGS),
        kinds=KINDS,
        choices=skill.versions[:MAX_CHOICES],
    )


def _find_differing(old: dict[str, StoredFile], new: dict[str, StoredFile]) -> list[str]:
    """Return the paths of the files that differ, the smallest first."""

    def digest(files: dict[str, StoredFile], path: str) -> str:
        return files[path].digest if path in files else ""

    paths = [path for path in {*old, *new} if digest(old, path) != digest(new, path)]
    return sorted(paths, key=lambda path: ((old.get(path) or new[path]).size, path))


PAGES = {"/diff/{rest:path}": show_difference}
