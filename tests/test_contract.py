"""The one encoder of results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum

import pytest

from skillc.contract import KEY, encode, hidden, optional


class Level(Enum):
    HIGH = "high"


class Reading:
    """A class of the reading path, which has its own `as_json`."""

    def as_json(self) -> dict[str, object]:
        return {"line": 3}


@dataclass(frozen=True, slots=True)
class Part:
    path: str
    from_: str | None
    note: str = optional("")


@dataclass(frozen=True, slots=True)
class Whole:
    parts: tuple[Part, ...]
    level: Level = Level.HIGH
    names: frozenset[str] = field(default_factory=frozenset)


def test_fields_are_keys_in_order() -> None:
    """[D62] Nested results, values without a JSON of their own; another key for a field, or none."""
    value = Whole((Part("a", None), Part("b", "c", "d")), names=frozenset({"y", "x"}))
    assert encode(value) == {
        "parts": [{"path": "a", "from": None}, {"path": "b", "from": "c", "note": "d"}],
        "level": "high",
        "names": ["x", "y"],
    }
    assert list(encode(value)) == ["parts", "level", "names"]
    assert encode(Named("SKL001", "W011")) == {"rule": "SKL001"}


def test_other_values() -> None:
    """[D62] Times, classes of the reading path, odd names; anything else is refused, not guessed."""
    moment = datetime(2026, 11, 18, 5, 0, tzinfo=UTC)
    assert encode([moment, Reading(), {"n": 1.5, "b": True}, None]) == [
        "2026-11-18T05:00:00+00:00",
        {"line": 3},
        {"n": 1.5, "b": True},
        None,
    ]
    assert encode("a\udcff").encode() == encode("a\udcff").encode("utf-8")
    with pytest.raises(TypeError, match="object has no JSON"):
        encode(object())


@dataclass(frozen=True, slots=True)
class Named:
    number: str = field(metadata={KEY: "rule"})
    cause: str = hidden("")
