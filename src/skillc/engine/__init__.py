"""Skills for prompts: inventory, browsing, loading, injection, references, events.

Works on any `SkillSource`; knows nothing of files, networks or frameworks.
"""

from skillc.engine.agent import AgentBuildConfig, AgentFactory, BuiltAgent
from skillc.engine.browse import find_key, make_cursor, render_browse
from skillc.engine.engine import DefaultSkillEngine, EngineOptions, ResolvedSkill, SkillEngine
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
