"""Asking another server for its skills, by the SDK: bounded in pages and time, whatever it sends.

A connection is made for a question and closed after it; nothing is kept open.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.extension import advertise
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict, ValidationError

from skillc.errors import SkillcError
from skillc.library.mcp.entries import HeldFile, Refused, Unreachable
from skillc.library.mcp.transport import Channel, Server, over_http, over_stdio
from skillc.text import one_line

EXTENSION = "io.modelcontextprotocol/skills"
MAX_PAGES = 200
MAX_SKILLS = 5000

Answer = TypeVar("Answer")


class _Result(types.Result):
    """Whatever came."""

    model_config = ConfigDict(extra="allow")


class _Request(types.Request[dict[str, Any], str]):
    method: str
    params: dict[str, Any]


def talk(server: Server, question: Callable[[Skills], Awaitable[Answer]], time_out: float) -> Answer:
    """Connect, ask, disconnect; raises Refused with the reason. To be called in a thread of its own."""
    channel = Channel()

    async def run() -> Answer:
        async with asyncio.timeout(time_out):
            transport = over_stdio(server, channel) if server.command else over_http(server, channel)
            async with Client(transport, mode="auto", extensions=[advertise(EXTENSION)]) as client:
                return await question(Skills(client))

    try:
        return asyncio.run(run())
    except BaseException as error:
        cause = _cause(error)
    # From here, so that what the libraries raised, which may show what was sent, is no part of it.
    if isinstance(cause, SkillcError) or not isinstance(cause, Exception):
        raise cause from None
    if isinstance(cause, Refused) or channel.problem:
        raise Refused(str(cause) if isinstance(cause, Refused) else channel.problem)
    raise Unreachable(server.hide(channel.silence or _reason(cause, time_out)))


def _cause(error: BaseException) -> BaseException:
    """The error at the bottom of the groups that tasks put around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _reason(error: Exception, time_out: float) -> str:
    """An error in a few words."""
    if isinstance(error, TimeoutError):
        return f"no whole answer in {time_out:g} s"
    if isinstance(error, MCPError):
        return f"the server says: {one_line(error.error.message)[:200]} ({error.error.code})"
    if isinstance(error, ValidationError):
        return "an answer is not what the protocol asks for"
    if isinstance(error, FileNotFoundError | PermissionError):
        return f"its command can't be started: {error.strerror}"
    if isinstance(error, httpx2.HTTPError | OSError):
        return "no connection"
    return type(error).__name__


class Skills:
    """A server's skills, as they come: entries are checked elsewhere, the amount of them here."""

    def __init__(self, client: Client) -> None:
        self._client = client
        capabilities = client.session.server_capabilities
        if not capabilities or EXTENSION not in (capabilities.extensions or {}) or not capabilities.resources:
            raise Unreachable("the server does not declare skills (it must speak MCP 2026-07-28)")

    async def list(self) -> list[Any]:
        """All entries, page by page; raises Refused for a list without an end."""
        found: list[Any] = []
        seen: set[str] = set()
        cursor: dict[str, str] = {}
        for _ in range(MAX_PAGES):
            page = await self._ask("skills/list", cursor)
            skills = page.get("skills")
            if not isinstance(skills, list):
                raise Refused("the server's list of skills is none")
            found += skills
            if len(found) > MAX_SKILLS:
                raise Refused(f"the server lists more than {MAX_SKILLS} skills")
            after = page.get("nextCursor")
            if after is None:
                return found
            if not isinstance(after, str) or after in seen:
                raise Refused("the server's list of skills goes in circles")
            seen.add(after)
            cursor = {"cursor": after}
        raise Refused(f"the server's list of skills has more than {MAX_PAGES} pages")

    async def get(self, uri: str) -> Any:
        """One entry; None where the server has no such skill."""
        try:
            return (await self._ask("skills/get", {"uri": uri})).get("skill")
        except MCPError as error:
            if error.error.code == types.INVALID_PARAMS:
                return None
            raise

    async def read(self, files: Iterable[HeldFile]) -> AsyncIterator[tuple[HeldFile, bytes]]:
        """The bytes of files, each verified before it is given."""
        for file in files:
            answer = await self._ask("resources/read", {"uri": file.uri})
            data = _data(answer.get("contents"), file)
            file.verify(data)
            yield file, data

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = await self._client.session.send_request(_Request(method=method, params=params), _Result)
        return answer.model_dump(by_alias=True)


def _data(contents: Any, file: HeldFile) -> bytes:
    """The bytes of the one content that was asked for."""
    if not isinstance(contents, list) or len(contents) != 1 or not isinstance(contents[0], dict):
        raise Refused(f"'{file.path}' was not sent as one file")
    [content] = contents
    if content.get("uri") != file.uri:
        raise Refused(f"'{file.path}' was asked for, and another file was sent")
    text, blob = content.get("text"), content.get("blob")
    try:
        if isinstance(text, str):
            return text.encode()
        return base64.b64decode(blob if isinstance(blob, str) else "", validate=True)
    except ValueError:
        raise Refused(f"'{file.path}' can't be decoded") from None
