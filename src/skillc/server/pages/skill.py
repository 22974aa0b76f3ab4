"""Show a skill: its text, files, versions and their differences, what it asks for; and send its files.

/s/<id>[@<version>]             the text of SKILL.md, with its outline
/s/<id>@<version>/<path>        another file
/files/<id>[@<version>]         all files
/raw/<id>@<version>/<path>      a file, as it is
/archive/<id>@<version>         all files, as .tar.gz or .zip
/versions/<id>                  versions, with what can be done to them
/diff/<id>?from=&to=            two versions side by side
/audit/<id>[@<version>]         what it asks for, and what to look at
"""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from skillc.audit import KINDS, Audit, compare_audits
from skillc.compiler import read_agents
from skillc.errors import FileNotFound, SkillNotFound
from skillc.lint import estimate
from skillc.paths import SKILL_FILES
from skillc.registry import APPROVED, Skill, StoredFile, Version, make_archive
from skillc.server.caches import Cache
from skillc.server.pages.agents import describe_views
from skillc.server.pages.assets import describe, quote_path
from skillc.server.pages.code_colours import colour_lines, language_of
from skillc.server.pages.diff import MAX_TEXT, compare_files, read_text
from skillc.server.pages.markdown import PREFIX, Entry, Links, Text, render_markdown, slugify
from skillc.server.pages.visit import HEADERS, Visit, redirect
from skillc.skills import SkillId, parse
from skillc.text import cut
from skillc.versions import LATEST

MAX_FILES = 400  # of a list; the others are counted
MAX_VERSIONS = 50  # of a page
MAX_COMPARISON = 8 << 20  # bytes of the files that two versions are compared by
MAX_IMAGES = 40_000  # bytes of images that a page shows; the others are links
MAX_QUICK_AUDIT = 256 << 10  # bytes of a skill whose text is not shown before it was audited
MAX_COMPARED = 200  # files that differ and are read
MAX_VALUES = 40  # of one kind of thing that a skill asks for
MAX_FINDINGS = 100
MAX_NEW_FINDINGS = 20  # of a comparison
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif")
MARKDOWN = (".md", ".markdown", ".mdx")
# Agents that most people have.
FIRST_AGENTS = ("claude", "codex", "cursor", "gemini-cli", "github-copilot", "opencode")

MAX_SUMMARY = 200  # characters of a description's first sentence
MAX_COUNTED = 64 << 10  # bytes of SKILL.md that tokens are counted in; more is estimated
NO_FINDING = "none"

# The first sentence: a dot within a short word or a name is no end of it.
_SENTENCE = re.compile(
    r"(?:[^.!?。！？]|[.!?](?!\s)|(?<=\b[a-zA-Z]\.[a-zA-Z])\.|(?<=\betc)\.){1,400}[.!?。！？]"
)
_TOKENS: Cache[int] = Cache(2000)  # by skill and digest; the longest unused go first
_RAW_HEADERS = HEADERS | {"Content-Security-Policy": "default-src 'none'; sandbox"}
_KEPT = {"Cache-Control": "private, max-age=31536000, immutable"}


@dataclass(frozen=True)
class Subject:
    """The skill, the version of it and the file that an address names."""

    skill: Skill
    version: Version
    reference: str  # as the address has it; empty for the latest
    path: str
    files: tuple[StoredFile, ...]

    @property
    def main(self) -> str:
        names = {file.path for file in self.files}
        return next((name for name in SKILL_FILES if name in names), SKILL_FILES[0])

    @property
    def address(self) -> str:
        """The address of what the visitor looks at, below /s and others."""
        return f"{self.skill.id}@{self.reference}" if self.reference else str(self.skill.id)

    @property
    def fixed_address(self) -> str:
        return f"{self.skill.id}@{self.reference or self.version.version}"

    @property
    def description(self) -> str:
        return describe(self.version.frontmatter)

    def find(self, path: str) -> StoredFile | None:
        return next((file for file in self.files if file.path == path), None)


