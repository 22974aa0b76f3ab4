"""`skc diagnose`: what was repaired, quarantined, shadowed or hidden in the repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.library import SourceDiagnostic
from skillc.text import one_line

COMMAND = Command(
    "diagnose",
    options=(
        Option("--repository", "Only of this repository.", value="<name>", completes="repositories"),
        Option(
            "--code",
            "Only with this code, such as W011. Can be repeated.",
            value="<code>",
            repeat=True,
            completes="codes",
        ),
        Option("--errors", "Only errors: skills that can't be used."),
        FORMAT,
    ),
    description="Ends with how many there are of each code, and what to do.",
    examples=("skc diagnose", "skc diagnose --repository team --errors", "skc diagnose --code W022"),
)
FIELDS = ("source_name", "path", "code", "severity", "message")


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    diagnostics = here.wait(here.engine().diagnostics(), warnings=False)
    repository, codes = arguments.optional("repository"), [c.upper() for c in arguments.texts("code")]
    diagnostics = [
        diagnostic
        for diagnostic in diagnostics
        if (repository is None or diagnostic.source_name == repository)
        and (not codes or diagnostic.code in codes)
        and (not arguments.has("errors") or diagnostic.severity == "error")
    ]
    value = {"diagnostics": [{field: getattr(d, field) for field in FIELDS} for d in diagnostics]}
    return show(arguments, lambda: value, lambda: map(one_line, _lines(diagnostics)))


def _lines(diagnostics: Sequence[SourceDiagnostic]) -> Iterator[str]:
    for d in diagnostics:
        yield f"{d.severity}[{d.code}]: {d.source_name}: {d.path}: {d.message}"
    if not diagnostics:
        yield "Nothing to report."
        return
    counts = Counter(diagnostic.code for diagnostic in diagnostics)
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    listing = ", ".join(f"{code} {count:,}" for code, count in counts.most_common())
    yield f"{errors:,} errors, {len(diagnostics) - errors:,} warnings: {listing}"
    if any(code.startswith(("E01", "W01", "W021")) for code in counts):
        yield "To mend skills: skc lint <path> says what is wrong, and --fix repairs what is safe."
    if "W022" in counts:
        yield "Shadowed skills (W022) are in two repositories: rename or remove one, or leave it so."
