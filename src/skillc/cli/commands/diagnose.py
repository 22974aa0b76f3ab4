"""`skc diagnose`: what was repaired, quarantined or shadowed in the repositories."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Arguments, Command
from skillc.engine import DefaultSkillEngine
from skillc.errors import RepositoryUnavailable, warning
from skillc.library import SourceDiagnostic, snapshot_of
from skillc.text import one_line

COMMAND = Command("diagnose", options=(FORMAT,), examples=("skc diagnose", "skc diagnose --format json"))


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    diagnostics = here.wait(_collect(here.engine()), warnings=False)
    fields = ("source_name", "path", "code", "severity", "message")
    lines = [f"{d.severity}[{d.code}]: {d.source_name}: {d.path}: {d.message}" for d in diagnostics]
    value = {"diagnostics": [{field: getattr(d, field) for field in fields} for d in diagnostics]}
    errors = sum(d.severity == "error" for d in diagnostics)
    total = f"{errors} errors, {len(lines) - errors} warnings" if lines else "Nothing to report."
    return show(arguments, lambda: value, lambda: map(one_line, [*lines, total]))


async def _collect(engine: DefaultSkillEngine) -> list[SourceDiagnostic]:
    """Return what the repositories say of their skills, and which skills are hidden."""
    source = snapshot_of(engine.source)
    diagnostics = await source.diagnostics()
    try:
        skills = await DefaultSkillEngine(source, engine.options).hidden_skills()
    except RepositoryUnavailable:  # none answers, as the diagnostics say
        return diagnostics
    for skill, need in skills:
        hidden = warning("W023", skill.id, need)
        diagnostics.append(
            SourceDiagnostic(skill.id, hidden.code, "warning", hidden.message, skill.source_name)
        )
    return diagnostics
