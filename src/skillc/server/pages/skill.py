"""Show a skill: its text, files, what it asks for and what agents used of it; and send its files.

/s/<id>[@<version>]             the text of SKILL.md, with its outline
/s/<id>@<version>/<path>        another file
/files/<id>[@<version>]         all files
/raw/<id>@<version>/<path>      a file, as it is
/archive/<id>@<version>         all files, as .tar.gz or .zip
/audit/<id>[@<version>]         what it asks for, and what to look at
/statistics[/<id>]              what agents used, of it or of all skills
"""

from __future__ import annotations

import mimetypes
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from skillc import usage
from skillc.audit import KINDS
from skillc.errors import FileNotFound
from skillc.registry import make_archive
from skillc.registry.model import StoredFile
from skillc.server.pages.assets import quote_path
from skillc.server.pages.code_colours import colour_lines, language_of
from skillc.server.pages.diff import MAX_TEXT, read_text
from skillc.server.pages.local_catalog import describe_views
from skillc.server.pages.markdown import PREFIX, Entry, Links, Text, render_markdown, slugify
from skillc.server.pages.subject import (
    Subject,
    audit_quickly,
    describe_audit,
    describe_skill,
    find_subject,
)
from skillc.server.pages.visit import HEADERS, Visit, redirect
from skillc.skills.document import parse

PERIODS = {"30": "30 days", "90": "90 days", "365": "a year", "": "all time"}
MAX_ROWS = 25  # of a chart
MAX_UNREAD = 150  # headings
MAX_FILES = 400  # of a list; the others are counted
MAX_IMAGES = 40_000  # bytes of images that a page shows; the others are links
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif")
MARKDOWN = (".md", ".markdown", ".mdx")
_RAW_HEADERS = HEADERS | {"Content-Security-Policy": "default-src 'none'; sandbox"}
_KEPT = {"Cache-Control": "private, max-age=31536000, immutable"}


def show_text(visit: Visit) -> Response:
    """Show SKILL.md, or the file that the address names."""
    subject = find_subject(visit)
    if subject.path == subject.main:
        return redirect(f"/s/{quote_path(subject.address)}")
    file = subject.find(subject.path or subject.main)
    if file is None:
        raise FileNotFound(subject.path or subject.main)
    data = visit.catalog.read_file(subject.version, file.path)
    is_main = not subject.path
    text = None
    if is_main or file.path.lower().endswith(MARKDOWN):
        text = _render(subject, file.path, data, visit.number("part", 1))
    plain = None if text else _plain(file.path, data)
    values: dict[str, Any] = {"file": file, "text": text, "plain": plain, "is_image": _is_image(file)}
    if not is_main:
        return visit.page("file.html", **describe_skill(visit, subject, "files"), **values)
    audit = audit_quickly(visit, subject)
    more: dict[str, Any] = {"audit": audit, "kinds": KINDS}
    if not visit.site.is_registry:
        more |= describe_views(visit, subject.skill.id)
    return visit.page("skill.html", **describe_skill(visit, subject, "text"), **values, **more)


def _render(subject: Subject, path: str, data: bytes, part: int) -> Text:
    document = parse(data)
    address = (
        f"/s/{quote_path(subject.address if path == subject.main else f'{subject.fixed_address}/{path}')}"
    )
    room = MAX_IMAGES
    shown: dict[str, bool] = {}

    def file(name: str) -> str | None:
        if name == subject.main:
            return f"/s/{quote_path(subject.address)}"
        return f"/s/{quote_path(f'{subject.fixed_address}/{name}')}" if subject.find(name) else None

    def image(name: str) -> str | None:
        nonlocal room
        stored = subject.find(name)
        if stored is None or not _is_image(stored):
            return None
        if name not in shown:
            shown[name] = stored.size <= room
            room -= stored.size if shown[name] else 0
        return f"/raw/{quote_path(f'{subject.fixed_address}/{name}')}" if shown[name] else None

    def make_links(entries: list[Entry]) -> Links:
        parts = {entry.slug: entry.part for entry in entries}

        def section(name: str) -> str:
            slug = slugify(name)
            target = parts.get(slug, 1)
            return f"{address if target == 1 else f'{address}?part={target}'}#{PREFIX}{quote(slug)}"

        return Links(path, file, image, section)

    return render_markdown(document.data, document.body, part, make_links)


