"""JSON as text: what is cut is the member, and nothing else changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.jsonc import add_item, count_comments, cut_value, parse_jsonc, put_value
from tests.support.cases import each

SPACE = st.sampled_from(["", " ", "\n", "\r\n\t", " // note\n", "/* , } */", "\n  "])
WORDS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def _render(value: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A value as text with spaces, comments and commas at ends wherever they may be."""

    def space() -> str:
        return str(draw(SPACE))

    if isinstance(value, dict):
        items = [f"{space()}{json.dumps(k)}{space()}:{space()}{_render(v, draw)}" for k, v in value.items()]
    elif isinstance(value, list):
        items = [space() + _render(item, draw) for item in value]
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    end = "," if items and draw(st.booleans()) else ""
    text = f"{space()},".join(items) + space() + end + space()
    return "{" + text + "}" if isinstance(value, dict) else "[" + text + "]"


@given(st.dictionaries(WORDS, VALUES, max_size=3), VALUES, st.integers(0, 3), st.data())
@pytest.mark.slow
def test_cut(others: dict[str, Any], ours: Any, position: int, data: st.DataObject) -> None:
    """[SURFACES: Serving] the value is what it was without the member, and no comment is lost."""
    items = [(k, v) for k, v in others.items() if k != "ours"]
    items.insert(position, ("ours", ours))
    value = {"first": 1, "servers": dict(items), "last": [2]}
    text = _render(value, data.draw)
    assert parse_jsonc(text) == value
    after = cut_value(text, ("servers", "ours"))
    value["servers"] = {k: v for k, v in items if k != "ours"}
    assert parse_jsonc(after) == value
    assert after.count("\n") <= text.count("\n")


@given(st.dictionaries(WORDS, VALUES, max_size=3), VALUES, st.data())
@pytest.mark.slow
def test_put(others: dict[str, Any], ours: Any, data: st.DataObject) -> None:
    """[D76] the value has the new member or item, all else is what it was, and no comment is lost."""
    others.pop("ours", None)
    value = {"servers": others, "list": list(others.values()), "last": [2]}
    text = _render(value, data.draw)
    for after, expected in (
        (put_value(text, ("servers", "ours"), ours), value | {"servers": {**others, "ours": ours}}),
        (put_value(text, ("new", "ours"), ours), value | {"new": {"ours": ours}}),
        (add_item(text, ("list",), ours), value | {"list": [*value["list"], ours]}),
    ):
        assert parse_jsonc(after) == expected
        assert count_comments(after) >= count_comments(text)
    assert parse_jsonc(cut_value(add_item(text, ("list",), ours), ("list", len(others)))) == value


@each(
    ("before", "after"),
    [
        ("", '{\n  "s": {\n    "x": 1\n  }\n}\n'),
        ("{}\n", '{\n  "s": {\n    "x": 1\n  }\n}\n'),
        ('{"a": 1}', '{"a": 1, "s": {"x": 1}}'),
        ('{"s": {"y": 2}}', '{"s": {"y": 2, "x": 1}}'),
        ('{\n\t"a": 1 // of a\n}\n', '{\n\t"a": 1, // of a\n\t"s": {\n\t\t"x": 1\n\t}\n}\n'),
        ('{\r\n    "s": {}\r\n}', '{\r\n    "s": {\r\n        "x": 1\r\n    }\r\n}'),
        ('{\n  "s": {\n    "x": 0, "y": 2\n  }\n}', '{\n  "s": {\n    "x": 1, "y": 2\n  }\n}'),
    ],
)
def test_layout(before: str, after: str) -> None:
    """[D76] what is put in is laid out as what is around it, and is there once."""
    assert put_value(before, ("s", "x"), 1) == after == put_value(after, ("s", "x"), 1)


@given(SPACE, SPACE, SPACE, SPACE)
def test_comments_around_a_member_stay(one: str, two: str, three: str, four: str) -> None:
    """[SURFACES: Serving] those before the key, and after the comma or the last value."""
    first = f'{{{one}"x": 1,{two}"y": 2{three}}}{four}'
    last = f'{{{one}"y": 2{two},{three}"x": {{}}{four}}}'
    for text in (first, last):
        after = cut_value(text, ("x",))
        assert parse_jsonc(after) == {"y": 2}
        assert count_comments(after) == count_comments(text)


@each(
    ("before", "after"),
    [
        ('{"s": {"x": 1}}', '{"s": {}}'),
        ('{"s": {\n  "x": 1\n}}', '{"s": {}}'),
        ('{"s": {"x": 1, "y": 2}}', '{"s": {"y": 2}}'),
        ('{"s": {"y": 2, "x": 1}}', '{"s": {"y": 2}}'),
        ('{"s": {"y": 2, "x": 1,}}', '{"s": {"y": 2,}}'),
        ('{"s": {"y": 2, // of y\n "x": 1 // of x\n}}', '{"s": {"y": 2 // of y\n // of x\n}}'),
        ('{"s": {"y": 2, // of y\n "x": 1\n}}', '{"s": {"y": 2 // of y\n}}'),
        ('{"s": {/* a */ "x": 1}}', '{"s": {/* a */}}'),
    ],
)
def test_spaces_and_comments(before: str, after: str) -> None:
    """[SURFACES: Serving] a cut takes the space before the member and the comma that is too many."""
    assert cut_value(before, ("s", "x")) == after


@each("text", ["", "{", "[1", '{"a"}', "{a: 1}", '"open', "/*", "{]", "1 2", '{"a": 1,,}'])
def test_what_is_no_json(text: str) -> None:
    """[SURFACES: Serving] is refused."""
    with pytest.raises(ValueError):
        parse_jsonc(text)


@each("text", ["[]", "{}", '{"s": []}', '{"s": {}}', '{"s": {"x": 1, "x": 2}}', '{"s":{},"s":{}}'])
def test_what_can_not_be_cut(text: str) -> None:
    """[SURFACES: Serving] a member that is missing, or there twice."""
    with pytest.raises(ValueError):
        cut_value(text, ("s", "x"))
