"""Check the values for a tool's parameters against their types, before anything starts [D40].

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
from skillc.schema import TYPE_WORDS, has_type
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
MAX_COMMAND = 1 << 20  # bytes of all arguments


def check_values(parameters: Sequence[ParameterDefinition], arguments: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of the arguments, each of its type; None is the same as missing.

    Raises InvalidParameter for one that is missing, unknown, of another type, or can be no argument.
    """
    allowed_names = {parameter.name for parameter in parameters}
    for name in arguments:
        if name not in allowed_names:
            raise InvalidParameter(name, f"unknown; there are {join_names(parameters)}")
    values: dict[str, Value] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is not None:
            values[parameter.name] = _check_value(parameter, value)
        elif parameter.required:
            raise InvalidParameter(parameter.name, "required and missing")
    return values


def _check_value(parameter: ParameterDefinition, value: Any) -> Value:
    name, kind = parameter.name, parameter.type
    is_number = kind in ("integer", "number")
    if not has_type(value, "number" if is_number else kind):
        raise InvalidParameter(name, f"must be {TYPE_WORDS[kind]}, not {_describe(value)}")
    if is_number:
        return _check_number(name, kind, value)
    if kind == "array":
        return tuple(_check_text(name, item) for item in value)
    return _check_text(name, value) if isinstance(value, str) else bool(value)


def _check_number(name: str, kind: str, value: float) -> int | float:
    """Return a number; JSON does not tell 5 from 5.0, so an integer may be written as either."""
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


def _check_text(name: str, text: str) -> str:
    if "\0" in text:
        raise InvalidParameter(name, "has a NUL byte")
    try:
        size = len(os.fsencode(text))
    except UnicodeEncodeError:
        raise InvalidParameter(name, "has characters that no argument can hold") from None
    if size > MAX_ARGUMENT:
        raise InvalidParameter(name, f"is over {MAX_ARGUMENT} bytes")
    return text


def _describe(value: object) -> str:
    words = {bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object"}
    return words.get(type(value), "a list with other things" if isinstance(value, list) else "that")


def build_command_line(template: CommandTemplate, values: Mapping[str, Value]) -> list[str]:
    """Return the program and its arguments; raises InvalidParameter for a value that looks like an option."""
    arguments = fill_arguments(template, values)
    for argument in arguments:
        parameter = argument.begins_with
        if parameter is None or parameter.type in ("integer", "number"):
            continue
        if argument.text.startswith("-"):
            raise InvalidParameter(
                parameter.name, "starts with '-' where the program would take it for an option"
            )
    words = [template.program, *(argument.text for argument in arguments)]
    sizes = [len(os.fsencode(word)) for word in words]
    if max(sizes) > MAX_ARGUMENT or sum(sizes) > MAX_COMMAND:
        longest = max(template.parameters, key=lambda p: len(str(values.get(p.name, ""))))
        raise InvalidParameter(longest.name, "makes a command line that is too long")
    return words


def parse_values(
    parameters: Sequence[ParameterDefinition], pairs: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return values from the `name=text` pairs of a command line; a list is its name repeated, or JSON."""
    by_name = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    for name, text in pairs:
        parameter = by_name.get(name)
        if parameter is None:
            raise InvalidParameter(name, f"unknown; there are {join_names(parameters)}")
        if parameter.type == "array":
            values.setdefault(name, []).extend(_parse_items(text))
        elif name in values:
            raise InvalidParameter(name, "given twice")
        else:
            try:
                values[name] = parse_value(parameter.type, text)
            except NotOfType:
                raise InvalidParameter(name, f"must be {TYPE_WORDS[parameter.type]}, not '{text}'") from None
    return values


def _parse_items(text: str) -> list[str]:
    try:
        items = parse_value("array", text)
    except NotOfType:
        return [text]
    return list(items) if isinstance(items, tuple) else [text]
