"""Command templates: what is promised by a template is exactly what a program gets."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from skillc.errors import InvalidParameter
from skillc.skills.tools import ParameterDefinition
from skillc.skills.tools.template import InvalidTemplate, parse_template
from skillc.tools.arguments import build_command_line, check_values, parse_values
from tests.support.cases import each

TYPES = {"s": "string", "query": "string", "i": "integer", "limit": "integer"}
TYPES |= {"n": "number", "b": "boolean", "a": "array"}
PARAMETERS = [ParameterDefinition(name, kind) for name, kind in TYPES.items()]


def argv(template: str, /, **values: Any) -> list[str]:
    """As a run does it: parsed, checked, filled."""
    parsed = parse_template(template, PARAMETERS)
    return build_command_line(parsed, check_values(PARAMETERS, values))


@each(
    ("template", "values", "expected"),
    [
        ("git log -n {{i}} --oneline", {"i": 5}, ["git", "log", "-n", "5", "--oneline"]),
        (
            'curl "https://api.com/search?q={{query}}&n={{limit}}"',
            {"query": "rust lang", "limit": 5},
            ["curl", "https://api.com/search?q=rust%20lang&n=5"],
        ),
        (
            "program arg1 arg2 {{query}} --limit={{limit}}",
            {"query": "two words", "limit": 10},
            ["program", "arg1", "arg2", "two words", "--limit=10"],
        ),
        ("program arg1 arg2 {{query}} --limit={{limit}}", {"query": "x"}, ["program", "arg1", "arg2", "x"]),
        ("git diff {{b:--staged}}", {"b": True}, ["git", "diff", "--staged"]),
        ("git diff {{b:--staged}}", {"b": False}, ["git", "diff"]),
        ("git diff {{b:--staged}}", {}, ["git", "diff"]),
        (
            "./scripts/deploy.sh preview {{s}}",
            {"s": "a; rm -rf / && $(x) `y` | z > w"},
            ["./scripts/deploy.sh", "preview", "a; rm -rf / && $(x) `y` | z > w"],
        ),
        (
            "npx @anthropic-ai/summarize {{s}}",
            {"s": "https://x/?a b"},
            ["npx", "@anthropic-ai/summarize", "https://x/?a b"],
        ),
    ],
)
def test_the_documents_examples(template: str, values: dict[str, Any], expected: list[str]) -> None:
    """[TOOLS §3.4] [TOOLS §3.5] [TOOLS §8.1] [TOOLS §8.2] the document's own commands."""
    assert argv(template, **values) == expected


@each(
    ("template", "expected"),
    [
        (r'''p "\$x \"y\" \\ \n"''', ["p", r"""$x "y" \ \n"""]),
        ("p a \\\n  b", ["p", "a", "b"]),
        ("p a\\\nb", ["p", "ab"]),
        ('p "a\\\nb"', ["p", "ab"]),
        ("\n\n  p a\n\n", ["p", "a"]),
        ("p 'a\nb'", ["p", "a\nb"]),
        ("p a\r\n", ["p", "a"]),
        ("p | $HOME * ~ # > x", ["p", "|", "$HOME", "*", "~", "#", ">", "x"]),
        ("p }} {x}", ["p", "}}", "{x}"]),
    ],
)
def test_quoting(template: str, expected: list[str]) -> None:
    """[D36] [TOOLS §3.5] POSIX quoting, lines that are joined, and nothing of a shell beyond."""
    assert argv(template) == expected


@each(
    ("template", "words"),
    [
        ("", "empty"),
        ("  \n \n", "empty"),
        ("p a\nq b", "more than one line"),
        ("p 'a", "' is not closed"),
        ('p "a', '" is not closed'),
        ("p a\\", "quotes nothing"),
        ("p \\{{s}}", "quotes nothing"),
        ("p {{s", "'{{' is not closed"),
        ("p {{s\n}}", "'{{' is not closed"),
        ("{{s}} a", "program can't be a parameter"),
        ("./{{s}}/run", "program can't be a parameter"),
        ("'' a", "there is no program"),
        ("./.git/run", "hidden"),
        (".venv/bin/x", "hidden"),
        ("p {{unknown}}", "{{unknown}} is no parameter; there are s, query"),
        ("p {{}}", "is no parameter"),
        ("p {{i:ten}}", "default 'ten' of 'i' is not of its type"),
        ("p {{a:[1]}}", "is not of its type"),
        ("p https://{{s}}/x", "in the host of a URL"),
        ("p https://host{{s}}/x", "in the host of a URL"),
        ("p HTTP://user:{{s}}@host/", "in the host of a URL"),
        ("p 'http://h':{{i}}/x", "in the host of a URL"),
    ],
)
def test_templates_that_are_refused(template: str, words: str) -> None:
    """[D36] [D39] [D41] what can't be one program with arguments."""
    with pytest.raises(InvalidTemplate) as caught:
        parse_template(template, PARAMETERS)
    assert words in str(caught.value)


