"""Find skills for a task, and prepare turns of agents."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import Response

from skillc.server.api.declaration import LIMIT, Call, Operation, Parameter
from skillc.server.api.shapes import TurnRequest, TurnResult
from skillc.server.engine_endpoints import SCOPE, answer_search, answer_turn


async def find_skills(call: Call) -> Response:
    """Search the index of this process. It may be two seconds behind other processes, and never more."""
    return await answer_search(call.request, partial(call.service.find, call.caller))


async def prepare_turn(call: Call) -> Response:
    return await answer_turn(call.request, call.service.agent_engine(call.caller))


OPERATIONS = (
    Operation(
        "GET",
        "/search",
        "Find the skills that fit a task, best first.",
        find_skills,
        {200: dict[str, Any]},
        parameters=(
            Parameter("q", "The task, in words."),
            LIMIT,
            *(Parameter(name, f"Only skills of this {name}.") for name in SCOPE),
            Parameter("all", "Also skills that another one with the same ID hides.", "boolean"),
        ),
        failures=(400,),
        tags=("Finding",),
    ),
    Operation(
        "POST",
        "/turns",
        "Return what a model gets for a message: the inventory of skills, and those it refers to.",
        prepare_turn,
        {200: TurnResult},
        body=TurnRequest,
        failures=(400, 408, 413, 422),
        tags=("Finding",),
    ),
)
