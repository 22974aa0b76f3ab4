"""A registry that speaks ClawHub's protocol, with the faults that a test gives it."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from skillc.remotes import fingerprint_of
from tests.support.archives import zipped
from tests.support.http import Request, Stub, page

MAIN = b"---\nname: pdf\ndescription: About pdf\nlicense: MIT\n---\n# Title\n\nBody.\n"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def describe(files: dict[str, bytes]) -> dict[str, Any]:
    """What a registry says of a version with these files."""
    digests = {name: sha(data) for name, data in files.items()}
    listed = [{"path": name, "sha256": digest} for name, digest in digests.items()]
    return {"files": listed, "fingerprint": fingerprint_of(digests)}


def item(slug: Any, version: Any = "1.0.0", **fields: Any) -> dict[str, Any]:
    return {"slug": slug, "summary": f"About {slug}", "latestVersion": {"version": version}} | fields


class Hub:
    """A registry: `pages` of items, `versions` by number, or else `files` in every version of every skill."""

    def __init__(self, stub: Stub) -> None:
        self.stub, self.url = stub, stub.url
        self.discovery: Any = {"apiBase": stub.url}
        self.pages: list[list[Any]] = [[item("pdf")], [item("billing.refunds")]]
        self.files = {"SKILL.md": MAIN, "a/b.md": b"more"}
        self.versions: dict[str, dict[str, bytes]] = {}
        self.version: dict[str, Any] = describe(self.files)  # what is said of every version
        self.tags = {"latest": "1.0.0"}
        self.archive: bytes | None = None
        self.moderation: Any = None
        self.busy, self.retry_after = 0, "0"  # how many requests are refused, and for how long
        stub.answer = lambda request: [self.answer(request)]

    def answer(self, request: Request) -> bytes:
        parts = urlsplit(request.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if parts.path == "/.well-known/clawhub.json" and self.discovery:
            return page(self.discovery)
        words = unquote(parts.path).removeprefix("/api/v1/").split("/")
        if self.busy and words[0] in ("skills", "download"):
            self.busy -= 1
            return page(b"slow down", 429, Retry_After=self.retry_after)
        if words == ["skills"]:
            return self._list(int(query.get("cursor", "0")))
        if words == ["download"] and self._has(query["version"]):
            return page(self.archive or zipped(self.versions.get(query["version"], self.files)))
        if words[0] == "skills" and len(words) == 2:
            return self._tell(words[1])
        if words[0] == "skills" and words[2:3] == ["versions"] and self._has(words[3]):
            return page({"version": self.version})
        return page(b"Skill not found", 404)

    def count(self, word: str) -> int:
        return sum(word in path for path in self.stub.paths())

    def _has(self, version: str) -> bool:
        return not self.versions or version in self.versions

    def _list(self, number: int) -> bytes:
        more = str(number + 1) if number + 1 < len(self.pages) else None
        return page({"items": self.pages[number], "nextCursor": more})

    def _tell(self, slug: str) -> bytes:
        items = [each for page in self.pages for each in page if isinstance(each, dict)]
        known = [each for each in items if each.get("slug") == slug]
        if not known:
            return page(b"Skill not found", 404)
        latest = {"version": self.tags["latest"]}
        return page(
            {"skill": known[0] | {"tags": self.tags}, "latestVersion": latest, "moderation": self.moderation}
        )
