"""Every diagnostic, once: what can go wrong, its code and its words.

    SkillcError                 E999  anything unexpected
    ├── SkillNotFound           E001
    ├── IndexUnusable           E002
    ├── IndexCollision          E003
    ├── EmptyQuery              E004
    ├── InvalidSkill            E010
    ├── MissingField            E011
    ├── PathEscapes             E012
    ├── TargetExists            E013
    ├── SectionNotFound         E020
    ├── FileNotFound            E021
    ├── DirectoryNotFound       E022
    ├── InvalidQueryType        E030
    ├── InvalidFilter           E031
    ├── NoLocalLogs             E040
    ├── SyncNotWritable         E041
    ├── SyncNotReadable         E042
    ├── SkillExists             E050
    ├── InvalidTool             E060
    ├── ToolNotFound            E061
    ├── InvalidParameter        E062
    ├── ApprovalRequired        E063
    ├── CannotRun               E064
    ├── TimedOut                E065
    ├── SandboxUnavailable      E066
    ├── InvalidSkillId          E070
    ├── InvalidConfiguration    E071
    ├── InvalidOption           E100
    ├── RepositoryUnavailable   E200
    ├── MissingExtra            E201
    └── LintFailed              E300

An error ends the command that met it; a `Diagnostic` is something noticed on
the way, and the work goes on.

>>> error = SkillNotFound("pdf")
>>> error.line()
"error[E001]: skill 'pdf' not found"
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself costs as much to import as a whole command
if TYPE_CHECKING:
    from collections.abc import Iterable


def one_line(text: str) -> str:
    r"""`text` with everything that is not printable made visible, so that it stays one line.

    >>> print(one_line("a\nb\x1b[31m"))
    a\nb\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in _SPACES else c.encode("unicode_escape").decode() for c in text
    )


# Spaces of every width, and what joins and parts letters and emoji: part of the words, and harmless.
_SPACES = (
    "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
    "\u200c\u200d"
)


class SkillcError(Exception):
    """An error with a code. `details` are further lines for people, below the coded one.

    `diagnostics` are what was noticed on the way to it, to be told before it.
    """

    code = "E999"
    diagnostics: tuple[Diagnostic, ...] = ()

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """So that it survives the way to another process: constructors take other arguments."""
        return _again, (type(self), self.__dict__)

    def line(self) -> str:
        return f"error[{self.code}]: {one_line(self.message)}"

    def text(self) -> str:
        return f"{self.line()}\n{self.details}" if self.details else self.line()


def _again(kind: type[SkillcError], fields: dict[str, object]) -> SkillcError:
    error = kind.__new__(kind, fields["message"])
    error.__dict__.update(fields)
    return error


class SkillNotFound(SkillcError):
    """`reason` is why a skill that exists is not there for whoever asks; `nearest` are names like it."""

    code = "E001"

    def __init__(self, skill: str, reason: str = "", nearest: Iterable[str] = ()) -> None:
        super().__init__(f"skill '{skill}' not found{f': {reason}' if reason else ''}")
        self.skill = skill
        self.reason = reason
        self.nearest = tuple(nearest)
        if self.nearest:
            names = " or ".join([f"'{one_line(name)}'" for name in self.nearest])
            self.details = f"hint: did you mean {names}?"
        elif not reason:
            self.details = (
                "hint: 'skc list' and 'skc browse' show what there is, 'skc find \"<task>\"' what fits a task"
            )


class IndexUnusable(SkillcError):
    code = "E002"

    def __init__(self, skill: str) -> None:
        super().__init__(f"search index unusable; run 'skc build {skill}' to rebuild")


class IndexCollision(SkillcError):
    code = "E003"

    def __init__(self, hash16: str) -> None:
        super().__init__(f"index hash collision; delete .skillc-meta/search-{hash16}.db and rebuild")


class EmptyQuery(SkillcError):
    code = "E004"

    def __init__(self) -> None:
        super().__init__("empty query")


class InvalidSkill(SkillcError):
    code = "E010"

    def __init__(self, path: str, reason: str = "missing SKILL.md") -> None:
        super().__init__(f"not a valid skill: '{path}' ({reason})")