@each(
    ("template", "values", "expected"),
    [
        ("p {{i:7}}", {}, ["p", "7"]),
        ("p {{i:7}}", {"i": 8}, ["p", "8"]),
        ("p {{ s : a b }}", {}, ["p", " a b "]),
        ("p {{s:}}", {}, ["p", ""]),
        ("p '{{s:it's}}'", {}, ["p", "it's"]),
        ("p {{a:.}}", {}, ["p", "."]),
        ('p {{a:["x", "y z"]}}', {}, ["p", "x", "y z"]),
        ("p -n {{i}} end", {}, ["p", "end"]),
        ("p -v -n {{i}} end", {}, ["p", "-v", "end"]),
        ("p --limit={{i}} end", {}, ["p", "end"]),
        ("p --format=json {{s}}", {}, ["p", "--format=json"]),
        ("p x {{s}}", {}, ["p", "x"]),
        ("p -- {{s}}", {}, ["p", "--"]),
        ("p --from {{s}}..{{query}} z", {"s": "a"}, ["p", "z"]),
        ("p --all {{b:--force}}", {}, ["p", "--all"]),
        ("p --color={{b:always}}", {"b": True}, ["p", "--color=always"]),
        ("p --color={{b:always}}", {"b": False}, ["p"]),
        ("p {{b}}", {"b": False}, ["p", "false"]),
        ("p {{s}}", {"s": ""}, ["p", ""]),
        ("p {{s}}", {"s": None}, ["p"]),
        ("p {{a}} z", {"a": ["x y", "", "z"]}, ["p", "x y", "", "z", "z"]),
        ("p --files {{a}} z", {"a": []}, ["p", "z"]),
        ("p --all={{a}}", {"a": ["x", "y"]}, ["p", "--all=x y"]),
        ("p {{n}}", {"n": 1.5}, ["p", "1.5"]),
        ("p {{n}}", {"n": -2}, ["p", "-2"]),
        ("p {{i}}", {"i": 3.0}, ["p", "3"]),
    ],
)
def test_defaults_and_what_is_dropped(template: str, values: dict[str, Any], expected: list[str]) -> None:
    """[D37] [D38] [TOOLS §3.4] defaults, flags, lists, and tokens without a value."""
    assert argv(template, **values) == expected


def test_defaults_of_the_table() -> None:
    """[TOOLS §3.4] [TOOLS §9.3] [D37] the template's default wins over the table's, a value over both; a
    required one has none.
    """
    parameters = [
        ParameterDefinition("k", "integer", default=10),
        ParameterDefinition("f", "boolean", default=True),
    ]
    template = parse_template("p {{k}} {{k:5}} {{f:--f}}", parameters)
    assert build_command_line(template, {}) == ["p", "10", "5", "--f"]
    assert build_command_line(template, {"k": 1, "f": False}) == ["p", "1", "1"]
    parameter = ParameterDefinition("k", "string", required=True, default="x")
    for given_values in ({}, {"k": None}):
        with pytest.raises(InvalidParameter, match="'k': required and missing"):
            check_values([parameter], given_values)


@each(
    ("template", "value", "expected"),
    [
        ("p https://h/{{s}}", "a/b?c#d&e=f g+h%", "https://h/a%2Fb%3Fc%23d%26e%3Df%20g%2Bh%25"),
        ("p https://h?q={{s}}", "ü", "https://h?q=%C3%BC"),
        ("p 'https://h/'{{s}}", "../x", "https://h/..%2Fx"),
        ("p {{s}}", "https://h/a b", "https://h/a b"),
        ("p x=https://h/{{s}}", "a b", "x=https://h/a b"),
        ("p https://h/{{s:a b}}", None, "https://h/a%20b"),
    ],
)
def test_urls(template: str, value: str | None, expected: str) -> None:
    """[D39] in a URL values are encoded after the authority; a token that is only the variable is not."""
    assert argv(template, s=value) == ["p", expected]


