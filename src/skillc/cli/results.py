"""Show the result of an operation: its lines to people, its fields as JSON."""

from __future__ import annotations

from skillc.cli import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skillc.cli.syntax import Arguments


def show_result(
    arguments: Arguments, result: object, lines: Callable[[], Iterable[str]], style: str = "paint_report"
) -> int:
    """Print a result as `show` does; what `skillc.contract` makes of it is its JSON."""

    def value() -> object:
        from skillc.contract import encode  # dataclasses are not needed for help

        return encode(result)

    return show(arguments, value, lines, style)
