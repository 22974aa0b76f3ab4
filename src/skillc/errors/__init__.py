"""Diagnostics and errors: every warning and every error, once.

An error ends the command; a `Diagnostic` is a remark, and the work goes on. Error classes are in
`errors.tree`, which is loaded on first use: defining forty classes takes as long as a search. Import them
all from here.
"""

from __future__ import annotations

from skillc.text import one_line

TYPE_CHECKING = False  # typing itself costs as much to import as a whole command
if TYPE_CHECKING:
    from skillc.errors.extras import import_error as import_error, require_extra as require_extra
    from skillc.errors.tree import *
else:

    def __getattr__(name: str) -> object:
        if name.startswith("_"):  # Python asks every module for some of these
            raise AttributeError(name)
        if name in ("import_error", "require_extra"):
            from skillc.errors.extras import __dict__ as names
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


# Codes below W100 are about reading a skill, and each says what was repaired (D4).
WARNINGS = {
    "W001": "multiple matches for '{}'; showing first",
    "W002": "logging disabled; run 'skc sync' after session to merge logs",
    "W003": "stale local logs for '{}'; run 'skc sync' to upload",
    "W004": "the sources of '{}' changed since it was built; run 'skc build {}' to search them",
    "W005": "skipped: {} ({})",
    "W006": "the log '{}' is not used: {}; delete it, and it is made anew",
    "W007": "'{}' was there and is now in the trash; 'skc restore {}' brings it back",
    "W008": "the stub has no room for the frontmatter's field '{}'; agents do not see it",
    "W009": "'{}' is deployed as '{}', but its source is gone: '{}'; build it again or remove it",
    "W010": "bytes that are not UTF-8 were replaced",
    "W011": "frontmatter is not valid YAML ({}); read as plain text: {}",
    "W012": "frontmatter is not closed by a line of its own; {}",
    "W013": "frontmatter sets '{}' more than once; the last one counts",
    "W014": "no usable name in the frontmatter; the directory's name is used",
    "W015": "'{}' is not text; read as plain text",
    "W016": "frontmatter is over {} KiB and was not read",
    "W017": "frontmatter is not a mapping of keys to values",
    "W018": "frontmatter does not start on the first line",
    "W019": "line {} is in the frontmatter, belongs to no key and was left out",
    "W020": "over {} MiB; it can be opened but not searched",
    "W021": "name '{}' is unlike the directory, '{}'",
    "W022": "skill '{}' is shadowed by the repository '{}'",
    "W023": "hidden: it needs the capability '{}', which neither skills.toml nor the agent names",
    "W030": "copied to '{}': {}",
    "W060": "unknown frontmatter field '{}' is ignored",
    "W061": "tool '{}' has no '#### Parameters'; it takes none",
    "W062": "description is over {} characters and was cut",
    "W063": "version '{}' is not a semantic version, such as 1.0.0",
    "W064": "default '{}' of parameter '{}' of tool '{}' is not of type {} and does not count",
    "W065": "'### {}' has a '#### Command' without a fenced block and is no tool",
    "W066": "tool '{}': '{}' is an argument like any other; commands run without a shell",
    "W067": "'{}' is damaged: every tool asks again, also with --yes; your next decision keeps it as '{}'",
    "W071": "configuration: {}: {}",
    "W072": "skills are switched off in {}",
    "W073": "'{}' belongs to another user and is not used; if you trust it, set SKILLC_SAFE_DIRECTORIES={}",
    "W200": "repository '{}' is left out: {}",
    "W201": "repository '{}' could not be refreshed, so its last state is used: {}",
    "W202": "skills are not re-ranked: {}; reinstall 'skillc[rerank]', or uninstall it",
    "W203": "repository '{}' is served in part: {}; the next call goes on from there",
    "W300": "{} {}: {}",
}


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
    return Diagnostic(code, WARNINGS[code].format(*fields))
