"""The JSON that commands print: the type of each result, and what every key means, once.

An object is a frozen dataclass, as `skillc.contract` encodes it. The objects that a command puts around
results are written as `{"id": str, "line?": int}`, where `?` marks a key that may be missing, and a list as
`[str]`; so are the results of reading commands, whose classes are no dataclasses. The documentation shows
what `describe` makes of them, and a test runs all commands and compares. No command needs this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from skillc.compiler import Listing, Publication
from skillc.contract import Failure, is_optional, key_of
from skillc.doctor import Examination
from skillc.engine import ResolvedSkill, SkillResolutionFailed, SkillsResolved
from skillc.install import (
    Disablement,
    EmptiedTrash,
    InstallResult,
    LockedSkills,
    LockProblems,
    Pins,
    Removals,
    Restoration,
    Skip,
    Step,
)
from skillc.lint import Rule, Summary
from skillc.tools import DryRun, Entry, Envelope, TrustDescription
from skillc.trash import TrashItem
from skillc.usage import Stats

Shape = Any  # a type, a dictionary of shapes, or a list of one
Text = str | None
Number = int | float


def _texts(names: str) -> dict[str, Shape]:
    """Return keys that have texts."""
    return dict.fromkeys(names.split(), str)


# What rooms that have no types for it put together.
_COUNTS = dict.fromkeys(("notes", "reviews", "blocks"), int)
_ASKS = {name: [str] for name in ("hosts", "commands", "environment", "writes", "installs")}
_FINDING = {**_texts("rule name level file"), "line": int, **_texts("message fingerprint by?")}
_LATEST = {"id": str, "current": Text, "latest": Text, "commit": Text, "changed": bool, "edited": bool}
_SKILL = {
    **_texts("id name description scope"),
    "metadata": dict[str, Any],
    "requires_capabilities?": [str],
    "source_name?": str,
}
_TOKEN = {**_texts("id owner role prefix label created_at"), "expires_at": Text, "revoked_at": Text}
_PUBLISHER = _texts("id repository workflow prefix ref environment issuer")
_HEADINGS = [{"file": str, "level": int, "heading": str, "line": int}]
_TOOLS = [
    {
        **_texts("name description"),
        "parameters": dict[str, Any],
        "source": {"skill": str},
        "modes": [str],
        **dict.fromkeys(("read_only", "always_ask", "network"), bool),
        "timeout": Number,
    }
]
_RELEASE = {**_texts("id version digest"), "uploaded": int, "published": bool, "registry": str}
_MCP_CLIENT = {**_texts("agent path"), "changed": bool, "written": bool, "difference": str}
_VARIABLE = _texts("project variable host")
_REPOSITORY = _texts("name type status")
_ADDITION = {
    **_texts("id source"),
    **dict.fromkeys(("ref", "commit", "version"), Text),
    "digest": str,
    **dict.fromkeys(("files", "size", "tokens"), int),
    "audit": _COUNTS,
    "targets": [str],
    "path?": str,
}
_AUDIT = {
    "id": str,
    "path": str,
    "asks": _ASKS,
    "digest": str,
    **_COUNTS,
    "allowed": int,
    "findings": [_FINDING],
}
_FOUND = {
    **_texts("id name description"),
    "score": Number,
    "source_name": str,
    "also": [_texts("source_name id")],
    "copies": [_texts("id source_name")],
    "matched": [{"term": str, "fields": [str]}],
    "section": Text,
    "read": str,
}
_UPDATE = {
    **_LATEST,
    "files?": [_texts("file change")],
    "asks?": {"added": _ASKS, "removed": _ASKS, "findings": [_FINDING]},
    "conflicts?": [str],
    "diff?": str,
}
_LEFTOVER = {
    **_texts("id kind what path"),
    "from": Text,
    "when": Text,
    "size": int,
    "result?": str,
    "detail?": Text,
}

# By the words that choose what is printed.
RESULTS: dict[str, Shape] = {
    "add": {"added": [_ADDITION], "unchanged": [str]},
    "audit": {"skills": [_AUDIT], "failed": [Failure], **_COUNTS, "warnings": [str]},
    "browse": {
        **_texts("type path? query?"),
        "subcollections?": [{**_texts("path description"), "count": int}],
        "skills": [_SKILL],
        "more?": int,
        **_texts("next_cursor? note?"),
    },
    "build": Publication,
    "build --all": {"built": [Publication], "failed": [_texts("id skill code message")]},
    "clean": {"entries": [_LEFTOVER]},
    "completion": _texts("shell script"),
    "diagnose": {"diagnostics": [{"source_name": str, "path": Text, **_texts("code severity message")}]},
    "disable": Disablement,
    "doctor": Examination,
    "enable": Disablement,
    "find": {"query": str, "results": [_FOUND], "corrections?": dict[str, str]},
    "grant add": _texts("subject role prefix registry"),
    "grant list": {"grants": [_texts("subject role prefix")]},
    "grant remove": {"subject": str, "prefix": str, "removed": bool, "registry": str},
    "import": {"imported": [Step], "skipped": [Skip]},
    "init": {"name": Text, "path": str},
    "install": InstallResult,
    "inventory": _texts("mode xml"),
    "lint": Summary,
    "lint --statistics": {"rules": [{"rule": str, "name": str, "count": int}], "skills": int, "failed": int},
    "lint --explain": {"rules": [Rule]},
    "list": Listing,
    "load": ResolvedSkill,
    "lock": LockedSkills,
    "lock --check": LockProblems,
    "login": {"registries": [{"registry": str, "subject": Text}]},
    "login <url>": {
        **_texts("registry subject"),
        "permissions": [_texts("role prefix")],
        "expires_at": Text,
    },
    "logout": {"registry": str, "removed": bool},
    "mcp --http": {"url": str},
    "mcp --install": _MCP_CLIENT,
    "mcp --uninstall": _MCP_CLIENT,
    "open": {"path": str, "size": int, "encoding": str, "content": str, "more_lines": int},
    "outdated": {"skills": [_LATEST]},
    "outline": _HEADINGS,
    "outline --format object": {"headings": _HEADINGS},
    "pin": Pins,
    "publish": _RELEASE,
    "publish --dry-run": {**_RELEASE, "dry_run": bool, "files": [str], "size": int},
    "publisher add": {**_PUBLISHER, "registry": str},
    "publisher list": {"publishers": [_PUBLISHER]},
    "publisher remove": {"id": str, "removed": bool, "registry": str},
    "remove": Removals,
    "repo add": {"file": str, "repository": dict[str, Any], "guessed": bool, "kept": [str], "left": [str]},
    "repo list": {
        "repositories": [{**_REPOSITORY, "skills": int, "quarantined": int, "shadowed": int, "error": Text}]
    },
    "repo remove": {"file": str, "name": str, "left": [str]},
    "repo sync": {
        "repositories": [
            {**_REPOSITORY, "before": int | None, "skills": int | None, "commit": Text, "error": Text}
        ]
    },
    "restore": {"restored": TrashItem},
    "run": Envelope,
    "run --dry-run": DryRun,
    "search": {"query": str, "results": [{"file": str, "section": Text, "snippet": str, "score": Number}]},
    "serve": _texts("token? url?"),
    "show": {"file": str, "heading": Text, "level": int, "line": int, "more_lines": int, "content": str},
    "sources": {"root": str, "entries": [{"path": str, "type": str, "files?": int}], "more": int},
    "stats": Stats,
    "stats --html": _texts("path html"),
    "stats --prune": {"removed": dict[str, int]},
    "sync": {"synced": [{"id": str, "skill": str, "entries": int}], "failed": [Failure], "dry_run": bool},
    "sync --to": {
        "registry": str,
        "skills": [str],
        "days": [str],
        "rows": int,
        "ignored": int,
        "dry_run": bool,
        "counts?": [dict[str, Any]],
    },
    "token create": {**_TOKEN, "token": str},
    "token list": {"tokens": [_TOKEN]},
    "token revoke": {"id": str, "revoked": bool, "registry": str},
    "tools": _TOOLS,
    "tools --format object": {"tools": _TOOLS},
    "trash empty": EmptiedTrash,
    "trash list": {"entries": [{**_texts("id path from when reason"), "size": int}]},
    "trash restore": Restoration,
    "trust adopt": _texts("skill path level"),
    "trust allow": Entry,
    "trust allow --variable": {"variables": [_VARIABLE]},
    "trust deny": Entry,
    "trust list": {"entries": [Entry], "variables?": [_VARIABLE]},
    "trust prune": {"pruned": [_texts("skill path")]},
    "trust show": TrustDescription,
    "turn": {
        **_texts("system message"),
        "events": list[SkillsResolved | SkillResolutionFailed],
        "notices": [str],
    },
    "ui": {"url": str},
    "unpin": Pins,
    "update": {"skills": [_UPDATE]},
    "verify": LockProblems,
    "yank": {**_texts("id version"), "yanked": Text, "registry": str},
}
ERROR = {"error": {"code": str, "message": str, "hint": Text}}

# Lists at the top: `--format object` has them in an object.
LISTS = ("outline", "tools")
# Keys that another one has replaced, and which go with the next release.
OLD_KEYS = {
    "build": {"skill": "id"},
    "build --all": {"skill": "id"},
    "lint": {"skill": "id"},
    "stats --html": {"html": "path"},
    "sync": {"skill": "id"},
}

# The meaning of each key, which is the same in all commands.
KEYS = {
    # Names and places
    "id": "what names it for commands: a skill's ID or name, or the ID of a token, a publisher, an item",
    "name": "its own name: of a skill, a repository, a rule, a check, a tool",
    "path": "where it is: absolute for what is on this machine, relative to the skill for its files",
    "file": "a file of a skill, relative to it; for `repo`, the skills.toml that was changed",
    "heading": "a heading as `outline` prints it",
    "section": "a heading to give to `show --section`",
    "line": "the line in the file, from 1",
    "level": "of a heading 1 to 6; of a finding note, review or block; of trust bundled, user or untrusted",
    "description": "what a skill, a collection or a tool is for",
    "scope": "project, global or builtin: whose skill it is",
    "skill": "a skill's ID, where another key is the subject",
    "skill_path": "the folder of that skill",
    "source_path": "the folder of a skill in its store",
    "runtime_path": "the folder of the compiled skill",
    "source_name": "the repository that has it",
    "source": "where it comes from, as `add` takes it; of a tool, its skill",
    "root": "the name of the folder that is listed",
    "origin": "where a skill comes from, in words",
    "from": "where it was",
    "to": "where it is now",
    "cwd": "the directory in which it runs",
    "project": "the directory of a project",
    "projects": "the projects that are counted",
    "host": "the address that gets a variable",
    "url": "the address that a server answers at",
    "registry": "the address of a registry",
    "repository": "a repository: its table in skills.toml, or its name at a code host",
    "prefix": "the skills it is about: those below this path; empty is all",
    "target": "the agent or path that it was deployed to",
    "agent": "an agent, as `--target` takes it",
    "shell": "bash, zsh or fish",
    # Versions, sources and contents
    "ref": "the branch or tag; empty or null where there is none",
    "commit": "the commit; empty or null where there is none",
    "version": "the version; empty where there is none",
    "current": "the version that is installed; of a decision, whether it is about the files as they are",
    "latest": "the newest version",
    "digest": "the digest of its files",
    "source_hash": "the hash of the skill's files",
    "fingerprint": "what names a finding in a baseline",
    "content": "the text, or base64 of it",
    "encoding": "utf-8 or base64",
    "body": "the block for a prompt; of token counts, the number for the body of SKILL.md",
    "xml": "the inventory for a prompt",
    "system": "the system prompt",
    "message": "what to say to people; of a turn, the message for the model",
    "script": "the text of a completion script",
    "snippet": "the text around what was found",
    "metadata": "further fields of the frontmatter; of token counts, the number for name and description",
    "parameters": "the JSON schema of a tool's parameters",
    "requires_capabilities": "what an agent needs to be able to do for it",
    # Numbers
    "size": "bytes",
    "byte_size": "bytes of the block",
    "injection_bytes": "bytes of the blocks in a message",
    "uploaded": "bytes that were sent",
    "tokens": "an estimate of tokens; `token list`: the tokens of a registry",
    "files": "how many files, or the files themselves",
    "count": "how many skills",
    "entries": "the entries of a list; `sync`: how many were moved",
    "total": "how many there are before any filter; of token counts, the sum",
    "filtered": "how many match, before the limit",
    "more": "how many entries a limit left out",
    "more_lines": "how many lines --max-lines left out",
    "next_cursor": "what to give to --cursor for those that follow",
    "score": "how well it fits; more is better",
    "errors": "how many findings are errors",
    "warnings": "how many findings are warnings, or the warnings themselves",
    "notes": "how many findings are notes",
    "reviews": "how many findings are to be reviewed",
    "blocks": "how many findings block",
    "allowed": "how many findings a policy allows",
    "quarantined": "how many skills can't be used",
    "shadowed": "how many skills an earlier repository has, too",
    "before": "how many skills there were",
    "rows": "how many counts",
    "ignored": "how many of them the registry did not take",
    "duration_ms": "milliseconds",
    "timeout": "seconds that a tool may take",
    "exit_code": "the status of a program; null where none ran",
    # Times: RFC 3339, in UTC
    "when": "when it happened",
    "created_at": "when it was made",
    "expires_at": "when it ends; null is never",
    "revoked_at": "when it was revoked",
    "since": "from when on",
    "until": "up to when",
    "start": "of the first access",
    "end": "of the last access",
    "days": "the days that were counted",
    # States and outcomes
    "type": "what kind of thing it is",
    "kind": "what kind of leftover it is",
    "status": "its state",
    "severity": "error or warning",
    "code": "the code of an error or warning, such as E001",
    "error": "what went wrong; null if nothing did",
    "hint": "what to do about an error",
    "problem": "what differs from the lock",
    "reason": "why",
    "fix": "the command that mends it",
    "result": "what became of it: removed, trashed or kept",
    "detail": "of what was trashed the ID in the trash, of what was kept the reason",
    "what": "what it is, in words",
    "how": "moved or copied",
    "method": "symlink, copy or junction",
    "change": "added, changed or removed",
    "changed": "whether it changed, or what and how many did",
    "edited": "whether it was edited here",
    "fixable": "whether --fix fixes it",
    "skipped": "whether it was left out, or what was",
    "pinned": "whether updates leave it alone",
    "disabled": "whether agents do without it; `list`: for which agents",
    "dry_run": "whether nothing was done",
    "written": "whether a file was written",
    "published": "whether it is a new version",
    "guessed": "whether the type was guessed from the address",
    "removed": "what was removed, or whether",
    "revoked": "whether it was revoked",
    "yanked": "the reason, while it is yanked",
    "trashed": "where in the trash it is",
    "success": "whether a run succeeded",
    "truncated": "whether output was left out",
    "decision": "allow or deny; null if nothing was decided",
    "read_only": "whether a tool says that it only reads",
    "always_ask": "whether each run asks",
    "network": "whether a tool may use the network",
    "sandbox": "bubblewrap, landlock or none",
    "mode": "flat or collections",
    "modes": "the modes that offer a tool",
    "role": "reader, publisher, maintainer or admin",
    # The thing that a result is about
    "query": "what was searched for; of statistics, what they are grouped by",
    "filters": "what was counted only",
    "period": "the time of the accesses that were counted",
    "data": "the counts, by `query`",
    "term": "a word of the task",
    "fields": "where a word was found",
    "matched": "the words of the task that a skill has, strongest first",
    "corrections": "words that no skill has, with those that were searched for instead",
    "also": "other repositories that have this ID",
    "copies": "where copies and near-copies are",
    "read": "the command that shows it",
    "note": "what else to know",
    "notices": "what to tell the user",
    "reference": "what led to no skill",
    "rule": "the number of a rule",
    "requirement": "what a rule wants",
    "advice": "how to satisfy it",
    "by": "the judge that said it",
    "command": "the command line of a tool",
    "argv": "the words of a command line",
    "env": "the variables of a process",
    "output": "what a program printed",
    "parsed": "what a program printed, where it is JSON",
    "difference": "what changes in the file, line by line",
    "diff": "what changes in the text, line by line",
    "asks": "what a skill asks for, or what changed in that",
    "hosts": "addresses that it names",
    "commands": "programs that it runs",
    "environment": "variables that it reads; of a publisher, the environment of CI",
    "writes": "files that it writes",
    "installs": "packages that it installs",
    "audit": "how many findings of each level an audit has",
    "token": "a token: it is shown once",
    "owner": "whose token it is",
    "subject": "a person or program",
    "label": "what a token is for",
    "permissions": "what a token may do",
    "workflow": "the file of a workflow of CI",
    "issuer": "where ID tokens come from",
    "variable": "a variable of the environment",
    "html": "the page that was written",
    # Lists
    "skills": "skills, or how many",
    "results": "what was found, best first",
    "subcollections": "collections below",
    "headings": "headings in order",
    "tools": "tools",
    "events": "what happened on the way",
    "diagnostics": "what was repaired, quarantined or shadowed",
    "checks": "what was checked",
    "findings": "what to look at",
    "failed": "what could not be done, while the rest was",
    "fixed": "what was mended",
    "not_fixed": "what could not be mended",
    "problems": "where lock and folders differ",
    "conflicts": "files with both versions in them",
    "deployments": "where agents have it",
    "targets": "where agents have it",
    "repositories": "repositories in order of precedence",
    "registries": "registries that you are logged in to",
    "grants": "roles of subjects",
    "publishers": "trusted workflows of CI",
    "variables": "variables that projects may use",
    "rules": "rules",
    "counts": "what was counted",
    "added": "what is new",
    "built": "what was built",
    "imported": "what was brought in",
    "installed": "what was installed",
    "unchanged": "what was as it should be",
    "synced": "whose logs were moved",
    "restored": "what was brought back",
    "deleted": "what is gone for good",
    "pruned": "decisions that were forgotten",
    "kept": "default folders that stay",
    "left": "what else there is: other repositories, or folders that are not searched any more",
}


def results_of(command: str) -> Iterator[tuple[str, Shape]]:
    """Yield what a command prints, by the words that choose it."""
    return ((words, shape) for words, shape in RESULTS.items() if words.split()[0] == command)


def members_of(shape: Shape) -> dict[str, tuple[Shape, bool]] | None:
    """Return the keys of an object, each with its shape and whether it may be missing; None for no object."""
    if isinstance(shape, dict):
        return {key.removesuffix("?"): (value, key.endswith("?")) for key, value in shape.items()}
    if is_dataclass(shape):
        hints = get_type_hints(shape)
        return {key_of(each): (hints[each.name], is_optional(each)) for each in fields(shape) if key_of(each)}
    return None


def item_of(shape: Shape) -> Shape | None:
    """Return the shape of the items of a list; None for another shape."""
    if isinstance(shape, list):
        return shape[0]
    kind: Any = get_origin(shape)
    return get_args(shape)[0] if kind in (list, tuple, Sequence) else None


def value_of(shape: Shape) -> Shape | None:
    """Return the shape of the values of an object with any keys; None for another shape."""
    kind: Any = get_origin(shape)
    return get_args(shape)[1] if kind in (dict, Mapping) else None


def choices_of(shape: Shape) -> tuple[Shape, ...]:
    """Return what a value may be: the parts of a union, or the shape alone."""
    kind: Any = get_origin(shape)
    return get_args(shape) if kind in (Union, UnionType) else (shape,)


def describe(shape: Shape) -> str:
    """Return a shape as the documentation has it: a key alone has a text, `N` is a number.

    >>> describe({"id": str, "lines?": [int], "env": dict[str, str], "is_new": bool})
    '{"id","lines"?:[N],"env":{name:text},"is_new":bool}'
    """
    members = members_of(shape)
    if members is not None:
        pairs = (
            (f'"{key}"{"?" * is_missing}', describe(part)) for key, (part, is_missing) in members.items()
        )
        return f"{{{','.join(key if text == 'text' else f'{key}:{text}' for key, text in pairs)}}}"
    if (item := item_of(shape)) is not None:
        return f"[{describe(item)}]"
    if (value := value_of(shape)) is not None:
        return f"{{name:{describe(value)}}}"
    choices = choices_of(shape)
    if len(choices) > 1:
        names = dict.fromkeys(describe(each) for each in choices if each is not NoneType)
        has_null = NoneType in choices and not names.keys() & {"text", "N", "bool"}
        return "|".join([*names, *(["null"] if has_null else [])])
    if isinstance(shape, type) and issubclass(shape, str):
        return "text"
    return {bool: "bool", int: "N", float: "N"}.get(shape, "any")
