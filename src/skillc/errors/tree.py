"""The tree of errors, each with its code and its message. Import them from `skillc.errors`.

    SkillcError                     E999  any other error
    ├── NotFound
    │   ├── SkillNotFound           E001
    │   ├── SectionNotFound         E020
    │   ├── FileNotFound            E021
    │   ├── DirectoryNotFound       E022
    │   ├── NoLocalLogs             E040
    │   ├── NotInTrash              E051
    │   ├── ToolNotFound            E061
    │   ├── OriginNotFound          E080
    │   └── EntryNotFound           E093
    ├── Invalid
    │   ├── EmptyQuery              E004
    │   ├── InvalidSkill            E010
    │   ├── MissingField            E011
    │   │   └── DescriptionToDo
    │   ├── InvalidQueryType        E030
    │   ├── InvalidFilter           E031
    │   ├── InvalidTool             E060
    │   ├── InvalidParameter        E062
    │   │   └── VersionTooLarge
    │   ├── InvalidSkillId          E070
    │   ├── InvalidConfiguration    E071
    │   ├── ArchiveRefused          E083
    │   ├── InvalidOption           E100
    │   ├── CasesUnreadable         E110
    │   └── LintFailed              E300
    ├── Unavailable
    │   ├── IndexUnusable           E002
    │   │   └── NotBuilt
    │   ├── SyncNotWritable         E041
    │   ├── SyncNotReadable         E042
    │   ├── CannotRun               E064
    │   ├── TimedOut                E065
    │   ├── SandboxUnavailable      E066
    │   ├── LockUnsatisfied         E081
    │   │   └── WrongDigest
    │   ├── RegistryUnavailable     E092
    │   │   └── IssuerUnavailable
    │   ├── AgentUnusable           E111
    │   ├── RepositoryUnavailable   E200
    │   └── MissingExtra            E201
    ├── Denied
    │   ├── PathEscapes             E012
    │   │   └── ProjectFolderEscapes
    │   ├── ApprovalRequired        E063
    │   ├── AuditBlocked            E084
    │   ├── SignatureBroken         E085
    │   ├── SignerRefused           E086
    │   └── RegistryRefused         E090
    │       └── SignInRequired
    └── Conflict
        ├── IndexCollision          E003
        ├── TargetExists            E013
        ├── SkillExists             E050
        │   └── SkillReserved
        ├── PlaceTaken              E052
        ├── MergeConflict           E082
        └── VersionExists           E091
            └── StaleVersion

>>> error = SkillNotFound("pdf")
>>> error.line()
"error[E001]: skill 'pdf' not found"
"""

from __future__ import annotations

from skillc.errors import SkillcError
from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillc.errors import Diagnostic

    _Base = SkillcError
else:
    _Base = object  # so that the tree has no other branches


class _WithReason(_Base):
    """An error about something, which its template names before the reason."""

    def __init__(self, subject: str, reason: str, details: str = "") -> None:
        super().__init__(subject, details, reason)
        self.reason = reason


class NotFound(SkillcError):
    """Something does not exist, or not for this caller."""


class Invalid(SkillcError):
    """The input breaks a rule."""


class Unavailable(SkillcError):
    """Something that the operation needs does not work now."""


class Denied(SkillcError):
    """The operation is not allowed."""


class Conflict(SkillcError):
    """Something else is already there."""


class SkillNotFound(NotFound):
    """`reason` says why the caller can't have a skill that exists; `nearest` are names like it."""

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


class IndexUnusable(Unavailable):
    code = "E002"
    template = "search index unusable; run 'skc build {}' to rebuild"


class NotBuilt(IndexUnusable):
    """A skill without any index. Commands that can do without one read the skill instead."""


class IndexCollision(Conflict):
    code = "E003"
    template = "index hash collision; delete .skillc-meta/search-{}.db and rebuild"


class EmptyQuery(Invalid):
    code = "E004"

    def __init__(self) -> None:
        super().__init__("empty query")


class InvalidSkill(Invalid):
    code = "E010"

    def __init__(self, path: str, reason: str = "") -> None:
        super().__init__(f"not a valid skill: '{path}' ({reason or 'missing SKILL.md'})")


