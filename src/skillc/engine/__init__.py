"""Skills for prompts: inventory, browsing, loading, injection, references, events.

Works on any `SkillSource`; knows nothing of files, networks or frameworks.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.engine.agent import AgentBuildConfig, AgentFactory, BuiltAgent
    from skillc.engine.engine import DefaultSkillEngine, EngineOptions, ResolvedSkill, SkillEngine
    from skillc.engine.pages import find_key, make_cursor, render_browse
    from skillc.engine.sync import SyncSkillEngine, run_sync
    from skillc.engine.tools import TOOLS, ToolDefinition, ToolResult
    from skillc.engine.turn import (
        ModelInput,
        SkillEvent,
        SkillResolutionFailed,
        SkillsResolved,
        Turn,
        model_input,
        prepare_turn,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "agent": "AgentBuildConfig AgentFactory BuiltAgent",
            "engine": "DefaultSkillEngine EngineOptions ResolvedSkill SkillEngine",
            "pages": "find_key make_cursor render_browse",
            "sync": "SyncSkillEngine run_sync",
            "tools": "TOOLS ToolDefinition ToolResult",
            "turn": "ModelInput SkillEvent SkillResolutionFailed SkillsResolved Turn model_input "
            "prepare_turn",
        },
    )
