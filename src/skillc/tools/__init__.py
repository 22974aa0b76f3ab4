"""Running the tools of skills: arguments, approval, trust, runs and the sandbox.

Knows nothing of prompts, models or logs. `sandbox` is private to this room.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools.approval import Answer, ApprovalRequest, approval_advice
    from skillc.tools.arguments import read_values
    from skillc.tools.decisions import (
        Decisions,
        Entry,
        TrustDescription,
        adopt_skill,
        allow_skill,
        deny_skill,
        list_decisions,
        prune_decisions,
        show_trust,
    )
    from skillc.tools.process import CANCELLED, TIMED_OUT, Envelope, run_program
    from skillc.tools.run import Approve, DryRun, RunResult, ToolCall, Values, run_tool
    from skillc.tools.sandbox import BUBBLEWRAP, NONE, Launch, describe_sandbox
    from skillc.tools.schemas import describe_tool, format_tools, function_names, manifest, tool_schema
    from skillc.tools.skill import (
        ExecutableSkill,
        SkillLocation,
        Tool,
        find_skill,
        load_executable,
        locate_in_source,
    )
    from skillc.tools.trust import TrustStore
else:
    __getattr__, __all__ = front_door(__name__)