def find_subject(visit: Visit) -> Subject:
    """Return what an address names; raises SkillNotFound."""
    rest = visit.request.path_params["rest"]
    skill_id, at, tail = rest.partition("@")
    reference, _, path = tail.partition("/")
    skill = visit.catalog.skill(SkillId(skill_id.strip("/")))
    version = _choose_version(skill, reference)
    return Subject(skill, version, reference if at else "", path, visit.catalog.files(version))


def _choose_version(skill: Skill, reference: str) -> Version:
    """Return a version; without a reference the latest, or the last one where all are yanked."""
    if not reference or (reference == LATEST and skill.latest is None):
        version = skill.latest or next(iter(skill.versions), None)
        if version is None:
            raise SkillNotFound(skill.id, "it has no versions")
        return version
    return skill.resolve(reference)


# Text and files


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
    audit = _audit_quickly(visit, subject)
    more: dict[str, Any] = {"audit": audit, "kinds": KINDS}
    if not visit.site.is_registry:
        more |= describe_views(visit, subject.skill.id)
    return visit.page("skill.html", **describe_skill(visit, subject, "text"), **values, **more)


def describe_skill(visit: Visit, subject: Subject, tab: str) -> dict[str, Any]:
    """Return what the head of every page about a skill shows."""
    latest = subject.skill.latest
    return {
        "subject": subject,
        "skill": subject.skill,
        "version": subject.version,
        "tab": tab,
        "tags": sorted(
            tag for tag, target in subject.skill.tags.items() if target == subject.version.version
        ),
        "is_latest": latest is not None and latest.version == subject.version.version,
        "latest": latest,
        "review": visit.catalog.review(subject.version),
        "level": _find_level(visit, subject),
        "summary": summarise(subject.description),
        "licence": str(subject.version.frontmatter.get("license") or "").partition(". ")[0].strip(),
        "tokens": _count_tokens(visit, subject),
        "agents": list_agents() if visit.site.is_registry else (),
        "install": _install_target(visit, subject),
    }


def _audit_quickly(visit: Visit, subject: Subject) -> Audit | None:
    """Return the audit of a skill that is small, or was audited when it was published."""
    size = sum(stored.size for stored in subject.files)
    is_quick = bool(subject.version.audit) or size <= MAX_QUICK_AUDIT
    return visit.catalog.audit(subject.version) if is_quick else None


def _find_level(visit: Visit, subject: Subject) -> str:
    """Return the level of a version's worst finding; "none" without one, empty where it was not audited."""
    if subject.version.audit:
        return subject.version.audit
    audit = _audit_quickly(visit, subject)
    return (audit.level or NO_FINDING) if audit is not None else ""


def summarise(description: str) -> str:
    """Return the first sentence of a description.

    >>> summarise("Fill PDF forms, e.g. of a bank. Use it when a form is mentioned.")
    'Fill PDF forms, e.g. of a bank.'
    """
    sentence = _SENTENCE.match(description)
    return cut(sentence[0] if sentence else description, MAX_SUMMARY)


def _count_tokens(visit: Visit, subject: Subject) -> int:
    """Return an estimate of what SKILL.md costs a model."""

    def count() -> int:
        data = visit.catalog.read_file(subject.version, subject.main)
        start = data[:MAX_COUNTED]
        return estimate(start.decode("utf-8", "replace")) * len(data) // max(len(start), 1)

    return _TOKENS.get((subject.skill.id, subject.version.digest), count)


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


def _install_target(visit: Visit, subject: Subject) -> str:
    """Return what `skc add` takes for this skill."""
    if not visit.site.is_registry:
        return str(subject.skill.id)
    version = f"@{subject.version.version}" if subject.reference else ""
    return f"{visit.address}/{subject.skill.id}{version}"


def list_agents() -> list[tuple[str, str]]:
    """Return name and display name of the most common agents."""
    agents = {agent.name: agent.display for agent in read_agents()}
    return [(name, agents[name]) for name in FIRST_AGENTS if name in agents]


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


