"""The ClawHub v1 protocol for reading: what its own command line, and other clients of it, ask for.

    /.well-known/clawhub.json                      where the API is
    /api/v1/whoami, /search, /skills, /skills/{slug}, /skills/{slug}/versions[/{version}],
    /skills/{slug}/file, /resolve, /download

Errors are plain text. Times are milliseconds since 1970. Lists are by ID, or with `sort` the newest first: by
the first version for `createdAt`, else by the last one, as the registry counts no stars or downloads.

A slug is an ID with dots for slashes; the handle of its owner is all but its last segment. As no segment of
an ID has a dot, each leads back to one ID. An owner and a last segment mean the same: `@payments/refunds`.

>>> slug_of(SkillId("payments/eu/refunds")), owner_of(SkillId("payments/eu/refunds"))
('payments.eu.refunds', 'payments.eu')
>>> parse_slug("payments.refunds"), parse_slug("refunds", "@payments"), parse_slug("refunds", "-")
('payments/refunds', 'payments/refunds', 'refunds')
"""

from __future__ import annotations

import io
import mimetypes
import zipfile
from collections.abc import Callable
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidSkillId, SignInRequired, SkillNotFound
from skillc.registry import LATEST, PUBLIC, Caller, Role, Skill, StoredFile, Version
from skillc.remotes import fingerprint_of
from skillc.server.protocols.catalog import read_skills
from skillc.server.protocols.requests import find_address, find_caller, parse_limit, plain
from skillc.server.responses import HEADERS, Refusal, respond
from skillc.server.service import Service
from skillc.server.upload_folders import read_members
from skillc.skills import NAME_CHARACTERS, SkillId, to_segment

API = "/api/v1"
PAGE, MAX_PAGE = 25, 200
MAX_VERSIONS = 1000  # whose fingerprints are compared
EPOCH = (1980, 1, 1, 0, 0, 0)  # of files in a zip, which knows no earlier time
ROOT = "-"  # the owner of skills without a slash: clients can't leave the owner out when they publish


def routes(service: Service) -> list[BaseRoute]:
    api = _Api(service)
    return [
        Route("/.well-known/clawhub.json", plain(api.discovery)),
        Route(f"{API}/whoami", plain(api.whoami)),
        Route(f"{API}/search", plain(api.search)),
        Route(f"{API}/resolve", plain(api.resolve)),
        Route(f"{API}/download", plain(api.download)),
        Route(f"{API}/skills", plain(api.skills)),
        Route(f"{API}/skills/{{slug}}", plain(api.skill)),
        Route(f"{API}/skills/{{slug}}/versions", plain(api.versions)),
        Route(f"{API}/skills/{{slug}}/versions/{{version}}", plain(api.version)),
        Route(f"{API}/skills/{{slug}}/file", plain(api.file)),
    ]


def rest(service: Service) -> list[BaseRoute]:
    """Return the route for what else clients ask for, such as stars and packages."""

    async def refuse(request: Request) -> Response:
        raise Refusal(404, f"Not found: this registry has no {request.method} {request.url.path[:200]}")

    return [Route(f"{API}/{{path:path}}", plain(refuse), methods=["GET", "POST", "PUT", "PATCH", "DELETE"])]


