"""What a prompt gets: inventory, browsing, loading, injection, references, events.

Works on any `SkillSource`; knows nothing of files, networks or frameworks.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.engine.agent import (
        AgentBuildConfig as AgentBuildConfig,
        AgentFactory as AgentFactory,
        BuiltAgent as BuiltAgent,
    )
    from skillc.engine.engine import (
        DefaultSkillEngine as DefaultSkillEngine,
        EngineOptions as EngineOptions,
        ResolvedSkill as ResolvedSkill,
    )
    from skillc.engine.sync import SyncSkillEngine as SyncSkillEngine, run_sync as run_sync
    from skillc.engine.tools import TOOLS as TOOLS, ToolDefinition as ToolDefinition, ToolResult as ToolResult
    from skillc.engine.turn import (
        ModelInput as ModelInput,
        SkillEvent as SkillEvent,
        SkillResolutionFailed as SkillResolutionFailed,
        SkillsResolved as SkillsResolved,
        Turn as Turn,
        model_input as model_input,
        prepare_turn as prepare_turn,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "agent": "AgentBuildConfig AgentFactory BuiltAgent",
            "engine": "DefaultSkillEngine EngineOptions ResolvedSkill",
            "sync": "SyncSkillEngine run_sync",
            "tools": "TOOLS ToolDefinition ToolResult",
            "turn": "ModelInput SkillEvent SkillResolutionFailed SkillsResolved Turn model_input "
            "prepare_turn",
        },
    )
