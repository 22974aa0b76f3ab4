"""Quote text for shells and for YAML.

>>> shell_quote("my skill"), shell_quote("my skill", '"')
("'my skill'", '"my skill"')
"""

from __future__ import annotations

_PLAIN = dict.fromkeys(map(ord, "-_./"))  # characters besides letters and digits that no shell acts on


def shell_quote(text: str, mark: str = "'") -> str:
    r"""Return `text` as one word for a POSIX shell, on one line.

    With `mark='"'` it is in double quotes where nothing in it has a meaning there.

    >>> print(shell_quote("pdf"), shell_quote("it's"), shell_quote("a\nb"))
    pdf 'it'\''s' $'a\x0ab'
    """
    if text.isascii() and text.translate(_PLAIN).isalnum() and text[0] != "-":
        return text
    if not text.isprintable():
        return "$'" + "".join(map(_shell_character, text)) + "'"
    if mark == '"' and not any(c in '"$`\\!' for c in text):
        return f'"{text}"'
    return "'" + text.replace("'", "'\\''") + "'"


def _shell_character(c: str) -> str:
    if c in "'\\":
        return "\\" + c
    if c.isprintable():
        return c
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))


def yaml_quote(text: str) -> str:
    r"""Return `text` as a YAML double-quoted scalar on one line, which every YAML reader reads back equal.

    >>> print(yaml_quote('He said: "é\n"'))
    "He said: \"é\n\""
    """
    return '"' + "".join(map(_yaml_character, text)) + '"'


def _yaml_character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    if c in "\n\t":
        return "\\n" if c == "\n" else "\\t"
    code = ord(c)
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"  # half a character, which no file can hold
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