@each(
    ("template", "values", "name"),
    [
        ("p {{s}}", {"s": "--output=x"}, "s"),
        ("p {{s}}", {"s": "-"}, "s"),
        ("p {{s}}.txt", {"s": "-x"}, "s"),
        ("p {{s}}{{query}}", {"s": "", "query": "-x"}, "query"),
        ("p {{a}}", {"a": ["ok", "-x"]}, "a"),
        ("p --in {{a}}", {"a": ["-ok", "-x"]}, "a"),
        ("p --in=y {{s}}", {"s": "-x"}, "s"),
        ("p {{b:--all}} {{s}}", {"b": True, "s": "-x"}, "s"),
        ("p x {{s}} --", {"s": "-x"}, "s"),
        ("p -n {{i}} {{s}}", {"s": "-x"}, "s"),
    ],
)
def test_option_injection(template: str, values: dict[str, Any], name: str) -> None:
    """[D40] a value can't pose as an option; the refusal names the parameter."""
    with pytest.raises(InvalidParameter, match=f"invalid parameter '{name}': starts with '-'"):
        argv(template, **values)


@each(
    ("template", "values", "last"),
    [
        ("p -m {{s}}", {"s": "-x"}, "-x"),
        ("p -- {{s}}", {"s": "-x"}, "-x"),
        ("p -- a {{s}}", {"s": "-x"}, "-x"),
        ("p --m={{s}}", {"s": "-x"}, "--m=-x"),
        ("p a{{s}}", {"s": "-x"}, "a-x"),
        ("p {{i}}", {"i": -5}, "-5"),
        ("p {{n}}", {"n": -1.5}, "-1.5"),
        ("p {{s:-}}", {}, "-"),
    ],
)
def test_where_a_hyphen_is_harmless(template: str, values: dict[str, Any], last: str) -> None:
    """[D40] after an option, after `--`, inside a token, of a number type, and where the author wrote it."""
    assert argv(template, **values)[-1] == last


@each(
    ("values", "words"),
    [
        ({"x": 1}, "'x': unknown; there are s, query"),
        ({"s": 1}, "'s': must be text, not a number"),
        ({"s": True}, "'s': must be text, not true or false"),
        ({"s": ["a"]}, "'s': must be text, not a list"),
        ({"s": "a\0b"}, "'s': has a NUL byte"),
        ({"a": ["a\0"]}, "'a': has a NUL byte"),
        ({"s": "\ud800"}, "'s': has characters that no argument can hold"),
        ({"s": "x" * 131_072}, "'s': is over"),
        ({"i": "5"}, "'i': must be an integer, not text"),
        ({"i": True}, "'i': must be an integer, not true or false"),
        ({"i": 1.5}, "'i': must be an integer, not 1.5"),
        ({"i": 10**4300}, "'i': has more than 4300 digits"),
        ({"n": float("nan")}, "'n': must be finite"),
        ({"n": float("inf")}, "'n': must be finite"),
        ({"n": "1"}, "'n': must be a number, not text"),
        ({"b": 1}, "'b': must be true or false, not a number"),
        ({"b": "true"}, "'b': must be true or false, not text"),
        ({"a": "x"}, "'a': must be a list of texts, not text"),
        ({"a": [1]}, "'a': must be a list of texts"),
        ({"a": {"x": 1}}, "'a': must be a list of texts, not an object"),
        ({"a": ["x" * 100_000] * 20}, "'a': makes a command line that is too long"),
    ],
)
def test_values_of_the_wrong_type(values: dict[str, Any], words: str) -> None:
    """[D40] [TOOLS §3.3] checked before anything starts, E062."""
    with pytest.raises(InvalidParameter) as caught:
        argv("p {{s}} {{i}} {{n}} {{b}} {{a}}", **values)
    assert words in caught.value.message
    assert caught.value.code == "E062"


def test_values_as_text() -> None:
    """[D40] `--param name=text`: typed, lists by repetition or as JSON, nothing twice."""
    given_texts = [("s", "5"), ("i", "5"), ("n", "2.5"), ("b", "true")]
    given_texts += [("a", text) for text in ("x", '["y", "z"]', "[")]
    expected = {"s": "5", "i": 5, "n": 2.5, "b": True, "a": ["x", "y", "z", "["]}
    assert parse_values(PARAMETERS, given_texts) == expected
    for pairs in ([("s", "1"), ("s", "2")], [("i", "x")], [("b", "maybe")], [("zzz", "")]):
        with pytest.raises(InvalidParameter):
            parse_values(PARAMETERS, pairs)
    for text, words in ("9" * 5000, "has more than 4300 digits"), ("x" * 5000, f"not '{'x' * 59}…'"):
        with pytest.raises(InvalidParameter, match=words):
            parse_values(PARAMETERS, [("i", text)])