class _Api:
    """The endpoints: each parses a request, asks the registry, and makes a response."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._registry = service.registry

    async def discovery(self, request: Request) -> Response:
        address = find_address(self._service, request)
        return respond({"apiBase": address, "authBase": address})

    async def whoami(self, request: Request) -> Response:
        caller = await find_caller(self._service, request)
        if caller is PUBLIC:
            raise SignInRequired
        role = "admin" if caller.allows(Role.ADMIN, "") else "user"
        user = {"handle": handle_of(caller), "displayName": caller.subject, "image": None, "role": role}
        return respond({"user": user})

    async def search(self, request: Request) -> Response:
        """Return the skills that fit a text, best first; with `mode=exact` the one with this slug."""
        caller = await find_caller(self._service, request)
        query = request.query_params.get("q", "").strip()
        limit = parse_limit(request, PAGE, MAX_PAGE)
        if request.query_params.get("mode") == "exact":
            scores = {parse_slug(query): 1.0} if _is_slug(query) else {}
        else:
            scores = await self._find(caller, query, limit)
        skills = await self._service.call(self._load, caller, list(scores))
        results = [_describe(skill) | {"score": scores[skill.id]} for skill in skills]
        return respond({"results": [result | {"version": _number(result)} for result in results]})

    async def _find(self, caller: Caller, query: str, limit: int) -> dict[SkillId, float]:
        found = await self._service.find(caller, query, limit)
        return {SkillId(result.id): result.score for result in found}

    def _load(self, caller: Caller, ids: list[SkillId]) -> list[Skill]:
        """Return the skills with these IDs that can be installed."""
        skills = []
        for skill_id in ids:
            try:
                skills.append(self._registry.skill(caller, skill_id))
            except SkillNotFound:
                continue  # deleted meanwhile
        return [skill for skill in skills if skill.latest is not None]

    async def skills(self, request: Request) -> Response:
        """List the skills that a caller can install, a page at a time; `prefix` is of slugs."""
        caller = await find_caller(self._service, request)
        limit = parse_limit(request, PAGE, MAX_PAGE)
        cursor, prefix = (request.query_params.get(n, "").replace(".", "/") for n in ("cursor", "prefix"))
        if not NAME_CHARACTERS.issuperset(prefix.replace("/", "")):
            return respond({"items": [], "nextCursor": None})
        read, order = self._page, request.query_params.get("sort", "")
        if order:
            read, cursor = self._newest(order), request.query_params.get("cursor", "")
        skills, more = await self._service.call(read, caller, cursor, prefix, limit)
        return respond({"items": [_describe(skill) for skill in skills], "nextCursor": more})

    def _page(self, caller: Caller, after: str, prefix: str, limit: int) -> tuple[list[Skill], str | None]:
        skills: list[Skill] = []
        # IDs that begin with the prefix follow on what is just before it.
        after = max(after, prefix[:-1] + chr(ord(prefix[-1]) - 1) if prefix else "")
        while page := self._registry.skills(caller, after=after, limit=limit + 1):
            for skill in page:
                after = skill.id
                if not skill.id.startswith(prefix):
                    if skill.id > prefix:
                        return skills, None
                elif skill.latest is not None:
                    if len(skills) == limit:
                        return skills, slug_of(skills[-1].id)
                    skills.append(skill)
        return skills, None

    def _newest(self, order: str) -> Callable[..., tuple[list[Skill], str | None]]:
        """Return what reads a page of the newest first; a cursor is the time and the slug of the last one."""

        def key(skill: Skill) -> tuple[int, str]:
            version = skill.versions[-1 if order == "createdAt" else 0]
            return -_time(version.published_at), skill.id

        def read(caller: Caller, cursor: str, prefix: str, limit: int) -> tuple[list[Skill], str | None]:
            time, _, slug = cursor.partition("-")
            after = (-int(time), slug.replace(".", "/")) if _is_number(time) else None
            listed = read_skills(self._registry, caller)
            keys = {each.id: key(each) for each in listed if each.latest and each.id.startswith(prefix)}
            skills = sorted((each for each in listed if each.id in keys), key=lambda each: keys[each.id])
            skills = [each for each in skills if after is None or keys[each.id] > after]
            last = skills[limit - 1] if len(skills) > limit else None
            more = f"{-keys[last.id][0]}-{slug_of(last.id)}" if last else None
            return skills[:limit], more

        return read

    async def skill(self, request: Request) -> Response:
        _, skill = await self._skill(request, request.path_params["slug"])
        if skill.latest is None:
            raise SkillNotFound(skill.id, "all its versions are yanked")
        description = _describe(skill)
        return respond(
            {
                "skill": description,
                "latestVersion": description["latestVersion"],
                "owner": description["owner"],
                "metadata": None,
                "moderation": None,
            }
        )

    async def versions(self, request: Request) -> Response:
        """List the versions that can be chosen, last published first."""
        _, skill = await self._skill(request, request.path_params["slug"])
        limit = parse_limit(request, PAGE, MAX_PAGE)
        versions = [version for version in skill.versions if version.yanked is None]
        cursor = request.query_params.get("cursor", "")
        numbers = [version.version for version in versions]
        start = numbers.index(cursor) + 1 if cursor in numbers else 0
        page = versions[start : start + limit]
        more = page[-1].version if start + limit < len(versions) else None
        return respond({"items": [_describe_version(version) for version in page], "nextCursor": more})

    async def version(self, request: Request) -> Response:
        """Return a version with its files; also a yanked one, so that what is installed can be checked."""
        caller, skill = await self._skill(request, request.path_params["slug"])
        version = skill.resolve(request.path_params["version"])
        files = await self._service.call(self._registry.files, caller, version)
        value = _describe_version(version) | {
            "files": [_describe_file(file) for file in files],
            "fingerprint": _fingerprint(files),
        }
        names = {"slug": slug_of(skill.id), "displayName": skill.id.name}
        return respond({"version": value, "skill": names})

    async def file(self, request: Request) -> Response:
        """Return the bytes of a file: of a version, of a tag, or of the latest version."""
        caller, skill = await self._skill(request, request.path_params["slug"])
        version = skill.resolve(_reference(request))
        path = request.query_params.get("path", "")
        data = await self._service.call(self._registry.read_file, caller, version, path)
        # Never as a page: a browser must not run what a skill holds.
        headers = HEADERS | {"Content-Disposition": "attachment"}
        return Response(data, headers=headers, media_type="application/octet-stream")

    async def resolve(self, request: Request) -> Response:
        """Say which version has these files, by their fingerprint, and which is the latest."""
        caller, skill = await self._skill(request, request.query_params.get("slug", ""))
        match = await self._service.call(self._match, caller, skill, request.query_params.get("hash", ""))
        latest = skill.latest
        return respond(
            {
                "match": {"version": match.version} if match else None,
                "latestVersion": {"version": latest.version} if latest else None,
            }
        )

    def _match(self, caller: Caller, skill: Skill, fingerprint: str) -> Version | None:
        versions = skill.versions[:MAX_VERSIONS]
        return next(
            (v for v in versions if _fingerprint(self._registry.files(caller, v)) == fingerprint), None
        )

    async def download(self, request: Request) -> Response:
        """Return a version as a zip."""
        caller, skill = await self._skill(request, request.query_params.get("slug", ""))
        version = skill.resolve(_reference(request))
        archive = await self._service.call(self._registry.read_archive, caller, version)
        data = await self._service.call(_to_zip, archive)
        name = f"{skill.id.name}-{version.version}.zip"
        headers = HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, headers=headers, media_type="application/zip")

    async def _skill(self, request: Request, slug: str) -> tuple[Caller, Skill]:
        caller = await find_caller(self._service, request)
        try:
            skill_id = parse_slug(slug, request.query_params.get("ownerHandle", ""))
        except InvalidSkillId:
            raise SkillNotFound(slug[:200].replace("@", "")) from None
        return caller, await self._service.call(self._registry.skill, caller, skill_id)


def _reference(request: Request) -> str:
    query = request.query_params
    return query.get("version", "") or query.get("tag", "") or LATEST


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


def _is_slug(text: str) -> bool:
    try:
        return bool(parse_slug(text))
    except InvalidSkillId:
        return False


def _describe(skill: Skill) -> dict[str, Any]:
    """Return what the protocol says of a skill, with its owner and its latest version."""
    latest = skill.latest
    assert latest is not None
    summary = " ".join(str(latest.frontmatter.get("description", "")).split())
    handle = owner_of(skill.id)
    tags = {
        tag: number for tag, number in skill.tags.items() if (v := skill.find(number)) and v.yanked is None
    }
    return {
        "slug": slug_of(skill.id),
        "displayName": skill.id.name,
        "summary": summary,
        "ownerHandle": handle,
        "owner": {"handle": handle, "displayName": skill.id.collection or None, "image": None},
        "tags": tags | {LATEST: latest.version},
        "stats": {},
        "createdAt": _time(skill.versions[-1].published_at),
        "updatedAt": _time(skill.versions[0].published_at),
        "latestVersion": _describe_version(latest),
    }


def _number(description: dict[str, Any]) -> str:
    return str(description["latestVersion"]["version"])


def _describe_version(version: Version) -> dict[str, Any]:
    return {
        "version": version.version,
        "createdAt": _time(version.published_at),
        "changelog": version.note,
        "changelogSource": "user",
    }


def _describe_file(file: StoredFile) -> dict[str, Any]:
    kind = mimetypes.guess_type(file.path)[0] or "application/octet-stream"
    digest = file.digest.partition(":")[2]
    return {"path": file.path, "size": file.size, "sha256": digest, "contentType": kind}


def _fingerprint(files: tuple[StoredFile, ...]) -> str:
    return fingerprint_of({file.path: file.digest.partition(":")[2] for file in files})


def _time(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _to_zip(archive: bytes) -> bytes:
    """Return the files of a .tar.gz of ours as a zip; the same files make the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for member, data in read_members(archive):
            entry = zipfile.ZipInfo(member.name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (0o100000 | member.mode) << 16
            target.writestr(entry, data)
    return buffer.getvalue()


def slug_of(skill_id: SkillId) -> str:
    return skill_id.replace("/", ".")


def owner_of(skill_id: SkillId) -> str:
    return skill_id.collection.replace("/", ".") or ROOT


def parse_slug(slug: str, owner: str = "") -> SkillId:
    """Return the ID for a slug; an owner counts where the slug has one segment. Raises InvalidSkillId."""
    if "/" in slug or "/" in owner:
        raise InvalidSkillId(slug)
    words = slug.split(".")
    owner = owner.lstrip("@").lower()
    if len(words) == 1 and owner not in ("", ROOT):
        words = [*owner.split("."), *words]
    return SkillId("/".join(words))


def handle_of(caller: Caller) -> str:
    """Return the handle under which a caller publishes if it names no owner.

    That is the prefix in which it may publish, where there is one; otherwise its own name.
    """
    prefixes = {each.prefix for each in caller.permissions if each.role >= Role.PUBLISHER}
    return (
        prefixes.pop().replace("/", ".")
        if len(prefixes) == 1 and prefixes != {""}
        else to_segment(caller.subject)
    )
