"""Skills for audits, in folders."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from skillc.audit import Audit, Policy, audit_folder

Files = Mapping[str, str | bytes]
FRONT = "---\nname: pdf\ndescription: Fill forms\n---\n# PDF\n\n"


def put(root: Path, files: Files) -> Path:
    """Write a skill of these files alone; without a SKILL.md of its own it gets an empty one."""
    folder = root / "pdf"
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in {"SKILL.md": FRONT, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return folder


def audit(root: Path, files: Files, policy: Policy | None = None) -> Audit:
    return audit_folder(str(put(root, files)), policy=policy)


def levels(result: Audit) -> dict[str, str]:
    """Return the highest level of each rule with a finding."""
    return {finding.rule.id: finding.level for finding in reversed(result.findings)}


def shell(root: Path, script: str) -> dict[str, str]:
    """Return the findings above notes of a shell script, rules and levels."""
    return above_notes(audit(root, {"run.sh": script}))


def python(root: Path, script: str) -> dict[str, str]:
    return above_notes(audit(root, {"run.py": script}))


def page(root: Path, text: str) -> dict[str, str]:
    return above_notes(audit(root, {"SKILL.md": FRONT + text}))


def above_notes(result: Audit) -> dict[str, str]:
    return {rule: level for rule, level in levels(result).items() if level != "note"}
