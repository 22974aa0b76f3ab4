"""Diagnostics and errors: every warning and every error, once.

An error ends the command; a `Diagnostic` is a remark, and the work goes on. Error classes are in
`errors.tree`, which is loaded on first use: defining forty classes takes as long as a search. Import them
all from here.
"""

from __future__ import annotations

from skillc.text import one_line

TYPE_CHECKING = False  # typing itself costs as much to import as a whole command
if TYPE_CHECKING:
    from skillc.errors.extras import (
        NEEDS as NEEDS,
        import_error as import_error,
        require_extra as require_extra,
    )
    from skillc.errors.tree import *
    from skillc.errors.warnings import WARNINGS as WARNINGS
else:

    def __getattr__(name: str) -> object:
        if name.startswith("_"):  # Python asks every module for some of these
            raise AttributeError(name)
        if name in ("NEEDS", "import_error", "require_extra"):
            from skillc.errors.extras import __dict__ as names
        elif name == "WARNINGS":
            from skillc.errors.warnings import __dict__ as names
        else:
            from skillc.errors.tree import __dict__ as names
        if name not in names:
            raise AttributeError(name)
        return names[name]


class SkillcError(Exception):
    """An error with a code. `details` are further lines for people, below the line with the code.

    `template` is the message, with `{}` for the argument. `diagnostics` are to be shown before the error.
    """

    code = "E999"
    template = "{}"
    diagnostics: tuple[Diagnostic, ...] = ()

    def __init__(self, message: str, details: str = "") -> None:
        self.message = self.template.format(message)
        self.details = details
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Let `pickle` restore the fields: the constructors of subclasses take other arguments."""
        return _restore, (type(self), self.__dict__)

    def line(self) -> str:
        return f"error[{self.code}]: {one_line(self.message)}"

    def text(self) -> str:
        return f"{self.line()}\n{self.details}" if self.details else self.line()

    def as_json(self) -> dict[str, object]:
        """Return the error as `--format json` prints it [D62]."""
        hint = self.details.removeprefix("hint: ") or None
        return {"error": {"code": self.code, "message": self.message, "hint": hint}}


def _restore(kind: type[SkillcError], fields: dict[str, object]) -> SkillcError:
    error = kind.__new__(kind, fields["message"])
    error.__dict__.update(fields)
    return error


def unexpected(error: BaseException) -> SkillcError:
    """Return any exception as a SkillcError; for an OSError the message names the file."""
    if isinstance(error, SkillcError):
        return error
    if isinstance(error, OSError) and error.strerror:
        what = f"'{os_text(error.filename)}': " if error.filename is not None else ""
        return SkillcError(f"{what}{error.strerror}")
    if isinstance(error, MemoryError):
        return SkillcError("out of memory")
    return SkillcError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def os_text(name: object) -> str:
    """Return the file name of an OSError, which may be bytes or a descriptor, as text."""
    return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)


class Diagnostic:
    """A warning or an error as a value: its code, its message, and the file it is about.

    >>> warning("W010").at("SKILL.md").line()
    'warning[W010]: SKILL.md: bytes that are not UTF-8 were replaced'
    """

    __slots__ = ("code", "message", "path")

    def __init__(self, code: str, message: str, path: str = "") -> None:
        self.code = code
        self.message = message
        self.path = path

    def at(self, path: str) -> Diagnostic:
        """Return the same diagnostic, about the file at `path`."""
        return Diagnostic(self.code, self.message, path)

    @property
    def severity(self) -> str:
        return "error" if self.code.startswith("E") else "warning"

    def line(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{self.severity}[{self.code}]: {one_line(where + self.message)}"

    def __repr__(self) -> str:
        return f"<Diagnostic {self.line()}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diagnostic) and self.line() == other.line()

    def __hash__(self) -> int:
        return hash(self.line())


def warning(code: str, *fields: object) -> Diagnostic:
    """Return a warning of WARNINGS with these values for its `{}`."""
    from skillc.errors.warnings import WARNINGS  # most commands have none

    return Diagnostic(code, WARNINGS[code].format(*fields))
