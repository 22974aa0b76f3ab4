"""The tool that runs what a skill declares, after a person approved it, in a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.errors import ApprovalRequired
from skillc.mcp.approval import NeedsApproval
from skillc.mcp.tools import schemas
from skillc.mcp.tools.definition import Answer, Call, Parameter, ToolDefinition, lines
from skillc.startup.digest import sha256_hex
from skillc.tools import Answer as Approval, TrustStore, find_skill, nobody_to_ask, prepare, run_tool, settle
from skillc.usage import run_logged

if TYPE_CHECKING:
    from skillc.mcp.workplace import Workplace
    from skillc.tools import ApprovalRequest, Run
    from skillc.usage import LogValue


def _run(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    found = find_skill(given["skill"], place.cwd)
    tool, mode = given["tool"], given["mode"]
    prepared = prepare(found, tool, given["parameters"], mode=mode, cwd=place.cwd)
    subject = _subject(prepared)

    def approve(request: ApprovalRequest) -> Approval:
        if call.approved == subject:
            return Approval.ONCE
        refusal = ApprovalRequired(found.called, nobody_to_ask(found.called))
        raise NeedsApproval(subject, f"{request.text()}\n\nRun it, this once?", refusal)

    settle(prepared, approve, TrustStore())  # apart, so that a question is not logged as a failure
    noted: dict[str, LogValue] = {"tool": tool, "mode": mode, "dry_run": False}
    envelope, noticed = run_logged(
        found.stored(),
        "run",
        noted,
        place.cwd,
        lambda: run_tool(prepared, approve, cancel=call.cancelled),
        lambda envelope: {"success": envelope.success},
    )
    told = lines(found.diagnostics, prepared.diagnostics, noticed)
    if envelope.stopped is not None:
        told += (envelope.stopped.text(),)
    text = envelope.output or envelope.error or "(no output)"
    return Answer(envelope.as_json(), text, told, failed=not envelope.success)


def _subject(prepared: Run) -> str:
    """What a yes is bound to: these files, and this command."""
    launch = prepared.launch
    words = [prepared.files.digest, launch.cwd, launch.sandbox, *launch.argv]
    return sha256_hex("\0".join(words).encode("utf-8", "surrogatepass"))


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
