"""JSON schemas for the arguments of tools: build them, and check arguments against them.

>>> schema = object_schema(["count"], count=property_schema("integer", "How many.", minimum=1, maximum=9))
>>> check_arguments("list", schema, {"count": "3"})
"argument 'count' must be an integer"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TYPE_WORDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}
_CLASSES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
}


def object_schema(required: Sequence[str] = (), /, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def property_schema(type_: str, description: str = "", **keywords: Any) -> dict[str, Any]:
    """Return the schema of one argument; an array is one of texts."""
    schema: dict[str, Any] = {"type": type_}
    if type_ == "array":
        schema["items"] = {"type": "string"}
    if description:
        schema["description"] = description
    return schema | keywords


def has_type(value: object, type_: str) -> bool:
    """Return whether a value is of a schema's type; true and false are no numbers."""
    if not isinstance(value, _CLASSES[type_]) or (isinstance(value, bool) and type_ != "boolean"):
        return False
    return not isinstance(value, list | tuple) or all(isinstance(item, str) for item in value)


def check_arguments(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments of a call, for a model to act on; None if nothing is."""
    properties = schema["properties"]
    for name, value in arguments.items():
        if name not in properties:
            return f"unknown argument '{name}'; {tool} takes {', '.join(properties)}"
        rule = properties[name]
        if not has_type(value, rule["type"]):
            return f"argument '{name}' must be {TYPE_WORDS[rule['type']]}"
        if "maximum" in rule and not rule["minimum"] <= value <= rule["maximum"]:
            return f"argument '{name}' must be from {rule['minimum']} to {rule['maximum']}"
    absent = [name for name in schema["required"] if name not in arguments]
    return f"argument '{absent[0]}' is missing" if absent else None
