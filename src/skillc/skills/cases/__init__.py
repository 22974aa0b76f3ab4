"""Cases: prompts below a skill's `evals/`, with what is expected of an agent."""

from __future__ import annotations

from skillc.skills.cases.folder import has_cases, read_cases
from skillc.skills.cases.formats import (
    ANSWER,
    CONTAINS,
    EXACT,
    FILE_EXISTS,
    FILES,
    JSON_PATH,
    REGEX,
    SCRIPT,
    SENTENCE,
    TOOL_ORDER,
    TOOL_USED,
    TRACE,
    Case,
    Grader,
    ToolPattern,
)
