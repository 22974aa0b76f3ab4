"""Values for a tool's parameters, checked against their types before anything starts [D40].

>>> from skillc.skills import ParameterDefinition
>>> count = ParameterDefinition("count", "integer", required=True)
>>> check_values([count], {"count": 3})
{'count': 3}
>>> check_values([count], {"count": "3"})
Traceback (most recent call last):
    ...
skillc.errors.InvalidParameter: invalid parameter 'count': must be an integer, not text
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from skillc.errors import InvalidParameter
from skillc.skills import (
    MAX_INTEGER,
    CommandTemplate,
    NotOfType,
    ParameterDefinition,
    Value,
    fill_arguments,
    join_names,
    parse_value,
)

MAX_ARGUMENT = 128 * 1024 - 1  # bytes; Linux takes no longer one
MAX_ALL = 1 << 20  # bytes of all arguments

_WORDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}


def check_values(parameters: Sequence[ParameterDefinition], given: Mapping[str, Any]) -> dict[str, Value]:
    """The values that were given, each of its type; None is the same as not given.

    Raises InvalidParameter for one that is missing, unknown, of another type, or can be no argument.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise InvalidParameter(name, f"unknown; there are {join_names(parameters)}")
    values: dict[str, Value] = {}
    for parameter in parameters:
        value = given.get(parameter.name)
        if value is not None:
            values[parameter.name] = _checked(parameter, value)
        elif parameter.required:
            raise InvalidParameter(parameter.name, "required and missing")
    return values


def _checked(parameter: ParameterDefinition, value: Any) -> Value:
    kind = parameter.type
    wrong = InvalidParameter(parameter.name, f"must be {_WORDS[kind]}, not {_what(value)}")
    if kind in ("integer", "number"):
        return _number(kind, value, wrong, parameter.name)
    if kind == "array":
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise wrong
        return tuple(_text(parameter.name, item) for item in value)
    if not isinstance(value, str if kind == "string" else bool):
        raise wrong
    return _text(parameter.name, value) if isinstance(value, str) else bool(value)


def _number(kind: str, value: Any, wrong: InvalidParameter, name: str) -> int | float:
    """A number; JSON knows no difference between 5 and 5.0, and so an integer may be written as either."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidParameter(name, "must be finite")
        if kind == "number":
            return value
        if not value.is_integer():
            raise InvalidParameter(name, f"must be an integer, not {value!r}")
    whole = int(value)
    if abs(whole) > MAX_INTEGER:
        raise InvalidParameter(name, f"must be between {-MAX_INTEGER} and {MAX_INTEGER}")
    return whole


def _text(name: str, text: str) -> str:
    if "\0" in text:
        raise InvalidParameter(name, "has a NUL byte")
    try:
        size = len(os.fsencode(text))
    except UnicodeEncodeError:
        raise InvalidParameter(name, "has characters that no argument can hold") from None
    if size > MAX_ARGUMENT:
        raise InvalidParameter(name, f"is over {MAX_ARGUMENT} bytes")
    return text


def _what(value: object) -> str:
    names_of = {bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object"}
    return names_of.get(type(value), "a list with other things" if isinstance(value, list) else "that")


def command_line(template: CommandTemplate, values: Mapping[str, Value]) -> list[str]:
    """The program and its arguments; raises InvalidParameter where a value could be taken for an option."""
    made = fill_arguments(template, values)
    for argument in made:
        parameter = argument.begins_with
        if parameter is not None and argument.text.startswith("-") and parameter.type not in _NUMBERS:
            raise InvalidParameter(
                parameter.name, "starts with '-' where the program would take it for an option"
            )
    words = [template.program, *(argument.text for argument in made)]
    sizes = [len(os.fsencode(word)) for word in words]
    if max(sizes) > MAX_ARGUMENT or sum(sizes) > MAX_ALL:
        longest = max(template.parameters, key=lambda p: len(str(values.get(p.name, ""))))
        raise InvalidParameter(longest.name, "makes a command line that is too long")
    return words


_NUMBERS = ("integer", "number")


def values_from_text(
    parameters: Sequence[ParameterDefinition], given: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Values from `name=text` pairs, as a command line has them; a list is its name repeated, or JSON."""
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    for name, text in given:
        parameter = known.get(name)
        if parameter is None:
            raise InvalidParameter(name, f"unknown; there are {join_names(parameters)}")
        if parameter.type == "array":
            values.setdefault(name, []).extend(_items(text))
        elif name in values:
            raise InvalidParameter(name, "given twice")
        else:
            values[name] = _of_type(parameter, text)
    return values


def _of_type(parameter: ParameterDefinition, text: str) -> Value:
    try:
        return parse_value(parameter.type, text)
    except NotOfType:
        raise InvalidParameter(parameter.name, f"must be {_WORDS[parameter.type]}, not '{text}'") from None


def _items(text: str) -> list[str]:
    try:
        items = parse_value("array", text)
    except NotOfType:
        return [text]
    return list(items) if isinstance(items, tuple) else [text]
