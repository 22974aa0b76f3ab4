"""What a skill asks for: hosts, commands, secrets, files outside of it, and what it hides.

Reads text and runs nothing. An audit is a report, not a verdict: approval and the sandbox are the boundary.

    audit = audit_folder("skills/pdf")
    audit.asks.hosts, audit.blocks, audit.asks_digest()
    compare_audits(old, new).added.hosts
"""

from skillc.audit.audit import audit_folder as audit_folder, audit_folders as audit_folders
from skillc.audit.external_reviewer import ask_judge as ask_judge, parse_judge as parse_judge
from skillc.audit.findings import (
    KINDS as KINDS,
    Asks as Asks,
    Audit as Audit,
    Changes as Changes,
    Finding as Finding,
    compare_audits as compare_audits,
)
from skillc.audit.policy import (
    Baseline as Baseline,
    Policy as Policy,
    read_baseline as read_baseline,
    read_policy as read_policy,
    write_baseline as write_baseline,
)
from skillc.audit.report import (
    render_asks as render_asks,
    render_audit_sarif as render_audit_sarif,
    render_changes as render_changes,
    render_finding as render_finding,
    summarise_audits as summarise_audits,
)
from skillc.audit.rules import (
    BLOCK as BLOCK,
    LEVELS as LEVELS,
    NOTE as NOTE,
    REVIEW as REVIEW,
    RULES as RULES,
    VERSION as VERSION,
    find_rule as find_rule,
)
