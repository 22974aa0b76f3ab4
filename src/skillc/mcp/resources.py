"""Serve resources: every file of every skill, and the inventory; and the methods of SEP-2640.

`skills/list`, `skills/get` and `resources/directory/read` are not the SDK's: their parameters and
results are here, as the specification of 2026-09-13 has them.
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from skillc.engine import DefaultSkillEngine, find_key, make_cursor
from skillc.errors import (
    Denied,
    InvalidOption,
    InvalidSkill,
    InvalidSkillId,
    NotFound,
    SkillcError,
    unexpected,
)
from skillc.mcp.skills import FileEntry, NotServed, SkillEntry, main_of, uri_of
from skillc.paths import SKILL_FILE
from skillc.skills import SkillId
from skillc.text import utf8_text

Result = TypeVar("Result")
EXTENSION = "io.modelcontextprotocol/skills"
SETTINGS: dict[str, Any] = {"directoryRead": True}
INVENTORY = "skillc://inventory"
DIRECTORY_TYPE = "inode/directory"
PAGE = 50  # skills
PAGE_FILES = 1000  # files of them; the skill that reaches it is the last of its page
CHILDREN = 500  # of a directory, on a page
FRESH_MS = 5000
CACHING: dict[str, Any] = {"ttlMs": FRESH_MS, "cacheScope": "private"}
_INVENTORY = types.Resource(
    uri=INVENTORY,
    name="inventory",
    title="Inventory of skills",
    description="All skills that are available here, as a system prompt lists them.",
    mime_type="text/plain",
    annotations=types.Annotations(priority=0.9),
)


class SkillsGetParams(types.RequestParams):
    uri: str


class DirectoryReadParams(types.PaginatedRequestParams):
    uri: str


class Skills(Protocol):
    """Skills as they are served: those of a workspace, or those of a registry for one caller.

    What is not there raises NotServed, or an error that says so.
    """

    async def ids(self, prefix: str) -> list[SkillId]:
        """Return the skills that are listed below a prefix."""
        ...

    async def entry(self, skill_id: SkillId) -> SkillEntry: ...

    async def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]: ...

    async def find(self, uri: str) -> tuple[SkillEntry, str]: ...

    async def read(self, uri: str) -> tuple[bytes, str]: ...


class Resources:
    """The handlers, over the engine and the skills for a request. `on_use` is called when one lists them."""

    def __init__(
        self,
        engine: Callable[[Context], DefaultSkillEngine],
        skills: Callable[[Context], Skills],
        on_use: Callable[[], None] = lambda: None,
        name_tools: Callable[[str], str] = str,
    ) -> None:
        self._engine = engine
        self._skills = skills
        self._on_use = on_use
        self._name_tools = name_tools

    def handlers(self) -> dict[str, Any]:
        """Return what the SDK's server is given for resources."""
        lists = {"on_list_resources": self._list, "on_list_resource_templates": self._templates}
        return lists | {"on_read_resource": self._read}

    def extend(self, server: Server[Any]) -> None:
        """Let a server answer the methods of SEP-2640."""
        server.extensions[EXTENSION] = SETTINGS
        server.add_request_handler("skills/list", types.PaginatedRequestParams, self._skills_list)
        server.add_request_handler("skills/get", SkillsGetParams, self._skills_get)
        server.add_request_handler("resources/directory/read", DirectoryReadParams, self._directory_read)

    async def _list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the inventory, then every file, SKILL.md before the others of its skill."""
        after = _after("resources", params)
        entries, next_cursor = await self._page(ctx, "resources", after)
        resources = [] if after else [_INVENTORY]
        for entry in entries:
            files = sorted(entry.files, key=lambda file: (file.path != SKILL_FILE, file.path))
            resources += [_resource(entry, file) for file in files]
        return types.ListResourcesResult(
            resources=resources, next_cursor=next_cursor, ttl_ms=FRESH_MS, cache_scope="private"
        )

    async def _templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        template = types.ResourceTemplate(
            uri_template="skill://{+path}",
            name="skill-file",
            title="A file of a skill",
            description="The skill's ID, a slash, and the file's path in it: skill://pdf/references/forms.md",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == INVENTORY:
            text = self._name_tools(await _answer(self._engine(ctx).inventory_section()))
            inventory = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
            return types.ReadResourceResult(contents=[inventory], ttl_ms=0, cache_scope="private")
        data, path = await _answer(self._skills(ctx).read(uri), uri)
        contents = _contents(uri, path, data)
        return types.ReadResourceResult(contents=[contents], ttl_ms=FRESH_MS, cache_scope="private")

    async def _skills_list(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        entries, next_cursor = await self._page(ctx, "skills", _after("skills", params))
        page = {"resultType": "complete", "skills": [entry.as_json() for entry in entries], **CACHING}
        return page | ({"nextCursor": next_cursor} if next_cursor else {})

    async def _skills_get(self, ctx: Context, params: SkillsGetParams) -> dict[str, Any]:
        skill_id = main_of(params.uri)
        if skill_id is None:
            raise MCPError(types.INVALID_PARAMS, f"No skill is served at {params.uri[:256]}")
        entry = await _answer(self._skills(ctx).entry(skill_id), params.uri)
        return {"resultType": "complete", "skill": entry.as_json(), **CACHING}

    async def _directory_read(self, ctx: Context, params: DirectoryReadParams) -> dict[str, Any]:
        """List the direct children of a folder of a skill; those of a collection are its skills' folders."""
        children = await _answer(_children(self._skills(ctx), params.uri), params.uri)
        listing = f"directory {params.uri}"
        after = _after(listing, params)
        left = [child for child in children if child.uri > after]
        page = left[:CHILDREN]
        result = {
            "resultType": "complete",
            "resources": [child.model_dump(by_alias=True, mode="json", exclude_none=True) for child in page],
            **CACHING,  # the SEP does not ask for it here, but some clients want it in every list
        }
        return result | ({"nextCursor": make_cursor(listing, page[-1].uri)} if len(left) > len(page) else {})

    async def _page(self, ctx: Context, listing: str, after: str) -> tuple[list[SkillEntry], str | None]:
        self._on_use()
        entries, last = await _answer(self._skills(ctx).page(after, PAGE, PAGE_FILES))
        return entries, make_cursor(listing, last) if last else None


