"""Files besides Markdown and plain text, as documents to search: `[search] formats` [RFC-0004:C-FORMATS].

A document is a section's name and its text. What does not parse is one document, as it stands.

>>> documents("csv", "name,size\\npdf,3\\n")
[('row 1', 'name: pdf\\nsize: 3')]
>>> documents("json", '{"server": {"port": 80, "hosts": ["a", "b"]}}')
[('server', 'server.port: 80\\nserver.hosts[0]: a\\nserver.hosts[1]: b')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# The endings of each format; a name in `[search] formats` switches all of its endings on.
ENDINGS = {
    "csv": ("csv", "tsv"),
    "json": ("json",),
    "yaml": ("yaml", "yml"),
    "toml": ("toml",),
    "code": ("py", "js", "ts", "rs", "jsx", "tsx", "mjs", "go", "java", "c", "h", "cpp", "rb", "sh"),
}
MAX_DOCUMENTS = 50_000  # of one file; what follows is left out
MAX_DEPTH = 100

_COMMENTS = {"py": "#", "rb": "#", "sh": "#"}  # all others have //

Document = tuple[str, str]


def format_of(ending: str, formats: frozenset[str]) -> str:
    """The format among `formats` that a file's ending belongs to, or none."""
    return next((name for name in sorted(formats) if ending in ENDINGS[name]), "")


def documents(format_name: str, text: str, ending: str = "") -> list[Document]:
    """The documents of a file; half a character, which JSON can spell, becomes a question mark."""
    found = _documents(format_name, text, ending)
    return [(_storable(section), _storable(content)) for section, content in found]


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _documents(format_name: str, text: str, ending: str) -> list[Document]:
    try:
        if format_name == "csv":
            return list(_rows(text, "\t" if ending == "tsv" else ","))
        if format_name == "code":
            return [("", _with_comments_twice(text, _COMMENTS.get(ending, "//")))]
        return list(_flattened(_parse(format_name, text)))
    except Exception:
        return [("", text)]


def _rows(text: str, delimiter: str) -> Iterator[Document]:
    """Each row, with the header's names before its values."""
    import csv
    from io import StringIO

    reader = csv.reader(StringIO(text), delimiter=delimiter)
    header = next(reader, [])
    for number, row in enumerate(reader, 1):
        if number > MAX_DOCUMENTS:
            return
        named = [f"{name}: {value}" for name, value in zip(header, row, strict=False) if value]
        yield f"row {number}", "\n".join([*named, *row[len(header) :]])
    if header and reader.line_num <= 1:
        yield "", text


def _parse(format_name: str, text: str) -> Any:
    if format_name == "json":
        import json

        return json.loads(text)
    if format_name == "toml":
        import tomllib

        return tomllib.loads(text)
    from skillc.skills import load_yaml

    return load_yaml(text).value


def _flattened(value: Any) -> Iterator[Document]:
    """A document for each top-level key or item: its values, each after the path that leads to it."""
    if isinstance(value, dict):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [(f"[{number}]", item) for number, item in enumerate(value)]
    else:
        items = [("", value)]
    for name, item in items[:MAX_DOCUMENTS]:
        yield name, "\n".join(_pairs(name, item, 0))


def _pairs(path: str, value: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _pairs(f"{path}.{key}", item, depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _pairs(f"{path}[{number}]", item, depth + 1)
    else:
        yield f"{path}: {value}"


def _with_comments_twice(text: str, mark: str) -> str:
    """Source code with its comments once more at the end, so that they weigh more than the code."""
    comments = (line.partition(mark)[2].strip() for line in text.splitlines() if mark in line)
    return "\n".join([text, *filter(None, comments)])
