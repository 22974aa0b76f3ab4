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
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidSkillId, SignInRequired, SkillNotFound
from skillc.registry import PUBLIC, Role
from skillc.registry.model import Caller, Skill, StoredFile, Version
from skillc.remotes import fingerprint_of
from skillc.server.protocols.adapter import fail_plainly, find_address, parse_limit, read_skills, serve
from skillc.server.responses import HEADERS, Refusal, guard, respond
from skillc.server.service import Service
from skillc.server.uploads import read_members
from skillc.skills import NAME_CHARACTERS, SkillId, to_segment
from skillc.versions import LATEST

API = "/api/v1"
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
PAGE, MAX_PAGE = 25, 200
MAX_VERSIONS = 1000  # whose fingerprints are compared
EPOCH = (1980, 1, 1, 0, 0, 0)  # of files in a zip, which knows no earlier time
ROOT = "-"  # the owner of skills without a slash: clients can't leave the owner out when they publish


def routes(service: Service) -> list[BaseRoute]:
    api = _Api(service)
    endpoints = {
        "/whoami": api.whoami,
        "/search": api.search,
        "/resolve": api.resolve,
        "/download": api.download,
        "/skills": api.skills,
        "/skills/{slug}": api.skill,
        "/skills/{slug}/versions": api.versions,
        "/skills/{slug}/versions/{version}": api.version,
        "/skills/{slug}/file": api.file,
    }
    return [
        Route("/.well-known/clawhub.json", guard(api.discovery, fail_plainly)),
        *(Route(f"{API}{path}", serve(service, each, fail_plainly)) for path, each in endpoints.items()),
        Route(f"{API}/{{path:path}}", guard(api.refuse, fail_plainly), methods=METHODS),
    ]