class MissingField(SkillcError):
    code = "E011"

    def __init__(self, field: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(f"missing frontmatter field '{field}' in SKILL.md")
        self.field = field
        self.diagnostics = diagnostics


class PathEscapes(SkillcError):
    code = "E012"

    def __init__(self, path: str) -> None:
        super().__init__(f"path escapes skill root: '{path}'")


class TargetExists(SkillcError):
    code = "E013"

    def __init__(self, path: str) -> None:
        super().__init__(f"deploy target exists and is not a link: '{path}' (use --force to replace it)")


class SectionNotFound(SkillcError):
    code = "E020"

    def __init__(self, section: str, suggestions: Iterable[tuple[str, str]] = ()) -> None:
        found = [f"  - {one_line(heading)} ({one_line(file)})" for heading, file in suggestions]
        details = "\n".join(["", "Did you mean one of these?", *found]) if found else ""
        super().__init__(f"section not found: '{section}'", details)


class FileNotFound(SkillcError):
    code = "E021"

    def __init__(self, path: str) -> None:
        super().__init__(f"file not found: '{path}'")


class DirectoryNotFound(SkillcError):
    code = "E022"

    def __init__(self, path: str) -> None:
        super().__init__(f"directory not found: '{path}'")


class InvalidQueryType(SkillcError):
    code = "E030"

    def __init__(self, kind: str) -> None:
        super().__init__(f"invalid query type: '{kind}'")


class InvalidFilter(SkillcError):
    code = "E031"

    def __init__(self, message: str) -> None:
        super().__init__(f"invalid filter: '{message}'")


class NoLocalLogs(SkillcError):
    code = "E040"

    def __init__(self) -> None:
        super().__init__("no local logs found")


class SyncNotWritable(SkillcError):
    code = "E041"

    def __init__(self, path: str) -> None:
        super().__init__(f"sync destination not writable: '{path}'")


class SyncNotReadable(SkillcError):
    code = "E042"

    def __init__(self, path: str) -> None:
        super().__init__(f"sync source not readable: '{path}'")


class SkillExists(SkillcError):
    code = "E050"

    def __init__(self, skill: str, details: str = "") -> None:
        super().__init__(f"skill '{skill}' already exists", details)


class InvalidTool(SkillcError):
    code = "E060"

    def __init__(self, skill: str, message: str) -> None:
        super().__init__(f"invalid tool definition in '{skill}': {message}")
        self.reason = message


class ToolNotFound(SkillcError):
    """`reason` says what there is instead, or why one that exists is not there now."""

    code = "E061"

    def __init__(self, tool: str, skill: str, reason: str = "") -> None:
        super().__init__(f"tool '{tool}' not found in '{skill}'{f': {reason}' if reason else ''}")


class InvalidParameter(SkillcError):
    code = "E062"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"invalid parameter '{name}': {message}")


class ApprovalRequired(SkillcError):
    code = "E063"

    def __init__(self, skill: str, details: str = "") -> None:
        super().__init__(f"approval required for '{skill}'; run 'skc trust allow {skill}'", details)


class CannotRun(SkillcError):
    code = "E064"

    def __init__(self, program: str, message: str) -> None:
        super().__init__(f"cannot run '{program}': {message}")


class TimedOut(SkillcError):
    code = "E065"

    def __init__(self, seconds: float, what: str = "timed out") -> None:
        super().__init__(f"{what} after {seconds:g} s")


class SandboxUnavailable(SkillcError):
    code = "E066"

    def __init__(self, message: str) -> None:
        super().__init__(f"sandbox unavailable: {message}")


class InvalidSkillId(SkillcError):
    code = "E070"

    def __init__(self, skill_id: str, details: str = "") -> None:
        shown = skill_id if len(skill_id) <= 200 else f"{skill_id[:200]}…"
        super().__init__(f"invalid skill id: '{shown}'", details)


class InvalidConfiguration(SkillcError):
    code = "E071"

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"invalid configuration: {file}: {message}")


class InvalidOption(SkillcError):
    code = "E100"

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(f"invalid option: '{message}'", details)


class RepositoryUnavailable(SkillcError):
    code = "E200"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"repository '{name}' unavailable: {message}")
        self.reason = message


class MissingExtra(SkillcError):
    code = "E201"

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need}: pip install 'skillc[{extra}]'")


class LintFailed(SkillcError):
    code = "E300"

    def __init__(self, rule: str, name: str, message: str) -> None:
        super().__init__(f"{rule} {name}: {message}")


def unexpected(error: BaseException) -> SkillcError:
    """Any other exception as one coded line; what the system refused names its file."""
    if isinstance(error, SkillcError):
        return error
    if isinstance(error, OSError) and error.strerror:
        what = f"'{os_text(error.filename)}': " if error.filename is not None else ""
        return SkillcError(f"{what}{error.strerror}")
    if isinstance(error, MemoryError):
        return SkillcError("out of memory")
    return SkillcError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def os_text(name: object) -> str:
    """A file name as the system gave it (text, bytes or a descriptor), as text."""
    return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)


# Warnings that have a code. Codes below W100 are about reading a skill, and each
# says what was repaired (D4); the rest are companion.md's.
WARNINGS = {
    "W001": "skipped: {} ({})",
    "W002": "logging disabled; run 'skc sync' after session to merge logs",
    "W003": "stale local logs for '{}'; run 'skc sync' to upload",
    "W004": "the sources of '{}' changed since it was built; run 'skc build {}' to search them",
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
    "W030": "copied to '{}': {}",
    "W060": "unknown frontmatter field '{}' is ignored",
    "W061": "tool '{}' has no '#### Parameters'; it takes none",
    "W062": "description is over {} characters and was cut",
    "W063": "version '{}' is not a semantic version, such as 1.0.0",
    "W064": "default '{}' of parameter '{}' of tool '{}' is not of type {} and does not count",
    "W065": "'### {}' has a '#### Command' without a fenced block and is no tool",
    "W066": "tool '{}': '{}' is an argument like any other; commands run without a shell",
    "W071": "configuration: {}: {}",
    "W200": "repository '{}' is left out: {}",
    "W201": "repository '{}' is served as it was: {}",
    "W300": "{} {}: {}",
}


class Diagnostic:
    """Something noticed on the way: a code, what it says, and the file it is about.

    >>> notice("W010").at("SKILL.md").line()
    'warning[W010]: SKILL.md: bytes that are not UTF-8 were replaced'
    """

    __slots__ = ("code", "message", "path")

    def __init__(self, code: str, message: str, path: str = "") -> None:
        self.code = code
        self.message = message
        self.path = path

    def at(self, path: str) -> Diagnostic:
        """The same, about the file at `path`."""
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


def notice(code: str, *fields: object) -> Diagnostic:
    """A warning of WARNINGS with its blanks filled in."""
    return Diagnostic(code, WARNINGS[code].format(*fields))
