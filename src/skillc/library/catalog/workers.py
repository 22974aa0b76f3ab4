"""Read many SKILL.md files on all cores.

The readers are processes of their own, not forks: this may run in a thread of a server. Each gets its
share of the files on its standard input and writes what it found, in order, to its output. A pipe
holds little, so they never run far ahead; where the parent is gone they end. Where none can be had,
everything happens here.
"""

from __future__ import annotations

import marshal
import os
import sys

from skillc.library.catalog.reading import Reading, read
from skillc.library.catalog.terms import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

    Job = tuple[str, str]  # the path of a SKILL.md, and the ID of its skill

PARALLEL_FROM = 400  # files that are worth starting other processes
MAX_READERS = 4  # more can't keep up with the one process that collects
CHUNK = 64  # files at once

_START = """
import marshal, sys
sys.path[:] = marshal.load(sys.stdin.buffer)
from skillc.library.catalog.workers import work
work()
"""


def read_all(jobs: Sequence[Job], strict: bool, texts: bool) -> Iterator[Reading]:
    """What each file says, in order; with `texts`, what is searched as well."""
    readers = _readers(len(jobs))
    if readers:
        return _read_apart(jobs, strict, texts, readers)
    return _read_here(jobs, strict, texts)


def _read_here(jobs: Sequence[Job], strict: bool, texts: bool) -> Iterator[Reading]:
    stemmer = Stemmer() if texts else None
    return (read(path, skill_id, strict, stemmer) for path, skill_id in jobs)


def _readers(files: int) -> int:
    if files < PARALLEL_FROM or not sys.executable or getattr(sys, "frozen", False):
        return 0  # a frozen program's executable is that program
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MAX_READERS) if cores > 1 else 0


def _read_apart(jobs: Sequence[Job], strict: bool, texts: bool, readers: int) -> Iterator[Reading]:
    """Every reader takes each n-th chunk, so that they are collected in order, in turn."""
    chunks = [jobs[start : start + CHUNK] for start in range(0, len(jobs), CHUNK)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(readers):
            started.append(_start(chunks[number::readers], strict, texts))
        for number, chunk in enumerate(chunks):
            yield from _collected(started[number % readers], chunk, strict, texts)
    finally:
        for process in started:
            if process.stdout:
                process.stdout.close()
            process.wait()


def _start(chunks: Sequence[Sequence[Job]], strict: bool, texts: bool) -> subprocess.Popen[bytes]:
    import subprocess  # only where there is much to do

    process = subprocess.Popen(  # noqa: S603 -- our own interpreter and our own words
        [sys.executable, "-I", "-S", "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            marshal.dump(sys.path, pipe)
            marshal.dump((strict, texts, [list(chunk) for chunk in chunks]), pipe)
    except OSError:
        pass  # it ended at once; its share is read here
    return process


def _collected(
    process: subprocess.Popen[bytes], chunk: Sequence[Job], strict: bool, texts: bool
) -> Iterator[Reading]:
    try:
        found = marshal.load(process.stdout)  # type: ignore[arg-type]
    except (EOFError, ValueError, TypeError, OSError):  # it was killed: what it would have read is read here
        return _read_here(chunk, strict, texts)
    return (Reading.unpacked(packed) for packed in found)


def work() -> None:
    """In a reader: read what the parent asks for."""
    import gc

    gc.disable()  # nothing here goes in circles
    strict, texts, chunks = marshal.load(sys.stdin.buffer)
    stemmer = Stemmer() if texts else None
    try:
        for chunk in chunks:
            found = [read(path, skill_id, strict, stemmer).packed() for path, skill_id in chunk]
            marshal.dump(found, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
