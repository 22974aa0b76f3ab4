"""One bad skill, one bad repository, one that hangs: the others are served, and the fault is told."""

from __future__ import annotations

import asyncio
import builtins
import copy
import pickle
import threading
from pathlib import Path

import pytest

from skillc import (
    CompositeSkillSource,
    DefaultSkillEngine,
    FilesystemSkillSource,
    InvalidConfiguration,
    InvalidSkillId,
    NamedSource,
    RepositoryUnavailable,
    SkillcError,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillId,
    SkillNotFound,
    SkillsConfig,
    SkillSource,
    errors,
    resolve_repositories,
)
from skillc.index.skills import scan
from skillc.library.sources.filesystem import FilesystemSnapshot
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Stub
from tests.support.skills import run, skill
from tests.support.sources import Broken, memory

ALL = SkillFilter()


class Silent(SkillSource):
    """Never answers, and counts who asked."""

    asked = 0

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        self.asked += 1
        await asyncio.Event().wait()
        return []

    async def load(self, skill_id: SkillId) -> SkillDocument:
        self.asked += 1
        await asyncio.Event().wait()
        raise AssertionError


def test_a_source_that_hangs_costs_one_time_out() -> None:
    """[D27] it is not waited for again before as much time has passed, whatever is asked."""
    silent = Silent()
    both = CompositeSkillSource(
        [NamedSource("silent", silent, time_out=0.05), NamedSource("own", memory(a="x"))], time_out=3600
    )
    assert [str(s.id) for s in run(both.list())] == ["a"]
    assert list(both.failures) == ["silent"]
    until, reason = both._silent["silent"]
    both._silent["silent"] = (until + 3600, reason)  # time stands still
    asked = silent.asked
    assert run(both.load(SkillId("a"))).body == "Body: x"
    assert [c.path for c in run(both.collections())] == []
    assert run(both.states())[0].error == "repository 'silent' unavailable: no answer in 0.05 s"
    with pytest.raises(SkillNotFound):
        run(both.load(SkillId("b")))
    assert silent.asked == asked


def test_a_disk_that_hangs_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D27] who searches waits for a folder as long as who lists it."""
    skill(tmp_path, "here/soup", "---\ndescription: Cook soup\n---\n")
    ended = threading.Event()
    hangs = FilesystemSkillSource(tmp_path / "disk")
    monkeypatch.setattr(hangs, "_check", ended.wait)
    both = CompositeSkillSource(
        [
            NamedSource("disk", hangs, time_out=0.05),
            NamedSource("here", FilesystemSkillSource(tmp_path / "here")),
        ]
    )

    async def search() -> list[str]:
        found = await DefaultSkillEngine(both).find("soup")
        ended.set()
        return [skill.id for skill in found]

    assert asyncio.run(search()) == ["soup"]
    assert [str(warning.code) for warning in both.warnings()] == ["W200"]


CONFIGURED = """
[[repositories]]
name = "hangs"
type = "http"
url = "{url}"
{more}

[[repositories]]
name = "here"
type = "filesystem"
path = ".skillc/skills"
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["argument", "file"])
def test_the_time_out_can_be_set(world: World, stub: Stub, how: str) -> None:
    """[D27] [LIB: Resolution: config → SkillSource] for all by whoever resolves, for one in its file."""
    stub.gives(30.0)
    skill(world.store, "one")
    file = world.project / ".skillc" / "skills.toml"
    file.write_text(CONFIGURED.format(url=stub.url, more="timeout_seconds = 1" if how == "file" else ""))
    config = SkillsConfig.load()
    source = resolve_repositories(config) if how == "file" else resolve_repositories(config, time_out=3)
    assert [str(s.id) for s in run(source.list()) if s.source_name != "embedded"] == ["one"]
    states = run(source.states())
    assert [(s.name, s.status) for s in states] == [
        ("hangs", "unavailable"),
        ("here", "ok"),
        ("embedded", "ok"),
    ]
    assert "answer in" in str(states[0].error)


