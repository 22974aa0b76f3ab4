"""Approval by elicitation: in the way of each era, bound to the call, refused where nobody is there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from skillc.errors import ApprovalRequired
from skillc.mcp import approval, server
from skillc.mcp.approval import NeedsApproval
from skillc.mcp.tools.definition import Answer, Call, tool
from tests.conftest import World
from tests.support.cases import each
from tests.support.mcp import ERAS, NEW, answering, ask, call_tools, near, talk


@tool("Careful", "run", "init")
def careful(call: Call, skill: str) -> Answer:
    """Do nothing without approval for the skill as it is."""
    subject = f"{skill}@digest"
    if call.approval != subject:
        raise NeedsApproval(subject, f"Run a tool of '{skill}'?", ApprovalRequired(skill))
    return Answer({"name": skill, "path": "done"}, "done")


@pytest.fixture(autouse=True)
def with_careful(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "TOOLS", (*server.TOOLS, careful))


@each("era", ERAS)
@each(
    ("answer", "runs"),
    [
        (ElicitResult(action="accept", content={"approve": True}), True),
        (ElicitResult(action="accept", content={"approve": False}), False),
        (ElicitResult(action="accept", content={}), False),
        (ElicitResult(action="decline"), False),
        (ElicitResult(action="cancel"), False),
    ],
)
def test_a_person_is_asked(era: str, answer: ElicitResult, runs: bool) -> None:
    """[SURFACES: Serving] nothing runs unless a person says yes; the refusal tells how else to approve."""
    asked: list[str] = []
    callback = answering(answer, asked)
    (result,) = call_tools(("careful", {"skill": "pdf"}), era=era, elicitation_callback=callback)
    assert asked == ["Run a tool of 'pdf'?"]
    assert result.is_error is not runs
    words = "done" if runs else "error[E063]: approval required for 'pdf'; run 'skc trust allow pdf'"
    assert result.content[0].text == words


def test_an_approval_fits_one_call() -> None:
    """[SURFACES: Serving] a response with the state of another call, or none of ours, approves nothing."""
    asked: list[str] = []
    yes = {"approval": {"action": "accept", "content": {"approve": True}}}

    async def calls() -> list[dict[str, Any]]:
        never = ElicitResult(action="cancel")
        async with near(NEW, elicitation_callback=answering(never, asked)) as client:
            first = await ask(client, "tools/call", name="careful", arguments={"skill": "pdf"})
            state = first["requestState"]
            found = [first]
            for skill, given in (("pdf", state), ("other", state), ("pdf", "pdf@digest.0"), ("pdf", "")):
                again = {"arguments": {"skill": skill}, "inputResponses": yes, "requestState": given}
                found.append(await ask(client, "tools/call", name="careful", **again))
            return found

    first, *others = asyncio.run(calls())
    assert first["resultType"] == "input_required"
    assert [other.get("isError", False) for other in others] == [False, True, True, True]
    assert asked == []


def replies(count: int, chosen: int) -> dict[str, Any]:
    """The result of a yes to one of some open questions."""
    yes = {"approval": {"action": "accept", "content": {"approve": True}}}
    call: dict[str, Any] = {"name": "careful", "arguments": {"skill": "pdf"}}

    async def calls(client: Client) -> dict[str, Any]:
        states = [(await ask(client, "tools/call", **call))["requestState"] for _ in range(count)]
        return await ask(client, "tools/call", **call, inputResponses=yes, requestState=states[chosen])

    return talk(calls, NEW, elicitation_callback=answering(ElicitResult(action="cancel"), []))


def test_a_question_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Serving] a question that is open too long, or one of too many, can't be answered."""
    assert not replies(3, 0).get("isError")
    monkeypatch.setattr(approval, "MAX_OPEN", 2)
    assert replies(3, 0)["isError"]
    assert not replies(3, 2).get("isError")
    monkeypatch.setattr(approval, "LIFETIME", 0.0)
    assert replies(1, 0)["isError"]
