"""Serve prompts: use a skill or find one, for people; a turn, for hosts; and completion."""

from __future__ import annotations

from collections.abc import Callable

import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from skillc.engine import model_input
from skillc.errors import SkillcError
from skillc.mcp.resources import refuse_cursor
from skillc.workspace import Workspace

MAX_COMPLETIONS = 100
USE, FIND, TURN = "use_skill", "find_skill", "turn"

PROMPTS = [
    types.Prompt(
        name=USE,
        title="Use a skill",
        description="Put a skill's instructions into the conversation and follow them.",
        arguments=[
            types.PromptArgument(
                name="skill", title="Skill", description="Its ID, such as extraction/email.", required=True
            ),
            types.PromptArgument(name="task", title="Task", description="What to do with it."),
        ],
    ),
    types.Prompt(
        name=FIND,
        title="Find a skill",
        description="Show the model all skills there are, and let it choose one for a task.",
        arguments=[
            types.PromptArgument(name="task", title="Task", description="What you want to do.", required=True)
        ],
    ),
    types.Prompt(
        name=TURN,
        title="A message with its skills",
        description="Resolve the skills that a message refers to with /skill-id, as an agent of skillc does.",
        arguments=[
            types.PromptArgument(
                name="message", title="Message", description="It may begin with /skill-id.", required=True
            ),
            types.PromptArgument(
                name="preload_skills",
                title="Preload",
                description="IDs, with commas: give the inventory and these skills first. All must exist.",
            ),
            types.PromptArgument(
                name="skill_references",
                title="References",
                description="IDs, with commas: put these skills before the message.",
            ),
        ],
    ),
]

IDS = ("skill", "preload_skills", "skill_references")  # arguments that are completed


class Prompts:
    def __init__(self, workspace: Workspace, name_tools: Callable[[str], str] = str) -> None:
        self._workspace = workspace
        self._name_tools = name_tools

    async def list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        refuse_cursor(params)
        return types.ListPromptsResult(prompts=PROMPTS)

    async def get(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = next((prompt for prompt in PROMPTS if prompt.name == params.name), None)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
        arguments = params.arguments or {}
        for argument in prompt.arguments or []:
            if argument.required and not arguments.get(argument.name):
                raise MCPError(types.INVALID_PARAMS, f"Argument '{argument.name}' is missing")
        try:
            if prompt.name == TURN:
                return await self._turn(arguments)
            text = await self._text(prompt.name, arguments)
        except SkillcError as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _turn(self, arguments: dict[str, str]) -> types.GetPromptResult:
        """Return what `skc turn` prints: the system prompt if skills are preloaded, then the message.

        The notices about references that failed are the description, and the events in `_meta`.
        """
        preload = _ids(arguments.get("preload_skills"))
        references = _ids(arguments.get("skill_references"))
        result = await model_input(self._workspace.engine(), arguments["message"], preload, references)
        texts = [self._name_tools(result.system), result.turn.message] if preload else [result.turn.message]
        messages = [types.PromptMessage(role="user", content=types.TextContent(text=text)) for text in texts]
        events = [event.as_json() for event in result.turn.events]
        notices = "\n".join(result.turn.notices) or None
        return types.GetPromptResult(description=notices, messages=messages, _meta={"skillc/events": events})

    async def _text(self, name: str, arguments: dict[str, str]) -> str:
        engine = self._workspace.engine()
        if name == USE:
            (skill,) = await engine.resolve_and_render([arguments["skill"].strip().lstrip("/")])
            return f"{skill.rendered_body}\n\n{arguments.get('task') or 'Follow this skill.'}"
        inventory = self._name_tools(await engine.inventory_section())
        return (
            f"{inventory}\n\nTask: {arguments['task']}\n\nChoose the skill that fits"
            " this task best, say why in a sentence, load it with load_skill, and follow it. If none fits,"
            " say so."
        )

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete IDs of skills, for the prompt's argument and for the URIs of files."""
        names = IDS if isinstance(params.ref, types.PromptReference) else ("path",)
        if params.argument.name not in names:
            return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
        try:
            skills = await self._workspace.engine().list_skills()
        except SkillcError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from None
        ids = [str(skill.id) for skill in skills if skill.id.startswith(params.argument.value)]
        values = ids[:MAX_COMPLETIONS]
        return types.CompleteResult(
            completion=types.Completion(values=values, total=len(ids), has_more=len(ids) > len(values))
        )


def _ids(text: str | None) -> list[str] | None:
    """Return the IDs in a text with commas between them; None for none."""
    return [word.strip().lstrip("/") for word in (text or "").split(",") if word.strip()] or None
