"""Print results on stdout, and notes on stderr."""

from __future__ import annotations

import sys

from skillc import cli
from skillc.text import terminal_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillc.cli.syntax import Arguments
    from skillc.errors import Diagnostic


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
    if not hasattr(value, "__dataclass_fields__"):
        return value.as_json()  # type: ignore[attr-defined]  # of a reading command
    from skillc.contract import encode  # imports dataclasses, which reading commands do without

    return encode(value)


def announce(arguments: Arguments, text: str, **fields: str) -> None:
    """Say what a server that goes on has to say, at once: a line, or with `--format json` an object."""
    if arguments.as_json:
        import json

        text = json.dumps(fields)
    print(text, flush=True)


def announce_url(arguments: Arguments, url: str) -> None:
    """Say that a server is ready, and where."""
    announce(arguments, f"Serving on {url}", url=url)


def warn(diagnostics: Iterable[Diagnostic]) -> None:
    """Print warnings where no workspace reports them."""
    for diagnostic in diagnostics:
        print(diagnostic.line(), file=sys.stderr)


def note_new_name(old: str, new: str) -> None:
    """Say that a command has another name now."""
    print(f"note: 'skc {old}' is 'skc {new}' now", file=sys.stderr)
