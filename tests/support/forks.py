"""Run `skc` in forks of one warm interpreter: as apart as whole processes, without starting Python for each.

`python -m tests.support.forks` is the server. It imports the package once, and forks for each command that it
is asked for: the child gets the words, environment, directory and streams of the request, and ends as `skc`
does. The server has one thread, so that its forks are safe whatever threads a test has.

What shows only in a new interpreter needs one: which modules a command loads, the encoding of its streams,
what `PYTHON…` variables do, limits and namespaces that another program sets before.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import re
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import skillc

REPOSITORY = Path(__file__).parent.parent.parent
LOCALE = "C.UTF-8"  # of the server, and so of all commands
# What no command imports, and what takes a second to import for one command, and is imported when that comes.
OTHERS, COLD = ("skillc.adapters.",), ("skillc.mcp.", "skillc.library.sources.mcp.")
INTERPRETER = ("PYTHON", "LC_", "LD_", "MALLOC_")  # begin the variables that are read before any command is
WARM = ("dulwich.worktree", "obstore", "tree_sitter", "tree_sitter_bash")  # imported in functions
NUMBER = struct.Struct("i")


class Fork(subprocess.Popen[Any]):
    """A command in a fork: a `Popen` whose child is the server's.

    What `Popen` does with its own children is replaced: to start one, and to wait for it. Streams, time-outs
    and signals are as they are there.
    """

    _waitpid_lock: threading.Lock

    def _execute_child(self, args: Any, *rest: Any) -> None:
        cwd, env = rest[4:6]
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = rest[9:15]
        streams = [given if given != -1 else own for own, given in enumerate((p2cread, c2pwrite, errwrite))]
        request = {"words": [os.fspath(word) for word in args], "cwd": str(cwd), "env": dict(env)}
        self._connection = _ask_server(json.dumps(request).encode(), streams)
        for theirs, ours in ((p2cread, p2cwrite), (c2pwrite, c2pread), (errwrite, errread)):
            if theirs != -1 and ours != -1:
                os.close(theirs)
        self.pid = self._receive()
        self._child_created = True

    def _receive(self) -> int:
        data = self._connection.recv(NUMBER.size)
        assert data, "the server of forks has ended"
        number: int = NUMBER.unpack(data)[0]
        return number

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        try:
            return self._wait(0)
        except subprocess.TimeoutExpired:
            return None

    def _wait(self, timeout: float | None) -> int:
        with self._waitpid_lock:
            if self.returncode is None:
                # A time-out of 0 would make the socket one that does not block, whose error is another.
                self._connection.settimeout(None if timeout is None else max(timeout, 1e-6))
                try:
                    self.returncode = self._receive()
                except TimeoutError:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
                self._connection.close()
            return self.returncode


def can_fork(env: Mapping[str, str]) -> bool:
    """Return whether a fork runs a command as a new interpreter with this environment would."""
    if not hasattr(os, "pidfd_open") or env.get("LANG") != LOCALE:
        return False
    if "256" in env.get("TERM", "") or "COLORTERM" in env:
        return False  # `cli.style` looks at them when it is imported
    return not any(name.startswith(INTERPRETER) for name in env)


def start_skc(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    prefix: Sequence[str] = (),
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    encoding: str | None = None,
    errors: str | None = None,
) -> subprocess.Popen[Any]:
    """Start a command in a fork, or as a process of its own where that can differ; `prefix` starts that."""
    forks = not prefix and can_fork(env)
    return (Fork if forks else subprocess.Popen)(
        list(words) if forks else [*prefix, sys.executable, "-m", "skillc", *words],
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding=encoding,
        errors=errors,
    )


@contextmanager
def serving_skc(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str], stderr: int | None = subprocess.STDOUT
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a server of ours; give the address that it prints, and the process, which is ended."""
    with start_skc(
        words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = re.search(r"http://\S+", line)
            assert address, line + process.stdout.read()
            yield address[0], process
        finally:
            process.terminate()


_server: tuple[int, socket.socket] | None = None  # the process that started it, and where it takes requests
_starting = threading.Lock()


def _ask_server(request: bytes, streams: Sequence[int]) -> socket.socket:
    """Send a request; return the connection that brings the process's number, and then its status."""
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(_find_server(), [b"."], [theirs.fileno(), *streams])
    ours.sendall(NUMBER.pack(len(request)) + request)
    return ours


def _find_server() -> socket.socket:
    """Return the connection to this process's server, which is started for its first request."""
    global _server
    with _starting:
        if _server is None or _server[0] != os.getpid():
            _server = os.getpid(), _start_server()
        return _server[1]


# A program that has a command run in a fork, with its own streams, directory and environment.
PROGRAM = """#!{python} -IS
import json, os, socket, struct, sys
with socket.socket(socket.AF_UNIX) as link:
    link.connect({address!r})
    socket.send_fds(link, [b"."], [0, 1, 2])
    request = dict(words=sys.argv[1:], cwd=os.getcwd(), env=dict(os.environ))
    text = json.dumps(request).encode()
    link.sendall(struct.pack("i", len(text)) + text)
    link.recv(4)
    sys.exit(struct.unpack("i", link.recv(4))[0])
"""


@contextmanager
def program_of_forks(folder: Path) -> Iterator[Path]:
    """Write a program that does in a fork what `skc` would, for a shell."""
    program = folder / "skc-in-a-fork"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("")  # to a name of the kernel's choice: a path can be too long
        listener.listen()
        program.write_text(PROGRAM.format(python=sys.executable, address=listener.getsockname()))
        program.chmod(0o755)
        thread = threading.Thread(target=_pass_on, args=(listener,))
        thread.start()
        try:
            yield program
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _pass_on(listener: socket.socket) -> None:
    """Give each request to the server, which answers the program."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # it was shut down
            return
        with connection:
            _, streams, _, _ = socket.recv_fds(connection, 1, 3)
            if streams:
                socket.send_fds(_find_server(), [b"."], [connection.fileno(), *streams])
            for stream in streams:
                os.close(stream)


def _start_server() -> socket.socket:
    """Start the server, which ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    without = (*INTERPRETER, "TERM", "COLORTERM")
    env = {name: text for name, text in os.environ.items() if not name.startswith(without)}
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forks", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=REPOSITORY,
            env=env | {"LANG": LOCALE},
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def serve(requests: socket.socket) -> None:
    """Import what commands import; fork for each request, and report the end of each fork."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    modules = [module.name for module in pkgutil.walk_packages(skillc.__path__, "skillc.")]
    cold = [name for name in modules if name.startswith(COLD)]
    _warm([name for name in modules if not name.startswith(OTHERS + COLD)])
    _warm(WARM)
    events = selectors.DefaultSelector()
    events.register(requests, selectors.EVENT_READ)
    while True:
        for event, _ in events.select():
            if event.fileobj is requests:
                data, fds, _, _ = socket.recv_fds(requests, 1, 4)
                if not data:
                    return
                connection = socket.socket(fileno=fds[0])
                with connection.makefile("rb") as file:
                    request = json.loads(file.read(NUMBER.unpack(file.read(NUMBER.size))[0]))
                if request["words"][:1] == ["mcp"]:
                    _warm(cold)
                _fork(request, connection, fds[1:], events)
            else:
                pid, connection = event.data
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                events.unregister(event.fileobj)
                os.close(event.fd)
                _tell(connection, status)
                connection.close()


def _warm(modules: Iterable[str]) -> None:
    for name in modules:
        import_module(name)
    gc.collect()
    gc.freeze()  # a child that collects garbage is not to copy all this


def _fork(
    request: dict[str, Any],
    connection: socket.socket,
    streams: Sequence[int],
    events: selectors.BaseSelector,
) -> None:
    pid = os.fork()
    if pid == 0:
        _run(request, streams)
    for stream in streams:
        os.close(stream)
    events.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))
    _tell(connection, pid)


def _tell(connection: socket.socket, number: int) -> None:
    try:
        connection.sendall(NUMBER.pack(number))
    except BrokenPipeError:  # the test did not wait
        pass


def _run(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Become the process that `python -m skillc` would be."""
    from skillc.cli import run_and_exit
    from skillc.startup import start

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv[:] = [str(REPOSITORY / "src" / "skillc" / "__main__.py"), *request["words"]]
    sys.path[0] = request["cwd"]
    # What the processes import that the command starts with multiprocessing.
    sys.modules["__main__"] = import_module("skillc.__main__")
    for name, mode, buffering in (("stdin", "r", -1), ("stdout", "w", -1), ("stderr", "w", 1)):
        own = getattr(sys, name)  # opened again, as Python does when it starts
        text = open(own.fileno(), mode, buffering, "utf-8", own.errors, "\n", closefd=False)  # noqa: SIM115
        setattr(sys, name, text)
    start()
    run_and_exit()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
