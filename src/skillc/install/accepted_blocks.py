"""Blocks of the audit that the user accepted: which rules, for which files [D65].

    ~/.skillc/accepted-blocks.json     {"version": 1, "sha256": "…", "accepted": {"<digest>": ["A01", "A07"]}}

They are in the home and never in a lock: a cloned project can't accept anything for the user. Other files
have another digest [D64], so that an update asks again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from skillc import atomic, paths, records
from skillc.audit import BLOCK, Audit
from skillc.errors import AuditBlocked, InvalidConfiguration

VERSION = 1
MAX_BYTES = 16 << 20
OPTION = "--accept-blocks"


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
    path = _file()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with atomic.Lock(f"{path}.lock"):
        accepted = _read()
        accepted[digest] = sorted(rules.union(accepted.get(digest, ())))
        records.write_record(path, {"version": VERSION, "accepted": accepted}, private=True)


def _read() -> dict[str, list[str]]:
    try:
        accepted = records.read_record(_file(), MAX_BYTES)["accepted"]
        return {str(digest): [str(rule) for rule in rules] for digest, rules in accepted.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        advice = f"delete it, and accept again what you accepted with {OPTION}"
        raise InvalidConfiguration(_file(), f"{reason}; {advice}") from None


def _file() -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "accepted-blocks.json")
