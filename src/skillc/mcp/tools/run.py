"""The tool that runs what a skill declares, after a person approved it, in a sandbox."""

from typing import Annotated, Any, Literal

from pydantic import Field

from skillc.errors import ApprovalRequired
from skillc.mcp.approval import NeedsApproval
from skillc.mcp.tools.definition import Answer, Call, tool
from skillc.mcp.tools.results import EnvelopeResult
from skillc.startup.digest import sha256_hex
from skillc.tools import (
    Answer as Approval,
    ApprovalRequest,
    Run,
    TrustStore,
    find_skill,
    nobody_to_ask,
    prepare,
    run_tool as run_prepared,
    settle,
)


@tool(
    "Run a tool of a skill",
    "run",
    EnvelopeResult,
    slow=True,
    writes=True,
    destructive=True,
    idempotent=False,
    open_world=True,
)
def run_tool(
    call: Call,
    skill: Annotated[str, Field(description="Name or ID of the skill.")],
    tool: Annotated[str, Field(description="Name of the tool, as the skill's heading has it.")],
    parameters: Annotated[
        dict[str, Any] | None, Field(description="Values for the tool's parameters, by name.")
    ] = None,
    mode: Annotated[Literal["Global", "Dev", "Meeting"], Field(description="The mode to run in.")] = "Global",
) -> Answer:
    """Run a command that a skill declares as a tool (an H3 heading with a Command in its SKILL.md; load the
    skill first). It runs without a shell, in a sandbox, and the person is asked for approval first unless it
    was given before. Returns the output and the exit code."""
    here = call.workspace
    found = find_skill(skill, here.cwd)
    run = prepare(found, tool, parameters or {}, mode=mode, cwd=here.cwd)
    subject = _subject(run)

    def approve(request: ApprovalRequest) -> Approval:
        if call.approved == subject:
            return Approval.ONCE
        refusal = ApprovalRequired(found.called, nobody_to_ask(found.called))
        raise NeedsApproval(subject, f"{request.text()}\n\nRun it, this once?", refusal)

    settle(run, approve, TrustStore())  # apart, so that a question is not logged as a failure
    here.tell((*found.diagnostics, *run.diagnostics))
    envelope = here.operate_on(
        found.stored(),
        "run",
        {"tool": tool, "mode": mode, "dry_run": False},
        lambda _: run_prepared(run, approve, cancel=call.cancelled),
        lambda envelope: {"success": envelope.success},
    )
    if envelope.stopped is not None:
        here.report(envelope.stopped.text())
    text = envelope.output or envelope.error or "(no output)"
    return Answer(envelope.as_json(), text, failed=not envelope.success)


def _subject(run: Run) -> str:
    """Return what a yes is bound to: these files, and this command."""
    launch = run.launch
    words = [run.files.digest, launch.cwd, launch.sandbox, *launch.argv]
    return sha256_hex("\0".join(words).encode("utf-8", "surrogatepass"))


RUN_TOOLS = (run_tool,)
