"""What an agent may run: command templates, values, runner, sandbox, trust and approval.

Knows nothing of prompts or models; an agent's engine meets it through a protocol.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools.approval import Answer, ApprovalRequest
    from skillc.tools.arguments import values_from_text
    from skillc.tools.decisions import Entry, allow, deny, entries, prune, standing
    from skillc.tools.envelope import Envelope
    from skillc.tools.origin import FoundSkill, find_skill
    from skillc.tools.policy import ToolPolicy, manifest, policies
    from skillc.tools.run import Run, nobody_to_ask, prepare, run_tool, settle
    from skillc.tools.schemas import as_format, function_names, tool_words
    from skillc.tools.skill import ExecutableSkill, Tool, load_executable
    from skillc.tools.toolset import SkillToolset
    from skillc.tools.trust import TrustLevel, TrustStore

__all__ = [
    "Answer",
    "ApprovalRequest",
    "Entry",
    "Envelope",
    "ExecutableSkill",
    "FoundSkill",
    "Run",
    "SkillToolset",
    "Tool",
    "ToolPolicy",
    "TrustLevel",
    "TrustStore",
    "allow",
    "as_format",
    "deny",
    "entries",
    "find_skill",
    "function_names",
    "load_executable",
    "manifest",
    "nobody_to_ask",
    "policies",
    "prepare",
    "prune",
    "run_tool",
    "settle",
    "standing",
    "tool_words",
    "values_from_text",
]

__getattr__ = front_door(
    __name__,
    {
        "toolset": ("SkillToolset",),
        "approval": ("Answer", "ApprovalRequest"),
        "decisions": ("Entry", "allow", "deny", "entries", "prune", "standing"),
        "envelope": ("Envelope",),
        "skill": ("ExecutableSkill", "Tool", "load_executable"),
        "run": ("Run", "nobody_to_ask", "prepare", "run_tool", "settle"),
        "origin": ("FoundSkill", "find_skill"),
        "arguments": ("values_from_text",),
        "policy": ("ToolPolicy", "manifest", "policies"),
        "schemas": ("as_format", "function_names", "tool_words"),
        "trust": ("TrustLevel", "TrustStore"),
    },
)
