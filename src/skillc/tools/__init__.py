"""What an agent may run: the tools of skills, their arguments, approval, trust, runs and the sandbox.

Knows nothing of prompts, models or logs. `sandbox` is private to this room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillc.startup import front_door

if TYPE_CHECKING:
    from skillc.tools.approval import (
        Answer as Answer,
        ApprovalRequest as ApprovalRequest,
        Entry as Entry,
        allow as allow,
        deny as deny,
        list_entries as list_entries,
        prune as prune,
        trust_status as trust_status,
    )
    from skillc.tools.arguments import parse_values as parse_values
    from skillc.tools.run import (
        Approve as Approve,
        RunResult as RunResult,
        ToolCall as ToolCall,
        Values as Values,
        approval_advice as approval_advice,
        run_tool as run_tool,
    )
    from skillc.tools.schemas import (
        describe_tool as describe_tool,
        format_tools as format_tools,
        function_names as function_names,
        manifest as manifest,
        tool_schema as tool_schema,
    )
    from skillc.tools.skill import (
        ExecutableSkill as ExecutableSkill,
        SkillLocation as SkillLocation,
        Tool as Tool,
        find_skill as find_skill,
        load_executable as load_executable,
        locate_in_source as locate_in_source,
    )
    from skillc.tools.trust import TrustStore as TrustStore
else:
    __getattr__ = front_door(
        __name__,
        {
            "approval": "Answer ApprovalRequest Entry allow deny list_entries prune trust_status",
            "arguments": "parse_values",
            "run": "Approve RunResult ToolCall Values approval_advice run_tool",
            "schemas": "describe_tool format_tools function_names manifest tool_schema",
            "skill": ("ExecutableSkill SkillLocation Tool find_skill load_executable locate_in_source"),
            "trust": "TrustStore",
        },
    )
