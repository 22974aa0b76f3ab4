"""What the tools return, as JSON schemas: the JSON of the command line, field by field."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}


def either(*types: str) -> Schema:
    """A value of one of these types; spelled so that clients with one type for each thing understand it."""
    return {"anyOf": [{"type": one} for one in types]}


def optional(schema: Schema) -> Schema:
    return either(schema["type"], "null")


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def record(required: dict[str, Schema], others: dict[str, Schema] | None = None) -> Schema:
    """An object with these fields; others may come with later versions."""
    return {"type": "object", "properties": required | (others or {}), "required": list(required)}


def about(schema: Schema, description: str) -> Schema:
    return schema | {"description": description}


INIT = record({"name": optional(TEXT), "path": TEXT})

LIST = record(
    {
        "skills": listed(
            record(
                {
                    "name": TEXT,
                    "scope": TEXT,
                    "status": about(TEXT, "normal, not-built or obsolete"),
                    "source_path": TEXT,
                    "runtime_path": TEXT,
                }
            )
        ),
        "total": about(NUMBER, "before any filter"),
        "filtered": about(NUMBER, "before the limit"),
    }
)

BUILD = record(
    {
        "skill": TEXT,
        "status": about(TEXT, "built, updated or unchanged"),
        "source_path": TEXT,
        "runtime_path": TEXT,
        "source_hash": TEXT,
        "files": NUMBER,
        "changed": NUMBER,
        "deployments": listed(record({"target": TEXT, "path": TEXT, "method": TEXT})),
        "warnings": listed(TEXT),
    }
)

LINT = record(
    {
        "skills": listed(
            record(
                {
                    "skill": TEXT,
                    "path": TEXT,
                    "skipped": FLAG,
                    "errors": NUMBER,
                    "warnings": NUMBER,
                    "findings": listed(
                        record(
                            {
                                "rule": TEXT,
                                "name": TEXT,
                                "severity": TEXT,
                                "message": TEXT,
                                "file": TEXT,
                                "line": NUMBER,
                                "fixable": FLAG,
                            }
                        )
                    ),
                    "fixed": listed({"type": "object"}),
                    "tokens": about(either("object", "null"), "an estimate of what it costs a context"),
                }
            )
        ),
        "failed": listed(record({"code": TEXT, "message": TEXT})),
        "errors": NUMBER,
        "warnings": NUMBER,
    }
)

OUTLINE = record(
    {
        "result": about(
            listed(record({"file": TEXT, "level": NUMBER, "heading": TEXT, "line": NUMBER})),
            "every heading in order; pass one as `section` to skc_show",
        )
    }
)

SHOW = record(
    {
        "file": TEXT,
        "heading": TEXT,
        "level": NUMBER,
        "line": NUMBER,
        "more_lines": about(NUMBER, "how many lines max_lines left out"),
        "content": TEXT,
    }
)

OPEN = record(
    {
        "path": TEXT,
        "size": NUMBER,
        "encoding": about(TEXT, "utf-8 or base64"),
        "content": TEXT,
        "more_lines": NUMBER,
    }
)

SOURCES = record(
    {
        "root": TEXT,
        "entries": listed(
            record({"path": TEXT, "type": about(TEXT, "file or directory")}, {"files": NUMBER})
        ),
        "more": about(NUMBER, "how many entries the limit left out"),
    }
)

SEARCH = record(
    {
        "query": TEXT,
        "results": listed(
            record({"file": TEXT, "section": TEXT, "snippet": TEXT, "score": {"type": "number"}})
        ),
    }
)

STATS = record(
    {
        "skill": optional(TEXT),
        "skill_path": optional(TEXT),
        "query": TEXT,
        "filters": {"type": "object"},
        "period": record({"start": optional(TEXT), "end": optional(TEXT)}),
        "data": about(either("object", "array"), "its form depends on group_by"),
    }
)

_SKILL = record(
    {"id": TEXT, "name": TEXT, "description": TEXT, "scope": TEXT, "metadata": {"type": "object"}},
    {"requires_capabilities": listed(TEXT), "source_name": TEXT},
)

BROWSE = record(
    {"type": about(TEXT, "listing or search"), "skills": listed(_SKILL)},
    {
        "path": TEXT,
        "query": TEXT,
        "subcollections": listed(record({"path": TEXT, "description": TEXT, "count": NUMBER})),
    },
)

FIND = record(
    {
        "query": TEXT,
        "results": listed(
            record(
                {
                    "id": TEXT,
                    "name": TEXT,
                    "description": TEXT,
                    "score": {"type": "number"},
                    "source_name": TEXT,
                    "also": about(
                        listed(record({"source_name": TEXT, "id": TEXT})), "where else the same skill is"
                    ),
                    "matched": about(
                        listed(record({"term": TEXT, "fields": listed(TEXT)})),
                        "the words of the task that it has, strongest first",
                    ),
                    "section": about(optional(TEXT), "the heading to read first"),
                    "read": about(TEXT, "the command that shows it"),
                }
            )
        ),
    }
)

ENVELOPE = record(
    {
        "success": FLAG,
        "exit_code": optional(NUMBER),
        "output": about(TEXT, "its first and last 2048 bytes"),
        "truncated": FLAG,
        "duration_ms": NUMBER,
        "sandbox": about(TEXT, "bubblewrap, landlock or none"),
    },
    {"error": TEXT, "parsed": about({}, "stdout, where it is JSON")},
)

LOAD = record({"id": TEXT, "name": TEXT, "body": TEXT, "byte_size": NUMBER})
