"""Read source files for the index: bytes, hash and headings, on all cores when there is much to do.

The reading processes are forked with a pipe each and write what they found into it. A pipe
holds little, so they never run far ahead of the index; a parent that is killed closes it, and
they end. Where nothing can be forked, everything happens here.
"""

from __future__ import annotations

import marshal
import os
import sys
from time import time_ns

from skillc.errors import warning
from skillc.skills import parse
from skillc.startup.digest import file_sha256_hex, sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

    from skillc.skills import SourceFile

MAX_TEXT = 32 * 1024 * 1024  # bytes; a larger document is hashed but not indexed
PARALLEL_FROM = 2 * 1024 * 1024  # bytes of text that are worth another process
MAX_READERS = 4  # more can't keep up with the one process that writes
SETTLED_NS = 50_000_000  # a file changed this shortly before it was read may change again unnoticed
COARSE_NS = 2_000_000_000  # the same on file systems that count in seconds

Found = tuple[int, str, int, int, int, int]  # a Heading's fields


class Content:
    """What a file holds: its hash and stamp and, of a document, its text and headings.

    `data` is a Markdown file's; other files have `documents`, a section and a text each, or none if
    they are not indexed. The stamp's time is -1 where it can't be
    trusted, so that the next build looks at the file again. `diagnostics` are codes and messages.
    """

    __slots__ = (
        "body",
        "data",
        "description",
        "diagnostics",
        "digest",
        "documents",
        "headings",
        "name",
        "stamp",
    )

    def __init__(
        self,
        name: str,
        digest: str,
        stamp: tuple[int, int, int],
        data: bytes = b"",
        body: int = 0,
        headings: Sequence[Found] = (),
        description: str | None = None,
        diagnostics: Sequence[tuple[str, str]] = (),
        documents: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.name = name
        self.digest = digest
        self.stamp = stamp
        self.data = data
        self.body = body
        self.headings = headings
        self.description = description
        self.diagnostics = diagnostics
        self.documents = documents


def kind(name: str, formats: frozenset[str] = frozenset()) -> str:
    """How a file is indexed: `md`, `txt`, one of `formats`, or not at all."""
    ending = _ending(name)
    if ending in ("md", "txt"):
        return ending
    if not formats:
        return ""
    from skillc.compiler.formats import format_of  # off by default

    return format_of(ending, formats)


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def read_all(files: Sequence[SourceFile], formats: frozenset[str] = frozenset()) -> Iterator[Content]:
    """The contents of `files`, in order."""
    readers = _readers(files)
    if not readers:
        return (Content(*_read(file.name, file.path, formats)) for file in files)
    return _read_apart(files, formats, readers)


def _readers(files: Sequence[SourceFile]) -> int:
    """How many processes to read with, besides this one."""
    if not hasattr(os, "fork") or sum(file.size for file in files if kind(file.name)) < PARALLEL_FROM:
        return 0
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return 0  # a fork would take along locks that other threads hold
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, MAX_READERS)


def _read_apart(files: Sequence[SourceFile], formats: frozenset[str], readers: int) -> Iterator[Content]:
    """Every reader takes each n-th file, so that they are collected in order, in turn."""
    pipes: list[BinaryIO] = []
    children: list[int] = []
    try:
        for number in range(readers):
            child, pipe = _fork_reader(files[number::readers], formats, pipes)
            children.append(child)
            pipes.append(pipe)
        for position in range(len(files)):
            try:
                result = marshal.load(pipes[position % readers])
            except (EOFError, ValueError, TypeError):
                raise OSError(f"a process that read '{files[position].name}' ended early") from None
            if len(result) == 3:
                raise OSError(*result)
            yield Content(*result)
    finally:
        for pipe in pipes:
            pipe.close()
        for child in children:
            os.waitpid(child, 0)


def _fork_reader(
    files: Sequence[SourceFile], formats: frozenset[str], others: list[BinaryIO]
) -> tuple[int, BinaryIO]:
    """A process that reads `files`, and the pipe with what it found."""
    reading, writing = os.pipe()
    _widen(writing)
    child = os.fork()
    if child:
        os.close(writing)
        return child, open(reading, "rb", buffering=1 << 20)
    try:  # from here on in the child, which must never return
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
        os.close(reading)
        for pipe in others:
            pipe.close()
        with open(writing, "wb", buffering=1 << 16) as out:
            for file in files:
                try:
                    result = _read(file.name, file.path, formats)
                except OSError as error:
                    result = (error.errno, error.strerror, file.path)
                marshal.dump(result, out)
                out.flush()
    finally:
        os._exit(0)


def _widen(pipe: int) -> None:
    """Let a pipe hold more, so that a reader parses on while this process writes the index."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
    except (ImportError, AttributeError, OSError):
        pass


def fingerprint(path: str) -> tuple[str, tuple[int, int, int]]:
    """A file's hash and stamp."""
    with open(path, "rb") as file:
        stamp = _stamp(file)
        return file_sha256_hex(file, stamp[0]), stamp


def _read(name: str, path: str, formats: frozenset[str]) -> tuple[Any, ...]:
    """The arguments of a file's Content, in order, as `marshal` can pass them on."""
    with open(path, "rb") as file:
        stamp = _stamp(file)
        wanted = kind(name, formats)
        if not wanted or stamp[0] > MAX_TEXT:
            digest = file_sha256_hex(file, stamp[0])
            too_large = warning("W020", MAX_TEXT >> 20)
            noticed = [(too_large.code, too_large.message)] if wanted else []
            return name, digest, stamp, b"", 0, (), None, noticed
        raw = file.read()
    digest = sha256_hex(raw)
    if wanted != "md":
        return name, digest, stamp, b"", 0, (), None, (), _documents(wanted, raw, _ending(name))
    document = parse(raw)
    found = [(h.level, h.text, h.line, h.end_line, h.start, h.end) for h in document.headings()]
    noticed = [(n.code, n.message) for n in document.diagnostics]
    return name, digest, stamp, document.data, document.body, found, document.description, noticed


def _documents(wanted: str, raw: bytes, ending: str) -> list[tuple[str, str]]:
    text = raw.decode("utf-8", "replace")
    if wanted == "txt":
        return [("", text)] if text else []
    from skillc.compiler.formats import documents

    return documents(wanted, text, ending)


def _stamp(file: BinaryIO) -> tuple[int, int, int]:
    """The stamp of an open file, with -1 for a time so recent that a later change could have the same."""
    status = os.fstat(file.fileno())
    modified = status.st_mtime_ns
    margin = COARSE_NS if modified % 1_000_000_000 == 0 else SETTLED_NS
    settled = max(modified, status.st_ctime_ns) < time_ns() - margin
    return status.st_size, modified if settled else -1, status.st_ctime_ns
