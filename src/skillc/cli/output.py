"""Print results on stdout and diagnostics on stderr."""

from __future__ import annotations

import sys

from skillc import cli
from skillc.text import terminal_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillc.cli.syntax import Arguments
    from skillc.errors import Diagnostic, SkillcError


def print_json(value: object) -> None:
    """Print a result as JSON, the stable form."""
    import json

    cli.has_printed_json = True

    # Characters that the terminal's encoding lacks must be JSON's escapes, not Python's.
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not unicode, indent=2, default=_encode)
    if sys.stdout.isatty() and terminal_text(text) != text:
        text = json.dumps(value, indent=2, default=_encode)  # the same for what a terminal would act on
    print(text)


def _encode(value: object) -> object:
    """Return the JSON value of a result within what is printed."""
    from skillc.contract import encode  # imports dataclasses, which reading commands do without

    return encode(value)


def announce(arguments: Arguments, text: str, **fields: str) -> None:
    """Say what a server that goes on has to say, at once: a line, or with `--format json` an object."""
    if arguments.as_json:
        import json

        text = json.dumps(fields)
    print(text, flush=True)


def warn(diagnostics: Iterable[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        print(diagnostic.line(), file=sys.stderr)


def report_all(diagnostics: Iterable[Diagnostic], failures: Iterable[SkillcError] = ()) -> None:
    """Print warnings, and the errors of parts that failed while the rest went on."""
    warn(diagnostics)
    for failure in failures:
        warn(failure.diagnostics)
        print(failure.text(), file=sys.stderr)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table for people; a cell stays on its line whatever it holds.

    On a terminal, numbers stand on the right, and cells are cut so that a line is no wider than it; an ID,
    which people type elsewhere, is cut last.
    """
    # Here, because JSON, which agents read, has no tables.
    from skillc.cli.style import STRONG, columns, fit_cells, paint
    from skillc.tables import align, clean_cells, measure

    cells = clean_cells(header, rows)
    if room := columns():
        cells = fit_cells(cells, room)
    lines = align(cells, measure(cells))
    yield paint(next(lines), STRONG)
    yield from lines
