"""Compare JSON with the types of `skillc.results`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillc.results import Shape, choices_of, item_of, members_of, value_of


def names_in(shape: Shape) -> Iterator[str]:
    """Yield the keys of a shape, at any depth."""
    for key, (part, _) in (members_of(shape) or {}).items():
        yield key
        yield from names_in(part)
    choices = choices_of(shape)
    for part in (item_of(shape), value_of(shape), *(choices if len(choices) > 1 else ())):
        if part is not None:
            yield from names_in(part)


def find_faults(value: Any, shape: Shape, place: str = "$") -> list[str]:
    """Return what a value has that the shape has not, and the other way round."""
    choices = choices_of(shape)
    if len(choices) > 1:
        return min((find_faults(value, choice, place) for choice in choices), key=len)
    if (members := members_of(shape)) is not None:
        return _compare_members(value, members, place)
    if (item := item_of(shape)) is not None:
        if not isinstance(value, list):
            return [f"{place} is no list: {value!r}"]
        return [fault for n, each in enumerate(value) for fault in find_faults(each, item, f"{place}[{n}]")]
    if (part := value_of(shape)) is not None:
        if not isinstance(value, dict):
            return [f"{place} is no object: {value!r}"]
        return [fault for key, each in value.items() for fault in find_faults(each, part, f"{place}.{key}")]
    return [] if shape is Any or _is_a(value, shape) else [f"{place} is no {shape.__name__}: {value!r}"]


def _is_a(value: Any, kind: type) -> bool:
    """Return whether a scalar has a type; the subclasses of str are texts, and no truth value is a number."""
    if issubclass(kind, str):
        return isinstance(value, str)
    return isinstance(value, kind) and isinstance(value, bool) is (kind is bool)


def _compare_members(value: Any, members: dict[str, tuple[Shape, bool]], place: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{place} is no object: {value!r}"]
    faults = [f"{place}.{key} is not in the shape" for key in value if key not in members]
    for key, (part, may_be_missing) in members.items():
        if key in value:
            faults += find_faults(value[key], part, f"{place}.{key}")
        elif not may_be_missing:
            faults.append(f"{place}.{key} is missing")
    return faults
