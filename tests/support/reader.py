"""A reader who follows a page of docs/ from top to bottom, in an empty home directory."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import yaml

from skillc.audit import read_policy
from skillc.library.repositories import config as library_config
from skillc.lint.config import read_settings
from skillc.server.configuration import read_configuration
from tests.support.blocks import Block, Command, compare_json, fits, read_transcript
from tests.support.forks import can_fork, program_of_forks
from tests.support.internet import connected

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60  # seconds for a command, before a test gives up on it
HOME = "/home/you"  # what pages call the home directory
SILENT = "\x1e"  # begins the line that says that a command is over

# Pages install skillc and its extras. Here both are there: it is checked that the extras exist.
PIP = """#!{python}
import re, sys, tomllib
extras = tomllib.load(open({project!r}, "rb"))["project"]["optional-dependencies"]
words = [word for word in sys.argv[1:] if not word.startswith("-")]
assert words.pop(0) == "install" and words, sys.argv
for word in words:
    name, _, wanted = word.rstrip("]").partition("[")
    if name == "skillc" and (missing := set(filter(None, wanted.split(","))) - set(extras)):
        sys.exit(f"skillc has no extra {{missing}}")
"""

# The page's program: blocks come as lines of JSON; each may await.
PROGRAM = f"""
import ast, asyncio, inspect, json, sys, traceback
names = {{"__name__": "__main__"}}
with asyncio.Runner() as runner:
    for line in sys.stdin:
        status = 0
        try:
            code = compile(json.loads(line), "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if code.co_flags & inspect.CO_COROUTINE:
                async def wait(code=code):
                    await eval(code, names)
                runner.run(wait())
            else:
                asyncio.set_event_loop(None)
                exec(code, names)
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            status = 1
        print(f"{SILENT}{{status}}", flush=True)
"""


class Process:
    """A program that takes one thing after the other and says when each is over."""

    def __init__(self, words: list[str], cwd: Path, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def ask(self, text: str) -> tuple[int, str]:
        """Send something to do; return its status and what it printed."""
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()
        printed = b""
        while not (status := _find_end(printed)):
            piece = self._read()
            if not piece:
                return self._process.wait(), printed.decode(errors="replace")
            printed += piece
        return int(status), printed.decode(errors="replace").rpartition(SILENT)[0]

    def _read(self) -> bytes:
        output: IO[bytes] | None = self._process.stdout
        assert output is not None
        ready, _, _ = select.select([output], [], [], PATIENCE)
        assert ready, "it prints nothing and does not end"
        return os.read(output.fileno(), 65536)

    def close(self) -> None:
        """End it, and what it left behind."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with self._process as process, suppress(ProcessLookupError):
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            os.killpg(process.pid, signal.SIGKILL)


def _find_end(printed: bytes) -> bytes:
    _, mark, status = printed.rpartition(SILENT.encode())
    return status.strip() if mark and status.endswith(b"\n") else b""


class Reader:
    """A home, a project in it, a shell, a Python, and an Internet that has what the page needs."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "project"
        self.project.mkdir(parents=True)
        self.port = _find_port()
        self.needs = ExitStack()
        self.printed = ""
        self.internet = self.needs.enter_context(connected(root))
        self.env = {"HOME": str(self.home), "LANG": "C.UTF-8", "PATH": self._find_programs(root)}
        self.env |= self.internet.env
        self._stand_ins = {  # what a page says, and what is run
            "localhost:8080": f"127.0.0.1:{self.port}",
            "127.0.0.1:8080": f"127.0.0.1:{self.port}",
            "skc serve": f"skc serve --port {self.port}",
            HOME: str(self.home),
        }
        can = can_fork(self.env)
        self._skc = self.needs.enter_context(program_of_forks(root)) if can else None
        self._shell: Process | None = None
        self._python: Process | None = None
        self._servers: list[Path] = []

    def _find_programs(self, root: Path) -> str:
        programs = root / "bin"
        programs.mkdir()
        pip = programs / "pip"
        pip.write_text(PIP.format(python=sys.executable, project=str(ROOT / "pyproject.toml")))
        pip.chmod(0o755)
        return os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._servers and error is None:
            self._ask_shell("trap '' TERM; kill 0; wait")
        for process in (self._shell, self._python):
            if process is not None:
                process.close()
        self.needs.close()

    def _act(self, text: str) -> str:
        return _replace(text, self._stand_ins)

    def _quote(self, text: str) -> str:
        return _replace(text, {real: said for said, real in self._stand_ins.items()})

    def export(self, name: str, value: str) -> None:
        """Set a variable of the environment."""
        self.env[name] = value
        if self._shell is not None:
            self._ask_shell(f"export {name}='{value}'")

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        if block.title:
            self._write(block)
            return
        match block.language:
            case "console":
                for command in read_transcript(block.text):
                    self._run(command)
            case "bash" | "sh":
                status = self._ask_shell(f"set -e\n{block.text}set +e")
                assert status == 0, f"status {status}:\n{self.printed}"
            case "python":
                self._run_python(block.text)
            case "text":
                assert fits(block.text, self.printed), f"it printed\n{self.printed}"
            case "json":
                _compare(block.text, self.printed)
            case "yaml":
                self._run_job(yaml.safe_load(block.text))
            case _:
                raise AssertionError(f"a block of '{block.language}' without a title or an excuse")

    def _run(self, command: Command) -> None:
        if command.stays:
            self._start(command)
        else:
            status = self._ask_shell(f"{{ {command.words}\n}} </dev/null\n")
            wanted = 1 if command.fails else 0
            assert status == wanted, f"$ {command.words}\nstatus {status}, not {wanted}:\n{self.printed}"
        if command.output is not None:
            assert fits(command.output, self.printed), f"$ {command.words}\nprinted\n{self.printed}"

    def _ask_shell(self, text: str) -> int:
        if self._shell is None:
            self._shell = Process(["bash", "--norc"], self.project, self.env)
            if self._skc:  # a function: what looks for it on the path, or replaces itself, finds the real one
                self._shell.ask(f"skc() {{ '{self._skc}' \"$@\"; }}\nprintf '{SILENT}0\\n'\n")
        status, printed = self._shell.ask(f"{self._act(text)}\nprintf '{SILENT}%s\\n' $?\n")
        self.printed = self._quote(printed)
        return status

    def _start(self, command: Command) -> None:
        log = self.home.parent / f"server-{len(self._servers)}.log"
        self._servers.append(log)
        self._ask_shell(f"(exec </dev/null >'{log}' 2>&1\nexec {command.words}\n) &")
        end = time.monotonic() + PATIENCE
        while not (_listens(self.port) and fits(command.output or "…", self.printed)):
            assert time.monotonic() < end, f"$ {command.words}\nprinted\n{self.printed}"
            time.sleep(0.05)
            self.printed = self._quote(log.read_text(encoding="utf-8"))

    def _run_python(self, code: str) -> None:
        if self._python is None:
            self._python = Process([sys.executable, "-c", PROGRAM], self.project, self.env)
        status, printed = self._python.ask(json.dumps(self._act(code)) + "\n")
        self.printed = self._quote(printed)
        assert status == 0, self.printed

    def _run_job(self, steps: Any) -> None:
        """Run the commands of a job in CI."""
        assert isinstance(steps, list), "no list of steps; 'not run' says why"
        for step in steps:
            status = self._ask_shell(f"{{ {step['run']}\n}} </dev/null\n")
            assert status == 0, f"{step['run']}\nstatus {status}:\n{self.printed}"

    def _write(self, block: Block) -> None:
        """Write a file as the reader does; one that is there must be as the page says."""
        path = Path(self._act(block.title.replace("~", HOME, 1) if block.title[0] == "~" else block.title))
        path = self.project / path
        if block.language == "json" and path.exists():
            _compare(block.text, self._quote(path.read_text(encoding="utf-8")))
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._act(block.text), encoding="utf-8")
        if path.suffix == ".sh":
            path.chmod(0o755)
        if path.suffix == ".toml":
            LOADERS[path.name](path)


def _load_skills(path: Path) -> None:
    assert library_config.parse(str(path), path.read_text(encoding="utf-8")).diagnostics == ()


def _load_registry(path: Path) -> None:
    read_configuration(str(path))


def _load_settings(path: Path) -> None:
    env = {"SKILLC_HOME": str(path.parents[1])}  # the user's own, which may say more than a project's
    code = "import sys; from skillc.settings import load_settings; print(load_settings('/').diagnostics)"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "()\n"


# By the name of a file: what reads it, and refuses what is wrong with it.
LOADERS: dict[str, Callable[[Path], object]] = {
    "skills.toml": _load_skills,
    "config.toml": _load_settings,
    "registry.toml": _load_registry,
    "audit.toml": lambda path: read_policy(str(path)),
    ".skilllint.toml": lambda path: read_settings(str(path.parent)),
}


def _compare(said: str, given: str) -> None:
    """Compare JSON; warnings and errors may stand before and after it."""
    value = given[given.find("{") : given.rfind("}") + 1]
    differences = list(compare_json(json.loads(said), json.loads(value)))
    assert not differences, "\n".join([*differences, given])


def _replace(text: str, names: dict[str, str]) -> str:
    """Replace all names at once, of two that begin alike the longer one."""
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(pattern, lambda match: names[match[0]], text)


def _find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
