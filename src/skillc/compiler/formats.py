"""Read files other than Markdown and plain text for search: `[search] formats` [RFC-0004:C-FORMATS].

A file gives documents: the name of a section and its text. One that can't be parsed is a single document.

>>> documents("csv", "name,size\\npdf,3\\n")
[('row 1', 'name: pdf\\nsize: 3')]
>>> documents("json", '{"server": {"port": 80, "hosts": ["a", "b"]}}')
[('server', 'server.port: 80\\nserver.hosts[0]: a\\nserver.hosts[1]: b')]
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

from skillc.settings import parse_toml
from skillc.skills.document import load_yaml
from skillc.text import utf8_text

# File name extensions by format; `[search] formats` has names of formats.
ENDINGS = {
    "csv": ("csv", "tsv"),
    "json": ("json",),
    "yaml": ("yaml", "yml"),
    "toml": ("toml",),
    "code": ("py", "js", "ts", "rs", "jsx", "tsx", "mjs", "go", "java", "c", "h", "cpp", "rb", "sh"),
}
MAX_DOCUMENTS = 50_000  # of one file; the rest is left out
MAX_DEPTH = 100
MAX_NAME = 500  # characters of a column or a path; each is repeated before every value below it

_COMMENTS = {"py": "#", "rb": "#", "sh": "#"}  # all others use //
_PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": parse_toml,
    "yaml": lambda text: load_yaml(text).value,
}

Document = tuple[str, str]


def documents(format_name: str, text: str, ending: str = "") -> list[Document]:
    """Return the documents of a file; lone surrogates, which JSON can hold, become question marks."""
    return [
        (utf8_text(section, "replace"), utf8_text(content, "replace"))
        for section, content in _documents(format_name, text, ending)
    ]


def _documents(format_name: str, text: str, ending: str) -> list[Document]:
    try:
        if format_name == "csv":
            return list(_read_rows(text, "\t" if ending == "tsv" else ","))
        if format_name == "code":
            mark = _COMMENTS.get(ending, "//")
            comments = (line.partition(mark)[2].strip() for line in text.splitlines() if mark in line)
            # Comments are repeated at the end, so that they weigh more than the code.
            return [("", "\n".join([text, *filter(None, comments)]))]
        return list(_flatten(_PARSERS[format_name](text)))
    except Exception:
        return [("", text)]


def _read_rows(text: str, delimiter: str) -> Iterator[Document]:
    """Yield a document for each row: its values, each after the name in the header."""
    reader = csv.reader(StringIO(text), delimiter=delimiter)
    header = [name[:MAX_NAME] for name in next(reader, [])]
    for number, row in enumerate(reader, 1):
        if number > MAX_DOCUMENTS:
            return
        pairs = [f"{name}: {value}" for name, value in zip(header, row, strict=False) if value]
        yield f"row {number}", "\n".join([*pairs, *row[len(header) :]])
    if header and reader.line_num <= 1:
        yield "", text


def _flatten(value: Any) -> Iterator[Document]:
    """Yield a document for each top-level key or item: its values, each after its path."""
    children = _children(value)
    for name, item in [("", value)] if children is None else children[:MAX_DOCUMENTS]:
        yield name, "\n".join(_pairs(name[:MAX_NAME], item, 0))


def _pairs(path: str, value: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    children = _children(value, ".")
    if children is None:
        yield f"{path}: {value}"
    for name, item in children or ():
        yield from _pairs((path + name)[:MAX_NAME], item, depth + 1)


def _children(value: Any, dot: str = "") -> list[tuple[str, Any]] | None:
    if isinstance(value, dict):
        return [(f"{dot}{key}", item) for key, item in value.items()]
    return [(f"[{number}]", item) for number, item in enumerate(value)] if isinstance(value, list) else None
