"""YAML 1.2's core schema: what values mean, and that nothing in it runs, grows or hangs."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.skills.document import yaml
from skillc.skills.document.yaml import MAX_DEPTH, MAX_NODES, NotYaml, load_yaml, resolve_scalar
from tests.support.cases import each
from tests.support.deadline import ends
from tests.support.examples import sample
from tests.support.yaml import NASTY, billion_laughs, json_values, yaml_like

KIB_64 = 64 * 1024


def value(text: str) -> Any:
    return load_yaml(text).value


# What a scalar means


NULL = re.compile(r"null|Null|NULL|~|")
BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
SCALARS = [
    # not in the core schema, whatever YAML 1.1 made of them
    *("2024-05-01", "2024-05-01T10:00:00Z", "yes", "No", "on", "OFF", "y", "1_000", "0b11", "12:30:45"),
    *("1.2.3", "=", "0o18", "0x", "-0x1F", ".", "1e", "+", "١٢", "nULL", "tRue"),
    *("", "~", "null", "Null", "true", "FALSE"),
    *("0", "-12", "+12", "017", "0o17", "0x1F", "1.5", "1.", ".5", "1e3", "-1.5E-3"),
    *(".inf", "-.INF", ".NaN", "1e999"),  # JSON has none of these
]


def read_plain(text: str) -> object:
    """Return what YAML 1.2's table of patterns makes of a plain scalar (10.3.2)."""
    if NULL.fullmatch(text):
        return None
    if BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if INTEGER.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if FLOAT.fullmatch(text) and isfinite(float(text)):
        return float(text)
    return text


@given(st.text("+-.0123456789eExXoabfF_: ", max_size=8) | st.from_regex(FLOAT) | st.text(max_size=8))
def test_plain_is_the_specification(text: str) -> None:
    """[D4] dates, yes/no and the like stay text; numbers, booleans and null are what YAML 1.2 says."""
    found = resolve_scalar(text)
    assert (type(found), found) == (type(read_plain(text)), read_plain(text))


def test_scalars() -> None:
    """[D4] the same as values of a mapping; what is quoted is text."""
    for text in SCALARS:
        found = value(f"x: {text}\n")["x"]
        assert (type(found), found) == (type(read_plain(text)), read_plain(text)), text
    assert value('[017, \'1\', "true", ""]') == [17, "1", "true", ""]


@each("digits", [10, 300, 4000, 5000, 60_000])
@each("prefix", ["", "-", "0x", "0o", "0.", "1e"])
def test_huge_numbers(prefix: str, digits: int) -> None:
    """[D5] a number of any length gives a value that can be written as JSON."""
    text = prefix + "7" * digits
    found = value(f"x: {text}")["x"]
    json.dumps(found)
    if prefix in ("", "-") and digits <= 300:
        assert found == int(text)


# Mappings


@each("key", ["1", "1.0", "true", "null", "~", "2024-05-01", "0x1F", "yes"])
def test_keys_are_text(key: str) -> None:
    """[D4] a key is the text that was written, whatever it would mean as a value."""
    assert value(f"{key}: x") == {key: "x"}


@each("key", ["[a]", "{a: b}", "? [a]\n", "? {a: b}\n"])
def test_keys_that_cannot_be_text(key: str) -> None:
    """[D4] a key that is a list or a mapping is not read."""
    with pytest.raises(NotYaml):
        load_yaml(f"{key}: x")


@each(
    ("text", "meaning", "duplicates"),
    [
        ("a: 1\nb: 2\n", {"a": 1, "b": 2}, ()),
        ("a: 1\na: 2\n", {"a": 2}, ("a",)),
        ("a: 1\nb: 2\na: 3\nb: 4\n", {"a": 3, "b": 4}, ("a", "b")),
        ("a: 1\na: 2\na: 3\n", {"a": 3}, ("a",)),
        ("m:\n  a: 1\n  a: 2\n", {"m": {"a": 2}}, ("a",)),
        ("1: x\n'1': y\n", {"1": "y"}, ("1",)),
        ("m: {a: 1}\nn: {a: 2}\n", {"m": {"a": 1}, "n": {"a": 2}}, ()),
    ],
)
def test_duplicates(text: str, meaning: object, duplicates: tuple[str, ...]) -> None:
    """[D4] the last value of a key counts, and each key that is set more than once is named once."""
    loaded = load_yaml(text)
    assert (loaded.value, loaded.duplicates) == (meaning, duplicates)


def test_merge_key_is_a_key() -> None:
    """[D4] `<<` is YAML 1.1's; the core schema has no merge."""
    assert value("a: &a {x: 1}\nb:\n  <<: *a\n") == {"a": {"x": 1}, "b": {"<<": {"x": 1}}}


# Tags


@each(
    ("text", "meaning"),
    [
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("!!int 12", 12),
        ('!!int "12"', 12),
        ("!!int twelve", "twelve"),
        ("!!float 1.5", 1.5),
        ("!!bool true", True),
        ("!!null ''", None),
        ("!!timestamp 2024-05-01", "2024-05-01"),
        ("!!binary aGVsbG8=", "aGVsbG8="),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!mine [1, 2]", [1, 2]),
        ("!!python/name:os.system", ""),
        ("!!python/object:os.system {a: 1}", {"a": 1}),
    ],
)
def test_tags(text: str, meaning: object) -> None:
    """[D5] a tag makes nothing but what the core schema has."""
    found = value(f"x: {text}\n")["x"]
    assert (type(found), found) == (type(meaning), meaning)


# Limits