async def _children(skills: Skills, uri: str) -> list[types.Resource]:
    try:
        entry, path = await skills.find(uri)
    except NotServed:
        return await _collection(skills, uri)
    prefix = f"{path}/" if path else ""
    inside = [file for file in entry.files if file.path.startswith(prefix)]
    if not inside or any(file.path == path for file in entry.files):
        raise NotServed(f"{uri} is not a directory")
    children: dict[str, types.Resource] = {}
    for file in inside:
        name, _, below = file.path[len(prefix) :].partition("/")
        child = _folder(uri_of(entry.skill_id, prefix + name), name) if below else _resource(entry, file)
        children.setdefault(child.uri, child)
    return [children[uri] for uri in sorted(children)]


async def _collection(skills: Skills, uri: str) -> list[types.Resource]:
    """List a collection, which is a directory above skills."""
    path = uri.removeprefix("skill://")
    prefix = f"{path}/" if path else ""
    ids = await skills.ids(path) if uri.startswith("skill://") else []
    names = {skill_id[len(prefix) :].partition("/")[0] for skill_id in ids}
    if not names:
        raise NotServed(f"{uri[:256]} is not a directory")
    return [_folder(uri_of(f"{prefix}{name}"), name) for name in sorted(names)]


async def _answer(request: Awaitable[Result], uri: str = "") -> Result:
    """Return the result of a request; what is not there is an invalid parameter, with our reason."""
    try:
        return await request
    except (NotFound, Denied, InvalidSkill, InvalidSkillId, NotServed) as error:
        reason = error.message if isinstance(error, SkillcError) else str(error)
        raise MCPError(types.INVALID_PARAMS, reason, {"uri": uri} if uri else None) from None
    except (SkillcError, OSError) as error:
        raise MCPError(types.INTERNAL_ERROR, unexpected(error).message) from None


def _after(listing: str, params: types.PaginatedRequestParams | None) -> str:
    """Return the entry after which to go on; raises the protocol's error for a cursor that is not ours."""
    cursor = params.cursor if params is not None else None
    try:
        return "" if cursor is None else find_key(listing, cursor)
    except InvalidOption:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor") from None


def refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Raise the protocol's error for a cursor of a list that has one page."""
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor")


def _resource(entry: SkillEntry, file: FileEntry) -> types.Resource:
    main = file.path == SKILL_FILE
    name = entry.frontmatter["name"] if main else file.path.rpartition("/")[2]
    return types.Resource(
        uri=uri_of(entry.skill_id, file.path),
        name=utf8_text(str(name)),
        title=str(entry.skill_id) if main else utf8_text(f"{entry.skill_id}: {file.path}"),
        description=str(entry.frontmatter["description"]) if main else None,
        mime_type=_mime_type(file.path),
        size=file.size,
        annotations=types.Annotations(priority=0.8 if main else 0.2),
    )


def _folder(uri: str, name: str) -> types.Resource:
    return types.Resource(uri=uri, name=utf8_text(name), mime_type=DIRECTORY_TYPE)


def _contents(uri: str, path: str, data: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    kind = _mime_type(path)
    try:
        return types.TextResourceContents(uri=uri, mime_type=kind or "text/plain", text=data.decode())
    except UnicodeDecodeError:
        blob = base64.b64encode(data).decode()
        return types.BlobResourceContents(uri=uri, mime_type=kind or "application/octet-stream", blob=blob)


def _mime_type(path: str) -> str | None:
    if path.lower().endswith((".md", ".markdown")):
        return "text/markdown"
    return mimetypes.guess_type(path)[0]
