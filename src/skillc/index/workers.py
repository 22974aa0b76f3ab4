"""Worker processes: apply a function to many jobs on all cores.

Worker n of m does each m-th job and sends the results through a pipe, so that they arrive in order. A
pipe holds little, so that no worker runs far ahead, and a worker ends when the parent is gone. A job
whose worker died, or could not be started, is done by the parent, or by `run_apart` in a worker of its own:
what it reads may be made to end its reader.

Forked workers start at once, but a fork copies the locks that other threads hold, so they are for
processes of one thread. Spawned workers are new interpreters and cost their start; any thread of a
server may use them.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

if TYPE_CHECKING:
    import subprocess

    from skillc.errors import SkillcError

Factory = Callable[..., Callable[[Any], Any]]
Job = TypeVar("Job")
Result = TypeVar("Result")

MAX_WORKERS = 4  # more can't keep up with the one process that collects the results
LENGTH = 8  # bytes of the size in front of a result
PIPE = 1 << 20  # bytes that a forked worker may be ahead

LOST = object()  # in place of the result of a worker that died
_START = """
import marshal, sys
sys.path[:] = marshal.load(sys.stdin.buffer)
from skillc.index.workers import serve
serve()
"""


def count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def can_fork() -> bool:
    """Return whether this system forks and no other thread runs."""
    threading = sys.modules.get("threading")
    return hasattr(os, "fork") and (threading is None or threading.active_count() == 1)


def can_spawn() -> bool:
    """Return whether there is an interpreter to start: a frozen program's executable is that program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class Pool:
    """Workers that each make a function by `factory(*arguments)` and apply it to their jobs.

    Results must be values that `marshal` writes. For spawned workers the factory must be found by its
    name in its module, and arguments and jobs are marshalled as well.
    """

    def __init__(self, factory: Factory, *arguments: Any) -> None:
        self._factory = factory
        self._arguments = arguments
        self._function: Callable[[Any], Any] | None = None

    def run(self, jobs: Sequence[Any], workers: int, *, fork: bool) -> Iterator[Any]:
        """Yield the result of each job, in order; without workers all is done here."""
        workers = min(workers, len(jobs), MAX_WORKERS)
        return self._run(jobs, workers, self._fork if fork else self._spawn, self._apply)

    def run_apart(self, jobs: Sequence[Any], workers: int) -> Iterator[Any]:
        """Yield the result of each job, in order, from forked workers; LOST for one that ends its worker."""
        return self._run(jobs, min(workers, len(jobs)), self._fork, self._apply_apart)

    def _run(
        self, jobs: Sequence[Any], workers: int, start: Callable[..., None], again: Callable[[Any], Any]
    ) -> Iterator[Any]:
        """Yield the result of each job; `again` does one whose worker died."""
        if not workers:
            yield from map(self._apply, jobs)
            return
        pipes: list[BinaryIO] = []
        waits: list[Callable[[], object]] = []
        try:
            for number in range(workers):
                start(jobs[number::workers], pipes, waits)
            for number, job in enumerate(jobs):
                result = _receive(pipes[number % workers])
                yield again(job) if result is LOST else result
        finally:
            for pipe in pipes:
                pipe.close()
            for wait in waits:
                wait()

    def _apply(self, job: Any) -> Any:
        if self._function is None:
            self._function = self._factory(*self._arguments)
        return self._function(job)

    def _apply_apart(self, job: Any) -> Any:
        """Do one job in a worker of its own: the one that died may have died of the job before it."""
        pipes: list[BinaryIO] = []
        waits: list[Callable[[], object]] = []
        self._fork([job], pipes, waits)
        try:
            return _receive(pipes[0]) if waits else self._apply(job)
        finally:
            pipes[0].close()
            for wait in waits:
                wait()

    def _fork(self, jobs: Sequence[Any], pipes: list[BinaryIO], waits: list[Callable[[], object]]) -> None:
        source, sink = os.pipe()
        _widen(sink)
        try:
            child = os.fork()
        except OSError:
            os.close(source)
            os.close(sink)
            pipes.append(BytesIO())
            return
        if child:
            os.close(sink)
            pipes.append(os.fdopen(source, "rb", buffering=PIPE))
            waits.append(lambda: os.waitpid(child, 0))
            return
        try:  # from here on in the child, which must never return
            import signal

            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
            os.close(source)
            for pipe in pipes:
                pipe.close()
            with open(sink, "wb", buffering=1 << 16) as out:
                for job in jobs:
                    _send(self._apply(job), out)
        finally:
            os._exit(0)  # after an error as well: the parent meets it when it does the job itself

    def _spawn(self, jobs: Sequence[Any], pipes: list[BinaryIO], waits: list[Callable[[], object]]) -> None:
        try:
            process = _start_interpreter()
        except OSError:
            pipes.append(BytesIO())
            return
        pipes.append(process.stdout)  # type: ignore[arg-type]
        waits.append(process.wait)
        try:
            with process.stdin as pipe:  # type: ignore[union-attr]
                _send_function(self._factory, self._arguments, list(jobs), pipe)
        except OSError:
            pass  # it ended at once; its jobs are done here


