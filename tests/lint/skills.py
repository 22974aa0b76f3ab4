"""Skills to lint, and what was found in them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from skillc.library import at_path
from skillc.lint import RULES, Choice, Finding, Report, fix_skill, lint_skill
from tests.conftest import World, save

Files = Mapping[str, str | bytes]
ALL = Choice(select=frozenset(rule.id for rule in RULES))  # those of style, too
FRONT = "---\nname: pdf\ndescription: Fill forms. Use when there is a PDF.\n---\n"
GOOD = FRONT + "# PDF\n\n## Forms\n\nText.\n"


def put(world: World, text: str | bytes = GOOD, files: Files | None = None) -> Path:
    """A skill `pdf` with this SKILL.md and these other files alone, in the project's store."""
    shutil.rmtree(world.store / "pdf", ignore_errors=True)
    folder = world.skill("pdf", text)
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        save(folder / name, content)
    return folder


def report(world: World, text: str | bytes = GOOD, files: Files | None = None) -> Report:
    return lint_skill(at_path(str(put(world, text, files))), choice=ALL)


def findings(world: World, text: str | bytes = GOOD, files: Files | None = None) -> tuple[Finding, ...]:
    return report(world, text, files).findings


def rules(world: World, text: str | bytes = GOOD, files: Files | None = None) -> list[str]:
    """The numbers of the rules that are broken, in order of the findings."""
    return [finding.rule.id for finding in findings(world, text, files)]


def places(found: tuple[Finding, ...], rule: str) -> list[tuple[str, int]]:
    return [(finding.file, finding.line) for finding in found if finding.rule.id == rule]


def front(*lines: str) -> str:
    """A SKILL.md with these lines of frontmatter and a good body."""
    return "\n".join(["---", *lines, "---", "# PDF", ""])


def fixed(world: World, text: str | bytes, files: Files | None = None) -> tuple[Report, bytes]:
    """What `fix` says, and what SKILL.md holds then."""
    folder = put(world, text, files)
    return fix_skill(at_path(str(folder)), choice=ALL), (folder / "SKILL.md").read_bytes()
