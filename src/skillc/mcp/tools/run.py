"""The tool that runs what a skill declares, after a person approved it, in a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.errors import ApprovalRequired
from skillc.mcp.approval import NeedsApproval
from skillc.mcp.tools import schemas
from skillc.mcp.tools.definition import Answer, Call, Parameter, ToolDefinition, lines
from skillc.tools import (
    Answer as Approval,
    ToolCall,
    TrustStore,
    approval_advice,
    approve_run,
    find_skill,
    prepare,
    start_run,
)
from skillc.usage import logged

if TYPE_CHECKING:
    from skillc.mcp.workplace import Workplace
    from skillc.tools import ApprovalRequest
    from skillc.usage.log import Value


def _run(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    found = find_skill(given["skill"], place.cwd)
    tool, mode = given["tool"], given["mode"]
    prepared = prepare(ToolCall(found, tool, given["parameters"], place.cwd, mode))

    def approve(request: ApprovalRequest) -> Approval:
        if call.approved == request.subject:
            return Approval.ONCE
        refusal = ApprovalRequired(found.argument, approval_advice(found.argument))
        raise NeedsApproval(request.subject, f"{request.text()}\n\nRun it, this once?", refusal)

    approve_run(prepared, approve, TrustStore())  # apart, so that a question is not logged as a failure
    noted: dict[str, Value] = {"tool": tool, "mode": mode, "dry_run": False}
    envelope, noticed = logged(
        found.library_skill(),
        "run",
        noted,
        place.cwd,
        lambda: start_run(prepared, approve, cancel=call.cancelled),
        lambda envelope: {"success": envelope.success},
    )
    told = lines(found.diagnostics, prepared.diagnostics, noticed)
    if envelope.stopped is not None:
        told += (envelope.stopped.text(),)
    text = envelope.output or envelope.error or "(no output)"
    return Answer(envelope.as_json(), text, told, failed=not envelope.success)


RUNNING = (
    ToolDefinition(
        "run_tool",
        "Run a tool of a skill",
        "run",
        "Run a command that a skill declares as a tool (an H3 heading with a Command in its SKILL.md; load"
        " the skill first). It runs without a shell, in a sandbox, and the person is asked for approval first"
        " unless it was given before. Returns the output and the exit code.",
        (
            Parameter("skill", "Name or ID of the skill.", required=True),
            Parameter("tool", "Name of the tool, as the skill's heading has it.", required=True),
            Parameter("parameters", "Values for the tool's parameters, by name.", "object", default={}),
            Parameter("mode", "The mode to run in.", default="Global", choices=("Global", "Dev", "Meeting")),
        ),
        schemas.ENVELOPE,
        _run,
        slow=True,
        writes=True,
        annotations={"destructive": True, "idempotent": False, "open_world": True},
    ),
)
