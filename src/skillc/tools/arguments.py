"""Check the values for a tool's parameters against their types, before anything starts [D40]."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillc.errors import InvalidOption, InvalidParameter
from skillc.schema import TYPE_WORDS, has_type
from skillc.skills.tools import (
    MAX_DIGITS,
    CommandTemplate,
    NotOfType,
    ParameterDefinition,
    Value,
    fill_arguments,
    join_names,
    parse_value,
)
from skillc.spelling import did_you_mean
from skillc.text import cut

if TYPE_CHECKING:
    from skillc.tools.skill import Tool

MAX_SHOWN = 60  # characters of a value in a message
MAX_ARGUMENT = 128 * 1024 - 1  # bytes; Linux takes no longer one
MAX_COMMAND = 1 << 20  # bytes of all arguments


def check_values(parameters: Sequence[ParameterDefinition], arguments: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values, each of its type, or raise InvalidParameter; None is the same as missing."""
    values: dict[str, Value] = {}
    by_name = {parameter.name: parameter for parameter in parameters}
    for name in arguments:
        _find(name, by_name)
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is not None:
            values[parameter.name] = _check_value(parameter, value)
        elif parameter.required:
            raise InvalidParameter(parameter.name, "required and missing")
    return values


def _find(name: str, parameters: Mapping[str, ParameterDefinition]) -> ParameterDefinition:
    if name not in parameters:
        near = did_you_mean(name, parameters)
        there = f"there are {join_names([*parameters.values()])}"
        raise InvalidParameter(name, f"unknown; {f'{near} ' if near else ''}{there}")
    return parameters[name]


def _check_value(parameter: ParameterDefinition, value: Any) -> Value:
    name, kind = parameter.name, parameter.type
    is_number = kind in ("integer", "number")
    if not has_type(value, "number" if is_number else kind):
        words = {bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object"}
        words[list] = "a list with other things"
        raise InvalidParameter(name, f"must be {TYPE_WORDS[kind]}, not {words.get(type(value), 'that')}")
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
    if abs(whole) >= 10**MAX_DIGITS:
        raise InvalidParameter(name, f"has more than {MAX_DIGITS} digits")
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


def build_command_line(template: CommandTemplate, values: Mapping[str, Value]) -> list[str]:
    """Return the program and its arguments; raises InvalidParameter for a value that looks like an option."""
    arguments = fill_arguments(template, values)
    for argument in arguments:
        parameter = argument.begins_with
        if parameter is None or parameter.type in ("integer", "number"):
            continue
        if argument.text.startswith("-"):
            reason = "starts with '-' where the program would take it for an option"
            raise InvalidParameter(parameter.name, reason)
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
    values: dict[str, Any] = {}
    by_name = {parameter.name: parameter for parameter in parameters}
    for name, text in pairs:
        parameter = _find(name, by_name)
        if parameter.type == "array":
            values.setdefault(name, []).extend(_parse_items(text))
        elif name in values:
            raise InvalidParameter(name, "given twice")
        else:
            try:
                values[name] = parse_value(parameter.type, text)
            except NotOfType:
                reason = f"must be {TYPE_WORDS[parameter.type]}, not '{cut(text, MAX_SHOWN)}'"
                if text.lstrip("-").isdecimal() and len(text) > MAX_DIGITS:
                    reason = f"has more than {MAX_DIGITS} digits"
                raise InvalidParameter(name, reason) from None
    return values


def read_values(given: str | None, texts: Sequence[str]) -> Callable[[Tool], dict[str, Any]]:
    """Return the parameters of a command line, as a function of the tool, which has their types.

    `given` is a JSON object, `texts` are `name=value`. Raises InvalidOption for what is neither.
    """
    try:
        values = {} if given is None else json.loads(given)
    except (ValueError, RecursionError) as error:
        if "int_max_str_digits" in str(error):
            raise InvalidOption(f"--json has an integer of more than {MAX_DIGITS} digits") from None
        raise InvalidOption(f"--json is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InvalidOption("--json takes an object, such as '{\"count\": 5}'")
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidOption(f"--param takes <name>=<value>, not '{text}'")
        if name in values:
            raise InvalidOption(f"'{name}' is given by --param and by --json")
        pairs.append((name, value))
    return lambda tool: values | parse_values(tool.parameters, pairs)


def _parse_items(text: str) -> list[str]:
    try:
        items = parse_value("array", text)
    except NotOfType:
        return [text]
    return list(items) if isinstance(items, tuple) else [text]
