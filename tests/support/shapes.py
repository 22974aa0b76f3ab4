"""Read the shapes of `skillc.cli.shapes`, and compare JSON with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r'\s*("[\w-]+"\??|[{}\[\]:,|]|\w+)')
SCALARS: dict[str, tuple[type, ...]] = {
    "text": (str, type(None)),
    "N": (int, float, type(None)),
    "bool": (bool, type(None)),
    "any": (object,),
}


@dataclass(frozen=True)
class Shape:
    """A value: a scalar, a list of `item`, an object of `members`, a map to `item`, or one of `choices`."""

    kind: str
    item: Shape | None = None
    members: tuple[tuple[str, bool, Shape], ...] = ()
    choices: tuple[Shape, ...] = ()

    def names(self) -> Iterator[str]:
        """Yield the key of every member, at any depth."""
        for name, _, value in self.members:
            yield name
            yield from value.names()
        for part in (*self.choices, *([self.item] if self.item else [])):
            yield from part.names()

    def faults(self, value: Any, place: str = "$") -> list[str]:
        """Return what a value has that the shape has not, and the other way round."""
        if self.kind == "choice":
            all_faults = [choice.faults(value, place) for choice in self.choices]
            return min(all_faults, key=len)
        if self.kind == "list" and self.item:
            if not isinstance(value, list):
                return [f"{place} is no list: {value!r}"]
            return [
                fault for n, each in enumerate(value) for fault in self.item.faults(each, f"{place}[{n}]")
            ]
        if self.kind == "map" and self.item:
            if not isinstance(value, dict):
                return [f"{place} is no object: {value!r}"]
            return [
                fault for key, each in value.items() for fault in self.item.faults(each, f"{place}.{key}")
            ]
        if self.kind == "object":
            return self._object_faults(value, place)
        types = SCALARS[self.kind]
        is_fit = isinstance(value, types) and (self.kind in ("bool", "any") or not isinstance(value, bool))
        return [] if is_fit else [f"{place} is not {self.kind}: {value!r}"]

    def _object_faults(self, value: Any, place: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{place} is no object: {value!r}"]
        names = {name for name, _, _ in self.members}
        faults = [f"{place}.{key} is not in the shape" for key in value if key not in names]
        for name, is_optional, shape in self.members:
            if name in value:
                faults += shape.faults(value[name], f"{place}.{name}")
            elif not is_optional:
                faults.append(f"{place}.{name} is missing")
        return faults


def parse_shape(text: str) -> Shape:
    """Return the shape that a text of `SHAPES` describes."""
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == re.sub(r"\s", "", text), text
    shape = _parse(tokens)
    assert not tokens, (text, tokens)
    return shape


def _parse(tokens: list[str]) -> Shape:
    choices = [_parse_one(tokens)]
    while tokens[:1] == ["|"]:
        tokens.pop(0)
        choices.append(_parse_one(tokens))
    return choices[0] if len(choices) == 1 else Shape("choice", choices=tuple(choices))


def _parse_one(tokens: list[str]) -> Shape:
    token = tokens.pop(0)
    if token == "[":
        item = _parse(tokens)
        assert tokens.pop(0) == "]"
        return Shape("list", item)
    if token == "{":
        return _parse_object(tokens)
    return Shape(token if token in SCALARS else "text")


def _parse_object(tokens: list[str]) -> Shape:
    if not tokens[0].startswith('"') and tokens[0] != "}":  # the name of the keys of a map
        tokens.pop(0)
        assert tokens.pop(0) == ":"
        item = _parse(tokens)
        assert tokens.pop(0) == "}"
        return Shape("map", item)
    members: list[tuple[str, bool, Shape]] = []
    while tokens[0] != "}":
        name = tokens.pop(0)
        value = Shape("text")
        if tokens[0] == ":":
            tokens.pop(0)
            value = _parse(tokens)
        members.append((name.strip('"?'), name.endswith("?"), value))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    return Shape("object", members=tuple(members))
