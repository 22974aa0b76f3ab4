"""Read source files for the section index: bytes, hash and headings, on all cores where that pays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from time import time_ns
from typing import Any, BinaryIO

from skillc.errors import warning
from skillc.index import Pool, Stamp, can_fork, count_cores, settle, stamp_of
from skillc.skills import SourceFile, open_inside
from skillc.skills.document import parse
from skillc.startup import file_sha256_hex, sha256_hex

MAX_TEXT = 32 * 1024 * 1024  # bytes; a larger document is hashed but not indexed
PARALLEL_FROM = 2 * 1024 * 1024  # bytes of text that are worth another process


def kind(name: str, formats: frozenset[str] = frozenset()) -> str:
    """Return how a file is indexed: `md`, `txt`, one of `formats`, or not at all."""
    ending = _ending(name)
    if ending in ("md", "txt"):
        return ending
    if not formats:
        return ""
    from skillc.compiler.formats import ENDINGS  # off by default

    return next((name for name in sorted(formats) if ending in ENDINGS[name]), "")


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def read_all(files: Sequence[SourceFile], formats: frozenset[str] = frozenset()) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `SectionWriter.add` for each file, in order."""
    text = sum(file.size for file in files if kind(file.name))
    workers = count_cores() - 1 if text >= PARALLEL_FROM and can_fork() else 0
    return Pool(FileReader, formats).run(files, workers, fork=True)


def fingerprint(source: SourceFile) -> tuple[str, Stamp]:
    """Return the hash of a file and the stamp that it had."""
    with _open(source) as file:
        stamp = _stamp(file)
        return file_sha256_hex(file, stamp[0]), stamp


class FileReader:
    """Reads files of some formats; called with a file, it returns what `read_all` yields."""

    def __init__(self, formats: frozenset[str]) -> None:
        self._formats = formats

    def __call__(self, source: SourceFile) -> tuple[Any, ...]:
        name = source.name
        file_kind = kind(name, self._formats)
        with _open(source) as file:
            stamp = _stamp(file)
            if not file_kind or stamp[0] > MAX_TEXT:
                digest = file_sha256_hex(file, stamp[0])
                too_large = warning("W020", MAX_TEXT >> 20)
                diagnostics = [(too_large.code, too_large.message)] if file_kind else []
                return name, digest, stamp, b"", 0, (), None, diagnostics
            raw = file.read()
        digest = sha256_hex(raw)
        if file_kind != "md":
            return name, digest, stamp, b"", 0, (), None, (), _documents(file_kind, raw, _ending(name))
        document = parse(raw)
        headings = [(h.level, h.text, h.line, h.end_line, h.start, h.end) for h in document.headings()]
        diagnostics = [(d.code, d.message) for d in document.diagnostics]
        return name, digest, stamp, document.data, document.body, headings, document.description, diagnostics


def _documents(file_kind: str, raw: bytes, ending: str) -> list[tuple[str, str]]:
    text = raw.decode("utf-8", "replace")
    if file_kind == "txt":
        return [("", text)] if text else []
    from skillc.compiler.formats import documents

    return documents(file_kind, text, ending)


def _open(source: SourceFile) -> BinaryIO:
    """Open a file of a skill; it may have become a link out of the skill since it was listed."""
    root = source.path[: -len(source.name) - 1]
    return open(open_inside(root, source.name), "rb")


def _stamp(file: BinaryIO) -> Stamp:
    return settle(stamp_of(os.fstat(file.fileno())), time_ns())
