"""A web site with an index of skills, by well-known discovery."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from skillc.remotes.site import SCHEMA
from tests.support.archives import zipped
from tests.support.http import Request, Stub, page

MAIN = b"---\nname: pdf\ndescription: About pdf\nlicense: MIT\n---\n# Title\n\nBody.\n"
INDEX, OLD = "/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"
PLACE = "/.well-known/agent-skills/pdf/SKILL.md"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def pack(**files: bytes) -> bytes:
    """A zip; in names, `__` is a slash and `_md` a suffix."""
    return zipped({name.replace("__", "/").replace("_md", ".md"): data for name, data in files.items()})


def entry(name: str = "pdf", url: str = "pdf/SKILL.md", data: bytes = MAIN, **fields: Any) -> dict[str, Any]:
    kind = "archive" if url.endswith(".zip") else "skill-md"
    return {"name": name, "type": kind, "description": "x", "url": url, "digest": digest(data)} | fields


def index(*skills: Any) -> dict[str, Any]:
    return {"$schema": SCHEMA, "skills": list(skills)}


def serve(stub: Stub, files: Mapping[str, Any], tag: str = "") -> None:
    """Answer these paths, JSON unless it is bytes, and 404 to all others; with an ETag if one is given."""

    def answer(request: Request) -> list[bytes]:
        content = files.get(request.path.partition("?")[0])
        if tag and request.headers.get("if-none-match") == tag:
            return [page(b"", 304)]
        if content is None:
            return [page(b"<h1>Not here</h1>", 404)]
        return [page(content, ETag=tag) if tag else page(content)]

    stub.answer = answer