class Companion:
    """A spawned worker that gets its jobs one after the other; the first starts it.

    It ends with this process, or when it is closed. Factory, jobs and results are as for spawned workers of
    a pool.
    """

    def __init__(self, factory: Factory, *arguments: Any) -> None:
        from threading import Lock  # only servers have companions

        self._factory = factory
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._lock = Lock()  # of the process

    def do(self, job: Any) -> Any:
        """Return the result of a job; None where the worker ended. The next job starts another one."""
        try:
            process = self._start()
            marshal.dump(job, process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            result = _receive(process.stdout)  # type: ignore[arg-type]
        except (OSError, ValueError):  # it ended, or was closed meanwhile
            result = LOST
        if result is not LOST:
            return result
        self._end()
        return None

    def close(self) -> None:
        """End the worker for good, without waiting for the job that it does; that has no result then."""
        self._is_closed = True
        self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        """Return the process; raise OSError where it can't be started."""
        with self._lock:
            if self._process is None:
                if self._is_closed or not can_spawn():
                    raise OSError
                self._process = _start_interpreter()
                _send_function(self._factory, self._arguments, None, self._process.stdin)
            return self._process

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                process.kill()
                process.wait()
        for pipe in (process.stdin, process.stdout) if process is not None else ():
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


def _start_interpreter() -> subprocess.Popen[bytes]:
    import subprocess  # only where there is much to do

    return subprocess.Popen(  # noqa: S603 -- our own interpreter and code
        [sys.executable, "-I", "-S", "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _send_function(factory: Factory, arguments: tuple[Any, ...], jobs: list[Any] | None, pipe: Any) -> None:
    """Tell a new interpreter what to import and do; without `jobs` it waits for them."""
    marshal.dump([path for path in sys.path if isinstance(path, str)], pipe)
    marshal.dump((factory.__module__, factory.__name__, arguments, jobs), pipe)


def run_apart(
    function: Callable[[Job], Result], jobs: Sequence[Job], least: int
) -> Iterator[Result | SkillcError | None]:
    """Yield what a function makes of each job, in order, on all cores where there are `least` jobs.

    In place of a result comes the error of a job that fails, and None for one that ends its process.
    """
    from skillc.errors import unexpected

    def run(job: Job) -> Result | SkillcError:
        try:
            return function(job)
        except Exception as error:
            return unexpected(error)

    cores = count_cores() if len(jobs) >= least and can_fork() else 1
    if cores == 1:
        yield from map(run, jobs)
        return
    import pickle  # only for other processes: results are values of any class

    for data in Pool(lambda: lambda job: pickle.dumps(run(job))).run_apart(jobs, cores):
        yield None if data is LOST else pickle.loads(data)  # noqa: S301


def serve() -> None:
    """Do the jobs that the parent sends: the main function of a spawned worker."""
    import gc

    gc.disable()  # jobs leave no cycles behind
    module, name, arguments, jobs = marshal.load(sys.stdin.buffer)
    __import__(module)
    function = getattr(sys.modules[module], name)(*arguments)
    try:
        for job in _receive_jobs() if jobs is None else jobs:
            _send(function(job), sys.stdout.buffer)
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)


def _receive_jobs() -> Iterator[Any]:
    """Yield jobs until the parent closes the pipe, or is gone."""
    while True:
        try:
            yield marshal.load(sys.stdin.buffer)
        except EOFError:
            return


def _send(value: Any, pipe: BinaryIO) -> None:
    data = marshal.dumps(value)
    pipe.write(len(data).to_bytes(LENGTH, "big"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: BinaryIO) -> Any:
    """Read a result whole: `marshal.load` would read it item by item while the sender waits."""
    try:
        size = int.from_bytes(pipe.read(LENGTH), "big")
        return marshal.loads(pipe.read(size))
    except (EOFError, ValueError, TypeError, OverflowError, MemoryError, OSError):
        return LOST


def _widen(pipe: int) -> None:
    """Let a pipe hold more, so that a worker goes on while the parent uses its results."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
    except (ImportError, AttributeError, OSError):
        pass