@each(
    "text",
    [
        billion_laughs(),
        billion_laughs(levels=400, width=2),
        billion_laughs(levels=MAX_DEPTH + 1, width=1),  # a chain: no more values, but deeper and deeper
        "a: &a [*a]",
        "a: &a {b: *a}",
        "&a [&b [*a, *b]]",
        "a: *nowhere",
    ],
)
def test_aliases_without_bound(text: str) -> None:
    """[D5] bombs, chains and loops of aliases are refused at once."""
    with ends(), pytest.raises(NotYaml):
        load_yaml(text)


@each("text", [f'"{"x" * 60_000}"', "9" * 3900, "é" * 30_000])
def test_aliases_of_long_values(text: str) -> None:
    """[D5] a long value that is aliased many times makes no more than a megabyte."""
    try:
        found = value(f"a: &a {text}\nb: [{'*a,' * 1000}]")
    except NotYaml:
        return
    size = len(json.dumps(found, ensure_ascii=False))
    assert size < 16 * KIB_64


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_limits() -> None:
    """[D5] the limits are what they say; depth counts what an alias brings along."""
    value(nested(MAX_DEPTH))
    assert len(value(f"[{'0,' * (MAX_NODES - 1)}]")) == MAX_NODES - 1
    with pytest.raises(NotYaml):
        load_yaml(nested(MAX_DEPTH + 1))
    with pytest.raises(NotYaml):
        load_yaml(f"[{'0,' * MAX_NODES}]")
    inner, outer = nested(MAX_DEPTH // 2), MAX_DEPTH // 2 - 1
    text = "- &a {}\n- {}"
    value(text.format(inner, "[" * (outer - 1) + "*a" + "]" * (outer - 1)))
    with pytest.raises(NotYaml):
        load_yaml(text.format(inner, "[" * (outer + 1) + "*a" + "]" * (outer + 1)))


@pytest.mark.slow
@each("unit", sample(NASTY, 2, 1))
def test_nasty_input(unit: str) -> None:
    """[D5] 64 KiB of anything is read or refused at once, and what is read is JSON."""
    text = unit * (KIB_64 // len(unit.encode()))
    for whole in (text, f"x: {text}", f"x:\n  {text}", f"x: [{text}", f"x: '{text}"):
        with ends():
            try:
                json.dumps(value(whole))
            except NotYaml:
                pass


@given(yaml_like | st.text())
def test_any_text(text: str) -> None:
    """[D5] any text gives a JSON value or NotYaml."""
    try:
        found = value(text)
    except NotYaml:
        return
    assert json.loads(json.dumps(found)) == found


entry = st.tuples(
    st.sampled_from(["name", "allowed-tools", "a", "on", "x y", "-", "ключ", "name ", " in", "k" * 65]),
    st.sampled_from([": ", ":", ":  ", " : ", ": \t"]),
    st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=12),
        st.lists(
            st.sampled_from(
                ["word", ": ", " #", "#", ":", '"', "'", "\\", " ", "null", "true", "1", "é", "😀", "\xa0"]
            )
        ).map("".join),
    ),
).map("".join)


nested_line = st.sampled_from(
    [
        *("a:", "b: >", "c: >-", "d: |", "e: |-", "f: >+", "g: [one, two-b]", "h: [one,]", "i: []"),
        *("j: [a, 1]", "k: [true, null]", "l: 'one'", "m: 1.5", "n: 0o17", "o: 12:30", "p: {a: b}"),
        *("q: text", "r: 1 #", "  x: word", "  y:", "  z: |", "  - word", "  - 'a b'", "  - 1"),
        *("  - a: b", "  -", "  plain text", "    in: deeper", "    - deeper", "     text"),
        *("   odd: one", " w: 1", "  end ", "  # note", "", "", " ", "- top", "  true", "  : x"),
        *("  'quoted'", "  - [a, b]", "  ---", "  ...", "..."),
    ]
)


@given(
    st.lists(entry | st.sampled_from(["", " more", "- one", "---", "# note"]), max_size=4).map("\n".join)
    | st.lists(nested_line, max_size=7).map("\n".join)
)
def test_what_needs_no_parser(text: str) -> None:
    """[D5] lines that are read without the parser mean what it says."""
    try:
        expected = yaml.parse_yaml(text)
    except NotYaml:
        expected = None
    try:
        assert yaml.load_yaml(text) == expected
    except NotYaml:
        assert expected is None


@pytest.mark.parametrize(
    "text",
    [
        "name: pdf\ndescription: >-\n  Fill forms.\n  Use when asked.\nlicense: MIT\n",
        "metadata:\n  author: me\n  version: '1.0'\n  requires:\n    mcp: [rube, other-one]\n",
        "allowed-tools:\n  - Read\n  - Bash\nversion: 1.2\n",
        "description: |\n  one\n  two\n\n",
    ],
)
def test_usual_blocks_need_no_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D5] folded text, nested names and lists of words are read without loading the parser."""
    expected = yaml.parse_yaml(text)
    monkeypatch.setattr(yaml, "parse_yaml_events", None)
    assert yaml.load_yaml(text) == expected


@pytest.mark.slow
@given(json_values)
def test_json_is_yaml(original: object) -> None:
    """[D4] YAML 1.2 holds JSON: whatever is written as JSON reads back equal."""
    assert value(json.dumps(original, ensure_ascii=False)) == original


@each(("text", "line"), [("a: b: c", 0), ("x: 1\ny: 2\na: b: c\n", 2), ("a: \x00", None)])
def test_where_it_fails(text: str, line: int | None) -> None:
    """[D4] the line is told where the parser knows it, for the diagnostic."""
    with pytest.raises(NotYaml) as caught:
        load_yaml(text)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)