class MissingField(Invalid):
    code = "E011"
    template = "missing frontmatter field '{}' in SKILL.md"

    def __init__(self, field: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(field)
        self.field = field
        self.diagnostics = diagnostics


class DescriptionToDo(MissingField):
    """The description is still that of the template of `skc init`."""

    template = "the {} in SKILL.md is still a TODO; say what the skill does, and when to use it"


class PathEscapes(Denied):
    code = "E012"
    template = "path escapes skill root: '{}'"


class ProjectFolderEscapes(PathEscapes):
    """A project's store or folder for an agent is, or lies behind, a link out of the project [D63]."""

    template = "'{}' leads out of the project"


class TargetExists(Conflict):
    code = "E013"
    template = "deploy target exists and is not a link: '{}' (use --force to replace it)"


class SectionNotFound(NotFound):
    code = "E020"

    def __init__(self, section: str, suggestions: Iterable[tuple[str, str]] = ()) -> None:
        lines = [f"  - {one_line(heading)} ({one_line(file)})" for heading, file in suggestions]
        details = "\n".join(["", "Did you mean one of these?", *lines]) if lines else ""
        super().__init__(f"section not found: '{section}'", details)


class FileNotFound(NotFound):
    code = "E021"
    template = "file not found: '{}'"


class DirectoryNotFound(NotFound):
    code = "E022"
    template = "directory not found: '{}'"


class InvalidQueryType(Invalid):
    code = "E030"
    template = "invalid query type: '{}'"


class InvalidFilter(Invalid):
    code = "E031"
    template = "invalid filter: '{}'"


class NoLocalLogs(NotFound):
    code = "E040"

    def __init__(self) -> None:
        super().__init__("no local logs found")


class SyncNotWritable(Unavailable):
    code = "E041"
    template = "sync destination not writable: '{}'"


class SyncNotReadable(Unavailable):
    code = "E042"
    template = "sync source not readable: '{}'"


class SkillExists(Conflict):
    code = "E050"
    template = "skill '{}' already exists"


class SkillReserved(SkillExists):
    """The skill was deleted from a registry, and its ID is kept for a while."""

    template = "{}"

    def __init__(self, skill: str, until: str) -> None:
        message = f"skill '{skill}' was deleted, and its ID is reserved until {until}"
        super().__init__(message, "hint: a maintainer can restore it")


class NotInTrash(NotFound):
    code = "E051"
    template = "not in the trash: '{}'; 'skc trash list' shows what is"


class PlaceTaken(Conflict):
    code = "E052"
    template = "something else is at '{}' now"


class InvalidTool(_WithReason, Invalid):
    code = "E060"
    template = "invalid tool definition in '{}': {}"


class ToolNotFound(NotFound):
    """`reason` names the tools that exist, or says why this one can't be used."""

    code = "E061"

    def __init__(self, tool: str, skill: str, reason: str = "") -> None:
        super().__init__(f"tool '{tool}' not found in '{skill}'{f': {reason}' if reason else ''}")


class InvalidParameter(_WithReason, Invalid):
    code = "E062"
    template = "invalid parameter '{}': {}"


class VersionTooLarge(InvalidParameter):
    """A semantic version with a number that programs can't be trusted to hold [D74]."""

    def __init__(self, version: str) -> None:
        super().__init__("version", f"'{version}' has a number of more than nine digits; take a smaller one")


class ApprovalRequired(Denied):
    code = "E063"
    template = "approval required for '{0}'; run 'skc trust allow {0}'"


class CannotRun(_WithReason, Unavailable):
    code = "E064"
    template = "cannot run '{}': {}"


class TimedOut(Unavailable):
    code = "E065"

    def __init__(self, seconds: float, what: str = "timed out") -> None:
        super().__init__(f"{what} after {seconds:g} s")


class SandboxUnavailable(Unavailable):
    code = "E066"
    template = "sandbox unavailable: {}"


class InvalidSkillId(Invalid):
    code = "E070"

    def __init__(self, skill_id: str, details: str = "") -> None:
        text = skill_id if len(skill_id) <= 200 else f"{skill_id[:200]}…"
        super().__init__(f"invalid skill id: '{text}'", details)


class InvalidConfiguration(_WithReason, Invalid):
    code = "E071"
    template = "invalid configuration: {}: {}"


class OriginNotFound(_WithReason, NotFound):
    """An origin, as given to `skc add`, that does not exist or can't be read."""

    code = "E080"
    template = "can't get skills from '{}': {}"


class LockUnsatisfied(_WithReason, Unavailable):
    code = "E081"
    template = "skills-lock.json can't be satisfied for '{}': {}"

    def __init__(self, skill: str, reason: str, details: str = "") -> None:
        super().__init__(skill, reason, details)
        self.skill = skill


class WrongDigest(LockUnsatisfied):
    """A file that a site or a registry gave is not the one that its index names."""

    def __init__(self, skill: str, file: str, digest: str, actual: str) -> None:
        reason = f"its digest is {actual}, not {digest}"
        super().__init__(skill, reason, "hint: it changed on the way, or after the index was written")
        self.message = f"'{file}' of the skill '{skill}' is not what was asked for: {reason}"
        self.args = (self.message,)


class MergeConflict(Conflict):
    """The files with conflicts hold both texts between marks; the version before the update is kept."""

    code = "E082"

    def __init__(self, skill: str, *files: str) -> None:
        names = ", ".join(f"'{name}'" for name in files)
        super().__init__(f"your edits of '{skill}' conflict with the update in {names}")
        self.files = files


class ArchiveRefused(_WithReason, Invalid):
    code = "E083"
    template = "archive refused: '{}': {}"


class AuditBlocked(_WithReason, Denied):
    code = "E084"
    template = "'{}' is blocked: {}"


class SignatureBroken(_WithReason, Denied):
    """A skill that is not as it was signed, or whose signature can't be one."""

    code = "E085"
    template = "the signature of '{}' is broken: {}"


class SignerRefused(_WithReason, Denied):
    """A skill whose signer is another one than before, or none that [trust] accepts."""

    code = "E086"
    template = "'{}' has another signer than is accepted: {}"


class RegistryRefused(Denied):
    """The caller is known, and may not do this (403)."""

    code = "E090"
    template = "the registry refused: {}"


class SignInRequired(RegistryRefused):
    """There is no token, or none that is valid (401). The message does not say which."""

    def __init__(self) -> None:
        super().__init__("it needs a valid token", "hint: 'skc login <url>' stores one")


class VersionExists(Conflict):
    code = "E091"

    def __init__(self, skill: str, version: str, details: str = "") -> None:
        super().__init__(f"'{skill}' has version {version} already", details)
        self.skill = skill
        self.version = version


class StaleVersion(VersionExists):
    """A publisher expected another version to be the latest one."""

    def __init__(self, skill: str, version: str) -> None:
        super().__init__(skill, version, "hint: look at what was published meanwhile, and publish again")


class RegistryUnavailable(_WithReason, Unavailable):
    code = "E092"
    template = "registry '{}' unavailable: {}"


class EntryNotFound(NotFound):
    """What a registry lacks, or keeps from a caller: a token, session, grant, person or trusted publisher."""

    code = "E093"


class IssuerUnavailable(RegistryUnavailable):
    """An issuer of OpenID Connect that a registry asks can't answer."""

    template = "issuer '{}' unavailable: {}"


class InvalidOption(Invalid):
    """A command line that can't be understood; the message says what to write instead."""

    code = "E100"


class CasesUnreadable(_WithReason, Invalid):
    """The cases of a skill that is to be evaluated."""

    code = "E110"
    template = "no cases of '{}' can be read: {}"


class AgentUnusable(_WithReason, Unavailable):
    """An agent that can't be run, or that does not load a skill that it is asked for outright."""

    code = "E111"
    template = "'{}' measures nothing here: {}"


class RepositoryUnavailable(_WithReason, Unavailable):
    code = "E200"
    template = "repository '{}' unavailable: {}"


class MissingExtra(Unavailable):
    """A library is missing: of an extra, or of the base install, which is to be repaired."""

    code = "E201"

    def __init__(self, need: str, extra: str = "") -> None:
        from skillc.errors.extras import install_command  # few programs need it

        super().__init__(f"{need}: {install_command(extra)}")


class LintFailed(Invalid):
    code = "E300"

    def __init__(self, rule: str, name: str, message: str) -> None:
        super().__init__(f"{rule} {name}: {message}")


for _error in [each for each in vars().values() if isinstance(each, type) and each is not object]:
    _error.__module__ = SkillcError.__module__  # what a traceback shows: where to import it from


class Question(Exception):
    """An operation needs an answer from a person first: no failure, and not logged."""
