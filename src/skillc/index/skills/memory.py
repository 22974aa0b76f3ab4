"""Skills that are not in a folder, made searchable in memory: those of servers and of programs."""

from __future__ import annotations

from skillc.index.skills import rows
from skillc.index.skills.database import IN_MEMORY, Database
from skillc.index.skills.parse import Reading
from skillc.index.skills.postings import MAX_SLOTS, Joined, turned
from skillc.index.skills.rows import Entry
from skillc.index.skills.scan import Found
from skillc.index.skills.weights import Source, weigh
from skillc.index.skills.writer import Harvest, Outside, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index.skills.find import Library
    from skillc.index.skills.query import Shelf

    Told = tuple[str, str, str, tuple[str, ...], str | None]  # ID, name, description, capabilities, body

_KEY = "documents"
_STAMP = (0, 0, 0)


class Documents:
    """The skills of a source that has no folder; those whose body is not at hand are found by their head."""

    def __init__(self, library: Library) -> None:
        self.database = Database(IN_MEMORY)
        self._library = library
        self._held: dict[str, Told] = {}

    def hold(self, skills: list[Told]) -> None:
        """Take these skills and no others; only what is new is read."""
        wanted = {told[0]: told for told in skills}
        if wanted == self._held:
            return
        gone = [skill_id for skill_id in self._held if wanted.get(skill_id) != self._held[skill_id]]
        news = [told for skill_id, told in wanted.items() if self._held.get(skill_id) != told]
        with self._library.lock:
            harvest = self._gathered(sorted(news))
            self.database.write(lambda execute: put(execute, _folder(execute, gone), harvest))
            self._held = wanted

    def _gathered(self, news: list[Told]) -> Harvest:
        harvest = Harvest()
        outside = Outside(self.database, _KEY, False)
        for start in range(0, len(news), MAX_SLOTS):
            some = news[start : start + MAX_SLOTS]
            sources = [Source(told[1], told[2], (told[4] or "").encode("utf-8", "replace")) for told in some]
            texts = list(enumerate(weigh(self._library.stemmer, sources)))
            joined = Joined()
            joined.add(turned(texts, outside.skills, outside.bodies))
            harvest.add([_entry(*told) for told in some], [0] * len(some), joined)
        return harvest

    def searchable(self, anew: bool = False) -> int | None:
        return self.database.read(lambda execute: rows.number_of(execute, _KEY, False))

    def is_there(self, shelf: Shelf) -> bool:
        return True

    def is_current(self, path: str, stamp: object) -> bool:
        return True

    def directory(self, path: str) -> str:
        return ""

    def content(self, path: str) -> bytes:
        return (self._held[path][4] or "").encode("utf-8", "replace") if path in self._held else b""


def _entry(
    skill_id: str, name: str, description: str, capabilities: tuple[str, ...], body: str | None
) -> Entry:
    return Entry.of(Found(skill_id, skill_id, _STAMP), Reading(_STAMP, description, capabilities, digest=0))


def _folder(execute: Any, gone: list[str]) -> int:
    return rows.save(execute, _KEY, False, None, gone)
