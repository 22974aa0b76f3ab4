"""Skills for prompts: inventory, browsing, loading, injection, references, events.

Works on any `SkillSource`; knows nothing of files, networks or frameworks.
"""

from skillc.engine.agent import (
    AgentBuildConfig as AgentBuildConfig,
    AgentFactory as AgentFactory,
    BuiltAgent as BuiltAgent,
)
from skillc.engine.browse import (
    find_key as find_key,
    make_cursor as make_cursor,
    render_browse as render_browse,
)
from skillc.engine.engine import (
    DefaultSkillEngine as DefaultSkillEngine,
    EngineOptions as EngineOptions,
    ResolvedSkill as ResolvedSkill,
    SkillEngine as SkillEngine,
)
from skillc.engine.sync import SyncSkillEngine as SyncSkillEngine, run_sync as run_sync
from skillc.engine.tools import (
    TOOLS as TOOLS,
    ToolDefinition as ToolDefinition,
    ToolResult as ToolResult,
)
from skillc.engine.turn import (
    ModelInput as ModelInput,
    SkillEvent as SkillEvent,
    SkillResolutionFailed as SkillResolutionFailed,
    SkillsResolved as SkillsResolved,
    Turn as Turn,
    model_input as model_input,
    prepare_turn as prepare_turn,
)