@each("value", ["0", "-1", "true", '"5"', "1.5"])
def test_time_outs_that_are_none(world: World, value: str) -> None:
    """[D23a] a time-out is a positive integer, or E071."""
    file = world.project / ".skillc" / "skills.toml"
    file.write_text(CONFIGURED.format(url="http://h", more=f"timeout_seconds = {value}"))
    with pytest.raises(InvalidConfiguration, match="timeout_seconds"):
        SkillsConfig.load()


def test_the_state_of_what_fails() -> None:
    """[D27] also where all fail or a required one does: states and diagnostics answer, lists raise."""
    required = CompositeSkillSource(
        [NamedSource("bad", Broken(), required=True), NamedSource("good", memory(a="x"))]
    )
    assert [(s.name, s.status, s.skills) for s in run(required.states())] == [
        ("bad", "unavailable", 0),
        ("good", "ok", 1),
    ]
    alone = CompositeSkillSource([NamedSource("bad", Broken())])
    for source in (required, alone):
        assert [(d.code, d.source_name) for d in run(source.diagnostics())] == [("E200", "bad")]
        for question in (source.list(), source.collections(), source.load(SkillId("b"))):
            with pytest.raises(RepositoryUnavailable):
                run(question)


def test_sources_without_names(tmp_path: Path) -> None:
    """[LIB: Source Precedence & Shadowing] [D33] each source goes by its kind, once; one over a folder can
    be sent elsewhere.
    """
    skill(tmp_path / "a", "x")
    skill(tmp_path / "b", "x")
    first, second = FilesystemSkillSource(tmp_path / "a"), FilesystemSkillSource(tmp_path / "b")
    both = CompositeSkillSource([first, second, memory(y="y")])
    assert [named.name for named in both.sources] == ["filesystem", "filesystem-2", "memory"]
    assert run(both.states())[1].shadowed == 1
    assert run(both.directory(SkillId("x"))) == str(tmp_path / "a" / "x")
    skill(tmp_path / "one", "one")
    source = FilesystemSkillSource(tmp_path / "one", strict=True)
    run(source.list())
    again = pickle.loads(pickle.dumps(source))
    assert (again.strict, [str(s.id) for s in run(again.list())]) == (True, ["one"])


@pytest.mark.slow
def test_links_to_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] folders that link to each other are any number of folders: there is an end, and it is told."""
    monkeypatch.setattr(scan, "MAX_DIRECTORIES", 500)
    for one in range(8):
        (tmp_path / f"d{one}").mkdir()
    for one in range(8):
        for other in range(8):
            (tmp_path / f"d{one}" / f"to-{other}").symlink_to(tmp_path / f"d{other}")
    told = run(FilesystemSkillSource(tmp_path).diagnostics())
    assert [d.message for d in told] == ["over 500 directories; the rest was not looked at"]


def test_a_skill_that_vanishes_while_it_is_read(tmp_path: Path) -> None:
    """[LIB: SkillSource trait (revised)] gone between the look and the reading: not found, nothing else."""
    folder = skill(tmp_path, "here")

    class Late(FilesystemSkillSource):
        async def snapshot(self) -> FilesystemSnapshot:
            snapshot = await super().snapshot()
            (folder / "SKILL.md").unlink(missing_ok=True)
            return snapshot

    with pytest.raises(SkillNotFound):
        run(Late(tmp_path).load(SkillId("here")))


def test_errors_survive_the_way_to_another_process() -> None:
    """[D33] pickled and copied, with their words: pools of processes send them so."""
    made: list[SkillcError] = [
        SkillNotFound("a/b", "why"),
        RepositoryUnavailable("company", "away"),
        InvalidConfiguration("skills.toml", "bad"),
        InvalidSkillId("../x", "details"),
        errors.MissingField("name", (errors.warning("W010"),)),
    ]
    for error in made:
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(again) is type(error)
            assert (again.text(), str(again), again.code) == (error.text(), str(error), error.code)
