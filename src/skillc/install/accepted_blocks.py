"""Blocks of the audit that the user accepted: which rules, for which files [D65].

    ~/.skillc/accepted-blocks.json     {"version": 1, "sha256": "…", "accepted": {"<digest>": ["A01", "A07"]}}

They are in the home and never in a lock: a cloned project can't accept anything for the user. Other files
have another digest [D64], so that an update asks again.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillc.audit import BLOCK, Audit
from skillc.errors import AuditBlocked
from skillc.records import Record

OPTION = "--accept-blocks"
RECORD = Record(
    "accepted-blocks.json",
    1,
    "accepted",
    f"it is damaged; delete it, and accept again what you accepted with {OPTION}",
    limit=16 << 20,
)


def check_blocks(
    name: str, digest: str, audit: Audit, *, accept: bool, others: Iterable[str] = (), advice: str = ""
) -> None:
    """Raise AuditBlocked (E084) for blocks that the user has not accepted for these files.

    With `accept` they are accepted now. `others` are further skills that are blocked; they and `advice` are
    for the message.
    """
    rules = {finding.rule.id for finding in audit.findings if finding.level == BLOCK}
    if not rules or rules <= accepted_rules(digest):
        return
    if accept:
        _accept(digest, rules)
        return
    first = next(finding for finding in audit.findings if finding.level == BLOCK)
    names = list(others)
    more = f"; so are {', '.join(names)}" if names else ""
    hint = f"hint: {advice or 'read what it does'}; {OPTION} takes it all the same"
    raise AuditBlocked(name, f"{first.rule.id} {first.message} ({first.file}:{first.line}){more}", hint)


def accepted_rules(digest: str = "") -> set[str]:
    """Return the rules whose blocks the user accepted for the skill with this digest."""
    return set(_read().get(digest, ()))


def _accept(digest: str, rules: set[str]) -> None:
    with RECORD.lock():
        accepted = _read()
        accepted[digest] = sorted(rules.union(accepted.get(digest, ())))
        RECORD.write(accepted)


def _read() -> dict[str, list[str]]:
    return RECORD.read(lambda accepted: {str(d): list(map(str, rules)) for d, rules in accepted.items()}, {})
