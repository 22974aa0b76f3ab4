"""Get skills from a server over MCP once, by its address: list them, and write the files of some to folders.

    endpoint = McpEndpoint("https://skills.example.com/mcp", {"Authorization": "Bearer …"})
    for entry in endpoint.list().all_entries():
        endpoint.write(entry, folder)

Nothing is cached. Raises Refusal with the reason for what a server may not say or send. Needs the extra
`mcp`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from skillc import atomic
from skillc.library.archive import split_name
from skillc.library.mcp.client import Server, Skills, talk
from skillc.library.mcp.entries import Listing, Refusal, SkillEntry, read_entry, read_listing
from skillc.paths import SKILL_FILE
from skillc.skills import SkillId, to_spelling, write_files

LIST_TIME = 60.0  # seconds for a whole list
FILES_TIME = 300.0  # seconds for all files of a skill


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """A server at an address, and the headers to send to it."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def list(self) -> Listing:
        """Return all skills that the server lists, and the reasons for refusing others."""
        return read_listing(talk(self._server, lambda skills: skills.list(), LIST_TIME))

    def get(self, ids: Iterable[SkillId]) -> Listing:
        """Return those of the skills with these IDs that the server has; it need not list them."""

        async def ask(skills: Skills) -> Listing:
            listing = Listing()
            for skill_id in ids:
                uri = f"skill://{skill_id}/{SKILL_FILE}"
                answer = await skills.get(uri)
                if answer is None:
                    continue
                try:
                    listing.entries[skill_id] = _require(uri, read_entry(answer))
                except Refusal as error:
                    listing.refusals[skill_id] = str(error)
            return listing

        return talk(self._server, ask, LIST_TIME)

    def write(self, entry: SkillEntry, folder: str) -> None:
        """Write all files of a skill into a new folder, whole or not at all; each is verified first.

        Raises WrongFile for a file that is not the announced one, and ArchiveRefused (E083) for a path that
        no archive may hold.
        """
        check_paths(entry)

        async def read(skills: Skills) -> dict[str, bytes]:
            return {file.path: data async for file, data in skills.read(entry.files)}

        files = talk(self._server, read, FILES_TIME)
        entry.verify_main(files[SKILL_FILE])
        temporary = atomic.temporary_path(folder)
        try:
            write_files(temporary, files)
            os.rename(temporary, folder)
        finally:
            atomic.discard(temporary)

    @property
    def _server(self) -> Server:
        return Server(url=self.url, headers=self.headers)


def _require(uri: str, entry: SkillEntry) -> SkillEntry:
    if entry.uri != uri:
        raise Refusal("another skill was sent than was asked for")
    return entry


def check_paths(entry: SkillEntry) -> None:
    """Refuse paths that no archive may hold, and two that are one on some systems."""
    paths: dict[str, str] = {}
    for file in entry.files:
        words = split_name(file.path, entry.uri)
        for end in range(1, len(words) + 1):
            path = "/".join(words[:end])
            other = paths.setdefault(to_spelling(path), path)
            if other != path:
                raise Refusal(f"'{other}' and '{path}' are one name on some systems")
