"""Read templates and static files once; a static file's name has its digest, so that browsers keep it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.palette import write_palette
from skillc.registry.model import Skill
from skillc.server.caches import Cache
from skillc.server.pages.code_colours import reveal_hidden
from skillc.startup import sha256_hex
from skillc.text import cut, size_of

_FOLDER = os.path.dirname(__file__)
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_STYLE = "pages.css"
MAX_ROWS = 2000  # of lists, that are kept as HTML; the longest unused go first
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


class Asset:
    """A static file: its name with a digest, its bytes and its type."""

    def __init__(self, name: str) -> None:
        with open(os.path.join(_FOLDER, "static", name), "rb") as file:
            self.data = file.read()
        if name == _STYLE:
            self.data = write_palette().encode() + self.data
        stem, extension = os.path.splitext(name)
        self.name = f"{stem}.{sha256_hex(self.data)[:12]}{extension}"
        self.type = _TYPES[extension]


def read_assets() -> Mapping[str, Asset]:
    """Return the static files by their plain names."""
    return {name: Asset(name) for name in sorted(os.listdir(os.path.join(_FOLDER, "static")))}


def create_environment(assets: Mapping[str, Asset]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(os.path.join(_FOLDER, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # they are part of the package
    )
    rows: Cache[Markup] = Cache(MAX_ROWS)

    def show_row(skill: Skill) -> Markup:
        version = skill.latest or skill.versions[0]
        description = str(version.frontmatter.get("description"))  # own skills have no digest in a list
        state = bool(skill.latest), version.version, version.audit, version.published_at, version.published_by
        render = environment.get_template("row.html").render
        return rows.get((skill.id, description, state), lambda: Markup(render(skill=skill, version=version)))  # noqa: S704

    environment.globals["row"] = show_row
    environment.globals["static"] = lambda name: f"/static/{assets[name].name}"
    environment.filters |= {"size": size_of, "number": show_number, "cut": cut, "path": quote_path}
    environment.filters |= {"day": show_day, "minute": show_minute, "plural": show_plural}
    environment.filters |= {"short_digest": shorten_digest, "reveal": reveal}
    return environment


def reveal(text: str) -> str:
    """Return text of a skill so that its hidden characters show: as HTML if it may have some."""
    return text if text.isascii() else Markup(reveal_hidden(escape(text)))  # noqa: S704


def shorten_digest(text: str) -> str:
    """Return the first digits of a digest, which people compare; any other text as it is.

    >>> shorten_digest("sha256:2d711642b726b04401627ca9fbac32f5"), shorten_digest("latest")
    ('sha256:2d711642b726…', 'latest')
    """
    return f"{text[:19]}…" if text.startswith("sha256:") and len(text) > 20 else text


def quote_path(text: str) -> str:
    """Return text for the path of an address; slashes and the @ before a version stay."""
    return quote(text, safe="/@")


def show_number(number: int) -> str:
    return f"{number:,}"


def show_plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> show_plural(1, "skill"), show_plural(2000, "skill")
    ('1 skill', '2,000 skills')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def show_day(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d")


def show_minute(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def describe(frontmatter: Mapping[str, Any]) -> str:
    """Return a skill's description on one line."""
    return " ".join(str(frontmatter.get("description") or "").split())


def routes(assets: Mapping[str, Asset]) -> list[BaseRoute]:
    by_name = {asset.name: asset for asset in assets.values()}

    async def send(request: Request) -> Response:
        asset = by_name.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404)
        return Response(asset.data, 200, _HEADERS, asset.type)

    return [Route("/static/{name}", send, methods=["GET"])]
