"""YAML of every kind: strategies and hostile documents."""

from __future__ import annotations

from hypothesis import strategies as st

# What a line of YAML is made of, to be put together in any order.
PIECES = [
    *("[", "]", "{", "}", "- ", "? ", ": ", ",", "&a ", "*a", "!!int ", "!x ", "'", '"', "\\", "#", "|"),
    ">",
]


PIECES += [
    *("\n", "\n  ", "\r\n", "\t", "a", "b: ", "<<: ", "0x1F", "1e9", ".nan", "~", "é", "\x00", "\u2028"),
    "%",
]


yaml_like = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


# Text that JSON and YAML write in the same way.
simple_text = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cn", "Co", "Zl", "Zp"]), max_size=20
)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | simple_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(simple_text, inner, max_size=4),
    max_leaves=20,
)


def billion_laughs(levels: int = 12, width: int = 10) -> str:
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return "\n".join(lines)


NASTY = [
    *("[", "{", "{a: ", "- ", "? ", "a: ", "[a,", "[[],", "{? ", "&a ", "*a ", "!a ", "'", '"', "|\n", ">"),
    "%",
]


NASTY += ["\t", "a:\n ", "- - [", "# ", "\\", "\u2028", "---\n", "...\n", '"\\x', "a\n\n"]
