"""Read many SKILL.md files on all cores, and turn their texts over to lists of who has which term.

The readers are processes of their own, not forks: this may run in a thread of a server. Each gets its
share of the files on its standard input and writes what it found, batch by batch, to its output. A pipe
holds little, so they never run far ahead; where the parent is gone they end. Where none can be had,
everything happens here.
"""

from __future__ import annotations

import marshal
import os
import sys
from io import BytesIO

from skillc.index.skills.parse import Reading, read
from skillc.index.skills.postings import turned
from skillc.index.skills.tokens import Stemmer
from skillc.index.skills.weights import Text, weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

    from skillc.index.skills.postings import Known, Turned

    Job = tuple[int, str, str]  # a place, the path of a SKILL.md, and the ID of its skill
    Batch = tuple[list[tuple[int, Reading]], Turned]  # what the files say, by place, and their lists

PARALLEL_FROM = 400  # files that are worth starting other processes
MAX_READERS = 4  # more can't keep up with the one process that collects
BATCH = 2000  # files whose texts become lists together
SIZE = 8  # bytes that tell how long a message is
CHUNK = 50  # files whose words are learned together

_START = """
import marshal, sys
sys.path[:] = marshal.load(sys.stdin.buffer)
from skillc.index.skills.workers import work
work()
"""


def read_all(
    jobs: Sequence[Job], strict: bool, searched: bool, outside: int = 0, elsewhere: Known | None = None
) -> Iterator[Batch]:
    """What the files say; where they are to be `searched`, with the lists of their terms.

    Each batch takes every n-th file, so that it is like all of them. A few files say little about which
    terms are rare; `elsewhere` knows more (see `segments`).
    """
    many = max(-(-len(jobs) // BATCH), 2 if len(jobs) >= PARALLEL_FROM else 1)  # the same on all machines
    batches = [jobs[number::many] for number in range(many)]
    readers = _readers(many)
    if readers > 1:
        return _read_apart(batches, strict, searched, readers)
    stemmer = Stemmer() if searched else None
    return (_read(batch, strict, stemmer, outside, elsewhere) for batch in batches)


def _read(
    jobs: Sequence[Job],
    strict: bool,
    stemmer: Stemmer | None,
    outside: int = 0,
    elsewhere: Known | None = None,
) -> Batch:
    readings: list[tuple[int, Reading]] = []
    texts: list[tuple[int, Text]] = []
    for start in range(0, len(jobs), CHUNK):
        some = jobs[start : start + CHUNK]
        found = [read(path, skill_id, strict, stemmer is not None) for _, path, skill_id in some]
        places = [place for place, _, _ in some]
        readings += zip(places, [reading for reading, _ in found], strict=True)
        if stemmer:
            sources = [(place, source) for place, (_, source) in zip(places, found, strict=True) if source]
            weighed = weigh(stemmer, [source for _, source in sources])
            texts += zip([place for place, _ in sources], weighed, strict=True)
    return readings, turned(texts, outside, elsewhere)


def _readers(batches: int) -> int:
    if not sys.executable or getattr(sys, "frozen", False):
        return 0  # a frozen program's executable is that program
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, batches, MAX_READERS)


def _read_apart(
    batches: Sequence[Sequence[Job]], strict: bool, searched: bool, readers: int
) -> Iterator[Batch]:
    """Every reader takes each n-th batch, so that they are collected in order, in turn."""
    started: list[subprocess.Popen[bytes] | None] = []
    try:
        for number in range(readers):
            started.append(_start(batches[number::readers], strict, searched))
        for number, batch in enumerate(batches):
            yield _collected(started[number % readers], batch, strict, searched)
    finally:
        for process in started:
            if process is not None and process.stdout:
                process.stdout.close()
                process.wait()


def _start(batches: Sequence[Sequence[Job]], strict: bool, searched: bool) -> subprocess.Popen[bytes] | None:
    """A reader at work; None where none can be had."""
    import subprocess  # only where there is much to do

    try:
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter and our own words
            [sys.executable, "-I", "-S", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            marshal.dump([path for path in sys.path if isinstance(path, str)], pipe)
            marshal.dump((strict, searched, [list(batch) for batch in batches]), pipe)
    except OSError:
        pass  # it ended at once; its share is read here
    return process


def _collected(
    process: subprocess.Popen[bytes] | None, batch: Sequence[Job], strict: bool, searched: bool
) -> Batch:
    try:
        readings, lists = _received(process.stdout if process is not None else BytesIO())
    except (EOFError, ValueError, TypeError, OverflowError, MemoryError, OSError):
        # It was killed: what it would have read is read here.
        return _read(batch, strict, Stemmer() if searched else None)
    return [(place, Reading(*packed)) for place, *packed in readings], lists


def _send(value: Any, pipe: BinaryIO) -> None:
    data = marshal.dumps(value)
    pipe.write(len(data).to_bytes(SIZE, "big"))
    pipe.write(data)
    pipe.flush()


def _received(pipe: Any) -> Any:
    """What was sent, read as a whole: `marshal.load` would read it item by item while the sender waits."""
    size = int.from_bytes(pipe.read(SIZE), "big")
    return marshal.loads(pipe.read(size))


def work() -> None:
    """In a reader: read what the parent asks for."""
    import gc

    gc.disable()  # nothing here goes in circles
    strict, searched, batches = marshal.load(sys.stdin.buffer)
    stemmer = Stemmer() if searched else None
    try:
        for batch in batches:
            readings, lists = _read(batch, strict, stemmer)
            _send(([(place, *reading.packed()) for place, reading in readings], lists), sys.stdout.buffer)
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
