"""Say what the bodies of requests and responses look like, once: as types.

`make_schema` turns a type into a JSON schema for the OpenAPI document, and `check_shape` checks a request's
body against it.

>>> check_shape(Yank, {"reason": 1})
"'reason' must be text"
"""

# No annotations from the future: which keys are not required is read from types, not from text.
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

RoleName = Literal["reader", "publisher", "maintainer", "admin"]


class Fault(TypedDict):
    code: str
    message: str


class Problem(TypedDict):
    """An error: a problem of RFC 9457, with our code."""

    type: str
    title: str
    status: int
    detail: str
    error: Fault


class SkillEntry(TypedDict):
    id: str
    name: str
    description: str
    scope: str
    metadata: dict[str, str]
    requires_capabilities: NotRequired[list[str]]
    source_name: NotRequired[str]


class ListedSkill(SkillEntry):
    """A skill at its latest version."""

    version: str
    digest: str


class SkillList(TypedDict):
    skills: list[ListedSkill]
    next_cursor: NotRequired[str]


class SkillText(SkillEntry):
    """A skill with the body of its SKILL.md; other fields of its frontmatter are `extensions`."""

    version: str
    digest: str
    body: str
    extensions: NotRequired[dict[str, Any]]


class CollectionEntry(TypedDict):
    path: str
    description: str
    count: int


class CollectionList(TypedDict):
    collections: list[CollectionEntry]


class VersionEntry(TypedDict):
    version: str
    digest: str
    published_at: str
    published_by: str
    note: str
    yanked: str | None
    tags: list[str]
    status: NotRequired[Literal["approved", "pending", "rejected"]]
    audit: NotRequired[Literal["none", "note", "review", "block"]]


class ReviewEntry(VersionEntry):
    id: str


class ReviewQueue(TypedDict):
    reviews: list[ReviewEntry]


class Decision(TypedDict):
    """What becomes of a version that waits; a rejection needs a reason."""

    approve: bool
    reason: NotRequired[str | None]


class VersionList(TypedDict):
    versions: list[VersionEntry]


class FileEntry(TypedDict):
    path: str
    size: int
    digest: str
    executable: bool


class FileList(TypedDict):
    version: str
    files: list[FileEntry]


class FileReference(TypedDict):
    """A file that an earlier version of the skill has, by its digest: its bytes need not be sent."""

    digest: str


class Replacement(TypedDict):
    """A version to publish. Files are in base64; SKILL.md is not among them."""

    skill_md: str
    files: NotRequired[dict[str, str | FileReference]]
    executable: NotRequired[list[str]]
    version: NotRequired[str | None]
    tag: NotRequired[str | None]
    note: NotRequired[str | None]


class Publication(Replacement):
    id: str


class Published(TypedDict):
    """What was published. One with the status `pending` waits for a review."""

    id: str
    version: str
    digest: str
    status: NotRequired[Literal["pending"]]


class Yank(TypedDict):
    reason: str


class TagTarget(TypedDict):
    version: str


class TurnRequest(TypedDict):
    message: str
    preload_skills: NotRequired[list[str] | None]
    skill_references: NotRequired[list[str] | None]
    capabilities: NotRequired[list[str] | None]


class Event(TypedDict):
    type: Literal["SkillsResolved", "SkillResolutionFailed"]
    skills: NotRequired[list[str]]
    injection_bytes: NotRequired[int]
    reference: NotRequired[str]
    error: NotRequired[str]


class TurnResult(TypedDict):
    system: str
    message: str
    events: list[Event]
    notices: list[str]


class PermissionEntry(TypedDict):
    role: RoleName
    prefix: str


class Identity(TypedDict):
    subject: str
    permissions: list[PermissionEntry]
    token: str | None
    expires_at: str | None


class TokenRequest(TypedDict):
    """A token to make. `expires_in` is in seconds; null is a token that does not expire."""

    role: NotRequired[RoleName]
    prefix: NotRequired[str]
    label: NotRequired[str]
    owner: NotRequired[str]
    expires_in: NotRequired[int | None]


class TokenEntry(TypedDict):
    id: str
    owner: str
    role: RoleName
    prefix: str
    label: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None


class NewTokenEntry(TokenEntry):
    token: str


class TokenList(TypedDict):
    tokens: list[TokenEntry]


class GrantEntry(TypedDict):
    subject: str
    role: RoleName
    prefix: str


class GrantRequest(TypedDict):
    subject: str
    role: RoleName
    prefix: NotRequired[str]


class GrantList(TypedDict):
    grants: list[GrantEntry]


