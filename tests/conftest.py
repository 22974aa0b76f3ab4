"""What every test stands on: a home and a project of its own, and the command as a process."""

from __future__ import annotations

import gc
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from unittest.mock import patch

import pytest

from skillc.cli import main
from skillc.index.skills import folder
from skillc.index.skills.scan import Directory, SkillFile, Walk
from tests.support.examples import choose_examples
from tests.support.forks import can_fork, start_skc

if TYPE_CHECKING:
    from tests.support.postgres import Cluster

SkcRun = subprocess.CompletedProcess[str]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-examples", action="store_true", help="try every example of hypothesis, not thirty"
    )


def pytest_configure(config: pytest.Config) -> None:
    choose_examples(bool(config.getoption("--all-examples")))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without looking for garbage, and never look at what that made, for it lasts."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run those last that load frameworks for agents: each fork copies the tables of the memory they take."""
    items.sort(key=lambda item: item.nodeid.startswith("tests/adapters/"))


def save(path: Path, text: str | bytes) -> None:
    """Write a file as a careful editor does: builds that run meanwhile meet the old one or the new one."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(text.encode() if isinstance(text, str) else text)
    beside.replace(path)


def run_here(words: Sequence[str], stdin: TextIO | None = None) -> SkcRun:
    """Run a command in this process, and return what it printed and its status."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]), patch("sys.stdin", stdin or sys.stdin):
        status = main(words)
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))
    return subprocess.CompletedProcess(words, status, *texts)


def check_success(result: SkcRun) -> SkcRun:
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result


def check_failure(result: SkcRun, code: str) -> SkcRun:
    """Return the result of a command that must have ended with status 1 and one coded line."""
    assert result.returncode == 1, (result.args, result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("error[")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith(f"error[{code}]: "), result.stderr
    return result


class World:
    """A home directory, a project in it with a store, and `skc` run there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.store = self.project / ".skillc" / "skills"
        self.global_store = self.home / ".skillc" / "skills"
        self.runtime = self.project / ".skillc" / "runtime"
        self.home.mkdir()
        self.store.mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            **{name: text for name, text in os.environ.items() if name == "COVERAGE_PROCESS_CONFIG"},
        }

    def skill(self, name: str, text: str | bytes | None = None, *, store: Path | None = None) -> Path:
        """A skill in the project's store (or another), with a usable SKILL.md unless one is given."""
        folder = (store or self.store) / name
        folder.mkdir(parents=True, exist_ok=True)
        if text is None:
            text = f"---\nname: {name}\ndescription: What {name} is for\n---\n# {name}\n\n## Usage\n\nText.\n"
        save(folder / "SKILL.md", text)
        return folder

    def skc(
        self,
        *words: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
        prefix: tuple[str, ...] = (),
    ) -> SkcRun:
        """Run a command in this process, where that shows the same; `without` drops variables.

        What `prefix` runs is a process of its own. So are commands of threads, which share the directory.
        """
        variables = {k: v for k, v in (self.env | (env or {})).items() if k not in without}
        if prefix or not can_fork(variables) or threading.current_thread() is not threading.main_thread():
            return self.process(*words, cwd=cwd, env=env, without=without, prefix=prefix)
        place = chdir(cwd or self.project)
        with patch.dict(os.environ, variables, clear=True), place, open(os.devnull) as nothing:
            return run_here(words, nothing)

    def process(
        self,
        *words: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
        prefix: tuple[str, ...] = (),
    ) -> SkcRun:
        """Run a command as a process, which shows signals, limits and what it loads; `prefix` starts it."""
        env = {k: v for k, v in (self.env | (env or {})).items() if k not in without}
        command = start_skc(
            words,
            cwd=cwd or self.project,
            env=env,
            prefix=prefix,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
        )
        with command:
            try:
                out, err = command.communicate(timeout=120)
            except BaseException:
                command.kill()
                raise
        return subprocess.CompletedProcess(command.args, command.returncode, out, err)

    def ok(
        self,
        *words: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
    ) -> SkcRun:
        """Run a command that must succeed."""
        return check_success(self.skc(*words, cwd=cwd, env=env, without=without))

    def json(self, *words: str, **options: Any) -> Any:
        """Run a command that must succeed, and return what it says as JSON."""
        return json.loads(self.ok(*words, "--format", "json", **options).stdout)

    def fails(
        self,
        code: str,
        *words: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
        prefix: tuple[str, ...] = (),
    ) -> SkcRun:
        """Run a command that must end with status 1 and one coded line."""
        return check_failure(self.skc(*words, cwd=cwd, env=env, without=without, prefix=prefix), code)


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """Leave the loggers of servers as they were: a command logs to stderr, which a test closes."""
    loggers = [logging.getLogger(name) for name in ("skillc.server", "skillc.server.requests")]
    states = [([*logger.handlers], logger.level) for logger in loggers]
    yield
    for logger, (handlers, level) in zip(loggers, states, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)


@pytest.fixture(autouse=True)
def signals() -> None:
    """Let commands hear Ctrl+C and SIGHUP, which a run in the background or under nohup ignores."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world of its own, in this process too: HOME, working directory, no SKILLC_ variables."""
    made = World(tmp_path)
    for name in [name for name in os.environ if name.startswith(("SKILLC_", "SKC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.chdir(made.project)
    return made


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each folder was walked."""
    counter: Counter[str] = Counter()

    class CountedWalk(Walk):
        def __init__(
            self, root: str, known: dict[str, Directory], files: Mapping[str, SkillFile], *more: Any
        ) -> None:
            counter[root] += 1
            super().__init__(root, known, files, *more)

    monkeypatch.setattr(folder, "Walk", CountedWalk)
    return counter


@pytest.fixture(scope="session")
def commonmark_examples() -> list[str]:
    """Every example of the CommonMark specification, which `scripts/setup` puts into .cache."""
    spec = Path(__file__).parent.parent / ".cache" / "commonmark-spec.txt"
    if not spec.exists():
        if os.environ.get("CI"):
            pytest.fail("the CommonMark specification is not there; run scripts/setup")
        pytest.skip("the CommonMark specification is not there; run scripts/setup")
    return list(_examples(spec.read_text(encoding="utf-8")))


def _examples(spec: str) -> Iterator[str]:
    fence = "`" * 32
    for block in spec.split(f"\n{fence} example")[1:]:
        yield block.split("\n.\n", 1)[0].partition("\n")[2].replace("→", "\t") + "\n"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL for all tests of this process."""
    from tests.support import postgres

    if reason := postgres.why_not():
        pytest.skip(reason)
    with postgres.running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def unprivileged() -> tuple[str, ...]:
    """What to run a command with so that file permissions count, also for root."""
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root without setpriv can read everything")
    return (setpriv, "--bounding-set", "-all", "--inh-caps", "-all")


@pytest.fixture
def corpus() -> Path:
    """Real frontmatter from public collections, where it is at hand."""
    path = Path(__file__).parent.parent.parent / "shared" / "corpus" / "frontmatter"
    if not path.is_dir():
        pytest.skip(f"{path} is not there")
    return path
