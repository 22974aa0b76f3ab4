"""Read the parameters of a tool from its table: names, types, and defaults in descriptions [D37].

>>> find_default("Max results (default: 10).")
'10'
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillc.errors import Diagnostic, warning
from skillc.skills.tools.blocks import ToolBlock

TYPES = ("string", "integer", "number", "boolean", "array")
MAX_DIGITS = 4300  # of an integer; Python converts no longer text
Value = str | int | float | bool | tuple[str, ...]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REQUIRED = {"yes": True, "true": True, "no": False, "false": False, "": False}
_DEFAULT = re.compile(r"\(default:\s*", re.IGNORECASE)
_INTEGER = re.compile(rf"[+-]?\d{{1,{MAX_DIGITS}}}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ParameterDefinition:
    """A parameter of a tool; `default` is the one that its description states."""

    name: str
    type: str
    required: bool = False
    description: str = ""
    default: Value | None = None


class InvalidDefinition(ValueError):
    """A skill or a tool with a fault; the message says which."""


class NotOfType(ValueError):
    """Text that is no value of the type."""


def read_parameters(block: ToolBlock) -> tuple[tuple[ParameterDefinition, ...], list[Diagnostic]]:
    """Return the parameters of a tool's table, and diagnostics; raises InvalidDefinition."""
    if not block.tables:
        return (), [warning("W061", block.title)] if block.tables is None else []
    if len(block.tables) > 1:
        raise InvalidDefinition("more than one table under Parameters")
    header, *rows = block.tables[0]
    columns = [cell.casefold() for cell in header]
    for column in ("name", "type"):
        if columns.count(column) != 1:
            raise InvalidDefinition(f"the parameter table needs one column '{column.title()}'")
    diagnostics: list[Diagnostic] = []
    parameters: dict[str, ParameterDefinition] = {}
    for row in rows:
        parameter = _read_row(dict(zip(columns, row, strict=False)), block.title, diagnostics)
        if parameter.name in parameters:
            raise InvalidDefinition(f"duplicate parameter '{parameter.name}'")
        parameters[parameter.name] = parameter
    return tuple(parameters.values()), diagnostics


def _read_row(cells: dict[str, str], tool: str, diagnostics: list[Diagnostic]) -> ParameterDefinition:
    name, kind = cells["name"], cells["type"].casefold()
    if not _NAME.fullmatch(name):
        raise InvalidDefinition(f"parameter '{name}': a name is 1 to 64 letters, digits, - and _")
    if kind not in TYPES:
        raise InvalidDefinition(f"parameter '{name}': type must be {', '.join(TYPES)}, not '{cells['type']}'")
    required = cells.get("required", "").casefold()
    if required not in _REQUIRED:
        raise InvalidDefinition(f"parameter '{name}': required must be yes or no, not '{cells['required']}'")
    description = cells.get("description", "")
    text = find_default(description)
    default = None
    if text is not None:
        try:
            default = parse_value(kind, text)
        except NotOfType:
            diagnostics.append(warning("W064", text, name, tool, kind))
    return ParameterDefinition(name, kind, _REQUIRED[required], description, default)


def find_default(description: str) -> str | None:
    """Return the X of `(default: X)` without its quotes; X may hold balanced parentheses."""
    start = _DEFAULT.search(description)
    if start is None:
        return None
    depth = 1
    for at in range(start.end(), len(description)):
        depth += {"(": 1, ")": -1}.get(description[at], 0)
        if not depth:
            text = description[start.end() : at].strip()
            return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    return None


def parse_value(kind: str, text: str) -> Value:
    """Return text as a value of a type; raises NotOfType. A list is in JSON."""
    if kind == "string":
        return text
    if kind == "boolean":
        if text.casefold() not in ("true", "false"):
            raise NotOfType(text)
        return text.casefold() == "true"
    if kind == "array":
        return _parse_list(text)
    if kind == "integer":
        if not _INTEGER.fullmatch(text):
            raise NotOfType(text)
        return int(text)
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise NotOfType(text)
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _parse_list(text: str) -> tuple[str, ...]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise NotOfType(text) from None
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise NotOfType(text)
    return tuple(items)


def join_names(parameters: Sequence[ParameterDefinition]) -> str:
    return ", ".join(parameter.name for parameter in parameters) or "none"
