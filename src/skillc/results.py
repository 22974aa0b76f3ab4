"""The JSON that commands print and tools of MCP return: the type of each result, once.

An object is a frozen dataclass, as `skillc.contract` encodes it. The objects that a command puts around
results are written as `{"id": str, "line?": int}`, where `?` marks a key that may be missing, and a list as
`[str]`; so are the results of reading commands, whose classes are no dataclasses. The documentation shows
what `describe` makes of them, with the meaning of each key from `scripts/json_keys.toml`; MCP makes the
schemas of its tools of them; and a test runs all commands and compares. No command needs this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from skillc import install, origins, setup
from skillc.audit import Finding
from skillc.compiler import Publication, create_skill
from skillc.contract import Failure, is_optional, key_of
from skillc.doctor import Examination, LibraryFindings
from skillc.engine import ResolvedSkill, SkillResolutionFailed, SkillsResolved
from skillc.evals import Draft, FreeReport, SkillReport
from skillc.library.repositories import Refresh, add_repository, remove_repository
from skillc.library.sources import SourceState
from skillc.lint import Rule, Summary
from skillc.listing import Fitting, ListingChoice, Listings
from skillc.remotes import log_in, log_out
from skillc.setup import change_client
from skillc.tools import (
    DryRun,
    Entry,
    Envelope,
    TrustDescription,
    adopt_skill,
    list_decisions,
    prune_decisions,
)
from skillc.usage import Stats, SyncedLogs

Shape = Any  # a type, a dictionary of shapes, or a list of one
Text = str | None
Number = int | float


def _texts(names: str) -> dict[str, Shape]:
    """Return keys that have texts."""
    return dict.fromkeys(names.split(), str)


def _result_of(operation: Callable[..., Any]) -> Shape:
    """Return the type that an operation returns."""
    return vars(sys.modules[operation.__module__])[operation.__annotations__["return"]]


# What rooms that have no types for it put together.
_COUNTS = dict.fromkeys(("notes", "reviews", "blocks"), int)
_ASKS = {name: [str] for name in ("hosts", "commands", "environment", "writes", "installs")}
_FINDING = {**_texts("rule name level file"), "line": int, **_texts("message fingerprint by?")}
_SKILL = {
    **_texts("id name description scope"),
    "metadata": dict[str, Any],
    "requires_capabilities?": [str],
    "source_name?": str,
}
_TOKEN = {**_texts("id owner role prefix label created_at"), "expires_at": Text, "revoked_at": Text}
_TOKEN |= {"permissions?": [_texts("role prefix")]}  # a registry of an older version does not say
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
_VARIABLE = _texts("project variable host")
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
    "confidence": Number,
    "source_name": str,
    "also": [_texts("source_name id")],
    "copies": [_texts("id source_name")],
    "matched": [{"term": str, "fields": [str]}],
    "section": Text,
    "file": Text,
    "read": str,
}

# By the words that choose what is printed.
RESULTS: dict[str, Shape] = {
    "add": _result_of(install.add_skills),
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
    "clean": _result_of(install.clean_up),
    "completion": _texts("shell script"),
    "digest": _result_of(origins.find_digest),
    "disable": _result_of(install.disable_skill),
    "doctor": Examination,
    "doctor --library": LibraryFindings,
    "enable": _result_of(install.enable_skill),
    "eval": [SkillReport],
    "eval --format object": {"skills": [SkillReport]},
    "eval --free": FreeReport,
    "eval init": Draft,
    "find": {"query": str, "results": [_FOUND], "corrections?": dict[str, str]},
    "grant add": _texts("subject role prefix registry"),
    "grant list": {"grants": [_texts("subject role prefix")]},
    "grant remove": {"subject": str, "prefix": str, "removed": bool, "registry": str},
    "hook": {"updated": bool},
    "import": _result_of(install.import_into_store),
    "info": _result_of(install.describe_skill),
    "init": _result_of(create_skill),
    "install": _result_of(install.install_locked),
    "inventory": _texts("mode xml"),
    "lint": Summary,
    "lint --statistics": {"rules": [{"rule": str, "name": str, "count": int}], "skills": int, "failed": int},
    "lint --explain": {"rules": [Rule]},
    "list": _result_of(install.list_installed),
    "listing": Listings,
    "listing fit": Fitting,
    "listing reset": ListingChoice,
    "listing set": ListingChoice,
    "load": ResolvedSkill,
    "lock": _result_of(install.list_locked),
    "login": {"registries": [{"registry": str, "subject": Text}]},
    "login <url>": _result_of(log_in),
    "logout": _result_of(log_out),
    "mcp --http": {"url": str},
    "mcp --install": _result_of(change_client),
    "mcp --uninstall": _result_of(change_client),
    "open": {"path": str, "size": int, "encoding": str, "content": str, "more_lines": int},
    "outdated": _result_of(install.list_latest),
    "outline": _HEADINGS,
    "outline --format object": {"headings": _HEADINGS},
    "pin": _result_of(install.set_pins),
    "publish": _RELEASE,
    "publish --dry-run": {**_RELEASE, "dry_run": bool, "files": [str], "size": int},
    "publisher add": {**_PUBLISHER, "registry": str},
    "publisher list": {"publishers": [_PUBLISHER]},
    "publisher remove": {"id": str, "removed": bool, "registry": str},
    "remove": _result_of(install.remove_skills),
    "repo add": _result_of(add_repository),
    "repo list": {"repositories": [SourceState]},
    "repo remove": _result_of(remove_repository),
    "repo sync": {"repositories": [Refresh]},
    "restore": _result_of(install.restore_item),
    "run": Envelope,
    "run --dry-run": DryRun,
    "sign": _result_of(origins.sign_skill),
    "search": {"query": str, "results": [{"file": str, "section": Text, "snippet": str, "score": Number}]},
    "serve": {**_texts("token? url?"), "ok?": bool, "checks?": [_texts("name status message")]},
    "setup": _result_of(setup.set_up),
    "show": {"file": str, "heading": Text, "level": int, "line": int, "more_lines": int, "content": str},
    "sources": {"root": str, "entries": [{"path": str, "type": str, "files?": int}], "more": int},
    "stats": Stats,
    "stats --html": _texts("path html"),
    "stats --prune": {"removed": dict[str, int]},
    "sync": SyncedLogs,
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
    "trash empty": _result_of(install.empty_trash),
    "trash list": _result_of(install.list_trash),
    "trust adopt": _result_of(adopt_skill),
    "trust allow": Entry,
    "trust allow --variable": {"variables": [_VARIABLE]},
    "trust deny": Entry,
    "trust list": _result_of(list_decisions),
    "trust prune": _result_of(prune_decisions),
    "trust show": TrustDescription,
    "turn": {
        **_texts("system message"),
        "events": list[SkillsResolved | SkillResolutionFailed],
        "notices": [str],
    },
    "ui": {"url": str},
    "unpin": _result_of(install.set_pins),
    "update": _result_of(install.update_locked),
    "verify": _result_of(install.verify_locked),
    "why": _result_of(install.find_reasons),
    "yank": {**_texts("id version"), "yanked": Text, "registry": str},
}
ERROR = {"error": {"code": str, "message": str, "hint": Text}}

# Lists at the top: `--format object` has them in an object.
LISTS = ("eval", "outline", "tools")
# Keys that another one has replaced, and which go with the next release.
OLD_KEYS = {
    "build": {"skill": "id"},
    "build --all": {"skill": "id"},
    "lint": {"skill": "id"},
    "stats --html": {"html": "path"},
    "sync": {"skill": "id"},
}


def results_of(command: str) -> Iterator[tuple[str, Shape]]:
    """Yield what a command prints, by the words that choose it."""
    return ((words, shape) for words, shape in RESULTS.items() if words.split()[0] == command)


def members_of(shape: Shape) -> dict[str, tuple[Shape, bool]] | None:
    """Return the keys of an object, each with its shape and whether it may be missing; None for no object."""
    if isinstance(shape, dict):
        return {key.removesuffix("?"): (value, key.endswith("?")) for key, value in shape.items()}
    if shape is Finding:
        return members_of(_FINDING)
    if is_dataclass(shape):
        hints = get_type_hints(shape)
        return {
            key_of(each): (_given(hints[each.name]), True) if is_optional(each) else (hints[each.name], False)
            for each in fields(shape)
            if key_of(each)
        }
    return None


def _given(shape: Shape) -> Shape:
    """Return the shape of a key that is left out rather than null."""
    return reduce(or_, (each for each in choices_of(shape) if each is not NoneType))


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
