"""Diagnostics and errors: every warning and every error, once.

An error ends the command; a `Diagnostic` is a remark, and the work goes on. Error classes are in
`errors.tree`, which is loaded on first use: defining forty classes takes as long as a search. So is
`errors.diagnostic`. Import them all from here.
"""

from __future__ import annotations

from skillc.text import one_line

TYPE_CHECKING = False  # typing itself costs as much to import as a whole command
if TYPE_CHECKING:
    from skillc.errors.diagnostic import Diagnostic as Diagnostic, warning as warning
    from skillc.errors.extras import (
        import_error as import_error,
        install_command as install_command,
        is_foreign as is_foreign,
        require_extra as require_extra,
        required_libraries as required_libraries,
    )
    from skillc.errors.tree import *
    from skillc.errors.warnings import WARNINGS as WARNINGS
else:

    def __getattr__(name: str) -> object:
        if name.startswith("_"):  # Python asks every module for some of these
            raise AttributeError(name)
        if name in ("import_error", "install_command", "is_foreign", "require_extra", "required_libraries"):
            from skillc.errors.extras import __dict__ as names
        elif name in ("Diagnostic", "warning"):
            from skillc.errors.diagnostic import __dict__ as names
        elif name == "WARNINGS":
            from skillc.errors.warnings import __dict__ as names
        else:
            from skillc.errors.tree import __dict__ as names
        if name not in names:
            raise AttributeError(name)
        return names[name]


class SkillcError(Exception):
    """An error with a code. `details` are further lines for people, below the line with the code.

    `template` is the message, with `{}` for each argument. `diagnostics` are to be shown before the error.
    """

    code = "E999"
    template = "{}"
    diagnostics: tuple[Diagnostic, ...] = ()

    def __init__(self, message: str, details: str = "", *more: str) -> None:
        self.message = self.template.format(message, *more)
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