def _plain(path: str, data: bytes) -> dict[str, Any] | None:
    """Return the first lines of a text file as HTML; None for one that is not text."""
    text = read_text(data)
    if text is None:
        return None
    every = text.splitlines()
    sizes = accumulate(len(line) + 40 for line in every)
    lines = [line for line, size in zip(every, sizes, strict=True) if size <= MAX_TEXT]
    if every and not lines:
        lines = [f"{every[0][: MAX_TEXT // 3]}…"]
    return {"lines": colour_lines(lines, language_of(path), MAX_TEXT), "total": len(every)}


def _is_image(file: StoredFile) -> bool:
    return file.path.lower().endswith(IMAGES)


def show_files(visit: Visit) -> Response:
    subject = find_subject(visit)
    return visit.page(
        "files.html",
        **describe_skill(visit, subject, "files"),
        files=subject.files[:MAX_FILES],
        more=max(0, len(subject.files) - MAX_FILES),
        size=sum(file.size for file in subject.files),
    )


def send_file(visit: Visit) -> Response:
    """Send a file as it is, to be saved: a browser never opens it as a page of this site."""
    subject = find_subject(visit)
    data = visit.catalog.read_file(subject.version, subject.path)
    file = subject.find(subject.path)
    guess = mimetypes.guess_type(subject.path)[0]
    kind = guess if guess and file and _is_image(file) else "application/octet-stream"
    name = subject.path.rpartition("/")[2]
    return Response(data, 200, _RAW_HEADERS | _keep(visit, subject) | _as_file(name), kind)


def send_archive(visit: Visit) -> Response:
    subject = find_subject(visit)
    read = visit.catalog.read_file
    archive = make_archive((file, read(subject.version, file.path)) for file in subject.files)
    name = f"{subject.skill.id.name}-{subject.version.version}.tar.gz"
    headers = _RAW_HEADERS | _keep(visit, subject) | _as_file(name)
    return Response(archive, 200, headers, "application/gzip")


def _keep(visit: Visit, subject: Subject) -> dict[str, str]:
    """Let browsers keep what never changes: a version of a registry, by its number."""
    is_fixed = visit.site.is_registry and subject.reference == subject.version.version
    return _KEPT if is_fixed else {}


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


def show_audit(visit: Visit) -> Response:
    subject = find_subject(visit)
    audit = visit.catalog.audit(subject.version)
    return visit.page("audit.html", **describe_skill(visit, subject, "audit"), **describe_audit(audit))


def show_usage(visit: Visit) -> Response:
    return visit.page("statistics.html", **_describe_usage(visit, ""))


def show_skill_usage(visit: Visit) -> Response:
    subject = find_subject(visit)
    return visit.page(
        "skill-statistics.html",
        **describe_skill(visit, subject, "usage"),
        **_describe_usage(visit, subject.skill.id),
    )


def _describe_usage(visit: Visit, skill_id: str) -> dict[str, Any]:
    period = visit.query("days") if visit.query("days") in PERIODS else ""
    since = f"{datetime.now(UTC).date() - timedelta(days=int(period))}" if period else ""
    counts = visit.catalog.usage(skill_id, since)
    unread = [(file, level, heading) for file, entries in counts.unread.items() for level, heading in entries]
    return {
        "usage": counts,
        "period": period,
        "periods": PERIODS,
        "columns": usage.group_days(counts.days),
        "max_rows": MAX_ROWS,
        "unread": unread[:MAX_UNREAD],
        "more_unread": max(0, len(unread) - MAX_UNREAD),
    }


PAGES = {
    "/s/{rest:path}": show_text,
    "/files/{rest:path}": show_files,
    "/raw/{rest:path}": send_file,
    "/archive/{rest:path}": send_archive,
    "/audit/{rest:path}": show_audit,
    "/statistics": show_usage,
    "/statistics/{rest:path}": show_skill_usage,
}
