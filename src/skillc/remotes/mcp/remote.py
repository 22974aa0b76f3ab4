"""Another server's skills over MCP (SEP-2640), verified against their entries, and kept on disk.

    <home>/.skillc/cache/mcp/<label>/<path of the skill, %2F for />/<digest of its set of files>/<name>/

A path tells the server and the skill, and is in no folder that is searched for local skills. Fetching is
lazy: a list brings entries alone, and of a skill only the files that are asked for are read.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from skillc.paths import SKILL_FILE
from skillc.remotes.folders import SkillFolders
from skillc.remotes.mcp.entries import McpRefusal, McpServer, main_of, read_entry, read_listing, verify_main
from skillc.remotes.protocol import Answer, Failure, Remote, RemoteFile, RemoteSkill
from skillc.skills import SkillId

if TYPE_CHECKING:
    from skillc.remotes.mcp.client import Skills

Result = TypeVar("Result")
Files = dict[str, bytes]  # by digest


class McpRemote(Remote):
    """The skills of a server; `problem` says why it is not asked at all."""

    def __init__(self, server: McpServer, folders: SkillFolders, time_out: float, problem: str = "") -> None:
        self._server = server
        self._folders = folders
        self._time_out = time_out
        self._problem = problem

    def list(self, last: Answer | None = None) -> Answer:
        return Answer(read_listing(self._talk(lambda skills: skills.list())))

    def read(self, path: SkillId, skill: RemoteSkill | None, whole: bool) -> tuple[RemoteSkill, bytes] | None:
        """Return a skill and its SKILL.md, verified; if it is read `whole`, all its files are at hand.

        Where they don't match the skill as it was listed, or without it, a new entry is asked for in the same
        conversation as its files. None where the server has no such skill.
        """
        if skill is not None:
            with suppress(McpRefusal):
                return skill, self._read_all(skill, whole)[main_of(skill).digest]
        uri = skill.address if skill else f"skill://{path}/{SKILL_FILE}"

        async def ask(skills: Skills) -> tuple[RemoteSkill, Files] | None:
            answer = await skills.get(uri)
            if answer is None:
                return None
            new = read_entry(answer)
            if new.address != uri:
                raise McpRefusal("another skill was sent than was asked for")
            return new, await self._read(skills, new, _select(new, whole))

        content = self._talk(ask)
        if content is None:
            return None
        skill, files = content
        main = files[main_of(skill).digest]
        verify_main(skill, main)
        return skill, main

    def fetch(self, skill: RemoteSkill, folder: str) -> str:
        self._folders.write(folder, skill.files, self._read_all(skill, whole=True))
        return skill.address

    def _read_all(self, skill: RemoteSkill, whole: bool) -> Files:
        """Return the files of a skill, from disk if they are there; raises McpRefusal for other ones."""
        files = _select(skill, whole)
        data = self._folders.collect(skill.id, files)
        if any(file.digest not in data for file in files):
            data = self._talk(lambda skills: self._read(skills, skill, files))
        verify_main(skill, data[main_of(skill).digest])
        return data

    async def _read(self, skills: Skills, skill: RemoteSkill, files: Sequence[RemoteFile]) -> Files:
        """Return the verified bytes of files, from disk or from the server."""
        contents = self._folders.collect(skill.id, files)
        async for file, data in skills.read([file for file in files if file.digest not in contents]):
            self._folders.put(skill.id, file.digest, data)
            contents[file.digest] = data
        return contents

    def _talk(self, question: Callable[[Skills], Coroutine[Any, Any, Result]]) -> Result:
        if self._problem:
            raise Failure(self._problem)
        from skillc.remotes.mcp.client import talk  # the SDK is slow to import

        return talk(self._server, question, self._time_out)


def _select(skill: RemoteSkill, whole: bool) -> Sequence[RemoteFile]:
    return skill.files if whole else [main_of(skill)]
