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
    from skillc.engine.events import (
        SkillEvent as SkillEvent,
        SkillResolutionFailed as SkillResolutionFailed,
        SkillsResolved as SkillsResolved,
    )
    from skillc.engine.prompts import (
        ModelInput as ModelInput,
        model_input as model_input,
        system_prompt as system_prompt,
    )
    from skillc.engine.sync import SyncSkillEngine as SyncSkillEngine, run_sync as run_sync
    from skillc.engine.tools import (
        SkillTools as SkillTools,
        ToolDefinition as ToolDefinition,
        ToolResult as ToolResult,
    )
    from skillc.engine.toolsets import OfferedTools as OfferedTools, Toolset as Toolset
    from skillc.engine.turn import Turn as Turn, prepare_turn as prepare_turn
else:
    __getattr__ = front_door(
        __name__,
        {
            "events": "SkillEvent SkillResolutionFailed SkillsResolved",
            "agent": "AgentBuildConfig AgentFactory BuiltAgent",
            "prompts": "ModelInput model_input system_prompt",
            "engine": "DefaultSkillEngine EngineOptions ResolvedSkill",
            "sync": "SyncSkillEngine run_sync",
            "tools": "SkillTools ToolDefinition ToolResult",
            "toolsets": "OfferedTools Toolset",
            "turn": "Turn prepare_turn",
        },
    )
