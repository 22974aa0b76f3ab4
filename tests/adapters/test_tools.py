"""Tools as models call them, before any framework."""

from __future__ import annotations

import asyncio

import pytest

from skillc import BuiltAgent
from skillc.adapters.tools import MAX_NAME, bind_tools
from skillc.engine import ToolDefinition, ToolResult, run_sync
from skillc.errors import SkillNotFound
from tests.support.cases import each


class Echo(BuiltAgent):
    async def call_tool(self, name: str, arguments: object = None) -> ToolResult:
        return ToolResult(name)


def test_names_that_every_provider_takes() -> None:
    """[LIB: Builtin Tools (meerkat-tools)] each tool has a name of its own and is called by the real one."""
    long = "x" * 80
    names = ["pdf.fill", "pdf__fill", "a/b.c", "größe", long + "a", long + "b", "plain-name_1"]
    tools = tuple(ToolDefinition(name, "", {"type": "object", "properties": {}}) for name in names)
    bound = bind_tools(Echo("", "", tools, None))
    assert [tool.name for tool in bound] == [
        "pdf__fill",
        "pdf__fill_2",
        "a_b__c",
        "gr__e",
        "x" * MAX_NAME,
        "x" * (MAX_NAME - 2) + "_2",
        "plain-name_1",
    ]
    assert [run_sync(tool.call({})).text for tool in bound] == names


@each("text", ["{", "[" * 100_000, '{"id": NaN', "\ud800"])
def test_arguments_out_of_shape(text: str) -> None:
    """[LIB: Failure semantics] what can't be read as JSON is a result that says so."""
    (tool,) = bind_tools(Echo("", "", (ToolDefinition("t", "", {}),), None))
    assert run_sync(tool.call_json(text)) == ToolResult("the arguments are not valid JSON", is_error=True)
    assert run_sync(tool.call_json("")) == ToolResult("t")


def test_a_cancelled_call_is_cancelled() -> None:
    """[LIB: Failure semantics] what stops a run is no failure of a tool."""

    class Slow(BuiltAgent):
        async def call_tool(self, name: str, arguments: object = None) -> ToolResult:
            await asyncio.sleep(3600)
            return ToolResult("")

    async def stop() -> None:
        (tool,) = bind_tools(Slow("", "", (ToolDefinition("t", "", {}),), None))
        call = asyncio.ensure_future(tool.call({}))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(stop())


def test_answers_without_await_leave_the_loop_alone() -> None:
    """[D33] the thread's own event loop is the same afterwards; what is raised comes out."""

    async def fail() -> None:
        raise SkillNotFound("pdf")

    loop = asyncio.get_event_loop()
    with pytest.raises(SkillNotFound):
        run_sync(fail())
    assert asyncio.get_event_loop() is loop
