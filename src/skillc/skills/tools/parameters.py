"""The parameters of a tool: the table's rows, their types, and the defaults that descriptions state [D37].

>>> stated_default("Max results (default: 10).")
'10'
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillc.errors import Diagnostic, InvalidTool, warning

if TYPE_CHECKING:
    from skillc.skills.tools.blocks import ToolBlock

TYPES = ("string", "integer", "number", "boolean", "array")
MAX_INTEGER = 2**63 - 1
Value = str | int | float | bool | tuple[str, ...]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REQUIRED = {"yes": True, "true": True, "no": False, "false": False, "": False}
_DEFAULT = re.compile(r"\(default:\s*", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ParameterDefinition:
    """A parameter; `default` is what its description states, None where it states none."""

    name: str
    type: str
    required: bool = False
    description: str = ""
    default: Value | None = None


class NotOfType(ValueError):
    """Text that is no value of a type."""


def read_parameters(
    block: ToolBlock, refuse: Callable[[str], InvalidTool]
) -> tuple[tuple[ParameterDefinition, ...], list[Diagnostic]]:
    """The parameters of a tool's table, and what there is to say of them."""
    if block.tables is None:
        return (), [warning("W061", block.title)]
    if not block.tables:
        return (), []
    if len(block.tables) > 1:
        raise refuse("more than one table under Parameters")
    header, *rows = block.tables[0]
    columns = [cell.casefold() for cell in header]
    for needed in ("name", "type"):
        if columns.count(needed) != 1:
            raise refuse(f"the parameter table needs one column '{needed.title()}'")
    noticed: list[Diagnostic] = []
    found: dict[str, ParameterDefinition] = {}
    for row in rows:
        cells = dict(zip(columns, row, strict=False))
        parameter = _parameter(cells, block.title, refuse, noticed)
        if parameter.name in found:
            raise refuse(f"duplicate parameter '{parameter.name}'")
        found[parameter.name] = parameter
    return tuple(found.values()), noticed


def _parameter(
    cells: dict[str, str], tool: str, refuse: Callable[[str], InvalidTool], noticed: list[Diagnostic]
) -> ParameterDefinition:
    name, kind = cells["name"], cells["type"].casefold()
    if not _NAME.fullmatch(name):
        raise refuse(f"parameter '{name}': a name is 1 to 64 letters, digits, - and _")
    if kind not in TYPES:
        raise refuse(f"parameter '{name}': type must be {', '.join(TYPES)}, not '{cells['type']}'")
    required = cells.get("required", "").casefold()
    if required not in _REQUIRED:
        raise refuse(f"parameter '{name}': required must be yes or no, not '{cells['required']}'")
    description = cells.get("description", "")
    stated = stated_default(description)
    default = None
    if stated is not None:
        try:
            default = value_of(kind, stated)
        except NotOfType:
            noticed.append(warning("W064", stated, name, tool, kind))
    return ParameterDefinition(name, kind, _REQUIRED[required], description, default)


def stated_default(description: str) -> str | None:
    """The X of `(default: X)`; parentheses inside it are closed first."""
    start = _DEFAULT.search(description)
    if start is None:
        return None
    depth = 1
    for at in range(start.end(), len(description)):
        depth += {"(": 1, ")": -1}.get(description[at], 0)
        if not depth:
            return _unquoted(description[start.end() : at].strip())
    return None


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def value_of(kind: str, text: str) -> Value:
    """Text as a value of a type; raises NotOfType. A list is JSON's."""
    if kind == "string":
        return text
    if kind == "boolean":
        if text.casefold() not in ("true", "false"):
            raise NotOfType(text)
        return text.casefold() == "true"
    if kind == "array":
        return _list(text)
    if kind == "integer":
        if not _INTEGER.fullmatch(text) or abs(int(text)) > MAX_INTEGER:
            raise NotOfType(text)
        return int(text)
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise NotOfType(text)
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _list(text: str) -> tuple[str, ...]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise NotOfType(text) from None
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise NotOfType(text)
    return tuple(items)


def names(parameters: Sequence[ParameterDefinition]) -> str:
    """Their names for a message."""
    return ", ".join(parameter.name for parameter in parameters) or "none"
