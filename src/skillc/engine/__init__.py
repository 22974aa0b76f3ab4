"""What a prompt gets: inventory, browsing, loading, injection, references, events.

Works on any `SkillSource`; knows nothing of files, networks or frameworks.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.engine.agent import AgentBuildConfig, AgentFactory, BuiltAgent
    from skillc.engine.engine import DefaultSkillEngine, EngineOptions, ResolvedSkill
    from skillc.engine.events import SkillEvent, SkillResolutionFailed, SkillsResolved
    from skillc.engine.prompts import ModelInput, model_input, system_prompt
    from skillc.engine.sync import SyncSkillEngine, run_sync
    from skillc.engine.tools import SkillTools, ToolDefinition, ToolResult
    from skillc.engine.toolsets import OfferedTools, Toolset
    from skillc.engine.turn import Turn, prepare_turn

__all__ = [
    "AgentBuildConfig",
    "AgentFactory",
    "BuiltAgent",
    "DefaultSkillEngine",
    "EngineOptions",
    "ModelInput",
    "OfferedTools",
    "ResolvedSkill",
    "SkillEvent",
    "SkillResolutionFailed",
    "SkillTools",
    "SkillsResolved",
    "SyncSkillEngine",
    "ToolDefinition",
    "ToolResult",
    "Toolset",
    "Turn",
    "model_input",
    "prepare_turn",
    "run_sync",
    "system_prompt",
]

__getattr__ = front_door(
    __name__,
    {
        "events": ("SkillEvent", "SkillResolutionFailed", "SkillsResolved"),
        "agent": ("AgentBuildConfig", "AgentFactory", "BuiltAgent"),
        "prompts": ("ModelInput", "model_input", "system_prompt"),
        "engine": ("DefaultSkillEngine", "EngineOptions", "ResolvedSkill"),
        "sync": ("SyncSkillEngine", "run_sync"),
        "tools": ("SkillTools", "ToolDefinition", "ToolResult"),
        "toolsets": ("OfferedTools", "Toolset"),
        "turn": ("Turn", "prepare_turn"),
    },
)