class _Api:
    """The endpoints: each parses a request, asks the registry, and makes a response."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._registry = service.registry

    async def refuse(self, request: Request) -> Response:
        """Answer what else clients ask for, such as stars and packages."""
        raise Refusal(404, f"Not found: this registry has no {request.method} {request.url.path[:200]}")

    async def discovery(self, request: Request) -> Response:
        address = find_address(self._service, request)
        return respond({"apiBase": address, "authBase": address})

    def whoami(self, request: Request, caller: Caller) -> Response:
        if caller is PUBLIC:
            raise SignInRequired
        role = "admin" if caller.allows(Role.ADMIN, "") else "user"
        user = {"handle": handle_of(caller), "displayName": caller.subject, "image": None, "role": role}
        return respond({"user": user})

    def search(self, request: Request, caller: Caller) -> Response:
        """Return the skills that fit a text, best first; with `mode=exact` the one with this slug."""
        query = request.query_params.get("q", "").strip()
        limit = parse_limit(request, PAGE, MAX_PAGE)
        scores: dict[str, float] = {}
        if request.query_params.get("mode") != "exact":
            scores = {each.id: each.score for each in self._service.search(caller, query, limit)}
        else:
            with suppress(InvalidSkillId):
                scores = {parse_slug(query): 1.0}
        skills = self._load(caller, scores)
        results = [_describe(skill) | {"score": scores[skill.id]} for skill in skills]
        return respond(
            {"results": [each | {"version": each["latestVersion"]["version"]} for each in results]}
        )

    def _load(self, caller: Caller, ids: Iterable[str]) -> list[Skill]:
        """Return the skills with these IDs that can be installed."""
        skills = []
        for skill_id in ids:
            with suppress(SkillNotFound):  # deleted meanwhile
                skills.append(self._registry.skill(caller, SkillId(skill_id)))
        return [skill for skill in skills if skill.latest is not None]

    def skills(self, request: Request, caller: Caller) -> Response:
        """List the skills that a caller can install, a page at a time; `prefix` is of slugs."""
        limit = parse_limit(request, PAGE, MAX_PAGE)
        query = request.query_params
        prefix, order = query.get("prefix", "").replace(".", "/"), query.get("sort", "")
        if not NAME_CHARACTERS.issuperset(prefix.replace("/", "")):
            return respond({"items": [], "nextCursor": None})
        read = partial(self._newest, order) if order else self._page
        skills, more = read(caller, query.get("cursor", ""), prefix, limit)
        return respond({"items": [_describe(skill) for skill in skills], "nextCursor": more})

    def _page(self, caller: Caller, cursor: str, prefix: str, limit: int) -> tuple[list[Skill], str | None]:
        """Return a page by ID; a cursor is the slug of the last one."""
        skills: list[Skill] = []
        # IDs that begin with the prefix follow on what is just before it.
        after = max(_path_of(cursor), prefix[:-1] + chr(ord(prefix[-1]) - 1) if prefix else "")
        for skill in self._registry.source(caller).skills(after=after):
            if not skill.id.startswith(prefix):
                if skill.id > prefix:
                    break
            elif skill.latest is not None:
                if len(skills) == limit:
                    return skills, slug_of(skills[-1].id)
                skills.append(skill)
        return skills, None

    def _newest(
        self, order: str, caller: Caller, cursor: str, prefix: str, limit: int
    ) -> tuple[list[Skill], str | None]:
        """Return a page of the newest first; a cursor is the time and the slug of the last one."""
        number = -1 if order == "createdAt" else 0
        listed = read_skills(self._registry, caller)
        skills = [
            (-_time(each.versions[number].published_at), each.id, each)
            for each in listed
            if each.latest and each.id.startswith(prefix)
        ]
        time, _, slug = cursor.partition("-")
        if time.isascii() and time.isdigit() and len(time) < 16:
            skills = [each for each in skills if each[:2] > (-int(time), _path_of(slug))]
        page = sorted(skills, key=lambda each: each[:2])[: limit + 1]
        more = f"{-page[limit - 1][0]}-{slug_of(page[limit - 1][1])}" if len(page) > limit else None
        return [skill for _, _, skill in page[:limit]], more

    def skill(self, request: Request, caller: Caller) -> Response:
        skill = self._skill(request, caller, request.path_params["slug"])
        if skill.latest is None:
            raise SkillNotFound(skill.id, "all its versions are yanked")
        description = _describe(skill)
        others = {key: description[key] for key in ("latestVersion", "owner")}
        return respond({"skill": description, **others, "metadata": None, "moderation": None})

    def versions(self, request: Request, caller: Caller) -> Response:
        """List the versions that can be chosen, last published first."""
        skill = self._skill(request, caller, request.path_params["slug"])
        limit = parse_limit(request, PAGE, MAX_PAGE)
        versions = [version for version in skill.versions if version.yanked is None]
        cursor = request.query_params.get("cursor", "")
        numbers = [version.version for version in versions]
        start = numbers.index(cursor) + 1 if cursor in numbers else 0
        page = versions[start : start + limit]
        more = page[-1].version if start + limit < len(versions) else None
        return respond({"items": [_describe_version(version) for version in page], "nextCursor": more})

    def version(self, request: Request, caller: Caller) -> Response:
        """Return a version with its files; also a yanked one, so that what is installed can be checked."""
        skill = self._skill(request, caller, request.path_params["slug"])
        version = skill.resolve(request.path_params["version"])
        files = self._registry.files(caller, version)
        value = _describe_version(version) | {
            "files": [_describe_file(file) for file in files],
            "fingerprint": _fingerprint(files),
        }
        names = {"slug": slug_of(skill.id), "displayName": skill.id.name}
        return respond({"version": value, "skill": names})

    def file(self, request: Request, caller: Caller) -> Response:
        """Return the bytes of a file: of a version, of a tag, or of the latest version."""
        skill = self._skill(request, caller, request.path_params["slug"])
        version = skill.resolve(_reference(request))
        path = request.query_params.get("path", "")
        data = self._registry.read_file(caller, version, path)
        # Never as a page: a browser must not run what a skill holds.
        headers = HEADERS | {"Content-Disposition": "attachment"}
        return Response(data, headers=headers, media_type="application/octet-stream")

    def resolve(self, request: Request, caller: Caller) -> Response:
        """Say which version has these files, by their fingerprint, and which is the latest."""
        skill = self._skill(request, caller, request.query_params.get("slug", ""))
        digest, files = request.query_params.get("hash", ""), self._registry.files
        each = (v for v in skill.versions[:MAX_VERSIONS] if _fingerprint(files(caller, v)) == digest)
        match = next(each, None)
        pair = {"match": match, "latestVersion": skill.latest}
        return respond({key: {"version": each.version} if each else None for key, each in pair.items()})

    def download(self, request: Request, caller: Caller) -> Response:
        """Return a version as a zip."""
        skill = self._skill(request, caller, request.query_params.get("slug", ""))
        version = skill.resolve(_reference(request))
        archive = self._registry.read_archive(caller, version)
        data = _to_zip(archive)
        name = f"{skill.id.name}-{version.version}.zip"
        headers = HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, headers=headers, media_type="application/zip")

    def _skill(self, request: Request, caller: Caller, slug: str) -> Skill:
        try:
            skill_id = parse_slug(slug, request.query_params.get("ownerHandle", ""))
        except InvalidSkillId:
            raise SkillNotFound(slug[:200].replace("@", "")) from None
        return self._registry.skill(caller, skill_id)


def _reference(request: Request) -> str:
    query = request.query_params
    return query.get("version", "") or query.get("tag", "") or LATEST


def _path_of(slug: str) -> str:
    return slug.replace(".", "/")


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
    is_one = len(prefixes) == 1 and prefixes != {""}
    return prefixes.pop().replace("/", ".") if is_one else to_segment(caller.subject)
