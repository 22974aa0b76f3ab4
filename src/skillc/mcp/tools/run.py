"""The tool that runs what a skill declares, after a person approved it, in a sandbox."""

from typing import Annotated, Any, Literal

from pydantic import Field

from skillc.errors import ApprovalRequired
from skillc.mcp.approval import NeedsApproval
from skillc.mcp.tools.definition import Answer, Call, tool
from skillc.mcp.tools.results import EnvelopeResult
from skillc.tools import Answer as Approval, ApprovalRequest, approval_advice


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

    def approve(request: ApprovalRequest) -> Approval:
        if call.approval == request.subject:
            return Approval.ONCE
        refusal = ApprovalRequired(skill, approval_advice(skill))
        raise NeedsApproval(request.subject, f"{request.text()}\n\nRun it, this once?", refusal)

    run = here.run(skill, tool, parameters or {}, mode=mode, approve=approve, cancel=call.cancel)
    envelope = run.envelope
    assert envelope is not None
    if envelope.interruption is not None:
        here.report(envelope.interruption.text())
    elif not envelope.success:  # a model that reads the text alone has to know, too
        here.report(envelope.error or f"exit code: {envelope.exit_code}")
    # Some models refuse an empty text.
    return Answer(envelope.as_json(), envelope.output or "(no output)", failed=not envelope.success)


RUN_TOOLS = (run_tool,)
