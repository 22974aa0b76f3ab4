"""Threads that share one workspace, engine or source each get their own answers, as if they were alone."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from skillc import (
    CompositeSkillSource,
    FilesystemSkillSource,
    InMemorySkillSource,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillId,
    SyncSkillEngine,
)
from skillc.compiler import PublishOptions
from skillc.errors import RepositoryUnavailable, SkillcError
from skillc.library.sources import ALL, NamedSource
from skillc.usage import record_access
from skillc.workspace import Workspace
from tests.conftest import World

THREADS = 8
ROUNDS = 3
NAMES = ("alpha", "beta", "gamma", "delta")

Question = Callable[[], Any]


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    """Let threads interrupt each other at every chance; where there is no GIL they always can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def text(name: str) -> str:
    sections = "".join(f"## {name} part {n}\n\nThe {name} word{n} stands here.\n\n" for n in range(10))
    return f"---\nname: {name}\ndescription: Says how {name} is made\n---\n# {name}\n\n{sections}"


@pytest.fixture
def here(world: World) -> Workspace:
    """A workspace with four skills, which are built."""
    here = Workspace(str(world.project))
    for name in NAMES:
        world.skill(name, text(name))
        here.build(here.locate(name, index=False), PublishOptions(()))
    return here


def answer(question: Question) -> Any:
    try:
        return question()
    except SkillcError as error:
        return error.line()


def ask_together(questions: Sequence[Question]) -> None:
    """Ask everything alone, then from all threads at once, each from another start: same answers."""
    alone = [answer(question) for question in questions]

    def work(start: int) -> None:
        for number in range(start * 3, start * 3 + ROUNDS * len(questions)):
            place = number * (2 * start + 1) % len(questions)
            assert answer(questions[place]) == alone[place]

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(work, range(THREADS)))


def reading(here: Workspace, name: str) -> list[Question]:
    """What agents ask of one skill; results are compared as JSON."""
    return [
        lambda: here.show(name, f"{name} part 0").as_json(),
        lambda: here.show(name, f"{name} part 5").as_json(),
        lambda: here.show(name, "No such section").as_json(),
        lambda: here.search(name, "word1").as_json(),
        lambda: here.search(name, "word7").as_json(),
        lambda: here.search(name, "stands", mode="any", limit=3).as_json(),
        lambda: here.search(name, "nowhere").as_json(),
        lambda: [heading.as_json() for heading in here.outline(name)],
        lambda: here.sources(name).as_json(),
    ]


@pytest.mark.slow
def test_reading(here: Workspace) -> None:
    """[D33] eight threads show and search four skills of one workspace: no answer of another question."""
    ask_together([question for name in NAMES for question in reading(here, name)])


def test_log(here: Workspace, world: World) -> None:
    """[RFC-0007] threads that log at once lose no row and write none twice."""
    skill = here.locate("alpha")

    def work(thread: int) -> None:
        for number in range(25):
            assert record_access(skill, "show", {"section": f"{thread}-{number}"}, None, here.cwd) == ()

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(work, range(THREADS)))
    [log] = world.project.rglob("alpha/**/logs.db")
    with closing(sqlite3.connect(log)) as connection:
        rows = connection.execute("SELECT args FROM access_log WHERE command = 'show'").fetchall()
    assert len(rows) == len(set(rows)) == THREADS * 25


@pytest.mark.slow
def test_library(here: Workspace) -> None:
    """[D33] eight threads find, list and load skills of one workspace."""

    def ask_about(name: str) -> list[Question]:
        return [
            lambda: here.wait(here.engine().load(name)).body,
            lambda: [found.as_json() for found in here.find(f"how is {name} made")],
        ]

    def skills() -> list[str]:
        return [str(skill.id) for skill in here.wait(here.engine().list_skills())]

    ask_together([skills, *(question for name in NAMES for question in ask_about(name))])


@pytest.mark.slow
def test_engine(world: World) -> None:
    """[D33] eight threads share an engine over a folder and skills in memory."""
    for name in NAMES:
        world.skill(name, text(name))
    documents = [
        SkillDocument(SkillDescriptor(SkillId(f"memory/{name}"), description=f"Keeps {name}"), text(name))
        for name in NAMES
    ]
    source = CompositeSkillSource(
        [
            NamedSource("folder", FilesystemSkillSource(world.store)),
            NamedSource("memory", InMemorySkillSource(documents)),
        ]
    )
    engine = SyncSkillEngine(source)

    def ask_about(name: str) -> list[Question]:
        return [
            lambda: engine.load(f"memory/{name}").body,
            lambda: [found.as_json() for found in engine.find(f"keeps {name}")],
            lambda: engine.prepare_turn("Base", f"/{name} go"),
        ]

    questions: list[Question] = [engine.list_skills, engine.inventory_section, engine.collections]
    ask_together([*questions, *(question for name in NAMES for question in ask_about(name))])


def test_source_that_changes(world: World) -> None:
    """[D33] threads search a source while its skills change: in the end it has the last ones alone."""
    source = Changing()
    engine = SyncSkillEngine(source)

    def work(thread: int) -> None:
        for number in range(10):
            source.names = [f"skill{(thread + number + n) % 5}" for n in range(3)]
            assert engine.find("word")

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(work, range(THREADS)))
    source.names = ["skill9"]
    assert [skill.id for skill in engine.find("word")] == ["skill9"]


def test_warnings() -> None:
    """[D27] a thread learns which repositories its own answer lacks, not those of another thread's."""
    source = CompositeSkillSource(
        [NamedSource("flaky", Flaky()), NamedSource("fine", InMemorySkillSource([]))]
    )
    with ThreadPoolExecutor(1, "flaky") as one, ThreadPoolExecutor(1) as other:
        for thread in (one, other):
            thread.submit(lambda: asyncio.run(source.list())).result()
        assert [warning.code for warning in one.submit(source.warnings).result()] == ["W200"]
        assert other.submit(source.warnings).result() == []


class Flaky(InMemorySkillSource):
    """A source that does not answer to some threads."""

    def __init__(self) -> None:
        super().__init__([])

    async def list(self, filter: SkillFilter = ALL) -> list[SkillDescriptor]:
        if threading.current_thread().name.startswith("flaky"):
            raise RepositoryUnavailable("flaky", "away")
        return []


class Changing(InMemorySkillSource):
    """A source whose skills are what `names` says now."""

    names: Sequence[str] = ()

    def __init__(self) -> None:
        super().__init__([])

    async def list(self, filter: SkillFilter = ALL) -> list[SkillDescriptor]:
        skills = [SkillDescriptor(SkillId(name), description="word") for name in sorted(self.names)]
        await asyncio.sleep(0)
        return skills
