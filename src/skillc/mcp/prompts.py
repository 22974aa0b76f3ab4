"""Serve prompts for a person in a chat client: use a skill, or find one; and completion."""

from __future__ import annotations

import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from skillc.errors import SkillcError
from skillc.mcp.resources import refuse_cursor
from skillc.workspace import Workspace

MAX_COMPLETIONS = 100
USE, FIND = "use_skill", "find_skill"

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
]


class Prompts:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

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
            text = await self._text(prompt.name, arguments)
        except SkillcError as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _text(self, name: str, arguments: dict[str, str]) -> str:
        engine = self._workspace.engine()
        if name == USE:
            (skill,) = await engine.resolve_and_render([arguments["skill"].strip().lstrip("/")])
            return f"{skill.rendered_body}\n\n{arguments.get('task') or 'Follow this skill.'}"
        return (
            f"{await engine.inventory_section()}\n\nTask: {arguments['task']}\n\nChoose the skill that fits"
            " this task best, say why in a sentence, load it with load_skill, and follow it. If none fits,"
            " say so."
        )

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete IDs of skills, for the prompt's argument and for the URIs of files."""
        name = "skill" if isinstance(params.ref, types.PromptReference) else "path"
        if params.argument.name != name:
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
