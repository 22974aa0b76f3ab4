"""What an agent may run: command templates, values, runner, sandbox, trust and approval.

Knows nothing of prompts or models; an agent's engine meets it through a protocol.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools.agents import SkillToolset
    from skillc.tools.approval import Answer, ApprovalRequest
    from skillc.tools.decisions import Entry, allow, deny, entries, prune, standing
    from skillc.tools.envelope import Envelope
    from skillc.tools.executable import ExecutableSkill, Tool, load_executable
    from skillc.tools.execution import Run, nobody_to_ask, prepare, run_tool, settle
    from skillc.tools.origins import FoundSkill, find_skill
    from skillc.tools.parameters import values_from_text
    from skillc.tools.policy import ToolPolicy, manifest, policies
    from skillc.tools.schemas import as_format, function_names, tool_words
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
        "agents": ("SkillToolset",),
        "approval": ("Answer", "ApprovalRequest"),
        "decisions": ("Entry", "allow", "deny", "entries", "prune", "standing"),
        "envelope": ("Envelope",),
        "executable": ("ExecutableSkill", "Tool", "load_executable"),
        "execution": ("Run", "nobody_to_ask", "prepare", "run_tool", "settle"),
        "origins": ("FoundSkill", "find_skill"),
        "parameters": ("values_from_text",),
        "policy": ("ToolPolicy", "manifest", "policies"),
        "schemas": ("as_format", "function_names", "tool_words"),
        "trust": ("TrustLevel", "TrustStore"),
    },
)
