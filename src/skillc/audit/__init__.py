"""What a skill asks for: hosts, commands, secrets, files outside of it, and what it hides.

Reads text and runs nothing. An audit is a report, not a verdict: approval and the sandbox are the boundary.

    audit = audit_folder("skills/pdf")
    audit.asks.hosts, audit.blocks, audit.asks_digest()
    compare_audits(old, new).added.hosts
"""

from __future__ import annotations

from skillc.startup import front_door  # pages of help import this door, and none of its patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.audit.audit import audit_folder, audit_folders
    from skillc.audit.characters import find_hidden, spell_hidden
    from skillc.audit.external_reviewer import JudgeFailed, ask_command, ask_judge, parse_judge
    from skillc.audit.findings import KINDS, Asks, Audit, Changes, Finding, compare_audits
    from skillc.audit.levels import NO_FINDINGS, PENDING, UNAUDITED, Levels
    from skillc.audit.policy import Baseline, Policy, read_baseline, read_policy, write_baseline
    from skillc.audit.report import (
        render_asks,
        render_audit_sarif,
        render_finding,
        summarise_audits,
    )
    from skillc.audit.rules import BLOCK, LEVELS, NOTE, REVIEW, RULES, VERSION, find_rule
else:
    __getattr__, __all__ = front_door(__name__)
