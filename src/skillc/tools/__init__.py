"""What an agent may run: command templates, values, runner, sandbox, trust and approval.

Knows nothing of prompts or models; an agent's engine meets it through a protocol.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools.approval import Answer as Answer, ApprovalRequest as ApprovalRequest
    from skillc.tools.arguments import values_from_text as values_from_text
    from skillc.tools.decisions import (
        Entry as Entry,
        allow as allow,
        deny as deny,
        entries as entries,
        prune as prune,
        standing as standing,
    )
    from skillc.tools.envelope import Envelope as Envelope
    from skillc.tools.origin import FoundSkill as FoundSkill, find_skill as find_skill
    from skillc.tools.policy import ToolPolicy as ToolPolicy, manifest as manifest, policies as policies
    from skillc.tools.run import (
        Run as Run,
        nobody_to_ask as nobody_to_ask,
        prepare as prepare,
        run_tool as run_tool,
        settle as settle,
    )
    from skillc.tools.schemas import (
        as_format as as_format,
        function_names as function_names,
        tool_words as tool_words,
    )
    from skillc.tools.skill import (
        ExecutableSkill as ExecutableSkill,
        Tool as Tool,
        load_executable as load_executable,
    )
    from skillc.tools.toolset import SkillToolset as SkillToolset
    from skillc.tools.trust import TrustLevel as TrustLevel, TrustStore as TrustStore

__getattr__ = front_door(
    __name__,
    {
        "toolset": "SkillToolset",
        "approval": "Answer ApprovalRequest",
        "decisions": "Entry allow deny entries prune standing",
        "envelope": "Envelope",
        "skill": "ExecutableSkill Tool load_executable",
        "run": "Run nobody_to_ask prepare run_tool settle",
        "origin": "FoundSkill find_skill",
        "arguments": "values_from_text",
        "policy": "ToolPolicy manifest policies",
        "schemas": "as_format function_names tool_words",
        "trust": "TrustLevel TrustStore",
    },
)
