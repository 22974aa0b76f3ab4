"""Results as contracts: one encoder for what commands print, HTTP sends and MCP returns.

A result is a frozen dataclass, and its fields are the keys of its JSON, in their order. A name that Python
reserves ends in an underscore, which is not in the key. `optional()` declares a field whose key is left out
while it has its default, `hidden()` one that only the program needs. In a field's metadata, `KEY` is its key,
and `JSON` says that it holds JSON already.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, slots=True)
... class Move:
...     id: str
...     from_: str
...     note: str | None = optional()
>>> encode(Move("pdf", "/a"))
{'id': 'pdf', 'from': '/a'}

Servers, MCP and the reference make schemas of the same classes with pydantic, which commands never import.
Classes on the agents' reading path are no dataclasses, whose import costs as much as a search: they have
`as_json`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from skillc.text import utf8_text

OMIT, KEY, JSON = "omit", "key", "json"  # in the metadata of a field
HIDDEN = {KEY: ""}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that did not end the command, because it had more to do."""

    code: str
    message: str


class Result:
    """Base of the results that callers ask for their JSON by themselves."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """Return what `--format json` prints."""
        return encode_fields(self)


def optional(default: Any = None) -> Any:
    """Declare a field whose key is left out of the JSON while it has its default."""
    return field(default=default, metadata={OMIT: True})


def hidden(default: Any) -> Any:
    """Declare a field that is not in the JSON; one without a default is `field(metadata=HIDDEN)`."""
    return field(default=default, metadata=HIDDEN)


def extend(kind: Callable[..., T], value: Any, **more: Any) -> T:
    """Return a value of a dataclass that has the fields of another one, and more."""
    return kind(**{each.name: getattr(value, each.name) for each in fields(value)}, **more)


def key_of(each: Field[Any]) -> str:
    """Return the key of a field in JSON; empty for a hidden one."""
    key: str = each.metadata.get(KEY, each.name.rstrip("_"))
    return key


def is_optional(each: Field[Any]) -> bool:
    """Return whether the key of a field can be absent."""
    return OMIT in each.metadata


def encode(value: Any) -> Any:
    """Return the JSON value of a result; raises TypeError for what has none."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value.value if isinstance(value, Enum) else utf8_text(value)
    if is_dataclass(value) and not hasattr(value, "as_json"):
        return encode_fields(value)
    if isinstance(value, Mapping):
        return {str(key): encode(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return _encode_other(value)


def encode_fields(value: Any) -> dict[str, Any]:
    """Return the JSON of a dataclass by its fields, whatever its `as_json` adds."""
    result = {}
    for name, key, default, is_json in _members(value.__class__):
        content = getattr(value, name)
        if default is MISSING or content != default:
            result[key] = content if is_json else encode(content)
    return result


@cache  # of each class of results
def _members(kind: type) -> list[tuple[str, str, Any, bool]]:
    """Return name and key of each field, the default that leaves the key out, and whether it has JSON."""
    return [
        (each.name, key_of(each), each.default if is_optional(each) else MISSING, JSON in each.metadata)
        for each in fields(kind)
        if key_of(each)
    ]


def _encode_other(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return encode(value.as_json())
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON")
