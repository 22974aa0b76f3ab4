"""The control group of a command, where the system gives one to this user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillc.tools.sandbox import cgroup
from tests.tools.conftest import Bench

CHILDREN = "for i in $(seq 100); do sleep 20 & done; echo started"
MEMORY = """
import mmap, sys
kind = {"private": mmap.MAP_PRIVATE, "shared": mmap.MAP_SHARED}[sys.argv[1]]
memory = mmap.mmap(-1, 128 << 20, flags=kind | mmap.MAP_ANONYMOUS)
for place in range(0, 128 << 20, 4096):
    memory[place] = 1
print("used")
"""


@pytest.fixture
def parent() -> str:
    """The group that groups can be made in; without one the test is skipped."""
    group = cgroup.find_parent()
    if group is None:
        pytest.skip("this user may make no control group with limits here")
    return group


def list_groups(parent: str) -> list[str]:
    return [name for name in os.listdir(parent) if name.startswith("skillc-")]


def test_limits_of_a_group(parent: str) -> None:
    """[D45] a group has the limits of docs/sandbox.md, and is removed, also a leftover one."""
    group = cgroup.create()
    assert group is not None
    values = {name: Path(group, name).read_text().strip() for name in cgroup.LIMITS}
    assert values == {"pids.max": "512", "memory.max": str(8 << 30), "memory.oom.group": "1"}
    cgroup.remove(group)
    assert list_groups(parent) == []
    os.mkdir(os.path.join(parent, "skillc-4194305-0"))  # beyond the highest number of a process
    group = cgroup.create()
    assert group is not None
    cgroup.remove(group)
    assert list_groups(parent) == []


def test_processes(bench: Bench, parent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D45] a command has no more processes than its group may have, as root neither."""
    monkeypatch.setitem(cgroup.LIMITS, "pids.max", 32)
    envelope = bench.sh(CHILDREN)
    assert ("started" in envelope.output) is (bench.level == "none")
    assert list_groups(parent) == []


@pytest.mark.parametrize("kind", ["private", "shared"])
def test_memory(bench: Bench, parent: str, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """[D45] a command uses no more memory than its group may, of whatever kind."""
    monkeypatch.setitem(cgroup.LIMITS, "memory.max", 64 << 20)
    envelope = bench.python(MEMORY, kind)
    assert ("used" in envelope.output) is (bench.level == "none")
    if bench.level != "none":
        assert envelope.exit_code == 137
    assert list_groups(parent) == []


@pytest.fixture
def plain_group() -> Iterator[Path]:
    """A group without limits, which more systems have."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    places = [Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]
    own = [line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
    if not places or not own:
        pytest.skip("the kernel's second hierarchy is not mounted")
    group = places[0] / own[0].removeprefix("0::/") / f"skillc-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"this user may make no control group here: {error}")
    yield group
    cgroup.remove(str(group))


def test_members(bench: Bench, plain_group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D45] the command and all that it starts are in its group, from their first moment; skc is not."""
    monkeypatch.setattr(cgroup, "create", lambda: str(plain_group))
    envelope = bench.sh("cat /proc/self/cgroup; (cat /proc/self/cgroup)")
    number = sum(line.endswith(plain_group.name) for line in envelope.output.splitlines())
    assert number == (0 if bench.level == "none" else 2)
    assert plain_group.name not in Path("/proc/self/cgroup").read_text()
    assert plain_group.exists() is (bench.level == "none")


@pytest.mark.parametrize("controllers", ["", "memory", "cpu pids"])
def test_no_group_without_limits(tmp_path: Path, controllers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D45] a hierarchy without the two controllers gives no group, and nothing is made in it."""
    group = tmp_path / "user.slice"
    group.mkdir()
    for folder in (tmp_path, group):
        (folder / "cgroup.subtree_control").write_text(controllers)
        (folder / "cgroup.procs").touch()
    monkeypatch.setattr(cgroup, "ROOT", str(group))
    assert cgroup.create() is None
    assert sorted(os.listdir(group)) == ["cgroup.procs", "cgroup.subtree_control"]


def test_a_group_that_takes_no_limits(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D45] where a group can be made and not limited, it is removed, and the command runs without."""
    group = tmp_path / "group"
    group.mkdir()
    (group / "cgroup.subtree_control").write_text("memory pids")
    (group / "cgroup.procs").touch()
    monkeypatch.setattr(cgroup, "find_parent", lambda: str(group))
    assert bench.run("echo", "hi").output == "hi\n"
    assert sorted(os.listdir(group)) == ["cgroup.procs", "cgroup.subtree_control"]
