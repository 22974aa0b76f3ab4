"""`skc diagnose`: the old name of `skc doctor --library`: which skills were repaired, quarantined, hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from skillc.cli import show, workspace
from skillc.cli.lines import BAD, WARNING, Line, Mark
from skillc.cli.options import check_repository
from skillc.cli.output import note_new_name
from skillc.cli.syntax import Arguments, Command
from skillc.errors import WARNINGS, InvalidOption
from skillc.library import sources
from skillc.spelling import did_you_mean
from skillc.text import count_of, one_line

FILTERS = """\
--repository <name> :repositories  Only of this repository.
--code <code>... :codes  Only with this code, such as W011. Can be repeated.
--errors  Only errors, which are skills that can't be used."""
COMMAND = Command(f"""
skc diagnose

{FILTERS}

$ skc diagnose --repository team --errors
""")
# Advice, by the first characters of a code.
ADVICE = {
    (
        "E01",
        "W01",
        "W021",
    ): "To put skills right: skc lint <path> says what is wrong, and --fix repairs what is safe.",
    ("W022",): "Shadowed skills (W022) are in two repositories: rename or remove one, or leave it so.",
    ("W023",): "Hidden skills (W023) show once 'capabilities' in skills.toml names what they need.",
    ("E200", "W20"): "Repositories that do not answer (E200): skc repo sync <name> tries again and says why.",
}
FIELDS = ("source_name", "path", "code", "severity", "message")


def run(arguments: Arguments) -> int:
    note_new_name("diagnose", "doctor --library")
    return show_findings(arguments)


def show_findings(arguments: Arguments) -> int:
    """Print what was found, how many there are of each code, and what to do."""
    here = workspace(progress=True)
    repository, codes = arguments.optional("repository"), [c.upper() for c in arguments.texts("code")]
    for code in codes:
        if code not in WARNINGS and not code.startswith("E"):
            question = did_you_mean(code, WARNINGS)
            raise InvalidOption(f"there is no code '{code}'{f'; {question}' if question else ''}")
    check_repository(here, repository or "")
    diagnostics = here.wait(here.engine().diagnostics(), warnings=False)
    total = len(diagnostics)
    diagnostics = [
        diagnostic
        for diagnostic in diagnostics
        if (repository is None or diagnostic.source_name == repository)
        and (not codes or diagnostic.code in codes)
        and (not arguments.has("errors") or diagnostic.severity == "error")
    ]
    value = {"diagnostics": [{field: getattr(d, field) for field in FIELDS} for d in diagnostics]}
    return show(arguments, value, _lines(diagnostics, total))


def _lines(diagnostics: Sequence[sources.SourceDiagnostic], total: int) -> Iterator[str]:
    for d in diagnostics:
        kind = Mark(f"{d.severity}[{d.code}]:", BAD if d.severity == "error" else WARNING)
        text = ": ".join(filter(None, (d.source_name, d.path, d.message)))
        yield Line(kind, one_line(f" {text}"), hang=2)
    if not diagnostics:
        left = f"Nothing to report here; {total:,} without the filters." if total else "Nothing to report."
        yield left
        return
    counts = Counter(diagnostic.code for diagnostic in diagnostics)
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    listing = ", ".join(f"{count:,} {code}" for code, count in counts.most_common())
    yield f"{count_of(errors, 'error')}, {count_of(len(diagnostics) - errors, 'warning')} ({listing})"
    if len(diagnostics) < total:
        yield f"{total:,} in all, without the filters"
    for starts, advice in ADVICE.items():
        if any(code.startswith(starts) for code in counts):
            yield advice
