"""`skc diagnose`: what was repaired, quarantined, shadowed or hidden in the repositories."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Arguments, Command
from skillc.text import one_line

COMMAND = Command("diagnose", options=(FORMAT,), examples=("skc diagnose", "skc diagnose --format json"))


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    diagnostics = here.wait(here.engine().diagnostics(), warnings=False)
    fields = ("source_name", "path", "code", "severity", "message")
    lines = [f"{d.severity}[{d.code}]: {d.source_name}: {d.path}: {d.message}" for d in diagnostics]
    value = {"diagnostics": [{field: getattr(d, field) for field in fields} for d in diagnostics]}
    errors = sum(d.severity == "error" for d in diagnostics)
    total = f"{errors} errors, {len(lines) - errors} warnings" if lines else "Nothing to report."
    return show(arguments, lambda: value, lambda: map(one_line, [*lines, total]))
