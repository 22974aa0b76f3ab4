"""Say which skill, version and file an address names, and what the head of every page about it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from markupsafe import Markup

from skillc.audit import KINDS, Audit
from skillc.compiler import read_agents
from skillc.errors import SkillNotFound
from skillc.lint import estimate
from skillc.paths import SKILL_FILES
from skillc.registry.model import NO_FINDINGS, Skill, StoredFile, Version
from skillc.server.caches import Cache
from skillc.server.pages.assets import describe
from skillc.server.pages.catalog import MAX_QUICK_AUDIT
from skillc.server.pages.visit import Visit
from skillc.skills import SkillId
from skillc.text import cut
from skillc.versions import LATEST

MAX_VALUES = 40  # of one kind of thing that a skill asks for
MAX_FINDINGS = 100
# Agents that most people have.
FIRST_AGENTS = ("claude", "codex", "cursor", "gemini-cli", "github-copilot", "opencode")

MAX_SUMMARY = 200  # characters of a description's first sentence
MAX_COUNTED = 64 << 10  # bytes of SKILL.md that tokens are counted in; more is estimated

# The first sentence: a dot within a short word or a name is no end of it.
_SENTENCE = re.compile(
    r"(?:[^.!?。！？]|[.!?](?!\s)|(?<=\b[a-zA-Z]\.[a-zA-Z])\.|(?<=\betc)\.){1,400}[.!?。！？]"
)
_TOKENS: Cache[int] = Cache(2000)  # by skill and digest; the longest unused go first


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
    version = choose_version(skill, reference)
    return Subject(skill, version, reference if at else "", path, visit.catalog.files(version))


def choose_version(skill: Skill, reference: str) -> Version:
    """Return a version; without a reference the latest, or the last one where all are yanked."""
    if not reference or (reference == LATEST and skill.latest is None):
        version = skill.latest or next(iter(skill.versions), None)
        if version is None:
            raise SkillNotFound(skill.id, "it has no versions")
        return version
    return skill.resolve(reference)


def describe_skill(visit: Visit, subject: Subject, tab: str) -> dict[str, Any]:
    """Return what every page about a skill shows: its head, as HTML."""
    skill, version, latest = subject.skill, subject.version, subject.skill.latest
    tags = sorted(tag for tag, target in skill.tags.items() if target == version.version)
    level, review = _find_level(visit, subject, tab), visit.catalog.review(version)
    install = _install_target(visit, subject)
    found = {"subject": subject, "skill": skill, "version": version, "tab": tab}

    def render() -> Markup:
        html = visit.site.environment.get_template("head.html").render(
            **found,
            site=visit.site,
            tags=tags,
            is_latest=latest is not None and latest.version == version.version,
            latest=latest,
            review=review,
            level=level,
            summary=summarise(subject.description),
            licence=str(version.frontmatter.get("license") or "").partition(". ")[0].strip(),
            tokens=_count_tokens(visit, subject),
            agents=list_agents() if visit.site.is_registry else (),
            install=install,
        )
        return Markup(html)  # noqa: S704 -- of a template, which escapes

    # The same for every visitor who may see this version, as long as nothing of it changes.
    state = version.digest, version.published_at, version.yanked, version.status, repr(version.signature)
    view = tab, subject.address, install, level, repr(review), tuple(tags), latest and latest.version
    head = visit.site.heads.get((*state, *view), render) if version.digest else render()
    return {**found, "head": head}


def audit_quickly(visit: Visit, subject: Subject) -> Audit | None:
    """Return the audit of a skill that is small, or was audited when it was published."""
    size = sum(stored.size for stored in subject.files)
    is_quick = bool(subject.version.audit) or size <= MAX_QUICK_AUDIT
    return visit.catalog.audit(subject.version) if is_quick else None


def _find_level(visit: Visit, subject: Subject, tab: str) -> str:
    """Return the level of a version, as lists have it; a page that shows an audit makes one for it."""
    if subject.version.audit:
        return subject.version.audit
    if visit.site.is_registry or tab in ("text", "audit"):
        audit = audit_quickly(visit, subject)
        return (audit.level or NO_FINDINGS) if audit is not None else ""
    (skill,) = visit.catalog.mark([subject.skill])
    return skill.versions[0].audit


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


def _install_target(visit: Visit, subject: Subject) -> str:
    """Return what `skc add` takes for this skill."""
    if not visit.site.is_registry:
        return str(subject.skill.id)
    version = f"@{subject.version.version}" if subject.reference else ""
    return f"{visit.address}/{subject.skill.id}{version}"


@cache
def list_agents() -> list[tuple[str, str]]:
    """Return name and display name of the most common agents."""
    agents = {agent.name: agent.display for agent in read_agents()}
    return [(name, agents[name]) for name in FIRST_AGENTS if name in agents]


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
