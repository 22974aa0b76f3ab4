"""The types of the tools' results: the JSON of the command line, field by field."""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12


def _record(**fields: Any) -> Any:
    """Return the type of an object with these fields."""
    return TypedDict("Record", fields)  # type: ignore[operator]


def _list(item: Any) -> GenericAlias:
    return GenericAlias(list, (item,))


def _about(kind: Any, description: str) -> Any:
    return Annotated[kind, Field(description=description)]


# Authors
InitResult = _record(name=str | None, path=str)

_Status = _about(str, "normal, not-built or obsolete")
_Stored = _record(
    name=str,
    scope=str,
    status=_Status,
    source_path=str,
    runtime_path=str,
    disabled=NotRequired[_about(str, "where agents do without it")],
)
ListResult = _record(
    skills=_list(_Stored), total=_about(int, "before any filter"), filtered=_about(int, "before the limit")
)

BuildResult = _record(
    id=str,
    skill=_about(str, "as id"),
    status=_about(str, "built, updated or unchanged"),
    source_path=str,
    runtime_path=str,
    source_hash=str,
    files=int,
    changed=int,
    deployments=_list(_record(target=str, path=str, method=str)),
    warnings=list[str],
)

_Finding = _record(rule=str, name=str, severity=str, message=str, file=str, line=int, fixable=bool)
_Report = _record(
    id=str,
    skill=_about(str, "as id"),
    path=str,
    skipped=bool,
    errors=int,
    warnings=int,
    findings=_list(_Finding),
    fixed=list[dict[str, Any]],
    tokens=_about(dict[str, Any] | None, "an estimate of what it costs a context"),
)
LintResult = _record(
    skills=_list(_Report), failed=_list(_record(code=str, message=str)), errors=int, warnings=int
)

_Period = _record(start=str | None, end=str | None)
_Data = _about(dict[str, Any] | list[Any], "its form depends on group_by")
StatsResult = _record(
    skill=str | None, skill_path=str | None, query=str, filters=dict[str, Any], period=_Period, data=_Data
)

# Gateway
_Heading = _record(file=str, level=int, heading=str, line=int)
OutlineResult = _record(
    headings=_about(_list(_Heading), "every heading in order; pass one as `section` to skc_show")
)
_More = _about(int, "how many lines max_lines left out")
SectionResult = _record(file=str, heading=str, level=int, line=int, more_lines=_More, content=str)
FileResult = _record(path=str, size=int, encoding=_about(str, "utf-8 or base64"), content=str, more_lines=int)
_Source = _record(path=str, type=_about(str, "file or directory"), files=NotRequired[int])
SourcesResult = _record(
    root=str, entries=_list(_Source), more=_about(int, "how many entries the limit left out")
)
SearchResult = _record(query=str, results=_list(_record(file=str, section=str, snippet=str, score=float)))

# Library
_Skill = _record(
    id=str,
    name=str,
    description=str,
    scope=str,
    metadata=dict[str, Any],
    requires_capabilities=NotRequired[list[str]],
    source_name=NotRequired[str],
)
_Collections = _list(_record(path=str, description=str, count=int))
BrowseResult = _record(
    type=_about(str, "listing or search"),
    skills=_list(_Skill),
    path=NotRequired[str],
    query=NotRequired[str],
    subcollections=NotRequired[_Collections],
    more=NotRequired[_about(int, "how many entries follow")],
    next_cursor=NotRequired[str],
    note=NotRequired[str],
)
_Result = _record(
    id=str,
    name=str,
    description=str,
    score=float,
    source_name=str,
    also=_about(_list(_record(source_name=str, id=str)), "other repositories that have its ID"),
    copies=_about(_list(_record(id=str, source_name=str)), "where copies and near-copies of it are"),
    matched=_about(
        _list(_record(term=str, fields=list[str])), "the words of the task that it has, strongest first"
    ),
    section=_about(str | None, "the heading to read first"),
    read=_about(str, "the command that shows it"),
)
FindResult = _record(
    query=str,
    results=_list(_Result),
    corrections=NotRequired[
        _about(dict[str, str], "words that no skill has, with those that were searched for instead")
    ],
)
LoadResult = _record(id=str, name=str, body=str, byte_size=int)

# Run
EnvelopeResult = _record(
    success=bool,
    exit_code=int | None,
    output=_about(str, "its first and last 2048 bytes"),
    truncated=bool,
    duration_ms=int,
    sandbox=_about(str, "bubblewrap, landlock or none"),
    error=NotRequired[str],
    code=NotRequired[_about(str, "of the error, such as E065")],
    parsed=NotRequired[_about(Any, "stdout, where it is JSON")],
)
