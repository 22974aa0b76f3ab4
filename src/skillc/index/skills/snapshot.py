"""A folder as it was when somebody looked, and what the next look finds to be different."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.skills.parse import Noticed
    from skillc.index.skills.rows import Entry
    from skillc.index.skills.scan import Directory, Found


class Look:
    """A folder as it was when somebody looked; never changed afterwards.

    `revision` is that of what the index says of it; None where it says nothing.
    """

    __slots__ = ("directories", "entries", "error", "noticed", "offered", "revision", "twice")

    def __init__(
        self,
        directories: dict[str, Directory],
        entries: dict[str, Entry],
        noticed: list[tuple[str, Noticed]],
        error: OSError | None,
        revision: int | None,
    ) -> None:
        self.revision = revision
        self.directories = directories
        self.entries = entries
        self.noticed = noticed  # of directories; an entry has its own
        self.error = error
        by_id: dict[str, list[Entry]] = {}
        for path in sorted(entries):
            by_id.setdefault(entries[path].skill_id, []).append(entries[path])
        self.twice = {skill_id: same for skill_id, same in by_id.items() if len(same) > 1}
        self.offered = {
            skill_id: same[0]
            for skill_id, same in sorted(by_id.items())
            if len(same) == 1 and same[0].description is not None
        }

    def without_notices(self) -> Look:
        """The same after what was wrong is mended."""
        return Look(self.directories, self.entries, [], None, self.revision)


def is_news(known: Entry | None, found: Found, texts: bool) -> bool:
    if known is None or known.stamp != found.stamp:
        return True
    return texts and not known.indexed and known.description is not None


def alike(before: dict[str, Directory], now: dict[str, Directory]) -> bool:
    """Whether nothing is to be noted of directories; those that are not trusted count as noted."""
    if before.keys() != now.keys():
        return False
    return all(
        directory is before[path]
        or (directory.stamp, directory.collection, directory.collection_stamp)
        == (before[path].stamp, before[path].collection, before[path].collection_stamp)
        for path, directory in now.items()
    )