# --- For any values: exactly the tokens that the template promises -------------------------------------

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
special = st.sampled_from(
    [
        *("{{s}}", "{{b:--x}}", "$(id)", "`id`", "a b", "'", '"', "\\", "\n", "*", "~", ";", "|"),
        *("%00", "&&", "--", ""),
    ]
)
words = st.lists(special | texts, max_size=4).map("".join)
values_of: dict[str, st.SearchStrategy[Any]] = {
    "string": words,
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "array": st.lists(words, max_size=4),
}
some_values = st.fixed_dictionaries({}, optional={name: values_of[kind] for name, kind in TYPES.items()})
literals = st.text(st.sampled_from(list("abz-_=/.:'\" \\$|*\n\t{}#")), min_size=1, max_size=6).filter(
    lambda text: "{{" not in text and not text.endswith("{") and not text.startswith("}")
)
# A token is a list of pieces: literal text, or (name, modifier).
token_pieces = st.lists(literals | st.tuples(st.sampled_from(list(TYPES)), st.none()), min_size=1, max_size=3)


def written(pieces: list[Any]) -> str:
    """A token as an author could write it."""
    return "".join(shlex.quote(p) if isinstance(p, str) else f"{{{{{p[0]}}}}}" for p in pieces)


def promised(pieces: list[Any], values: dict[str, Any]) -> list[str]:
    """What one token becomes, from the document's rules alone."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return " ".join(value) if isinstance(value, list) else str(value)

    given_values = [values.get(p[0]) for p in pieces if not isinstance(p, str)]
    if any(value is None or value == [] for value in given_values):
        return []
    if len(pieces) == 1 and isinstance(given_values and given_values[0], list):
        return list(given_values[0] or ())
    return ["".join(p if isinstance(p, str) else text(values[p[0]]) for p in pieces)]


@pytest.mark.slow
@given(st.lists(token_pieces, max_size=5), some_values)
def test_exactly_the_promised_tokens(tokens: list[list[Any]], values: dict[str, Any]) -> None:
    """[D36] [TOOLS §6.1] for any values every token is its own argument and nothing is expanded again.

    After `--`, so that the rules about options (tested above) do not apply.
    """
    template = " ".join(["p", "--", "x", *(f"x{written(token)}" for token in tokens)])
    expected = [text for token in tokens for text in promised(["x", *token], values)]
    assert argv(template, **values) == ["p", "--", "x", *expected]


@given(words)
def test_no_value_leaves_its_place_in_a_url(value: str) -> None:
    """[D39] whatever a value holds, scheme, host, and the parts around it stay what they were."""
    url = argv("p https://host/a/{{s}}/b?c={{s}}#d", s=value)[1]
    head, path, tail = "https://host/a/", url.removeprefix("https://host/a/").partition("/b?c=")[0], "#d"
    assert url == f"{head}{path}/b?c={path}{tail}"
    assert not set(path) & set("/?#& \n'\"\\")


@given(st.text(st.sampled_from(list("ab{}:'\"\\ \n\tsi-=/$")), max_size=30), some_values)
def test_any_template_is_filled_or_refused(template: str, values: dict[str, Any]) -> None:
    """[D36] no template and no values raise anything but what they should."""
    try:
        made = argv(template, **values)
    except (InvalidTemplate, InvalidParameter):
        return
    assert made
    assert all(isinstance(word, str) and "\0" not in word for word in made)


@given(st.text(st.sampled_from(list("ab'\" \t\\-=/.")), max_size=20))
@example("p 'a b' \"c d\" e\\ f '' \"\" 'a'\"b\"c 'a\\b'")
def test_quoting_is_what_others_have(template: str) -> None:
    """[D36] on one line it splits like the standard library's POSIX splitter."""
    try:
        expected = shlex.split(template)
    except ValueError:
        expected = []
    if expected and expected[0] and not expected[0].startswith(".") and "/." not in expected[0]:
        assert argv(template) == expected
    elif not expected:
        with pytest.raises(InvalidTemplate):
            argv(template)