# Versions


def show_versions(visit: Visit) -> Response:
    subject = find_subject(visit)
    every = subject.skill.versions
    older = {new.version: old.version for new, old in pairwise(every)}
    tags: dict[str, list[str]] = {}
    for tag, target in sorted(subject.skill.tags.items()):
        tags.setdefault(target, []).append(tag)
    return visit.page(
        "versions.html",
        **describe_skill(visit, subject, "versions"),
        **visit.part("versions", every, MAX_VERSIONS),
        older=older,
        version_tags=tags,
        skill_tags=sorted(subject.skill.tags.items())[:MAX_VERSIONS],
        targets=[version for version in every if version.status == APPROVED][:MAX_VERSIONS],
        can_tag=visit.allows("publisher", subject.skill.id),
        can_yank=visit.allows("maintainer", subject.skill.id),
    )


def show_difference(visit: Visit) -> Response:
    """Show two versions side by side; without numbers, the latest and the one before."""
    subject = find_subject(visit)
    skill = subject.skill
    new = _choose_version(skill, visit.query("to"))
    before = next(iter(skill.versions[skill.versions.index(new) + 1 :]), new)
    old = _choose_version(skill, visit.query("from")) if visit.query("from") else before
    old_files, new_files = ({file.path: file for file in visit.catalog.files(v)} for v in (old, new))
    differing = _find_differing(old_files, new_files)
    compared, size = [], 0
    for path in differing[:MAX_COMPARED]:
        size += sum(files[path].size for files in (old_files, new_files) if path in files)
        compared += [path] if size <= MAX_COMPARISON else []
    read = visit.catalog.read_file
    changes = compare_files(
        {path: read(old, path) for path in compared if path in old_files},
        {path: read(new, path) for path in compared if path in new_files},
    )
    audits = visit.catalog.audit(old), visit.catalog.audit(new)
    asks = compare_audits(audits[0], audits[1]) if audits[0] is not None and audits[1] is not None else None
    findings = [finding for finding in asks.findings if finding.level != "note"] if asks else []
    return visit.page(
        "diff.html",
        **describe_skill(visit, subject, "versions"),
        old=old,
        new=new,
        changes=changes,
        more_changes=len(differing) - len(compared),
        asks=asks,
        findings=findings[:MAX_NEW_FINDINGS],
        more_findings=max(0, len(findings) - MAX_NEW_FINDINGS),
        kinds=KINDS,
        choices=skill.versions[:MAX_VERSIONS],
    )


def _find_differing(old: dict[str, StoredFile], new: dict[str, StoredFile]) -> list[str]:
    """Return the paths of the files that differ, the smallest first."""

    def digest(files: dict[str, StoredFile], path: str) -> str:
        return files[path].digest if path in files else ""

    paths = [path for path in {*old, *new} if digest(old, path) != digest(new, path)]
    return sorted(paths, key=lambda path: ((old.get(path) or new[path]).size, path))


def show_audit(visit: Visit) -> Response:
    subject = find_subject(visit)
    audit = visit.catalog.audit(subject.version)
    return visit.page("audit.html", **describe_skill(visit, subject, "audit"), **describe_audit(audit))


def describe_audit(audit: Audit | None) -> dict[str, Any]:
    findings = audit.findings if audit else ()
    visible = [finding for finding in findings if finding.level != "note"]
    return {
        "audit": audit,
        "kinds": KINDS,
        "findings": visible[:MAX_FINDINGS],
        "more_findings": max(0, len(visible) - MAX_FINDINGS),
        "notes": len(findings) - len(visible),
        "max_values": MAX_VALUES,
    }


PAGES = {
    "/s/{rest:path}": show_text,
    "/files/{rest:path}": show_files,
    "/raw/{rest:path}": send_file,
    "/archive/{rest:path}": send_archive,
    "/versions/{rest:path}": show_versions,
    "/diff/{rest:path}": show_difference,
    "/audit/{rest:path}": show_audit,
}
