"""What the tools return, as types: the JSON of the command line, field by field."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12


class InitResult(TypedDict):
    name: str | None
    path: str


class StoredSkill(TypedDict):
    name: str
    scope: str
    status: Annotated[str, Field(description="normal, not-built or obsolete")]
    source_path: str
    runtime_path: str


class ListResult(TypedDict):
    skills: list[StoredSkill]
    total: Annotated[int, Field(description="before any filter")]
    filtered: Annotated[int, Field(description="before the limit")]


class DeploymentResult(TypedDict):
    target: str
    path: str
    method: str


class BuildResult(TypedDict):
    skill: str
    status: Annotated[str, Field(description="built, updated or unchanged")]
    source_path: str
    runtime_path: str
    source_hash: str
    files: int
    changed: int
    deployments: list[DeploymentResult]
    warnings: list[str]


class FindingResult(TypedDict):
    rule: str
    name: str
    severity: str
    message: str
    file: str
    line: int
    fixable: bool


class SkillReport(TypedDict):
    skill: str
    path: str
    skipped: bool
    errors: int
    warnings: int
    findings: list[FindingResult]
    fixed: list[dict[str, Any]]
    tokens: Annotated[dict[str, Any] | None, Field(description="an estimate of what it costs a context")]


class ErrorResult(TypedDict):
    code: str
    message: str


class LintResult(TypedDict):
    skills: list[SkillReport]
    failed: list[ErrorResult]
    errors: int
    warnings: int


class HeadingResult(TypedDict):
    file: str
    level: int
    heading: str
    line: int


class OutlineResult(TypedDict):
    result: Annotated[
        list[HeadingResult], Field(description="every heading in order; pass one as `section` to skc_show")
    ]


class SectionResult(TypedDict):
    file: str
    heading: str
    level: int
    line: int
    more_lines: Annotated[int, Field(description="how many lines max_lines left out")]
    content: str


class FileResult(TypedDict):
    path: str
    size: int
    encoding: Annotated[str, Field(description="utf-8 or base64")]
    content: str
    more_lines: int


class SourceResult(TypedDict):
    path: str
    type: Annotated[str, Field(description="file or directory")]
    files: NotRequired[int]


class SourcesResult(TypedDict):
    root: str
    entries: list[SourceResult]
    more: Annotated[int, Field(description="how many entries the limit left out")]


class MatchResult(TypedDict):
    file: str
    section: str
    snippet: str
    score: float


class SearchResult(TypedDict):
    query: str
    results: list[MatchResult]


class Period(TypedDict):
    start: str | None
    end: str | None


class StatsResult(TypedDict):
    skill: str | None
    skill_path: str | None
    query: str
    filters: dict[str, Any]
    period: Period
    data: Annotated[dict[str, Any] | list[Any], Field(description="its form depends on group_by")]


class SkillResult(TypedDict):
    id: str
    name: str
    description: str
    scope: str
    metadata: dict[str, Any]
    requires_capabilities: NotRequired[list[str]]
    source_name: NotRequired[str]


class CollectionResult(TypedDict):
    path: str
    description: str
    count: int


class BrowseResult(TypedDict):
    type: Annotated[str, Field(description="listing or search")]
    skills: list[SkillResult]
    path: NotRequired[str]
    query: NotRequired[str]
    subcollections: NotRequired[list[CollectionResult]]


class CopyResult(TypedDict):
    source_name: str
    id: str


class ReasonResult(TypedDict):
    term: str
    fields: list[str]


class RankedSkill(TypedDict):
    id: str
    name: str
    description: str
    score: float
    source_name: str
    also: Annotated[list[CopyResult], Field(description="where else the same skill is")]
    matched: Annotated[
        list[ReasonResult], Field(description="the words of the task that it has, strongest first")
    ]
    section: Annotated[str | None, Field(description="the heading to read first")]
    read: Annotated[str, Field(description="the command that shows it")]


class FindResult(TypedDict):
    query: str
    results: list[RankedSkill]


class LoadResult(TypedDict):
    id: str
    name: str
    body: str
    byte_size: int


class EnvelopeResult(TypedDict):
    success: bool
    exit_code: int | None
    output: Annotated[str, Field(description="its first and last 2048 bytes")]
    truncated: bool
    duration_ms: int
    sandbox: Annotated[str, Field(description="bubblewrap, landlock or none")]
    error: NotRequired[str]
    parsed: NotRequired[Annotated[Any, Field(description="stdout, where it is JSON")]]