class ChangeEntry(TypedDict):
    sequence: int
    time: str
    subject: str
    token: str
    action: str
    skill: str
    version: str
    detail: dict[str, Any]


class ChangeList(TypedDict):
    changes: list[ChangeEntry]
    next_since: NotRequired[int]


class UsageCount(TypedDict):
    day: str
    skill: str
    command: str
    count: int
    file: NotRequired[str]
    section: NotRequired[str]


class UsageMiss(TypedDict):
    day: str
    count: int
    skill: NotRequired[str]
    query: NotRequired[str]


class UsageBatch(TypedDict):
    """What a machine counted on some days; `machine` is 32 random hexadecimal digits."""

    machine: str
    counts: NotRequired[list[UsageCount]]
    misses: NotRequired[list[UsageMiss]]


class UsageReceipt(TypedDict):
    rows: int
    ignored: int


class DaySum(TypedDict):
    day: str
    count: int


class SkillSum(TypedDict):
    skill: str
    count: int


class SectionSum(SkillSum):
    file: str
    section: str


class CommandSum(TypedDict):
    command: str
    count: int


class MissSum(SkillSum):
    query: str


class Statistics(TypedDict):
    since: str
    count: int
    machines: int
    days: list[DaySum]
    skills: list[SkillSum]
    sections: list[SectionSum]
    commands: list[CommandSum]
    misses: list[MissSum]


class Status(TypedDict):
    status: str


_WORDS: dict[Any, tuple[str, str]] = {
    str: ("string", "text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    NoneType: ("null", "null"),
}


def make_schema(shape: Any, components: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a type; typed dictionaries are added to `components` by name."""
    if shape is Any:
        return {}
    if shape in _WORDS:
        return {"type": _WORDS[shape][0]}
    if is_typeddict(shape):
        return _refer(shape, components)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": make_schema(arguments[0], components)}
    if origin is dict:
        return {"type": "object", "additionalProperties": make_schema(arguments[1], components)}
    assert origin in (Union, UnionType), shape
    return {"anyOf": [make_schema(each, components) for each in arguments]}


def _refer(shape: Any, components: dict[str, Any]) -> dict[str, Any]:
    name = shape.__name__
    if name not in components:
        components[name] = {}  # so that a type may hold itself
        fields = {key: make_schema(kind, components) for key, kind in get_type_hints(shape).items()}
        required = sorted(shape.__required_keys__, key=list(fields).index)
        components[name] = {"type": "object", "properties": fields, "required": required}
        if shape.__doc__ and not shape.__doc__.startswith("dict("):
            components[name]["description"] = " ".join(shape.__doc__.split())
    return {"$ref": f"#/components/schemas/{name}"}


def check_shape(shape: Any, value: Any) -> str | None:
    """Return what is wrong with a value, for its sender; None if nothing is. Further keys are ignored."""
    return next(_find_faults(shape, value, ""), None)


def _find_faults(shape: Any, value: Any, name: str) -> Iterator[str]:
    if shape is Any:
        return
    origin, arguments = get_origin(shape), get_args(shape)
    if is_typeddict(shape):
        yield from _find_faults_of_object(shape, value, name)
    elif origin is list and isinstance(value, list):
        for item in value:
            yield from _find_faults(arguments[0], item, name)
    elif origin is dict and isinstance(value, dict):
        for key, item in value.items():
            yield from _find_faults(arguments[1], item, f"{name}/{key}" if name else key)
    elif not _fits(shape, value):
        yield f"'{name}' must be {_describe(shape)}"


def _find_faults_of_object(shape: Any, value: Any, name: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"'{name}' must be an object" if name else "the request must be a JSON object"
        return
    for key, kind in get_type_hints(shape).items():
        path = f"{name}/{key}" if name else key
        if key in value:
            yield from _find_faults(kind, value[key], path)
        elif key in shape.__required_keys__:
            yield f"'{path}' is missing"


def _fits(shape: Any, value: Any) -> bool:
    origin, arguments = get_origin(shape), get_args(shape)
    if origin in (Union, UnionType):
        return any(next(_find_faults(each, value, ""), None) is None for each in arguments)
    if origin is Literal:
        return isinstance(value, str) and value in arguments
    if origin in (list, dict):
        return False
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))


def _describe(shape: Any) -> str:
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Literal:
        return f"one of {', '.join(arguments)}"
    if origin in (Union, UnionType):
        return " or ".join(map(_describe, arguments))
    if origin is list:
        return f"a list, each {_describe(arguments[0])}"
    return _WORDS[shape][1] if shape in _WORDS else "an object"
