"""Text as YAML holds it, for frontmatter that we write."""

from __future__ import annotations


def yaml_string(text: str) -> str:
    r"""`text` as a YAML double-quoted scalar on one line, which every YAML reader reads back equal.

    >>> print(yaml_string('He said: "é\n"'))
    "He said: \"é\n\""
    """
    return '"' + "".join(_yaml_character(c) for c in text) + '"'


def _yaml_character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c == "\n":
        return "\\n"
    if c == "\t":
        return "\\t"
    if c.isprintable():
        return c
    code = ord(c)
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"  # half a character, which no file can hold
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
